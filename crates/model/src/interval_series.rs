//! The intervals and rounds of a phase in bounded memory: where there is no room for another one, neighbours are joined.

use crate::{Interval, Round};

impl Interval {
    /// Adds what another one saw at the same time. Percentiles of the union cannot be had from percentiles: where both saw
    /// operations they are not known, the maximum stays exact. Only phases of hours, or with several streams, come here; the
    /// phase's histogram is exact in any case.
    pub fn combine(&mut self, other: &Self) {
        if self.operations == 0 {
            (self.latency_ns_p50, self.latency_ns_p99) = (other.latency_ns_p50, other.latency_ns_p99);
        } else if other.operations > 0 {
            (self.latency_ns_p50, self.latency_ns_p99) = (None, None);
        }
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
        self.operations = self.operations.saturating_add(other.operations);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    /// Puts a later one behind it.
    pub fn append(&mut self, later: &Self) {
        self.combine(later);
        self.length_ns = self.length_ns.saturating_add(later.length_ns);
    }

    /// Joins neighbours, each two of them.
    pub fn halve(intervals: &mut Vec<Self>) {
        halve(intervals);
    }

    /// Adds two series that begin together. Where one was thinned more than the other, the finer one is thinned too.
    pub fn side_by_side(mut a: Vec<Self>, mut b: Vec<Self>) -> Vec<Self> {
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            // The only interval of a stream that ended at once is short, and needs no thinning of the other.
            if x.length_ns < y.length_ns && a.len() > 1 {
                halve(&mut a);
            } else if y.length_ns < x.length_ns && b.len() > 1 {
                halve(&mut b);
            } else {
                break;
            }
        }
        if a.len() < b.len() {
            std::mem::swap(&mut a, &mut b);
        }
        for (into, other) in a.iter_mut().zip(&b) {
            into.combine(other);
            into.length_ns = into.length_ns.max(other.length_ns);
        }
        a
    }
}

/// What can be one with its neighbour in a series.
pub trait Joined: Copy {
    /// Puts a later one behind it.
    fn append(&mut self, later: &Self);
}

impl Joined for Interval {
    fn append(&mut self, later: &Self) {
        Interval::append(self, later);
    }
}

impl Joined for Round {
    fn append(&mut self, later: &Self) {
        self.bytes += later.bytes;
        self.write_ns += later.write_ns;
        self.sync_ns += later.sync_ns;
    }
}

fn halve<T: Joined>(items: &mut Vec<T>) {
    let half = items.len().div_ceil(2);
    for i in 0..half {
        let mut first = items[2 * i];
        if let Some(second) = items.get(2 * i + 1) {
            first.append(second);
        }
        items[i] = first;
    }
    items.truncate(half);
}

/// Intervals, or rounds, one after the other. Those that stay stand for equally many; the last one may stand for fewer.
#[derive(Clone, Debug)]
pub struct JoinedSeries<T> {
    items: Vec<T>,
    most: usize,
    /// How many that came in one of `items` stands for.
    joined: u32,
    in_last: u32,
}

/// The intervals of a phase.
pub type IntervalSeries = JoinedSeries<Interval>;

impl<T: Joined> Default for JoinedSeries<T> {
    /// With room for [`JoinedSeries::MAX`], taken as they come.
    fn default() -> Self {
        Self { items: Vec::new(), most: Self::MAX, joined: 1, in_last: 1 }
    }
}

impl<T: Joined> JoinedSeries<T> {
    /// Most of a phase: 655 kB of intervals, a quarter of an hour of 100 ms before the first neighbours are joined.
    pub const MAX: usize = 8192;

    /// With room for so many (made even, so that neighbours pair up; at most [`JoinedSeries::MAX`]), taken now.
    pub fn with_room(most: usize) -> Self {
        let most = most.next_multiple_of(2).clamp(2, Self::MAX);
        Self { items: Vec::with_capacity(most), most, ..Self::default() }
    }

    /// Adds the next one.
    pub fn push(&mut self, item: T) {
        if self.in_last < self.joined
            && let Some(last) = self.items.last_mut()
        {
            last.append(&item);
            self.in_last += 1;
            return;
        }
        if self.items.len() == self.most {
            halve(&mut self.items);
            self.joined = self.joined.saturating_mul(2);
        }
        self.items.push(item);
        self.in_last = 1;
    }

    /// Joins neighbours now, and from now on twice as many.
    pub fn halve(&mut self) {
        halve(&mut self.items);
        self.joined = self.joined.saturating_mul(2);
        self.in_last = self.joined;
    }

    /// How many there are at most.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The items so far.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The items, the last one as far as it has come.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_nothing_is_lost() {
        let mut series = IntervalSeries::default();
        for start_ns in 0..100_000 {
            let latency_ns_max = Some(start_ns);
            series.push(Interval {
                start_ns,
                length_ns: 1,
                operations: 2,
                bytes: 3,
                latency_ns_max,
                ..Interval::default()
            });
        }
        let intervals = series.into_items();
        assert!(intervals.len() > IntervalSeries::MAX / 2 && intervals.len() <= IntervalSeries::MAX);
        assert_eq!(
            intervals.iter().map(|i| (i.operations, i.bytes)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1)),
            (200_000, 300_000)
        );
        assert!(intervals.windows(2).all(|w| w[0].start_ns + w[0].length_ns == w[1].start_ns));
        assert_eq!(intervals.last().unwrap().latency_ns_max, Some(99_999));
    }
}
