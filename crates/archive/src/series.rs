//! series.csv: one line per interval and phase, from [`model::Interval`]. Times count from the run's start; an interval
//! without completions is a line of zeros whose latencies are blank.

use crate::Result;
use crate::csv::{Outcome, Row, Tolerance, Writer, columns, each_row};
use model::{Interval, PhaseRun};
use std::collections::HashMap;
use std::path::Path;

const COLUMNS: [&str; 8] =
    ["phase", "start_ns", "length_ns", "operations", "bytes", "latency_ns_p50", "latency_ns_p99", "latency_ns_max"];

/// Nine days of 100 ms intervals; longer runs thin them.
const ROW_LIMIT: usize = 8_000_000;

/// The header line.
pub(crate) fn header() -> String {
    let mut w = Writer::default();
    w.line(COLUMNS);
    w.into_text()
}

/// The lines of these phases.
pub(crate) fn lines(phases: &[PhaseRun]) -> String {
    let of = |p: &PhaseRun| p.record.as_ref().map(|r| phase_lines(&p.plan.name, &r.intervals));
    phases.iter().filter_map(of).collect()
}

/// The lines of these intervals of one phase.
pub(crate) fn phase_lines(phase: &str, intervals: &[Interval]) -> String {
    let mut w = Writer::default();
    for interval in intervals {
        let Interval { start_ns, length_ns, operations, bytes, latency_ns_p50, latency_ns_p99, latency_ns_max } =
            *interval;
        w.text(phase).number(start_ns).number(length_ns).number(operations).number(bytes);
        w.optional(latency_ns_p50).optional(latency_ns_p99).optional(latency_ns_max).end();
    }
    w.into_text()
}

fn interval(c: &[usize; 8], row: &Row<'_>) -> std::result::Result<Interval, String> {
    Ok(Interval {
        start_ns: row.u64(c[1])?,
        length_ns: row.u64(c[2])?,
        operations: row.u64(c[3])?,
        bytes: row.u64(c[4])?,
        latency_ns_p50: row.optional(c[5])?,
        latency_ns_p99: row.optional(c[6])?,
        latency_ns_max: row.optional(c[7])?,
    })
}

/// Intervals by phase.
pub(crate) fn read(path: &Path, text: &str, tolerance: Tolerance) -> Result<(HashMap<String, Vec<Interval>>, Outcome)> {
    let mut phases: HashMap<String, Vec<Interval>> = HashMap::new();
    let outcome = each_row(
        path,
        text,
        tolerance,
        ROW_LIMIT,
        |header| columns(header, COLUMNS),
        |c, row| {
            let interval = interval(c, row)?;
            match phases.get_mut(row.cell(c[0])) {
                Some(intervals) => intervals.push(interval),
                None => drop(phases.insert(row.cell(c[0]).to_owned(), vec![interval])),
            }
            Ok(())
        },
    )?;
    Ok((phases, outcome))
}
