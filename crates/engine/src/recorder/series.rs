//! The intervals of one worker, in memory that was taken beforehand.

use crate::feed::Feeder;
use model::{Histogram, Interval, IntervalSeries, Ns};

/// The series of one worker.
#[derive(Debug)]
pub(super) struct Series {
    kept: IntervalSeries,
    start_ns: Ns,
    /// Length of the intervals as they come in.
    length_ns: Ns,
    /// Where intervals also go as they end.
    feeder: Option<Feeder>,
}

impl Series {
    pub fn new(start_ns: Ns, length_ns: Ns, time_limit_ns: Ns) -> Self {
        let expected = usize::try_from(time_limit_ns / length_ns).unwrap_or(IntervalSeries::MOST);
        // Room for a drain of some seconds.
        Self { kept: IntervalSeries::with_room(expected.saturating_add(64)), start_ns, length_ns, feeder: None }
    }

    #[inline]
    pub fn end_ns(&self) -> Ns {
        self.start_ns.saturating_add(self.length_ns)
    }

    pub fn start_ns(&self) -> Ns {
        self.start_ns
    }

    pub fn capacity(&self) -> usize {
        self.kept.most()
    }

    pub fn intervals(&self) -> &[Interval] {
        self.kept.intervals()
    }

    /// Ends the current interval with what it saw.
    pub fn push(&mut self, latencies: &Histogram, bytes: u64) {
        let interval = interval(self.start_ns, self.length_ns, latencies, bytes);
        self.start_ns = self.end_ns();
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
        if let Some(feeder) = &self.feeder {
            feeder.put(&interval);
        }
        self.kept.push(interval);
    }

    pub fn into_intervals(self) -> Vec<Interval> {
        self.kept.into_intervals()
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
        alone.combine(&one);
        alone.combine(&none);
        assert_eq!(alone.latency_ns_p50, one.latency_ns_p50, "of one stream, it is known");
        let mut three = one;
        three.combine(&seen(&[1000]));
        three.combine(&one);
        assert_eq!((three.latency_ns_p50, three.latency_ns_p99, three.latency_ns_max), (None, None, Some(1000)));
        assert_eq!((three.operations, three.bytes), (7, 3));
    }
}
