//! Lasting changes of level in a series: how many there are, and where.
//!
//! For one change, two and so on, the series is cut where its ranks fall most clearly into levels (exact, by dynamic
//! programming; ranks bear outliers). A cut counts only if the levels beside it differ by more than what the values
//! wander around them: by the robust spread of what is left, and by how many independent values that is worth, after the
//! lag-1 correlation that is left. A series that drifts or wanders leaves much correlation, and so is not taken for one
//! that changed.

use crate::autocorrelation::effective_sample_size;
use crate::moments::mean;
use crate::robust::{median, median_absolute_deviation, midranks};
use crate::student::t_quantile;

/// Share of the distance of two levels that must lie between the quarters next to the cut. A straight slope has a quarter
/// of it there.
const SHARP: f64 = 0.6;
/// Values next to the cut that are compared at least.
const MIN_NEAR: usize = 5;

/// What a change must be to count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelRule {
    /// Values that a level has at least, 2 or more.
    pub least_values: usize,
    /// Changes that are looked for at most.
    pub most_changes: usize,
    /// The higher level over the lower one at least, by mean and by median.
    pub least_ratio: f64,
    /// Confidence, below 1, with which the two levels must differ, taken from Student's t of their distance on as many
    /// degrees of freedom as there are independent values. It is not the share of false alarms: the places were chosen.
    pub confidence: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// Index of the first value of the new level.
    pub at: usize,
    /// Mean of the level before.
    pub before: f64,
    /// Mean of the new level.
    pub after: f64,
    /// Distance of the two in standard errors; infinite where nothing else moves.
    pub score: f64,
}

/// The changes of level in `values`, in order; of several numbers of changes that all hold, the largest. Values must not
/// be negative. Time grows with the square of their number: join neighbours first where there are thousands.
pub fn level_changes(values: &[f64], rule: &LevelRule) -> Vec<LevelChange> {
    let n = values.len();
    let least = rule.least_values.max(2);
    if n < 2 * least || values.iter().any(|v| !v.is_finite()) || values.iter().all(|v| *v == values[0]) {
        return Vec::new();
    }
    let most = rule.most_changes.min(n / least - 1);
    let cuts = best_cuts(&midranks(values), least, most);
    cuts.iter()
        .rev()
        .find_map(|cuts| checked_changes(values, &refined_cuts(values, cuts, least)?, rule))
        .unwrap_or_default()
}

/// The cuts moved to where the values themselves, and not their ranks, are nearest to the medians of the levels beside
/// them: ranks draw a cut into the longer level, since they do not know how far the levels are apart.
fn refined_cuts(values: &[f64], cuts: &[usize], least: usize) -> Option<Vec<usize>> {
    let mut cuts = cuts.to_vec();
    for i in 0..cuts.len() {
        let from = if i == 0 { 0 } else { cuts[i - 1] };
        let to = cuts.get(i + 1).copied().unwrap_or(values.len());
        let (before, after) = (median(&values[from..cuts[i]])?, median(&values[cuts[i]..to])?);
        // What it costs more to leave a value on the left than on the right.
        let cost = |v: f64| (v - before).abs() - (v - after).abs();
        let mut sum: f64 = values[from..from + least].iter().map(|v| cost(*v)).sum();
        let mut best = (sum, from + least);
        for at in from + least + 1..=to - least {
            sum += cost(values[at - 1]);
            if sum < best.0 {
                best = (sum, at);
            }
        }
        cuts[i] = best.1;
    }
    Some(cuts)
}

/// For 1 to `most` changes: the places that leave the smallest sum of squares around the levels.
fn best_cuts(ranks: &[f64], least: usize, most: usize) -> Vec<Vec<usize>> {
    let n = ranks.len();
    let sums: Vec<f64> = std::iter::once(0.0)
        .chain(ranks.iter().scan(0.0, |sum, r| {
            *sum += r;
            Some(*sum)
        }))
        .collect();
    // What a level explains: the square of its sum over its length.
    let explains = |from: usize, to: usize| (sums[to] - sums[from]).powi(2) / (to - from) as f64;
    let mut best: Vec<f64> = (0..=n).map(|to| if to >= least { explains(0, to) } else { f64::NEG_INFINITY }).collect();
    let mut from_of: Vec<Vec<usize>> = Vec::with_capacity(most);
    let mut all = Vec::with_capacity(most);
    for levels in 2..=most + 1 {
        let mut next = vec![f64::NEG_INFINITY; n + 1];
        let mut from = vec![0; n + 1];
        for to in levels * least..=n {
            let starts = best.iter().enumerate().take(to - least + 1).skip((levels - 1) * least);
            for (start, explained) in starts {
                let value = explained + explains(start, to);
                if value > next[to] {
                    (next[to], from[to]) = (value, start);
                }
            }
        }
        best = next;
        from_of.push(from);
        let mut cuts = Vec::with_capacity(levels - 1);
        let mut end = n;
        for from in from_of.iter().rev() {
            end = from[end];
            cuts.push(end);
        }
        cuts.reverse();
        all.push(cuts);
    }
    all
}

/// The changes at these places, if every one of them holds.
fn checked_changes(values: &[f64], cuts: &[usize], rule: &LevelRule) -> Option<Vec<LevelChange>> {
    let ends = cuts.iter().copied().chain([values.len()]);
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let levels: Vec<&[f64]> = starts.zip(ends).map(|(from, to)| &values[from..to]).collect();
    let middles: Vec<f64> = levels.iter().map(|l| median(l)).collect::<Option<_>>()?;
    let means: Vec<f64> = levels.iter().map(|l| mean(l)).collect::<Option<_>>()?;
    let left: Vec<f64> =
        levels.iter().zip(&middles).flat_map(|(level, middle)| level.iter().map(move |v| v - middle)).collect();
    let spread = spread(&left)?;
    // Outliers would hide how alike neighbours are.
    let tamed: Vec<f64> = left.iter().map(|v| v.clamp(-4.0 * spread, 4.0 * spread)).collect();
    let effective = effective_sample_size(&tamed)?;
    let independent = effective / values.len() as f64;
    let least_score = t_quantile(rule.confidence, effective - levels.len() as f64).unwrap_or(f64::INFINITY);
    let differ = |a: f64, b: f64| {
        let (low, high) = (a.min(b), a.max(b));
        high > 0.0 && high >= low * rule.least_ratio
    };
    let mut changes = Vec::with_capacity(cuts.len());
    for (i, at) in cuts.iter().copied().enumerate() {
        let (before, after) = (means[i], means[i + 1]);
        let by_median = middles[i + 1] - middles[i];
        let distance = (after - before).abs().min(by_median.abs());
        let values = |level: usize| levels[level].len() as f64 * independent;
        let error = spread * (1.0 / values(i) + 1.0 / values(i + 1)).sqrt();
        let score = if error > 0.0 { distance / error } else { f64::INFINITY };
        let agree = (after - before) * by_median > 0.0;
        let differ = differ(before, after) && differ(middles[i], middles[i + 1]);
        if !agree || !differ || score < least_score || !is_step(levels[i], levels[i + 1], by_median) {
            return None;
        }
        changes.push(LevelChange { at, before, after, score });
    }
    Some(changes)
}

/// Whether most of the distance between two levels lies at the cut: a slope would spread it over their lengths.
fn is_step(before: &[f64], after: &[f64], distance: f64) -> bool {
    let near = (before.len().min(after.len()) / 4).max(MIN_NEAR).min(before.len()).min(after.len());
    let (Some(a), Some(b)) = (median(&before[before.len() - near..]), median(&after[..near])) else { return false };
    (b - a) / distance >= SHARP
}

/// Standard deviation without what lies far out: at least what the median absolute deviation tells, which a skewed or
/// two-peaked series makes too small.
fn spread(left: &[f64]) -> Option<f64> {
    let robust = median_absolute_deviation(left)? * 1.4826;
    let mean_absolute = left.iter().map(|v| v.abs()).sum::<f64>() / left.len() as f64 * 1.2533;
    let limit = 4.0 * if robust > 0.0 { robust } else { mean_absolute };
    let squares: f64 = left.iter().map(|v| v.clamp(-limit, limit).powi(2)).sum();
    Some(robust.max((squares / left.len() as f64).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Noise;

    /// The rule with the judge's thresholds.
    fn rule(n: usize) -> LevelRule {
        LevelRule { least_values: (n / 30).max(5), most_changes: 4, least_ratio: 1.25, confidence: 1.0 - 1e-6 }
    }

    /// Series without a change, at a spread that makes the least ratio no help.
    fn noise_of(kind: &str, n: usize, noise: &mut Noise) -> Vec<f64> {
        match kind {
            "white" => noise.ar1(n, 0.0, 100.0, 30.0),
            "AR .5" => noise.ar1(n, 0.5, 100.0, 30.0),
            "AR .8" => noise.ar1(n, 0.8, 100.0, 30.0),
            "AR .95" => noise.ar1(n, 0.95, 100.0, 30.0),
            // Student's t with 3 degrees of freedom.
            "heavy" => (0..n)
                .map(|_| {
                    let chi: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
                    100.0 + 20.0 * noise.normal() / (chi / 3.0).sqrt()
                })
                .collect(),
            "lognormal" => (0..n).map(|_| 100.0 * (0.8 * noise.normal()).exp()).collect(),
            // One interval in ten stands still; after it comes what was held up.
            "stalls" => {
                let mut owed = 0.0;
                (0..n)
                    .map(|_| {
                        let value = 100.0 + 10.0 * noise.normal() + owed;
                        owed = if noise.normal() > 1.28 { value } else { 0.0 };
                        if owed > 0.0 { 0.0 } else { value }
                    })
                    .collect()
            }
            // A limiter that lets through all or nothing.
            "two levels" => (0..n).map(|_| if noise.normal() > 0.0 { 160.0 } else { 40.0 }).collect(),
            // A card that slows down evenly to a third.
            "drift" => (0..n).map(|i| 100.0 - 67.0 * i as f64 / n as f64 + 3.0 * noise.normal()).collect(),
            other => panic!("{other}"),
        }
        .into_iter()
        .map(|v: f64| v.max(0.0))
        .collect()
    }

    #[test]
    fn noise_is_not_taken_for_a_change() {
        // Most false alarms that are allowed at 20, 60 and 300 values. Ten times the usual spread of a device, so that the
        // least ratio is no help: 30 % of the mean.
        let kinds = [
            ("white", [0.005, 0.005, 0.005]),
            ("AR .5", [0.01, 0.005, 0.005]),
            ("AR .8", [0.02, 0.015, 0.005]),
            ("AR .95", [0.03, 0.03, 0.01]),
            ("heavy", [0.005, 0.005, 0.005]),
            ("lognormal", [0.01, 0.01, 0.01]),
            ("stalls", [0.01, 0.015, 0.01]),
            ("two levels", [0.015, 0.005, 0.005]),
            ("drift", [0.005, 0.005, 0.005]),
        ];
        println!("false alarms in 1,000 series      n = 20   n = 60  n = 300");
        for (kind, most) in kinds {
            let rates = [20, 60, 300].map(|n: usize| {
                let mut noise = Noise::new(2026 + n as u64);
                let alarm = |_: &u32| !level_changes(&noise_of(kind, n, &mut noise), &rule(n)).is_empty();
                (0..1_000).filter(alarm).count() as f64 / 1_000.0
            });
            println!("{kind:<30} {:>9.4} {:>8.4} {:>8.4}", rates[0], rates[1], rates[2]);
            assert!(rates.iter().zip(most).all(|(rate, most)| *rate <= most), "{kind}: {rates:?} above {most:?}");
        }
    }

    /// Share of 300 series in which exactly the steps of `levels` are found, each within `slack` values.
    fn found(n: usize, steps: &[(usize, f64)], phi: f64, spread: f64, slack: usize) -> f64 {
        let mut noise = Noise::new(7 + n as u64);
        let hits = (0..300).filter(|_| {
            let mut series = noise.ar1(n, phi, 1.0, spread);
            for (i, value) in series.iter_mut().enumerate() {
                let level = steps.iter().rev().find(|(at, _)| *at <= i).map_or(1.0, |(_, level)| *level);
                *value = (*value * level * 100e6).max(0.0);
            }
            let changes = level_changes(&series, &rule(n));
            changes.len() == steps.len()
                && changes.iter().zip(steps).all(|(c, (at, level))| {
                    c.at.abs_diff(*at) <= slack && (c.after / (level * 100e6) - 1.0).abs() < 0.15
                })
        });
        hits.count() as f64 / 300.0
    }

    #[test]
    fn steps_are_found_where_they_are() {
        type Case = (&'static str, usize, &'static [(usize, f64)], f64, f64, usize, f64);
        // What happens, values, steps, correlation, spread, slack, least share found.
        let cases: [Case; 10] = [
            ("a cache runs out early", 300, &[(20, 0.12)], 0.3, 0.10, 1, 0.97),
            ("a cache runs out in the middle", 300, &[(140, 0.3)], 0.5, 0.10, 1, 0.97),
            ("a cache runs out late", 300, &[(285, 0.3)], 0.3, 0.10, 1, 0.97),
            ("a short phase", 20, &[(9, 0.3)], 0.0, 0.05, 1, 0.93),
            ("throttled by a quarter", 300, &[(200, 0.74)], 0.3, 0.05, 2, 0.97),
            ("throttled by a third, 10 % noise", 100, &[(50, 0.66)], 0.3, 0.10, 3, 0.90),
            ("throttled and recovered", 300, &[(100, 0.6), (200, 1.0)], 0.3, 0.08, 2, 0.95),
            ("cache, then folding", 300, &[(60, 0.4), (180, 0.1)], 0.3, 0.08, 2, 0.95),
            ("no noise at all", 40, &[(12, 0.5)], 0.0, 0.0, 0, 1.0),
            ("next to nothing after", 60, &[(30, 0.02)], 0.0, 0.05, 1, 0.97),
        ];
        for (what, n, steps, phi, spread, slack, least) in cases {
            let share = found(n, steps, phi, spread, slack);
            println!("{what:<36} {share:.3}");
            assert!(share >= least, "{what}: {share}");
        }
    }

    #[test]
    fn degenerate_series_have_no_changes() {
        let rule = rule(20);
        for series in
            [vec![], vec![1.0; 50], vec![0.0; 50], vec![1.0, 2.0], vec![f64::NAN; 50], vec![f64::INFINITY; 20]]
        {
            assert_eq!(level_changes(&series, &rule), [], "{series:?}");
        }
        let mut step = vec![1.0; 10];
        step.extend([0.0; 10]);
        let changes = level_changes(&step, &rule);
        assert_eq!((changes.len(), changes[0].at, changes[0].before, changes[0].after), (1, 10, 1.0, 0.0));
        assert_eq!(changes[0].score, f64::INFINITY);
    }
}
