//! What was imported, for people: a table a run, then what was not understood.

use crate::document::{ImportDocument, ImportMetric, ImportRest, ImportRun};
use crate::headline::metric_words;
use crate::presentation::{Cell, Item, Part, Presentation, Row, SectionName, Table, Tone, statements};
use crate::quantity;
use crate::run::{is_detail, reports_table};
use model::MetricStatus;

/// Places that are listed; --json has all of them.
const REST_LIMIT: usize = 20;

/// Rows that a table has before details are left out.
const ROW_LIMIT: usize = 16;

/// What came of an import.
pub fn import(document: &ImportDocument<'_>) -> Presentation {
    let mut presentation = Presentation { wide: true, ..Presentation::default() };
    presentation.end.answers = document.answer.iter().cloned().collect();
    for run in &document.runs {
        presentation.push(SectionName::Numbers, of_run(run));
    }
    let nothing = document.runs.is_empty().then(|| "Nothing was understood.".to_owned());
    let answer = document.answer.iter().map(|answer| Part::Sentence(Tone::Good, answer.clone()));
    presentation.push(SectionName::Answer, answer.chain(nothing.map(|n| Part::Sentence(Tone::Plain, n))).collect());
    if !document.not_understood.is_empty() {
        let rest = document.not_understood.iter().take(REST_LIMIT).map(of_rest);
        let more = document.not_understood.len().saturating_sub(REST_LIMIT);
        let more = (more > 0).then(|| Part::Hint(format!("and {more} more places (--json lists all)")));
        let head = Part::Item(Item::new("Not understood", ""));
        presentation.push(SectionName::Others, [head, statements(rest)].into_iter().chain(more).collect());
    }
    presentation
}

fn of_run(run: &ImportRun<'_>) -> Vec<Part> {
    let version = run.source_version.map_or_else(String::new, |version| format!(" ({version})"));
    let started = run.started.map_or(String::new(), |s| format!(", started {s}"));
    let mut parts = vec![
        Part::Item(Item::new(format!("{}  {}{version}  {}", run.run_id, run.source_format, run.name), "")),
        Part::Hint(format!("{}, line {}{started}", run.file, run.line)),
    ];
    if run.over_reports.is_empty() {
        let shorten_table = run.metrics.len() > ROW_LIMIT;
        let shown = run.metrics.iter().filter(|m| !(shorten_table && is_detail(&m.metric.id)));
        let rows: Vec<Row> = shown.map(of_metric).collect();
        let hidden = run.metrics.len() - rows.len();
        let head = ["value", "as printed"].map(str::to_owned).into();
        parts.push(Part::Table(Table { corner: "metric", head, rows, ..Table::default() }));
        let more = || Part::Hint(format!("{hidden} more metrics: narrows runs show {}", run.run_id));
        parts.extend((hidden > 0).then(more));
    } else {
        // What each device did in all reports together.
        let figures = run.metrics.len();
        parts.push(Part::Table(reports_table(&run.over_reports)));
        parts.push(Part::Hint(format!("{figures} figures report by report: narrows runs show {} --json", run.run_id)));
    }
    parts.push(Part::List(run.remarks.to_vec()));
    parts
}

fn of_metric(m: &ImportMetric<'_>) -> Row {
    let value = quantity::metric(m.metric).filter(|_| m.metric.status == MetricStatus::Measured);
    let value = value.map_or_else(|| metric_words(m.metric), |s| s.value());
    let printed = format!("{} {}", m.original.value, m.original.unit);
    Row::new(&m.metric.id, vec![Cell::Text(value), Cell::Words(printed.trim().to_owned())])
}

/// Where it stands, and why it was not understood with what it is.
fn of_rest(rest: &ImportRest<'_>) -> (String, String) {
    let place = match (rest.line, rest.lines) {
        (Some(line), Some(lines)) if lines > 1 => format!("{}:{line}-{}", rest.file, line + lines - 1),
        (Some(line), _) => format!("{}:{line}", rest.file),
        _ => rest.file.to_owned(),
    };
    let quoted = if rest.text.is_empty() { String::new() } else { format!(": {}", rest.text) };
    (place, format!("{}{quoted}", rest.why))
}
