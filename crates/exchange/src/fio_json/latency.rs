//! Latencies as fio prints them: moments, percentiles, bins, and shares of its fixed buckets.

use super::pairs::{Pairs, decimal};
use model::{Bucket, Histogram, Ns};
use serde::Serialize;

/// fio's default `percentile_list`.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// Upper ends (not included) of fio's buckets of nanoseconds and of microseconds.
const ENDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
const US: Ns = 1_000;
const MS: Ns = 1_000_000;

/// One of fio's `*_ns` objects. Empty, it is what fio prints for a quantity that it did not see.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct LatencyStats {
    min: Ns,
    max: Ns,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Pairs<Ns>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Pairs<u64>>,
}

/// The middle of a bucket, within what was seen.
fn middle(bucket: &Bucket, latency: &Histogram) -> Ns {
    let middle = bucket.low_ns + (bucket.high_ns - bucket.low_ns) / 2;
    middle.clamp(latency.min().unwrap_or(0), latency.max().unwrap_or(Ns::MAX))
}

/// Standard deviation of a sample; every value counts as the middle of its bucket.
fn deviation(latency: &Histogram) -> f64 {
    let (Some(mean), n @ 2..) = (latency.mean(), latency.count()) else { return 0.0 };
    let squares: f64 = latency
        .buckets()
        .map(|b| {
            let distance = middle(&b, latency) as f64 - mean;
            distance * distance * b.count as f64
        })
        .sum();
    (squares / (n - 1) as f64).sqrt()
}

impl LatencyStats {
    /// Of a histogram. Minimum, maximum and mean are exact, percentiles within 0.8 %.
    pub fn of(latency: &Histogram) -> Self {
        Self {
            min: latency.min().unwrap_or(0),
            max: latency.max().unwrap_or(0),
            mean: decimal(latency.mean().unwrap_or(0.0)),
            stddev: decimal(deviation(latency)),
            n: latency.count(),
            percentile: None,
            bins: None,
        }
    }

    /// With percentiles, and bins where they are wanted.
    pub fn with_percentiles(latency: &Histogram, bins: bool) -> Self {
        let empty = latency.count() == 0;
        let percentile =
            || PERCENTILES.iter().map(|p| (format!("{p:.6}"), latency.quantile(p / 100.0).unwrap_or(0))).collect();
        Self {
            percentile: (!empty).then(percentile),
            bins: (bins && !empty).then(|| bins_of(latency)),
            ..Self::of(latency)
        }
    }
}

/// Every bucket by its middle. Two that were clamped to the same value are one.
fn bins_of(latency: &Histogram) -> Pairs<u64> {
    let mut bins: Vec<(String, u64)> = Vec::new();
    for bucket in latency.buckets() {
        let key = middle(&bucket, latency).to_string();
        match bins.last_mut().filter(|(last, _)| *last == key) {
            Some((_, count)) => *count = count.saturating_add(bucket.count),
            None => bins.push((key, bucket.count)),
        }
    }
    Pairs(bins)
}

/// Shares of operations, per cent, by fio's buckets: below 1 us, below 1 ms, and above. A key is the end of its bucket,
/// not included.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LatencyShares {
    pub ns: Pairs<f64>,
    pub us: Pairs<f64>,
    pub ms: Pairs<f64>,
}

impl Default for LatencyShares {
    fn default() -> Self {
        Self::of(&Histogram::new())
    }
}

/// Which of the ends is the first above `value`.
fn place(value: u64, ends: &[u64]) -> usize {
    ends.partition_point(|end| *end <= value)
}

impl LatencyShares {
    pub fn of(latency: &Histogram) -> Self {
        let mut ns = [0u64; ENDS.len()];
        let mut us = [0u64; ENDS.len()];
        let mut ms = [0u64; ENDS.len() + 2];
        let ms_ends = [&ENDS[..], &[2000]].concat();
        for bucket in latency.buckets() {
            let value = middle(&bucket, latency);
            match value {
                0..US => ns[place(value, &ENDS)] += bucket.count,
                US..MS => us[place(value / US, &ENDS)] += bucket.count,
                _ => ms[place(value / MS, &ms_ends)] += bucket.count,
            }
        }
        let all = latency.count().max(1) as f64;
        let shares = |keys: Vec<String>, counts: &[u64]| -> Pairs<f64> {
            keys.into_iter().zip(counts).map(|(key, n)| (key, decimal(*n as f64 * 100.0 / all))).collect()
        };
        let keys = || ENDS.iter().map(u64::to_string).collect::<Vec<_>>();
        let ms_keys = keys().into_iter().chain(["2000".to_owned(), ">=2000".to_owned()]).collect();
        Self { ns: shares(keys(), &ns), us: shares(keys(), &us), ms: shares(ms_keys, &ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: impl IntoIterator<Item = Ns>) -> Histogram {
        let mut h = Histogram::new();
        values.into_iter().for_each(|v| h.record(v));
        h
    }

    fn share(pairs: &Pairs<f64>, key: &str) -> f64 {
        pairs.0.iter().find(|(k, _)| k == key).unwrap().1
    }

    #[test]
    fn shares_fall_where_fio_puts_them() {
        let shares = LatencyShares::of(&histogram([1, 999, 1_000, 75_000, 800_000, 1_500_000, 2_500_000_000, 60_000]));
        assert_eq!(share(&shares.ns, "2"), 12.5);
        assert_eq!(share(&shares.ns, "1000"), 12.5);
        assert_eq!(share(&shares.us, "2"), 12.5);
        assert_eq!(share(&shares.us, "100"), 25.0);
        assert_eq!(share(&shares.us, "1000"), 12.5);
        assert_eq!(share(&shares.ms, "2"), 12.5);
        assert_eq!(share(&shares.ms, ">=2000"), 12.5);
    }

    #[test]
    fn shares_sum_to_all() {
        let shares = LatencyShares::of(&histogram((0..63).map(|i| 1u64 << i)));
        let sum: f64 = [&shares.ns, &shares.us, &shares.ms].iter().flat_map(|p| &p.0).map(|(_, v)| v).sum();
        assert!((sum - 100.0).abs() < 1e-4, "{sum}");
    }

    #[test]
    fn moments_are_those_of_the_values() {
        let stats = LatencyStats::with_percentiles(&histogram([100, 100, 104, 120]), true);
        assert_eq!((stats.min, stats.max, stats.mean, stats.n), (100, 120, 106.0, 4));
        assert!((stats.stddev - 9.521_905).abs() < 1e-6, "{}", stats.stddev);
        assert_eq!(stats.percentile.unwrap().0[6], ("50.000000".to_owned(), 100));
        let bins: Vec<_> = stats.bins.unwrap().0;
        assert_eq!(bins, [("100".to_owned(), 2), ("104".to_owned(), 1), ("120".to_owned(), 1)]);
    }

    #[test]
    fn nothing_seen_is_zeros_without_percentiles() {
        assert_eq!(LatencyStats::with_percentiles(&Histogram::new(), true), LatencyStats::default());
    }
}
