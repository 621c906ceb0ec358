//! Least squares with a penalty for large coefficients (ridge regression: Hoerl and Kennard, Technometrics 12, 1970), which
//! keeps many effects apart that were measured together.

/// A pivot below this share of what stood there before is rounding.
const SINGULAR: f64 = 1e-10;

/// The coefficients that minimise the sum of squared residuals plus `penalties[i]` times the square of coefficient i. `None` where
/// the numbers of columns differ, a number is not finite, or the columns do not decide the coefficients.
pub fn ridge(rows: &[Vec<f64>], values: &[f64], penalties: &[f64]) -> Option<Vec<f64>> {
    let columns = penalties.len();
    let finite = rows.iter().flatten().chain(values).chain(penalties).all(|v| v.is_finite());
    if !finite || rows.len() != values.len() || rows.iter().any(|row| row.len() != columns) {
        return None;
    }
    let product = |of: &dyn Fn(usize) -> f64, with: &dyn Fn(usize) -> f64| -> f64 {
        (0..rows.len()).map(|row| of(row) * with(row)).sum()
    };
    let mut right: Vec<f64> = (0..columns).map(|i| product(&|r| rows[r][i], &|r| values[r])).collect();
    let normal =
        |i: usize, j: usize| product(&|r| rows[r][i], &|r| rows[r][j]) + if i == j { penalties[i] } else { 0.0 };
    let lower = cholesky(columns, normal)?;
    for i in 0..columns {
        let known: f64 = (0..i).map(|k| lower[i][k] * right[k]).sum();
        right[i] = (right[i] - known) / lower[i][i];
    }
    for i in (0..columns).rev() {
        let known: f64 = (i + 1..columns).map(|k| lower[k][i] * right[k]).sum();
        right[i] = (right[i] - known) / lower[i][i];
    }
    Some(right)
}

/// The lower triangle whose product with its transpose is a symmetric matrix; `None` where that is not positive definite.
fn cholesky(size: usize, of: impl Fn(usize, usize) -> f64) -> Option<Vec<Vec<f64>>> {
    let mut lower = vec![vec![0.0; size]; size];
    for i in 0..size {
        for j in 0..=i {
            let whole = of(i, j);
            let left = whole - (0..j).map(|k| lower[i][k] * lower[j][k]).sum::<f64>();
            if i != j {
                lower[i][j] = left / lower[j][j];
            } else if left > SINGULAR * whole {
                lower[i][i] = left.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_penalty_it_is_least_squares_and_with_one_it_shrinks() {
        let rows: Vec<Vec<f64>> = (0..6).map(|i| vec![1.0, f64::from(i), f64::from(i % 2)]).collect();
        let values: Vec<f64> = rows.iter().map(|r| 3.0 * r[0] - 0.5 * r[1] + 2.0 * r[2]).collect();
        let plain = ridge(&rows, &values, &[0.0; 3]).unwrap();
        assert!(plain.iter().zip([3.0, -0.5, 2.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{plain:?}");
        let shrunk = ridge(&rows, &values, &[0.0, 0.0, 5.0]).unwrap();
        assert!(shrunk[2] > 0.0 && shrunk[2] < 1.5, "{shrunk:?}");
        // One column: the sum of products over the sum of squares and the penalty.
        let one = ridge(&[vec![1.0], vec![2.0]], &[1.0, 2.0], &[5.0]).unwrap();
        assert!((one[0] - 0.5).abs() < 1e-12, "{one:?}");
    }

    #[test]
    fn what_is_not_decided_has_no_answer() {
        let twice = [vec![1.0, 1.0], vec![2.0, 2.0], vec![3.0, 3.0]];
        assert_eq!(ridge(&twice, &[1.0, 2.0, 3.0], &[0.0, 0.0]), None);
        assert!(ridge(&twice, &[1.0, 2.0, 3.0], &[0.1, 0.1]).is_some());
        assert_eq!(ridge(&twice, &[1.0, f64::NAN, 3.0], &[0.1, 0.1]), None);
        assert_eq!(ridge(&twice, &[1.0, 2.0], &[0.1, 0.1]), None);
        assert_eq!(ridge(&twice, &[1.0, 2.0, 3.0], &[0.1]), None);
    }
}
