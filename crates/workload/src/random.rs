//! Seeded random numbers: xoshiro256++ (Blackman and Vigna 2019), seeded by SplitMix64. Each operation draws from it; what is drawn less
//! often is drawn from [`model::random`] itself.

use model::random::{mix, normal, unit};

/// What one seed is used for.
pub(crate) const MIX: u64 = 1;
pub(crate) const PLACE: u64 = 2;
pub(crate) const SIZE: u64 = 3;
pub(crate) const PACE: u64 = 4;
pub(crate) const FILE: u64 = 5;
pub(crate) const PRIORITY: u64 = 6;
pub(crate) const RUN_ON: u64 = 7;

/// One stream of random numbers. The same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// `purpose` tells apart what one seed is used for, so that a mix does not follow the offsets.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut word = mix(seed ^ mix(purpose));
        let state = std::array::from_fn(|_| {
            word = mix(word);
            word
        });
        Self { state }
    }

    #[inline]
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let t = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= t;
        *d = d.rotate_left(45);
        result
    }

    /// Below `n`, which is above 0. The bias of the multiplication is below n / 2^64: no measurement sees it.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// One of these, each with its share of `all`; `None` where their shares sum to less and none of them is drawn.
    #[inline]
    pub(crate) fn one_of<T>(&mut self, all: u64, shares: impl IntoIterator<Item = (u32, T)>) -> Option<T> {
        let drawn = self.below(all);
        let mut end = 0;
        shares.into_iter().find_map(|(share, one)| {
            end += u64::from(share);
            (drawn < end).then_some(one)
        })
    }

    /// From 0 to below 1, with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Exponentially distributed with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Normally distributed with mean 0 and standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        normal(|| self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs are made again from their seed: these are numbers of the first version.
    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut random = Random::new(7, 1);
        assert_eq!([0; 2].map(|_| random.bits()), [0xee6a_9d97_c991_af05, 0x33ef_512b_debe_abea]);
        assert_eq!((random.below(1000), random.unit()), (482, 0.776_347_199_196_317_1));
        let (exponential, normal) = (random.exponential(), random.normal());
        assert!((exponential - 0.145_568_881_669_279_28).abs() < 1e-15, "{exponential}");
        assert!((normal - 0.637_134_141_272_808_3).abs() < 1e-15, "{normal}");
    }

    #[test]
    fn numbers_are_even_and_purposes_differ() {
        let mut random = Random::new(7, 1);
        let mut counts = [0u32; 10];
        (0..100_000).for_each(|_| counts[random.below(10) as usize] += 1);
        // 10,000 expected, standard deviation 95.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 500), "{counts:?}");
        assert_ne!(Random::new(7, 1).bits(), Random::new(7, 2).bits());
        assert_ne!(Random::new(7, 1).bits(), Random::new(8, 1).bits());
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::new(11, 0);
        let n = 200_000;
        let mean = (0..n).map(|_| random.exponential()).sum::<f64>() / f64::from(n);
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        let normal: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = normal.iter().sum::<f64>() / f64::from(n);
        let variance = normal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }
}
