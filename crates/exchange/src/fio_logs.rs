//! The series as fio writes its logs: `msec, value, direction, block size, offset`, one line an interval.

use crate::job::{Direction, ExecutedJob, in_directories, per_second, phases};
use crate::{ExchangeError, ExportedFile, Options, Result};
use model::{Run, StreamPlan};
use std::fmt::Write;
use std::path::Path;

/// Bandwidth (KiB/s), operations per second and latency (ns) over time, one file each for each measured phase:
/// `direct-4k/randread-iodepth-32-numjobs-1_iops.1.log`.
///
/// Intervals without completions are lines with 0 in the first two and no line in the latter. The latency is the
/// median of the interval; intervals of several streams together have none.
///
/// # Errors
/// A phase is named that does not exist, or none that was measured has a series that stands.
pub fn fio_logs(run: &Run, options: &Options) -> Result<Vec<ExportedFile>> {
    let mut jobs = phases(run, options)?;
    jobs.retain(|j| j.is_measurement() && (j.is_valid() || options.keep_refused) && !j.intervals().is_empty());
    let files: Vec<ExportedFile> = in_directories(&jobs).into_iter().flat_map(|(d, job)| files(&d, job)).collect();
    if files.is_empty() {
        let reason = "no measured phase has a valid series".to_owned();
        return Err(ExchangeError::NothingRecorded { run: run.id.clone(), reason });
    }
    Ok(files)
}

fn files(directory: &str, job: &ExecutedJob) -> Vec<ExportedFile> {
    let (mut bandwidth, mut iops, mut latency) = (String::new(), String::new(), String::new());
    // Where both directions are one series, fio's unified reporting logs them as reads.
    let direction = match job.direction {
        Direction::Read | Direction::Mixed => 0,
        Direction::Write => 1,
        Direction::Trim => 2,
    };
    let block_size =
        job.phase.plan.streams.first().and_then(StreamPlan::blocks).map_or(0, |s| s.block.block_size_bytes);
    for interval in job.full_intervals() {
        let end = interval.start_ns.saturating_add(interval.length_ns);
        let msec = end.saturating_sub(job.record.started_ns) / 1_000_000;
        let line = |log: &mut String, value: u64| {
            // Writing to a String cannot fail.
            let _ = writeln!(log, "{msec}, {value}, {direction}, {block_size}, 0");
        };
        line(&mut bandwidth, (per_second(interval.bytes, interval.length_ns) / 1024.0).round() as u64);
        line(&mut iops, per_second(interval.operations, interval.length_ns).round() as u64);
        if let Some(median) = interval.latency_ns_p50 {
            line(&mut latency, median);
        }
    }
    let clat = latency.clone();
    [("bw", bandwidth), ("iops", iops), ("lat", latency), ("clat", clat)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(quantity, text)| ExportedFile {
            path: Path::new(directory).join(format!("{}_{quantity}.1.log", job.file_stem())),
            text,
        })
        .collect()
}
