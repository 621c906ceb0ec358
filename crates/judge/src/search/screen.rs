//! The screen: all settings that are left vary at once, each at its present value in half of the measurements and at its other
//! values in equal parts of the rest, independently of one another. A setting that only helps beside another one shows here, as half of
//! the measurements have that one, too; single changes never show it.

use super::change::Change;
use super::draw::Draw;
use super::measured::Measured;
use model::CompactSort as _;

/// What an effect is expected to be like, as a logarithm: larger ones are shrunk less than their noise asks. A brief search finds large
/// ones alone, the more so of a setting that findings name.
const EXPECTED_EFFECT: f64 = 0.05;
const EXPECTED_LARGE: f64 = 0.15;
const EXPECTED_SUGGESTED: f64 = 0.4;
/// Rounds of giving what is far off less weight, from so many standard deviations on (Huber, Robust Statistics, 1981).
const ROBUST_ROUNDS: usize = 4;
const FAR_OFF: f64 = 1.345;
/// The median absolute deviation of normal noise against its standard deviation.
const OF_DEVIATION: f64 = 1.4826;
/// Measurements with both changes of a pair: fewer tell nothing of it.
const LEAST_WITH_BOTH: usize = 2;
/// Noise where nothing tells it.
const EXPECTED_NOISE: f64 = 0.05;

/// Combinations of the changes that are left, in random order.
pub(super) fn cells(left: &[Change], cells: usize, draw: &mut Draw) -> Vec<Vec<Change>> {
    let mut out = vec![Vec::new(); cells];
    for setting in settings(left) {
        let others: Vec<Change> = left.iter().copied().filter(|c| c.candidate == setting).collect();
        let half = cells / 2;
        let mut values: Vec<Option<Change>> =
            (0..cells).map(|n| n.checked_sub(half).map(|n| others[n % others.len()])).collect();
        draw.shuffle(&mut values);
        out.iter_mut().zip(values).for_each(|(cell, value)| cell.extend(value));
    }
    out
}

/// The settings of these changes, each once.
pub(super) fn settings(changes: &[Change]) -> Vec<usize> {
    let mut all: Vec<usize> = changes.iter().map(|c| c.candidate).collect();
    all.dedup();
    all
}

/// What a screen shows.
#[derive(Clone, Debug)]
pub(super) struct Effects {
    /// The effect of each change on average over what the others were.
    pub of_each: Vec<(Change, f64)>,
    /// What is left of each measurement without level, drift and effects.
    left_over: Vec<f64>,
}

/// The effects of changes, by ridge regression with a level, a drift and its bend that are not penalised. `None` where too few
/// measurements are valid.
pub(super) fn effects(left: &[Change], measured: &[Measured], noise: Option<f64>) -> Option<Effects> {
    let penalty = (noise.unwrap_or(EXPECTED_NOISE) / EXPECTED_EFFECT).powi(2);
    let rows = rows(left, measured, 3)?;
    let values: Vec<f64> = measured.iter().map(|m| m.value).collect();
    let found = stats::ridge(&rows, &values, &[vec![0.0; 3], vec![penalty; left.len()]].concat())?;
    let left_over = left_over(&rows, &values, &found);
    Some(Effects { of_each: left.iter().copied().zip(found[3..].iter().copied()).collect(), left_over })
}

/// The columns of the drift (of a level, a line and its bend so many), and one of each change.
fn rows(left: &[Change], measured: &[Measured], of_drift: usize) -> Option<Vec<Vec<f64>>> {
    let (first, last) = (measured.first()?.at, measured.last()?.at);
    let (middle, half) = ((first + last) / 2.0, ((last - first) / 2.0).max(1.0));
    let row = |m: &Measured| {
        let time = (m.at - middle) / half;
        let drift = [1.0, time, time * time].into_iter().take(of_drift);
        drift.chain(left.iter().map(|change| f64::from(u8::from(m.cell.contains(change))))).collect()
    };
    Some(measured.iter().map(row).collect())
}

fn left_over(rows: &[Vec<f64>], values: &[f64], found: &[f64]) -> Vec<f64> {
    let fitted = |row: &Vec<f64>| row.iter().zip(found).map(|(x, coefficient)| x * coefficient).sum::<f64>();
    rows.iter().zip(values).map(|(row, value)| value - fitted(row)).collect()
}

/// What all measurements of a brief search show together.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    /// The effect of each change.
    pub of_each: Vec<(Change, f64)>,
    /// Standard deviation of one measurement.
    pub noise: f64,
}

/// The effects of changes from whatever was set together, with a level and a drift; single values that are far off have less weight.
pub(super) fn pooled(left: &[Change], suggested: &[usize], measured: &[Measured]) -> Option<Pooled> {
    const DRIFT: usize = 2;
    let rows = rows(left, measured, DRIFT)?;
    let values: Vec<f64> = measured.iter().map(|m| m.value).collect();
    let steps: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
    let mut noise = (OF_DEVIATION * stats::median_absolute_deviation(&steps)? / std::f64::consts::SQRT_2).max(1e-6);
    // As many parameters as half the values: effects are shrunk.
    let free = values.len() as f64 / (values.len() as f64 - (left.len() + DRIFT).min(values.len() / 2) as f64);
    let mut weights = vec![1.0; values.len()];
    let mut found = None;
    for _ in 0..ROBUST_ROUNDS {
        let expected = |c: &Change| if suggested.contains(&c.candidate) { EXPECTED_SUGGESTED } else { EXPECTED_LARGE };
        let penalties: Vec<f64> = left.iter().map(|c| (noise / expected(c)).powi(2)).collect();
        let weighted = |(row, weight): (&Vec<f64>, &f64)| row.iter().map(|x| x * weight.sqrt()).collect();
        let rows_now: Vec<Vec<f64>> = rows.iter().zip(&weights).map(weighted).collect();
        let values_now: Vec<f64> = values.iter().zip(&weights).map(|(value, weight)| value * weight.sqrt()).collect();
        let coefficients = stats::ridge(&rows_now, &values_now, &[vec![0.0; DRIFT], penalties].concat())?;
        let off = left_over(&rows, &values, &coefficients);
        noise = (OF_DEVIATION * stats::median_absolute_deviation(&off)? * free.sqrt()).max(1e-6);
        weights = off.iter().map(|off| (FAR_OFF * noise / off.abs().max(1e-12)).min(1.0)).collect();
        found = Some(coefficients);
    }
    let of_each = left.iter().copied().zip(found?[DRIFT..].iter().copied()).collect();
    Some(Pooled { of_each, noise })
}

impl Effects {
    /// The best pairs of changes, by what the measurements with both were above the others without the effects of what else was set,
    /// in standard errors: two that only help together stand out far more here than each in its own effect.
    pub fn best_pairs(&self, measured: &[Measured], most: usize) -> Vec<Vec<Change>> {
        let mut pairs: Vec<(f64, Vec<Change>)> = Vec::new();
        for (index, (second, of_second)) in self.of_each.iter().enumerate() {
            for (first, of_first) in self.of_each[..index].iter().filter(|(c, _)| c.candidate != second.candidate) {
                let has_both = |m: &Measured| m.cell.contains(first) && m.cell.contains(second);
                let both = measured.iter().zip(&self.left_over).filter(|(m, _)| has_both(m));
                let above: Vec<f64> = both.map(|(_, left_over)| left_over + of_first + of_second).collect();
                let score = above.iter().sum::<f64>() / (above.len() as f64).sqrt();
                if above.len() >= LEAST_WITH_BOTH && score > 0.0 {
                    pairs.push((score, vec![*first, *second]));
                }
            }
        }
        pairs.compact_sort_by(|a, b| b.0.total_cmp(&a.0));
        pairs.into_iter().take(most).map(|(_, pair)| pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(settings: usize) -> Vec<Change> {
        (0..settings).flat_map(|candidate| (0..2).map(move |alternative| Change { candidate, alternative })).collect()
    }

    #[test]
    fn half_have_the_present_value_and_the_others_are_alike() {
        let left = changes(20);
        let cells = cells(&left, 96, &mut Draw::new(5));
        for change in &left {
            assert_eq!(cells.iter().filter(|c| c.contains(change)).count(), 24, "{change:?}");
        }
        let both = cells.iter().filter(|c| c.contains(&left[0]) && c.contains(&left[2])).count();
        assert!((1..=14).contains(&both), "{both}");
        assert!(cells.iter().all(|c| settings(c).len() == c.len()), "one value of each");
    }

    #[test]
    fn a_pair_that_only_helps_together_shows_in_both() {
        let left = changes(12);
        let pair = [left[3], left[8]];
        let measured: Vec<Measured> = cells(&left, 96, &mut Draw::new(1))
            .into_iter()
            .enumerate()
            .map(|(at, cell)| {
                let helps = pair.iter().all(|c| cell.contains(c));
                let value = 3.0 + at as f64 * 0.001 + if helps { 0.3 } else { 0.0 };
                Measured { cell, value, at: at as f64 }
            })
            .collect();
        let found = effects(&left, &measured, Some(0.03)).unwrap();
        assert_eq!(found.best_pairs(&measured, 1), [pair.to_vec()]);
        let mut of_each = found.of_each;
        of_each.sort_by(|a, b| b.1.total_cmp(&a.1));
        assert!(pair.contains(&of_each[0].0) && pair.contains(&of_each[1].0), "{of_each:?}");
        assert!(effects(&left, &measured[..0], None).is_none());
    }
}
