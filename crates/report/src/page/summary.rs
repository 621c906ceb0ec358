//! The top of the page: the verdict first, then the numbers that stand for the whole.

use super::t;
use crate::headline::{self, Cell};
use crate::{Check, quantity, storage_line};
use maud::{Markup, html};
use model::{Unit, Work};

/// Name, time, storage, the verdict and the bottleneck.
pub(super) fn header(check: &Check<'_>) -> Markup {
    let run = check.run;
    html! {
        header {
            p.brand { "narrows " (t(&run.command)) span.when { (t(check.started)) } }
            h1 { (t(&crate::identity(run))) }
            p.storage { (t(&storage_line(run))) }
            @if let Some(words) = headline::state_words(run.state) { p.banner { (words) } }
            @if let Some(verdict) = check.verdict() { p.fit { strong { (t(&verdict)) } } }
        }
        (verdict(check))
    }
}

/// The bottleneck with its evidence, and what to do next.
pub(super) fn verdict(check: &Check<'_>) -> Markup {
    let run = check.run;
    let limit = check.limit;
    let confidence = headline::confidence_word(limit.confidence);
    html! {
        section.verdict aria-labelledby="verdict-title" {
            h2 id="verdict-title" { "Bottleneck" }
            p.statement { (sentence(&t(&limit.statement))) }
            p.confidence {
                span.chip { (layer_word(limit.layer)) }
                span.chip.(match limit.confidence { model::Confidence::High => "sure", _ => "unsure" }) { (confidence) }
            }
            @if !limit.evidence.is_empty() { (evidence(run, &limit.evidence)) }
            @if let Some(next) = check.next_step {
                div.next {
                    p { strong { "Next step: " } (t(&next.text)) }
                    @if let Some(ratio) = next.predicted_ratio {
                        p.gain { "predicted at most " strong { (quantity::ratio(ratio)) " ×" } }
                    }
                    @if !next.basis.is_empty() { p.basis { "rests on: " (t(&next.basis)) } }
                }
            }
        }
    }
}

/// The first letter large: statements are written to stand behind a colon.
pub(super) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// A layer as its JSON name, with spaces.
pub(super) fn layer_word(layer: model::LimitLayer) -> String {
    kebab(&layer).replace('-', " ")
}

/// The JSON name of a unit variant.
pub(super) fn kebab(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Evidence as a list: what, value, where from.
pub(super) fn evidence(run: &model::Run, list: &[model::Evidence]) -> Markup {
    html! {
        ul.evidence {
            @for e in list {
                li.(kebab(&e.kind)) {
                    span.what { (t(&headline::evidence_name(e))) }
                    " "
                    @match headline::evidence_value(run, e) {
                        Some(v) => { b { (t(&v)) } },
                        None => { b.none { @if e.kind == model::EvidenceKind::Absence { (headline::absence_word(e)) } @else { "-" } } },
                    }
                    @if !e.source.is_empty() { " " code { (t(&e.source)) } }
                }
            }
        }
    }
}

/// The rows of the card as a table.
pub(super) fn numbers(check: &Check<'_>) -> Markup {
    let run = check.run;
    let h = headline::headline(run);
    let mut label = "";
    let labelled: Vec<(String, &headline::Row)> = h
        .rows
        .iter()
        .map(|r| {
            label = if r.label.is_empty() { label } else { r.label };
            (label.to_owned(), r)
        })
        .collect();
    html! {
        section id="numbers" {
            h2 { "The numbers" }
            table.headline {
                thead { tr { th scope="col" { span.hide { "Path" } } th scope="col" { "read" } th scope="col" { "write" } } }
                tbody {
                    @for (label, r) in &labelled {
                        tr {
                            th scope="row" { (label) @if !r.variant.is_empty() { span.variant { " " (r.variant) } } }
                            td data-label="read" { (cell(&r.read)) }
                            td data-label="write" { (cell(&r.write)) }
                        }
                    }
                }
            }
            @let limits = headline::row_limits(check);
            @if !limits.is_empty() {
                h3 { "What limits each number" }
                dl.limits { @for (label, statement) in &limits { dt { (label) } dd { (t(statement)) } } }
            }
            @if let Some(doubt) = h.doubt() { p.doubt { (t(&doubt)) } }
            @if !h.notes.is_empty() {
                ol.notes { @for note in &h.notes { li { (t(note)) } } }
            }
            dl.tiles {
                @if let Some((ns, phase)) = headline::worst_stall(run) {
                    (longest_gap(ns, phase))
                }
                @if let Some(copy) = run.metric_doing(Work::MemoryCopy, "throughput_bytes_per_s").and_then(quantity::metric) {
                    div { dt { "memory copy" } dd { (copy.value()) @if let Some(h) = &copy.half_width { small { "± " (h) } } } }
                }
                div { dt { @if run.target.kind == model::TargetKind::Sim { "simulated writes" } @else { "written" } } dd { (quantity::size(run.bytes_written)) small { "in " (quantity::duration(run.duration_ns)) } } }
                @if let Some(ns) = headline::own_cpu_ns(run) {
                    div { dt { "own CPU" } dd { (quantity::duration(ns)) small { "over all phases" } } }
                }
            }
            @if let Some(reason) = headline::without_io_uring(run) {
                p.remark { "Without io_uring, threads stood in for depth: " (t(reason)) }
            }
            @for remark in &run.remarks { p.remark { (t(remark)) } }
        }
    }
}

/// A tile: how long nothing completed at the longest.
pub(super) fn longest_gap(ns: f64, phase: &str) -> Markup {
    html! { div { dt { "longest gap without a completion" } dd { (quantity::quantity(ns, Unit::Ns)) small { "in " (t(phase)) } } } }
}

fn cell(cell: &Cell) -> Markup {
    html! {
        @match cell {
            Cell::Empty => { span.empty { "–" } },
            Cell::Value { shown, p99 } => {
                span.value { b { (shown.number) } " " (shown.unit) }
                @if let Some(h) = &shown.half_width { " " span.half { "± " (h) } }
                @if let Some(p99) = p99 { span.tail { "p99 " (p99) } }
            },
            Cell::Without { rejected: Some(shown), note, .. } => {
                span.doubtful { "(" b { (shown.number) } " " (shown.unit) ")!" @if let Some(n) = note { (n) } }
            },
            Cell::Without { word, code, note, bad, .. } => {
                span.status.(if *bad { "refused" } else { "skipped" }) { (word) }
                @if let Some(code) = code { " " (t(code)) }
                @if let Some(n) = note { sup { (n) } }
            },
        }
    }
}

/// Where the run is kept.
pub(super) fn footer(check: &Check<'_>) -> Markup {
    let run = check.run;
    html! {
        footer {
            p { "Run " code { (t(&run.id)) } ", narrows " (t(&run.program_version)) ". "
                "MB/s is 10⁶ bytes per second. ± is how steady this one run was (95 %); it says nothing about another run." }
            p { "This page is one file and loads nothing." }
            details {
                summary { "The plots are drawn by uPlot (MIT licence)" }
                pre { (include_str!("../../vendor/uplot/LICENSE")) }
            }
        }
    }
}
