//! What is random in a scenario: a seeded stream of numbers, the same on every machine.

use model::random;

/// Parameters of a scenario, drawn.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The stream of one variation of one kind.
    pub fn of(seed: u64, kind: &str, variation: u64) -> Self {
        let mixed = kind.bytes().fold(seed, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        let mut draw = Self(mixed ^ variation.wrapping_mul(random::STEP));
        draw.bits();
        draw
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        random::next(&mut self.0)
    }

    /// From 0 to below 1.
    pub fn share(&mut self) -> f64 {
        random::unit(self.bits())
    }

    /// Normal, mean 0 and standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        random::normal(|| self.share())
    }

    /// Between two positive values, each decade alike.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.share() * (high.ln() - low.ln())).exp()
    }

    /// Draws one of these values.
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.bits() % list.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variation_has_the_same_parameters_for_ever() {
        let mut draw = Draw::of(5, "cache", 3);
        assert_eq!((draw.bits(), draw.share()), (0x28fe_6486_9ec3_e316, 0.138_242_652_186_371));
        let normal = draw.normal();
        let between = draw.between(1.0, 100.0);
        assert!((normal - -1.981_768_736_498_296_8).abs() < 1e-14, "{normal}");
        assert!((between - 1.880_216_984_049_470_2).abs() < 1e-14, "{between}");
        assert_eq!(draw.one_of(&[1, 2, 3, 4, 5]), 1);
    }
}
