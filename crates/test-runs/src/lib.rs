//! Runs for the tests of all crates: what every run has, so that a test says only what is particular about its own; and runs drawn
//! from a seed, in which everything is at any magnitude and every name hurts.
//!
//! No part of the program: a room has it among its dev-dependencies.

pub mod built;
mod draw;
pub mod drawn;
mod ordinary;

pub use draw::Draw;
pub use ordinary::OrdinaryText;

use model::{
    Access, BlockPlan, Direction, DirectionSummary, EngineKind, EngineRecord, Environment, Histogram, Interval, IoPath,
    Metric, NS_PER_S, Ns, Operation, Order, PhaseKind, PhasePlan, PhaseRecord, PhaseRun, Plan, Run, StopCause,
    StopRule, StreamPlan, StreamSummary, Sync, Target, TargetKind, TargetSize, Warmup, WorkerUsage,
};

/// The length of an interval of these runs.
pub const INTERVAL_NS: Ns = NS_PER_S / 10;

/// A stream over a region of 256 MiB, without syncs.
pub fn stream(operation: Operation, order: Order, block_size_bytes: u64, queue_depth: u32) -> StreamPlan {
    StreamPlan {
        kind: BlockPlan { operation, order, block_size_bytes, region_bytes: 256 << 20, ..BlockPlan::default() }.into(),
        path: IoPath { queue_depth, ..IoPath::default() },
        seed: 1,
        ..StreamPlan::default()
    }
}

/// The same with a sync; a round of those that sync once a round is so many bytes.
pub fn synced(mut stream: StreamPlan, sync: Sync, round_bytes: u64) -> StreamPlan {
    stream.durability.sync = sync;
    stream.durability.round_bytes = (sync == Sync::FsyncPerRound).then_some(round_bytes);
    stream
}

/// A phase that measures these streams for 5 s, without a warm-up.
pub fn plan(name: &str, access: Access, streams: Vec<StreamPlan>) -> PhasePlan {
    PhasePlan {
        name: name.into(),
        kind: PhaseKind::Measure,
        engine: if access == Access::Direct { EngineKind::IoUring } else { EngineKind::Psync },
        access,
        streams,
        time_limit_ns: 5 * NS_PER_S,
        stop: StopRule::Time,
        warmup: Warmup { min_ns: 0, share: 0.0, max_ns: 0 },
        ..PhasePlan::default()
    }
    .alike()
}

/// What is recorded of a phase in which nothing has happened yet.
pub fn record(plan: &PhasePlan, started_ns: Ns) -> PhaseRecord {
    let engine = EngineRecord { kind: plan.engine, batch_submit: 1, batch_complete: 1, ..EngineRecord::default() };
    PhaseRecord { started_ns, ended_ns: started_ns, engine, ..PhaseRecord::default() }
}

/// Has so many operations of a size complete in each interval, one interval after the other from the start of the record; whatever
/// was there is gone. Latencies stay as they are.
pub fn completed(record: &mut PhaseRecord, block_size_bytes: u64, operations: impl IntoIterator<Item = u64>) {
    let start = record.started_ns;
    record.intervals = operations
        .into_iter()
        .zip(0u64..)
        .map(|(operations, i)| Interval {
            start_ns: start + i * INTERVAL_NS,
            length_ns: INTERVAL_NS,
            operations,
            bytes: operations * block_size_bytes,
            ..Interval::default()
        })
        .collect();
    record.ended_ns = start + record.intervals.len() as u64 * INTERVAL_NS;
    record.operations = record.intervals.iter().map(|i| i.operations).sum();
    record.bytes = record.operations * block_size_bytes;
}

/// A phase that was measured, and stands.
pub fn measured(plan: PhasePlan, record: PhaseRecord, metrics: Vec<Metric>) -> PhaseRun {
    PhaseRun::measured(plan, metrics, Some(record))
}

/// Has the record tell its streams apart: every stream of the plan did an equal part of everything, in these directions with these
/// shares of the operations; `latency` is how long each operation of a direction took.
pub fn split_directions(
    plan: &PhasePlan,
    record: &mut PhaseRecord,
    directions: &[(Direction, f64)],
    latency: impl Fn(Direction) -> Ns,
) {
    let streams = plan.streams.len() as f64;
    let part = |of: u64, share: f64| (of as f64 * share / streams).round() as u64;
    let side = |stream: &StreamPlan, direction: Direction, share: f64| {
        let operations = part(record.operations, share);
        let counted = part(record.operations.saturating_sub(record.warmup.operations), share);
        let bytes = |n: u64| match direction {
            Direction::Sync => 0,
            _ => n.wrapping_mul(stream.blocks().map_or(4096, |s| s.block.block_size_bytes)),
        };
        let mut histogram = Histogram::new();
        histogram.record_n(latency(direction), counted);
        DirectionSummary {
            direction,
            operations,
            bytes: bytes(operations),
            counted_operations: counted,
            counted_bytes: bytes(counted),
            latency: histogram,
        }
    };
    let summary = |stream: &StreamPlan| StreamSummary {
        group: stream.group,
        engine: record.engine.kind,
        started_ns: record.started_ns,
        ended_ns: record.ended_ns,
        cut_ns: record.warmup.cut_ns,
        stop: record.stop,
        usage: WorkerUsage { user_ns: part(record.usage.user_ns, 1.0), ..WorkerUsage::default() },
        mean_depth: record.mean_depth.map(|d| d / streams),
        longest_gap_ns: record.longest_gap_ns,
        ..summary(&stream.name, directions.iter().map(|(d, share)| side(stream, *d, *share)).collect())
    };
    let streams = plan.streams.iter().map(summary).collect();
    record.streams = streams;
}

/// What a stream did in 20 s in these directions.
pub fn summary(name: &str, directions: Vec<DirectionSummary>) -> StreamSummary {
    StreamSummary {
        name: name.into(),
        group: 0,
        engine: EngineKind::IoUring,
        started_ns: 0,
        ended_ns: 20 * NS_PER_S,
        cut_ns: 0,
        depth_search: None,
        stop: StopCause::TimeUsed,
        short_operations: 0,
        errors: Default::default(),
        usage: WorkerUsage::default(),
        mean_depth: None,
        longest_gap_ns: None,
        directions,
    }
}

/// A complete check of a directory in which these phases were made; of the machine nothing is known.
pub fn run(phases: Vec<PhaseRun>) -> Run {
    let target = Target { path: Some("/mnt".into()), ..Target::named("/mnt", TargetKind::Directory) };
    Run {
        id: "20261120T213000Z-7f3a9c21".into(),
        program_version: "0.1.0".into(),
        plan: Plan {
            name: "check".into(),
            seed: 1,
            budget_ns: 60 * NS_PER_S,
            size: TargetSize { bytes: 256 << 20, reason: "test".into() },
            interval_ns: INTERVAL_NS,
            quiet_ns: NS_PER_S / 5,
            phases: phases.iter().map(|p| p.plan.clone()).collect(),
            ..Plan::default()
        },
        phases,
        ..Run::blank("check", target, Environment::default())
    }
}
