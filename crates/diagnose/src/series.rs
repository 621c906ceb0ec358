//! What a phase's series says: its rate in windows, one step in it, how flat it is.

use model::{Ns, PhaseRecord};

/// Fewest windows on each side of a step.
const MIN_SIDE: usize = 3;
/// Windows a phase is divided into where its intervals allow: enough to place a step, long enough to average out the
/// jitter of single intervals.
const WINDOWS: usize = 24;
/// A step explains at least this share of the variance. The best step through a straight ramp explains 75 %.
const MIN_EXPLAINED: f64 = 0.8;
/// A rate that falls to less than this share of what it was is a step worth naming.
const MAX_RATIO: f64 = 0.8;

/// A rate that fell within a phase, and stayed down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// When, since the run's start.
    pub at_ns: Ns,
    /// Mean rate before, bytes per second.
    pub before: f64,
    /// Mean rate after, bytes per second.
    pub after: f64,
}

/// Bytes per second in equal windows of the counted part of a phase, with the start of each.
pub fn windows(record: &PhaseRecord) -> Vec<(Ns, f64)> {
    let intervals = record.counted_intervals();
    let group = intervals.len().div_ceil(WINDOWS).max(1);
    intervals
        .chunks(group)
        // A short remainder at the end is a worse estimate than the others.
        .filter(|c| c.len() == group)
        .filter_map(|c| {
            let ns: u64 = c.iter().map(|i| i.length_ns).sum();
            let bytes: u64 = c.iter().map(|i| i.bytes).sum();
            (ns > 0).then(|| (c[0].start_ns, bytes as f64 / ns as f64 * 1e9))
        })
        .collect()
}

fn sum_of_squares(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|v| (v - mean).powi(2)).sum())
}

/// The residual sum of squares around the least-squares line.
fn line_residual(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let (mean, total) = sum_of_squares(values);
    let centre = (n - 1.0) / 2.0;
    let sxx: f64 = (0..values.len()).map(|i| (i as f64 - centre).powi(2)).sum();
    let sxy: f64 = values.iter().enumerate().map(|(i, v)| (i as f64 - centre) * (v - mean)).sum();
    if sxx > 0.0 { total - sxy * sxy / sxx } else { total }
}

/// The one fall that explains the series, if a step explains it better than noise or a slope does.
pub fn fall(record: &PhaseRecord) -> Option<Step> {
    let windows = windows(record);
    let values: Vec<f64> = windows.iter().map(|w| w.1).collect();
    if values.len() < 2 * MIN_SIDE + 2 {
        return None;
    }
    let (_, total) = sum_of_squares(&values);
    let (split, before, after, residual) = (MIN_SIDE..=values.len() - MIN_SIDE)
        .map(|k| {
            let (m1, s1) = sum_of_squares(&values[..k]);
            let (m2, s2) = sum_of_squares(&values[k..]);
            (k, m1, m2, s1 + s2)
        })
        .min_by(|a, b| a.3.total_cmp(&b.3))?;
    let explained = total > 0.0 && 1.0 - residual / total >= MIN_EXPLAINED;
    let better_than_a_slope = residual < 0.6 * line_residual(&values);
    (explained && better_than_a_slope && before > 0.0 && after / before <= MAX_RATIO).then(|| Step {
        at_ns: windows[split].0,
        before,
        after,
    })
}

/// Standard deviation over mean of the windows; `None` with too few of them.
pub fn relative_spread(record: &PhaseRecord) -> Option<f64> {
    let values: Vec<f64> = windows(record).iter().map(|w| w.1).collect();
    if values.len() < 2 * MIN_SIDE + 2 {
        return None;
    }
    let (mean, squares) = sum_of_squares(&values);
    (mean > 0.0).then(|| (squares / (values.len() - 1) as f64).sqrt() / mean)
}
