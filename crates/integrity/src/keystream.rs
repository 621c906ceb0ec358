//! The payload: bytes that no compressor shrinks, that differ in every sector, and that can be made again at any time.

use crate::stamp::PAYLOAD_BYTES;

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
/// An odd constant with 32 bits set; the step of the counter.
const STEP: u64 = 0xa076_1d64_78bd_642f;

/// SplitMix64's mix (Steele, Lea, Flood 2014): one to one on 64 bits.
#[inline(always)]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The words of one sector's payload: word `i` is the folded 128-bit product of two keys, one of them stepped by a counter
/// (the construction of wyrand, Wang Yi 2019, which passes PractRand and BigCrush). Every word stands alone, so that the
/// processor makes several at a time and any word can be had without the ones before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keystream {
    counter: u64,
    key: u64,
}

impl Keystream {
    /// The stream of the sector at `lba` that is number `sector` of the write that gave it `generation`.
    #[inline(always)]
    pub(crate) fn new(secret: Secret, lba: u64, generation: u32, sector: u16) -> Self {
        // Both halves are one to one in what they take, so no two sectors of a target share both keys.
        let place = mix((lba ^ secret.0[0]).wrapping_add(GOLDEN));
        let version = mix(((u64::from(generation) << 32 | u64::from(sector)) ^ secret.0[1]).wrapping_add(GOLDEN));
        Self { counter: mix(place ^ version.rotate_left(32)), key: mix(place.wrapping_add(version)) }
    }

    /// All of it.
    #[inline(always)]
    pub(crate) fn payload(self) -> [u8; PAYLOAD_BYTES] {
        let mut payload = [0; PAYLOAD_BYTES];
        for (i, word) in payload.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *word = self.word(i).to_le_bytes();
        }
        payload
    }

    /// Word `i`.
    #[inline(always)]
    fn word(self, i: usize) -> u64 {
        let a = self.counter.wrapping_add(STEP.wrapping_mul(i as u64 + 1));
        let product = u128::from(a) * u128::from(a ^ self.key);
        product as u64 ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const SECRET: Secret = Secret([1, 2]);

    #[test]
    fn every_sector_and_version_has_its_own() {
        let mut seen = HashSet::new();
        for lba in 0..40 {
            for generation in 0..20 {
                for sector in 0..8 {
                    for i in 0..56 {
                        assert!(seen.insert(Keystream::new(SECRET, lba, generation, sector).word(i)));
                    }
                }
            }
        }
        assert!(seen.insert(Keystream::new(Secret([1 << 63, 2]), 0, 0, 0).word(0)), "the secret counts");
    }

    #[test]
    fn bits_are_even_and_neighbours_unlike() {
        let (mut ones, mut agree, mut words) = ([0u32; 64], 0u32, 0u32);
        for lba in 0..200 {
            let (here, next) = (Keystream::new(SECRET, lba, 1, 0), Keystream::new(SECRET, lba + 1, 1, 0));
            for i in 0..56 {
                let word = here.word(i);
                for (bit, count) in ones.iter_mut().enumerate() {
                    *count += (word >> bit & 1) as u32;
                }
                agree += (word ^ next.word(i)).count_zeros();
                words += 1;
            }
        }
        // 11,200 words: each bit set 5,600 times with a standard deviation of 53.
        assert!(ones.iter().all(|&n| n.abs_diff(words / 2) < 330), "{ones:?}");
        assert!(agree.abs_diff(words * 32) < 2600, "{agree}");
    }

    #[test]
    fn the_secret_is_not_printed() {
        assert_eq!(format!("{SECRET:?}"), "Secret(..)");
    }
}
