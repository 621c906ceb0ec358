//! What another tool printed. Its phases have no plan: what they measured is told by what each number is of.

use super::numbers::{Numbers, split};
use crate::presentation::{Cell, Row, Table};
use model::{CompactSort as _, Metric, MetricKey, PhaseRun, PhaseStatus, Run};

/// The columns, each with the quantities that stand in it: of several that one row has, the first.
const COLUMNS: [(&str, &[&str]); 13] = [
    ("rate", &["throughput_bytes_per_s"]),
    ("operations", &["iops", "tps_ops_per_s", "files_per_s", "ops_per_s"]),
    ("mean", &["latency_ns_mean"]),
    ("p50", &["latency_ns_p50"]),
    ("p99", &["latency_ns_p99"]),
    ("max latency", &["latency_ns_max"]),
    ("wait", &["await_ns"]),
    ("request", &["request_bytes_mean"]),
    ("queue", &["queue_depth_mean"]),
    ("busy", &["util_percent"]),
    ("took", &["elapsed_s", "time_s"]),
    ("size", &["bytes"]),
    ("CPU", &["cpu_percent"]),
];

/// Numbers that have no column are listed, up to so many.
const MOST_LISTED: usize = 40;

/// Parts of a latency, its edges, and percentiles between those that people ask for: only in all numbers.
const DETAILS: [&str; 9] =
    ["_min", "_stddev", "_p1", "_p90", "_p95", "_p999", "_p9999", "cpu_user_percent", "cpu_system_percent"];

/// Whether a number is one that only a list of all has.
pub(crate) fn is_detail(id: &str) -> bool {
    let quantity = MetricKey::of(id).quantity;
    DETAILS.iter().any(|d| quantity.ends_with(d))
        || ["completion_", "submission_"].iter().any(|p| quantity.starts_with(p))
}

fn has_column(quantity: &str) -> bool {
    COLUMNS.iter().any(|(_, of)| of.contains(&quantity))
}

/// Scope and quantity of a metric, of those that are told of in a run: `sda.read`, `iops`.
fn parts<'a>(phase: Option<&PhaseRun>, metric: &'a Metric) -> (&'a str, &'a str) {
    phase.and_then(|phase| split(phase, metric)).unwrap_or_else(|| (metric.key().of, metric.key().quantity))
}

/// What one row is of, with its metrics by quantity.
struct Told<'a> {
    phase: Option<&'a PhaseRun>,
    metrics: &'a [Metric],
}

/// Of reports all together, else phase by phase.
fn told<'a>(run: &'a Run, places: &[usize], over_reports: &'a [Metric]) -> Vec<Told<'a>> {
    if !over_reports.is_empty() {
        return vec![Told { phase: None, metrics: over_reports }];
    }
    let of = |i: &usize| Told { phase: Some(&run.phases[*i]), metrics: &run.phases[*i].metrics };
    places.iter().map(of).collect()
}

impl Told<'_> {
    fn scopes(&self) -> Vec<&str> {
        let mut out: Vec<&str> = Vec::new();
        for (scope, quantity) in self.metrics.iter().map(|m| parts(self.phase, m)) {
            if has_column(quantity) && !out.contains(&scope) {
                out.push(scope);
            }
        }
        // What is of all stands first, and a device before its directions.
        out.compact_sort_by_key(|scope| (scope.split('.').next().unwrap_or_default().to_owned(), scope.contains('.')));
        out
    }

    fn metric(&self, scope: &str, quantities: &[&str]) -> Option<&Metric> {
        quantities.iter().find_map(|q| self.metrics.iter().find(|m| parts(self.phase, m) == (scope, *q)))
    }

    fn is_idle(&self, scope: &str) -> bool {
        COLUMNS.iter().filter_map(|(_, quantities)| self.metric(scope, quantities)).all(|m| m.value == Some(0.0))
    }

    fn name(&self) -> &str {
        self.phase.map_or("", |phase| phase.plan.name.as_str())
    }
}

/// Whether there are numbers for a table in columns, and others.
pub(super) fn kinds(run: &Run, places: &[usize]) -> [bool; 2] {
    let told = told(run, places, &[]);
    let any = |of: &dyn Fn(&str) -> bool| {
        told.iter().any(|t| {
            t.phase.is_some_and(|p| p.status != PhaseStatus::Measured)
                || t.metrics.iter().any(|m| of(parts(t.phase, m).1))
        })
    };
    [any(&has_column), told.iter().any(|t| t.metrics.iter().any(|m| is_listed(parts(t.phase, m).1)))]
}

fn is_listed(quantity: &str) -> bool {
    !has_column(quantity) && !is_detail(quantity)
}

/// Rates, operations, times and loads: a row each test, or each device with its directions.
pub(super) fn columns_table(run: &Run, places: &[usize], over_reports: &[Metric], n: &mut Numbers) -> Table {
    in_columns(&told(run, places, over_reports), n)
}

/// What each device did in all reports together.
pub(crate) fn reports_table(over_reports: &[Metric]) -> Table {
    in_columns(&[Told { phase: None, metrics: over_reports }], &mut Numbers::default())
}

fn in_columns(told: &[Told<'_>], n: &mut Numbers) -> Table {
    let mut rows = Vec::new();
    for of in told {
        if let Some(phase) = of.phase.filter(|p| p.status != PhaseStatus::Measured) {
            let mut cells = vec![n.without(phase)];
            cells.resize(COLUMNS.len(), Cell::Empty);
            rows.push(Row::new(of.name(), cells));
            continue;
        }
        let mut outer: Option<&str> = None;
        for scope in of.scopes() {
            let cells = COLUMNS.iter().map(|(_, quantities)| n.printed(of.metric(scope, quantities))).collect();
            let below = outer.and_then(|outer| {
                if outer.is_empty() { Some(scope) } else { scope.strip_prefix(outer)?.strip_prefix('.') }
            });
            // Directions in which a device did nothing say nothing more.
            if of.phase.is_none() && below.is_some() && of.is_idle(scope) {
                continue;
            }
            let label = match (below, scope) {
                (Some(below), _) => below,
                (None, "") => of.name(),
                (None, scope) => scope,
            };
            let phase = if of.phase.is_some() && below.is_none() && !scope.is_empty() { of.name() } else { "" };
            let label = format!("{phase} {}", label.replace('.', " "));
            rows.push(Row { inner: below.is_some(), ..Row::new(label.trim(), cells) });
            outer = if below.is_some() { outer } else { Some(scope) };
        }
    }
    let empty = |column: &usize| rows.iter().all(|row| row.cells.get(*column).is_none_or(|c| *c == Cell::Empty));
    // The reason of a test without numbers stands in the first column that is left.
    let gone: Vec<usize> = (0..COLUMNS.len()).filter(empty).collect();
    let reports = told.iter().filter(|of| of.phase.is_none()).flat_map(|of| of.metrics).map(|m| m.n).max();
    let caption = match reports {
        Some(1) => "1 report".to_owned(),
        Some(reports) => format!("Means over {reports} reports"),
        None => String::new(),
    };
    let head = COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect();
    Table { caption, head, rows, ..Table::default() }.without(&gone)
}

/// What has no column, a row each number.
pub(super) fn list_table(run: &Run, places: &[usize], over_reports: &[Metric], n: &mut Numbers) -> Table {
    let told = told(run, places, over_reports);
    let mut rows = Vec::new();
    for of in &told {
        for metric in of.metrics {
            let (scope, quantity) = parts(of.phase, metric);
            if !is_listed(quantity) || (!over_reports.is_empty() && metric.value == Some(0.0)) {
                continue;
            }
            let name = if told.len() > 1 { of.name() } else { "" };
            let label = format!("{name} {} {}", scope.replace('.', " "), quantity_words(quantity));
            let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
            rows.push(Row::new(label, vec![n.printed(Some(metric)), Cell::Text(as_printed(metric).to_owned())]));
        }
    }
    let more = rows.len().saturating_sub(MOST_LISTED);
    rows.truncate(MOST_LISTED);
    let footer = (more > 0).then(|| format!("{more} more: narrows runs show {} --json", run.id)).into_iter().collect();
    let mut table = Table { head: vec!["value".to_owned(), "as printed".to_owned()], rows, footer, ..Table::default() };
    if table.rows.iter().all(|row| row.cells[1] == Cell::Text(String::new())) {
        table = table.without(&[1]);
    }
    table
}

/// The name of a quantity without its unit, which stands at its number.
fn quantity_words(quantity: &str) -> String {
    let units = ["_bytes_per_s", "_per_s", "_percent", "_ns", "_s"];
    let name = units.iter().find_map(|unit| quantity.strip_suffix(unit)).unwrap_or(quantity);
    name.replace('_', " ")
}

/// What the tool printed, where that has another unit.
fn as_printed(metric: &Metric) -> String {
    model::Reason::find(&metric.reasons, "printed").map_or_else(String::new, model::Reason::text)
}

impl Numbers {
    /// A number of another tool; where it printed none, why.
    fn printed(&mut self, metric: Option<&Metric>) -> Cell {
        match metric {
            Some(m) if m.value.is_none() && m.rejected_value.is_none() && !m.reasons.is_empty() => {
                let note = self.notes.add_reasons(&m.reasons);
                Cell::Without { word: crate::headline::status_word(m.status), code: None, note, bad: false }
            }
            other => self.cell(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_names_without_their_units() {
        assert_eq!(quantity_words("merges_per_s"), "merges");
        assert_eq!(quantity_words("user_percent"), "user");
        assert_eq!(quantity_words("queued"), "queued");
        assert!(is_detail("job.read.latency_ns_p95") && is_detail("a.completion_latency_ns_mean"));
        assert!(!is_detail("a.latency_ns_p99") && !is_detail("a.iops"));
    }
}
