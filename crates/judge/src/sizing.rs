//! What streams a storage carries: from how fast it took writes when it was given as many as it wanted.
//!
//! A stream comes at its rate whatever the storage does; what the storage has not taken yet waits in memory. With the measured
//! course of a saturated minute as what the storage takes, the memory that a rate needs is the most that ever waits (a queue with
//! constant inflow and the measured service), and what waits for its flush besides.

use crate::changes::lasting_changes;
use model::{Interval, Ns, RateChange};

/// A rate beyond this share of what the storage takes has no room for what was not measured.
pub const MAX_SHARE: f64 = 0.95;
/// The first rate over the last where a cache ended: less is what a device does from minute to minute (SNIA PTS allows 20 %).
const MIN_FALL: f64 = 1.25;
/// The slowest stretch of this length is told.
const SECOND_NS: Ns = 1_000_000_000;

/// What a saturated minute showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sustained {
    /// Bytes a second in its slower half: a fast cache fills up in the other.
    pub bytes_per_s: f64,
    /// Bytes a second in the slowest second; `None` where it was shorter than that, or a shorter stretch was slower.
    pub slowest_second_bytes_per_s: Option<f64>,
}

fn rate<'a>(intervals: impl IntoIterator<Item = &'a Interval>) -> Option<f64> {
    let sums = intervals.into_iter().fold((0u64, 0u64), |(b, t), i| (b + i.bytes, t + i.length_ns));
    (sums.1 > 0).then(|| sums.0 as f64 * 1e9 / sums.1 as f64)
}

/// The intervals in which the storage had as much to take as it wanted: in the last one with bytes the amount ended, and what comes behind it
/// is the end of the file.
pub fn saturated(intervals: &[Interval]) -> &[Interval] {
    match intervals.iter().rposition(|i| i.bytes > 0) {
        // All of it in one: the only one that tells anything.
        Some(0) => &intervals[..1],
        Some(last) => &intervals[..last],
        None => intervals,
    }
}

/// What the storage takes for long; `None` where nothing was measured.
pub fn sustained(intervals: &[Interval]) -> Option<Sustained> {
    let (first, second) = intervals.split_at(intervals.len() / 2);
    let slower_half = rate(second)?.min(rate(first).unwrap_or(f64::INFINITY));
    // A cache that ended late is still in half of it.
    let bytes_per_s = cache_end(intervals).map_or(slower_half, |end| slower_half.min(end.after_bytes_per_s));
    let window = |start: usize| {
        let mut length = 0;
        let rest = &intervals[start..];
        let count = rest.iter().take_while(|i| (length < SECOND_NS).then(|| length += i.length_ns).is_some()).count();
        (length >= SECOND_NS).then(|| rate(&rest[..count])).flatten()
    };
    // Where half of it is shorter than a second, no second says more than the half.
    let slowest_second_bytes_per_s =
        (0..intervals.len()).filter_map(window).reduce(f64::min).filter(|slowest| *slowest <= bytes_per_s);
    Some(Sustained { bytes_per_s, slowest_second_bytes_per_s })
}

/// Where the rate fell for good: what comes before is a cache's, and only what comes after is known to last. `None` where it did not
/// fall, be it that nothing ended or that too little was written for that.
pub fn cache_end(intervals: &[Interval]) -> Option<RateChange> {
    let changes = lasting_changes(intervals, intervals, intervals.first()?.start_ns);
    let before = changes.first()?.before_bytes_per_s;
    // After a gap it is as fast as it was.
    changes.into_iter().next_back().filter(|last| last.after_bytes_per_s * MIN_FALL < before)
}

/// Memory for streams of this rate together, bytes, where what came waits `flush_ns` for its acknowledgement once it is written;
/// `None` where the storage does not take so much.
pub fn ring_needed(intervals: &[Interval], demand_bytes_per_s: f64, flush_ns: Ns) -> Option<u64> {
    let takes = sustained(intervals)?.bytes_per_s;
    if demand_bytes_per_s > MAX_SHARE * takes {
        return None;
    }
    let (mut waits, mut most) = (0.0f64, 0.0f64);
    for interval in intervals {
        let comes = demand_bytes_per_s * interval.length_ns as f64 / 1e9;
        waits = (waits + comes - interval.bytes as f64).max(0.0);
        most = most.max(waits);
    }
    Some((most + demand_bytes_per_s * flush_ns as f64 / 1e9).ceil() as u64)
}

/// How many streams of this rate the storage carries with a ring of this size; both where there is no limit to the ring.
pub fn most_streams(intervals: &[Interval], stream_bytes_per_s: f64, flush_ns: Ns, ring_bytes: u64) -> u32 {
    let most = sustained(intervals).map_or(0.0, |s| MAX_SHARE * s.bytes_per_s / stream_bytes_per_s);
    let fits = |n: u32| {
        n == 0 || ring_needed(intervals, f64::from(n) * stream_bytes_per_s, flush_ns).is_some_and(|b| b <= ring_bytes)
    };
    // More streams never need less.
    let (mut low, mut high) = (0u32, most.clamp(0.0, 1e6) as u32 + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        (low, high) = if fits(middle) { (middle, high) } else { (low, middle) };
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of 100 ms with so many MB each.
    fn course(megabytes: impl IntoIterator<Item = u64>) -> Vec<Interval> {
        let of = |(i, mb): (usize, u64)| Interval {
            start_ns: i as u64 * 100_000_000,
            length_ns: 100_000_000,
            operations: mb,
            bytes: mb * 1_000_000,
            latency_ns_p50: None,
            latency_ns_p99: None,
            latency_ns_max: None,
        };
        megabytes.into_iter().enumerate().map(of).collect()
    }

    #[test]
    fn the_end_of_the_amount_is_no_slow_storage() {
        let takes = |megabytes: &[u64]| sustained(saturated(&course(megabytes.iter().copied()))).unwrap().bytes_per_s;
        assert_eq!([takes(&[50, 14, 0]), takes(&[50, 60, 1])], [5e8, 5e8]);
        assert_eq!([takes(&[64]), takes(&[64, 0, 0]), takes(&[0, 0])], [6.4e8, 6.4e8, 0.0]);
        assert!(saturated(&[]).is_empty());
    }

    #[test]
    fn the_slowest_second_is_never_faster_than_what_it_takes() {
        // 1.4 s, of which the last 0.7 s are slower.
        let course = course([&[50; 7][..], &[30; 7]].concat());
        let found = sustained(&course).unwrap();
        assert!((found.bytes_per_s - 300e6).abs() < 1.0, "{found:?}");
        assert_eq!(found.slowest_second_bytes_per_s, None);
    }

    #[test]
    fn a_steady_storage_carries_nearly_all_with_what_waits_for_the_flush() {
        let steady = course(vec![10; 600]);
        let found = sustained(&steady).unwrap();
        assert_eq!((found.bytes_per_s, found.slowest_second_bytes_per_s), (100e6, Some(100e6)));
        assert_eq!(ring_needed(&steady, 50e6, 1_000_000_000), Some(50_000_000));
        assert_eq!(ring_needed(&steady, 96e6, 0), None);
        assert_eq!(most_streams(&steady, 10e6, 500_000_000, 1 << 30), 9);
        assert_eq!(most_streams(&steady, 10e6, 500_000_000, 21_000_000), 4);
        assert_eq!((sustained(&[]), ring_needed(&[], 1.0, 0), most_streams(&[], 1.0, 0, 1)), (None, None, 0));
    }

    #[test]
    fn a_stall_costs_memory_and_a_cache_that_fills_up_counts_as_what_comes_after() {
        let mut stalls = vec![10; 600];
        stalls[300..320].fill(0);
        let stalls = course(stalls);
        assert_eq!(cache_end(&stalls), None, "it is as fast as before");
        // Two seconds without anything, at 50 MB/s.
        assert_eq!(ring_needed(&stalls, 50e6, 0), Some(100_000_000));
        assert_eq!(sustained(&stalls).unwrap().slowest_second_bytes_per_s, Some(0.0));
        assert_eq!(cache_end(&course(vec![10; 600])), None);
        assert_eq!(cache_end(course(vec![10; 600]).split_at(5).0), None, "too short to tell");
        // Late in what was measured: what comes after counts, and not the half that it is in.
        let late = course([vec![40; 500], vec![5; 100]].concat());
        let end = cache_end(&late).unwrap();
        assert!((end.bytes_before as f64 / 20e9 - 1.0).abs() < 0.02, "{end:?}");
        assert!((sustained(&late).unwrap().bytes_per_s - 50e6).abs() < 1e6, "{:?}", sustained(&late));
        let cliff = course([vec![40; 200], vec![5; 400]].concat());
        assert!((sustained(&cliff).unwrap().bytes_per_s - 50e6).abs() < 1.0);
        assert_eq!(ring_needed(&cliff, 60e6, 0), None);
    }
}
