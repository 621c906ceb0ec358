//! Rankings with known answers.

use super::*;
use crate::compare::tests::{rate, run};

fn target(name: &str, metrics: &[(&str, f64)]) -> TargetRuns {
    let metrics = metrics.iter().map(|(id, v)| rate(id, *v)).collect();
    TargetRuns { name: name.to_owned(), runs: vec![run(metrics, None)] }
}

#[test]
fn ties_are_by_noise_and_not_by_digits() {
    let targets =
        [("a", 100.0), ("b", 97.0), ("c", 80.0), ("d", 79.0), ("e", 10.0)].map(|(n, v)| target(n, &[("x.iops", v)]));
    let ranking = rank(&targets, None).unwrap();
    let places: Vec<u32> = ranking.targets.iter().map(|t| t.metrics[0].place.unwrap()).collect();
    assert_eq!(places, [1, 1, 3, 3, 5]);
    assert_eq!(ranking.targets[2].metrics[0].ratio_to_best, Some(0.8));
    assert!(ranking.reasons.iter().any(|r| r.starts_with("single: ")));
}

#[test]
fn what_has_no_direction_has_no_place_and_what_is_missing_has_no_value() {
    let mut targets = vec![target("a", &[("x.iops", 1.0), ("y.iops", 2.0)]), target("b", &[("x.iops", 3.0)])];
    targets[0].runs[0].phases[0].metrics[0].better = None;
    targets[1].runs[0].phases[0].metrics[0].better = None;
    let ranking = rank(&targets, None).unwrap();
    assert!(ranking.targets.iter().all(|t| t.metrics[0].place.is_none() && t.metrics[0].value.is_some()));
    assert_eq!((ranking.targets[0].metrics[1].place, ranking.targets[1].metrics[1].place), (Some(1), None));
    assert_eq!(rank(&targets, Some("z.iops")).unwrap_err(), ["x.iops", "y.iops"]);
}

#[test]
fn the_metric_that_gives_the_same_order_is_the_closest() {
    let work = [9.0, 7.5, 6.0, 5.0, 4.0, 3.2, 2.1, 1.0];
    let close = [1.0, 2.0, 3.5, 3.0, 5.0, 6.0, 7.0, 8.0];
    let far = [5.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0];
    let targets: Vec<TargetRuns> = (0..8)
        .map(|i| target(&format!("t{i}"), &[("work.s", work[i]), ("far.iops", far[i]), ("close.iops", close[i])]))
        .collect();
    let ranking = rank(&targets, Some("work.s")).unwrap();
    let p = &ranking.prediction;
    assert_eq!((p[0].predictor.as_str(), p[1].predictor.as_str(), p.len()), ("close.iops", "far.iops", 2));
    // One pair of 28 is not in the opposite order.
    assert!((p[0].tau.unwrap() + 26.0 / 28.0).abs() < 1e-12 && p[0].p.unwrap() < 0.001, "{:?}", p[0]);
    assert!((p[0].agreement.unwrap() - 1.0 / 28.0).abs() < 1e-12);
    let (low, high) = p[0].leave_one_out.unwrap();
    assert!(low <= -26.0 / 28.0 && high < 0.0 && p[0].most_influential.is_some());
    assert!(p[1].as_close_as_best_p.unwrap() < 0.2 && p[0].as_close_as_best_p.is_none(), "{:?}", p[1]);
    assert!(ranking.reasons.iter().any(|r| r.starts_with("few-targets: ")));
}

#[test]
fn two_predictors_that_differ_little_are_not_separated() {
    let targets: Vec<TargetRuns> = (0..8)
        .map(|i| {
            let x = f64::from(i);
            let y = if i == 3 { 4.5 } else { x };
            target(&format!("t{i}"), &[("work.s", 10.0 - x), ("a.iops", x), ("b.iops", y)])
        })
        .collect();
    let ranking = rank(&targets, Some("work.s")).unwrap();
    assert!(ranking.prediction[1].as_close_as_best_p.unwrap() > 0.3);
    assert!(ranking.reasons.iter().any(|r| r.starts_with("not-separated: ") && r.contains("b.iops")));
}

#[test]
fn few_targets_predict_nothing() {
    let targets: Vec<TargetRuns> =
        (0..4).map(|i| target(&format!("t{i}"), &[("w.s", f64::from(i)), ("x.iops", f64::from(i))])).collect();
    let ranking = rank(&targets, Some("w.s")).unwrap();
    assert_eq!(ranking.prediction[0].tau, None);
    assert!(ranking.prediction[0].reasons[0].starts_with("too-few-targets: "));
    assert!(ranking.reasons.iter().any(|r| r.starts_with("too-few-targets: ")));
}
