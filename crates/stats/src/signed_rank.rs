//! Paired comparison: Wilcoxon's signed-rank test with its exact distribution, the Hodges-Lehmann estimate, and the
//! interval that belongs to the test (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3.1 to 3.3).

use crate::pairwise::{means_up_to, median_and_ends};
use crate::ranks::{doubled_ranks, exact_sums, left_out_of};
use statrs::distribution::{ContinuousCDF, Normal};

/// Up to so many differences the distribution is exact; beyond, normal with corrections for ties and continuity.
const EXACT_UP_TO: usize = 200;

/// The test of whether differences are centred on zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// Sum of the ranks of positive differences, ties with their mean rank.
    pub positive_rank_sum: f64,
    /// Differences that are not zero; zeros carry no rank.
    pub n: usize,
    /// Two-sided probability of a sum at least as far from its middle, if there were no difference.
    pub p: f64,
}

/// Tests differences against zero; ties are taken as they are (the conditional distribution is exact). `None` where no
/// difference is finite and not zero, or any is not finite.
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    if differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let differences: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let n = differences.len();
    if n == 0 {
        return None;
    }
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let doubled = doubled_ranks(&sizes);
    let positive: u64 = differences.iter().zip(&doubled).filter(|(d, _)| **d > 0.0).map(|(_, r)| r).sum();
    let all: u64 = doubled.iter().sum();
    let smaller = positive.min(all - positive);
    let p = if n <= EXACT_UP_TO {
        let sums = exact_sums(&doubled);
        let tail: f64 = sums[..=smaller as usize].iter().sum();
        2.0 * tail
    } else {
        // Each rank enters with probability 1/2: mean half their sum, variance a quarter of the sum of squares.
        let variance: f64 = doubled.iter().map(|r| (*r as f64).powi(2)).sum::<f64>() / 4.0;
        let distance = (all as f64 / 2.0 - smaller as f64 - 1.0).max(0.0);
        2.0 * Normal::standard().cdf(-distance / variance.sqrt())
    };
    Some(SignedRank { positive_rank_sum: positive as f64 / 2.0, n, p: p.min(1.0) })
}

/// The centre of differences and the interval of the signed-rank test around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HodgesLehmann {
    /// Median of the means of all pairs of differences, each with itself too (Walsh averages).
    pub estimate: f64,
    /// Lower end; `None` where so few differences carry no interval of this level.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// Estimate and two-sided interval of at least `level` (0 to 1) coverage. Six differences are the least for 95 %, five
/// for 90 %. `None` without differences, or with any that is not finite.
pub fn hodges_lehmann(differences: &[f64], level: f64) -> Option<HodgesLehmann> {
    if differences.is_empty() || differences.iter().any(|d| !d.is_finite()) || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let n = differences.len();
    let mut sorted = differences.to_vec();
    sorted.sort_by(f64::total_cmp);
    let outside = trimmed(n, (1.0 - level) / 2.0);
    let (estimate, ends) = median_and_ends(n * (n + 1) / 2, outside, |most| means_up_to(&sorted, most));
    Some(HodgesLehmann { estimate, low: ends.map(|e| e.0), high: ends.map(|e| e.1) })
}

/// Walsh averages left out on each side, so that each tail is at most `tail`; `None` where even the outermost ones are
/// too likely.
fn trimmed(n: usize, tail: f64) -> Option<usize> {
    if n <= EXACT_UP_TO {
        let ranks: Vec<u64> = (1..=n as u64).collect();
        // P(W < k) at most the tail: the interval begins at the k-th average from outside.
        return left_out_of(&exact_sums(&ranks), tail);
    }
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0;
    let k = mean + Normal::standard().inverse_cdf(tail) * variance.sqrt();
    (k >= 1.0).then(|| k as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1.0)
    }

    /// Darwin's plants (R: `wilcox.test(d, conf.int=TRUE)` gives V = 96, p = 0.04126; exact p by enumeration).
    const DARWIN: [f64; 15] =
        [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];

    #[test]
    #[allow(clippy::approx_constant, reason = "3.14 is a measurement of that table")]
    fn golden_values() {
        let test = signed_rank(&DARWIN).unwrap();
        assert_eq!((test.positive_rank_sum, test.n), (96.0, 15));
        assert!((test.p - 0.041_259_765_625).abs() < 1e-12, "{}", test.p);
        // Hollander and Wolfe, table 3.1 (depression scale; R: wilcox.test(y, x, paired = TRUE): V = 5, p = 0.03906).
        let x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let d: Vec<f64> = y.iter().zip(x).map(|(a, b)| a - b).collect();
        let test = signed_rank(&d).unwrap();
        assert_eq!(test.positive_rank_sum, 5.0);
        assert!(close(test.p, 0.039_062_5), "{}", test.p);
        // R, conf.int = TRUE: -0.786 to -0.010, estimate -0.46.
        let hl = hodges_lehmann(&d, 0.95).unwrap();
        assert!((hl.estimate + 0.46).abs() < 1e-9, "{hl:?}");
        assert!((hl.low.unwrap() + 0.786).abs() < 1e-9 && (hl.high.unwrap() + 0.010).abs() < 1e-9, "{hl:?}");
    }

    #[test]
    fn every_sign_pattern_is_counted() {
        // All positive: of 2^n sign patterns only this one and its mirror are as far out.
        for n in 1..=12 {
            let d: Vec<f64> = (1..=n).map(f64::from).collect();
            assert!(close(signed_rank(&d).unwrap().p, 2.0 / 2f64.powi(n)), "{n}");
        }
        // With ties, by enumeration of the 16 patterns of |d| = 1, 1, 2, 2: doubled_ranks 1.5, 1.5, 3.5, 3.5.
        let p = signed_rank(&[1.0, 1.0, 2.0, -2.0]).unwrap().p;
        let ranks = [1.5, 1.5, 3.5, 3.5];
        let mut as_far = 0;
        for pattern in 0..16u32 {
            let sum: f64 = (0..4).filter(|i| pattern >> i & 1 == 1).map(|i| ranks[i as usize]).sum();
            as_far += u32::from((sum - 5.0).abs() >= 1.5 - 1e-12);
        }
        assert!(close(p, f64::from(as_far) / 16.0), "{p} {as_far}");
    }

    #[test]
    fn the_interval_is_the_set_of_shifts_that_the_test_does_not_reject() {
        let hl = hodges_lehmann(&DARWIN, 0.95).unwrap();
        let rejected = |shift: f64| {
            let moved: Vec<f64> = DARWIN.iter().map(|d| d - shift).collect();
            signed_rank(&moved).unwrap().p <= 0.05
        };
        let (low, high) = (hl.low.unwrap(), hl.high.unwrap());
        assert!(!rejected(low + 0.01) && !rejected(high - 0.01), "{hl:?}");
        assert!(rejected(low - 0.01) && rejected(high + 0.01), "{hl:?}");
    }

    #[test]
    fn few_values_carry_no_interval() {
        let of = |n: usize, level| hodges_lehmann(&vec![1.0; n], level).unwrap().low;
        assert_eq!((of(5, 0.95), of(4, 0.90)), (None, None));
        assert_eq!((of(6, 0.95), of(5, 0.90)), (Some(1.0), Some(1.0)));
        assert_eq!(signed_rank(&[]), None);
        assert_eq!(signed_rank(&[0.0, 0.0]), None);
        assert_eq!(signed_rank(&[1.0, f64::NAN]), None);
        assert_eq!(hodges_lehmann(&[f64::INFINITY], 0.95), None);
    }

    #[test]
    fn many_values_join_smoothly() {
        let d: Vec<f64> = (0..EXACT_UP_TO + 1).map(|i| ((i * 37) % 101) as f64 - 48.3).collect();
        let exact = signed_rank(&d[..EXACT_UP_TO]).unwrap().p;
        let normal = signed_rank(&d).unwrap().p;
        assert!((exact - normal).abs() < 0.03, "{exact} {normal}");
        let (a, b) = (hodges_lehmann(&d[..EXACT_UP_TO], 0.95).unwrap(), hodges_lehmann(&d, 0.95).unwrap());
        assert!((a.low.unwrap() - b.low.unwrap()).abs() < 0.7, "{a:?} {b:?}");
    }
}
