//! The check-up is a workload like any other, and its plan is what it always was.

use model::{BufferPages, IoPath, PhasePlan, Plan, Reason, StopRule, StreamPlan, Sync, TargetKind};
use spec::{Probe, Readiness, ResolveError, RunInputs, TextInputs, TextMachine, Workload, built_in, parse_workload};
use std::collections::BTreeMap;

const S: u64 = 1_000_000_000;
/// Plans of the version before the check-up was a text in the common language: what they are for, and their JSON. One value is
/// another: the copy of a simulated check has the engine `memory` since copies are a device.
const BEFORE: &str = include_str!("../check_plans.txt");

fn inputs() -> RunInputs {
    RunInputs {
        kind: TargetKind::Directory,
        readiness: Readiness::Writable,
        max_bytes: 1 << 40,
        sector_bytes: 512,
        memory_bytes: Some(8 << 30),
        seed: 7,
        probe: Probe { used_ns: S / 10, bytes_per_s: Some(60e6), round_bytes_per_s: None, ..Probe::default() },
        packages: None,
    }
}

fn check(seconds: u64) -> Workload {
    built_in("check", &[("budget".into(), format!("{seconds}s"))]).unwrap()
}

/// What the plan takes if layout runs at the probe's rate.
fn planned_ns(plan: &Plan) -> u64 {
    let layout_ns = plan.size.bytes * S / 60_000_000;
    let live: Vec<&PhasePlan> = plan.phases.iter().filter(|p| p.skip.is_none()).collect();
    let measured = live.iter().filter(|p| p.measures_target()).count() as u64;
    let phase_ns = |p: &PhasePlan| if p.name == "layout" { p.time_limit_ns.min(layout_ns) } else { p.time_limit_ns };
    live.iter().map(|p| phase_ns(p)).sum::<u64>() + (measured + 1) * plan.quiet_ns
}

#[test]
fn the_plan_is_that_of_before() {
    let used = |(kind, readiness, budget_s, max_bytes, bytes_per_s, round_bytes_per_s)| {
        let probe = Probe { used_ns: 123_456_789, bytes_per_s, round_bytes_per_s, ..Probe::default() };
        let plan = check(budget_s).plan(&RunInputs { kind, readiness, max_bytes, probe, ..inputs() }).unwrap();
        serde_json::to_value(plan).unwrap()
    };
    let read_only = || Readiness::ReadOnly("no".into());
    let cases = [
        (TargetKind::Directory, Readiness::Writable, 60, 1 << 40, Some(60e6), None),
        (TargetKind::File, read_only(), 20, (100 << 20) + 4096, None, None),
        (TargetKind::BlockDevice, Readiness::Writable, 5, 2 << 30, Some(2e9), Some(3e6)),
        (TargetKind::Null, Readiness::Writable, 2, 1 << 40, None, None),
        (TargetKind::Sim, Readiness::Writable, 300, 2 << 30, Some(1e6), Some(5e5)),
    ];
    let plans: Vec<&str> = BEFORE.lines().skip(1).step_by(2).collect();
    assert_eq!(plans.len(), cases.len());
    for (case, before) in cases.into_iter().zip(plans) {
        assert_eq!(used(case), serde_json::from_str::<serde_json::Value>(before).unwrap());
    }
}

#[test]
fn a_plan_fits_its_budget_and_skips_from_the_least_important() {
    for seconds in [2, 3, 5, 8, 10, 20, 60, 600] {
        let plan = check(seconds).plan(&inputs()).unwrap();
        assert!(planned_ns(&plan) <= seconds * S, "{seconds} s: {}", planned_ns(&plan));
        if plan.phase("seq-read").unwrap().skip.is_some() {
            assert!(plan.phase("rand-write-qd32").unwrap().skip.is_some());
        }
    }
    assert!(check(60).plan(&inputs()).unwrap().phases.iter().all(|p| p.skip.is_none()));
}

#[test]
fn too_short_a_budget_is_an_error_that_names_the_least() {
    let error = check(1).plan(&inputs()).unwrap_err();
    assert!(error.to_string().contains("the shortest useful one is 1.6 s"), "{error}");
    assert!(built_in("check", &[("budget".into(), "0s".into())]).is_err());
    let tiny = check(60).plan(&RunInputs { max_bytes: 1000, ..inputs() }).unwrap_err();
    assert!(matches!(tiny, ResolveError::Nothing { bytes: 1000, .. }), "{tiny}");
}

#[test]
fn a_read_only_target_skips_every_write_with_the_reason() {
    let plan = check(60).plan(&RunInputs { readiness: Readiness::ReadOnly("no".into()), ..inputs() }).unwrap();
    for phase in &plan.phases {
        assert_eq!(phase.skip, phase.is_write().then(|| "no".into()), "{}", phase.name);
    }
}

fn own(text: &str) -> Workload {
    let (includes, variables) = (BTreeMap::new(), BTreeMap::new());
    let machine = TextMachine { page_size_bytes: 4096, memory_bytes: 0, processors: 1 };
    let file = "own.toml";
    let set = &[];
    parse_workload(&TextInputs { file, text, includes: &includes, set, variables: &variables, machine, lenient: false })
        .unwrap_or_else(|e| panic!("{e:?}"))
}

#[test]
fn a_user_writes_a_check_of_their_own() {
    let workload = own(r#"
        name = "mine"
        budget = "20s"
        layout-share = "50%"
        [[phase]]
        name = "big"
        access = "direct"
        depth = 4
        block-size = "256KiB"
        weight = 3
        priority = 1
        [[phase]]
        name = "log"
        operation = "write"
        durable = "round:4MiB"
        priority = 2
        [[phase]]
        name = "fixed"
        time = "1s"
    "#);
    let plan = workload.plan(&inputs()).unwrap();
    let names: Vec<&str> = plan.phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["layout", "big", "log", "fixed"], "what is read is prefilled first");
    assert_eq!((plan.budget_ns, plan.size.bytes), (20 * S, 256 << 20));
    let [layout, big, log, fixed] = &plan.phases[..] else { unreachable!() };
    assert_eq!(layout.time_limit_ns, 10 * S);
    assert!(matches!(big.stop, StopRule::EarlyWhenSteady { .. }));
    assert_eq!(
        (log.streams[0].durability.sync, log.streams[0].durability.round_bytes),
        (Sync::FsyncPerRound, Some(4 << 20))
    );
    assert_eq!((fixed.stop, fixed.time_limit_ns), (StopRule::Time, S), "a time is kept as it is said");
    assert!((big.time_limit_ns as f64 / log.time_limit_ns as f64 - 3.0).abs() < 0.01);
    assert!(planned_ns(&plan) <= 20 * S);
    // Too little for both: the one with the higher number goes.
    let short = own(
        "budget = '2s'\n[[phase]]\nname = 'a'\naccess = 'direct'\npriority = 9\n[[phase]]\nname = 'b'\naccess = 'direct'\n",
    );
    let inputs = RunInputs { probe: Probe { used_ns: S / 2, ..Probe::default() }, ..inputs() };
    let plan = short.plan(&RunInputs { kind: TargetKind::Null, ..inputs }).unwrap();
    let skipped = |name| plan.phase(name).unwrap().skip.clone();
    assert_eq!((skipped("a"), skipped("b")), (Some(Reason::of("budget", "2 s do not hold this phase")), None));
}

/// Sequential reads are measured both ways where requests of ordinary pages are split, and only there.
#[test]
fn reads_in_ordinary_pages_are_measured_where_they_are_split() {
    let plan = |page_request_bytes| {
        let probe = Probe { page_request_bytes, ..inputs().probe };
        check(60).plan(&RunInputs { probe, ..inputs() }).unwrap()
    };
    let (split, whole) = (plan(Some(254 * 4096)), plan(Some(256 * 4096)));
    assert_eq!(whole, plan(None));
    assert!(whole.phase("seq-read-pages").is_none());
    let (huge, pages) = (split.phase("seq-read").unwrap(), split.phase("seq-read-pages").unwrap());
    assert_eq!((huge.skip.as_ref(), pages.skip.as_ref()), (None, None));
    let (huge, pages) = (&huge.streams[0], &pages.streams[0]);
    assert_eq!((huge.path.buffers.pages, pages.path.buffers.pages), (BufferPages::Huge, BufferPages::Ordinary));
    let alike = StreamPlan {
        path: IoPath { buffers: pages.path.buffers, ..huge.path.clone() },
        seed: pages.seed,
        ..huge.clone()
    };
    assert_eq!(&alike, pages);
    let following = split.phases.iter().position(|p| p.name == "seq-read").unwrap() + 1;
    assert_eq!(split.phases[following].name, "seq-read-pages");
}
