//! Runs for these tests.

pub use model::{Access, Operation, Order};
use model::{
    Bucket, Direction, DiskCounters, Histogram, Interval, Metric, Mix, NS_PER_S, PhasePlan, PhaseRecord, PhaseRun,
    PhaseStatus, Reason, Run, Session, StreamPlan, Sync, SystemSample, Unit, Warmup, WarmupCut, WorkerUsage,
};
use test_runs::Draw;
pub use test_runs::stream;

/// A phase of 2 s, the first 0.5 s of which are warm-up: 1,000 operations a second, each 1 ms, but for one of 50 ms.
pub fn phase(name: &str, access: Access, streams: Vec<StreamPlan>) -> PhaseRun {
    let block = streams[0].blocks().unwrap().block.block_size_bytes;
    let plan = PhasePlan {
        engine: model::EngineKind::IoUring,
        time_limit_ns: 2 * NS_PER_S,
        warmup: Warmup { min_ns: 0, share: 0.25, max_ns: NS_PER_S / 2 },
        ..test_runs::plan(name, access, streams)
    }
    .alike();
    let mut record = PhaseRecord {
        warmup: WarmupCut { rule: "a quarter".into(), cut_ns: NS_PER_S / 2, operations: 500, bytes: 500 * block },
        usage: WorkerUsage {
            user_ns: 20_000_000,
            system_ns: 100_000_000,
            voluntary_switches: 2000,
            involuntary_switches: 3,
            ..WorkerUsage::default()
        },
        ..test_runs::record(&plan, NS_PER_S)
    };
    test_runs::completed(&mut record, block, [100; 20]);
    record.latency.record_n(1_000_000, 1499);
    record.latency.record(50_000_000);
    for interval in &mut record.intervals {
        let latency = Some(1_000_000);
        *interval = Interval { latency_ns_p50: latency, latency_ns_p99: latency, latency_ns_max: latency, ..*interval };
    }
    let metric = |quantity: &str, unit, value: f64| {
        let id = format!("{name}.{quantity}");
        Metric::measured(id, unit, Some(model::Better::Higher), value, 1000).within_run(value * 0.99, value * 1.01)
    };
    let metrics = vec![
        metric("throughput_bytes_per_s", Unit::BytesPerS, 1000.0 * block as f64),
        metric("iops", Unit::OpsPerS, 1000.0),
    ];
    PhaseRun { steady: Some(true), ..test_runs::measured(plan, record, metrics) }
}

/// Has the record tell its streams apart: each did an equal part of everything, with these shares going each way. Reads
/// take 0.5 ms, syncs 9 ms, all else 2 ms.
pub fn split_directions(phase: &mut PhaseRun, directions: &[(Direction, f64)]) {
    let latency = |direction| match direction {
        Direction::Read => 500_000,
        Direction::Sync => 9_000_000,
        _ => 2_000_000,
    };
    test_runs::split_directions(&phase.plan, phase.record.as_mut().unwrap(), directions, latency);
}

/// A run of these phases on a disk `sda`.
pub fn run(phases: Vec<PhaseRun>) -> Run {
    let session = Session {
        started: "2026-11-20T21:30:00Z".into(),
        ended: Some("2026-11-20T21:30:09Z".into()),
        boot_id: None,
        clock_step_ns: Some(0),
    };
    let mut run = Run {
        sessions: vec![session],
        duration_ns: 9 * NS_PER_S,
        samples: [0u64, 4].map(|s| sample(s * NS_PER_S, s * 500)).to_vec(),
        ..test_runs::run(phases)
    };
    run.target.name = "/mnt/card".into();
    run.target.path = Some("/mnt/card".into());
    run
}

fn sample(at_ns: u64, count: u64) -> SystemSample {
    let disk = DiskCounters {
        name: "sda".into(),
        reads: 7 + count,
        sectors_read: 8 * count,
        busy_ms: count,
        weighted_ms: 2 * count,
        ..Default::default()
    };
    SystemSample { at_ns, disks: vec![disk], ..Default::default() }
}

/// A read phase and two write phases, as `check` has them.
pub fn plain() -> Run {
    run(vec![
        phase("rand-read-qd32", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 32)]),
        phase("rand-write-qd1", Access::Direct, vec![stream(Operation::Write, Order::Random, 4096, 1)]),
        phase("sync-write", Access::Buffered, vec![stream(Operation::Write, Order::Random, 4096, 1)]),
    ])
}

/// The phase refused, with its numbers moved aside.
pub fn refused(mut phase: PhaseRun) -> PhaseRun {
    phase.status = PhaseStatus::Refused;
    phase.reasons = vec![Reason::of("foreign-traffic", "40 % by others")];
    let reasons = phase.reasons.clone();
    phase.metrics.iter_mut().for_each(|m| m.refuse(&reasons));
    phase
}

/// The phase skipped.
pub fn skipped(mut phase: PhaseRun) -> PhaseRun {
    phase.status = PhaseStatus::Skipped;
    phase.reasons = vec!["the budget is used up".into()];
    phase.metrics.clear();
    phase.record = None;
    phase
}

/// Streams with names and numbers of any kind, one too few or too many of them at times.
fn hostile_streams(phase: &mut PhaseRun, d: &mut Draw) {
    let stream = phase.plan.streams[0].clone();
    phase.plan.streams = (0..1 + d.bits() % 4)
        .map(|_| StreamPlan { name: d.text(), group: d.bits() as u32 % 3, ..stream.clone() })
        .collect();
    split_directions(phase, &[(Direction::Read, 0.5), (Direction::Write, 0.3), (Direction::Sync, 0.01)]);
    let record = phase.record.as_mut().unwrap();
    for one in &mut record.streams {
        (one.started_ns, one.ended_ns, one.cut_ns) = (d.number(), d.number(), d.number());
        one.usage.user_ns = d.number();
        one.mean_depth = d.bits().is_multiple_of(2).then(|| d.float());
        one.errors = (0..d.bits() % 2).map(|_| (d.text(), d.number())).collect();
        for side in &mut one.directions {
            (side.operations, side.bytes) = (d.number(), d.number());
            (side.counted_operations, side.counted_bytes) = (d.number(), d.number());
            side.direction = Direction::ALL[(d.bits() % 5) as usize];
        }
    }
    match d.bits() % 8 {
        0 => drop(record.streams.pop()),
        1 => record.streams.extend(record.streams.first().cloned()),
        _ => {}
    }
}

fn any_stream(d: &mut Draw) -> StreamPlan {
    use Operation::{Read, Trim, Write, WriteZeroes};
    let orders = [Order::Sequential, Order::Random, Order::RandomReplace, Order::Reverse, Order::Zoned];
    let mut s = stream(d.pick(&[Read, Write, Trim, WriteZeroes]), d.pick(&orders), d.number(), d.bits() as u32);
    let sync = [Sync::None, Sync::FdatasyncEach, Sync::FsyncPerRound, Sync::FsyncAtEnd];
    s.durability.sync = d.pick(&sync);
    s.durability.round_bytes = d.maybe();
    let mix = d.bits().is_multiple_of(3).then(|| Mix { read_percent: d.bits() as u32 });
    let (start, bytes) = (d.number(), d.number());
    let block = s.block_mut();
    (block.mix, block.region_start_bytes, block.region_bytes) = (mix, start, bytes);
    s
}

/// Any run at all: every number at any magnitude, names that hurt, phases that were measured, refused and skipped.
#[allow(clippy::too_many_lines, reason = "a table of what there is")]
pub fn generated(seed: u64) -> Run {
    let d = &mut Draw(seed);
    let mut phases = Vec::new();
    for _ in 0..d.bits() % 6 {
        let streams: Vec<StreamPlan> = (0..1 + d.bits() % 3).map(|_| any_stream(d)).collect();
        let small = vec![stream(Operation::Read, Order::Random, 512, 1)];
        let mut p = phase("p", d.pick(&[Access::Direct, Access::Buffered]), small);
        p.plan.streams = streams;
        p.plan.name = d.text();
        p.plan.time_limit_ns = d.number();
        p.reasons = vec![Reason::uncoded(d.text())];
        p.metrics[0].id = format!("{}.throughput_bytes_per_s", p.plan.name);
        p.metrics[0].value = Some(d.float());
        p.metrics[1].id = format!("{}.iops", p.plan.name);
        p.metrics[1].reasons =
            vec![Reason::uncoded(d.text()), Reason::of("warm-up-counted", "all")][..(d.bits() % 3) as usize].to_vec();
        p.metrics[1].high = Some(d.float());
        let record = p.record.as_mut().unwrap();
        record.started_ns = d.number();
        record.ended_ns = d.number();
        record.operations = d.number();
        record.bytes = d.number();
        record.warmup.cut_ns = d.number();
        record.warmup.operations = d.number();
        record.warmup.bytes = d.number();
        record.errors = (0..d.bits() % 3).map(|_| (d.text(), d.number())).collect();
        record.usage.user_ns = d.number();
        record.usage.voluntary_switches = d.number();
        record.usage.involuntary_switches = d.number();
        record.mean_depth = (d.bits().is_multiple_of(2)).then(|| d.float());
        record.engine.batch_submit = d.bits() as u32;
        record.rounds = (0..d.bits() % 3)
            .map(|_| model::Round {
                start_ns: d.number(),
                bytes: d.number(),
                write_ns: d.number(),
                sync_ns: d.number(),
            })
            .collect();
        record.latency = Histogram::from_buckets([], 0, 0, 0);
        for _ in 0..d.bits() % 40 {
            let value = d.number();
            let n = 1 + d.number() % (1 << 40);
            record.latency.record_n(value, n);
        }
        if d.bits().is_multiple_of(8) {
            let bucket = Bucket { low_ns: 5, high_ns: 5, count: u64::MAX };
            record.latency = Histogram::from_buckets([bucket], 5, 5, 1);
        }
        for i in &mut record.intervals {
            *i = Interval {
                start_ns: d.number(),
                length_ns: d.number(),
                operations: d.number(),
                bytes: d.number(),
                latency_ns_p50: Some(d.number()),
                ..*i
            };
        }
        if d.bits().is_multiple_of(2) {
            hostile_streams(&mut p, d);
        }
        phases.push(match d.bits() % 4 {
            0 => refused(p),
            1 => skipped(p),
            _ => p,
        });
    }
    let mut run = run(phases);
    run.target.name = d.text();
    run.target.path = (d.bits().is_multiple_of(2)).then(|| d.text());
    run.program_version = d.text();
    run.sessions[0].started = d.text();
    run.remarks = vec![d.text()];
    run.samples = (0..d.bits() % 5).map(|_| sample(d.number(), d.number() >> 8)).collect();
    run
}
