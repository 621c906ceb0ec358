//! Phases of known truth for the tests of this crate.

use crate::{Context, JudgedPhase, judge_phase};
use model::{
    Access, ColdProof, CpuTicks, DataProof, DeviceId, DirectProof, Direction, DiskCounters, Layer, LayerKind, NS_PER_S,
    Operation, Order, PhasePlan, PhaseRecord, ProcessIo, QuietWindow, Round, Stack, Sync, SystemSample, TargetKind,
    WorkerUsage,
};

/// For tests that expect no refusal.
pub const NONE: &[&str] = &[];

/// Reasons as lines.
pub fn lines(reasons: &[model::Reason]) -> Vec<String> {
    reasons.iter().map(model::Reason::to_string).collect()
}

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
    pub group: Option<model::GroupPhase>,
}

const START: u64 = 10 * NS_PER_S;

impl Fixture {
    fn new(name: &str, operation: Operation, access: Access, block: u64, depth: u32, sync: Sync) -> Self {
        let order = if block > 4096 { Order::Sequential } else { Order::Random };
        let stream = test_runs::synced(test_runs::stream(operation, order, block, depth), sync, 0);
        let plan = PhasePlan { time_limit_ns: 4 * NS_PER_S, ..test_runs::plan(name, access, vec![stream]) };
        let record = PhaseRecord {
            direct: (access == Access::Direct).then(|| DirectProof::Proven("ext4".into())),
            data: (operation == Operation::Read).then(|| DataProof::Real("written by this run".into())),
            usage: WorkerUsage { user_ns: NS_PER_S / 10, system_ns: NS_PER_S / 5, ..Default::default() },
            mean_depth: Some(f64::from(depth)),
            ..test_runs::record(&plan, START)
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
            group: None,
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
        let block = self.plan.streams[0].blocks().unwrap().block.block_size_bytes;
        let intervals = (seconds * 10.0).round() as u64;
        let record = &mut self.record;
        let operations = (0..intervals).map(|i| per_second * (i + 1) / 10 - per_second * i / 10);
        test_runs::completed(record, block, operations);
        record.latency.clear();
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
        let operations = self.record.operations;
        let sectors = self.record.bytes / 512;
        let write = self.plan.is_write();
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
            group: self.group.as_ref(),
        };
        judge_phase(&self.plan, Some(&self.record), &context)
    }

    /// Has the record tell its streams apart, in these directions with these shares of the operations.
    pub fn split_directions(&mut self, directions: &[(Direction, f64)]) {
        let latency = |direction| if direction == Direction::Read { 500_000 } else { 2_000_000 };
        test_runs::split_directions(&self.plan, &mut self.record, directions, latency);
    }

    /// Codes of the refusals.
    pub fn codes(&self) -> Vec<String> {
        self.judge().refusals.iter().filter_map(|r| r.code().map(str::to_owned)).collect()
    }
}
