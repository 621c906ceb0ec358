//! Seeded series of known truth, for the tests of this crate.

use model::random;

/// A source of noise.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn uniform(&mut self) -> f64 {
        random::unit(random::next(&mut self.0))
    }

    pub fn normal(&mut self) -> f64 {
        random::normal(|| self.uniform())
    }

    /// A stationary first-order series around `mean` with standard deviation `sigma`.
    pub fn ar1(&mut self, n: usize, phi: f64, mean: f64, sigma: f64) -> Vec<f64> {
        let mut state = self.normal();
        (0..n)
            .map(|_| {
                let value = mean + sigma * state;
                state = phi * state + (1.0 - phi * phi).sqrt() * self.normal();
                value
            })
            .collect()
    }
}
