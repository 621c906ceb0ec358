//! Latency by percentile: the histograms of all runs of a side merged, A against B, phase by phase.

use crate::page::distribution::{LEAST_OPERATIONS, by_percentile};
use crate::page::t;
use crate::{Compare, quantity};
use maud::{Markup, html};
use model::{Histogram, PhaseStatus, Run};

/// Phases drawn; a sweep has more, and nobody reads them all.
const MOST_PHASES: usize = 12;
/// Histograms merge; percentiles are never averaged.
fn merged(runs: &[Run], phase: &str) -> Histogram {
    let mut all = Histogram::new();
    for found in runs.iter().filter_map(|r| r.phase(phase)).filter(|p| p.status == PhaseStatus::Measured) {
        if let Some(record) = &found.record {
            all.merge(&record.latency);
        }
    }
    all
}

/// Names of the phases that both sides measured, in the order of A.
pub(super) fn common_phases<'a>(view: &Compare<'a>) -> Vec<&'a str> {
    let Some(first) = view.a.runs.first() else { return Vec::new() };
    let measured = first.phases.iter().filter(|p| p.plan.measures_target());
    let names = measured.map(|p| p.plan.name.as_str());
    names.filter(|n| view.b.runs.iter().any(|r| r.phase(n).is_some())).collect()
}

/// A figure for each phase; `None` where no run recorded latencies.
pub(super) fn figures(view: &Compare<'_>) -> Option<Markup> {
    let phases: Vec<(&str, Histogram, Histogram)> = common_phases(view)
        .into_iter()
        .map(|name| (name, merged(view.a.runs, name), merged(view.b.runs, name)))
        .filter(|(_, a, b)| a.count() >= LEAST_OPERATIONS && b.count() >= LEAST_OPERATIONS)
        .take(MOST_PHASES)
        .collect();
    if phases.is_empty() {
        return None;
    }
    Some(html! {
        div.pairs { @for (name, a, b) in &phases { (figure(name, a, b)) } }
        p.hint { "Solid: A, " (t(view.a.name)) ". Dashed: B, " (t(view.b.name)) ". A curve ends where fewer than ten operations lie beyond it." }
    })
}

fn figure(name: &str, a: &Histogram, b: &Histogram) -> Markup {
    let median = |h: &Histogram| h.quantile(0.5).map(quantity::latency).unwrap_or_default();
    let label = format!("{name}: latency by percentile, A and B");
    let lines = [("curve c1", a), ("curve c2 dash", b)].map(|(look, h)| (look.to_owned(), h));
    html! {
        figure.plot {
            figcaption { (t(name)) " " small { "median " (median(a)) " → " (median(b)) } }
            @if let Some(chart) = by_percentile(label, lines.into(), 206.0) { (chart.small()) }
        }
    }
}
