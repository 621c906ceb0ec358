//! A plain table with a heading: comma, semicolon or tab between fields. Each row is a run; the first column that holds text
//! names its target; every column of numbers is a metric whose id is the column's name. What is better is not known.
//!
//! Read last, and only where nothing else was recognised: any other format with commas would look like this too.

use super::comma::fields;
use super::marks::Marks;
use super::{Found, ImportedMetric, ImportedRun, Names, Original, Text};
use model::{Metric, MetricStatus, Unit};

/// Rows above which a table is no list of targets but a series: each row would become a run with a copy of the file.
const MOST_ROWS: usize = 4096;

/// A table as read.
struct Table {
    heading_line: usize,
    marks: Marks,
    heading: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
    bad: Vec<(usize, usize)>,
    /// Whether rows were left out, as there are too many.
    too_long: bool,
}

/// Whether the first line with content is a heading with rows below it.
pub(super) fn detect(text: &Text) -> bool {
    table(text).is_some()
}

/// Lines that hold no row: blank, or comments.
fn is_skipped(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

fn table(text: &Text) -> Option<Table> {
    let (heading_line, line) = text.lines().find(|(_, line)| !is_skipped(line))?;
    let separator = [',', ';', '\t'].into_iter().max_by_key(|s| line.matches(*s).count())?;
    let heading = fields(line, separator);
    let loose = Marks::Untold { separating_comma: separator == ',' };
    let is_name = |c: &String| !c.is_empty() && loose.number(c).is_none();
    // A heading names every column (the first may be left blank), and nothing in it is a number.
    if heading.len() < 2 || !heading.iter().skip(1).all(is_name) || loose.number(&heading[0]).is_some() {
        return None;
    }
    let mut table = Table { heading_line, marks: loose, heading, rows: Vec::new(), bad: Vec::new(), too_long: false };
    for (number, line) in text.lines().skip(heading_line).filter(|(_, line)| !is_skipped(line)) {
        if table.rows.len() + table.bad.len() >= MOST_ROWS {
            table.too_long = true;
            break;
        }
        let cells = fields(line, separator);
        match cells.len() == table.heading.len() && line.matches('"').count().is_multiple_of(2) {
            true => table.rows.push((number, cells)),
            false => table.bad.push((number, cells.len())),
        }
    }
    table.marks = Marks::of(table.rows.iter().flat_map(|(_, cells)| cells).map(String::as_str), separator);
    let has_numbers = (0..table.heading.len()).any(|c| table.is_numeric(c));
    (has_numbers && table.rows.len() >= table.bad.len()).then_some(table)
}

/// Blank, or a word for what is not there.
fn is_missing(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "-" | "na" | "n/a" | "nan" | "null" | "none" | "inf" | "-inf" | "?"
    )
}

impl Table {
    /// Whether a column is of numbers: most of what is there is one; or it is one that failed, and nothing else.
    fn is_numeric(&self, column: usize) -> bool {
        let cells = || self.rows.iter().map(|(_, cells)| cells[column].as_str());
        let there = || cells().filter(|c| !is_missing(c));
        let numbers = there().filter(|c| self.marks.number(c).is_some()).count();
        let failed = |c: &str| c.trim_start_matches(['+', '-']).parse().is_ok_and(|n: f64| !n.is_finite());
        let all = there().count();
        if all == 0 { cells().any(failed) } else { numbers * 2 > all }
    }
}

/// Reads the table.
pub(super) fn read(text: &Text, found: &mut Found) {
    if !found.runs.is_empty() || !found.empty_formats.is_empty() {
        return;
    }
    let Some(table) = table(text) else { return };
    found.used(table.heading_line);
    if table.heading.starts_with(&["run", "target", "phase", "metric"].map(str::to_owned)) {
        found.not_understood(table.heading_line, "this is the export of narrows itself; import the run's bundle");
        return;
    }
    if table.too_long {
        let why =
            format!("this table has more than {MOST_ROWS} rows, and each would become a run; cut out those that count");
        found.not_understood(table.heading_line, why);
        return;
    }
    let numeric: Vec<bool> = (0..table.heading.len()).map(|c| table.is_numeric(c)).collect();
    let target_column = numeric.iter().position(|n| !n);
    let mut names = Names::default();
    let ids: Vec<String> =
        table.heading.iter().map(|h| names.unique(if h.is_empty() { "column" } else { h })).collect();
    let texts: Vec<&str> =
        (0..ids.len()).filter(|c| !numeric[*c] && Some(*c) != target_column).map(|c| ids[c].as_str()).collect();
    for (line, width) in &table.bad {
        found.not_understood(*line, format!("it has {width} fields, the heading has {}", table.heading.len()));
    }
    for (line, cells) in &table.rows {
        let target = target_column.map(|c| cells[c].clone()).filter(|t| !t.is_empty());
        let name = target.clone().unwrap_or_else(|| format!("{} line {line}", found.file));
        let mut run = ImportedRun::new("table", name, *line);
        run.target = target;
        let mut faults = Vec::new();
        let mut metrics = Vec::new();
        for (column, id) in ids.iter().enumerate().filter(|(c, _)| numeric[*c]) {
            let cell = &cells[column];
            let original = Original::new(cell, table.heading[column].clone());
            let value = table.marks.number(cell);
            match value.and_then(|v| ImportedMetric::new(id, Unit::Ratio, None, v, 1, original.clone())) {
                Some(metric) => metrics.push(metric),
                None if cell.is_empty() => {}
                None => {
                    let reason = format!("'{cell}' is no measurement");
                    if !is_missing(cell) {
                        faults.push(format!("{reason} of {id}"));
                    }
                    let metric = Metric::absent(id, Unit::Ratio, None, MetricStatus::Skipped, reason);
                    metrics.push(ImportedMetric { metric, original });
                }
            }
        }
        if !texts.is_empty() {
            let words = texts.iter().filter_map(|id| {
                let column = ids.iter().position(|i| i == id)?;
                Some(format!("{id} {}", cells[column]))
            });
            run.remark(words.collect::<Vec<_>>().join(", "));
        }
        match faults.is_empty() {
            true => found.used(*line),
            false => found.not_understood(*line, faults.join("; ")),
        }
        if metrics.iter().any(|m| m.metric.value.is_some()) {
            run.push("row", metrics);
            found.runs.push(run);
        } else {
            found.not_understood(*line, "there is no number in it");
        }
    }
    (1..table.heading_line).for_each(|n| found.used(n));
    text.lines().filter(|(_, line)| is_skipped(line)).for_each(|(n, _)| found.used(n));
}
