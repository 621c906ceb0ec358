//! Latency by percentile: the histograms of all runs of a side merged, A against B, phase by phase.

use super::super::distribution::tick;
use super::super::t;
use crate::page::px;
use crate::{Compare, quantity};
use maud::{Markup, html};
use model::{Histogram, PhaseStatus, Run};

/// Phases drawn; a sweep has more, and nobody reads them all.
const MOST_PHASES: usize = 12;
/// Fewer operations are no distribution.
const LEAST_OPERATIONS: u64 = 20;

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
    let both = [a, b];
    let log = |ns: Option<u64>| ns.map(|ns| (ns.max(1) as f64).log10());
    let low = both.iter().filter_map(|h| log(h.quantile(0.01))).fold(f64::INFINITY, f64::min).floor();
    let carried = |h: &Histogram| (h.count() as f64 / 10.0).log10().clamp(0.3, 4.3);
    let nines = both.iter().map(|h| carried(h)).fold(1.0, f64::max);
    let last = |h: &Histogram| log(h.quantile(1.0 - 10f64.powf(-carried(h))));
    let high = both.iter().filter_map(|h| last(h)).fold(low + 1.0, f64::max).ceil();
    let x = |n: f64| 54.0 + n / nines * 256.0;
    let y = |ns: u64| 12.0 + (high - (ns.max(1) as f64).log10()) / (high - low) * 166.0;
    let line = |h: &Histogram| {
        let points = (0..=48).filter_map(|i| {
            let n = carried(h) * f64::from(i) / 48.0;
            Some((x(n), y(h.quantile(1.0 - 10f64.powf(-n))?)))
        });
        points
            .enumerate()
            .map(|(i, (x, y))| format!("{}{} {}", if i == 0 { "M" } else { " L" }, px(x), px(y)))
            .collect::<String>()
    };
    let median = |h: &Histogram| h.quantile(0.5).map(quantity::latency).unwrap_or_default();
    let decades: Vec<i32> = (low as i32..=high as i32).collect();
    html! {
        figure.plot {
            figcaption { (t(name)) " " small { "median " (median(a)) " → " (median(b)) } }
            svg viewBox="0 0 340 206" width="340" role="img" aria-label=(t(&format!("{name}: latency by percentile, A and B"))) {
                @for d in decades {
                    @let at = px(12.0 + (high - f64::from(d)) / (high - low) * 166.0);
                    line.grid x1="54" x2="330" y1=(at) y2=(at) {}
                    text.tick x="50" y=(at) dy="4" text-anchor="end" { (tick(f64::from(d))) }
                }
                @for (n, label) in [(std::f64::consts::LOG10_2, "50 %"), (1.0, "90 %"), (2.0, "99 %"), (3.0, "99.9 %"), (4.0, "99.99 %")] {
                    @if n <= nines {
                        line.grid x1=(px(x(n))) x2=(px(x(n))) y1="12" y2="178" {}
                        text.tick x=(px(x(n))) y="196" text-anchor="middle" { (label) }
                    }
                }
                path.curve.c1 d=(line(a)) {}
                path.curve.c2.dash d=(line(b)) {}
            }
        }
    }
}
