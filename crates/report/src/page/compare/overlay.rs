//! The rate over time, every run of both sides in one drawing for each phase.

use super::super::t;
use super::percentiles::common_phases;
use crate::page::px;
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
type Line = Vec<(f64, f64)>;

/// Rates of a phase, of whole groups of intervals.
fn line(record: &PhaseRecord, by_bytes: bool) -> Line {
    let group = record.intervals.len().div_ceil(MOST_POINTS).max(1);
    let chunks = record.intervals.chunks(group).filter(|c| c.len() == group || record.intervals.len() <= group);
    chunks
        .filter_map(|chunk| {
            let first = chunk.first()?;
            let length: u64 = chunk.iter().map(|i| i.length_ns).sum();
            let amount: u64 = chunk.iter().map(|i| if by_bytes { i.bytes } else { i.operations }).sum();
            let at = first.start_ns.saturating_sub(record.started_ns) as f64 + length as f64 / 2.0;
            (length > 0).then(|| (at / 1e9, amount as f64 / (length as f64 / 1e9)))
        })
        .collect()
}

fn lines(runs: &[Run], phase: &str) -> Vec<Line> {
    let measured = runs.iter().filter_map(|r| r.phase(phase)).filter(|p| p.status == PhaseStatus::Measured);
    let records = measured.filter(|p| p.plan.measures_target()).filter_map(|p| p.record.as_ref());
    records.map(|r| line(r, true)).filter(|l| l.len() > 1).take(MOST_RUNS).collect()
}

/// A figure for each phase; `None` where no run kept a series.
pub(super) fn figures(view: &Compare<'_>) -> Option<Markup> {
    let phases: Vec<(&str, Vec<Line>, Vec<Line>)> = common_phases(view)
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

fn figure(name: &str, a: &[Line], b: &[Line]) -> Markup {
    let points = || a.iter().chain(b).flatten();
    let end = points().map(|p| p.0).fold(0.001, f64::max);
    let top = points().map(|p| p.1).fold(1.0, f64::max) * 1.05;
    let path = |line: &Line| {
        let at = |(i, (s, v)): (usize, &(f64, f64))| {
            let start = if i == 0 { "M" } else { " L" };
            format!("{start}{} {}", px(86.0 + s / end * 244.0), px(12.0 + (1.0 - v / top) * 166.0))
        };
        line.iter().enumerate().map(at).collect::<String>()
    };
    html! {
        figure.plot {
            figcaption { (t(name)) }
            svg viewBox="0 0 340 206" width="340" role="img" aria-label=(t(&format!("{name}: rate over time, all runs of A and B"))) {
                @for share in [0.0, 0.5, 1.0] {
                    @let y = px(12.0 + (1.0 - share / 1.05) * 166.0);
                    line.grid x1="86" x2="330" y1=(y) y2=(y) {}
                    text.tick x="82" y=(y) dy="4" text-anchor="end" { (quantity::quantity(top / 1.05 * share, Unit::BytesPerS)) }
                }
                @for l in a { path.curve.thin.c1 d=(path(l)) {} }
                @for l in b { path.curve.thin.c2.dash d=(path(l)) {} }
                text.tick x="86" y="198" { "0 s" }
                text.tick x="330" y="198" text-anchor="end" { (quantity::significant(end, 2)) " s" }
            }
        }
    }
}
