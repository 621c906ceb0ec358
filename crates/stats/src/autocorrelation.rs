//! Series whose neighbours are alike: how much they know, and an interval that says so.

use crate::moments::{mean, variance};
use crate::student::{MeanInterval, t_quantile};

/// Correlation of each value with the next; `None` below three values, 0 for a constant series.
pub fn lag1(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let m = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - m) * (v - m)).sum();
    let products: f64 = values.windows(2).map(|w| (w[0] - m) * (w[1] - m)).sum();
    Some(if squares > 0.0 { products / squares } else { 0.0 })
}

/// The lag-1 correlation with its bias towards -1/n in short series taken back (Marriott and Pope, Biometrika 41, 1954:
/// E = phi - (1 + 4 phi) / n), limited to 0..=0.98: a negative correlation is not used to narrow an interval.
fn corrected_lag1(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    // Solved for phi: r = phi - (1 + 4 phi)/n.
    let phi = if n > 4.0 { (lag1(values)? * n + 1.0) / (n - 4.0) } else { lag1(values)? };
    Some(phi.clamp(0.0, 0.98))
}

/// How many independent values would know the mean as well: n (1 - phi) / (1 + phi) for a first-order series, at least
/// 2. `None` below three values.
pub fn effective_sample_size(values: &[f64]) -> Option<f64> {
    let phi = corrected_lag1(values)?;
    Some((values.len() as f64 * (1.0 - phi) / (1.0 + phi)).max(2.0))
}

/// Mean with a `level` interval that accounts for lag-1 correlation: Student t on the effective sample size. Measured
/// coverage of the 95 % interval is printed and held by the tests below. `None` below three values.
pub fn autocorrelated_interval(values: &[f64], level: f64) -> Option<MeanInterval> {
    let m = mean(values)?;
    let n = values.len() as f64;
    let effective = effective_sample_size(values)?;
    // The sample variance of a correlated series is too small by 1 - (n/effective - 1)/(n - 1).
    let shrink = (1.0 - (n / effective - 1.0) / (n - 1.0)).max(0.2);
    let half = t_quantile(level, effective - 1.0)? * (variance(values)? / shrink / effective).sqrt();
    Some(MeanInterval { mean: m, low: m - half, high: m + half, effective_n: effective })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Noise;
    use crate::{batch_interval, mean_interval};

    #[test]
    fn lag1_by_hand() {
        // numpy: v=[3,5,4,6,5,7,9,8,10,9]; d=v-v.mean(); (d[1:]*d[:-1]).sum()/(d*d).sum()
        let v = [3.0, 5.0, 4.0, 6.0, 5.0, 7.0, 9.0, 8.0, 10.0, 9.0];
        assert!((lag1(&v).unwrap() - 0.5761904761904761).abs() < 1e-12);
        assert_eq!(lag1(&[1.0, 2.0]), None);
        assert_eq!(lag1(&[4.0; 9]), Some(0.0));
    }

    /// Share of series whose interval holds the true mean: (independent assumed, effective sample size, 20 batches).
    fn coverage(n: usize, phi: f64, seed: u64) -> [f64; 3] {
        let rounds = 2_000;
        let mut hits = [0u32; 3];
        let mut noise = Noise::new(seed);
        for _ in 0..rounds {
            let series = noise.ar1(n, phi, 100.0, 10.0);
            let holds = |low: f64, high: f64| u32::from(low <= 100.0 && 100.0 <= high);
            let i = mean_interval(&series, 0.95).unwrap();
            hits[0] += holds(i.low, i.high);
            let i = autocorrelated_interval(&series, 0.95).unwrap();
            hits[1] += holds(i.low, i.high);
            let i = batch_interval(&series, 20).unwrap();
            hits[2] += holds(i.low, i.high);
        }
        hits.map(|h| f64::from(h) / f64::from(rounds))
    }

    #[test]
    fn measured_coverage_of_95_percent_intervals() {
        println!("n     phi   independent  effective  20 batches");
        for (n, phi, least) in COVERAGE {
            let [naive, effective, batches] = coverage(n, phi, 42 + n as u64);
            println!("{n:<5} {phi:<5} {naive:<12.3} {effective:<10.3} {batches:.3}");
            assert!(effective >= least && effective <= 1.0, "n {n} phi {phi}: {effective} below {least}");
        }
    }

    /// Length, correlation, least coverage that is held. Intervals of a run that are 100 ms long: 20 to 100 of them.
    const COVERAGE: [(usize, f64, f64); 8] = [
        (20, 0.0, 0.94),
        (40, 0.0, 0.94),
        (40, 0.5, 0.93),
        (40, 0.8, 0.91),
        (100, 0.0, 0.94),
        (100, 0.5, 0.93),
        (100, 0.8, 0.92),
        (100, 0.95, 0.90),
    ];
}
