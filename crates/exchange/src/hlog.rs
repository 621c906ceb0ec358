//! An HdrHistogram interval log (format 1.3): one line a phase, tagged with its name; where the phase has several jobs or
//! directions, one line for each of them, tagged as in metric ids.

mod encoding;

use crate::error::check_phases;
use crate::wall_time::WallTime;
use crate::{ExchangeError, Options, Result};
use encoding::Counts;
use model::{Direction, Histogram, Ns, PhaseRun, PhaseStatus, Run, is_control, sanitize};
use std::fmt::Write as _;

/// Readers hold values and counts in signed 64-bit numbers; half of that leaves room for the top of a bucket.
const HIGHEST: u64 = (i64::MAX / 2) as u64;
/// The column Interval_Max is in ms.
const MAX_VALUE_DIVISOR: f64 = 1e6;

/// The latencies of every phase in nanoseconds, warm-up left out. A phase whose numbers were refused is a comment with
/// the reasons instead of a line; if such phases are kept, the comment stands before the line.
///
/// # Errors
/// A phase is named that does not exist, or no histogram that stands holds anything.
pub fn hlog(run: &Run, options: &Options) -> Result<String> {
    check_phases(run, &options.phases)?;
    let wall = WallTime::of(run);
    let started_s = wall.started_ms() as f64 / 1e3;
    let name = sanitize(&format!("[narrows {}, run {}]", run.program_version, run.id)).into_owned();
    // 1.3 is 1.2 with the time base of a log told by comments; what is written here is in both.
    let mut log = format!(
        "#[Histogram log format version 1.3]\n#{name}\n\
         #[Latencies in ns; Interval_Max in ms; one line a phase, job and direction, Tag is its name]\n\
         #[StartTime: {started_s:.3} (seconds since epoch)]\n#[BaseTime: {started_s:.3} (seconds since epoch)]\n\
         #[MaxValueDivisor: {MAX_VALUE_DIVISOR:.3}]\n"
    );
    let mut written = 0;
    for phase in run.phases.iter().filter(|p| options.includes(&p.plan.name)) {
        let Some(record) = phase.record.as_ref().filter(|r| r.latency.count() > 0) else { continue };
        if phase.status != PhaseStatus::Measured {
            let _ = writeln!(log, "#{}", refusal(phase));
            if !options.keep_refused {
                continue;
            }
        }
        let whole = Part {
            name: phase.plan.name.clone(),
            begin_ns: record.started_ns.saturating_add(record.warmup.cut_ns),
            end_ns: record.ended_ns,
            latency: record.latency.clone(),
        };
        for part in std::iter::once(whole).chain(parts(phase)) {
            let begin = part.begin_ns.min(part.end_ns);
            let start_s = begin as f64 / 1e9;
            let length_s = part.end_ns.saturating_sub(begin) as f64 / 1e9;
            let counts = encodable(&part.latency);
            let max = counts.max() as f64 / MAX_VALUE_DIVISOR;
            let _ = writeln!(log, "Tag={},{start_s:.3},{length_s:.3},{max:.3},{}", tag(&part.name), counts.encoded());
            written += 1;
        }
    }
    if written == 0 {
        let reason = "no phase has valid latencies".to_owned();
        return Err(ExchangeError::NothingRecorded { run: run.id.clone(), reason });
    }
    Ok(log)
}

/// What a line is of.
struct Part {
    name: String,
    begin_ns: Ns,
    end_ns: Ns,
    latency: Histogram,
}

/// The jobs of a phase that has several, and the directions of each job that has several, with the names that metric ids
/// give them; what recorded nothing is left out.
fn parts(phase: &PhaseRun) -> Vec<Part> {
    let Some(record) = &phase.record else { return Vec::new() };
    let jobs = phase.plan.jobs();
    let mut parts = Vec::new();
    for planned in &jobs {
        let Some(job) = record.job(&phase.plan, planned) else { continue };
        let (begin_ns, end_ns) = (job.started_ns.saturating_add(job.cut_ns), job.ended_ns);
        let mut name = phase.plan.name.clone();
        if jobs.len() > 1 {
            name = format!("{name}.{}", planned.id);
            parts.push(Part { name: name.clone(), begin_ns, end_ns, latency: job.latency() });
        }
        for one in &job.directions {
            if planned.is_per_direction() || one.direction == Direction::Sync {
                let name = format!("{name}.{}", one.direction.name());
                parts.push(Part { name, begin_ns, end_ns, latency: one.latency.clone() });
            }
        }
    }
    parts.retain(|part| part.latency.count() > 0);
    parts
}

fn refusal(phase: &PhaseRun) -> String {
    sanitize(&format!("[refused: {}: {}]", phase.plan.name, model::reason::joined(&phase.reasons))).into_owned()
}

/// A tag holds no comma, space or line break.
fn tag(name: &str) -> String {
    name.chars().map(|c| if c == ',' || c.is_whitespace() || is_control(c) { '_' } else { c }).collect()
}

/// The same values in HdrHistogram's buckets: each bucket by its middle, the ends by the exact minimum and maximum.
fn encodable(from: &Histogram) -> Counts {
    let highest = from.max().unwrap_or(0).clamp(2, HIGHEST);
    let mut to = Counts::new(highest);
    let (min, max): (Ns, Ns) = (from.min().unwrap_or(0), from.max().unwrap_or(0));
    for bucket in from.buckets() {
        let middle = (bucket.low_ns + (bucket.high_ns - bucket.low_ns) / 2).clamp(min, max);
        let holds = |value: Ns| (bucket.low_ns..=bucket.high_ns).contains(&value);
        let mut left = bucket.count.min(HIGHEST);
        for end in [min, max] {
            if left > 0 && holds(end) && (end != min || min != max || left == bucket.count) {
                to.add(end.min(highest), 1);
                left -= 1;
            }
        }
        if left > 0 {
            to.add(middle.min(highest), left);
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_but_the_place_within_a_bucket() {
        let mut latency = Histogram::new();
        for i in 1..=10_000u64 {
            latency.record(i * 977);
        }
        let out = encodable(&latency);
        assert_eq!(out.total(), 10_000);
        assert!((out.max() as f64 / 9_770_000.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn one_value_counts_once() {
        let mut latency = Histogram::new();
        latency.record(5_000);
        assert_eq!(encodable(&latency).total(), 1);
        latency.record(5_000);
        assert_eq!(encodable(&latency).total(), 2);
    }

    #[test]
    fn values_beyond_what_readers_hold_saturate() {
        let mut latency = Histogram::new();
        latency.record_n(u64::MAX, 3);
        let out = encodable(&latency);
        assert_eq!(out.total(), 3);
        assert!(out.max() <= i64::MAX as u64);
    }
}
