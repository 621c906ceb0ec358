//! Steady state as the SNIA Solid State Storage Performance Test Specification (PTS 2.0.2, section 2.1.24) has it.

use crate::moments::mean;

/// Range of the measurement window that is still steady, as a share of its mean.
pub const STEADY_RANGE_RATIO: f64 = 0.20;
/// Rise or fall of the fitted line over the window that is still steady, as a share of the mean.
pub const STEADY_SLOPE_RATIO: f64 = 0.10;
/// Rounds of the measurement window.
pub const STEADY_ROUNDS: usize = 5;

/// How steady a window is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Largest less smallest round, over the mean.
    pub range_ratio: f64,
    /// Change of the fitted line from the first round to the last, over the mean, without sign.
    pub slope_ratio: f64,
}

impl Steadiness {
    /// Whether both stay within the specification.
    pub fn is_steady(&self) -> bool {
        self.range_ratio <= STEADY_RANGE_RATIO && self.slope_ratio <= STEADY_SLOPE_RATIO
    }
}

/// Steadiness of five rounds; `None` with another number of rounds or a mean that is not positive.
pub fn steadiness(rounds: &[f64]) -> Option<Steadiness> {
    if rounds.len() == STEADY_ROUNDS { window_steadiness(rounds) } else { None }
}

/// The same of any number of rounds, of which there are at least two. Allocates nothing.
pub fn window_steadiness(rounds: &[f64]) -> Option<Steadiness> {
    let m = mean(rounds).filter(|m| *m > 0.0 && rounds.len() > 1)?;
    let high = rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = rounds.iter().copied().fold(f64::INFINITY, f64::min);
    // The rise of a straight line through them: least squares over whole numbers around their middle.
    let last = (rounds.len() - 1) as f64;
    let (mut rise, mut run) = (0.0, 0.0);
    for (i, value) in rounds.iter().enumerate() {
        let x = i as f64 - last / 2.0;
        (rise, run) = (rise + x * (value - m), run + x * x);
    }
    Some(Steadiness { range_ratio: (high - low) / m, slope_ratio: (rise / run * last / m).abs() })
}

/// Steadiness of a longer series of equal intervals, in five equal rounds; what does not fill a round is left out at
/// the beginning. `None` below five values.
pub fn series_steadiness(values: &[f64]) -> Option<Steadiness> {
    let size = values.len() / STEADY_ROUNDS;
    if size == 0 {
        return None;
    }
    let rounds: Vec<f64> = values[values.len() - size * STEADY_ROUNDS..].chunks_exact(size).filter_map(mean).collect();
    steadiness(&rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_edges_of_the_specification() {
        // Range exactly 20 %, no slope.
        assert!(steadiness(&[100.0, 110.0, 100.0, 90.0, 100.0]).unwrap().range_ratio <= 0.2);
        assert!(steadiness(&[100.0, 90.0, 110.0, 90.0, 110.0]).is_some());
        assert!(!steadiness(&[100.0, 111.0, 100.0, 90.0, 99.0]).unwrap().is_steady());
        // A line that rises by 9 and by 11 % over the window.
        let rising = |total: f64| [0, 1, 2, 3, 4].map(|i| 100.0 - total / 2.0 + total / 4.0 * f64::from(i));
        assert!(steadiness(&rising(9.0)).unwrap().is_steady());
        assert!(!steadiness(&rising(11.0)).unwrap().is_steady());
        assert_eq!(steadiness(&[1.0; 4]), None);
        assert_eq!(steadiness(&[0.0; 5]), None);
    }

    #[test]
    fn a_series_falls_into_five_rounds() {
        let mut series = vec![1_000.0, 1_000.0];
        series.extend([100.0; 50]);
        assert_eq!(series_steadiness(&series), Some(Steadiness { range_ratio: 0.0, slope_ratio: 0.0 }));
        assert_eq!(series_steadiness(&[1.0; 4]), None);
    }
}
