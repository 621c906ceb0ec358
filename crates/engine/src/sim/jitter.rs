//! A spread with a known distribution.

use model::random;

/// How many equally likely factors there are.
const QUANTILES: usize = 4096;

/// Equally likely factors: the quantiles of a lognormal distribution, scaled so that their mean is exactly 1. A draw
/// is one step of a generator and one look-up, and every percentile of the simulated times is known. By default there is no
/// spread: each factor is 1.
#[derive(Clone, Debug, Default)]
pub struct Jitter {
    factors: Vec<f64>,
    state: u64,
}

impl Jitter {
    /// A lognormal spread with parameter `sigma`; 0 gives the factor 1 always.
    pub fn new(sigma: f64, seed: u64) -> Self {
        // The upper half, whose quantiles are those of two-sided levels, and its mirror image.
        let above = |i: usize| stats::normal_quantile((2 * i + 1) as f64 / QUANTILES as f64 - 1.0).unwrap_or(0.0);
        let normal = |i: usize| if i < QUANTILES / 2 { -above(QUANTILES - 1 - i) } else { above(i) };
        let mut factors: Vec<f64> = (0..QUANTILES).map(|i| (sigma * normal(i)).exp()).collect();
        let mean = factors.iter().sum::<f64>() / QUANTILES as f64;
        factors.iter_mut().for_each(|f| *f /= mean);
        Self { factors, state: seed ^ 0x51ed_2701_89ab_cdef }
    }

    /// The next factor.
    #[inline]
    pub fn draw(&mut self) -> f64 {
        let bits = random::next(&mut self.state);
        self.factors.get((bits >> 52) as usize).copied().unwrap_or(1.0)
    }

    /// The factor at quantile `q` (0 to 1).
    pub fn quantile(&self, q: f64) -> f64 {
        self.factors.get(((q * QUANTILES as f64) as usize).min(QUANTILES - 1)).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_draws_for_ever() {
        let mut jitter = Jitter::new(0.3, 9);
        let drawn = [0; 4].map(|_| jitter.draw());
        assert_eq!(drawn, [2095, 2747, 3874, 1406].map(|i| jitter.factors[i]));
    }

    #[test]
    fn the_mean_is_one_and_the_draws_are_spread_evenly() {
        let mut jitter = Jitter::new(0.3, 9);
        let n = 400_000;
        let draws: Vec<f64> = (0..n).map(|_| jitter.draw()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 1.0).abs() < 0.002, "{mean}");
        let above = draws.iter().filter(|d| **d >= jitter.quantile(0.99)).count() as f64 / f64::from(n);
        assert!((above - 0.01).abs() < 0.001, "{above}");
        assert_eq!(Jitter::new(0.0, 1).draw(), 1.0);
    }
}
