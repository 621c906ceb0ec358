//! Every number below n once, in a seeded order, without a table.

use model::random::mix;

/// Rounds of mixing. Three leave a trace at a million elements that a chi-squared test sees; four leave none.
const ROUNDS: usize = 4;

/// Odd multipliers as fractions of 2^64: the inverses of the golden ratio and of the plastic number, the square of the
/// latter (Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018), and a constant of L'Ecuyer's kind.
/// Their first k bits spread neighbours over 2^k for every k; multipliers drawn by the key are now and then poor ones.
const FRACTIONS: [u64; ROUNDS] =
    [0x9e37_79b9_7f4a_7c15, 0xc13f_a9a9_02a6_328f, 0x91e1_0da5_c79e_7b1d, 0xd1b5_4a32_d192_ed03];

/// A keyed permutation of `0..n`: rounds of a keyed addition, a multiplication by an odd number and a shift-and-xor, all
/// modulo the next power of two, where each is invertible (the finaliser of SplitMix64 cut to k bits), walked until the
/// value falls below n (cycle walking: Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). Constant memory
/// on any board; one step a value where n is a power of two, else fewer than two on average. Values are independent of
/// each other, so that a processor computes several at once. This is not a cipher.
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    /// 2^k - 1 for the smallest k with n <= 2^k.
    mask: u64,
    /// Half of k, rounded up, and at least 1.
    shift: u32,
    /// What is added and by what is multiplied, round by round.
    rounds: [(u64, u64); ROUNDS],
}

impl Permutation {
    /// A permutation of `0..n` under `key`.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn new(n: u64, key: u64) -> Self {
        assert!(n > 0, "a permutation needs at least one element");
        let bits = 64 - (n - 1).leading_zeros();
        let mut state = key;
        let rounds = FRACTIONS.map(|fraction| {
            state = mix(state);
            // The fraction of 2^k, made odd, and so invertible.
            (state, fraction.checked_shr(64 - bits).unwrap_or(0) | 1)
        });
        Self { n, mask: u64::MAX.checked_shr(64 - bits).unwrap_or(0), shift: bits.div_ceil(2).max(1), rounds }
    }

    /// The value at position `i`.
    #[inline]
    pub fn at(&self, i: u64) -> u64 {
        debug_assert!(i < self.n);
        let mut value = i;
        loop {
            for (add, multiply) in self.rounds {
                value = value.wrapping_add(add).wrapping_mul(multiply) & self.mask;
                value ^= value >> self.shift;
            }
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

        #[test]
        fn any_size_stays_in_range(n in 1u64.., key in any::<u64>(), i in any::<u64>()) {
            prop_assert!(Permutation::new(n, key).at(i % n) < n);
        }
    }

    #[test]
    fn the_smallest_and_largest_domains() {
        assert_eq!(Permutation::new(1, 5).at(0), 0);
        let mut two = [Permutation::new(2, 5).at(0), Permutation::new(2, 5).at(1)];
        two.sort_unstable();
        assert_eq!(two, [0, 1]);
        let all = Permutation::new(u64::MAX, 5);
        assert_ne!(all.at(0), all.at(1));
    }

    /// Chi-squared per degree of freedom of where `i` and `i + lag` go, in a grid of 16 by 16. 1 is uniform; drawing
    /// without replacement is a little more even.
    fn unevenness(p: &Permutation, n: u64, lag: u64, cell: impl Fn(u64) -> u64) -> f64 {
        let mut counts = [0u32; 256];
        for i in 0..n - lag {
            counts[(cell(p.at(i)) * 16 + cell(p.at(i + lag))) as usize] += 1;
        }
        let expected = (n - lag) as f64 / 256.0;
        counts.iter().map(|c| (f64::from(*c) - expected).powi(2) / expected).sum::<f64>() / 255.0
    }

    #[test]
    fn neighbours_are_scattered() {
        // Even and odd numbers of bits, powers of two and not.
        for n in [1 << 12, 5_000, 1 << 15, 1 << 16, 70_000, 1 << 18, 200_003] {
            for key in [0, 7, u64::MAX] {
                let p = Permutation::new(n, key);
                for lag in [1, 2, 32] {
                    // 255 degrees of freedom: 1.5 is beyond five standard deviations.
                    let (high, low) = (unevenness(&p, n, lag, |v| v * 16 / n), unevenness(&p, n, lag, |v| v % 16));
                    assert!(high < 1.5, "n {n}, key {key}, lag {lag}: {high} over the range");
                    assert!(low < 1.5, "n {n}, key {key}, lag {lag}: {low} of the low bits");
                }
            }
        }
    }

    #[test]
    fn keys_differ() {
        for n in [1_000, 1 << 10] {
            let permutations: Vec<_> = (0..8).map(|key| Permutation::new(n, key)).collect();
            for (k, a) in permutations.iter().enumerate() {
                for b in &permutations[..k] {
                    assert!((0..n).filter(|&i| a.at(i) == b.at(i)).count() < 20);
                    // Nor is one the other shifted: neighbours of one are rarely neighbours of the other.
                    let step = |p: &Permutation, i| p.at(i + 1).wrapping_sub(p.at(i));
                    assert!((0..n - 1).filter(|&i| step(a, i) == step(b, i)).count() < 20);
                }
            }
        }
    }
}
