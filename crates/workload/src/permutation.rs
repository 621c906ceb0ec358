//! Every number below n once, in a seeded order, without a table.

/// A keyed permutation of `0..n`: a four-round Feistel network on the next even power of two, walked until the value
/// falls below n (cycle walking: Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). Constant memory on
/// any board; at most about four steps a value.
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

/// SplitMix64 (Steele, Lea, Flood 2014): a full-period mix of 64 bits.
#[inline]
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Permutation {
    /// A permutation of `0..n` under `key`.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn new(n: u64, key: u64) -> Self {
        assert!(n > 0, "a permutation needs at least one element");
        let bits = 64 - (n - 1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        let mut keys = [0; 4];
        let mut state = key;
        for k in &mut keys {
            state = mix(state);
            *k = state;
        }
        Self { n, half_bits, keys }
    }

    /// Where `i` goes.
    #[inline]
    pub fn at(&self, i: u64) -> u64 {
        debug_assert!(i < self.n);
        let mask = (1u64 << self.half_bits) - 1;
        let mut value = i;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for key in self.keys {
                // One multiplication a round is enough to scatter offsets; this is not a cipher.
                let f = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                (left, right) = (right, (left ^ f) & mask);
            }
            value = (left << self.half_bits) | right;
            if value < self.n {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_element_once(n in 1u64..5_000, key in any::<u64>()) {
            let p = Permutation::new(n, key);
            let mut seen = vec![false; n as usize];
            for i in 0..n {
                let v = p.at(i) as usize;
                prop_assert!(!seen[v]);
                seen[v] = true;
            }
        }
    }

    #[test]
    fn neighbours_are_scattered() {
        let n = 1 << 16;
        let p = Permutation::new(n, 7);
        let near = (0..n - 1).filter(|&i| p.at(i).abs_diff(p.at(i + 1)) < n / 64).count() as f64;
        // Uniformly scattered neighbours are closer than n/64 with probability about 1/32.
        assert!((near / n as f64 - 1.0 / 32.0).abs() < 0.005, "{near}");
    }

    #[test]
    fn keys_differ() {
        let (a, b) = (Permutation::new(1000, 1), Permutation::new(1000, 2));
        assert!((0..1000).filter(|&i| a.at(i) == b.at(i)).count() < 20);
    }
}
