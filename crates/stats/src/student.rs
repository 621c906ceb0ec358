//! Student's t: how far the mean of few values may be from the truth.

use crate::moments::{mean, variance};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// A mean and an interval around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How many independent values the interval rests on; less than the number of values where they are correlated.
    pub effective_n: f64,
}

impl MeanInterval {
    /// Half the width of the interval over the mean; `None` for a mean of zero.
    pub fn half_width_ratio(&self) -> Option<f64> {
        (self.mean != 0.0).then(|| (self.high - self.low) / 2.0 / self.mean.abs())
    }
}

/// The two-sided quantile: |t| stays below it with probability `level`. `None` unless `degrees` > 0 and `level` lies
/// in (0, 1). Allocates nothing.
pub fn t_quantile(level: f64, degrees: f64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let t = StudentsT::new(0.0, 1.0, degrees).ok()?;
    Some(t.inverse_cdf(0.5 + level / 2.0))
}

/// The two-sided quantile of the normal distribution: |z| stays below it with probability `level`. `None` unless `level`
/// lies in (0, 1).
pub fn normal_quantile(level: f64) -> Option<f64> {
    (level > 0.0 && level < 1.0).then(|| Normal::standard().inverse_cdf(0.5 + level / 2.0))
}

/// Mean with a `level` interval for *independent* values; `None` below two values. For series of a run use
/// [`crate::autocorrelated_interval`] or [`crate::batch_interval`].
pub fn mean_interval(values: &[f64], level: f64) -> Option<MeanInterval> {
    let m = mean(values)?;
    let n = values.len() as f64;
    let half = t_quantile(level, n - 1.0)? * (variance(values)? / n).sqrt();
    Some(MeanInterval { mean: m, low: m - half, high: m + half, effective_n: n })
}

#[cfg(test)]
mod tests {
    use super::*;

    // scipy.stats.t.ppf([0.975, 0.975, 0.95, 0.975], [1, 9, 19, 4.5]), SciPy 1.17.1
    #[test]
    fn quantiles_as_scipy_has_them() {
        for (level, df, want) in [
            (0.95, 1.0, 12.706204736174694),
            (0.95, 9.0, 2.262157162798205),
            (0.90, 19.0, 1.7291328115213682),
            (0.95, 4.5, 2.6589123472044034),
        ] {
            let got = t_quantile(level, df).unwrap();
            assert!((got - want).abs() < 1e-6, "df {df}: {got} != {want}");
        }
        assert_eq!(t_quantile(0.95, 0.0), None);
        assert_eq!(t_quantile(1.0, 5.0), None);
    }
}
