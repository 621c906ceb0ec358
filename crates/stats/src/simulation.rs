//! Seeded series of known truth, for the tests of this room.

/// A source of noise: SplitMix64 (Steele, Lea, Flood 2014) and the polar form of Box-Muller.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        loop {
            let (a, b) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = a * a + b * b;
            if s > 0.0 && s < 1.0 {
                return a * (-2.0 * s.ln() / s).sqrt();
            }
        }
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
