//! One change in a series: where it most likely is, and whether it is there at all.
//!
//! Pettitt's rank test (Applied Statistics 28, 1979): it asks for no distribution and bears outliers. Its p value is for
//! independent values; here the statistic is shrunk by the lag-1 correlation that is left after the split, so that a
//! series that merely wanders is not taken for one that changed.

use crate::autocorrelation::lag1;
use crate::robust::{median, midranks};

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first value after the change.
    pub at: usize,
    /// Median before.
    pub before: f64,
    /// Median after.
    pub after: f64,
    /// Probability of a statistic as large without a change.
    pub p: f64,
}

impl Change {
    /// Level after over level before; `None` if the level before is zero.
    pub fn ratio(&self) -> Option<f64> {
        (self.before != 0.0).then(|| self.after / self.before)
    }
}

/// The best single split with at least `least` values on each side. `None` where the series is too short for that, or
/// constant. The caller decides which `p` and which ratio matter.
pub fn change_point(values: &[f64], least: usize) -> Option<Change> {
    let n = values.len();
    let least = least.max(2);
    if n < 2 * least || values.iter().all(|v| *v == values[0]) {
        return None;
    }
    let ranks = midranks(values);
    let mut sum = 0.0;
    let mut at = least;
    let mut statistic = 0.0;
    for (i, rank) in ranks.iter().enumerate() {
        sum += rank;
        let t = i + 1;
        let u = (2.0 * sum - t as f64 * (n as f64 + 1.0)).abs();
        if t >= least && n - t >= least && u > statistic {
            (at, statistic) = (t, u);
        }
    }
    let (before, after) = (median(&values[..at])?, median(&values[at..])?);
    let rest: Vec<f64> = values.iter().enumerate().map(|(i, v)| v - if i < at { before } else { after }).collect();
    let phi = lag1(&rest)?.clamp(0.0, 0.98);
    let spread = (n as f64).powi(3) + (n as f64).powi(2);
    let p = 2.0 * (-6.0 * statistic * statistic / spread * (1.0 - phi) / (1.0 + phi)).exp();
    Some(Change { at, before, after, p: p.min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Noise;

    #[test]
    fn the_split_and_p_of_a_small_series() {
        // numpy: v=[3,5,4,6,5,7,9,8,10,9]; U=2*cumsum(rankdata(v))-arange(1,11)*11 -> max |U| = 25 at t = 5;
        // 2*exp(-6*25**2/(10**3+10**2)) = 0.0661 before the correction for correlation
        let c = change_point(&[3.0, 5.0, 4.0, 6.0, 5.0, 7.0, 9.0, 8.0, 10.0, 9.0], 2).unwrap();
        assert_eq!((c.at, c.before, c.after), (5, 5.0, 9.0));
        assert!(c.p >= 0.0661 - 1e-4, "{c:?}");
        assert_eq!(change_point(&[1.0; 20], 3), None);
        assert_eq!(change_point(&[1.0, 2.0, 3.0], 2), None);
    }

    #[test]
    fn an_exhausted_cache_is_found_where_it_ends() {
        let mut noise = Noise::new(5);
        let mut found = 0;
        for _ in 0..200 {
            let mut series = noise.ar1(60, 0.3, 100.0, 8.0);
            series[35..].iter_mut().for_each(|v| *v *= 0.6);
            let c = change_point(&series, 5).unwrap();
            found += u32::from(c.p < 0.01 && c.at.abs_diff(35) <= 2 && (c.ratio().unwrap() - 0.6).abs() < 0.1);
        }
        assert!(found >= 190, "{found} of 200");
    }

    #[test]
    fn false_alarms_at_one_percent() {
        for (phi, most) in [(0.0, 0.01), (0.5, 0.03), (0.8, 0.06)] {
            let mut noise = Noise::new(11);
            let alarms = (0..2_000)
                .filter(|_| change_point(&noise.ar1(60, phi, 100.0, 5.0), 5).is_some_and(|c| c.p < 0.01))
                .count() as f64
                / 2_000.0;
            println!("phi {phi}: false alarms {alarms:.4} at p < .01");
            assert!(alarms <= most, "phi {phi}: {alarms}");
        }
    }
}
