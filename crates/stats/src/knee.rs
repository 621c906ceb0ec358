//! Where a saturating curve stops to pay: the knee of throughput over concurrency.
//!
//! The rule is the one by which people size queues: the smallest load such that whatever is measured beyond it gains less
//! than a given share for each doubling of the load. Two published ways were considered and not taken. The crossing of the
//! asymptotes of operational analysis, N* = X_max x R(1) (Lazowska, Zahorjan, Graham, Sevcik: Quantitative System
//! Performance, 1984, chapter 5), is the load at which an ideal pipeline would saturate: real ones, whose requests meet by
//! chance, reach the plateau later. Kneedle (Satopaa, Albrecht, Irwin, Raghavan 2011) scales the curve by its end points,
//! so that measuring further out on the plateau moves the knee; here it does not.

/// What the knee is of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KneeAt {
    /// The index of the point.
    Point(usize),
    /// Even the last step gained enough.
    Beyond,
}

/// The knee of the points (load, rate), ordered by load, where a gain below `least_gain` (0.1: a tenth) for each doubling
/// of the load is none.
///
/// A point is the knee if every later point has less than `rate * (1 + least_gain)^doublings`; one dip or one lucky point
/// in between decides nothing. `None` below three points, or where loads do not rise, or something is not positive and
/// finite.
pub fn knee(points: &[(f64, f64)], least_gain: f64) -> Option<KneeAt> {
    let sound = |v: f64| v > 0.0 && v.is_finite();
    let usable = points.len() >= 3
        && points.iter().all(|(load, rate)| sound(*load) && sound(*rate))
        && points.windows(2).all(|w| w[0].0 < w[1].0)
        && sound(least_gain);
    if !usable {
        return None;
    }
    let log_gain = (1.0 + least_gain).log2();
    let pays = |from: &(f64, f64), to: &(f64, f64)| (to.1 / from.1).log2() >= (to.0 / from.0).log2() * log_gain;
    let at = (0..points.len()).find(|&i| !points[i + 1..].iter().any(|later| pays(&points[i], later)))?;
    // Nothing lies beyond the last point that could show that it is the knee.
    Some(if at + 1 == points.len() { KneeAt::Beyond } else { KneeAt::Point(at) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Noise;

    const DEPTHS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

    fn of(rates: &[f64]) -> Option<KneeAt> {
        let points: Vec<(f64, f64)> = DEPTHS.iter().copied().zip(rates.iter().copied()).collect();
        knee(&points, 0.1)
    }

    #[test]
    fn an_ideal_pipeline_bends_where_it_is_full() {
        // min(depth, 16): perfect scaling up to 16 units.
        let rates: Vec<f64> = DEPTHS.iter().map(|d| 1000.0 * d.min(16.0)).collect();
        assert_eq!(of(&rates), Some(KneeAt::Point(4)));
    }

    #[test]
    fn a_device_that_does_one_thing_at_a_time_has_its_knee_at_once() {
        assert_eq!(
            of(&[3201.0, 3300.0, 3344.0, 3340.0, 3344.0, 3350.0, 3344.0, 3340.0, 3344.0]),
            Some(KneeAt::Point(0))
        );
    }

    #[test]
    fn what_still_rises_has_no_knee_yet() {
        let rates: Vec<f64> = DEPTHS.iter().map(|d| 1000.0 * d).collect();
        assert_eq!(of(&rates), Some(KneeAt::Beyond));
    }

    #[test]
    fn random_meetings_reach_the_plateau_later_than_the_asymptotes_cross() {
        // m independent channels, each request goes to any of them: m * (1 - (1 - 1/m)^depth) channels are busy.
        let m = 32.0f64;
        let rates: Vec<f64> = DEPTHS.iter().map(|d| m * (1.0 - (1.0 - 1.0 / m).powf(*d))).collect();
        // At 64 the channels are 87 % busy; 128 gives 98 %: 13 % for a doubling. The asymptotes cross at 32.
        assert_eq!(of(&rates), Some(KneeAt::Point(7)));
    }

    #[test]
    fn a_dip_and_a_lucky_point_decide_nothing() {
        assert_eq!(of(&[1.0, 2.0, 1.9, 4.0, 8.0, 8.1, 8.0, 8.2, 8.1]), Some(KneeAt::Point(4)));
        // One point 8 % above the plateau.
        assert_eq!(of(&[1.0, 2.0, 4.0, 8.0, 8.0, 8.64, 8.0, 8.0, 8.0]), Some(KneeAt::Point(3)));
    }

    #[test]
    fn measuring_further_out_on_the_plateau_does_not_move_it() {
        let curve = |n: i32| -> Vec<(f64, f64)> {
            (0..n).map(|i| 2f64.powi(i)).map(|d| (d, 50_000.0 * d / (d + 8.0))).collect()
        };
        let at = knee(&curve(9), 0.1);
        assert!(matches!(at, Some(KneeAt::Point(_))));
        for n in 10..20 {
            assert_eq!(knee(&curve(n), 0.1), at, "{n} points");
        }
    }

    #[test]
    fn noise_of_two_per_cent_moves_it_by_one_point_at_most() {
        let mut noise = Noise::new(42);
        let mut exact = 0;
        for _ in 0..500 {
            let rates: Vec<f64> = DEPTHS.iter().map(|d| 1000.0 * d.min(16.0) * (1.0 + 0.02 * noise.normal())).collect();
            let Some(KneeAt::Point(at)) = of(&rates) else { panic!("no knee in {rates:?}") };
            assert!(at.abs_diff(4) <= 1, "{at}: {rates:?}");
            exact += u32::from(at == 4);
        }
        assert!(exact >= 495, "{exact} of 500");
    }

    #[test]
    fn what_is_no_curve_has_no_knee() {
        assert_eq!(knee(&[(1.0, 1.0), (2.0, 2.0)], 0.1), None);
        assert_eq!(knee(&[(1.0, 1.0), (1.0, 2.0), (2.0, 2.0)], 0.1), None);
        assert_eq!(knee(&[(1.0, 1.0), (2.0, f64::NAN), (4.0, 2.0)], 0.1), None);
        assert_eq!(knee(&[(1.0, 0.0), (2.0, 1.0), (4.0, 2.0)], 0.1), None);
    }
}
