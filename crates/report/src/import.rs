//! What was imported, for people: a table a run, then what was not understood.

use crate::document::{ImportDocument, ImportMetric, ImportRest, ImportRun};
use crate::headline::metric_cell;
use crate::lines::Lines;
use crate::presentation::{Part, terminal};
use crate::run::is_detail;
use crate::text::{pad, shorten, width};
use crate::{Paint, Style, quantity};
use model::MetricStatus;

/// Places that are listed; --json has all of them.
const REST_LIMIT: usize = 20;

/// Rows that a table has before details are left out.
const ROW_LIMIT: usize = 16;
pub fn import_text(document: &ImportDocument<'_>, style: &Style) -> String {
    let mut out = Lines::of_list(style);
    for run in &document.runs {
        run_table(run, &mut out);
        run.remarks.iter().for_each(|remark| out.wrapped("  - ", remark, None));
        out.line("");
    }
    if let Some(answer) = &document.answer {
        out.wrapped("", answer, Some(Paint::Accent));
        out.line("");
    }
    if document.runs.is_empty() {
        out.line("Nothing was understood.");
        out.line("");
    }
    if !document.not_understood.is_empty() {
        out.painted(Paint::Title, "Not understood");
        document.not_understood.iter().take(REST_LIMIT).for_each(|rest| rest_lines(rest, &mut out));
        let more = document.not_understood.len().saturating_sub(REST_LIMIT);
        if more > 0 {
            out.line(&format!("  and {more} more places (--json lists all)"));
        }
    }
    out.out.trim_end().to_owned() + "\n"
}

fn run_table(run: &ImportRun<'_>, out: &mut Lines<'_>) {
    let style = out.style;
    let tool = match run.source_version {
        Some(version) => format!("{} ({})", run.source_format, out.plain(version)),
        None => run.source_format.to_owned(),
    };
    let head = format!("{}  {tool}  ", run.run_id);
    let room = out.columns.saturating_sub(width(&head)).max(20);
    out.painted(Paint::Title, &format!("{head}{}", shorten(&out.plain(run.name), room, style.ascii)));
    let started = run.started.map_or(String::new(), |s| format!(", started {s}"));
    let origin = out.plain(&format!("{}, line {}{started}", run.file, run.line));
    out.line(&format!("  {}", style.paint(Paint::Dim, &shorten(&origin, out.columns - 2, style.ascii))));
    if !run.over_reports.is_empty() {
        // What each device did in all reports together.
        out.out.push_str(&terminal::alone(&Part::Table(crate::run::reports_table(&run.over_reports)), style));
        let figures = run.metrics.len();
        return out.line(&format!("  {figures} figures report by report: narrows runs show {} --json", run.run_id));
    }
    let shorten_table = run.metrics.len() > ROW_LIMIT;
    let shown = run.metrics.iter().filter(|m| !(shorten_table && is_detail(&m.metric.id)));
    let row = |m: &ImportMetric<'_>| {
        let value = quantity::metric(m.metric).filter(|_| m.metric.status == MetricStatus::Measured);
        let value = value.map_or_else(|| metric_cell(m.metric, style), |s| s.value());
        let printed = out.plain(&format!("{} {}", m.original.value, m.original.unit));
        [out.plain(&m.metric.id), value, printed.trim().to_owned()]
    };
    let rows: Vec<[String; 3]> = shown.map(row).collect();
    let widest = |i: usize| rows.iter().map(|r| width(&r[i])).max().unwrap_or(0);
    let (values, printed) = (widest(1), widest(2));
    let ids = widest(0).min(out.columns.saturating_sub(values + printed + 8)).max(30);
    for [id, value, printed] in &rows {
        let id = pad(&shorten(id, ids, style.ascii), ids);
        out.line(&format!("  {id}  {}  {}", pad(value, values), style.paint(Paint::Dim, printed)));
    }
    let hidden = run.metrics.len() - rows.len();
    if hidden > 0 {
        out.line(&format!("  {hidden} more metrics: narrows runs show {}", run.run_id));
    }
}

fn rest_lines(rest: &ImportRest<'_>, out: &mut Lines<'_>) {
    let place = match (rest.line, rest.lines) {
        (Some(line), Some(lines)) if lines > 1 => format!("{}:{line}-{}", rest.file, line + lines - 1),
        (Some(line), _) => format!("{}:{line}", rest.file),
        _ => rest.file.to_owned(),
    };
    out.line(&format!("  {}", out.plain(&format!("{place}: {}", rest.why))));
    if !rest.text.is_empty() {
        let quoted = shorten(&out.plain(rest.text), out.columns - 6, out.style.ascii);
        out.line(&format!("    {}", out.style.paint(Paint::Dim, &quoted)));
    }
}
