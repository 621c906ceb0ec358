//! The one source of what is random from a seed, the same on every machine and in every version: SplitMix64 (Steele, Lea, Flood,
//! "Fast splittable pseudorandom number generators", 2014). A state is one number: whoever draws keeps it.

/// What the state goes up by at each step: 2^64 divided by the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The last part of a step: one to one on 64 bits. It is in loops over sectors, compiled once for each kind of vectors.
#[inline(always)]
pub const fn finalise(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What a state gives: a number for each number, one to one.
#[inline]
pub const fn mix(state: u64) -> u64 {
    finalise(state.wrapping_add(STEP))
}

/// The next number of a state.
#[inline]
pub const fn next(state: &mut u64) -> u64 {
    let drawn = mix(*state);
    *state = state.wrapping_add(STEP);
    drawn
}

/// Of 64 random bits a number from 0 to below 1, with 53 bits.
#[inline]
pub const fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Normally distributed with mean 0 and standard deviation 1, from numbers of [0, 1) (the polar method of Marsaglia and Bray 1964; its
/// second number is dropped, which keeps a generator's state in one place).
pub fn normal(mut unit: impl FnMut() -> f64) -> f64 {
    loop {
        let (x, y) = (2.0 * unit() - 1.0, 2.0 * unit() - 1.0);
        let square = x * x + y * y;
        if square < 1.0 && square > 0.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the authors' implementation; runs that are kept were drawn by them.
    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        assert_eq!([0, 1, u64::MAX].map(mix), [0xe220_a839_7b1d_cdaf, 0x910a_2dec_8902_5cc1, 0xe4d9_7177_1b65_2c20]);
        let mut state = 9;
        assert_eq!([0; 2].map(|_| next(&mut state)), [0xaeaf_52fe_be70_6064, 0xc02d_8a5e_87af_ea62]);
        let mut state = 7;
        let mut drawn = || normal(|| unit(next(&mut state)));
        let (first, second) = (drawn(), drawn());
        assert!((first - -0.041_741_523_381_452_33).abs() < 1e-15 && (second - 0.876_481_469_099_456_7).abs() < 1e-15);
    }
}
