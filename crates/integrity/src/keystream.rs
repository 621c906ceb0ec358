//! The payload: bytes that no compressor shrinks, that differ in every sector, and that can be made again at any time.
//! What mixes is that of [`model::random`], always inlined: the loops are the instructions that a copy in this file would give.

use crate::stamp::{PAYLOAD_BYTES, PAYLOAD_WORDS};
use model::random::{STEP, finalise, mix};

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

/// The constants that tell the words of a payload apart, from SplitMix64.
const STEPS: [u64; PAYLOAD_WORDS] = {
    let mut steps = [0; PAYLOAD_WORDS];
    let mut i = 0;
    while i < PAYLOAD_WORDS {
        steps[i] = finalise(STEP.wrapping_mul(i as u64 + 1));
        i += 1;
    }
    steps
};

/// The words of one sector's payload: word `i` is its constant, exclusive or `first`, plus `second`. What differs between
/// sectors is mixed once for each; that each of its words costs two instructions leaves the processor time for its sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keystream {
    first: u64,
    second: u64,
}

impl Keystream {
    /// The stream of the sector at `lba` that is number `sector` of the write that gave it `generation`.
    #[inline(always)]
    pub(crate) fn new(secret: Secret, lba: u64, generation: u32, sector: u16) -> Self {
        // The first is one to one in the place, the second tells the versions and the sectors of a write apart: no two sectors
        // of a target share both.
        let first = mix(lba ^ secret.0[0]);
        let version = mix(u64::from(generation) ^ secret.0[1]);
        Self { first, second: version.wrapping_add(STEP.wrapping_mul(u64::from(sector))) }
    }

    #[inline(always)]
    fn word(self, step: u64) -> u64 {
        (step ^ self.first).wrapping_add(self.second)
    }

    /// Fills a payload, of which the last `zero_words` are zero.
    #[inline(always)]
    pub(crate) fn fill(self, payload: &mut [u8; PAYLOAD_BYTES], zero_words: u8) {
        for (bytes, step) in payload.as_chunks_mut().0.iter_mut().zip(&STEPS) {
            *bytes = self.word(*step).to_le_bytes();
        }
        if zero_words > 0 {
            payload[matching_bytes(zero_words)..].fill(0);
        }
    }

    /// Whether a payload is what [`Self::fill`] makes. Comparing bytes is stronger than any checksum, and as fast.
    #[inline(always)]
    pub(crate) fn is_keystream(self, payload: &[u8; PAYLOAD_BYTES], zero_words: u8) -> bool {
        if zero_words > 0 {
            return self.is_keystream_with_zeros(payload, zero_words);
        }
        let words = payload.as_chunks().0.iter().zip(&STEPS);
        words.fold(0, |all, (bytes, step)| all | (u64::from_le_bytes(*bytes) ^ self.word(*step))) == 0
    }

    /// Apart, so that loops over sectors without zeros stay short.
    #[inline(never)]
    fn is_keystream_with_zeros(self, payload: &[u8; PAYLOAD_BYTES], zero_words: u8) -> bool {
        let mut made = [0; PAYLOAD_BYTES];
        self.fill(&mut made, zero_words);
        made == *payload
    }
}

/// Bytes before the zero words. A damaged stamp may say more than there are.
#[inline(always)]
fn matching_bytes(zero_words: u8) -> usize {
    PAYLOAD_BYTES.saturating_sub(8 * usize::from(zero_words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const SECRET: Secret = Secret([1, 2]);

    fn words(stream: Keystream) -> [u64; PAYLOAD_WORDS] {
        let mut payload = [0; PAYLOAD_BYTES];
        stream.fill(&mut payload, 0);
        std::array::from_fn(|i| u64::from_le_bytes(payload.as_chunks().0[i]))
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
        let documented = [0xb3ef_84ce_e1e5_17e4, 0x2fb7_4e9d_0c41_b00b, 0x86b1_fa31_150e_4a5a, 0x1b15_c43d_28b3_5d3a];
        assert_eq!(some, documented);
    }

    #[test]
    fn bits_are_even_and_neighbours_unlike() {
        let mut ones = [0u32; 64];
        let mut agree = 0u32;
        let mut count = 0u32;
        for lba in 0..200 {
            let here = Keystream::new(SECRET, lba, 1, 0);
            let next = Keystream::new(SECRET, lba + 1, 1, 0);
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
