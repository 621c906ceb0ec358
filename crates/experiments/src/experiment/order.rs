//! The order of the runs: drawn by lot inside each pair, before the first of them.

use model::random;

/// All runs in order, by the numbers of their pair and their arm, from 0 on: in each pair every arm once, in an order of its own (Fisher and Yates). The same seed gives the same
/// order on every machine.
pub fn order(pairs: u32, arms: usize, seed: u64) -> Vec<(u32, usize)> {
    let mut state = seed;
    let mut steps = Vec::with_capacity(pairs as usize * arms);
    for pair in 0..pairs {
        let mut all: Vec<usize> = (0..arms).collect();
        for last in (1..arms).rev() {
            all.swap(last, below(&mut state, last as u64 + 1) as usize);
        }
        steps.extend(all.into_iter().map(|arm| (pair, arm)));
    }
    steps
}

/// A number below `bound`, all alike: draws that would favour small ones are thrown away.
fn below(state: &mut u64, bound: u64) -> u64 {
    let whole = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = random::next(state);
        if drawn < whole {
            return drawn % bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An execution goes on in the order that was drawn before it was cut off, maybe by an earlier version.
    #[test]
    fn a_seed_gives_the_same_order_for_ever() {
        let arms = |pairs, arms, seed| order(pairs, arms, seed).into_iter().map(|step| step.1).collect::<Vec<_>>();
        assert_eq!(arms(4, 3, 9), [2, 0, 1, 1, 2, 0, 1, 0, 2, 2, 1, 0]);
        assert_eq!(arms(6, 2, 1), [0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn each_pair_has_every_arm_once_in_both_orders() {
        let steps = order(200, 2, 1);
        assert_eq!(steps, order(200, 2, 1));
        assert_ne!(steps, order(200, 2, 2));
        let first = steps.chunks(2).filter(|pair| pair[0].1 == 0).count();
        assert!((70..130).contains(&first), "{first}");
        assert!(steps.chunks(2).all(|pair| pair[0].1 != pair[1].1 && pair[0].0 == pair[1].0));
        let three = order(50, 3, 9);
        assert!(three.chunks(3).all(|p| (0..3).all(|arm| p.iter().any(|s| s.1 == arm))));
    }
}
