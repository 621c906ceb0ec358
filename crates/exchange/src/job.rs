//! A phase as other tools see it: a job with one access pattern, block size, depth and number of workers.
//!
//! This is the one place that maps streams to jobs. A record holds one histogram and one series for all streams of its
//! phase, so a phase is one job; if its streams read and write, its numbers belong to both directions together.

use crate::error::check_phases;
use crate::{ExchangeError, Options, Result};
use model::{
    Access, Interval, Metric, MetricStatus, Ns, Operation, PhaseKind, PhaseRecord, PhaseRun, PhaseStatus, Run,
    StreamPlan, Sync,
};

/// Which way the bytes of a job went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
    Trim,
    /// Several, not told apart.
    Mixed,
}

/// What counts of a job, the warm-up left out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub operations: u64,
    pub bytes: u64,
    pub time_ns: Ns,
}

/// An executed phase that did I/O.
#[derive(Clone, Debug)]
pub(crate) struct Job<'a> {
    /// Position of the phase in the run.
    pub index: usize,
    pub phase: &'a PhaseRun,
    pub record: &'a PhaseRecord,
    pub direction: Direction,
    /// fio's `rw`.
    pub rw: &'static str,
    /// fio's `bs`.
    pub block_size: String,
    /// Operations in flight of each worker.
    pub depth: u32,
    /// Workers.
    pub workers: usize,
    pub counted: Counted,
}

/// The jobs of a run that are wanted, in order.
///
/// # Errors
/// A phase is named that does not exist, or nothing wanted was executed.
pub(crate) fn jobs<'a>(run: &'a Run, options: &Options) -> Result<Vec<Job<'a>>> {
    check_phases(run, &options.phases)?;
    let wanted = run.phases.iter().enumerate().filter(|(_, p)| options.wants(&p.plan.name));
    let jobs: Vec<Job> = wanted.filter_map(|(i, p)| Job::of(i, p)).collect();
    if jobs.is_empty() {
        let reason = if run.phases.is_empty() {
            "it has no phases".to_owned()
        } else {
            "no phase of it that does I/O was executed".to_owned()
        };
        return Err(ExchangeError::NothingRecorded { run: run.id.clone(), reason });
    }
    Ok(jobs)
}

impl<'a> Job<'a> {
    /// The job of a phase; `None` if it was not executed, or copied memory only.
    pub fn of(index: usize, phase: &'a PhaseRun) -> Option<Self> {
        let record = phase.record.as_ref()?;
        if phase.plan.kind == PhaseKind::MemoryCopy {
            return None;
        }
        let streams = &phase.plan.streams;
        let alike = streams.windows(2).all(|w| same_work(&w[0], &w[1]));
        let first_depth = streams.first().map_or(1, |s| s.queue_depth);
        let all_depths = streams.iter().fold(0u32, |sum, s| sum.saturating_add(s.queue_depth));
        let direction = direction(streams);
        Some(Self {
            index,
            phase,
            record,
            direction,
            rw: rw(direction, streams),
            block_size: block_size(streams),
            depth: if alike { first_depth } else { all_depths },
            workers: if alike { streams.len().max(1) } else { 1 },
            counted: counted(phase, record),
        })
    }

    pub fn name(&self) -> &'a str {
        &self.phase.plan.name
    }

    /// Whether its numbers may be believed.
    pub fn stands(&self) -> bool {
        self.phase.status == PhaseStatus::Measured
    }

    /// Whether it was there to be measured, not to prepare.
    pub fn is_measurement(&self) -> bool {
        self.phase.plan.kind == PhaseKind::Measure
    }

    pub fn is_direct(&self) -> bool {
        self.phase.plan.access == Access::Direct
    }

    /// The value of a metric of the phase as a whole; a refused one only if those are kept.
    pub fn metric(&self, quantity: &str, keep_refused: bool) -> Option<f64> {
        let belongs = |m: &&Metric| {
            m.id.strip_prefix(self.name()).and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| rest == quantity)
        };
        let metric = self.phase.metrics.iter().find(belongs)?;
        match metric.status {
            MetricStatus::Measured => metric.value,
            MetricStatus::Refused if keep_refused => metric.rejected_value,
            _ => None,
        }
    }

    /// Bytes per second: the rate that the run states, else what was counted.
    pub fn bytes_per_s(&self, keep_refused: bool) -> f64 {
        self.metric("throughput_bytes_per_s", keep_refused)
            .unwrap_or_else(|| per_second(self.counted.bytes, self.counted.time_ns))
    }

    /// Operations per second: the rate that the run states, else what was counted.
    pub fn iops(&self, keep_refused: bool) -> f64 {
        self.metric("iops", keep_refused).unwrap_or_else(|| per_second(self.counted.operations, self.counted.time_ns))
    }

    /// The intervals that count.
    pub fn intervals(&self) -> &'a [Interval] {
        let all = &self.record.intervals;
        if warmup_counts(self.phase) {
            return all;
        }
        let from = self.record.started_ns.saturating_add(self.record.warmup.cut_ns);
        &all[all.partition_point(|i| i.start_ns < from)..]
    }

    /// Those of full length: the last one of a phase is shorter, so that a few operations more or less distort its rate.
    pub fn full_intervals(&self) -> impl Iterator<Item = &'a Interval> + Clone {
        let all = self.intervals();
        let full = all.iter().map(|i| i.length_ns).max().unwrap_or(0);
        all.iter().filter(move |i| i.length_ns >= full - full / 100)
    }

    /// Buffered or direct, with the block size and the sync: jobs of one such group may stand in one plot.
    pub fn group(&self) -> String {
        let access = if self.is_direct() { "direct" } else { "buffered" };
        let syncs = |sync| self.phase.plan.streams.iter().any(|s| s.sync == sync);
        let sync = match () {
            () if syncs(Sync::FdatasyncEach) => "-fdatasync",
            () if syncs(Sync::FsyncPerRound) => "-fsync",
            () => "",
        };
        format!("{access}-{}{sync}", self.block_size)
    }

    /// `randread-iodepth-32-numjobs-1`, as plotting tools look for it.
    pub fn file_stem(&self) -> String {
        format!("{}-iodepth-{}-numjobs-{}", self.rw, self.depth, self.workers)
    }
}

/// Jobs with the directory that each goes to: one for each [`Job::group`]; a job whose file name is taken there gets a
/// directory with the name of its phase.
pub(crate) fn in_directories<'a, 'j>(jobs: &'j [Job<'a>]) -> Vec<(String, &'j Job<'a>)> {
    let mut placed: Vec<(String, &Job)> = Vec::new();
    for job in jobs {
        let taken = |directory: &str| placed.iter().any(|(d, j)| d == directory && j.file_stem() == job.file_stem());
        let mut directory = job.group();
        if taken(&directory) {
            directory = format!("{directory}-{}", file_name(job.name()));
        }
        while taken(&directory) {
            directory.push_str("-again");
        }
        placed.push((directory, job));
    }
    placed
}

/// A name that may stand in a path.
pub(crate) fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    name.chars().map(kept).collect()
}

/// `n` per second of `time_ns`; 0 if no time passed.
pub(crate) fn per_second(n: u64, time_ns: Ns) -> f64 {
    if time_ns == 0 { 0.0 } else { n as f64 * 1e9 / time_ns as f64 }
}

/// A size as fio writes it: `4k`, `1m`, `512`.
pub(crate) fn fio_size(bytes: u64) -> String {
    for (shift, unit) in [(40, 't'), (30, 'g'), (20, 'm'), (10, 'k')] {
        if bytes != 0 && bytes.is_multiple_of(1 << shift) {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// Whether two streams differ only in where they work, on which processors, and in their names and seeds.
fn same_work(a: &StreamPlan, b: &StreamPlan) -> bool {
    let placed = StreamPlan {
        region_start_bytes: b.region_start_bytes,
        seed: b.seed,
        name: b.name.clone(),
        files: b.files.clone(),
        cpus: b.cpus.clone(),
        start_delay_ns: b.start_delay_ns,
        ..a.clone()
    };
    placed == *b
}

fn direction(streams: &[StreamPlan]) -> Direction {
    let trims = |s: &StreamPlan| (s.operation == Operation::Trim && s.changes_data()) || s.trim_before_write;
    let writes = |s: &StreamPlan| s.operation != Operation::Trim && s.changes_data();
    match (streams.iter().any(StreamPlan::reads), streams.iter().any(writes), streams.iter().any(trims)) {
        (true, false, false) => Direction::Read,
        (false, true, false) => Direction::Write,
        (false, false, true) => Direction::Trim,
        _ => Direction::Mixed,
    }
}

fn rw(direction: Direction, streams: &[StreamPlan]) -> &'static str {
    let sequential = streams.iter().all(|s| s.order.is_sequential());
    match (direction, sequential) {
        (Direction::Read, true) => "read",
        (Direction::Read, false) => "randread",
        (Direction::Write, true) => "write",
        (Direction::Write, false) => "randwrite",
        (Direction::Trim, true) => "trim",
        (Direction::Trim, false) => "randtrim",
        (Direction::Mixed, true) => "rw",
        (Direction::Mixed, false) => "randrw",
    }
}

/// One size, or a range.
fn block_size(streams: &[StreamPlan]) -> String {
    let low = streams.iter().map(StreamPlan::min_block_bytes).min().unwrap_or(0);
    let high = streams.iter().map(|s| s.block_size_bytes).max().unwrap_or(0);
    if low == high { fio_size(high) } else { format!("{}-{}", fio_size(low), fio_size(high)) }
}

/// Whether so little was left after the warm-up that all of the phase counts; the run says so where its rate stands.
fn warmup_counts(phase: &PhaseRun) -> bool {
    phase.metrics.iter().flat_map(|m| &m.reasons).any(|r| r.starts_with("warm-up-counted"))
}

fn counted(phase: &PhaseRun, record: &PhaseRecord) -> Counted {
    if warmup_counts(phase) {
        return Counted { operations: record.operations, bytes: record.bytes, time_ns: record.duration_ns() };
    }
    Counted {
        operations: record.operations.saturating_sub(record.warmup.operations),
        bytes: record.bytes.saturating_sub(record.warmup.bytes),
        time_ns: record.duration_ns().saturating_sub(record.warmup.cut_ns),
    }
}
