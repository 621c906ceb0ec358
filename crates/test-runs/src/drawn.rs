//! Runs for tests, drawn from a seed: every optional value present or absent, names with commas, quotes and line
//! breaks, counters at both ends of their range, CPUs, disks and sensors that come and go.

use crate::Draw;
use model::Reason;
use model::*;
use std::collections::BTreeMap;

fn reason(d: &mut Draw) -> Reason {
    match d.below(4) {
        0 => Reason::uncoded(d.text()),
        1 => Reason::of("other", d.text()),
        2 => Reason::Steal { percent: d.float() },
        _ => Reason::Errors { errors: d.text() },
    }
}

fn phase_plan(d: &mut Draw, name: String) -> PhasePlan {
    PhasePlan {
        name,
        kind: d.pick(&[PhaseKind::Precondition, PhaseKind::Layout, PhaseKind::Measure]),
        engine: d.pick(&[EngineKind::IoUring, EngineKind::Psync, EngineKind::Sim, EngineKind::Memory]),
        access: d.pick(&[Access::Buffered, Access::Direct]),
        cold: d.some(),
        drop_cache: false,
        ranks: None,
        streams: d.list(2, |d| StreamPlan {
            kind: BlockPlan {
                operation: d.pick(&[Operation::Read, Operation::Write]),
                order: d.pick(&[Order::Sequential, Order::Random]),
                block_size_bytes: d.number(),
                region_start_bytes: d.number(),
                region_bytes: d.number(),
                ..BlockPlan::default()
            }
            .into(),
            path: IoPath { queue_depth: d.bits() as u32, ..IoPath::default() },
            durability: Durability {
                sync: d.pick(&[Sync::None, Sync::FdatasyncEach, Sync::FsyncPerRound, Sync::FsyncAtEnd]),
                round_bytes: d.maybe(),
                ..Durability::default()
            },
            seed: d.number(),
            ..StreamPlan::default()
        }),
        time_limit_ns: d.number(),
        stop: match d.below(3) {
            0 => StopRule::Time,
            1 => StopRule::RegionOnce,
            _ => StopRule::EarlyWhenSteady { half_width_ratio: d.float() },
        },
        warmup: Warmup { min_ns: d.number(), share: d.float(), max_ns: d.number() },
        skip: d.maybe_text().map(|text| Reason::of("budget", text)),
    }
    .alike()
}

fn interval(d: &mut Draw) -> Interval {
    Interval {
        start_ns: d.number(),
        length_ns: d.number(),
        operations: d.number(),
        bytes: d.number(),
        latency_ns_p50: d.maybe(),
        latency_ns_p99: d.maybe(),
        latency_ns_max: d.maybe(),
    }
}

fn histogram(d: &mut Draw) -> Histogram {
    let mut latency = Histogram::new();
    for _ in 0..d.below(40) {
        let value = d.number();
        latency.record_n(value, 1 + d.below(1 << 40));
    }
    latency
}

fn quiet(d: &mut Draw) -> Option<QuietWindow> {
    d.some().then(|| QuietWindow {
        length_ns: d.number(),
        read_bytes: d.number(),
        write_bytes: d.number(),
        operations: d.number(),
        busy_ns: d.some().then(|| d.number()),
    })
}

fn record(d: &mut Draw) -> PhaseRecord {
    PhaseRecord {
        started_ns: d.number(),
        ended_ns: d.number(),
        operations: d.number(),
        bytes: d.number(),
        short_operations: d.number(),
        errors: d.list(2, |d| (d.text(), d.number())).into_iter().collect(),
        stop: d.pick(&[StopCause::TimeUsed, StopCause::Steady, StopCause::Interrupted, StopCause::Failed]),
        warmup: WarmupCut { rule: d.text(), cut_ns: d.number(), operations: d.number(), bytes: d.number() },
        engine: EngineRecord {
            kind: d.pick(&[EngineKind::IoUring, EngineKind::PsyncThreads, EngineKind::Null]),
            features: d.list(2, Draw::text),
            missing: d.list(2, Draw::text),
            batch_submit: d.bits() as u32,
            batch_complete: d.bits() as u32,
        },
        direct: match d.below(4) {
            0 => None,
            1 => Some(DirectProof::Proven(d.text())),
            2 => Some(DirectProof::Unproven(d.text())),
            _ => Some(DirectProof::Fallback(d.text())),
        },
        cold: d.some().then(|| ColdProof {
            resident_pages_before: d.maybe(),
            device_read_bytes: d.maybe(),
            phase_read_bytes: d.number(),
            method: d.text(),
        }),
        data: d.some().then(|| DataProof::Real(d.text())),
        usage: WorkerUsage {
            user_ns: d.number(),
            system_ns: d.number(),
            voluntary_switches: d.number(),
            involuntary_switches: d.number(),
            cpu_wait_ns: d.some().then(|| d.number()),
        },
        mean_depth: d.some().then(|| d.float()),
        longest_gap_ns: d.maybe(),
        late: None,
        quiet_before: quiet(d),
        quiet_after: quiet(d),
        latency: histogram(d),
        intervals: d.list(12, interval),
        streams: d.list(3, |d| stream(d.bits())),
        steady: d.some().then(|| SteadyRecord {
            reached: d.some(),
            window_rounds: d.bits() as u32,
            range_ratio: d.some().then(|| d.float()),
            slope_ratio: d.some().then(|| d.float()),
            rounds: d.list(3, |d| SteadyRound {
                start_ns: d.number(),
                length_ns: d.number(),
                operations: d.number(),
                bytes: d.number(),
                latency_ns_mean: None,
            }),
        }),
        verify: None,
        rounds: d.list(3, |d| Round {
            start_ns: d.number(),
            bytes: d.number(),
            write_ns: d.number(),
            sync_ns: d.number(),
        }),
    }
}

/// One stream of a phase.
pub fn stream(seed: u64) -> StreamSummary {
    let d = &mut Draw(seed);
    let directions = d.below(6) as usize;
    StreamSummary {
        name: d.text(),
        group: d.bits() as u32,
        engine: d.pick(&[EngineKind::Psync, EngineKind::Mmap]),
        started_ns: d.number(),
        ended_ns: d.number(),
        cut_ns: d.number(),
        depth_search: None,
        stop: d.pick(&[StopCause::TimeUsed, StopCause::RegionDone]),
        short_operations: d.number(),
        errors: d.list(2, |d| (d.text(), d.number())).into_iter().collect(),
        usage: WorkerUsage::default(),
        mean_depth: d.some().then(|| d.float()),
        longest_gap_ns: d.maybe(),
        directions: Direction::ALL[..directions]
            .iter()
            .map(|direction| DirectionSummary {
                direction: *direction,
                operations: d.number(),
                bytes: d.number(),
                counted_operations: d.number(),
                counted_bytes: d.number(),
                latency: histogram(d),
            })
            .collect(),
    }
}

fn change(d: &mut Draw) -> RateChange {
    RateChange {
        at_ns: d.number(),
        before_bytes_per_s: d.number() as f64 / 7.0,
        after_bytes_per_s: d.number() as f64 / 7.0,
        bytes_before: d.number(),
    }
}

fn metric(d: &mut Draw) -> Metric {
    Metric {
        id: d.text(),
        unit: d.pick(&[Unit::BytesPerS, Unit::OpsPerS, Unit::Ns, Unit::Ratio]),
        better: d.pick(&[None, Some(Better::Higher), Some(Better::Lower)]),
        status: d.pick(&[MetricStatus::Measured, MetricStatus::Refused, MetricStatus::NotApplicable]),
        value: d.some().then(|| d.float()),
        low: d.some().then(|| d.float()),
        high: d.some().then(|| d.float()),
        interval: d.pick(&[None, Some(IntervalKind::WithinRun)]),
        n: d.number(),
        reasons: d.list(2, reason),
        rejected_value: d.some().then(|| d.float()),
        bound: d.pick(&[None, Some(Bound::AtLeast), Some(Bound::AtMost)]),
    }
}

fn disk(d: &mut Draw) -> DiskCounters {
    DiskCounters {
        name: d.text(),
        reads: d.number(),
        reads_merged: d.number(),
        sectors_read: d.number(),
        read_ms: d.number(),
        writes: d.number(),
        writes_merged: d.number(),
        sectors_written: d.number(),
        write_ms: d.number(),
        in_flight: d.number(),
        busy_ms: d.number(),
        weighted_ms: d.number(),
        discards: d.maybe(),
        discards_merged: None,
        sectors_discarded: d.maybe(),
        discard_ms: None,
        flushes: d.maybe(),
        flush_ms: d.maybe(),
    }
}

/// One look at a machine that changes all the time.
pub fn sample(d: &mut Draw) -> SystemSample {
    let pressure = |d: &mut Draw| d.some().then(|| Pressure { some_us: d.number(), full_us: d.maybe() });
    SystemSample {
        at_ns: d.number(),
        disks: d.list(3, disk),
        nfs: d.list(3, |d| NfsCounters {
            name: d.text(),
            operations: d.number(),
            transmissions: d.number(),
            timeouts: d.number(),
            bytes_sent: d.number(),
            bytes_received: d.number(),
            queue_ms: d.number(),
            rtt_ms: d.number(),
            execute_ms: d.number(),
            errors: d.maybe(),
        }),
        path: d.list(3, |d| PathCounter { name: d.text(), value: d.number() }),
        tcp_segments_out: d.maybe(),
        tcp_segments_again: d.maybe(),
        tcp_segments_late: d.maybe(),
        cpus: d.list(4, |d| CpuTicks {
            user: d.number(),
            nice: d.number(),
            system: d.number(),
            idle: d.number(),
            iowait: d.number(),
            irq: d.number(),
            softirq: d.number(),
            steal: d.number(),
        }),
        cpu_khz: d.list(4, Draw::maybe),
        memory: MemorySample {
            available_bytes: d.maybe(),
            cached_bytes: d.maybe(),
            dirty_bytes: d.maybe(),
            writeback_bytes: d.maybe(),
        },
        pressure_io: pressure(d),
        pressure_cpu: pressure(d),
        temperatures: d.list(3, |d| Temperature { name: d.text(), millidegrees_c: d.bits() as i64 }),
        throttle: ThrottleState {
            raspberry_pi_bits: d.some().then(|| d.bits() as u32),
            x86_throttle_events: d.maybe(),
            cooling_state: d.maybe(),
        },
        interrupts: d.maybe(),
        interrupts_by_cpu: d.list(4, Draw::number),
        context_switches: d.maybe(),
        tasks_blocked: d.maybe(),
    }
}

fn capacity(d: &mut Draw) -> Capacity {
    use CapacityKind::{Genuine, Limbo, Unknown, WrapAround};
    Capacity {
        claimed_bytes: d.number(),
        real_bytes: d.some().then(|| d.number()),
        kind: d.pick(&[Genuine, Limbo, Unknown, WrapAround]),
        quick: d.some(),
        written_bytes: d.number(),
        verified_bytes: d.number(),
        reasons: d.list(2, Draw::text),
    }
}

fn target(d: &mut Draw) -> Target {
    let mut layer = Layer::new(LayerKind::Disk, d.text());
    layer.set("present", true);
    layer.set("whole", d.bits() as i64);
    layer.set("fraction", d.float());
    layer.set("text", d.text());
    layer.set("list", d.list(2, Draw::text));
    layer.set("missing", None::<i64>);
    layer.device = Some(DeviceId { major: 8, minor: d.bits() as u32 });
    Target {
        name: d.text(),
        kind: d.pick(&[TargetKind::Directory, TargetKind::Sim]),
        path: d.maybe_text(),
        size_bytes: d.maybe(),
        writable: d.some(),
        stack: Stack { mount: None, layers: vec![layer].into() },
    }
}

/// A run with up to five phases.
pub fn run(seed: u64) -> Run {
    let d = &mut Draw(seed);
    let names = ["copy", "seq-write", "odd, \"name\"", "rand-read-qd32", "two\nlines"];
    let planned = &names[..d.below(6) as usize];
    let plans: Vec<PhasePlan> = planned.iter().map(|n| phase_plan(d, (*n).to_owned())).collect();
    let phases = plans
        .iter()
        .map(|plan| PhaseRun {
            plan: plan.clone(),
            status: d.pick(&[PhaseStatus::Measured, PhaseStatus::Refused, PhaseStatus::Skipped]),
            reasons: d.list(2, reason),
            steady: d.pick(&[None, Some(true), Some(false)]),
            changes: d.list(2, change),
            metrics: d.list(3, metric),
            record: (d.below(4) > 0).then(|| record(d)),
        })
        .collect();
    let mut environment = Environment { hostname: d.maybe_text(), memory_bytes: d.maybe(), ..Environment::default() };
    environment.dirty_settings = BTreeMap::from([("vm.dirty_ratio".to_owned(), Some(-1)), (d.text(), None)]);
    Run {
        schema: Run::SCHEMA.to_owned(),
        id: format!("20261120T213000Z-0000{:04x}", d.bits() as u16),
        command: "check".to_owned(),
        program_version: "0.1.0".to_owned(),
        state: d.pick(&[RunState::Complete, RunState::Interrupted, RunState::Failed]),
        plan: Plan {
            name: d.text(),
            seed: d.number(),
            budget_ns: d.number(),
            size: TargetSize { bytes: d.number(), reason: d.text() },
            interval_ns: d.number(),
            quiet_ns: d.number(),
            phases: plans,
            ..Plan::default()
        },
        environment,
        target: target(d),
        sessions: d.list(2, |d| Session {
            started: d.text(),
            ended: d.maybe_text(),
            boot_id: d.maybe_text(),
            clock_step_ns: d.maybe(),
        }),
        group: None,
        experiment: d.some().then(|| ExperimentPlace {
            id: d.text(),
            arm: d.text(),
            pair: d.number() as u32,
            order: d.some().then(|| d.number() as u32),
            seed: d.some().then(|| d.number()),
        }),
        duration_ns: d.number(),
        bytes_written: d.number(),
        remarks: d.list(2, Draw::text),
        phases,
        samples: d.list(6, sample),
        kernel_log: d.some().then(|| d.list(3, |d| d.text().replace('\n', " "))),
        capacity: d.some().then(|| capacity(d)),
    }
}

/// A run in which `count` phases were measured, as they would be one after the other.
pub fn measured_run(seed: u64, count: usize) -> Run {
    let mut run = run(seed);
    let d = &mut Draw(seed ^ 1);
    run.plan.phases = (0..count).map(|i| phase_plan(d, format!("phase-{i}"))).collect();
    run.phases = run
        .plan
        .phases
        .iter()
        .map(|plan| PhaseRun {
            plan: plan.clone(),
            status: PhaseStatus::Measured,
            reasons: Vec::new(),
            steady: None,
            changes: Vec::new(),
            metrics: d.list(2, metric),
            record: Some(PhaseRecord { intervals: (0..5).map(|_| interval(d)).collect(), ..record(d) }),
        })
        .collect();
    run.samples = (0..count * 3).map(|_| sample(d)).collect();
    run
}

/// The same run when only its first `phases` were done.
pub fn so_far(run: &Run, phases: usize) -> Run {
    let mut so_far = run.clone();
    so_far.samples.truncate(run.samples.len() * phases / run.phases.len().max(1));
    so_far.phases.truncate(phases);
    so_far
}
