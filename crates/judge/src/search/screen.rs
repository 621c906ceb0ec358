//! The screen: all settings that are left vary at once, each at its present value in half of the measurements and at its other
//! values in equal parts of the rest, independently of one another. A setting that only helps beside another one shows here, as half of
//! the measurements have that one, too; single changes never show it.

use super::change::Change;
use super::draw::Draw;
use super::measured::Measured;

/// What an effect is expected to be like, as a logarithm: larger ones are shrunk less than their noise asks.
const EXPECTED_EFFECT: f64 = 0.05;
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
    let (first, last) = (measured.first()?.at, measured.last()?.at);
    let (middle, half) = ((first + last) / 2.0, ((last - first) / 2.0).max(1.0));
    let row = |m: &Measured| {
        let time = (m.at - middle) / half;
        let drift = [1.0, time, time * time].into_iter();
        drift.chain(left.iter().map(|change| f64::from(u8::from(m.cell.contains(change))))).collect::<Vec<f64>>()
    };
    let rows: Vec<Vec<f64>> = measured.iter().map(row).collect();
    let values: Vec<f64> = measured.iter().map(|m| m.value).collect();
    let penalty = (noise.unwrap_or(EXPECTED_NOISE) / EXPECTED_EFFECT).powi(2);
    let penalties: Vec<f64> = [0.0; 3].into_iter().chain(left.iter().map(|_| penalty)).collect();
    let found = stats::ridge(&rows, &values, &penalties)?;
    let fitted = |row: &Vec<f64>| row.iter().zip(&found).map(|(x, coefficient)| x * coefficient).sum::<f64>();
    let left_over = rows.iter().zip(&values).map(|(row, value)| value - fitted(row)).collect();
    Some(Effects { of_each: left.iter().copied().zip(found[3..].iter().copied()).collect(), left_over })
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
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
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
