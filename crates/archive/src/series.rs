//! series.csv: one line per interval and phase, from [`model::Interval`]. Times count from the run's start; an interval
//! without completions is a line of zeros whose latencies are blank.

use crate::Result;
use crate::csv::{Dropped, Row, Tolerance, Writer, columns, each_row};
use crate::table::Form;
use model::{Interval, IntervalSeries};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

const COLUMNS: [&str; 8] =
    ["phase", "start_ns", "length_ns", "operations", "bytes", "latency_ns_p50", "latency_ns_p99", "latency_ns_max"];

/// Intervals by phase.
pub(crate) type Series = BTreeMap<String, IntervalSeries>;

/// More intervals are not held while a table is read, over all phases: 10 MB.
const HELD_LIMIT: usize = 131_072;

/// The columns of series.csv.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesForm;

impl Form for SeriesForm {
    type Item = Interval;
    type Columns = [usize; 8];
    /// Operations and bytes.
    type Tally = (u128, u128);
    const KEEPS_FIRST: bool = false;

    fn header(&self) -> String {
        let mut w = Writer::default();
        w.line(COLUMNS);
        w.into_text()
    }

    fn write(&self, phase: &str, interval: &Interval, w: &mut Writer) {
        let Interval { start_ns, length_ns, operations, bytes, latency_ns_p50, latency_ns_p99, latency_ns_max } =
            *interval;
        w.text(phase).number(start_ns).number(length_ns).number(operations).number(bytes);
        w.optional(latency_ns_p50).optional(latency_ns_p99).optional(latency_ns_max).end();
    }

    fn columns(header: &Row<'_>) -> std::result::Result<[usize; 8], String> {
        columns(header, COLUMNS)
    }

    fn read(c: &[usize; 8], row: &Row<'_>) -> std::result::Result<Interval, String> {
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

    fn join(first: &mut Interval, later: &Interval) {
        first.append(later);
    }

    fn add(tally: &mut Self::Tally, interval: &Interval) {
        *tally = (tally.0 + u128::from(interval.operations), tally.1 + u128::from(interval.bytes));
    }
}

/// Intervals by phase, in bounded memory: a phase of more than [`IntervalSeries::MAX`] has its neighbours joined.
pub(crate) fn read(path: &Path, source: impl BufRead, tolerance: Tolerance) -> Result<(Series, Dropped)> {
    let mut phases = Series::new();
    let mut held = 0;
    let dropped = each_row(path, source, tolerance, SeriesForm::columns, |c, row| {
        let name = row.cell(c[0]);
        let interval = SeriesForm::read(c, row)?;
        if !phases.contains_key(name) {
            if phases.len() == crate::bundle_files::PHASE_LIMIT {
                return Err("it has too many phases".into());
            }
            phases.insert(name.to_owned(), IntervalSeries::default());
        }
        let Some(series) = phases.get_mut(name) else { return Ok(()) };
        held -= series.items().len();
        series.push(interval);
        held += series.items().len();
        while held > HELD_LIMIT
            && let Some(longest) = phases.values_mut().max_by_key(|series| series.items().len())
        {
            held -= longest.items().len() / 2;
            longest.halve();
        }
        Ok(())
    })?;
    Ok((phases, dropped))
}
