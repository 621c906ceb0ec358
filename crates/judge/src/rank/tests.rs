//! Rankings with known answers.

use super::*;
use crate::compare::tests::{rate, run};

fn target(name: &str, metrics: &[(&str, f64)]) -> TargetRuns {
    let metrics = metrics.iter().map(|(id, v)| rate(id, *v)).collect();
    TargetRuns { name: name.to_owned(), runs: vec![run(metrics, None)] }
}

fn predicting(id: &str) -> RankAsked {
    RankAsked { predicted: Some(id.to_owned()), ..RankAsked::default() }
}

#[test]
fn ties_are_by_noise_and_not_by_digits() {
    let targets =
        [("a", 100.0), ("b", 97.0), ("c", 80.0), ("d", 79.0), ("e", 10.0)].map(|(n, v)| target(n, &[("x.iops", v)]));
    let ranking = rank(&targets, &RankAsked::default()).unwrap();
    let places: Vec<u32> = ranking.targets.iter().map(|t| t.metrics[0].place.unwrap()).collect();
    assert_eq!(places, [1, 1, 3, 3, 5]);
    assert_eq!(ranking.targets[2].metrics[0].ratio_to_best, Some(0.8));
    assert!(ranking.reasons.iter().any(|r| r.is("single")));
}

#[test]
fn a_slowed_run_is_at_least_what_it_shows_and_never_worse_for_it() {
    let slow = |t: &mut TargetRuns| {
        let metric = &mut t.runs[0].phases[0].metrics[0];
        metric.refuse(&[Reason::of("steal", "the hypervisor took up to 9 % of a CPU's time")]);
        metric.bound = Some(Bound::AtLeast);
    };
    let places = |slowed: usize| {
        let mut targets = [("a", 300.0), ("b", 100.0)].map(|(n, v)| target(n, &[("x.iops", v)]));
        slow(&mut targets[slowed]);
        let ranking = rank(&targets, &RankAsked::default()).unwrap();
        let metric = &ranking.targets[slowed].metrics[0];
        assert_eq!(metric.bound, Some(Bound::AtLeast));
        assert!(metric.reasons[0].to_string().starts_with("slowed: 1 of 1 runs were slowed"), "{:?}", metric.reasons);
        ranking.targets.iter().map(|t| t.metrics[0].place.unwrap()).collect::<Vec<_>>()
    };
    let mut targets = [("a", 300.0), ("b", 100.0)].map(|(n, v)| target(n, &[("x.iops", v)]));
    slow(&mut targets[0]);
    let strict = rank(&targets, &RankAsked { strict: true, ..RankAsked::default() }).unwrap();
    assert_eq!((strict.targets[0].metrics[0].value, strict.targets[0].metrics[0].place), (None, None));
    assert_eq!(places(0), [1, 2], "the best although it was slowed");
    assert_eq!(places(1), [1, 1], "it may be as good");
}

#[test]
fn what_may_be_the_page_caches_has_no_place() {
    let mut targets = [("a", 300.0), ("b", 100.0), ("c", 90.0)].map(|(n, v)| target(n, &[("x.iops", v)]));
    targets[0].runs[0].phases[0].metrics[0].reasons.push(Reason::of("direct-unproven", "fuse"));
    let ranking = rank(&targets, &RankAsked::default()).unwrap();
    let places: Vec<_> = ranking.targets.iter().map(|t| (t.metrics[0].value.is_some(), t.metrics[0].place)).collect();
    assert_eq!(places, [(true, None), (true, Some(1)), (true, Some(2))]);
}

#[test]
fn runs_of_another_kind_and_refused_ones_make_no_ties() {
    let mut targets = [("a", 33.0), ("b", 1_900.0)].map(|(n, v)| target(n, &[("x.iops", v)]));
    for t in &mut targets {
        t.runs.push(run(vec![rate("install.time_s", 18.0)], None));
        t.runs.push(run(vec![rate("x.iops", 5.0)], None));
        t.runs[2].phases[0].metrics[0].refuse(&[Reason::of("steal", "9 %")]);
    }
    let ranking = rank(&targets, &RankAsked::default()).unwrap();
    let of = |i: usize| ranking.targets[i].metrics.iter().find(|m| m.id == "x.iops").unwrap();
    assert_eq!((of(0).place, of(1).place, of(0).value), (Some(2), Some(1), Some(33.0)));
    // Nothing is not the same as something.
    let targets = [("a", 0.0), ("b", 1_900.0)].map(|(n, v)| target(n, &[("x.iops", v)]));
    let ranking = rank(&targets, &RankAsked::default()).unwrap();
    let places: Vec<Option<u32>> = ranking.targets.iter().map(|t| t.metrics[0].place).collect();
    assert_eq!(places, [Some(2), Some(1)]);
}

#[test]
fn what_has_no_direction_has_no_place_and_what_is_missing_has_no_value() {
    let mut targets = vec![target("a", &[("x.iops", 1.0), ("y.iops", 2.0)]), target("b", &[("x.iops", 3.0)])];
    targets[0].runs[0].phases[0].metrics[0].better = None;
    targets[1].runs[0].phases[0].metrics[0].better = None;
    let ranking = rank(&targets, &RankAsked::default()).unwrap();
    assert!(ranking.targets.iter().all(|t| t.metrics[0].place.is_none() && t.metrics[0].value.is_some()));
    assert_eq!((ranking.targets[0].metrics[1].place, ranking.targets[1].metrics[1].place), (Some(1), None));
    let told = RankAsked { lower: vec!["x*".into()], ..RankAsked::default() };
    let places = rank(&targets, &told).unwrap().targets.into_iter().map(|t| t.metrics[0].place).collect::<Vec<_>>();
    assert_eq!(places, [Some(1), Some(2)]);
    let there_are = vec!["x.iops".to_owned(), "y.iops".to_owned()];
    for asked in [
        predicting("z.iops"),
        RankAsked { metrics: vec!["z.iops".into()], ..RankAsked::default() },
        RankAsked { predictors: vec!["z.iops".into()], ..predicting("x.iops") },
    ] {
        let error = RankError::UnknownMetric { asked: "z.iops".into(), there_are: there_are.clone() };
        assert_eq!(rank(&targets, &asked).unwrap_err(), error);
    }
    assert_eq!(rank(&targets[..1], &told).unwrap_err(), RankError::OneTarget(Some("a".into())));
    let empty = [target("a", &[]), target("b", &[])];
    assert_eq!(rank(&empty, &RankAsked::default()).unwrap_err(), RankError::NothingMeasured);
}

#[test]
fn metrics_stand_in_the_order_in_which_they_were_asked_for() {
    let ids = ["a.iops", "b.iops", "b2.iops", "c.iops"];
    let targets = ["x", "y"].map(|n| target(n, &ids.map(|id| (id, 1.0))));
    let shown = |metrics: &[&str]| -> Vec<String> {
        let metrics = metrics.iter().map(|m| (*m).to_owned()).collect();
        let ranking = rank(&targets, &RankAsked { metrics, ..RankAsked::default() }).unwrap();
        ranking.targets[0].metrics.iter().map(|m| m.id.clone()).collect()
    };
    assert_eq!(shown(&["c.iops", "b*", "a.iops"]), ["c.iops", "b.iops", "b2.iops", "a.iops"]);
    assert_eq!(shown(&[]), ids);
}

#[test]
fn the_metric_that_gives_the_same_order_is_the_closest() {
    let work = [9.0, 7.5, 6.0, 5.0, 4.0, 3.2, 2.1, 1.0];
    let close = [1.0, 2.0, 3.5, 3.0, 5.0, 6.0, 7.0, 8.0];
    let far = [5.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0];
    let targets: Vec<TargetRuns> = (0..8)
        .map(|i| target(&format!("t{i}"), &[("work.s", work[i]), ("far.iops", far[i]), ("close.iops", close[i])]))
        .collect();
    let ranking = rank(&targets, &predicting("work.s")).unwrap();
    let p = &ranking.prediction;
    assert_eq!((p[0].predictor.as_str(), p[1].predictor.as_str(), p.len()), ("close.iops", "far.iops", 2));
    // One pair of 28 is not in the opposite order.
    assert!((p[0].tau.unwrap() + 26.0 / 28.0).abs() < 1e-12 && p[0].p.unwrap() < 0.001, "{:?}", p[0]);
    assert!((p[0].agreement.unwrap() - 1.0 / 28.0).abs() < 1e-12);
    let (low, high) = p[0].leave_one_out.unwrap();
    assert!(low <= -26.0 / 28.0 && high < 0.0 && p[0].most_influential.is_some());
    assert!(p[1].as_close_as_best_p.unwrap() < 0.2 && p[0].as_close_as_best_p.is_none(), "{:?}", p[1]);
    assert!(ranking.reasons.iter().any(|r| r.is("few-targets")));
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
    let ranking = rank(&targets, &predicting("work.s")).unwrap();
    assert!(ranking.prediction[1].as_close_as_best_p.unwrap() > 0.3);
    assert!(ranking.reasons.iter().any(|r| r.is("not-separated") && r.to_string().contains("b.iops")));
}

#[test]
fn few_targets_predict_nothing() {
    let targets: Vec<TargetRuns> =
        (0..4).map(|i| target(&format!("t{i}"), &[("w.s", f64::from(i)), ("x.iops", f64::from(i))])).collect();
    let ranking = rank(&targets, &predicting("w.s")).unwrap();
    assert_eq!(ranking.prediction[0].tau, None);
    assert!(ranking.prediction[0].reasons[0].is("too-few-targets"));
    assert!(ranking.reasons.iter().any(|r| r.is("too-few-targets")));
}

/// The published table (eight cards, tkaiser's tests in the Armbian forum, 2018): columns of the fixture, work as the time
/// of the first installation.
fn cards() -> Vec<TargetRuns> {
    let text = include_str!("../../fixtures/sd-cards.csv");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let metrics = header
                .iter()
                .zip(&cells)
                .skip(2)
                .map(|(id, v)| Metric::measured(*id, Unit::Ratio, None, v.parse().unwrap(), 1));
            TargetRuns { name: cells[0].to_owned(), runs: vec![run(metrics.collect(), None)] }
        })
        .collect()
}

#[test]
fn eight_cards_show_what_they_can_and_no_more() {
    let ranking = rank(&cards(), &predicting("install_1_s")).unwrap();
    let of = |id: &str| ranking.prediction.iter().find(|p| p.predictor == id).unwrap();
    // scipy.stats.kendalltau, SciPy 1.17.1
    for (id, tau) in [
        ("read_iops_1k", -0.785_714_285_7),
        ("write_iops_1k", -0.714_285_714_3),
        ("write_iops_4k", -0.714_285_714_3),
        ("read_iops_16k", -0.714_285_714_3),
        ("write_iops_16k", -0.642_857_142_9),
        ("seq_write_mb_s", -0.5),
        ("read_iops_4k", -0.428_571_428_6),
    ] {
        assert!((of(id).tau.unwrap() - tau).abs() < 1e-9, "{:?}", of(id));
        assert!(!of(id).work && of(id).n == 8);
    }
    let order: Vec<(&str, bool)> = ranking.prediction.iter().map(|p| (p.predictor.as_str(), p.work)).collect();
    assert_eq!((order[0], order[8], order.len()), (("read_iops_1k", false), ("install_2_s", true), 11));
    for id in ["seq_write_mb_s", "seq_read_mb_s", "read_iops_4k"] {
        assert!(of(id).p_adjusted.unwrap() > 0.05, "{:?}", of(id));
    }
    for id in ["read_iops_1k", "read_iops_16k", "write_iops_1k", "write_iops_4k"] {
        assert!(of(id).p_adjusted.unwrap() < 0.05, "{:?}", of(id));
    }
    assert!(ranking.prediction.iter().filter(|p| !p.work).all(|p| p.as_close_as_best_p.is_none_or(|p| p > 0.05)));
    for code in ["closest: ", "not-shown: ", "not-separated: ", "few-targets: ", "one-target: ", "correlation: "] {
        assert!(ranking.reasons.iter().any(|r| r.to_string().starts_with(code)), "{code} {:#?}", ranking.reasons);
    }
    // Only the predictors that were asked for.
    let few = RankAsked { predictors: vec!["seq_*".into(), "boot_s".into()], ..predicting("install_1_s") };
    assert_eq!(rank(&cards(), &few).unwrap().prediction.len(), 3);
}
