//! The intervals of a phase, in bounded memory: when it is full, neighbours are joined and intervals double in length.

use crate::feed::Feeder;
use model::{Histogram, Interval, Ns};

/// Most intervals kept: two and a half hours at 100 ms before the first doubling would need more than any table shows.
const MOST: usize = 8192;

/// The series of one worker.
#[derive(Debug)]
pub(super) struct Series {
    intervals: Vec<Interval>,
    capacity: usize,
    start_ns: Ns,
    /// Length of the intervals as they come in.
    length_ns: Ns,
    /// How many of them one entry of `intervals` stands for.
    joined: u32,
    in_last: u32,
    /// Where intervals also go as they end.
    feeder: Option<Feeder>,
}

impl Series {
    pub fn new(start_ns: Ns, length_ns: Ns, time_limit_ns: Ns) -> Self {
        let expected = usize::try_from(time_limit_ns / length_ns).unwrap_or(MOST);
        // Room for a drain of some seconds; even, so that neighbours pair up.
        let capacity = expected.saturating_add(64).next_multiple_of(2).min(MOST);
        Self {
            intervals: Vec::with_capacity(capacity),
            capacity,
            start_ns,
            length_ns,
            joined: 1,
            in_last: 1,
            feeder: None,
        }
    }

    #[inline]
    pub fn end_ns(&self) -> Ns {
        self.start_ns.saturating_add(self.length_ns)
    }

    pub fn start_ns(&self) -> Ns {
        self.start_ns
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Ends the current interval with what it saw.
    pub fn push(&mut self, latencies: &Histogram, bytes: u64) {
        let interval = interval(self.start_ns, self.length_ns, latencies, bytes);
        self.start_ns = self.end_ns();
        if let Some(feeder) = &self.feeder {
            feeder.put(&interval);
        }
        self.keep(interval);
    }

    /// From now on intervals also go there.
    pub fn feeds(&mut self, feeder: Option<Feeder>) {
        self.feeder = feeder;
    }

    /// The shorter interval at the end of the phase; none if it is empty in time.
    pub fn push_last(&mut self, latencies: &Histogram, bytes: u64, end_ns: Ns) {
        let length_ns = end_ns.saturating_sub(self.start_ns);
        if length_ns > 0 || latencies.count() > 0 {
            let interval = interval(self.start_ns, length_ns, latencies, bytes);
            self.keep(interval);
        }
    }

    fn keep(&mut self, interval: Interval) {
        if self.in_last < self.joined
            && let Some(last) = self.intervals.last_mut()
        {
            append(last, &interval);
            self.in_last += 1;
            return;
        }
        if self.intervals.len() == self.capacity {
            halve(&mut self.intervals);
            self.joined *= 2;
        }
        self.intervals.push(interval);
        self.in_last = 1;
    }

    pub fn into_intervals(self) -> Vec<Interval> {
        self.intervals
    }
}

fn interval(start_ns: Ns, length_ns: Ns, latencies: &Histogram, bytes: u64) -> Interval {
    Interval {
        start_ns,
        length_ns,
        operations: latencies.count(),
        bytes,
        latency_ns_p50: latencies.quantile(0.5),
        latency_ns_p99: latencies.quantile(0.99),
        latency_ns_max: latencies.max(),
    }
}

/// Joins neighbours.
pub(super) fn halve(intervals: &mut Vec<Interval>) {
    let half = intervals.len().div_ceil(2);
    for i in 0..half {
        let mut first = intervals[2 * i];
        if let Some(second) = intervals.get(2 * i + 1) {
            append(&mut first, second);
        }
        intervals[i] = first;
    }
    intervals.truncate(half);
}

/// Puts a later interval behind one.
fn append(first: &mut Interval, second: &Interval) {
    combine(first, second);
    first.length_ns += second.length_ns;
}

/// Adds what another interval saw. Percentiles of the union cannot be had from percentiles: where both saw operations they
/// are not known, the maximum stays exact. Only phases of hours, or with several streams, come here; the phase's histogram
/// is exact in any case.
pub(crate) fn combine(into: &mut Interval, other: &Interval) {
    if into.operations == 0 {
        (into.latency_ns_p50, into.latency_ns_p99) = (other.latency_ns_p50, other.latency_ns_p99);
    } else if other.operations > 0 {
        (into.latency_ns_p50, into.latency_ns_p99) = (None, None);
    }
    into.latency_ns_max = into.latency_ns_max.max(other.latency_ns_max);
    into.operations += other.operations;
    into.bytes += other.bytes;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_percentile_is_made_of_percentiles() {
        let seen = |latencies: &[Ns]| {
            let mut histogram = Histogram::new();
            latencies.iter().for_each(|l| histogram.record(*l));
            interval(0, 100, &histogram, 1)
        };
        let (one, none) = (seen(&[10, 20, 30]), seen(&[]));
        let mut alone = none;
        combine(&mut alone, &one);
        combine(&mut alone, &none);
        assert_eq!(alone.latency_ns_p50, one.latency_ns_p50, "of one stream, it is known");
        let mut three = one;
        combine(&mut three, &seen(&[1000]));
        combine(&mut three, &one);
        assert_eq!((three.latency_ns_p50, three.latency_ns_p99, three.latency_ns_max), (None, None, Some(1000)));
        assert_eq!((three.operations, three.bytes), (7, 3));
    }

    #[test]
    fn memory_is_bounded_and_nothing_is_lost() {
        let mut series = Series::new(0, 10, 1000);
        let capacity = series.capacity();
        let mut histogram = Histogram::new();
        for i in 0..10_000u64 {
            histogram.clear();
            histogram.record(i);
            series.push(&histogram, 3);
        }
        series.push_last(&histogram, 3, series.start_ns() + 4);
        let intervals = series.into_intervals();
        assert!(intervals.len() <= capacity && intervals.len() > capacity / 2 - 2);
        assert_eq!(intervals.iter().map(|i| i.operations).sum::<u64>(), 10_001);
        assert_eq!(intervals.iter().map(|i| i.bytes).sum::<u64>(), 30_003);
        assert_eq!(intervals.iter().map(|i| i.length_ns).sum::<u64>(), 100_004);
        assert!(intervals.windows(2).all(|w| w[0].start_ns + w[0].length_ns == w[1].start_ns));
        assert_eq!(intervals.last().unwrap().latency_ns_max, Some(9_999));
    }
}
