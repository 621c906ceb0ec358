//! Every latency, in constant memory and constant time.
//!
//! Log-linear buckets: values below 2^[`PRECISION_BITS`] ns each have their own bucket; above, every power of two is
//! divided into 2^[`PRECISION_BITS`] equal parts, so a value is known to within 1/128 (0.8 %). Range to 2^42 ns (73
//! minutes); longer ones land in the last bucket, while the maximum stays exact.

use crate::Ns;

/// Sub-buckets per power of two, as a power of two.
const PRECISION_BITS: u32 = 7;
const SUB: usize = 1 << PRECISION_BITS;
const MAX_EXPONENT: u32 = 42;
const BUCKETS: usize = (MAX_EXPONENT - PRECISION_BITS + 1) as usize * SUB;

/// One bucket that holds counts: values from `low_ns` to `high_ns`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value.
    pub low_ns: Ns,
    /// Largest value.
    pub high_ns: Ns,
    /// How many values.
    pub count: u64,
}

/// A histogram of latencies in nanoseconds.
#[derive(Clone)]
pub struct Histogram {
    /// Empty until the first value, in one that was made without memory.
    counts: Box<[u64]>,
    count: u64,
    sum_ns: u128,
    min_ns: Ns,
    max_ns: Ns,
}

impl Default for Histogram {
    /// An empty one that takes its memory only with its first value: what stands in a record until its table is read.
    fn default() -> Self {
        Self { counts: Box::default(), count: 0, sum_ns: 0, min_ns: Ns::MAX, max_ns: 0 }
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
            && self.sum_ns == other.sum_ns
            && self.min() == other.min()
            && self.max() == other.max()
            && (self.count == 0 || self.counts == other.counts)
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min_ns", &self.min())
            .field("max_ns", &self.max())
            .finish_non_exhaustive()
    }
}

#[inline]
fn index(value: Ns) -> usize {
    if value < SUB as u64 {
        return value as usize;
    }
    let exponent = 63 - value.leading_zeros();
    if exponent >= MAX_EXPONENT {
        return BUCKETS - 1;
    }
    let shift = exponent - PRECISION_BITS;
    // The value's top bit and the PRECISION_BITS below it: SUB..2*SUB.
    ((shift as usize) << PRECISION_BITS) + (value >> shift) as usize
}

fn bounds(index: usize) -> (Ns, Ns) {
    if index < 2 * SUB {
        return (index as u64, index as u64);
    }
    let shift = (index >> PRECISION_BITS) as u32 - 1;
    let top = (index & (SUB - 1)) as u64 + SUB as u64;
    (top << shift, ((top + 1) << shift) - 1)
}

impl Histogram {
    /// Memory that one takes.
    pub const MEMORY_BYTES: u64 = (BUCKETS * size_of::<u64>() + size_of::<Self>()) as u64;

    /// An empty histogram with all of its memory: the only allocation it ever makes.
    pub fn new() -> Self {
        Self { counts: vec![0; BUCKETS].into_boxed_slice(), ..Self::default() }
    }

    #[inline]
    pub fn record(&mut self, value: Ns) {
        self.record_n(value, 1);
    }

    /// Records a value that was seen `n` times.
    #[inline]
    pub fn record_n(&mut self, value: Ns, n: u64) {
        match self.counts.get_mut(index(value)) {
            Some(count) => *count += n,
            None => self.record_first(value, n),
        }
        self.count += n;
        self.sum_ns += u128::from(value) * u128::from(n);
        self.min_ns = self.min_ns.min(value);
        self.max_ns = self.max_ns.max(value);
    }

    #[cold]
    fn record_first(&mut self, value: Ns, n: u64) {
        self.counts = vec![0; BUCKETS].into_boxed_slice();
        self.counts[index(value)] = n;
    }

    /// Adds all of another histogram. Allocates nothing, unless it has no memory yet.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKETS].into_boxed_slice();
        }
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forgets everything. Allocates nothing.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.count = 0;
        self.sum_ns = 0;
        self.min_ns = Ns::MAX;
        self.max_ns = 0;
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all values, exact.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Smallest value, exact.
    pub fn min(&self) -> Option<Ns> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// Largest value, exact.
    pub fn max(&self) -> Option<Ns> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Mean latency, from the exact sum; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The value at quantile `q` (0 to 1): the upper end of the bucket that holds the value of rank ceil(q * n), never
    /// more than the maximum. `None` if empty.
    pub fn quantile(&self, q: f64) -> Option<Ns> {
        if self.count == 0 {
            return None;
        }
        let rank = ((q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (i, &count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                // The last bucket also holds everything beyond the range.
                let high = if i == BUCKETS - 1 { self.max_ns } else { bounds(i).1 };
                return Some(high.clamp(self.min_ns, self.max_ns));
            }
        }
        Some(self.max_ns)
    }

    /// The buckets that hold counts, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.iter().enumerate().filter(|(_, c)| **c > 0).map(|(i, &count)| {
            let (low_ns, high_ns) = bounds(i);
            Bucket { low_ns, high_ns, count }
        })
    }

    /// Rebuilds a histogram from stored buckets; `min`, `max` and `sum_ns` restore what buckets alone lose.
    pub fn from_buckets(buckets: impl IntoIterator<Item = Bucket>, min: Ns, max: Ns, sum_ns: u128) -> Self {
        let mut h = Self::new();
        for b in buckets {
            h.counts[index(b.low_ns)] += b.count;
            h.count += b.count;
        }
        if h.count > 0 {
            h.min_ns = min;
            h.max_ns = max;
            h.sum_ns = sum_ns;
        }
        h
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_index_round_trips() {
        for i in 0..BUCKETS {
            let (low, high) = bounds(i);
            assert_eq!(index(low), i, "low of {i}");
            assert_eq!(index(high), i, "high of {i}");
            if i + 1 < BUCKETS {
                assert_eq!(bounds(i + 1).0, high + 1, "gap after {i}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_value_is_known_to_one_part_in_128(v in 0u64..(1 << MAX_EXPONENT)) {
            let (low, high) = bounds(index(v));
            prop_assert!(low <= v && v <= high);
            prop_assert!((high - low) as f64 <= v as f64 / 128.0 + 1e-9);
        }

        #[test]
        fn quantiles_bracket_the_exact_ones(mut values in prop::collection::vec(0u64..10_000_000_000, 1..500), q in 0.0f64..=1.0) {
            let mut h = Histogram::new();
            values.iter().for_each(|v| h.record(*v));
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1];
            let got = h.quantile(q).unwrap();
            prop_assert!(got >= exact);
            prop_assert!(got as f64 <= exact as f64 * (1.0 + 1.0 / 128.0) + 1.0);
        }

        #[test]
        fn merging_equals_recording_together(a in prop::collection::vec(any::<u64>(), 0..100), b in prop::collection::vec(any::<u64>(), 0..100)) {
            let (mut x, mut y, mut z) = (Histogram::new(), Histogram::new(), Histogram::new());
            a.iter().for_each(|v| { x.record(*v); z.record(*v); });
            b.iter().for_each(|v| { y.record(*v); z.record(*v); });
            x.merge(&y);
            prop_assert!(x == z);
        }
    }

    #[test]
    fn without_memory_it_is_the_same_histogram() {
        let (mut late, mut early) = (Histogram::default(), Histogram::new());
        assert!(late == early && late.quantile(0.5).is_none() && late.buckets().count() == 0);
        late.clear();
        for value in [5, 1 << 20, u64::MAX] {
            late.record(value);
            early.record(value);
        }
        assert!(late == early);
        let mut merged = Histogram::default();
        merged.merge(&late);
        merged.merge(&Histogram::default());
        assert!(merged == early && merged != Histogram::default());
        // Emptied, it equals one that never held anything.
        early.clear();
        assert!(early == Histogram::default());
    }

    #[test]
    fn beyond_the_range_the_maximum_stays_exact() {
        let mut h = Histogram::new();
        h.record(u64::MAX);
        assert_eq!(h.max(), Some(u64::MAX));
        assert_eq!(h.quantile(1.0), Some(u64::MAX));
    }
}
