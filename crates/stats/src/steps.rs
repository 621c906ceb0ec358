//! Times that grow with the number of steps: time of a unit = a / min(width, widest) + b.

/// What one step costs, what a unit costs beside, and the widest step there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepFit {
    /// Time of a step.
    pub step: f64,
    /// Time of a unit beside its steps; never negative.
    pub unit: f64,
    /// Steps wider than this are several.
    pub widest: f64,
    /// Whether no width that was measured is wider.
    pub is_last: bool,
    /// The largest deviation, as a share of the time.
    pub worst_residual_ratio: f64,
}

/// Times that differ by less than this are the same: then the widest step is the narrowest one measured.
const SAME: f64 = 1.1;

/// Fits `(width, time of a unit)` by least squares of relative deviations, for each width as the widest step there is; the one that fits
/// best, of those that fit alike the narrowest. `None` below two different widths.
pub fn step_fit(points: &[(f64, f64)]) -> Option<StepFit> {
    if points.iter().any(|(w, t)| !(*w > 0.0 && *t > 0.0 && t.is_finite())) {
        return None;
    }
    let mut widths: Vec<f64> = points.iter().map(|(w, _)| *w).collect();
    widths.sort_by(f64::total_cmp);
    widths.dedup();
    let (first, last) = (*widths.first()?, *widths.last()?);
    if widths.len() < 2 {
        return None;
    }
    let times = || points.iter().map(|(_, t)| *t);
    let fastest = times().fold(f64::MAX, f64::min);
    let slowest = times().fold(0.0, f64::max);
    if slowest / fastest < SAME {
        let time = times().sum::<f64>() / points.len() as f64;
        let worst = times().map(|t| (time / t - 1.0).abs()).fold(0.0, f64::max);
        return Some(StepFit {
            step: time * first,
            unit: 0.0,
            widest: first,
            is_last: false,
            worst_residual_ratio: worst,
        });
    }
    let mut best: Option<(f64, StepFit)> = None;
    for widest in widths.iter().copied().skip(1) {
        let (step, unit) = line(points, widest);
        let residuals = points.iter().map(|(w, t)| ((step / w.min(widest) + unit) / t - 1.0).abs());
        let (sum, worst) = residuals.fold((0.0, 0.0_f64), |(sum, worst), r| (sum + r * r, worst.max(r)));
        // A rounding error is no better fit.
        if best.as_ref().is_none_or(|(least, _)| sum + 1e-9 < *least) {
            let fit = StepFit { step, unit, widest, is_last: widest >= last, worst_residual_ratio: worst };
            best = Some((sum, fit));
        }
    }
    best.map(|(_, fit)| fit)
}

/// Time = step x + unit with x = 1 / min(width, widest), each deviation as a share of its time; no cost is negative.
fn line(points: &[(f64, f64)], widest: f64) -> (f64, f64) {
    let (mut xx, mut x1, mut one, mut xy, mut y1) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (width, time) in points {
        let x = 1.0 / width.min(widest);
        let weight = 1.0 / (time * time);
        xx += weight * x * x;
        x1 += weight * x;
        one += weight;
        xy += weight * x * time;
        y1 += weight * time;
    }
    let determinant = xx * one - x1 * x1;
    let (step, unit) = ((xy * one - y1 * x1) / determinant, (xx * y1 - x1 * xy) / determinant);
    if determinant.abs() < f64::EPSILON * xx * one || unit < 0.0 {
        (xy / xx, 0.0)
    } else if step < 0.0 {
        (0.0, y1 / one)
    } else {
        (step, unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WIDTHS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    proptest! {
        #[test]
        fn a_bus_of_known_truth_is_found(bus in 1usize..6, step in 5.0f64..2000.0, unit in 0.0f64..2.0, noise in prop::collection::vec(-0.002f64..0.002, 7)) {
            let widest = WIDTHS[bus];
            // What is beside the steps must leave them visible.
            let unit = unit.min(step / widest);
            let points: Vec<_> = WIDTHS.iter().zip(noise).map(|(w, n)| (*w, (step / w.min(widest) + unit) * (1.0 + n))).collect();
            let fit = step_fit(&points).unwrap();
            prop_assert_eq!(fit.widest, widest);
            prop_assert!((fit.step / step - 1.0).abs() < 0.02, "{fit:?}, {step} {unit}");
            prop_assert!(!fit.is_last);
        }
    }

    #[test]
    fn the_narrowest_bus_and_the_widest() {
        let fit = step_fit(&WIDTHS.map(|w| (w, 100.0))).unwrap();
        assert_eq!((fit.widest, fit.step, fit.unit), (1.0, 100.0, 0.0));
        let fit = step_fit(&WIDTHS.map(|w| (w, 100.0 / w))).unwrap();
        assert!(fit.is_last && (fit.step - 100.0).abs() < 1e-6 && fit.unit < 1e-6, "{fit:?}");
    }

    #[test]
    fn nothing_from_too_little() {
        assert_eq!(step_fit(&[]), None);
        assert_eq!(step_fit(&[(1.0, 5.0)]), None);
        assert_eq!(step_fit(&[(1.0, 5.0), (2.0, 0.0)]), None);
        assert_eq!(step_fit(&[(1.0, 5.0), (2.0, f64::NAN)]), None);
    }
}
