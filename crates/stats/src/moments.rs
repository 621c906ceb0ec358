//! Means and spreads of plain and of weighted values.

/// Arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample variance (n - 1 in the denominator); `None` below two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let m = mean(values)?;
    Some(values.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / (values.len() - 1) as f64)
}

/// Mean of `(value, weight)`: a rate over intervals of unequal length, weighted by length, is total over total. `None`
/// if no weight is positive, or one is negative.
pub fn weighted_mean(values: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for (v, w) in values {
        if w < 0.0 {
            return None;
        }
        sum += v * w;
        weight += w;
    }
    (weight > 0.0).then(|| sum / weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighted_rate_is_total_over_total() {
        // 100 units in 1 s, then 10 units in 0.5 s: 110 units in 1.5 s.
        let rate = weighted_mean([(100.0, 1.0), (20.0, 0.5)]).unwrap();
        assert!((rate - 110.0 / 1.5).abs() < 1e-12);
        assert_eq!(weighted_mean([]), None);
        assert_eq!(weighted_mean([(1.0, 0.0)]), None);
        assert_eq!(weighted_mean([(1.0, -1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn too_few_values_give_nothing() {
        assert_eq!(mean(&[]), None);
        assert_eq!(variance(&[1.0]), None);
        assert_eq!(variance(&[1.0, 3.0]), Some(2.0));
    }
}
