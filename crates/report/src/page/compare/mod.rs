//! The page of a comparison: what differs, the verdicts, then the runs themselves: before and after, pair by pair, by
//! percentile and over time. Everything is drawn; nothing needs scripts.

mod overlay;
mod percentiles;
mod slopes;

use super::{fold, framed, section, t};
use crate::compare::{Row, cause_words, change, groups, name_words, notes, statement, verdict_words};
use crate::{Compare, quantity};
use maud::{Markup, html};
use model::{Basis, Compared, Verdict};

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
    html! {
        section.verdict id=(id("verdict")) {
            h2 { (t(view.a.name)) " → " (t(view.b.name)) }
            p.statement { (t(&statement(c))) }
            p {
                span.chip.(chip(c.overall)) { (c.overall.name()) }
                span.chip { (basis(c.metrics.first().map(|m| m.basis))) }
                span.chip { (runs(view.a.runs.len(), "A")) ", " (runs(view.b.runs.len(), "B")) }
                @if let Some(seed) = c.question.seed { span.chip { "order drawn with seed " (seed) } }
            }
            @if let Some(words) = cause_words(c) {
                p { (words) }
                @for reason in &c.cause_reasons { p.remark { (t(model::Reason::of(reason).sentence)) } }
            }
            @for reason in &c.reasons { p.remark { (t(reason)) } }
        }
        @if !c.environment_differences.is_empty() {
            (section(&id("differences"), "In what else the sides differ", "The cause may be here and not in what was to be compared", html! {
                div.scroll { table.data {
                    thead { tr { th scope="col" {} th scope="col" { "A: " (t(view.a.name)) } th scope="col" { "B: " (t(view.b.name)) } } }
                    tbody { @for d in &c.environment_differences { tr {
                        th scope="row" { (t(&d.what)) }
                        td.why { (values(&d.a)) }
                        td.why { (values(&d.b)) }
                    } } }
                } }
            }))
        }
        (section(&id("numbers"), "Metric by metric", "The line in the middle of each bar is no change; the bar is the interval of the ratio", html! {
            div.scroll tabindex="0" role="region" aria-label="Verdict of each metric" {
                (table(view, true))
            }
            (notes_of(view))
        }))
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
        @if c.metrics.iter().any(|m| !m.primary) {
            (fold(&id("others"), "Also measured", "not asked before the data: exploratory, with the false discovery rate held (Benjamini and Hochberg)", html! {
                div.scroll tabindex="0" role="region" aria-label="Other metrics" { (table(view, false)) }
            }))
        }
    }
}

fn runs(n: usize, side: &str) -> String {
    format!("{n} run{} of {side}", if n == 1 { "" } else { "s" })
}

fn basis(basis: Option<Basis>) -> &'static str {
    match basis {
        Some(Basis::Paired) => "pairs in random order",
        Some(Basis::Unpaired) => "sets, order not randomised",
        Some(Basis::Single) => "single runs",
        None => "nothing in common",
    }
}

fn chip(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better | Verdict::Same => "sure",
        Verdict::Unclear => "unsure",
        Verdict::Worse | Verdict::Invalid => "low",
    }
}

fn values(all: &[String]) -> String {
    if all.is_empty() { "not known".to_owned() } else { t(&all.join(" / ")) }
}

fn table(view: &Compare<'_>, primary: bool) -> Markup {
    let c = view.comparison;
    let ends = c.metrics.iter().filter(|m| m.primary == primary).flat_map(|m| [m.low, m.high, m.ratio]).flatten();
    let widest = ends.filter(|r| *r > 0.0 && r.is_finite()).map(|r| r.ln().abs()).fold(0.0, f64::max);
    let scale = widest.clamp(1.1f64.ln(), WIDEST.ln());
    html! {
        table.data.compared {
            thead { tr {
                @for heading in ["metric", "A", "B", "change"] { th scope="col" { (heading) } }
                th scope="col" { (axis(scale)) }
                @for heading in ["p", "margin", "verdict"] { th scope="col" { (heading) } }
            } }
            tbody {
                @for group in groups(c.metrics.iter().filter(|m| m.primary == primary)) {
                    @if !group.name.is_empty() { tr.group { th scope="rowgroup" colspan="8" { (t(&name_words(&group.name))) } } }
                    @for row in &group.rows { (table_row(row, scale, c.question.margin_percent.get(&row.metric.id).copied())) }
                }
            }
        }
    }
}

fn table_row(row: &Row<'_>, scale: f64, margin: Option<f64>) -> Markup {
    let m = row.metric;
    html! {
        tr {
            th scope="row" { (t(&row.words)) }
            td data-label="A" { (row.a) }
            td data-label="B" { (row.b) }
            td.change {
                b { (row.change) }
                @if let (Some(low), Some(high)) = (m.low, m.high) { " " span.half { (change(low)) " to " (change(high)) } }
            }
            td { (bar(m, scale, margin)) }
            td data-label="p" { (m.p.map_or_else(String::new, |p| if p < 0.001 { "< 0.001".to_owned() } else { quantity::significant(p, 2) })) }
            td data-label="margin" { @if m.basis != Basis::Single { (margin.map_or_else(String::new, |p| format!("{} %", quantity::significant(p, 2)))) } }
            td.said { span.chip.(chip_of(m)) { (verdict_words(m)) } }
        }
    }
}

fn chip_of(metric: &Compared) -> &'static str {
    match (metric.basis, metric.beyond_noise) {
        (Basis::Single, Some(true)) => "unsure",
        (Basis::Single, Some(false)) => "plain",
        _ => chip(metric.verdict),
    }
}

/// Ratios up to this one have their place on the axis; larger ones are an arrow at its end.
const WIDEST: f64 = 32.0;

/// The ends and the middle of the axis below.
fn axis(scale: f64) -> Markup {
    let end = quantity::ratio(scale.exp());
    html! {
        svg width="136" height="16" viewBox="0 0 136 16" role="img" aria-label=(format!("axis from 1/{end} to {end} times")) {
            text.axis x="0" y="12" { "1/" (end) }
            text.axis x="68" y="12" text-anchor="middle" { "1" }
            text.axis x="136" y="12" text-anchor="end" { (end) " ×" }
        }
    }
}

/// The interval of the ratio on a logarithmic axis with 1 in the middle; the margin as a band behind it.
fn bar(metric: &Compared, scale: f64, margin: Option<f64>) -> Markup {
    let x = |ratio: f64| (68.0 + ratio.max(f64::MIN_POSITIVE).ln() / scale * 62.0).clamp(6.0, 130.0);
    let margin =
        margin.filter(|_| metric.basis != Basis::Single).map(|p| (x(1.0 / (1.0 + p / 100.0)), x(1.0 + p / 100.0)));
    html! {
        svg width="136" height="16" viewBox="0 0 136 16" role="img" aria-label=(metric.ratio.map(change).unwrap_or_default()) {
            @if let Some((low, high)) = margin { rect.track x=(px(low)) y="1" width=(px(high - low)) height="14" {} }
            line.grid x1="68" x2="68" y1="0" y2="16" {}
            @if let (Some(low), Some(high)) = (metric.low.map(x), metric.high.map(x)) {
                path.whisker d=(format!("M{} 8 H{}", px(low), px(high))) {}
            }
            @if let Some(ratio) = metric.ratio.filter(|r| *r > 0.0) {
                @match ratio.ln() / scale {
                    ..-1.001 => { path d="M0 8 L9 3 V13 Z" fill="currentColor" {} },
                    1.001.. => { path d="M136 8 L127 3 V13 Z" fill="currentColor" {} },
                    _ => { circle cx=(px(x(ratio))) cy="8" r="4" fill="currentColor" {} },
                }
            }
        }
    }
}

/// A coordinate.
fn px(value: f64) -> String {
    format!("{value:.1}")
}

fn notes_of(view: &Compare<'_>) -> Markup {
    let all = notes(view.comparison);
    html! {
        @if !all.is_empty() {
            ul.notes {
                @for (reason, ids) in &all {
                    li { @if ids.len() > 3 { (ids.len()) " metrics" } @else { (t(&ids.join(", "))) } ": " (t(reason)) }
                }
            }
        }
    }
}
