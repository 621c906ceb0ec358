//! A recording as a run of the archive: its rate, how old frames were when they were durable, and its streams.

use crate::Recorded;
use conduct::kept_run;
use model::{Better, Failure, Metric, PhaseRecord, Run, RunState, Unit};
use std::path::Path;

/// The name of the one part.
const RECORD: &str = "record";

/// The run of a recording that goes on: what the archive has of it where the program is killed.
///
/// # Errors
/// As [`run_of`].
pub fn begun_run(path: &Path, named: &str, simulated: bool, started: &str) -> Result<Run, Failure> {
    let (target, environment) = kept_run::describe_target(named, path, simulated);
    let mut run = kept_run::blank("record", started, target, environment)?;
    kept_run::push(&mut run, RECORD.to_owned(), Vec::new(), Some(PhaseRecord::default()));
    Ok(run)
}

/// The run of a recording on what the user called so.
///
/// # Errors
/// The kernel gives no random numbers.
pub fn run_of(recorded: &Recorded, named: &str, started: &str, remarks: &[String]) -> Result<Run, Failure> {
    let (target, environment) = kept_run::describe_target(named, &recorded.path, recorded.simulated);
    let mut run = kept_run::blank("record", started, target, environment)?;
    run.state = if recorded.ran.written.failures > 0 { RunState::Failed } else { RunState::Complete };
    (run.duration_ns, run.bytes_written) = (recorded.now.elapsed_ns, recorded.ran.written.written_bytes);
    run.remarks = remarks.to_vec();
    let metric = |id: String, unit, better, value| Metric::measured(format!("{RECORD}.{id}"), unit, better, value, 1);
    let rate = recorded.throughput_bytes_per_s();
    let mut metrics = vec![metric("throughput_bytes_per_s".into(), Unit::BytesPerS, Some(Better::Higher), rate)];
    for (name, share) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
        let age = recorded.age_ns(share).map(|ns| ns as f64);
        metrics.extend(age.map(|ns| metric(format!("latency_ns_{name}"), Unit::Ns, Some(Better::Lower), ns)));
    }
    for stream in &recorded.now.streams {
        let of = |quantity: &str| format!("{}.{quantity}", stream.name.name.replace('.', "-"));
        let lost = (stream.received - stream.durable.min(stream.received)) as f64;
        metrics.push(metric(of("bytes"), Unit::Bytes, None, stream.durable_bytes as f64));
        metrics.push(metric(of("durable_frames"), Unit::Ratio, Some(Better::Higher), stream.durable as f64));
        metrics.push(metric(of("lost_frames"), Unit::Ratio, Some(Better::Lower), lost));
    }
    let stream = &recorded.ran.stream;
    let record = PhaseRecord {
        ended_ns: recorded.now.elapsed_ns,
        bytes: recorded.ran.written.written_bytes,
        operations: stream.operations,
        engine: stream.engine.clone(),
        intervals: stream.intervals.clone(),
        longest_gap_ns: stream.longest_gap_ns,
        usage: stream.usage,
        ..PhaseRecord::default()
    };
    kept_run::push(&mut run, RECORD.to_owned(), metrics, Some(record));
    Ok(run)
}
