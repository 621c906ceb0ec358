//! The page of a comparison: what differs, the verdicts, then the runs themselves: before and after, pair by pair, by
//! percentile and over time. Everything is drawn; nothing needs scripts.

mod overlay;
mod percentiles;
pub(super) mod slopes;

use super::{elements, fold, framed, section, t};
use crate::Compare;
use crate::compare::{compare, statement, table, tone};
use crate::presentation::SectionName;
use crate::quantity::counted;
use maud::{Markup, html};
use model::{Basis, Compared};

/// Comparisons of one experiment (its first arm against each of the others) as one HTML document.
pub fn compare_page(title: &str, version: &str, views: &[Compare<'_>]) -> String {
    let main = html! {
        header {
            p.brand { span { "narrows compare" } }
            h1 { (t(title)) }
            @if let Some(first) = views.first() { @if !first.question.is_empty() { p.storage { (t(first.question)) } } }
        }
        @for (i, view) in views.iter().enumerate() { (comparison(view, i, views.len() > 1)) }
        footer {
            p { "narrows " (t(version)) ". MB/s is 10⁶ bytes per second. The change is B against A; of pairs it is the \
                 Hodges-Lehmann estimate with the interval of the exact signed-rank test." }
            p { "This page is one file and loads nothing." }
        }
    };
    framed(&format!("narrows compare {title}"), version, "", &main)
}

fn comparison(view: &Compare<'_>, index: usize, many: bool) -> Markup {
    let c = view.comparison;
    let id = |name: &str| if many { format!("{name}-{}", index + 1) } else { name.to_owned() };
    let primary: Vec<&Compared> = c.metrics.iter().filter(|m| m.primary).collect();
    let drawn: Vec<&Compared> = primary.iter().copied().filter(|m| slopes::can_draw(m)).collect();
    let parts = compare(view, false);
    html! {
        section.verdict id=(id("verdict")) {
            h2 { (t(view.a.name)) " → " (t(view.b.name)) }
            p.statement { (t(&statement(c))) }
            p {
                // Of single runs there is no verdict, whatever lies beyond noise.
                @if c.metrics.first().is_none_or(|m| m.basis != Basis::Single) {
                    span.chip.(elements::chip(tone(c.overall))) { (c.overall.name()) }
                }
                span.chip { (basis(c.metrics.first().map(|m| m.basis))) }
                span.chip { (counted(view.a.runs.len() as u64, "run")) " of A, " (counted(view.b.runs.len() as u64, "run")) " of B" }
                @if let Some(seed) = c.question.seed { span.chip { "order drawn with seed " (seed) } }
            }
            (elements::parts(parts.parts(SectionName::Answer)))
        }
        @if !c.environment_differences.is_empty() {
            (section(&id("differences"), "In what else the sides differ", "", elements::parts(parts.parts(SectionName::Differences))))
        }
        (section(&id("numbers"), "Metric by metric", "The line in the middle of each bar is not a change; the bar is the interval of the ratio", elements::parts(parts.parts(SectionName::Numbers))))
        @if !drawn.is_empty() {
            (fold(&id("pairs"), "Before and after, run by run", "each line is a pair; a line that rises means a larger value with B", html! {
                div.pairs { @for metric in drawn { (slopes::figure(metric, view.a.name, view.b.name)) } }
            }))
        }
        @if let Some(curves) = percentiles::figures(view) {
            (fold(&id("latency"), "Latency", "all runs of a side together, from the median to the slowest", curves))
        }
        @if let Some(lines) = overlay::figures(view) {
            (fold(&id("time"), "Over time", "the rate of every run, from the start of its phase", lines))
        }
        @if let Some(others) = table(c, false) {
            (fold(&id("others"), "Also measured", "not asked before the data: exploratory, with the false discovery rate held (Benjamini and Hochberg)", elements::table(&others)))
        }
    }
}

fn basis(basis: Option<Basis>) -> &'static str {
    match basis {
        Some(Basis::Paired) => "pairs in random order",
        Some(Basis::Unpaired) => "sets, order not randomised",
        Some(Basis::Single) => "single runs",
        None => "nothing in common",
    }
}
