//! Several questions at once.

/// Holm's adjusted p-values, in the order given: each says at which family-wise error rate its hypothesis is rejected
/// (S. Holm: Scandinavian Journal of Statistics 6, 1979). NaN stays NaN and counts as a question.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![f64::NAN; p.len()];
    let mut floor = 0.0f64;
    for (rank, &i) in order.iter().enumerate() {
        if p[i].is_nan() {
            continue;
        }
        floor = floor.max((p[i] * (p.len() - rank) as f64).min(1.0));
        adjusted[i] = floor;
    }
    adjusted
}

/// Benjamini and Hochberg's adjusted p-values, in the order given: each says at which false discovery rate its
/// hypothesis is rejected (Journal of the Royal Statistical Society B 57, 1995).
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| !p[i].is_nan()).collect();
    order.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
    let mut adjusted = vec![f64::NAN; p.len()];
    let mut ceiling = 1.0f64;
    let n = p.len() as f64;
    for (from_end, &i) in order.iter().enumerate() {
        let rank = (order.len() - from_end) as f64;
        ceiling = ceiling.min(p[i] * n / rank);
        adjusted[i] = ceiling;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn golden_values() {
        // R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") and "BH".
        let p = [0.01, 0.02, 0.03, 0.04, 0.05];
        assert!(close(&holm(&p), &[0.05, 0.08, 0.09, 0.09, 0.09]));
        assert!(close(&benjamini_hochberg(&p), &[0.05; 5]));
        let p = [0.04, 0.001, 0.3];
        assert!(close(&holm(&p), &[0.08, 0.003, 0.3]));
        assert!(close(&benjamini_hochberg(&p), &[0.06, 0.003, 0.3]));
    }

    #[test]
    fn what_is_unknown_stays_so() {
        let adjusted = holm(&[f64::NAN, 0.01]);
        assert!(adjusted[0].is_nan() && (adjusted[1] - 0.02).abs() < 1e-12);
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }
}
