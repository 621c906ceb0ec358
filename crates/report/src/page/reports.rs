//! The reports of a tool that watches a machine, as lines: one drawing a quantity, one line a device and direction.

use super::t;
use crate::quantity;
use maud::{Markup, html};
use model::{PhaseRun, Run, Unit};

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

/// One line of a drawing.
pub(super) struct Line {
    pub name: String,
    pub values: Vec<Option<f64>>,
}

impl Line {
    fn sum(&self) -> f64 {
        self.values.iter().flatten().sum()
    }
}

/// Whether the phase is a report: `report[3]`, `sample[5..8]`.
fn is_report(phase: &PhaseRun) -> bool {
    phase.record.is_none() && phase.plan.name.ends_with(']') && phase.plan.name.contains('[')
}

fn is_since_boot(phase: &PhaseRun) -> bool {
    phase.metrics.iter().any(|m| m.reasons.iter().any(model::Reason::is_since_boot))
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
                found.push(Line { name, values: vec![None; reports.len()] });
                found.len() - 1
            });
            found[at].values[i] = m.value;
        }
    }
    found.retain(|l| l.sum() > 0.0);
    found.sort_by(|a, b| b.sum().total_cmp(&a.sum()));
    let more = found.len().saturating_sub(MOST_LINES);
    found.truncate(MOST_LINES);
    (found, more)
}

fn class(place: usize) -> String {
    format!("curve c{}{}", place + 1, if place % 2 == 1 { " dash" } else { "" })
}

fn drawing(
    title: &str,
    lines: &[Line],
    unit: Unit,
    (by, axis): (&str, &str),
    numbers: [&str; 2],
    look: &str,
    width: f64,
) -> Markup {
    let (left, right, top, bottom, height) = (84.0, 16.0, 12.0, 152.0, 190.0);
    let highest = lines.iter().flat_map(|l| &l.values).flatten().copied().fold(0.0, f64::max);
    let highest = if highest > 0.0 { highest } else { 1.0 };
    let count = lines.first().map_or(1, |l| l.values.len());
    let x = |i: usize| left + i as f64 / (count - 1).max(1) as f64 * (width - left - right);
    let y = |v: f64| bottom - v / highest * (bottom - top);
    let path = |line: &Line| {
        let mut out = String::new();
        let mut open = false;
        for (i, v) in line.values.iter().enumerate() {
            if let Some(v) = v {
                out.push_str(&format!("{}{:.1} {:.1} ", if open { "L" } else { "M" }, x(i), y(*v)));
            }
            open = v.is_some();
        }
        out
    };
    html! {
        svg.curves.(look) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(format!("{title}, {by}")) {
            @for share in [0.0, 0.5, 1.0] {
                @let at = format!("{:.1}", y(highest * share));
                line.grid x1=(left) x2=(width - right) y1=(at) y2=(at) {}
                text.tick x=(left - 8.0) y=(at) dy="4" text-anchor="end" { (quantity::quantity(highest * share, unit)) }
            }
            @for line in lines.iter().enumerate().rev() { path class=(class(line.0)) d=(path(line.1)) {} }
            text.tick x=(left) y="172" { (numbers[0]) }
            text.axis x=(left + (width - left - right) / 2.0) y="172" text-anchor="middle" { (axis) }
            text.tick x=(width - right) y="172" text-anchor="end" { (numbers[1]) }
        }
    }
}

/// A drawing with its legend, wide and narrow; `by` says what follows what, and what the numbers below are.
pub(super) fn figure(
    title: &str,
    lines: &[Line],
    more: usize,
    unit: Unit,
    by: (&str, &str),
    ends: [&str; 2],
) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            (drawing(title, lines, unit, by, ends, "wide", 760.0))
            (drawing(title, lines, unit, by, ends, "narrow", 350.0))
            ul.legend {
                @for (i, line) in lines.iter().enumerate() {
                    li { svg.sample viewBox="0 0 30 10" aria-hidden="true" { path class=(class(i)) d="M1 5 H29" {} } (t(&line.name)) }
                }
                @if more > 0 { li { "and " (more) " more in all numbers" } }
            }
        }
    }
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
    let shown: Vec<_> = all.filter(|(_, (lines, _), _)| !lines.is_empty()).collect();
    let figures: Vec<Markup> = shown
        .iter()
        .map(|(title, (lines, more), unit)| {
            figure(title, lines, *more, *unit, ("report by report", "number of the report"), ends)
        })
        .collect();
    // The first says what the devices did; the others why.
    (!figures.is_empty()).then(|| {
        html! {
            (figures[0])
            @if figures.len() > 1 { details { summary { "Operations, waiting times, how busy the devices and processors were" } @for f in &figures[1..] { (f) } } }
            p.hint { "The average since boot is not drawn." }
        }
    })
}
