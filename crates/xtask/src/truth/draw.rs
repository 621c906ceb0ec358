//! What is random in a scenario: a seeded stream of numbers, the same on every machine.

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): enough for drawing parameters.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The stream of one variation of one kind.
    pub fn of(seed: u64, kind: &str, variation: u64) -> Self {
        let mixed = kind.bytes().fold(seed, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        let mut draw = Self(mixed ^ variation.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        draw.bits();
        draw
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normal, mean 0 and standard deviation 1 (the polar form of Box and Muller).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (a, b) = (2.0 * self.share() - 1.0, 2.0 * self.share() - 1.0);
            let s = a * a + b * b;
            if s > 0.0 && s < 1.0 {
                return a * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// Between two positive values, each decade alike.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.share() * (high.ln() - low.ln())).exp()
    }

    /// One of several.
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.bits() % list.len() as u64) as usize]
    }
}
