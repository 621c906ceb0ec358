//! Order statistics of what all pairs of values make (differences, means), of which there are too many to be held: a value is
//! found by bisection over all numbers, as each pass counts how many of the pairs lie at or below one.

/// The median of what `pairs` pairs make, and its values `outside` places from both ends. `up_to` counts those at or below a
/// number.
pub(crate) fn median_and_ends(
    pairs: usize,
    outside: Option<usize>,
    up_to: impl Fn(f64) -> usize,
) -> (f64, Option<(f64, f64)>) {
    let place = |place| nth(place, &up_to);
    let middle = place(pairs / 2);
    let median = if pairs % 2 == 1 { middle } else { (place(pairs / 2 - 1) + middle) / 2.0 };
    (median, outside.map(|k| (place(k), place(pairs - 1 - k))))
}

/// The smallest number with more than `place` of the pairs at or below it.
fn nth(place: usize, up_to: impl Fn(f64) -> usize) -> f64 {
    // Numbers are ordered as these integers are.
    let number = |key: i64| f64::from_bits((if key < 0 { key ^ i64::MAX } else { key }).cast_unsigned());
    let infinite = f64::INFINITY.to_bits().cast_signed();
    let (mut low, mut high) = (!infinite, infinite);
    while low < high {
        // The mean, rounded down.
        let key = (low & high) + ((low ^ high) >> 1);
        if up_to(number(key)) > place {
            high = key;
        } else {
            low = key + 1;
        }
    }
    // A zero without its sign.
    number(low) + 0.0
}

/// How many differences, second less first, are at most `most`; both sets in ascending order.
pub(crate) fn differences_up_to(first: &[f64], second: &[f64], most: f64) -> usize {
    let mut from = 0;
    let mut count = 0;
    for b in second {
        while first.get(from).is_some_and(|a| b - a > most) {
            from += 1;
        }
        count += first.len() - from;
    }
    count
}

/// How many means of two values, each with itself too, are at most `most`; the values in ascending order.
pub(crate) fn means_up_to(values: &[f64], most: f64) -> usize {
    let mut end = values.len();
    let mut count = 0;
    for (place, a) in values.iter().enumerate() {
        while end > place && (a + values[end - 1]) / 2.0 > most {
            end -= 1;
        }
        count += end.saturating_sub(place);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values with ties, signs and magnitudes far apart.
    fn drawn(count: u64, seed: u64) -> Vec<f64> {
        let one = |i: u64| {
            let bits = (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            (bits % 97) as f64 * 10f64.powi((bits % 7) as i32 - 3) - 20.0
        };
        let mut all: Vec<f64> = (0..count).map(one).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn each_place_is_that_of_the_sorted_list() {
        for (m, n) in [(1, 1), (1, 2), (7, 4), (30, 31)] {
            let (first, second) = (drawn(m, 1), drawn(n, 1000));
            let mut differences: Vec<f64> = second.iter().flat_map(|b| first.iter().map(move |a| b - a)).collect();
            differences.sort_by(f64::total_cmp);
            let mut means = Vec::new();
            for (i, a) in first.iter().enumerate() {
                means.extend(first[i..].iter().map(|b| (a + b) / 2.0));
            }
            means.sort_by(f64::total_cmp);
            for (place, expected) in differences.iter().enumerate() {
                assert_eq!(nth(place, |most| differences_up_to(&first, &second, most)), *expected);
            }
            for (place, expected) in means.iter().enumerate() {
                assert_eq!(nth(place, |most| means_up_to(&first, most)), *expected);
            }
        }
    }
}
