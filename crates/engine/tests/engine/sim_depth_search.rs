//! The search for the depth at which latencies keep to a target, in simulated time: what is found is what the device's rate
//! implies.

use engine::{Control, Rig, SimRig};
use model::{
    Access, BlockPlan, EngineKind, IoPath, LatencyTarget, Limits, NS_PER_S, Ns, Order, PhasePlan, PhaseRecord,
    StopCause, StreamPlan,
};

/// Random reads of 4 KiB at up to this depth, with these limits.
fn run(depth: u32, limits: Limits) -> PhaseRecord {
    let mut model = spec::parse_sim("emmc").unwrap();
    // Each operation takes as long as the other.
    model.media.jitter_sigma = 0.0;
    let stream = StreamPlan {
        kind: BlockPlan { order: Order::Random, region_bytes: 64 << 20, ..BlockPlan::default() }.into(),
        path: IoPath { queue_depth: depth, ..IoPath::default() },
        limits,
        seed: 5,
        ..StreamPlan::default()
    };
    let phase = PhasePlan {
        name: "p".into(),
        engine: EngineKind::Sim,
        access: Access::Direct,
        streams: vec![stream],
        time_limit_ns: 100 * NS_PER_S,
        ..PhasePlan::default()
    }
    .alike();
    SimRig::new(model, 100_000_000).run(&phase, &Control::default()).unwrap()
}

/// Operations per second of the part that counts.
fn rate(record: &PhaseRecord) -> f64 {
    record.latency.count() as f64 * 1e9 / (record.duration_ns() - record.warmup.cut_ns) as f64
}

fn search(latency_ns: Ns, goes_on: bool) -> Limits {
    let target = LatencyTarget { latency_ns, percent_milli: 99_000, goes_on, ..LatencyTarget::default() };
    let time_limit_ns = goes_on.then_some(20 * NS_PER_S);
    Limits { latency_target: Some(target), time_limit_ns, ..Limits::default() }
}

#[test]
fn what_is_found_is_what_littles_law_says() {
    let plain = Limits { time_limit_ns: Some(5 * NS_PER_S), ..Limits::default() };
    let full = rate(&run(64, plain));
    for depth in [13, 24, 40] {
        // Where the device is busy all the time, latency is depth over rate.
        let latency_ns = ((f64::from(depth) + 0.5) / full * 1e9) as Ns;
        let record = run(64, search(latency_ns, false));
        let found = record.streams[0].depth_search.clone().expect("a search");
        assert_eq!((found.depth, record.stop), (Some(depth), StopCause::DepthFound), "{found:?}");
        let last = found.steps.last().unwrap();
        assert_eq!((last.depth, last.held), (depth, true));
        // What counts is the last window, at that depth only.
        assert!(record.latency.max() <= Some(latency_ns) && record.latency.count() <= last.operations, "{last:?}");
        assert!((rate(&record) / full - 1.0).abs() < 0.02, "{} instead of {full}", rate(&record));
        let on = run(64, search(latency_ns, true));
        let on_search = on.streams[0].depth_search.as_ref().expect("a search");
        assert_eq!((on_search.depth, on.stop), (Some(depth), StopCause::RegionDone));
        assert!(on.duration_ns() >= 20 * NS_PER_S, "it goes on");
    }
    let never = run(64, search(1_000, false));
    let search = never.streams[0].depth_search.as_ref().expect("a search");
    assert_eq!((search.depth, search.steps.len()), (Some(0), 1));
}

#[test]
fn an_operation_that_takes_too_long_ends_the_stream_with_an_error() {
    let longest = run(8, Limits { time_limit_ns: Some(NS_PER_S), ..Limits::default() }).latency.max().unwrap();
    let limits = |ns| Limits { max_latency_ns: Some(ns), time_limit_ns: Some(NS_PER_S), ..Limits::default() };
    assert!(run(8, limits(longest)).errors.is_empty());
    let record = run(8, limits(longest - 1));
    assert_eq!((record.stop, record.errors.get("ETIMEDOUT")), (StopCause::Failed, Some(&1)));
    assert!(record.duration_ns() < NS_PER_S);
}
