//! The payload: bytes that no compressor shrinks, that differ in every sector, and that can be made again at any time.

use crate::stamp::{Aligned, PAYLOAD_WORDS};

/// What the payloads are made from. It never reaches the target, so that a device cannot regenerate
/// what it failed to keep, and foreign data cannot match by chance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(
    /// 128 random bits.
    pub [u64; 2],
);

impl std::fmt::Debug for Secret {
    /// Shows nothing: debug output ends in logs, and logs on the disk under test.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's mix (Steele, Lea, Flood 2014): one to one on 64 bits.
#[inline(always)]
pub(crate) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The constants that the words of a payload step by: two for each word, from SplitMix64.
const STEPS: [[u64; PAYLOAD_WORDS]; 2] = {
    let mut steps = [[0; PAYLOAD_WORDS]; 2];
    let mut i = 0;
    while i < 2 * PAYLOAD_WORDS {
        steps[i / PAYLOAD_WORDS][i % PAYLOAD_WORDS] = mix(GOLDEN.wrapping_mul(i as u64 + 1));
        i += 1;
    }
    steps
};

/// The words of one sector's payload. Word `i` is the product of the halves of `first + step`, exclusive or
/// `second + another step`: the product is not linear in what differs between sectors, the rest makes up for what is uneven
/// in it, and both are had from 32-bit multiplications, of which processors do several at a time. Every word stands alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keystream {
    first: u64,
    second: u64,
}

impl Keystream {
    /// The stream of the sector at `lba` that is number `sector` of the write that gave it `generation`.
    #[inline(always)]
    pub(crate) fn new(secret: Secret, lba: u64, generation: u32, sector: u16) -> Self {
        // Both halves are one to one in what they take, so no two sectors of a target share both.
        let place = mix((lba ^ secret.0[0]).wrapping_add(GOLDEN));
        let version = mix(((u64::from(generation) << 32 | u64::from(sector)) ^ secret.0[1]).wrapping_add(GOLDEN));
        Self { first: mix(place ^ version.rotate_left(32)), second: mix(place.wrapping_add(version)) }
    }

    /// All of them, of which the last `zero_words` are zero.
    #[inline(always)]
    pub(crate) fn fill(self, words: &mut Aligned<[u64; PAYLOAD_WORDS]>, zero_words: u8) {
        for ((word, one), other) in words.0.iter_mut().zip(&STEPS[0]).zip(&STEPS[1]) {
            let multiplied = self.first.wrapping_add(*one);
            let product = (multiplied & 0xffff_ffff).wrapping_mul(multiplied >> 32);
            *word = product ^ self.second.wrapping_add(*other);
        }
        // A damaged stamp may say more than there are.
        if zero_words > 0 {
            words.0[PAYLOAD_WORDS.saturating_sub(usize::from(zero_words))..].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const SECRET: Secret = Secret([1, 2]);

    fn words(stream: Keystream) -> [u64; PAYLOAD_WORDS] {
        let mut words = Aligned([0; PAYLOAD_WORDS]);
        stream.fill(&mut words, 0);
        words.0
    }

    #[test]
    fn every_sector_and_version_has_its_own() {
        let mut seen = HashSet::new();
        let mut are_new = |stream| words(stream).into_iter().all(|word| seen.insert(word));
        for lba in 0..40 {
            for generation in 0..20 {
                for sector in 0..8 {
                    assert!(are_new(Keystream::new(SECRET, lba, generation, sector)));
                }
            }
        }
        assert!(are_new(Keystream::new(Secret([1 << 63, 2]), 0, 0, 0)), "the secret counts");
    }

    /// Disks stamped on one machine are verified on another, and in the vectors of another processor.
    #[test]
    fn the_words_are_the_documented_ones() {
        let words = words(Keystream::new(SECRET, 4096, 3, 5));
        let some = [0, 1, 31, 55].map(|i: usize| words[i]);
        let documented = [0x816a_589a_986e_cd27, 0x16ae_5702_4887_7e4d, 0xc7b0_93a6_378c_587f, 0x5a7a_79e9_9f61_fef2];
        assert_eq!(some, documented);
    }

    #[test]
    fn bits_are_even_and_neighbours_unlike() {
        let (mut ones, mut agree, mut count) = ([0u32; 64], 0u32, 0u32);
        for lba in 0..200 {
            let (here, next) = (Keystream::new(SECRET, lba, 1, 0), Keystream::new(SECRET, lba + 1, 1, 0));
            for (word, neighbour) in words(here).into_iter().zip(words(next)) {
                for (bit, set) in ones.iter_mut().enumerate() {
                    *set += (word >> bit & 1) as u32;
                }
                agree += (word ^ neighbour).count_zeros();
                count += 1;
            }
        }
        // 11,200 words: each bit set 5,600 times with a standard deviation of 53.
        assert!(ones.iter().all(|&n| n.abs_diff(count / 2) < 330), "{ones:?}");
        assert!(agree.abs_diff(count * 32) < 2600, "{agree}");
    }

    #[test]
    fn the_secret_is_not_printed() {
        assert_eq!(format!("{SECRET:?}"), "Secret(..)");
    }
}
