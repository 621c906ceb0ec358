//! Two sets that are not paired: the rank-sum test of Mann, Whitney and Wilcoxon with its exact distribution, and the
//! Hodges-Lehmann shift with its interval (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 4.1 to 4.3).

use crate::pairwise::{differences_up_to, median_and_ends};
use crate::ranks::{doubled_ranks, exact_subset_sums, left_out_of};
use statrs::distribution::{ContinuousCDF, Normal};

/// Up to so many values of both sets together the distribution is exact.
const EXACT_UP_TO: usize = 60;

/// How far the second set lies from the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Median of all differences, second less first.
    pub estimate: f64,
    /// Lower end; `None` where so few values carry no interval of this level.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Two-sided probability of ranks at least as uneven, if there were no difference.
    pub p: f64,
}

/// Compares two sets with an interval of at least `level` (0 to 1). `None` if one is empty or a value is not finite.
pub fn shift(first: &[f64], second: &[f64], level: f64) -> Option<Shift> {
    let finite = first.iter().chain(second).all(|v| v.is_finite());
    if first.is_empty() || second.is_empty() || !finite || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let (mut a, mut b) = (first.to_vec(), second.to_vec());
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let outside = trimmed(a.len(), b.len(), (1.0 - level) / 2.0);
    let (estimate, ends) = median_and_ends(a.len() * b.len(), outside, |most| differences_up_to(&a, &b, most));
    Some(Shift { estimate, low: ends.map(|e| e.0), high: ends.map(|e| e.1), p: p_value(first, second) })
}

fn p_value(first: &[f64], second: &[f64]) -> f64 {
    let all: Vec<f64> = second.iter().chain(first).copied().collect();
    let doubled = doubled_ranks(&all);
    let of_second: u64 = doubled[..second.len()].iter().sum();
    let (m, n) = (second.len() as f64, all.len() as f64);
    let middle = m * (n + 1.0);
    let distance = (of_second as f64 - middle).abs();
    if all.len() <= EXACT_UP_TO {
        let shares = exact_subset_sums(&doubled, second.len());
        let as_far = |(sum, _): &(usize, &f64)| (*sum as f64 - middle).abs() >= distance - 1e-9;
        return shares.iter().enumerate().filter(as_far).map(|(_, p)| p).sum::<f64>().min(1.0);
    }
    // Variance of the sum of doubled ranks of a sample without replacement, ties included.
    let mean = n + 1.0;
    let spread: f64 = doubled.iter().map(|r| (*r as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let variance = m * (n - m) / n * spread;
    if variance <= 0.0 {
        return 1.0;
    }
    (2.0 * Normal::standard().cdf(-(distance - 1.0).max(0.0) / variance.sqrt())).min(1.0)
}

/// Differences left out on each side.
fn trimmed(first: usize, second: usize, tail: f64) -> Option<usize> {
    let (m, n) = (second as f64, first as f64);
    if first + second <= EXACT_UP_TO {
        let ranks: Vec<u64> = (1..=(first + second) as u64).collect();
        let least = second * (second + 1) / 2;
        return left_out_of(&exact_subset_sums(&ranks, second)[least..], tail);
    }
    let k = m * n / 2.0 + Normal::standard().inverse_cdf(tail) * (m * n * (m + n + 1.0) / 12.0).sqrt();
    (k >= 1.0).then(|| k as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values() {
        // Hollander and Wolfe, table 4.1 (permeability; R: wilcox.test(x, y): W = 35, exact two-sided p = 0.2544).
        let x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let y = [1.15, 0.88, 0.90, 0.74, 1.21];
        let s = shift(&y, &x, 0.95).unwrap();
        assert!((s.p - 0.254_412_254_412_254_4).abs() < 1e-9, "{s:?}");
        // R, conf.int = TRUE: -0.76 to 0.15 for y - x, estimate 0.305 for x - y.
        assert!((s.estimate - 0.305).abs() < 1e-9, "{s:?}");
        assert!((s.low.unwrap() + 0.15).abs() < 1e-9 && (s.high.unwrap() - 0.76).abs() < 1e-9, "{s:?}");
    }

    #[test]
    fn wholly_apart_is_as_far_as_it_gets() {
        // 4 + 4: 70 ways, two of them as far.
        let s = shift(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0], 0.95).unwrap();
        assert!((s.p - 2.0 / 70.0).abs() < 1e-12 && s.estimate == 10.0);
        assert_eq!((s.low, s.high), (Some(7.0), Some(13.0)));
        assert_eq!(shift(&[1.0, 2.0], &[3.0, 4.0], 0.95).unwrap().low, None);
        assert_eq!(shift(&[], &[1.0], 0.95), None);
        assert_eq!(shift(&[f64::NAN], &[1.0], 0.95), None);
        assert_eq!(shift(&[1.0; 40], &[1.0; 40], 0.95).unwrap().p, 1.0);
    }
}
