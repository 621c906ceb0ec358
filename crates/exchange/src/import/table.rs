//! A plain table with a heading: comma, semicolon or tab between fields. Each row is a run; the first column that holds text
//! names its target; every column of numbers is a metric whose id is the column's name. What is better is not known.
//!
//! Read last, and only where nothing else was recognised: any other format with commas would look like this too.
//!
//! The text is gone through several times and no cell of it is held. Of a table with more figures than there is room for,
//! the first columns of every so many rows are kept, and the place where that is said is its heading.

use super::comma::fields;
use super::found::{FIGURES_OF_A_RUN, name};
use super::marks::Marks;
use super::{Found, ImportedMetric, ImportedRun, Names, Original, Text};
use model::{Metric, MetricStatus, Reason, Unit};

/// Rows that are kept at most: each becomes a run.
const MAX_ROWS: usize = 4096;
/// Rows of which some are kept where there are too many columns for all of them.
const MIN_ROWS: usize = 16;
/// Columns of words that are told in a remark.
const MAX_TEXTS: usize = 64;
/// Columns of a heading; more is no table of results.
const MAX_COLUMNS: usize = 1 << 16;

/// Words of a column's name.
const MAX_WORDS: usize = 8;

/// A table, without its cells.
struct Table {
    heading_line: usize,
    separator: char,
    marks: Marks,
    heading: Vec<String>,
    /// Which columns are of numbers.
    numeric: Vec<bool>,
    rows: usize,
}

/// Whether the first line with content is a heading with rows below it.
pub(super) fn detect(text: &Text) -> bool {
    table(text).is_some()
}

/// Lines that hold no row: blank, or comments.
fn is_skipped(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

/// A line below the heading: its cells, or how many fields it has where it is no row.
type Row = Result<Vec<String>, usize>;

/// The lines below the heading that are no comments.
fn rows<'t>(
    text: &'t Text,
    heading_line: usize,
    columns: usize,
    separator: char,
) -> impl Iterator<Item = (usize, Row)> + 't {
    text.lines_from(heading_line + 1).filter(|(_, line)| !is_skipped(line)).map(move |(number, line)| {
        let cells = fields(line, separator);
        let is_row = cells.len() == columns && line.matches('"').count().is_multiple_of(2);
        (number, if is_row { Ok(cells) } else { Err(cells.len()) })
    })
}

fn table(text: &Text) -> Option<Table> {
    let (heading_line, line) = text.lines().find(|(_, line)| !is_skipped(line))?;
    let separator = [',', ';', '\t'].into_iter().max_by_key(|s| line.matches(*s).count())?;
    if line.matches(separator).count() >= MAX_COLUMNS {
        return None;
    }
    let heading = fields(line, separator);
    let loose = Marks::Untold { separating_comma: separator == ',' };
    let is_name = |c: &String| !c.is_empty() && loose.number(c).is_none() && !is_prose(c);
    // A heading names every column (the first may be left blank), and nothing in it is a number.
    if heading.len() < 2 || !heading.iter().skip(1).all(is_name) || loose.number(&heading[0]).is_some() {
        return None;
    }
    let all = || rows(text, heading_line, heading.len(), separator);
    let (mut good, mut bad) = (0, 0);
    let mut marks = Marks::evidence(separator);
    for (_, row) in all() {
        match row {
            Ok(cells) => {
                good += 1;
                cells.iter().for_each(|cell| marks.add_cell(cell));
            }
            Err(_) => bad += 1,
        }
    }
    let marks = marks.end();
    let mut kinds = vec![Kind::default(); heading.len()];
    for cells in all().filter_map(|(_, row)| row.ok()) {
        kinds.iter_mut().zip(&cells).for_each(|(kind, cell)| kind.look(cell, marks));
    }
    let numeric: Vec<bool> = kinds.iter().map(Kind::is_numeric).collect();
    let is_table = good >= bad && numeric.contains(&true);
    is_table.then_some(Table { heading_line, separator, marks, heading, numeric, rows: good })
}

/// A sentence, or a part of one, that only has commas in it.
fn is_prose(text: &str) -> bool {
    text.split_whitespace().count() > MAX_WORDS || text.ends_with(['.', '!', '?', '。', '？', '！'])
}

/// What the cells of a column are.
#[derive(Clone, Copy, Default)]
struct Kind {
    there: usize,
    numbers: usize,
    failed: bool,
}

impl Kind {
    fn look(&mut self, cell: &str, marks: Marks) {
        self.failed |= cell.trim_start_matches(['+', '-']).parse().is_ok_and(|n: f64| !n.is_finite());
        if !is_missing(cell) {
            self.there += 1;
            self.numbers += usize::from(marks.number(cell).is_some());
        }
    }

    /// Whether a column is of numbers: most of what is there is one; or it is one that failed, and nothing else.
    fn is_numeric(&self) -> bool {
        if self.there == 0 { self.failed } else { self.numbers * 2 > self.there }
    }
}

/// Blank, or a word for what is not there.
fn is_missing(text: &str) -> bool {
    matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "-" | "na" | "n/a" | "nan" | "null" | "none" | "inf" | "-inf" | "?"
    )
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
    let columns = table.numeric.iter().filter(|n| **n).count();
    // A run takes a little beside its figures.
    let columns_kept = columns.min(found.room() / MIN_ROWS);
    let rows_kept = (found.room() / (columns_kept + FIGURES_OF_A_RUN)).clamp(1, MAX_ROWS);
    let each = table.rows.div_ceil(rows_kept).max(1);
    if each > 1 || columns_kept < columns {
        let why = format!(
            "{} rows of {columns} figures, more than are kept: of each {each} rows the first, and of that {columns_kept} \
             figures; cut out what counts to have it whole",
            table.rows
        );
        found.not_understood(table.heading_line, why);
    }
    let numeric = &table.numeric;
    let target_column = numeric.iter().position(|n| !n);
    let mut names = Names::default();
    let ids: Vec<String> =
        table.heading.iter().map(|h| names.unique(if h.is_empty() { "column" } else { name(h) })).collect();
    let texts: Vec<usize> =
        (0..ids.len()).filter(|c| !numeric[*c] && Some(*c) != target_column).take(MAX_TEXTS).collect();
    let mut place = 0;
    for (line, row) in rows(text, table.heading_line, table.heading.len(), table.separator) {
        let cells = match row {
            Ok(cells) => cells,
            Err(width) => {
                let why = format!("it has {width} fields, the heading has {}", table.heading.len());
                found.not_understood(line, why);
                continue;
            }
        };
        place += 1;
        if (place - 1) % each != 0 {
            found.used(line);
            continue;
        }
        let target = target_column.map(|c| cells[c].clone()).filter(|t| !t.is_empty());
        let title = target.clone().unwrap_or_else(|| format!("{} line {line}", found.file));
        let mut run = ImportedRun::new("table", title, line);
        run.target = target;
        let (metrics, faults) = figures(&table, &ids, &cells, columns_kept);
        if !texts.is_empty() {
            let words = texts.iter().map(|column| format!("{} {}", ids[*column], cells[*column]));
            run.remark(words.collect::<Vec<_>>().join(", "));
        }
        match faults.is_empty() {
            true => found.used(line),
            false => found.not_understood(line, faults.join("; ")),
        }
        if metrics.iter().any(|m| m.metric.value.is_some()) {
            run.push("row", metrics);
            found.push(run);
        } else {
            found.not_understood(line, "there is no number in it");
        }
    }
    (1..table.heading_line).for_each(|n| found.used(n));
    text.lines().filter(|(_, line)| is_skipped(line)).for_each(|(n, _)| found.used(n));
}

/// The figures of a row, and which cells are none.
fn figures(table: &Table, ids: &[String], cells: &[String], columns_kept: usize) -> (Vec<ImportedMetric>, Vec<String>) {
    let numeric = &table.numeric;
    let mut faults = Vec::new();
    let mut metrics = Vec::new();
    for (column, id) in ids.iter().enumerate().filter(|(c, _)| numeric[*c]).take(columns_kept) {
        let cell = &cells[column];
        let original = Original::new(cell, name(&table.heading[column]));
        let value = table.marks.number(cell);
        match value.and_then(|v| ImportedMetric::new(id, Unit::Ratio, None, v, 1, original.clone())) {
            Some(metric) => metrics.push(metric),
            None if cell.is_empty() => {}
            None => {
                let reason = format!("'{cell}' is not a measurement");
                if !is_missing(cell) {
                    faults.push(format!("{reason} of {id}"));
                }
                let metric = Metric::absent(id, Unit::Ratio, None, MetricStatus::Skipped, Reason::uncoded(reason));
                metrics.push(ImportedMetric { metric, original });
            }
        }
    }
    (metrics, faults)
}
