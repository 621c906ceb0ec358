//! What a phase's series says: its rate in windows, one step in it, how flat it is.

use crate::guard::require;
use model::{Interval, Ns, PhaseRecord};

/// Fewest windows on each side of a step.
const MIN_SIDE: usize = 3;
/// Windows a phase is divided into where its intervals allow: enough to place a step, long enough to average out the
/// jitter of single intervals.
const WINDOWS: usize = 24;
/// A step explains at least this share of the variance. The best step through a straight ramp explains 75 %.
const MIN_EXPLAINED: f64 = 0.8;
/// A line explains at least this share of the variance of a slide.
const MIN_SLID: f64 = 0.7;
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
    windows_of(record.counted_intervals())
}

fn windows_of(intervals: &[Interval]) -> Vec<(Ns, f64)> {
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

/// Mean, and sum of squared deviations from it.
fn level(values: &[f64]) -> (f64, f64) {
    let mean = stats::mean(values).unwrap_or(0.0);
    (mean, stats::variance(values).map_or(0.0, |v| v * (values.len() - 1) as f64))
}

/// The residual sum of squares around the least-squares line.
fn line_residual(values: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect();
    stats::least_squares(&points)
        .map_or(f64::INFINITY, |line| points.iter().map(|(x, y)| (y - line.at(*x)).powi(2)).sum())
}

/// The one fall that explains the series, if a step explains it better than noise or a slope does.
///
/// Least squares and not a rank test (`stats::change_point`): a cache that lasts for a sixth of the phase is as plain as
/// one that lasts for half of it, but its few windows carry too few ranks to be significant.
pub fn fall(record: &PhaseRecord) -> Option<Step> {
    fall_of(record.counted_intervals())
}

/// As [`fall`], of intervals of a phase.
pub fn fall_of(intervals: &[Interval]) -> Option<Step> {
    let windows = windows_of(intervals);
    let values: Vec<f64> = windows.iter().map(|w| w.1).collect();
    require(values.len() >= 2 * MIN_SIDE + 2)?;
    let (_, total) = level(&values);
    let (split, before, after, residual) = (MIN_SIDE..=values.len() - MIN_SIDE)
        .map(|k| {
            let (m1, s1) = level(&values[..k]);
            let (m2, s2) = level(&values[k..]);
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

/// A fall after a few intervals of many, too early for windows: all that came before lie far above nearly all that follow. To half
/// of three intervals; of one or two, which may be the start of anything, to a tenth.
pub fn early_fall(intervals: &[Interval]) -> Option<Step> {
    /// Part of the intervals that comes before it at most; [`fall_of`] sees later ones.
    const EARLY: usize = 4;
    /// Of what follows, so much lies below.
    const BELOW: f64 = 0.95;
    let rates: Vec<f64> = intervals.iter().map(|i| i.bytes as f64 / i.length_ns.max(1) as f64 * 1e9).collect();
    let at = (1..rates.len() / EARLY).rev().find(|at| {
        let (before, after) = rates.split_at(*at);
        let deep = if *at < MIN_SIDE { 0.1 } else { 0.5 };
        let least = before.iter().copied().fold(f64::INFINITY, f64::min);
        let below = after.iter().filter(|r| **r <= least * deep).count();
        below as f64 >= after.len() as f64 * BELOW
    })?;
    let (before, after) = (stats::mean(&rates[..at])?, stats::mean(&rates[at..])?);
    Some(Step { at_ns: intervals[at].start_ns, before, after })
}

/// Standard deviation over mean of the windows; `None` with too few of them.
pub fn relative_spread(record: &PhaseRecord) -> Option<f64> {
    let values: Vec<f64> = windows(record).iter().map(|w| w.1).collect();
    if values.len() < 2 * MIN_SIDE + 2 { None } else { spread(&values) }
}

/// As [`relative_spread`], of the windows after a fall. The first of them may hold a part of what was before.
pub fn spread_after(record: &PhaseRecord, fall: &Step) -> Option<f64> {
    let values: Vec<f64> = windows(record).iter().filter(|w| w.0 > fall.at_ns).map(|w| w.1).collect();
    if values.len() < MIN_SIDE { None } else { spread(&values) }
}

/// What one operation more or less in a window of the phase makes of a rate, as a share of it.
pub fn grain(record: &PhaseRecord, bytes_per_s: f64, block: f64) -> f64 {
    let window = windows(record).windows(2).map(|w| w[1].0 - w[0].0).min().unwrap_or(1);
    block / (bytes_per_s * window as f64 / 1e9).max(1.0)
}

/// A rate that slid down over the whole phase: a line explains it, and its end lies below its begin by as much as a step
/// worth naming.
pub fn slide(record: &PhaseRecord) -> Option<Step> {
    let windows = windows(record);
    let values: Vec<f64> = windows.iter().map(|w| w.1).collect();
    require(values.len() >= 2 * MIN_SIDE + 2)?;
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect();
    let line = stats::least_squares(&points)?;
    let (before, after) = (line.at(0.0), line.at((values.len() - 1) as f64));
    let (_, total) = level(&values);
    let explained = total > 0.0 && 1.0 - line_residual(&values) / total >= MIN_SLID;
    (explained && after > 0.0 && after / before <= MAX_RATIO).then(|| Step { at_ns: windows[0].0, before, after })
}

/// What a trend that all of these phases have in common makes of a rate in a second, and how sure it is, in standard errors;
/// each phase has a rate of its own. `None` of too few.
pub fn common_trend<'a>(records: impl Iterator<Item = &'a PhaseRecord>) -> Option<(f64, f64)> {
    let mut xx = 0.0;
    let mut xy = 0.0;
    let mut yy = 0.0;
    let mut free = -1.0;
    for record in records {
        let points: Vec<(f64, f64)> =
            windows(record).iter().filter(|w| w.1 > 0.0).map(|w| (w.0 as f64 / 1e9, w.1.ln())).collect();
        if points.len() < 2 * MIN_SIDE {
            continue;
        }
        let mean = |of: fn(&(f64, f64)) -> f64| stats::mean(&points.iter().map(of).collect::<Vec<_>>());
        let (x, y) = (mean(|p| p.0)?, mean(|p| p.1)?);
        for point in &points {
            let (dx, dy) = (point.0 - x, point.1 - y);
            (xx, xy, yy) = (xx + dx * dx, xy + dx * dy, yy + dy * dy);
        }
        free += points.len() as f64 - 1.0;
    }
    let slope = (free > 0.0 && xx > 0.0).then(|| xy / xx)?;
    let error = ((yy - slope * xy).max(0.0) / free / xx).sqrt();
    Some((slope.exp(), slope / error.max(f64::MIN_POSITIVE)))
}

fn spread(values: &[f64]) -> Option<f64> {
    let (mean, squares) = level(values);
    (mean > 0.0).then(|| (squares / (values.len() - 1) as f64).sqrt() / mean)
}
