//! A phase, or one job of it, as other tools see it: an access pattern, block size, depth and number of workers.
//!
//! This is the one place that maps streams to jobs: [`jobs`] gives every job of every phase as the plan names them
//! ([`model::PhasePlan::jobs`]), [`phases`] each phase as one, since a series and samples belong to the whole phase. A
//! record of a version that did not tell streams apart has its phases as one in both, and what read and wrote in it as
//! one.

use crate::error::check_phases;
use crate::side::Side;
use crate::{ExchangeError, Options, Result};
use model::{
    Access, BlockPlan, EngineKind, Interval, IoPath, Metric, MetricStatus, Ns, Operation, PhaseKind, PhaseRecord,
    PhaseRun, PhaseStatus, PlannedJob, Run, StopCause, StreamKind, StreamPlan, StreamSummary, Sync, Timing,
    WorkerUsage,
};
use std::collections::BTreeMap;

/// Why a phase's numbers do not stand.
pub(crate) fn refusal(phase: &PhaseRun) -> String {
    match &phase.reasons[..] {
        [] => "no reason given".to_owned(),
        reasons => model::reason::joined(reasons),
    }
}

/// What of a run an export holds without its numbers, since they are refused: each phase, and why; for a person who does not read the
/// remarks of a document.
pub fn withheld(run: &Run, options: &Options) -> Vec<(String, String)> {
    let refused = |p: &&PhaseRun| p.plan.measures_target() && p.record.is_some() && p.status != PhaseStatus::Measured;
    let wanted = run.phases.iter().filter(|p| !options.keep_refused && options.includes(&p.plan.name));
    wanted.filter(refused).map(|p| (p.plan.name.clone(), refusal(p))).collect()
}

/// Which way the bytes of a job went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
    Trim,
    /// Reads and writes.
    Mixed,
}

/// What counts of a job, the warm-up left out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub operations: u64,
    pub bytes: u64,
    pub time_ns: Ns,
}

/// An executed phase that did I/O, or one of its jobs.
#[derive(Clone, Debug)]
pub(crate) struct ExecutedJob<'a> {
    /// Position of the phase in the run.
    pub index: usize,
    pub phase: &'a PhaseRun,
    pub record: &'a PhaseRecord,
    /// Its part of metric ids, where it is one job of several.
    pub id: Option<String>,
    name: String,
    /// Its streams as planned.
    pub streams: Vec<&'a StreamPlan>,
    /// What they did, where the record tells them apart.
    pub summary: Option<StreamSummary>,
    pub direction: Direction,
    /// fio's `rw`.
    pub rw: &'static str,
    /// fio's `bs`.
    pub block_size: String,
    /// Operations in flight of each worker.
    pub depth: u32,
    pub workers: usize,
    pub counted: Counted,
}

/// The phases of a run that are wanted, each as one job, in order.
///
/// # Errors
/// A phase is named that does not exist, or nothing wanted was executed.
pub(crate) fn phases<'a>(run: &'a Run, options: &Options) -> Result<Vec<ExecutedJob<'a>>> {
    wanted(run, options, |i, p| ExecutedJob::of_phase(i, p).into_iter().collect())
}

/// The jobs of the phases that are wanted, in order.
///
/// # Errors
/// As [`phases`].
pub(crate) fn jobs<'a>(run: &'a Run, options: &Options) -> Result<Vec<ExecutedJob<'a>>> {
    wanted(run, options, ExecutedJob::of_jobs)
}

fn wanted<'a>(
    run: &'a Run,
    options: &Options,
    of: impl Fn(usize, &'a PhaseRun) -> Vec<ExecutedJob<'a>>,
) -> Result<Vec<ExecutedJob<'a>>> {
    check_phases(run, &options.phases)?;
    let wanted = run.phases.iter().enumerate().filter(|(_, p)| options.includes(&p.plan.name));
    let jobs: Vec<ExecutedJob> = wanted.flat_map(|(i, p)| of(i, p)).collect();
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

impl<'a> ExecutedJob<'a> {
    /// A whole phase as a job; `None` if it was not executed, or copied memory only.
    pub fn of_phase(index: usize, phase: &'a PhaseRun) -> Option<Self> {
        let streams: Vec<usize> = (0..phase.plan.streams.len()).collect();
        let mut directions: Vec<_> = phase.plan.streams.iter().flat_map(StreamPlan::directions).collect();
        directions.sort_unstable();
        directions.dedup();
        let all = PlannedJob { id: String::new(), name: String::new(), streams, directions };
        Self::of(index, phase, &all, None)
    }

    /// The jobs of a phase, if its record tells them apart, else the phase as one.
    pub fn of_jobs(index: usize, phase: &'a PhaseRun) -> Vec<Self> {
        let planned = phase.plan.jobs();
        let is_by_job = phase.record.as_ref().is_some_and(|r| planned.iter().all(|j| r.job(&phase.plan, j).is_some()));
        if planned.len() < 2 || !is_by_job {
            return Self::of_phase(index, phase).into_iter().collect();
        }
        planned.iter().filter_map(|j| Self::of(index, phase, j, Some(j.id.clone()))).collect()
    }

    fn of(index: usize, phase: &'a PhaseRun, planned: &PlannedJob, id: Option<String>) -> Option<Self> {
        let record = phase.record.as_ref()?;
        if phase.plan.copies_memory() {
            return None;
        }
        let streams: Vec<&StreamPlan> = planned.streams.iter().filter_map(|i| phase.plan.streams.get(*i)).collect();
        let alike = streams.windows(2).all(|w| same_work(w[0], w[1]));
        let first_depth = streams.first().map_or(1, |s| s.path.queue_depth);
        let all_depths = streams.iter().fold(0u32, |sum, s| sum.saturating_add(s.path.queue_depth));
        let direction = direction(&streams);
        let summary = record.job(&phase.plan, planned);
        let name = match &id {
            None => phase.plan.name.clone(),
            Some(_) if !planned.name.is_empty() => planned.name.clone(),
            Some(id) => format!("{}.{id}", phase.plan.name),
        };
        let counted = match (&summary, &id) {
            (Some(summary), Some(_)) => counted_of_job(phase, summary),
            _ => counted(phase, record),
        };
        Some(Self {
            index,
            phase,
            record,
            id,
            name,
            direction,
            rw: rw(direction, &streams),
            block_size: block_size(&streams),
            depth: if alike { first_depth } else { all_depths },
            workers: if alike { streams.len().max(1) } else { 1 },
            counted,
            streams,
            summary,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name as it was written, where the phase is named after its only job: `rand read` of the phase `rand-read`.
    pub fn as_written(&self) -> &str {
        let plain = |c: char| c.is_alphanumeric() || c == '_';
        let named_after = |job: &str| {
            let made: String = job.chars().map(|c| if plain(c) { c } else { '-' }).collect();
            made.trim_matches('-') == self.name
        };
        match self.streams.as_slice() {
            [first, rest @ ..] if self.id.is_none() && rest.iter().all(|s| s.name == first.name) => {
                if named_after(&first.name) { &first.name } else { &self.name }
            }
            _ => &self.name,
        }
    }

    /// Whether it only wrote what is read later.
    pub fn is_layout(&self) -> bool {
        self.phase.plan.kind == PhaseKind::Layout
    }

    /// Whether its numbers may be believed.
    pub fn is_valid(&self) -> bool {
        self.phase.status == PhaseStatus::Measured
    }

    /// Whether it was there to be measured, not to prepare.
    pub fn is_measurement(&self) -> bool {
        self.phase.plan.measures_target()
    }

    pub fn is_direct(&self) -> bool {
        self.streams.first().map_or(self.phase.plan.access, |s| s.path.access) == Access::Direct
    }

    /// The part of the record that is this job's alone, where it is one of several.
    fn own(&self) -> Option<&StreamSummary> {
        self.summary.as_ref().filter(|_| self.id.is_some())
    }

    pub fn started_ns(&self) -> Ns {
        self.own().map_or(self.record.started_ns, |j| j.started_ns)
    }

    pub fn ended_ns(&self) -> Ns {
        self.own().map_or(self.record.ended_ns, |j| j.ended_ns)
    }

    pub fn duration_ns(&self) -> Ns {
        self.own().map_or(self.record.duration_ns(), StreamSummary::duration_ns)
    }

    pub fn cut_ns(&self) -> Ns {
        self.own().map_or(self.record.warmup.cut_ns, |j| j.cut_ns)
    }

    pub fn errors(&self) -> &BTreeMap<String, u64> {
        self.own().map_or(&self.record.errors, |j| &j.errors)
    }

    pub fn stop(&self) -> StopCause {
        self.own().map_or(self.record.stop, |j| j.stop)
    }

    pub fn usage(&self) -> WorkerUsage {
        self.own().map_or(self.record.usage, |j| j.usage)
    }

    pub fn mean_depth(&self) -> Option<f64> {
        self.own().map_or(self.record.mean_depth, |j| j.mean_depth)
    }

    pub fn short_operations(&self) -> u64 {
        self.own().map_or(self.record.short_operations, |j| j.short_operations)
    }

    pub fn engine(&self) -> EngineKind {
        self.own().map_or(self.record.engine.kind, |j| j.engine)
    }

    /// The value of a metric of the job as a whole; a refused one only if those are kept.
    fn metric(&self, quantity: &str, keep_refused: bool) -> Option<f64> {
        let own = match &self.id {
            None => format!("{}.{quantity}", self.phase.plan.name),
            Some(id) => format!("{}.{id}.{quantity}", self.phase.plan.name),
        };
        let metric: &Metric = self.phase.metrics.iter().find(|m| m.id == own)?;
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

    /// One of its directions: its part of what the job moved, at that part of its rate.
    pub fn side(&self, of: &[model::Direction], keep_refused: bool) -> Option<Side> {
        let summary = self.summary.as_ref()?;
        let all = warmup_counts(self.phase);
        let sum = |sides: &mut dyn Iterator<Item = &model::DirectionSummary>| {
            sides.fold((0u64, 0u64), |(n, bytes), d| {
                let one = if all { (d.operations, d.bytes) } else { (d.counted_operations, d.counted_bytes) };
                (n.saturating_add(one.0), bytes.saturating_add(one.1))
            })
        };
        let mine = || summary.directions.iter().filter(|d| of.contains(&d.direction));
        mine().next()?;
        let (operations, bytes) = sum(&mut mine());
        let (all_operations, all_bytes) = sum(&mut summary.data());
        let share = |part: u64, all: u64| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        let mut latency = model::Histogram::new();
        mine().for_each(|d| latency.merge(&d.latency));
        Some(Side {
            operations,
            bytes,
            time_ns: self.counted.time_ns,
            bytes_per_s: self.bytes_per_s(keep_refused) * share(bytes, all_bytes),
            iops: self.iops(keep_refused) * share(operations, all_operations),
            latency,
        })
    }

    /// All that it moved, whichever way.
    pub fn whole(&self, keep_refused: bool) -> Side {
        Side {
            operations: self.counted.operations,
            bytes: self.counted.bytes,
            time_ns: self.counted.time_ns,
            bytes_per_s: self.bytes_per_s(keep_refused),
            iops: self.iops(keep_refused),
            latency: self.latency(),
        }
    }

    /// Latencies of all that moved data.
    pub fn latency(&self) -> model::Histogram {
        self.own().map_or_else(|| self.record.latency.clone(), StreamSummary::latency)
    }

    /// The intervals that count; none where they are of several jobs together.
    pub fn intervals(&self) -> &'a [Interval] {
        let all = &self.record.intervals;
        if self.id.is_some() {
            return &[];
        }
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
        let syncs = |sync| self.streams.iter().any(|s| s.durability.sync == sync);
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

/// Jobs with the directory that each goes to: one for each [`ExecutedJob::group`]; a job whose file name is taken there gets a
/// directory with the name of its phase, and its own where it is one of several.
pub(crate) fn in_directories<'a, 'j>(jobs: &'j [ExecutedJob<'a>]) -> Vec<(String, &'j ExecutedJob<'a>)> {
    let mut placed: Vec<(String, &ExecutedJob)> = Vec::new();
    for job in jobs {
        let taken = |directory: &str| placed.iter().any(|(d, j)| d == directory && j.file_stem() == job.file_stem());
        let mut directory = job.group();
        if taken(&directory) {
            directory = format!("{directory}-{}", file_name(&job.phase.plan.name));
            if let Some(id) = &job.id {
                directory = format!("{directory}-{}", file_name(id));
            }
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
    let kind = match (&a.kind, &b.kind) {
        (StreamKind::Block(a), StreamKind::Block(b)) => {
            BlockPlan { region_start_bytes: b.region_start_bytes, files: b.files.clone(), ..a.clone() }.into()
        }
        (a, _) => a.clone(),
    };
    let placed = StreamPlan {
        kind,
        path: IoPath { cpus: b.path.cpus.clone(), ..a.path.clone() },
        timing: Timing { start_delay_ns: b.timing.start_delay_ns, ..a.timing },
        seed: b.seed,
        name: b.name.clone(),
        ..a.clone()
    };
    placed == *b
}

fn direction(streams: &[&StreamPlan]) -> Direction {
    let trims = |s: &StreamPlan| {
        let trims = |b: &BlockPlan| (b.operation == Operation::Trim && b.changes_data()) || b.trim_before_write;
        s.blocks().is_some_and(|s| trims(s.block))
    };
    let writes = |s: &StreamPlan| s.changes_data() && s.blocks().is_none_or(|s| s.block.operation != Operation::Trim);
    let any = |which: &dyn Fn(&StreamPlan) -> bool| streams.iter().any(|s| which(s));
    match (any(&StreamPlan::reads), any(&writes), any(&trims)) {
        (true, false, false) => Direction::Read,
        (false, true, false) => Direction::Write,
        (false, false, true) => Direction::Trim,
        _ => Direction::Mixed,
    }
}

fn rw(direction: Direction, streams: &[&StreamPlan]) -> &'static str {
    let sequential = streams.iter().all(|s| s.blocks().is_none_or(|s| s.block.order.is_sequential()));
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

/// The block size as fio prints it: one size, or a range.
fn block_size(streams: &[&StreamPlan]) -> String {
    // What is not of blocks has fio's default there.
    let of = |s: &&StreamPlan| s.blocks().map_or([4096; 2], |s| [s.block.min_block_bytes(), s.block.block_size_bytes]);
    let low = streams.iter().map(|s| of(s)[0]).min().unwrap_or(0);
    let high = streams.iter().map(|s| of(s)[1]).max().unwrap_or(0);
    if low == high { fio_size(high) } else { format!("{}-{}", fio_size(low), fio_size(high)) }
}

/// Whether so little was left after the warm-up that all of the phase counts; the run says so where its rate stands.
fn warmup_counts(phase: &PhaseRun) -> bool {
    phase.metrics.iter().flat_map(|m| &m.reasons).any(|r| r.is("warm-up-counted"))
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

fn counted_of_job(phase: &PhaseRun, job: &StreamSummary) -> Counted {
    if warmup_counts(phase) {
        let sum = |of: fn(&model::DirectionSummary) -> u64| job.data().fold(0u64, |sum, d| sum.saturating_add(of(d)));
        return Counted { operations: sum(|d| d.operations), bytes: sum(|d| d.bytes), time_ns: job.duration_ns() };
    }
    Counted { operations: job.counted_operations(), bytes: job.counted_bytes(), time_ns: job.counted_ns() }
}
