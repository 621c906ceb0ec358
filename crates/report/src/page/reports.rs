//! The reports of a tool that watches a machine, as lines: one drawing a quantity, one line a device and direction.

use super::chart::{Axis, Chart, Line};
use super::t;
use maud::{Markup, html};
use model::{CompactSort as _, PhaseRun, Run, Unit};

/// Fewer reports are no line.
const LEAST_REPORTS: usize = 3;
/// Lines of a drawing; there is a colour for each.
const MOST_LINES: usize = 7;
/// What is drawn: its title, how ids that it is of end, and its unit. The first that is there wins.
const PANELS: [(&str, &[&str], Unit); 5] = [
    ("Throughput", &["throughput_bytes_per_s"], Unit::BytesPerS),
    ("Operations", &["iops", "tps_ops_per_s"], Unit::OpsPerS),
    ("Waiting time of an operation", &["await_ns"], Unit::Ns),
    ("Time in which the device was busy", &["util_percent"], Unit::Percent),
    ("CPU", &["user_percent", "system_percent", "iowait_percent", "steal_percent"], Unit::Percent),
];

/// Whether the phase is a report: `report[3]`, `sample[5..8]`.
fn is_report(phase: &PhaseRun) -> bool {
    phase.record.is_none() && phase.plan.name.ends_with(']') && phase.plan.name.contains('[')
}

fn is_since_boot(phase: &PhaseRun) -> bool {
    phase.metrics.iter().any(|m| m.reasons.iter().any(model::Reason::is_since_boot))
}

fn values(line: &Line) -> impl Iterator<Item = f64> {
    line.points.iter().filter_map(|p| p.1)
}

/// The lines of a drawing, those with most to show first; and how many more there are.
fn lines(reports: &[&PhaseRun], ends: &[&str]) -> (Vec<Line>, usize) {
    let mut found: Vec<Line> = Vec::new();
    for (i, report) in reports.iter().enumerate() {
        for m in &report.metrics {
            let Some(key) = m.key_in(report).filter(|k| ends.contains(&k.quantity)) else { continue };
            // Several ends in one drawing tell its lines apart.
            let name = match key.quantity.strip_suffix("_percent").filter(|_| ends.len() > 1) {
                Some(kind) => kind.replace("iowait", "I/O wait"),
                None => key.part().replace('.', " "),
            };
            let at = found.iter().position(|l| l.name == name).unwrap_or_else(|| {
                found.push(Line {
                    name,
                    points: (0..reports.len()).map(|i| (i as f64, None)).collect(),
                    ..Line::default()
                });
                found.len() - 1
            });
            found[at].points[i].1 = m.value;
        }
    }
    let sum = |line: &Line| values(line).sum::<f64>();
    found.retain(|l| sum(l) > 0.0);
    found.compact_sort_by(|a, b| sum(b).total_cmp(&sum(a)));
    let more = found.len().saturating_sub(MOST_LINES);
    found.truncate(MOST_LINES);
    (found, more)
}

/// A drawing of what follows one another, with its legend; `by` says what follows what, and what the numbers below are.
pub(super) fn figure(
    title: &str,
    lines: Vec<Line>,
    more: usize,
    unit: Unit,
    by: (&str, &str),
    ends: [&str; 2],
) -> Markup {
    let last = lines.first().map_or(1, |l| l.points.len()).saturating_sub(1);
    let highest = lines.iter().flat_map(values).fold(0.0, f64::max);
    let lines = lines.into_iter().enumerate().map(|(i, line)| Line { class: Line::look(i), ..line }).collect();
    let chart = Chart {
        label: format!("{title}, {}", by.0),
        x: Axis::between(0.0, last as f64, ends.map(str::to_owned)).named(by.1),
        y: Axis::from_zero(highest, unit),
        lines,
        height: 200.0,
        ..Chart::default()
    };
    html! { figure { figcaption { (title) } (chart.draw()) (chart.legend(more)) } }
}

/// The drawings; `None` where the run has no reports.
pub(super) fn reports(run: &Run) -> Option<Markup> {
    let reports: Vec<&PhaseRun> = run.phases.iter().filter(|p| is_report(p) && !is_since_boot(p)).collect();
    if reports.len() < LEAST_REPORTS || run.phases.iter().any(|p| !is_report(p)) {
        return None;
    }
    let number = |p: &PhaseRun| p.plan.name.split(['[', ']']).nth(1).map(t).unwrap_or_default();
    let ends = [number(reports[0]), number(reports[reports.len() - 1])];
    let ends = [ends[0].as_str(), ends[1].as_str()];
    let all = PANELS.iter().map(|(title, ids, unit)| (*title, lines(&reports, ids), *unit));
    let shown = all.filter(|(_, (lines, _), _)| !lines.is_empty());
    let by = ("report by report", "number of the report");
    let figures: Vec<Markup> =
        shown.map(|(title, (lines, more), unit)| figure(title, lines, more, unit, by, ends)).collect();
    // The first says what the devices did; the others why.
    (!figures.is_empty()).then(|| {
        html! {
            (figures[0])
            @if figures.len() > 1 { details { summary { "Operations, waiting times, how busy the devices and processors were" } @for f in &figures[1..] { (f) } } }
            p.hint { "The average since boot is not drawn." }
        }
    })
}
