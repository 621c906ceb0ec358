//! Comparisons with known answers.

use super::*;
use crate::fixture::lines;
use model::{Better, ExperimentPlace, Metric, MetricStatus, PhaseKind, PhasePlan, PhaseRun, Reason, RunState, Unit};
use test_runs::Draw;

/// A seeded source of normal deviates (sum of twelve uniforms).
pub(super) struct Noise(pub(super) Draw);

impl Noise {
    pub(super) fn uniform(&mut self) -> f64 {
        (self.0.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

pub(crate) fn rate(id: &str, value: f64) -> Metric {
    Metric::measured(id, Unit::BytesPerS, Some(Better::Higher), value, 1000)
}

pub(crate) fn run(metrics: Vec<Metric>, place: Option<ExperimentPlace>) -> Run {
    let plan = PhasePlan { name: "p".into(), kind: PhaseKind::Measure, ..PhasePlan::default() };
    let phase = PhaseRun { record: None, ..test_runs::measured(plan, Default::default(), metrics) };
    Run { command: "run".into(), experiment: place, ..test_runs::run(vec![phase]) }
}

pub(super) fn place(arm: &str, pair: u32) -> Option<ExperimentPlace> {
    Some(ExperimentPlace { id: "x".into(), arm: arm.into(), pair, order: Some(2 * pair), seed: Some(7) })
}

/// Pairs of runs in which B is `ratio` times A, with noise of `sigma`, as a ratio.
pub(super) fn pairs(n: u32, ratio: f64, sigma: f64, seed: u64) -> (Vec<Run>, Vec<Run>) {
    let mut noise = Noise(Draw(seed));
    let mut one = |arm: &str, pair, truth: f64| {
        run(vec![rate("p.throughput_bytes_per_s", truth * (1.0 + sigma * noise.normal()))], place(arm, pair))
    };
    (0..n).map(|i| (one("a", i, 1e8), one("b", i, 1e8 * ratio))).unzip()
}

pub(super) fn first(a: &[Run], b: &[Run], asked: &Asked) -> Compared {
    compare(a, b, asked).metrics.into_iter().next().expect("a metric")
}

#[test]
fn a_clear_difference_is_better_or_worse_by_direction() {
    let (a, b) = pairs(10, 1.2, 0.02, 1);
    let c = first(&a, &b, &Asked::default());
    assert_eq!((c.verdict, c.basis, c.primary), (Verdict::Better, Basis::Paired, true));
    assert!((c.ratio.unwrap() - 1.2).abs() < 0.03 && c.low.unwrap() < 1.2 && c.high.unwrap() > 1.2, "{c:?}");
    assert_eq!(first(&b, &a, &Asked::default()).verdict, Verdict::Worse);
    assert_eq!(compare(&b, &a, &Asked::default()).overall, Verdict::Worse);
    let latency = |runs: Vec<Run>| -> Vec<Run> {
        let turn = |mut r: Run| {
            r.phases[0].metrics[0].better = Some(Better::Lower);
            r
        };
        runs.into_iter().map(turn).collect()
    };
    assert_eq!(first(&latency(a), &latency(b), &Asked::default()).verdict, Verdict::Worse);
}

#[test]
fn a_small_difference_is_the_same_and_a_real_one_inside_the_margin_is_called_negligible() {
    let (a, b) = pairs(10, 1.01, 0.02, 2);
    assert_eq!(first(&a, &b, &Asked::default()).verdict, Verdict::Same);
    let (a, b) = pairs(10, 1.01, 0.001, 3);
    let c = first(&a, &b, &Asked::default());
    assert_eq!(c.verdict, Verdict::Same);
    assert!(c.reasons.iter().any(|r| r.is("negligible")), "{:?}", c.reasons);
    // With a margin below the difference it is better.
    assert_eq!(first(&a, &b, &Asked { margin_percent: Some(0.3), ..Asked::default() }).verdict, Verdict::Better);
}

#[test]
fn noise_is_unclear_and_says_how_many_pairs_would_decide() {
    let (a, b) = pairs(10, 1.02, 0.15, 4);
    let c = first(&a, &b, &Asked::default());
    assert_eq!(c.verdict, Verdict::Unclear);
    assert!(c.pairs_needed.is_some_and(|n| n > 10), "{c:?}");
    // Five pairs can reject nothing, however clear they are.
    let (a, b) = pairs(5, 1.5, 0.01, 5);
    let c = first(&a, &b, &Asked::default());
    assert_eq!(c.verdict, Verdict::Unclear);
    assert!(c.reasons.iter().any(|r| r.is("too-few-pairs")), "{:?}", c.reasons);
}

#[test]
fn the_least_number_of_pairs_follows_the_number_of_questions() {
    assert_eq!((least_pairs(1, 0.05), least_pairs(10, 0.05)), (6, 9));
}

/// Sets whose runs were made at one a minute, all of A before all of B.
fn sets(n: u32, ratio: f64, sigma: f64, seed: u64) -> (Vec<Run>, Vec<Run>) {
    let (mut a, mut b) = pairs(n, ratio, sigma, seed);
    a.iter_mut().chain(&mut b).enumerate().for_each(|(minute, r)| {
        r.experiment = None;
        r.sessions = vec![model::Session {
            started: format!("2026-11-24T05:{minute:02}:00Z"),
            ended: None,
            boot_id: Some("one".into()),
            clock_step_ns: None,
        }];
    });
    (a, b)
}

fn codes(reasons: &[Reason]) -> Vec<&str> {
    reasons.iter().filter_map(Reason::code).collect()
}

#[test]
fn sets_that_were_not_randomised_have_a_verdict_and_no_cause() {
    let (a, b) = sets(10, 1.5, 0.01, 6);
    let comparison = compare(&a, &b, &Asked::default());
    let c = &comparison.metrics[0];
    assert_eq!(
        (c.verdict, c.basis, comparison.cause),
        (Verdict::Better, Basis::Unpaired, Some(model::Attribution::NotShown))
    );
    assert!((c.ratio.unwrap() - 1.5).abs() < 0.03 && c.low.is_some());
    assert_eq!(codes(&comparison.cause_reasons), ["not-randomised", "in-blocks", "no-drift"]);
    assert_eq!((comparison.question.pairs, comparison.question.seed), (0, None));
    assert_eq!(compare(&b, &a, &Asked::default()).overall, Verdict::Worse);
    // Ten and nine, six times apart.
    assert_eq!(compare(&b[..9], &a, &Asked::default()).metrics[0].verdict, Verdict::Worse);
    let (a, b) = sets(10, 1.01, 0.01, 7);
    assert_eq!(first(&a, &b, &Asked::default()).verdict, Verdict::Same);
    let (a, b) = pairs(10, 1.5, 0.01, 6);
    assert_eq!(compare(&a, &b, &Asked::default()).cause, Some(model::Attribution::Randomised));
}

#[test]
fn sets_too_small_or_too_noisy_say_how_many_runs_would_decide() {
    let (a, b) = sets(10, 1.02, 0.15, 4);
    let c = first(&a, &b, &Asked::default());
    assert!(c.verdict == Verdict::Unclear && c.pairs_needed.is_some_and(|n| n > 10), "{c:?}");
    // Of three and three, wholly apart, p is 0.1; four and four give 0.029.
    let (a, b) = sets(3, 1.5, 0.01, 5);
    let c = first(&a, &b, &Asked::default());
    assert_eq!((c.verdict, c.pairs_needed), (Verdict::Unclear, Some(4)));
    assert!(codes(&c.reasons).contains(&"too-few-runs"), "{:?}", c.reasons);
    let (a, b) = sets(4, 1.5, 0.01, 5);
    assert_eq!(first(&a, &b, &Asked::default()).verdict, Verdict::Better);
}

#[test]
fn temperatures_that_differ_or_drift_are_told_with_the_cause() {
    let (mut a, mut b) = sets(10, 1.2, 0.01, 12);
    let warm = |run: &mut Run, degrees: i64| {
        let temperatures = vec![model::Temperature { name: "nvme".into(), millidegrees_c: degrees * 1000 }];
        run.samples = vec![model::SystemSample { temperatures, ..Default::default() }];
    };
    a.iter_mut().enumerate().for_each(|(i, run)| warm(run, 40 + 2 * i as i64));
    b.iter_mut().for_each(|run| warm(run, 70));
    let reasons = compare(&a, &b, &Asked::default()).cause_reasons;
    assert!(
        reasons.iter().any(|r| r.is("temperature") && r.to_string().contains("49 C in A and at 70 C in B")),
        "{reasons:?}"
    );
    let drift: Vec<&Reason> = reasons.iter().filter(|r| r.is("temperature-drift")).collect();
    assert!(drift.len() == 1 && drift[0].text().contains("rose by 18 C over the 10 runs of A"), "{reasons:?}");
}

#[test]
fn a_trend_within_a_set_is_told_with_what_it_may_explain() {
    let (mut a, b) = sets(10, 1.2, 0.002, 11);
    // A fell by 30 % while it was made, and B goes on from there.
    for (i, run) in a.iter_mut().enumerate() {
        run.phases[0].metrics[0].value = Some(1.5e8 * (1.0 - 0.03 * i as f64));
    }
    let comparison = compare(&a, &b, &Asked::default());
    let drift: Vec<(&str, u32)> = comparison.drift.iter().map(|d| (d.side.as_str(), d.runs)).collect();
    assert_eq!(drift, [("a", 10)]);
    assert!((comparison.drift[0].change_percent + 27.0).abs() < 2.0, "{:?}", comparison.drift);
    assert!(comparison.cause_reasons.iter().any(|r| r.is("drift") && r.to_string().contains("enough to make")));
    // No times, no order: that is said, and not that there is no drift.
    a.iter_mut().for_each(|r| r.sessions.clear());
    let comparison = compare(&a, &b[..4], &Asked::default());
    assert_eq!(codes(&comparison.cause_reasons), ["not-randomised", "order-unknown", "drift-unknown"]);
}

#[test]
fn a_reboot_between_the_sets_is_told() {
    let (a, mut b) = sets(6, 1.2, 0.01, 12);
    b.iter_mut().for_each(|r| r.sessions[0].boot_id = Some("two".into()));
    assert!(codes(&compare(&a, &b, &Asked::default()).cause_reasons).contains(&"rebooted"));
}

#[test]
fn a_side_of_different_plans_is_told() {
    let (a, mut b) = sets(6, 1.2, 0.01, 13);
    b[0].phases[0].plan.name = "p".into();
    b[0].plan.phases = vec![PhasePlan { name: "other".into(), ..PhasePlan::default() }];
    let reasons = compare(&a, &b, &Asked::default()).reasons;
    assert!(
        reasons.iter().any(|r| r.to_string().starts_with("different-plans: the 6 runs of B are of 2 plans")),
        "{reasons:?}"
    );
}

#[test]
fn processors_are_compared_by_operation_and_by_gb() {
    // 44 times the operations for 44 times the processor.
    let one = |factor: f64| {
        let cpu = Metric::measured("p.cpu_percent", Unit::Percent, Some(Better::Lower), 2.0 * factor, 1);
        let iops = Metric::measured("p.iops", Unit::OpsPerS, Some(Better::Higher), 1000.0 * factor, 1);
        run(vec![rate("p.throughput_bytes_per_s", 4e6 * factor), iops, cpu], None)
    };
    let (a, b): (Vec<Run>, Vec<Run>) = (0..8).map(|i| (one(1.0 + f64::from(i) / 100.0), one(44.0))).unzip();
    let metrics = compare(&a, &b, &Asked::default()).metrics;
    let of = |id: &str| metrics.iter().find(|m| m.id == id).unwrap();
    assert_eq!(of("p.iops").verdict, Verdict::Better);
    assert!(codes(&of("p.cpu_percent").reasons).contains(&"not-judged"));
    let cost = of("p.cpu_ns_per_op");
    assert!((cost.a.unwrap() - 20_000.0).abs() < 1e-6 && cost.verdict == Verdict::Same, "{cost:?}");
    assert!((of("p.cpu_s_per_gb").b.unwrap() - 5.0).abs() < 1e-9);
}

#[test]
fn nothing_on_both_sides_is_the_same() {
    let none = |n: u32| -> Vec<Run> { (0..n).map(|_| run(vec![rate("p.iops", 0.0)], None)).collect() };
    for n in [1, 6] {
        let c = first(&none(n), &none(n), &Asked::default());
        assert_eq!(
            (c.verdict, c.reasons.as_slice()),
            (Verdict::Same, [Reason::of("both-zero", "both are zero")].as_slice())
        );
    }
    let some = [run(vec![rate("p.iops", 5.0)], None)];
    assert!(codes(&first(&none(1), &some, &Asked::default()).reasons).contains(&"zero"));
}

#[test]
fn all_together_are_counts_with_the_largest_of_each_direction() {
    let one = |b: bool, noise: f64| {
        let value = |ratio: f64| 1e8 * if b { ratio } else { 1.0 } * (1.0 + noise);
        let rates = [("a.iops", 1.2), ("b.iops", 3.0), ("c.iops", 0.5), ("d.iops", 1.0)];
        let mut run = run(Vec::new(), None);
        let phase = run.phases[0].clone();
        run.phases =
            rates.map(|(id, ratio)| PhaseRun { metrics: vec![rate(id, value(ratio))], ..phase.clone() }).into();
        run
    };
    let (a, b): (Vec<Run>, Vec<Run>) =
        (0..8).map(|i| (one(false, f64::from(i) / 1e3), one(true, f64::from(i) / 1e3))).unzip();
    let counts = compare(&a, &b, &Asked::default()).counts;
    assert_eq!((counts.better, counts.worse, counts.same, counts.unclear), (2, 1, 1, 0));
    assert_eq!((counts.largest_better.as_deref(), counts.largest_worse.as_deref()), (Some("b.iops"), Some("c.iops")));
}

#[test]
fn single_runs_are_never_better_or_worse() {
    let one = |v: f64, worst: f64| {
        let latency = Metric::measured("p.latency_ns_max", Unit::Ns, Some(Better::Lower), worst, 1);
        let cpu = Metric::measured("p.cpu_percent", Unit::Percent, Some(Better::Lower), v / 1e6, 1);
        vec![run(vec![rate("p.throughput_bytes_per_s", v), latency, cpu], None)]
    };
    let of = |a: (f64, f64), b: (f64, f64), asked: &Asked| -> Vec<Option<bool>> {
        let comparison = compare(&one(a.0, a.1), &one(b.0, b.1), asked);
        assert!(comparison.metrics.iter().all(|m| m.verdict == Verdict::Unclear && m.basis == Basis::Single));
        let own = comparison.metrics.iter().filter(|m| !m.id.ends_with("cpu_s_per_gb"));
        own.map(|m| m.beyond_noise).collect()
    };
    let plain = Asked::default();
    assert_eq!(of((1e6, 1e6), (1.049e6, 2.9e6), &plain), [Some(false), Some(false), None]);
    assert_eq!(of((1e6, 1e6), (1.051e6, 3.1e6), &plain), [Some(true), Some(true), None]);
    assert_eq!(of((1.051e6, 3.1e6), (1e6, 1e6), &plain), [Some(true), Some(true), None]);
    let known = Asked { noise_floor: [("p.throughput_bytes_per_s".to_owned(), 0.2)].into(), ..Asked::default() };
    assert_eq!(of((1e6, 1e6), (1.15e6, 1e6), &known), [Some(false), Some(false), None]);
}

#[test]
fn what_cannot_carry_the_question_is_invalid() {
    let (mut a, b) = pairs(10, 1.2, 0.02, 8);
    for r in &mut a[..9] {
        r.phases[0].metrics[0].refuse(&[Reason::of("foreign-traffic", "others")]);
    }
    let c = first(&a, &b, &Asked::default());
    assert_eq!(c.verdict, Verdict::Invalid);
    assert!(
        c.reasons.iter().any(|r| r.to_string().contains("foreign-traffic") && r.to_string().contains("9 of 20")),
        "{:?}",
        c.reasons
    );
    let (mut a, b) = pairs(10, 1.2, 0.02, 8);
    a.iter_mut().for_each(|r| r.phases[0].metrics[0].unit = Unit::OpsPerS);
    assert_eq!(first(&a, &b, &Asked::default()).verdict, Verdict::Invalid);
    let (mut a, b) = pairs(10, 1.2, 0.02, 8);
    a[0].phases[0].metrics[0].value = Some(f64::NAN);
    a[1].phases[0].metrics[0].value = Some(0.0);
    assert_eq!(first(&a, &b, &Asked::default()).verdict, Verdict::Invalid);
    let none =
        compare(&[run(vec![rate("x.iops", 1.0)], None)], &[run(vec![rate("y.iops", 1.0)], None)], &Asked::default());
    assert!(
        none.metrics.is_empty()
            && none.overall == Verdict::Invalid
            && none.reasons[0].to_string().starts_with("nothing-in-common")
    );
    assert_eq!(compare(&[], &[], &Asked::default()).overall, Verdict::Invalid);
    let skipped = Metric::absent(
        "p.iops",
        Unit::OpsPerS,
        Some(Better::Higher),
        MetricStatus::Skipped,
        Reason::of("budget", "1 s left"),
    );
    let c = first(&[run(vec![skipped], None)], &[run(vec![rate("p.iops", 1.0)], None)], &Asked::default());
    assert_eq!(c.verdict, Verdict::Invalid);
}

#[test]
fn one_run_against_many_is_single() {
    let (a, b) = pairs(10, 1.2, 0.02, 9);
    let c = first(&a[..1], &b, &Asked::default());
    assert_eq!((c.basis, c.verdict, c.beyond_noise), (Basis::Single, Verdict::Unclear, Some(true)));
}

#[test]
fn a_kernel_that_differs_is_said() {
    let (a, mut b) = pairs(6, 1.0, 0.01, 10);
    b.iter_mut().for_each(|r| r.environment.kernel = Some("6.12".into()));
    let differences = compare(&a, &b, &Asked::default()).environment_differences;
    assert_eq!((differences.len(), differences[0].what.as_str()), (1, "kernel"));
    assert_eq!(differences[0].b, ["6.12"]);
}

#[test]
fn false_alarms_stay_at_alpha_without_a_difference() {
    // Independent noise, and a drift of 5 % over the session that both arms of a pair share in random order.
    for drift in [0.0, 0.05] {
        let mut wrong = 0;
        for seed in 0..400 {
            let mut noise = Noise(Draw(seed * 7919 + 1));
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for pair in 0..10u32 {
                let swapped = noise.uniform() < 0.5;
                let mut at = |position: u32, arm| {
                    let truth = 1e8 * (1.0 + drift * f64::from(2 * pair + position) / 20.0);
                    let value = truth * (1.0 + 0.03 * noise.normal());
                    run(vec![rate("p.throughput_bytes_per_s", value)], place(arm, pair))
                };
                a.push(at(u32::from(swapped), "a"));
                b.push(at(u32::from(!swapped), "b"));
            }
            let verdict = first(&a, &b, &Asked { margin_percent: Some(0.01), ..Asked::default() }).verdict;
            wrong += u32::from(matches!(verdict, Verdict::Better | Verdict::Worse));
        }
        // 400 at 0.05: mean 20, three standard deviations above are 33.
        assert!(wrong <= 33, "{wrong} of 400 with drift {drift}");
    }
}

#[test]
fn an_arm_differs_from_itself_by_noise_only() {
    let (a, b) = pairs(10, 1.2, 0.01, 3);
    assert_eq!(compare(&a, &b, &Asked::default()).overall, Verdict::Better);
    let same = compare(&a, &b, &Asked { same_arm: true, ..Asked::default() });
    assert_eq!(same.overall, Verdict::Unclear);
    assert!(same.metrics[0].reasons.iter().any(|r| r.is("same-arm")), "{:?}", same.metrics[0].reasons);
}

#[test]
fn a_paced_phase_is_asked_for_its_latency() {
    let with = |latency: f64| {
        let mean = Metric::measured("p.latency_ns_mean", Unit::Ns, Some(Better::Lower), latency, 1000);
        let mut run = run(vec![rate("p.throughput_bytes_per_s", 1e6), mean], None);
        run.phases[0].plan.streams = vec![model::StreamPlan::default()];
        run
    };
    let primary = |a: Run, b: Run| -> Vec<String> {
        let metrics = compare(&[a], &[b], &Asked::default()).metrics;
        metrics.into_iter().filter(|m| m.primary).map(|m| m.id).collect()
    };
    assert_eq!(primary(with(1e6), with(2e6)), ["p.throughput_bytes_per_s"]);
    let paced = |latency| {
        let mut run = with(latency);
        run.phases[0].plan.streams[0].timing.pacing = Some(model::Pacing::default());
        run
    };
    assert_eq!(primary(paced(1e6), paced(2e6)), ["p.latency_ns_mean"]);
}

#[test]
fn fill_levels_that_are_far_apart_are_told() {
    let filled = |percent: i64| {
        let mut run = run(vec![rate("p.throughput_bytes_per_s", 1e6)], None);
        let mut layer = model::Layer::new(model::LayerKind::Filesystem, "ext4");
        layer.set("fill_percent", percent);
        run.target.stack.layers = vec![layer].into();
        run
    };
    let told = |a, b| environment_differences(&[filled(a)], &[filled(b)]).into_iter().find(|d| d.what == "fill level");
    assert_eq!(told(50, 55), None);
    assert_eq!(told(50, 95).map(|d| (d.a, d.b)), Some((vec!["50 %".to_owned()], vec!["95 %".to_owned()])));
}

#[test]
fn equal_ratios_are_ties_whatever_the_rounding_of_their_logarithms() {
    // Doubled or halved, of amounts whose logarithms differ: by hand, signed ranks of six differences of one size.
    let amounts = [3.0, 0.7, 1e9, 12_345.678, 1.1e-3, 97.3];
    let factors = [2.0, 2.0, 2.0, 2.0, 2.0, 0.5];
    let one = |arm: &str, pair: usize, value| run(vec![rate("p.iops", value)], place(arm, pair as u32));
    let a: Vec<Run> = amounts.iter().enumerate().map(|(i, v)| one("a", i, *v)).collect();
    let b: Vec<Run> = amounts.iter().zip(factors).enumerate().map(|(i, (v, f))| one("b", i, v * f)).collect();
    let c = first(&a, &b, &Asked::default());
    // All ranks are 3.5; of the 64 sign patterns 14 have at most one sign apart from the others.
    assert!((c.p.unwrap() - 14.0 / 64.0).abs() < 1e-12, "{c:?}");
    assert!((c.ratio.unwrap() - 2.0).abs() < 1e-9, "{c:?}");
    // 0.1 + 0.2 is 0.3.
    let same = |pair| (one("a", pair, 0.1 + 0.2), one("b", pair, 0.3));
    let (a, b): (Vec<Run>, Vec<Run>) = (0..10).map(same).unzip();
    assert_eq!(first(&a, &b, &Asked::default()).p, Some(1.0));
}

#[test]
fn what_is_not_compared_is_said() {
    let (mut a, b) = pairs(10, 1.0, 0.01, 9);
    a.push(run(vec![rate("p.throughput_bytes_per_s", 1e8)], None));
    a[0].phases[0].metrics.push(rate("mix.read.iops", 5.0));
    let comparison = compare(&a, &b, &Asked::default());
    assert_eq!(
        lines(&comparison.reasons),
        ["only-in-a: mix.read.iops", "left-out: 1 of the runs belong to no pair that both sides have"]
    );
    let alone = compare_one(
        &a.iter().collect::<Vec<_>>(),
        &b.iter().collect::<Vec<_>>(),
        "p.throughput_bytes_per_s",
        &Asked::default(),
    )
    .unwrap();
    let among = comparison.metrics.iter().find(|m| m.id == alone.id).unwrap();
    assert_eq!((alone.ratio, alone.verdict, alone.primary), (among.ratio, among.verdict, true));
}

#[test]
fn what_failed_is_no_result_and_what_did_not_end_is_said() {
    let one = |value| run(vec![rate("a.read.iops", value)], None);
    let mut failed = one(2e8);
    failed.state = RunState::Failed;
    failed.phases[0].metrics[0].reasons.push(Reason::of("failed", "the job ended with error 5"));
    let comparison = compare(&[one(1e8)], &[failed], &Asked::default());
    assert_eq!((comparison.metrics[0].verdict, comparison.metrics[0].b), (Verdict::Invalid, None));
    assert_eq!(lines(&comparison.metrics[0].reasons), ["failed: the job ended with error 5 (in 1 of 2 runs)"]);
    assert_eq!(lines(&comparison.reasons), ["incomplete: 1 of the runs of B: failed"]);
    let mut interrupted = one(2e8);
    interrupted.state = RunState::Interrupted;
    let comparison = compare(&[interrupted], &[one(1e8)], &Asked::default());
    assert_eq!((comparison.metrics[0].beyond_noise, comparison.reasons.len()), (Some(true), 1));
}

#[test]
fn both_sides_are_shown_by_the_pairs_that_the_change_is_from() {
    let (mut a, mut b) = pairs(12, 1.067, 0.001, 11);
    // Half of A ran while the machine was slow and half while it was fast; of the fast pairs B was refused.
    for run in a.iter_mut().chain(&mut b).filter(|r| r.experiment.as_ref().is_some_and(|p| p.pair >= 9)) {
        let metric = &mut run.phases[0].metrics[0];
        metric.value = metric.value.map(|v| v * 10.0);
    }
    b[9..].iter_mut().for_each(|r| r.phases[0].metrics[0].refuse(&[Reason::of("steal", "9 %")]));
    a[..2].iter_mut().for_each(|r| r.phases[0].metrics[0].refuse(&[Reason::of("steal", "9 %")]));
    let c = first(&a, &b, &Asked::default());
    let (shown_a, shown_b, ratio) = (c.a.unwrap(), c.b.unwrap(), c.ratio.unwrap());
    assert!((shown_b / shown_a / ratio - 1.0).abs() < 0.01, "{shown_a} {shown_b} {ratio}");
    assert!((ratio - 1.067).abs() < 0.01, "{ratio}");
}

#[test]
fn imported_jobs_with_other_options_are_told_first() {
    let imported = |depth: &str| {
        let mut run = run(vec![rate("j.iops", 1e4)], None);
        run.target.kind = model::TargetKind::Foreign;
        run.remarks = vec!["imported".into(), model::job_options::remark("j", &format!("rw=randread bs=4k {depth}"))];
        run
    };
    let differences = |a: &str, b: &str| environment_differences(&[imported(a)], &[imported(b)]);
    let found = differences("iodepth=8", "iodepth=1");
    assert_eq!(found[0].what, model::job_options::DIFFERENCE);
    assert_eq!(
        (found[0].a.as_slice(), found[0].b.as_slice()),
        (["iodepth=8".to_owned()].as_slice(), ["iodepth=1".to_owned()].as_slice())
    );
    // What fio does where nothing is said is no difference.
    for (a, b) in [("iodepth=8", "iodepth=8"), ("iodepth=1", ""), ("", "direct=0 numjobs=1")] {
        assert!(differences(a, b).iter().all(|d| d.what != model::job_options::DIFFERENCE), "{a} {b}");
    }
    assert_eq!(differences("direct=1", "")[0].b, ["direct=0"]);
}
