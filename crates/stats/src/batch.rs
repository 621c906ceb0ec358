//! Batch means: an interval for the mean of a correlated series.
//!
//! Neighbouring intervals of a run are alike (write-back, garbage collection, governors), so that treating them as
//! independent gives intervals that are far too narrow. Means of long batches are nearly independent (Law and Kelton,
//! Simulation Modeling and Analysis, "batch means"); what is left shows as the lag-1 correlation of the batch means.

use crate::student::t_quantile;

/// A 95 % interval from batch means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchInterval {
    /// Mean over the values used.
    pub mean: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// Lag-1 correlation of the batch means: near zero where the batches are long enough to be taken as independent.
    pub lag1: f64,
    /// How many batches.
    pub batches: usize,
}

impl BatchInterval {
    /// Half the width of the interval over the mean; `None` for a mean of zero.
    pub fn half_width_ratio(&self) -> Option<f64> {
        (self.mean != 0.0).then(|| (self.high - self.low) / 2.0 / self.mean.abs())
    }
}

/// Batch-means interval of `values`, which are rates over intervals of equal length, in order. All batches are equally
/// long; what does not fill a batch is left out at the beginning, where a series is least settled. `None` below two
/// batches or with fewer values than batches. Allocates nothing: the engine calls it in its loop.
pub fn batch_interval(values: &[f64], batches: usize) -> Option<BatchInterval> {
    if batches < 2 || values.len() < batches {
        return None;
    }
    let size = values.len() / batches;
    let used = &values[values.len() - size * batches..];
    let mean = used.iter().sum::<f64>() / used.len() as f64;
    let (mut squares, mut products) = (0.0, 0.0);
    let mut previous = None;
    for batch in used.chunks_exact(size) {
        let deviation = batch.iter().sum::<f64>() / size as f64 - mean;
        squares += deviation * deviation;
        if let Some(p) = previous {
            products += p * deviation;
        }
        previous = Some(deviation);
    }
    let n = batches as f64;
    let half = t_quantile(0.95, n - 1.0)? * (squares / (n - 1.0) / n).sqrt();
    let lag1 = if squares > 0.0 { products / squares } else { 0.0 };
    Some(BatchInterval { mean, low: mean - half, high: mean + half, lag1, batches })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_to_a_t_interval_of_the_batch_means() {
        // numpy: v=[9,1,2,3,4,5,6,7,9]; m=[1.5,3.5,5.5,8.0] (the first value does not fill a batch);
        // scipy.stats.t.interval(0.95, 3, mean, sem(m)) -> (0.20118022783243905, 9.048819772167562), SciPy 1.17.1
        let b = batch_interval(&[9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0], 4).unwrap();
        assert_eq!(b.batches, 4);
        assert!((b.mean - 4.625).abs() < 1e-12);
        let m = [1.5, 3.5, 5.5, 8.0];
        let t = crate::mean_interval(&m, 0.95).unwrap();
        assert!((b.low - 0.20118022783243905).abs() < 1e-6 && (b.high - 9.048819772167562).abs() < 1e-6);
        assert!((b.low - t.low).abs() < 1e-9 && (b.high - t.high).abs() < 1e-9);
        // d = [-3.125,-1.125,0.875,3.375]; sum d_i d_i+1 / sum d^2
        let want = (3.125 * 1.125 - 1.125 * 0.875 + 0.875 * 3.375)
            / (3.125f64.powi(2) + 1.125f64.powi(2) + 0.875f64.powi(2) + 3.375f64.powi(2));
        assert!((b.lag1 - want).abs() < 1e-12);
    }

    #[test]
    fn degenerate_series() {
        assert_eq!(batch_interval(&[], 2), None);
        assert_eq!(batch_interval(&[1.0, 2.0], 1), None);
        assert_eq!(batch_interval(&[1.0, 2.0], 3), None);
        let constant = batch_interval(&[5.0; 40], 20).unwrap();
        assert_eq!((constant.low, constant.high, constant.lag1), (5.0, 5.0, 0.0));
        let stalled = batch_interval(&[0.0; 40], 20).unwrap();
        assert_eq!(stalled.half_width_ratio(), None);
    }
}
