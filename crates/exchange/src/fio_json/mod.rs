//! fio's JSON, as fio 3.33 prints it with `--output-format=json` and `json+`.
//!
//! Every job of every executed phase that does I/O is a job, a phase with one of them is one. A layout is none, as with
//! fio: its readers take the first job for what was measured. What fio has no place for (statuses, reasons, metrics with
//! their intervals, layouts) stands under the top-level key `narrows`.

mod direction;
mod disk_util;
mod errno;
mod job_options;
mod latency;
mod pairs;
mod provenance;

use crate::job::{Counted, Direction, ExecutedJob, in_directories, jobs, refusal};
use crate::side::Side;
use crate::wall_time::WallTime;
use crate::{ExportedFile, Options, Result};
use direction::{DirectionStats, SyncStats};
use disk_util::DiskUtil;
use latency::LatencyShares;
use model::{Run, StopCause, sanitize_json};
use pairs::Pairs;
use provenance::Provenance;
use serde::Serialize;
use std::path::Path;

/// ECANCELED: the result was withdrawn.
const REFUSED: i32 = 125;
/// fio's buckets of the depth.
const DEPTHS: [(&str, u32); 7] = [("1", 1), ("2", 2), ("4", 4), ("8", 8), ("16", 16), ("32", 32), (">=64", 64)];
/// fio's buckets of batches; each key holds what is above the key before it.
const BATCHES: [(&str, u32); 7] =
    [("0", 0), ("4", 4), ("8", 8), ("16", 16), ("32", 32), ("64", 64), (">=64", u32::MAX)];

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "fio version")]
    fio_version: String,
    timestamp: u64,
    timestamp_ms: u64,
    time: String,
    #[serde(rename = "global options")]
    global_options: Pairs<String>,
    jobs: Vec<JobStats<'a>>,
    disk_util: Vec<DiskUtil<'a>>,
    narrows: Provenance<'a>,
}

/// One job. Where fio reports both directions together (`unified_rw_reporting=mixed`), `mixed` stands in place of the
/// others.
#[derive(Serialize)]
struct JobStats<'a> {
    jobname: &'a str,
    groupid: usize,
    job_start: u64,
    error: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_err: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_error: Option<i32>,
    eta: u64,
    elapsed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    desc: Option<String>,
    #[serde(rename = "job options")]
    options: Pairs<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mixed: Option<DirectionStats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<DirectionStats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<DirectionStats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<DirectionStats>,
    sync: SyncStats,
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    majf: u64,
    minf: u64,
    iodepth_level: Pairs<f64>,
    iodepth_submit: Pairs<f64>,
    iodepth_complete: Pairs<f64>,
    latency_ns: Pairs<f64>,
    latency_us: Pairs<f64>,
    latency_ms: Pairs<f64>,
    latency_depth: u32,
    latency_target: u64,
    latency_percentile: f64,
    latency_window: u64,
}

/// The whole run, or the phases asked for, as one document.
///
/// # Errors
/// A phase is named that does not exist, or none that does I/O was executed.
pub fn fio_json(run: &Run, options: &Options) -> Result<String> {
    let all = jobs(run, options)?;
    let is_exported =
        |job: &&ExecutedJob| !job.is_layout() || job.stop() == StopCause::Failed || !options.phases.is_empty();
    let mut jobs: Vec<&ExecutedJob> = all.iter().filter(is_exported).collect();
    if jobs.is_empty() {
        // It did not get further than that.
        jobs = all.iter().collect();
    }
    Ok(document(run, &jobs, options))
}

/// Each measured phase as a document of its own, as plotting tools want it, which add up the jobs of one document:
/// `direct-4k/randread-iodepth-32-numjobs-1.json`. Phases that only prepare, and refused ones, are left out.
///
/// # Errors
/// As [`fio_json`]; also if no phase stands.
pub fn fio_json_files(run: &Run, options: &Options) -> Result<Vec<ExportedFile>> {
    let mut jobs = jobs(run, options)?;
    jobs.retain(|j| j.is_measurement() && (j.is_valid() || options.keep_refused));
    if jobs.is_empty() {
        let reason = "no measured phase is valid".to_owned();
        return Err(crate::ExchangeError::NothingRecorded { run: run.id.clone(), reason });
    }
    let file = |(directory, job): (String, &ExecutedJob)| ExportedFile {
        path: Path::new(&directory).join(format!("{}.json", job.file_stem())),
        text: document(run, &[job], options),
    };
    Ok(in_directories(&jobs).into_iter().map(file).collect())
}

fn document(run: &Run, jobs: &[&ExecutedJob], options: &Options) -> String {
    let wall = WallTime::of(run);
    let document = Document {
        fio_version: format!("fio-3.33-narrows-{}", run.program_version),
        timestamp: wall.ended_ms() / 1000,
        timestamp_ms: wall.ended_ms(),
        time: wall.ended_ctime(),
        global_options: Pairs::default(),
        jobs: jobs.iter().map(|job| job_stats(run, job, &wall, options)).collect(),
        disk_util: disk_util::of(run, jobs),
        narrows: Provenance::new(run, jobs, options),
    };
    let text = serde_json::to_string_pretty(&document).expect("texts, numbers and lists of them are always JSON");
    let mut text = sanitize_json(text);
    text.push('\n');
    text
}

fn job_stats<'a>(run: &Run, job: &'a ExecutedJob<'a>, wall: &WallTime, options: &Options) -> JobStats<'a> {
    let record = job.record;
    let usage = job.usage();
    // A refused phase is a job that did nothing, so that no reader takes its numbers for good ones.
    let shown = job.is_valid() || options.keep_refused;
    let counted = if shown { job.counted } else { Counted::default() };
    let (mut mixed, mut read, mut write, mut trim) = (None, None, None, None);
    let whole = || {
        let of = |side: &Side| DirectionStats::of(job, side, job.id.is_none(), options);
        Some(if shown { of(&job.whole(options.keep_refused)) } else { DirectionStats::default() })
    };
    match (job.direction, &job.summary) {
        (Direction::Read, _) => read = whole(),
        (Direction::Write, _) => write = whole(),
        (Direction::Trim, _) => trim = whole(),
        // A record that does not tell directions apart.
        (Direction::Mixed, None) => mixed = whole(),
        (Direction::Mixed, Some(_)) => {
            use model::Direction::{Read, Trim, Write, WriteZeroes};
            let side = |of: &[model::Direction]| {
                let side = job.side(of, options.keep_refused).filter(|_| shown)?;
                Some(DirectionStats::of(job, &side, false, options))
            };
            (read, write, trim) = (side(&[Read]), side(&[Write, WriteZeroes]), side(&[Trim]));
        }
    }
    if mixed.is_none() {
        for direction in [&mut read, &mut write, &mut trim] {
            direction.get_or_insert_with(DirectionStats::default);
        }
    }
    let errors = job.errors().values().fold(0u64, |sum, n| sum.saturating_add(*n));
    let first_error = job.errors().keys().next().map(|name| errno::number(name));
    let error = error_of(job, first_error);
    let shares = if shown { LatencyShares::of(&job.latency()) } else { LatencyShares::default() };
    let cpu = |used: u64| {
        let time = job.duration_ns() as f64 * job.workers as f64;
        pairs::decimal(if shown && time > 0.0 { used as f64 * 100.0 / time } else { 0.0 })
    };
    let depth = job.mean_depth().filter(|d| d.is_finite()).map_or(job.depth, |mean| {
        let of_each = (mean / job.workers as f64).round();
        (of_each as u32).clamp(1, job.depth.max(1))
    });
    let done = counted.operations > 0;
    JobStats {
        jobname: job.as_written(),
        groupid: job.index,
        job_start: wall.at_ms(job.started_ns()),
        error,
        total_err: (errors > 0).then_some(errors),
        first_error,
        eta: 0,
        elapsed: job.ended_ns().div_ceil(1_000_000_000),
        desc: remark(job),
        options: job_options::of(run, job),
        mixed,
        read,
        write,
        trim,
        sync: SyncStats::of(job, shown, options),
        job_runtime: job.duration_ns() / 1_000_000,
        usr_cpu: cpu(usage.user_ns),
        sys_cpu: cpu(usage.system_ns),
        ctx: usage.voluntary_switches.saturating_add(usage.involuntary_switches),
        majf: 0,
        minf: 0,
        iodepth_level: all_in_one(&DEPTHS.map(|(key, _)| key), done, DEPTHS.iter().rposition(|(_, low)| *low <= depth)),
        iodepth_submit: batch(record.engine.batch_submit, done),
        iodepth_complete: batch(record.engine.batch_complete, done),
        latency_ns: shares.ns,
        latency_us: shares.us,
        latency_ms: shares.ms,
        latency_depth: job.depth,
        latency_target: 0,
        latency_percentile: 100.0,
        latency_window: 0,
    }
}

/// The errno that a job ended with; [`REFUSED`] where its numbers do not stand, else 0.
fn error_of(job: &ExecutedJob, first_error: Option<i32>) -> i32 {
    let failed = job.stop() == StopCause::Failed;
    // The other jobs of a phase are ended by the one that failed.
    let anothers = job.id.is_some() && !job.record.errors.is_empty();
    match first_error {
        Some(errno) if failed => errno,
        None if failed && !anothers => errno::EIO,
        _ if !job.is_valid() => REFUSED,
        _ => 0,
    }
}

/// What has to be said before the numbers are read.
fn remark(job: &ExecutedJob) -> Option<String> {
    let mut parts = Vec::new();
    if !job.is_valid() {
        parts.push(format!("refused by narrows: {}", refusal(job.phase)));
    }
    if job.stop() == StopCause::Failed && (job.id.is_none() || !job.errors().is_empty()) {
        parts.push("ended by an error".to_owned());
    }
    if job.stop() == StopCause::Interrupted {
        parts.push("interrupted".to_owned());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// 100 % in one bucket: what is known is the usual value, not its distribution.
fn all_in_one(keys: &[&str], done: bool, place: Option<usize>) -> Pairs<f64> {
    let share = |i: usize| if done && Some(i) == place { 100.0 } else { 0.0 };
    keys.iter().enumerate().map(|(i, key)| ((*key).to_owned(), share(i))).collect()
}

fn batch(most: u32, done: bool) -> Pairs<f64> {
    let most = most.max(1);
    all_in_one(&BATCHES.map(|(key, _)| key), done, BATCHES.iter().position(|(_, high)| most <= *high))
}
