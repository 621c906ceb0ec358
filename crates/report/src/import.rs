//! What was imported, for people: a table a run, then what was not understood.

use crate::document::{ImportDocument, ImportRest, ImportRun};
use crate::headline::metric_cell;
use crate::presentation::{Part, terminal};
use crate::run::is_detail;
use crate::text::{pad, plain, shorten, width, wrap};
use crate::{Paint, Style, quantity};
use model::MetricStatus;

/// Places that are listed; --json has all of them.
const REST_LIMIT: usize = 20;

/// Rows that a table has before details are left out.
const ROW_LIMIT: usize = 16;
pub fn import_text(document: &ImportDocument<'_>, style: &Style) -> String {
    let mut out = String::new();
    for run in &document.runs {
        run_table(run, style, &mut out);
        out.push('\n');
    }
    if let Some(answer) = &document.answer {
        for line in wrap(&plain(answer, style.ascii), style.width.max(60)) {
            out.push_str(&format!("{}\n", style.paint(Paint::Accent, &line)));
        }
        out.push('\n');
    }
    if document.runs.is_empty() {
        out.push_str("Nothing was understood.\n\n");
    }
    if !document.not_understood.is_empty() {
        out.push_str(&format!("{}\n", style.paint(Paint::Title, "Not understood")));
        for rest in document.not_understood.iter().take(REST_LIMIT) {
            rest_lines(rest, style, &mut out);
        }
        let more = document.not_understood.len().saturating_sub(REST_LIMIT);
        if more > 0 {
            out.push_str(&format!("  and {more} more places (--json lists all)\n"));
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn run_table(run: &ImportRun<'_>, style: &Style, out: &mut String) {
    let columns = style.width.max(60);
    let clean = |text: &str| plain(text, style.ascii);
    let tool = match run.source_version {
        Some(version) => format!("{} ({})", run.source_format, clean(version)),
        None => run.source_format.to_owned(),
    };
    let head = format!("{}  {tool}  ", run.run_id);
    let room = columns.saturating_sub(width(&head)).max(20);
    let title = format!("{head}{}", shorten(&clean(run.name), room, style.ascii));
    out.push_str(&format!("{}\n", style.paint(Paint::Title, &title)));
    let started = run.started.map_or(String::new(), |s| format!(", started {}", clean(s)));
    let origin = format!("{}, line {}{started}", clean(run.file), run.line);
    out.push_str(&format!("  {}\n", style.paint(Paint::Dim, &shorten(&origin, columns - 2, style.ascii))));
    if !run.over_reports.is_empty() {
        return all_reports(run, style, out);
    }
    let shorten_table = run.metrics.len() > ROW_LIMIT;
    let shown = || run.metrics.iter().filter(|m| !(shorten_table && is_detail(&m.metric.id)));
    let rows: Vec<[String; 3]> = shown()
        .map(|m| {
            let printed = format!("{} {}", clean(m.original.value), clean(m.original.unit));
            let value = match m.metric.status {
                MetricStatus::Measured => quantity::metric(m.metric).map(|s| s.value()),
                _ => None,
            };
            let value = value.unwrap_or_else(|| metric_cell(m.metric, style));
            [clean(&m.metric.id), value, printed.trim().to_owned()]
        })
        .collect();
    let widest = |i: usize| rows.iter().map(|r| width(&r[i])).max().unwrap_or(0);
    let (values, printed) = (widest(1), widest(2));
    let ids = widest(0).min(columns.saturating_sub(values + printed + 8)).max(30);
    for [id, value, printed] in &rows {
        let id = pad(&shorten(id, ids, style.ascii), ids);
        let line = format!("  {id}  {}  {}", pad(value, values), style.paint(Paint::Dim, printed));
        out.push_str(&format!("{}\n", line.trim_end()));
    }
    let hidden = run.metrics.len() - rows.len();
    if hidden > 0 {
        out.push_str(&format!("  {hidden} more metrics: narrows runs show {}\n", run.run_id));
    }
    remarks(run, style, out);
}

/// What each device did in all reports together.
fn all_reports(run: &ImportRun<'_>, style: &Style, out: &mut String) {
    out.push_str(&terminal::alone(&Part::Table(crate::run::reports_table(&run.over_reports)), style));
    let figures = run.metrics.len();
    out.push_str(&format!("  {figures} figures report by report: narrows runs show {} --json\n", run.run_id));
    remarks(run, style, out);
}

fn remarks(run: &ImportRun<'_>, style: &Style, out: &mut String) {
    let columns = style.width.max(60);
    let clean = |text: &str| plain(text, style.ascii);
    for remark in run.remarks {
        for (i, line) in wrap(&clean(remark), columns - 4).iter().enumerate() {
            out.push_str(&format!("  {} {line}\n", if i == 0 { "-" } else { " " }));
        }
    }
}

fn rest_lines(rest: &ImportRest<'_>, style: &Style, out: &mut String) {
    let columns = style.width.max(60);
    let place = match (rest.line, rest.lines) {
        (Some(line), Some(lines)) if lines > 1 => format!("{}:{line}-{}", rest.file, line + lines - 1),
        (Some(line), _) => format!("{}:{line}", rest.file),
        _ => rest.file.to_owned(),
    };
    out.push_str(&format!("  {}: {}\n", plain(&place, style.ascii), plain(&rest.why, style.ascii)));
    if !rest.text.is_empty() {
        let quoted = shorten(&plain(rest.text, style.ascii), columns - 6, style.ascii);
        out.push_str(&format!("    {}\n", style.paint(Paint::Dim, &quoted)));
    }
}
