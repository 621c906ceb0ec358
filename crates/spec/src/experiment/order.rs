//! The order of the runs: drawn by lot inside each pair, before the first of them.

/// One run of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of the pair, from 0 on.
    pub pair: u32,
    /// Number of the arm.
    pub arm: usize,
}

/// All runs in order: in each pair every arm once, in an order of its own (Fisher and Yates). The same seed gives the same
/// order on every machine.
pub fn order(pairs: u32, arms: usize, seed: u64) -> Vec<Step> {
    let mut state = seed;
    let mut steps = Vec::with_capacity(pairs as usize * arms);
    for pair in 0..pairs {
        let mut all: Vec<usize> = (0..arms).collect();
        for last in (1..arms).rev() {
            all.swap(last, below(&mut state, last as u64 + 1) as usize);
        }
        steps.extend(all.into_iter().map(|arm| Step { pair, arm }));
    }
    steps
}

/// A number below `bound`, all alike: draws that would favour small ones are thrown away.
fn below(state: &mut u64, bound: u64) -> u64 {
    let whole = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = splitmix(state);
        if drawn < whole {
            return drawn % bound;
        }
    }
}

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_every_arm_once_in_both_orders() {
        let steps = order(200, 2, 1);
        assert_eq!(steps, order(200, 2, 1));
        assert_ne!(steps, order(200, 2, 2));
        let first = steps.chunks(2).filter(|pair| pair[0].arm == 0).count();
        assert!((70..130).contains(&first), "{first}");
        assert!(steps.chunks(2).all(|pair| pair[0].arm != pair[1].arm && pair[0].pair == pair[1].pair));
        let three = order(50, 3, 9);
        assert!(three.chunks(3).all(|p| (0..3).all(|arm| p.iter().any(|s| s.arm == arm))));
    }
}
