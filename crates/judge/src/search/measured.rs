//! What a search has measured: values with their place in the order, the drift that is taken out of them, and the noise.

use super::change::Change;
use stats::Line;

/// Below so many references a drift cannot be told from noise, and the mean of them is the level.
const LEAST_FOR_A_LINE: usize = 4;

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// What was set; empty: the present values.
    pub cell: Vec<Change>,
    /// Logarithm of the value, turned so that more is better.
    pub value: f64,
    /// Its place in the order.
    pub at: f64,
}

/// The present values' level over the order.
pub(super) fn level(measured: &[Measured]) -> Line {
    let references: Vec<(f64, f64)> = measured.iter().filter(|m| m.cell.is_empty()).map(|m| (m.at, m.value)).collect();
    let line = if references.len() >= LEAST_FOR_A_LINE { stats::least_squares(&references) } else { None };
    line.unwrap_or_else(|| {
        let values: Vec<f64> = references.iter().map(|(_, value)| *value).collect();
        let all = || stats::median(&measured.iter().map(|m| m.value).collect::<Vec<_>>());
        Line { intercept: stats::mean(&values).or_else(all).unwrap_or(0.0), slope: 0.0 }
    })
}

/// Squares of what the references are off their level, and how many of these are free.
pub(super) fn scatter(measured: &[Measured]) -> (f64, f64) {
    let line = level(measured);
    let references = measured.iter().filter(|m| m.cell.is_empty());
    let squares: Vec<f64> = references.map(|m| (m.value - line.at(m.at)).powi(2)).collect();
    let used = if squares.len() >= LEAST_FOR_A_LINE { 2.0 } else { 1.0 };
    (squares.iter().sum(), (squares.len() as f64 - used).max(0.0))
}

/// The mean distance of a combination from the present values, and from how many measurements.
pub(super) fn distance(measured: &[Measured], cell: &[Change]) -> Option<(f64, usize)> {
    let line = level(measured);
    let values: Vec<f64> = measured.iter().filter(|m| m.cell == cell).map(|m| m.value - line.at(m.at)).collect();
    Some((stats::mean(&values)?, values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_is_taken_out() {
        let change = vec![Change { candidate: 0, alternative: 0 }];
        let measured: Vec<Measured> = (0..20)
            .map(|at| {
                let cell = if at % 4 == 1 { change.clone() } else { Vec::new() };
                let value = 5.0 - 0.01 * f64::from(at) + if cell.is_empty() { 0.0 } else { 0.2 };
                Measured { cell, value, at: f64::from(at) }
            })
            .collect();
        let (distance, of) = distance(&measured, &change).unwrap();
        assert!((distance - 0.2).abs() < 1e-9 && of == 5, "{distance} {of}");
        assert!(scatter(&measured).0 < 1e-12);
        assert_eq!(scatter(&measured[..1]), (0.0, 0.0));
        assert_eq!(super::distance(&measured, &[Change { candidate: 9, alternative: 0 }]), None);
    }
}
