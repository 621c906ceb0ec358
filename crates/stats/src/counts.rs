//! Few events: how many there must have been at least.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// From this count on the chi-square quantile is taken from Wilson and Hilferty's cube (PNAS 17, 1931), which is then right
/// to seven digits: the exact one takes time that grows with the count, and a counter can hold any number.
const MANY: u64 = 10_000;

/// Lower confidence bound of a Poisson mean after `count` events (Garwood, Biometrika 28, 1936): with probability
/// `level` the true mean is not below it. 0 without events; `None` unless `level` lies in (0, 1).
pub fn poisson_lower(count: u64, level: f64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    if count == 0 {
        return Some(0.0);
    }
    if count >= MANY {
        let freedom = 2.0 * count as f64;
        let part = 2.0 / (9.0 * freedom);
        let root = 1.0 - part + Normal::standard().inverse_cdf(1.0 - level) * part.sqrt();
        return Some(count as f64 * root.max(0.0).powi(3));
    }
    let chi = ChiSquared::new(2.0 * count as f64).ok()?;
    Some(chi.inverse_cdf(1.0 - level) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_scipy_has_them() {
        // scipy.stats.chi2.ppf(.05, 2*k)/2 for k in (1, 2, 3, 8, 16, 100, 5000); SciPy 1.17.1
        for (k, want) in [
            (1, 0.05129329438755053),
            (2, 0.35536151069866195),
            (3, 0.8176914471639534),
            (8, 3.9808227861892758),
            (16, 10.035956732274144),
            (100, 84.13927721831419),
            (5_000, 4884.262567833768),
        ] {
            let got = poisson_lower(k, 0.95).unwrap();
            assert!((got / want - 1.0).abs() < 1e-4, "{k}: {got} != {want}");
        }
        assert_eq!(poisson_lower(0, 0.95), Some(0.0));
        // The approximation goes on where the exact one ends, and holds whatever a counter holds.
        let below = poisson_lower(MANY - 1, 0.95).unwrap();
        let above = poisson_lower(MANY, 0.95).unwrap();
        assert!((above - below - 0.99).abs() < 0.02, "{below} {above}");
        assert!((below / 9_835.1 - 1.0).abs() < 1e-4, "{below}");
        let million = poisson_lower(1_000_000, 0.95).unwrap();
        assert!((million / 998_355.7 - 1.0).abs() < 1e-6, "{million}");
        for count in [u64::MAX, i64::MAX as u64, 1 << 53] {
            let lower = poisson_lower(count, 0.95).unwrap();
            assert!(lower <= count as f64 && lower > count as f64 * 0.999, "{count}: {lower}");
        }
        assert_eq!(poisson_lower(5, 1.0), None);
    }
}
