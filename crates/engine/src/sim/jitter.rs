//! A spread with a known distribution.

/// How many equally likely factors there are.
const QUANTILES: usize = 4096;

/// Equally likely factors: the quantiles of a lognormal distribution, scaled so that their mean is exactly 1. A draw
/// is one step of a generator and one look-up, and every percentile of the simulated times is known.
#[derive(Clone, Debug)]
pub struct Jitter {
    factors: Vec<f64>,
    state: u64,
}

impl Jitter {
    /// A lognormal spread with parameter `sigma`; 0 gives the factor 1 always.
    pub fn new(sigma: f64, seed: u64) -> Self {
        let mut factors: Vec<f64> =
            (0..QUANTILES).map(|i| (sigma * normal_quantile((i as f64 + 0.5) / QUANTILES as f64)).exp()).collect();
        let mean = factors.iter().sum::<f64>() / QUANTILES as f64;
        factors.iter_mut().for_each(|f| *f /= mean);
        Self { factors, state: seed ^ 0x51ed_2701_89ab_cdef }
    }

    /// The next factor.
    #[inline]
    pub fn draw(&mut self) -> f64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.factors[((z ^ (z >> 31)) >> 52) as usize]
    }

    /// The factor at quantile `q` (0 to 1).
    pub fn quantile(&self, q: f64) -> f64 {
        self.factors[((q * QUANTILES as f64) as usize).min(QUANTILES - 1)]
    }
}

/// Inverse of the standard normal distribution, by Newton's method on a series for its integral: slow, exact to far
/// below a bucket of the histogram, and used only to fill the table.
fn normal_quantile(p: f64) -> f64 {
    if p < 0.5 {
        return -normal_quantile(1.0 - p);
    }
    let mut x = 0.0f64;
    for _ in 0..50 {
        let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let step = (normal_cdf_from_half(x) - (p - 0.5)) / density;
        // From 0 every step goes up to the root without passing it: the integral is concave above 0.
        x -= step;
        if step.abs() < 1e-13 {
            break;
        }
    }
    x
}

/// Integral of the standard normal density from 0 to `x` >= 0: density * (x + x^3/3 + x^5/(3*5) + ...).
fn normal_cdf_from_half(x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (x, x, 1.0);
    while term > sum * 1e-17 {
        n += 2.0;
        term *= x * x / n;
        sum += term;
    }
    sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_normal_distribution() {
        // Standard tables.
        for (p, x) in [(0.5, 0.0), (0.841_344_746, 1.0), (0.975, 1.959_964), (0.999, 3.090_232), (0.025, -1.959_964)] {
            assert!((normal_quantile(p) - x).abs() < 1e-6, "{p}: {}", normal_quantile(p));
        }
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
