//! Chance that does not depend on what was asked before: a number for each place, from a seed.

/// A number for (`seed`, `what`, `place`), evenly distributed: the mixing step of SplitMix64 (Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", 2014) over each of them in turn.
pub fn number(seed: u64, what: u64, place: u64) -> u64 {
    mix(mix(mix(seed).wrapping_add(what)).wrapping_add(place))
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The number as one of [0, 1).
pub fn unit_interval(number: u64) -> f64 {
    (number >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_one_number_and_all_of_them_are_even() {
        assert_eq!(number(1, 2, 3), number(1, 2, 3));
        assert_ne!(number(1, 2, 3), number(1, 3, 2));
        assert_ne!(number(1, 2, 3), number(2, 1, 3));
        let below = (0..100_000).filter(|place| unit_interval(number(7, 0, *place)) < 0.1).count();
        // 10,000 expected, standard deviation 95.
        assert!((9_500..10_500).contains(&below), "{below}");
    }
}
