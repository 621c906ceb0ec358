//! Phases of known truth for the tests of this room.

use crate::{Context, JudgedPhase, judge_phase};
use model::{
    Access, BlockPlan, ColdProof, CpuTicks, DataProof, DeviceId, DirectProof, Direction, DirectionSummary,
    DiskCounters, Durability, EngineKind, EngineRecord, Histogram, Interval, IoPath, Layer, LayerKind, NS_PER_S,
    Operation, Order, PhaseKind, PhasePlan, PhaseRecord, ProcessIo, QuietWindow, Round, Stack, StopCause, StopRule,
    StreamPlan, StreamSummary, Sync, SystemSample, TargetKind, Warmup, WarmupCut, WorkerUsage,
};

/// No refusals.
pub const NONE: &[&str] = &[];

/// A phase with its surroundings: 1,000 operations a second for 4 s on a disk without counters unless changed.
pub struct Fixture {
    pub plan: PhasePlan,
    pub record: PhaseRecord,
    pub target: TargetKind,
    pub stack: Stack,
    pub samples: Vec<SystemSample>,
    pub at_start: Option<SystemSample>,
    pub memory_copy: Option<f64>,
    pub clock_step_ns: Option<u64>,
    pub process_stopped: bool,
    pub kept_bytes: u64,
    /// Quiet windows of earlier phases.
    pub windows: Vec<QuietWindow>,
    pub sequential: Option<f64>,
    pub others: Vec<ProcessIo>,
}

const START: u64 = 10 * NS_PER_S;

impl Fixture {
    fn new(name: &str, operation: Operation, access: Access, block: u64, depth: u32, sync: Sync) -> Self {
        let plan = PhasePlan {
            name: name.into(),
            kind: PhaseKind::Measure,
            engine: if access == Access::Direct { EngineKind::IoUring } else { EngineKind::Psync },
            access,
            cold: false,
            drop_cache: false,
            streams: vec![StreamPlan {
                kind: BlockPlan {
                    operation,
                    order: if block > 4096 { Order::Sequential } else { Order::Random },
                    block_size_bytes: block,
                    region_start_bytes: 0,
                    region_bytes: 256 << 20,
                    ..BlockPlan::default()
                }
                .into(),
                path: IoPath { queue_depth: depth, ..IoPath::default() },
                durability: Durability { sync, round_bytes: None, ..Durability::default() },
                seed: 1,
                ..StreamPlan::default()
            }],
            time_limit_ns: 4 * NS_PER_S,
            stop: StopRule::Time,
            warmup: Warmup { min_ns: 0, share: 0.0, max_ns: 0 },
            skip: None,
        };
        let record = PhaseRecord {
            started_ns: START,
            ended_ns: START,
            operations: 0,
            bytes: 0,
            short_operations: 0,
            errors: Default::default(),
            stop: StopCause::TimeUsed,
            warmup: WarmupCut::default(),
            engine: EngineRecord {
                kind: plan.engine,
                features: Vec::new(),
                missing: Vec::new(),
                batch_submit: 1,
                batch_complete: 1,
            },
            direct: (access == Access::Direct).then(|| DirectProof::Proven("ext4".into())),
            cold: None,
            data: (operation == Operation::Read).then(|| DataProof::Real("written by this run".into())),
            usage: WorkerUsage { user_ns: NS_PER_S / 10, system_ns: NS_PER_S / 5, ..Default::default() },
            mean_depth: Some(f64::from(depth)),
            longest_gap_ns: None,
            late: None,
            quiet_before: None,
            quiet_after: None,
            latency: Histogram::new(),
            intervals: Vec::new(),
            rounds: Vec::new(),
            streams: Vec::new(),
            steady: None,
            verify: None,
        };
        let mut stack = Stack::default();
        stack.layers.push(Layer::new(LayerKind::Disk, "vda"), 0);
        Self {
            plan,
            record,
            target: TargetKind::Directory,
            stack,
            samples: Vec::new(),
            at_start: None,
            memory_copy: Some(10e9),
            clock_step_ns: Some(0),
            process_stopped: false,
            kept_bytes: 0,
            windows: Vec::new(),
            sequential: None,
            others: Vec::new(),
        }
        .at_rate(1_000, 4.0)
    }

    pub fn random_read() -> Self {
        Self::new("rand-read-qd32", Operation::Read, Access::Direct, 4096, 32, Sync::None)
    }

    pub fn sync_write() -> Self {
        Self::new("sync-write", Operation::Write, Access::Buffered, 4096, 1, Sync::FdatasyncEach)
    }

    pub fn sequential_write() -> Self {
        Self::new("seq-write", Operation::Write, Access::Direct, 1 << 20, 8, Sync::None).at_rate(40, 4.0)
    }

    /// Rounds of 16 MiB with their time in seconds, half writing, half syncing.
    pub fn buffered_write(rounds: &[f64]) -> Self {
        let mut f = Self::new("buffered-write", Operation::Write, Access::Buffered, 1 << 20, 1, Sync::FsyncPerRound);
        f.plan.streams[0].durability.round_bytes = Some(16 << 20);
        f = f.at_rate(16, rounds.iter().sum());
        let mut start_ns = START;
        for seconds in rounds {
            let half = (seconds * 0.5e9) as u64;
            f.record.rounds.push(Round { start_ns, bytes: 16 << 20, write_ns: half, sync_ns: half });
            start_ns += 2 * half;
        }
        f
    }

    pub fn cold_read() -> Self {
        let mut f = Self::new("buffered-read", Operation::Read, Access::Buffered, 1 << 20, 1, Sync::None);
        f.plan.cold = true;
        f = f.at_rate(60, 4.0);
        f.record.cold = Some(ColdProof {
            resident_pages_before: Some(0),
            device_read_bytes: Some(f.record.bytes + 131_072),
            phase_read_bytes: f.record.bytes,
            method: "fsync, DONTNEED".into(),
        });
        f
    }

    /// So many operations a second for so long, in intervals of 100 ms, with fitting samples.
    pub fn at_rate(mut self, per_second: u64, seconds: f64) -> Self {
        let block = self.plan.streams[0].block().block_size_bytes;
        let intervals = (seconds * 10.0).round() as u64;
        let record = &mut self.record;
        record.ended_ns = START + intervals * NS_PER_S / 10;
        record.intervals.clear();
        record.latency.clear();
        record.operations = 0;
        for i in 0..intervals {
            let operations = per_second * (i + 1) / 10 - per_second * i / 10;
            record.intervals.push(Interval {
                start_ns: START + i * NS_PER_S / 10,
                length_ns: NS_PER_S / 10,
                operations,
                bytes: operations * block,
                ..Default::default()
            });
            record.operations += operations;
        }
        record.bytes = record.operations * block;
        record.latency.record_n(1_000_000, record.operations);
        self.samples = (0..=intervals / 2)
            .map(|i| SystemSample { at_ns: START + i * NS_PER_S / 5, ..Default::default() })
            .collect();
        if let Some(last) = self.samples.last_mut() {
            last.at_ns = record.ended_ns;
        }
        self.cpu_ticks((seconds * 100.0) as u64, 0);
        self
    }

    /// Each of two CPUs idles and loses so many ticks over the phase.
    pub fn cpu_ticks(&mut self, idle: u64, steal: u64) {
        self.each_sample(|_, s| s.cpus = vec![CpuTicks::default(); 2]);
        if let Some(last) = self.samples.last_mut() {
            last.cpus = vec![CpuTicks { idle, steal, ..Default::default() }; 2];
        }
    }

    /// Counters that agree with what the phase moved, and no others' traffic.
    pub fn on_disk(mut self) -> Self {
        self.stack.layers[0].device = Some(DeviceId { major: 254, minor: 0 });
        self.stack.layers[0].counted = true;
        let (operations, sectors, write) = (self.record.operations, self.record.bytes / 512, self.plan.is_write());
        let last = self.samples.len() as u64 - 1;
        self.each_sample(|i, s| {
            let part = |n: u64| n * i as u64 / last;
            let mut disk = DiskCounters { name: "vda".into(), ..Default::default() };
            if write {
                (disk.writes, disk.sectors_written) = (part(operations), part(sectors));
            } else {
                (disk.reads, disk.sectors_read) = (part(operations), part(sectors));
            }
            s.disks = vec![disk];
        });
        self
    }

    pub fn each_sample(&mut self, mut change: impl FnMut(usize, &mut SystemSample)) {
        self.samples.iter_mut().enumerate().for_each(|(i, s)| change(i, s));
    }

    pub fn judge(&self) -> JudgedPhase {
        let mut windows = self.windows.clone();
        windows.extend([self.record.quiet_before, self.record.quiet_after].into_iter().flatten());
        let context = Context {
            target: self.target,
            stack: &self.stack,
            samples: &self.samples,
            at_start: self.at_start.as_ref(),
            memory_bytes_per_s: self.memory_copy,
            clock_step_ns: self.clock_step_ns,
            process_stopped: self.process_stopped,
            kept_bytes: self.kept_bytes,
            windows: &windows,
            sequential_bytes_per_s: self.sequential,
            others: &self.others,
        };
        judge_phase(&self.plan, Some(&self.record), &context)
    }

    /// Has the record tell its streams apart: every stream of the plan does an equal part of everything, in these
    /// directions with these shares of the operations.
    pub fn tell_apart(&mut self, directions: &[(Direction, f64)]) {
        let (plan, record) = (&self.plan, &mut self.record);
        let streams = plan.streams.len() as f64;
        let part = |of: u64, share: f64| (of as f64 * share / streams).round() as u64;
        let warmup = &record.warmup;
        let summary = |stream: &StreamPlan| StreamSummary {
            name: stream.name.clone(),
            group: stream.group,
            engine: record.engine.kind,
            started_ns: record.started_ns,
            ended_ns: record.ended_ns,
            cut_ns: warmup.cut_ns,
            depth_search: None,
            stop: record.stop,
            short_operations: 0,
            errors: Default::default(),
            usage: WorkerUsage { user_ns: part(record.usage.user_ns, 1.0), ..Default::default() },
            mean_depth: record.mean_depth.map(|d| d / streams),
            longest_gap_ns: record.longest_gap_ns,
            directions: directions
                .iter()
                .map(|(direction, share)| {
                    let operations = part(record.operations, *share);
                    let counted = operations - part(warmup.operations, *share);
                    let mut latency = Histogram::new();
                    latency.record_n(if *direction == Direction::Read { 500_000 } else { 2_000_000 }, counted);
                    DirectionSummary {
                        direction: *direction,
                        operations,
                        bytes: operations * stream.block().block_size_bytes,
                        counted_operations: counted,
                        counted_bytes: counted * stream.block().block_size_bytes,
                        latency,
                    }
                })
                .collect(),
        };
        record.streams = plan.streams.iter().map(summary).collect();
    }

    /// Codes of the refusals.
    pub fn codes(&self) -> Vec<&'static str> {
        self.judge().refusals.iter().map(crate::Refusal::code).collect()
    }
}
