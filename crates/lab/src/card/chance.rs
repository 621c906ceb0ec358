//! Chance that does not depend on what was asked before: a number for each place, from a seed.

use model::random::mix;
pub use model::random::unit as unit_interval;

/// A number for (`seed`, `what`, `place`), evenly distributed: each of them mixed in turn.
pub fn number(seed: u64, what: u64, place: u64) -> u64 {
    mix(mix(mix(seed).wrapping_add(what)).wrapping_add(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_one_number_and_all_of_them_are_even() {
        // What a card of the lab does is the same in each version.
        assert_eq!((number(1, 2, 3), number(7, 0, 99)), (0x6ae5_15c1_c0ac_7e37, 0x3dab_d95d_997b_dbc5));
        assert_eq!(unit_interval(number(1, 2, 3)), 0.417_558_059_504_402_7);
        assert_ne!(number(1, 2, 3), number(1, 3, 2));
        assert_ne!(number(1, 2, 3), number(2, 1, 3));
        let below = (0..100_000).filter(|place| unit_interval(number(7, 0, *place)) < 0.1).count();
        // 10,000 expected, standard deviation 95.
        assert!((9_500..10_500).contains(&below), "{below}");
    }
}
