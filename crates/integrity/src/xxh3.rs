//! XXH3 with 64 bits of a payload (Collet, xxHash specification 0.8, "XXH3 algorithm for large inputs"), with its default
//! secret and no seed. The length is known and the payload is made in registers, so that stamping needs no second pass over
//! the data; it is written so that compilers make vectors of it.

use crate::sizes::{Aligned, PAYLOAD_BYTES, PAYLOAD_WORDS};

const PRIME32_1: u64 = 0x9e37_79b1;
const PRIME32_2: u64 = 0x85eb_ca77;
const PRIME32_3: u64 = 0xc2b2_ae3d;
const PRIME64_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME64_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME64_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME64_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME64_5: u64 = 0x27d4_eb2f_1656_67c5;

/// The default secret: 192 bytes.
const SECRET: [u8; 192] = *b"\
\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe\x7c\x01\x81\x2c\xf7\x21\xad\x1c\xde\xd4\x6d\xe9\x83\x90\x97\xdb\x72\x40\xa4\xa4\xb7\xb3\x67\x1f\
\xcb\x79\xe6\x4e\xcc\xc0\xe5\x78\x82\x5a\xd0\x7d\xcc\xff\x72\x21\xb8\x08\x46\x74\xf7\x43\x24\x8e\xe0\x35\x90\xe6\x81\x3a\x26\x4c\
\x3c\x28\x52\xbb\x91\xc3\x00\xcb\x88\xd0\x65\x8b\x1b\x53\x2e\xa3\x71\x64\x48\x97\xa2\x0d\xf9\x4e\x38\x19\xef\x46\xa9\xde\xac\xd8\
\xa8\xfa\x76\x3f\xe3\x9c\x34\x3f\xf9\xdc\xbb\xc7\xc7\x0b\x4f\x1d\x8a\x51\xe0\x4b\xcd\xb4\x59\x31\xc8\x9f\x7e\xc9\xd9\x78\x73\x64\
\xea\xc5\xac\x83\x34\xd3\xeb\xc3\xc5\x81\xa0\xff\xfa\x13\x63\xeb\x17\x0d\xdd\x51\xb7\xf0\xda\x49\xd3\x16\x55\x26\x29\xd4\x68\x9e\
\x2b\x16\xbe\x58\x7d\x47\xa1\xfc\x8f\xf8\xb8\xd1\x7a\xd0\x31\xce\x45\xcb\x3a\x8f\x95\x16\x04\x28\xaf\xd7\xfb\xca\xbb\x4b\x40\x7e";

/// Words of a stripe, and lanes of the sum.
const LANES: usize = 8;

const fn secret_word(at: usize) -> u64 {
    let mut bytes = [0; 8];
    let mut i = 0;
    while i < 8 {
        bytes[i] = SECRET[at + i];
        i += 1;
    }
    u64::from_le_bytes(bytes)
}

/// What each word is keyed with: the secret, in each stripe from 8 bytes further on, and in the last stripe its end.
const KEYS: [u64; PAYLOAD_WORDS] = {
    let mut keys = [0; PAYLOAD_WORDS];
    let mut i = 0;
    while i < PAYLOAD_WORDS {
        let stripe = i / LANES;
        let lane = i % LANES;
        let start = if stripe == PAYLOAD_WORDS / LANES - 1 { SECRET.len() - 8 * LANES - 7 } else { 8 * stripe };
        keys[i] = secret_word(start + 8 * lane);
        i += 1;
    }
    keys
};

/// What the lanes are keyed with when they are multiplied with one another.
const MERGE: [u64; LANES] = {
    let mut keys = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        keys[lane] = secret_word(11 + 8 * lane);
        lane += 1;
    }
    keys
};

/// The sum of each lane over the stripes, two of which are a row: loops over whole rows are what compilers make vectors of.
#[inline(always)]
fn by_lane(value: impl Fn(usize) -> u64) -> [u64; LANES] {
    const ROW: usize = 2 * LANES;
    let mut row = Aligned([0u64; ROW]);
    for (i, sum) in row.0.iter_mut().enumerate() {
        *sum = value(i).wrapping_add(value(i + ROW)).wrapping_add(value(i + 2 * ROW));
    }
    std::array::from_fn(|lane| row.0[lane].wrapping_add(row.0[lane + LANES]).wrapping_add(value(lane + 3 * ROW)))
}

/// The sum of a payload.
#[inline(always)]
pub(crate) fn xxh3(payload: &[u8; PAYLOAD_BYTES]) -> u64 {
    let words: &[[u8; 8]; PAYLOAD_WORDS] = payload.as_chunks().0.try_into().expect("a payload is so many words");
    let word = |i: usize| u64::from_le_bytes(words[i]);
    let product = |i: usize| {
        let keyed = word(i) ^ KEYS[i];
        (keyed & 0xffff_ffff).wrapping_mul(keyed >> 32)
    };
    let (words, products) = (by_lane(word), by_lane(product));
    let start = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
    let mut sum = (PAYLOAD_BYTES as u64).wrapping_mul(PRIME64_1);
    for pair in 0..LANES / 2 {
        let value = |lane: usize| start[lane].wrapping_add(words[lane ^ 1]).wrapping_add(products[lane]) ^ MERGE[lane];
        let product = u128::from(value(2 * pair)) * u128::from(value(2 * pair + 1));
        sum = sum.wrapping_add(product as u64 ^ (product >> 64) as u64);
    }
    sum ^= sum >> 37;
    sum = sum.wrapping_mul(0x1656_6791_9e37_79f9);
    sum ^ sum >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_sum_that_everyone_else_makes(payload in prop::collection::vec(any::<u8>(), PAYLOAD_BYTES)) {
            let payload: [u8; PAYLOAD_BYTES] = payload.try_into().expect("so many were asked for");
            prop_assert_eq!(xxh3(&payload), xxhash_rust::xxh3::xxh3_64(&payload));
        }
    }

    #[test]
    fn extremes_are_summed_alike() {
        for byte in [0, 0x7f, 0x80, 0xff] {
            let payload = [byte; PAYLOAD_BYTES];
            assert_eq!(xxh3(&payload), xxhash_rust::xxh3::xxh3_64(&payload), "{byte:02x}");
        }
    }
}
