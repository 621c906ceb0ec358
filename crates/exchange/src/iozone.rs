//! iozone's table: file size and record size against operations, in kB/s (of 1024 bytes).

use crate::job::{Direction, ExecutedJob, phases};
use crate::{ExchangeError, Options, Result};
use model::{BlockPlan, Order, Run, sanitize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// iozone's columns up to the strided read, in its order, with the two lines of their headings, their width in iozone
/// 3.465, and the test that `-i` selects.
const COLUMNS: [Column; 9] = [
    Column { operation: "write", above: "", heading: "write", width: 9, test: 0 },
    Column { operation: "rewrite", above: "", heading: "rewrite", width: 9, test: 0 },
    Column { operation: "read", above: "", heading: "read", width: 9, test: 1 },
    Column { operation: "reread", above: "", heading: "reread", width: 9, test: 1 },
    Column { operation: "random-read", above: "random", heading: "read", width: 9, test: 2 },
    Column { operation: "random-write", above: "random", heading: "write", width: 9, test: 2 },
    Column { operation: "backward-read", above: "bkwd", heading: "read", width: 9, test: 3 },
    Column { operation: "record-rewrite", above: "record", heading: "rewrite", width: 10, test: 4 },
    Column { operation: "stride-read", above: "stride", heading: "read", width: 10, test: 5 },
];

struct Column {
    operation: &'static str,
    above: &'static str,
    heading: &'static str,
    width: usize,
    test: u32,
}

/// One record size: rates by column, `None` where the number was refused.
type Row = BTreeMap<usize, Option<u64>>;

/// The table of a run that measured a grid: at least two record sizes and two operations, one stream at depth 1 as
/// iozone does. A cell whose number was refused is blank and listed below the table.
///
/// # Errors
/// A phase is named that does not exist, or the run has no such grid.
pub fn iozone(run: &Run, options: &Options) -> Result<String> {
    let no_grid = |reason: &str| ExchangeError::NoGrid { run: run.id.clone(), reason: reason.to_owned() };
    let jobs = phases(run, options)?;
    let cells: Vec<&ExecutedJob> = jobs.iter().filter(|j| is_cell(j)).collect();
    let Some(first) = cells.first() else {
        return Err(no_grid("it has no measured phase with one stream at depth 1 and whole KiB a record"));
    };
    if cells.iter().any(|c| c.is_direct() != first.is_direct()) {
        return Err(no_grid("some of its phases are direct and some are buffered; choose with --phase"));
    }
    let mut rows: BTreeMap<u64, Row> = BTreeMap::new();
    let mut refused = Vec::new();
    for job in &cells {
        let size = block(job).map_or(0, |block| block.block_size_bytes);
        let row = rows.entry(size).or_default();
        let Some(place) = column(job, row) else {
            return Err(no_grid(&format!(
                "iozone has no column for phase '{}', or another phase holds it already; choose with --phase",
                job.name()
            )));
        };
        let stands = job.is_valid() || options.keep_refused;
        row.insert(place, stands.then(|| (job.bytes_per_s(options.keep_refused) / 1024.0).round() as u64));
        if !job.is_valid() {
            refused.push(format!("{}: {}", job.name(), model::reason::joined(&job.phase.reasons)));
        }
    }
    let operations: std::collections::BTreeSet<usize> = rows.values().flat_map(|r| r.keys().copied()).collect();
    if rows.len() < 2 || operations.len() < 2 {
        return Err(no_grid("that needs at least two record sizes and two operations at depth 1"));
    }
    let tests: Vec<u32> = operations.iter().map(|c| COLUMNS[*c].test).collect();
    Ok(table(run, first, &rows, &tests, &refused))
}

fn is_cell(job: &ExecutedJob) -> bool {
    let streams = &job.phase.plan.streams;
    job.is_measurement()
        && matches!(job.direction, Direction::Read | Direction::Write)
        && streams.len() == 1
        && streams[0].path.queue_depth == 1
        && block(job).is_some_and(|b| b.block_size_bytes >= 1024 && b.block_size_bytes.is_multiple_of(1024))
}

/// What its only stream does to blocks.
fn block<'a>(job: &'a ExecutedJob) -> Option<&'a BlockPlan> {
    Some(job.phase.plan.streams.first()?.blocks()?.block)
}

/// Which column a job fills: by the words of its name where those say more than its plan (`rewrite`, `reread`), else by
/// direction and order. The second write or read of a record size is the rewrite or reread.
fn column(job: &ExecutedJob, row: &Row) -> Option<usize> {
    let place = |operation: &str| COLUMNS.iter().position(|c| c.operation == operation);
    let free = |operation: &str| place(operation).filter(|p| !row.contains_key(p));
    let name = job.name().to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|w| name.contains(w));
    let writes = job.direction == Direction::Write;
    let order = block(job)?.order;
    if !order.is_sequential() {
        return free(if writes { "random-write" } else { "random-read" });
    }
    match writes {
        true if says(&["record-rewrite"]) => free("record-rewrite"),
        true if says(&["rewrite"]) => free("rewrite"),
        true => free("write").or_else(|| free("rewrite")),
        false if order == Order::Reverse => free("backward-read"),
        false if matches!(order, Order::Strided { .. }) => free("stride-read"),
        false if says(&["reread"]) => free("reread"),
        false => free("read").or_else(|| free("reread")),
    }
}

fn table(run: &Run, first: &ExecutedJob, rows: &BTreeMap<u64, Row>, tests: &[u32], refused: &[String]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let mut line = |s: &str| {
        let _ = writeln!(text, "{}", s.trim_end());
    };
    let mut flags: Vec<String> = tests.iter().map(|t| format!("-i {t}")).collect();
    flags.dedup();
    let region = block(first).map_or(0, |block| block.region_bytes);
    let direct = if first.is_direct() { "-I " } else { "" };
    line(&format!("\tnarrows {}: run {} as iozone prints it", sanitize(&run.program_version), sanitize(&run.id)));
    line("");
    if first.is_direct() {
        line("\tO_DIRECT feature enabled");
    }
    line(&format!("\tCommand line used: iozone {direct}-s {}k {}", region / 1024, flags.join(" ")));
    line("\tOutput is in kBytes/sec");
    let heading = |of: fn(&Column) -> &str| -> String {
        COLUMNS.iter().map(|c| format!("{:>width$}", of(c), width = c.width)).collect()
    };
    line(&format!("{:24}{}", "", heading(|c| c.above)));
    line(&format!("{:>16}{:>8}{}", "kB", "reclen", heading(|c| c.heading)));
    for (size, row) in rows {
        let cell = |(i, c): (usize, &Column)| {
            let value = row.get(&i).copied().flatten().map(|v| v.to_string()).unwrap_or_default();
            // A number as wide as its column must not run into its neighbour.
            let separator = if value.len() >= c.width { " " } else { "" };
            format!("{separator}{value:>width$}", width = c.width)
        };
        let cells: String = COLUMNS.iter().enumerate().map(cell).collect();
        line(&format!("{:>16}{:>8}{cells}", region / 1024, size / 1024));
    }
    if !refused.is_empty() {
        line("");
        line("Refused, and left blank above unless that was asked for:");
        refused.iter().for_each(|r| line(&format!("  {}", sanitize(r))));
    }
    line("");
    line("iozone test complete.");
    text
}
