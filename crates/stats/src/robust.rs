//! Median, MAD and ranks: summaries that one wild value does not move.

/// Median (mean of the two middle values for an even count); `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut copy = values.to_vec();
    median_in_place(&mut copy)
}

/// Median of values whose order may be lost.
pub(crate) fn median_in_place(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if !even {
        return Some(*upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(lower + (*upper - lower) / 2.0)
}

/// Median absolute deviation from the median, unscaled (times 1.4826 it estimates sigma of normal values); `None`
/// without values.
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let mut deviations: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
    median_in_place(&mut deviations)
}

/// Ranks from 1; equal values share the mean of their ranks.
pub(crate) fn midranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let mut last = first;
        while last + 1 < order.len() && values[order[last + 1]] == values[order[first]] {
            last += 1;
        }
        for &i in &order[first..=last] {
            ranks[i] = (first + last) as f64 / 2.0 + 1.0;
        }
        first = last + 1;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_scipy_has_them() {
        // scipy.stats.median_abs_deviation(y), numpy.median(y); SciPy 1.17.1
        let y = [2.1, 3.9, 6.2, 7.8, 10.1, 40.0, 14.2, 15.8];
        assert!((median(&y).unwrap() - 8.95).abs() < 1e-12);
        assert!((median_absolute_deviation(&y).unwrap() - 5.15).abs() < 1e-12);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(midranks(&[2.0, 1.0, 4.0, 4.0, 4.0, 9.0]), [2.0, 1.0, 4.0, 4.0, 4.0, 6.0]);
        assert_eq!(midranks(&[f64::NAN, 1.0]), [2.0, 1.0]);
    }
}
