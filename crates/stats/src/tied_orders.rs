//! Kendall's score over all orders of values of which some are equal: how often it is at least as far from zero, exactly.

use crate::ranks::exact_subset_sums;
use std::collections::BTreeMap;

/// Shares that counting may hold; what needs more is not counted. Sixteen values with one tie on each side need this.
const MAX_SHARES: f64 = 1.2e7;

/// Probability, over all ways to match the values of y with those of x, of a score at least as far from zero. `None` where
/// counting would take too long: with ties on both sides from some sixteen values on.
pub(crate) fn exact_p_value(x: &[f64], y: &[f64], score: i64) -> Option<f64> {
    let (x, y) = (group_sizes(x), group_sizes(y));
    let distribution = match (x.iter().all(|n| *n == 1), y.iter().all(|n| *n == 1)) {
        (true, _) => one_side(&y),
        (_, true) => one_side(&x),
        // The side with fewer ways to take values away is the one that is taken from.
        _ if permutations(&x) < permutations(&y) => both_sides(&y, &x)?,
        _ => both_sides(&x, &y)?,
    };
    Some(distribution.iter().filter(|(s, _)| s.abs() >= score.abs()).map(|(_, share)| share).sum())
}

/// How often each value comes, in the order of the values.
fn group_sizes(values: &[f64]) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

fn permutations(sizes: &[usize]) -> f64 {
    sizes.iter().map(|n| (n + 1) as f64).product()
}

fn pairs(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

/// One side is a plain order. Where groups of the other are put in one after another, each in all places alike, the pairs
/// against the order are independent of one another from group to group.
fn one_side(sizes: &[usize]) -> Vec<(i64, f64)> {
    let mut shares = vec![1.0];
    let mut placed = 0;
    for &size in sizes {
        placed += size;
        // Ranks of the group among all that are placed; the lowest have no pair against the order.
        let ranks: Vec<u64> = (1..=placed as u64).collect();
        let sums = match size {
            1 => vec![1.0 / placed as f64; placed],
            _ => exact_subset_sums(&ranks, size)[size * (size + 1) / 2..].to_vec(),
        };
        let mut next = vec![0.0; shares.len() + sums.len() - 1];
        for (i, share) in shares.iter().enumerate() {
            for (more, of_these) in sums.iter().enumerate() {
                next[i + more] += share * of_these;
            }
        }
        shares = next;
    }
    let all = pairs(placed) - sizes.iter().map(|n| pairs(*n)).sum::<usize>();
    shares.iter().take(all + 1).enumerate().map(|(against, share)| (all as i64 - 2 * against as i64, *share)).collect()
}

/// Values are dealt to the groups of one side in their order, from what is left of the other side's groups. A state is what
/// is left; each carries the distribution of the score so far, shifted to begin at zero.
fn both_sides(groups: &[usize], classes: &[usize]) -> Option<Vec<(i64, f64)>> {
    let n: usize = groups.iter().sum();
    let middle = pairs(n);
    if permutations(classes) * (2 * middle + 1) as f64 > MAX_SHARES {
        return None;
    }
    let mut at_start = vec![0.0; 2 * middle + 1];
    at_start[middle] = 1.0;
    let mut states = BTreeMap::from([(classes.to_vec(), at_start)]);
    for &size in groups {
        let mut next: BTreeMap<Vec<usize>, Vec<f64>> = BTreeMap::new();
        for (left, shares) in states {
            let total: usize = left.iter().sum();
            for (taken, share) in multisets(&left, size, total) {
                let rest: Vec<usize> = left.iter().zip(&taken).map(|(l, t)| l - t).collect();
                let shift = concordance(&taken, &rest);
                let into = next.entry(rest).or_insert_with(|| vec![0.0; shares.len()]);
                for (i, s) in shares.iter().enumerate().filter(|(_, s)| **s > 0.0) {
                    into[(i as i64 + shift) as usize] += s * share;
                }
            }
        }
        states = next;
    }
    let (_, shares) = states.into_iter().next()?;
    Some(shares.iter().enumerate().map(|(i, share)| (i as i64 - middle as i64, *share)).collect())
}

/// All hands of `size` values that can be taken from what is left, with their probabilities.
fn multisets(left: &[usize], size: usize, total: usize) -> Vec<(Vec<usize>, f64)> {
    let Some((first, others)) = left.split_first() else {
        return if size == 0 { vec![(Vec::new(), 1.0)] } else { Vec::new() };
    };
    let behind: usize = others.iter().sum();
    let least = size.saturating_sub(behind);
    let mut out = Vec::new();
    for taken in least..=size.min(*first) {
        // Hypergeometric: so many of the first class among `size` of `total`.
        let share = choose(*first, taken) * choose(behind, size - taken) / choose(total, size);
        for (mut hand, rest) in multisets(others, size - taken, behind) {
            hand.insert(0, taken);
            out.push((hand, share * rest));
        }
    }
    out
}

fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// Pairs in order less those against it, between the values of a hand and all that come later.
fn concordance(taken: &[usize], rest: &[usize]) -> i64 {
    let mut below = 0_i64;
    let mut above: i64 = rest.iter().map(|r| *r as i64).sum();
    let mut score = 0;
    for (t, r) in taken.iter().zip(rest) {
        above -= *r as i64;
        score += *t as i64 * (above - below);
        below += *r as i64;
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders of y against x (Heap's algorithm).
    fn by_permutation(x: &[f64], y: &[f64], observed: i64) -> f64 {
        let sign = |a: f64, b: f64| i64::from(a > b) - i64::from(a < b);
        let score = |y: &[f64]| -> i64 {
            (0..x.len())
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| sign(x[i], x[j]) * sign(y[i], y[j]))
                .sum()
        };
        let (mut y, n) = (y.to_vec(), y.len());
        let mut all = 1_u64;
        let mut far = u64::from(score(&y).abs() >= observed.abs());
        let mut counters = vec![0; n];
        let mut i = 0;
        while i < n {
            if counters[i] < i {
                y.swap(if i % 2 == 0 { 0 } else { counters[i] }, i);
                all += 1;
                far += u64::from(score(&y).abs() >= observed.abs());
                counters[i] += 1;
                i = 0;
            } else {
                counters[i] = 0;
                i += 1;
            }
        }
        far as f64 / all as f64
    }

    #[test]
    fn counting_agrees_with_all_orders() {
        let plain = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let few = [2.0, 2.0, 1.0, 5.0, 3.0, 6.0, 5.0];
        let many = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 9.0];
        let other = [4.0, 4.0, 4.0, 4.0, 0.0, 0.0, 7.0];
        for x in [plain, few, many, other] {
            for y in [plain, few, many, other] {
                for score in [0, 3, 8, 13, 20, 21] {
                    let counted = exact_p_value(&x, &y, score).unwrap();
                    let looked = by_permutation(&x, &y, score);
                    assert!((counted - looked).abs() < 1e-12, "{x:?} {y:?} {score}: {counted}, not {looked}");
                }
            }
        }
    }

    #[test]
    fn one_tie_of_many_is_counted_and_many_on_both_sides_are_not() {
        let plain: Vec<f64> = (0..60).map(f64::from).collect();
        let tied: Vec<f64> = (0..60).map(|i| f64::from(i.max(1))).collect();
        // All in order: of 60! / 2 arrangements of the tied values only this one and the opposite one are so far.
        let p = exact_p_value(&tied, &plain, (pairs(60) - 1) as i64).unwrap();
        assert!((p.ln() - (4.0_f64.ln() - (1..=60).map(|i| f64::from(i).ln()).sum::<f64>())).abs() < 1e-6, "{p}");
        assert_eq!(exact_p_value(&tied, &tied, 5), None);
    }
}
