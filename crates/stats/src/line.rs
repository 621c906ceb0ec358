//! Straight lines through points: least squares, and Theil-Sen, which bears a third of wild points.

use crate::moments::mean;
use crate::robust::median_in_place;
use crate::student::normal_quantile;

/// y = intercept + slope x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Value at x = 0.
    pub intercept: f64,
    /// Change of y for each unit of x.
    pub slope: f64,
}

impl Line {
    /// The line's value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Least squares; `None` below two points or without two different x.
pub fn least_squares(points: &[(f64, f64)]) -> Option<Line> {
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (sxx, sxy) =
        points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + (x - mx) * (x - mx), b + (x - mx) * (y - my)));
    (sxx > 0.0).then(|| {
        let slope = sxy / sxx;
        Line { intercept: my - slope * mx, slope }
    })
}

/// Between all pairs of different x.
fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (i, (x1, y1)) in points.iter().enumerate() {
        slopes.extend(points[i + 1..].iter().filter(|(x2, _)| x2 != x1).map(|(x2, y2)| (y2 - y1) / (x2 - x1)));
    }
    slopes
}

/// Theil-Sen: the median of the slopes between all pairs of different x, and the median of what is left as intercept
/// (Sen, J. Am. Stat. Assoc. 63, 1968). `None` below two points or without two different x. Cost n^2: thin long series.
pub fn theil_sen(points: &[(f64, f64)]) -> Option<Line> {
    let slope = median_in_place(&mut slopes(points))?;
    let mut rest: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    Some(Line { intercept: median_in_place(&mut rest)?, slope })
}

/// An interval for the slope of [`theil_sen`] at `level` (0 to 1), from the distribution of Kendall's S (Sen 1968, as in Hollander
/// and Wolfe: Nonparametric Statistical Methods, 9.3). It takes the points to be independent of one another. `None` below five
/// points, or where two have the same x.
pub fn theil_sen_interval(points: &[(f64, f64)], level: f64) -> Option<(f64, f64)> {
    let n = points.len();
    let mut slopes = slopes(points);
    if n < 5 || slopes.len() < n * (n - 1) / 2 {
        return None;
    }
    slopes.sort_by(f64::total_cmp);
    let n = n as f64;
    let far = normal_quantile(0.5 + level / 2.0)? * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let all = slopes.len() as f64;
    let low = ((all - far) / 2.0).floor().max(1.0) as usize - 1;
    Some((slopes[low], slopes[slopes.len() - 1 - low]))
}

/// Time of a transfer of n bytes at depth 1: t(n) = t0 + n / B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeFit {
    /// Time of a transfer of no bytes, in the unit of the times given.
    pub fixed: f64,
    /// Size transferred in each unit of time once it flows; infinite where time does not grow with size.
    pub bandwidth: f64,
    /// Largest deviation of a point from the line, as a share of the point's time: a large one means a break
    /// (splitting, stripe, allocation unit), so fit the parts.
    pub worst_residual_ratio: f64,
}

/// Fits `(size, time)` robustly; `None` below three different sizes, and where the time falls with the size (then there
/// is no such line). A negative `t0` within the noise counts as zero.
pub fn size_fit(points: &[(f64, f64)]) -> Option<SizeFit> {
    let mut sizes: Vec<f64> = points.iter().map(|(n, _)| *n).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < 3 || points.iter().any(|(_, t)| *t <= 0.0) {
        return None;
    }
    let line = theil_sen(points)?;
    if line.slope.is_nan() || line.slope < 0.0 {
        return None;
    }
    let fixed = line.intercept.max(0.0);
    let worst =
        points.iter().map(|(n, t)| ((fixed + line.slope * n - t) / t).abs()).max_by(f64::total_cmp).unwrap_or(0.0);
    Some(SizeFit { fixed, bandwidth: 1.0 / line.slope, worst_residual_ratio: worst })
}

/// Pearson's correlation of pairs; `None` below three pairs or where one side is constant.
pub fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let mx = mean(&pairs.iter().map(|p| p.0).collect::<Vec<_>>())?;
    let my = mean(&pairs.iter().map(|p| p.1).collect::<Vec<_>>())?;
    let (sxx, syy, sxy) = pairs.iter().fold((0.0, 0.0, 0.0), |(a, b, c), (x, y)| {
        (a + (x - mx) * (x - mx), b + (y - my) * (y - my), c + (x - mx) * (y - my))
    });
    (sxx > 0.0 && syy > 0.0).then(|| sxy / (sxx * syy).sqrt())
}

/// Spearman's rank correlation of pairs: for relations that are monotone but not straight (temperature and rate).
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let x = crate::robust::midranks(&pairs.iter().map(|p| p.0).collect::<Vec<_>>());
    let y = crate::robust::midranks(&pairs.iter().map(|p| p.1).collect::<Vec<_>>());
    correlation(&x.into_iter().zip(y).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Noise;
    use proptest::prelude::*;

    const Y: [f64; 8] = [2.1, 3.9, 6.2, 7.8, 10.1, 40.0, 14.2, 15.8];

    fn points() -> Vec<(f64, f64)> {
        Y.iter().enumerate().map(|(i, y)| (i as f64 + 1.0, *y)).collect()
    }

    // scipy.stats.linregress, theilslopes, pearsonr, spearmanr over x = 1..8 and Y; SciPy 1.17.1
    #[test]
    fn the_interval_of_a_robust_slope_holds_the_truth() {
        let (mut held, mut wide) = (0, 0.0);
        for seed in 0..400 {
            let mut noise = Noise::new(seed);
            let points: Vec<(f64, f64)> =
                (0..30).map(|i| (f64::from(i), 0.5 * f64::from(i) + noise.normal())).collect();
            let (low, high) = theil_sen_interval(&points, 0.95).unwrap();
            held += u32::from(low <= 0.5 && 0.5 <= high);
            wide += (high - low) / 400.0;
        }
        // 95 % of 400 with a standard deviation of 4.4; least squares would have a width of 4 / sqrt(sum of squares of x).
        assert!((365..=396).contains(&held), "{held}");
        assert!((0.07..0.11).contains(&wide), "{wide}");
        assert_eq!(theil_sen_interval(&[(0.0, 1.0); 9], 0.95), None);
        assert_eq!(theil_sen_interval(&[(0.0, 1.0), (1.0, 2.0)], 0.95), None);
    }

    #[test]
    fn as_scipy_has_them() {
        let ls = least_squares(&points()).unwrap();
        assert!((ls.slope - 2.9892857142857148).abs() < 1e-9 && (ls.intercept + 0.9392857142857167).abs() < 1e-9);
        let ts = theil_sen(&points()).unwrap();
        assert!((ts.slope - 2.0).abs() < 1e-9 && (ts.intercept - 0.1).abs() < 1e-9, "{ts:?}");
        assert!((correlation(&points()).unwrap() - 0.6066780161199198).abs() < 1e-9);
        assert!((rank_correlation(&points()).unwrap() - 0.9285714285714287).abs() < 1e-9);
        let ties = [(1.0, 2.0), (2.0, 1.0), (2.0, 4.0), (3.0, 4.0), (5.0, 4.0), (5.0, 9.0)];
        assert!((rank_correlation(&ties).unwrap() - 0.750366479376867).abs() < 1e-9);
    }

    #[test]
    fn nothing_from_too_little() {
        assert_eq!(least_squares(&[(1.0, 2.0)]), None);
        assert_eq!(theil_sen(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(correlation(&[(1.0, 2.0), (2.0, 2.0), (3.0, 2.0)]), None);
        assert_eq!(size_fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(size_fit(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), None);
    }

    proptest! {
        #[test]
        fn a_device_of_known_truth_is_found_with_one_wild_point(t0 in 1e3f64..1e6, bandwidth in 1e-3f64..10.0, wild in 0usize..7) {
            let mut points: Vec<(f64, f64)> = (12..19).map(|p| f64::from(1u32 << p)).map(|n| (n, t0 + n / bandwidth)).collect();
            points[wild].1 *= 1.05;
            let fit = size_fit(&points).unwrap();
            prop_assert!((fit.bandwidth / bandwidth - 1.0).abs() < 0.1, "{fit:?}");
            prop_assert!(fit.worst_residual_ratio < 0.2);
        }
    }
}
