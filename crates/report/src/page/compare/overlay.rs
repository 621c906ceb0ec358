//! The rate over time, every run of both sides in one drawing for each phase.

use super::percentiles::common_phases;
use crate::page::chart::{Axis, Chart, Line};
use crate::page::t;
use crate::{Compare, quantity};
use maud::{Markup, html};
use model::{PhaseRecord, PhaseStatus, Run, Unit};

/// Phases drawn.
const MOST_PHASES: usize = 12;
/// Points of one run; of more, neighbours are taken together.
const MOST_POINTS: usize = 80;
/// Runs of a side that are drawn.
const MOST_RUNS: usize = 40;

/// Seconds from the start of the phase, and the rate.
type Points = Vec<(f64, Option<f64>)>;

/// Rates of a phase, of whole groups of intervals.
fn points(record: &PhaseRecord) -> Points {
    let intervals = record.whole_intervals();
    let group = intervals.len().div_ceil(MOST_POINTS).max(1);
    let chunks = intervals.chunks(group).filter(|c| c.len() == group || intervals.len() <= group);
    chunks
        .filter_map(|chunk| {
            let first = chunk.first()?;
            let length: u64 = chunk.iter().map(|i| i.length_ns).sum();
            let bytes: u64 = chunk.iter().map(|i| i.bytes).sum();
            let at = first.start_ns.saturating_sub(record.started_ns) as f64 + length as f64 / 2.0;
            (length > 0).then(|| (at / 1e9, Some(bytes as f64 / (length as f64 / 1e9))))
        })
        .collect()
}

fn lines(runs: &[Run], phase: &str) -> Vec<Points> {
    let measured = runs.iter().filter_map(|r| r.phase(phase)).filter(|p| p.status == PhaseStatus::Measured);
    let records = measured.filter(|p| p.plan.measures_target()).filter_map(|p| p.record.as_ref());
    records.map(points).filter(|l| l.len() > 1).take(MOST_RUNS).collect()
}

/// A figure for each phase; `None` where no run kept a series.
pub(super) fn figures(view: &Compare<'_>) -> Option<Markup> {
    let phases: Vec<(&str, Vec<Points>, Vec<Points>)> = common_phases(view)
        .into_iter()
        .map(|name| (name, lines(view.a.runs, name), lines(view.b.runs, name)))
        .filter(|(_, a, b)| !a.is_empty() && !b.is_empty())
        .take(MOST_PHASES)
        .collect();
    if phases.is_empty() {
        return None;
    }
    Some(html! {
        div.pairs { @for (name, a, b) in &phases { (figure(name, a, b)) } }
        p.hint { "Solid: A, " (t(view.a.name)) ". Dashed: B, " (t(view.b.name)) ". The axis begins at zero." }
    })
}

fn figure(name: &str, a: &[Points], b: &[Points]) -> Markup {
    let points = || a.iter().chain(b).flatten();
    let end = points().map(|p| p.0).fold(0.001, f64::max);
    let highest = points().filter_map(|p| p.1).fold(0.0, f64::max);
    let line = |look: &str, points: &Points| Line {
        class: format!("curve thin {look}"),
        points: points.clone(),
        ..Line::default()
    };
    let chart = Chart {
        label: format!("{name}: rate over time, all runs of A and B"),
        x: Axis::between(0.0, end, ["0 s".to_owned(), format!("{} s", quantity::significant(end, 2))]),
        y: Axis::from_zero(highest, Unit::BytesPerS),
        lines: a.iter().map(|l| line("c1", l)).chain(b.iter().map(|l| line("c2 dash", l))).collect(),
        height: 206.0,
        ..Chart::default()
    };
    html! { figure.plot { figcaption { (t(name)) } (chart.small()) } }
}
