//! The parts of a result as elements of the page.

use super::t;
use crate::evidence::{Worded, confidence_word};
use crate::presentation::{
    Bottleneck, Cell, End, Figure, Head, Layout, Note, Part, Remark, Table, Weight, table::PLUS_MINUS,
};
use crate::text::capital;
use maud::{Markup, html};
use model::Confidence;

/// Name, time, storage, what it is worth as a whole, and the answer.
pub(super) fn head(head: &Head) -> Markup {
    html! {
        header {
            p.brand { "narrows " (t(&head.command)) span.when { (t(&head.when)) } }
            h1 { (t(&head.subject)) }
            p.storage { (t(&head.storage)) }
            @if let Some(state) = &head.state { p.banner.(if state.bad { "bad" } else { "" }) { (state.words) } }
            @if let Some(answer) = &head.answer { p.fit { strong { (t(answer)) } } }
        }
    }
}

/// Parts one below the other.
pub(super) fn parts<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Markup {
    html! { @for p in parts { (part(p)) } }
}

fn part(part: &Part) -> Markup {
    match part {
        Part::Table(of) => table(of),
        Part::Figures(of) => figures(of),
        Part::Doubt(doubt) => html! { p.doubt { (t(doubt)) } },
        Part::Notes(of) => notes(of),
        Part::Remarks(of) => remarks(of),
        Part::Bottleneck(of) => bottleneck(of),
        Part::Statements { title, rows } => html! {
            h3 { (title) }
            dl.limits { @for (label, statement) in rows { dt { (t(label)) } dd { (t(statement)) } } }
        },
        Part::Findings(findings) => {
            html! { dl.limits { @for (id, title) in findings { dt { (t(id)) } dd { (t(title)) } } } }
        }
        Part::Named(name, text) => html! { p.remark { b { (name) } " " (t(text)) } },
    }
}

/// The bottleneck with its evidence, and what to do next.
fn bottleneck(of: &Bottleneck) -> Markup {
    html! {
        section.verdict aria-labelledby="verdict-title" {
            h2 id="verdict-title" { "Bottleneck" }
            p.statement { (capital(&t(&of.statement))) }
            p.confidence {
                span.chip { (layer_word(of.layer)) }
                span.chip.(if of.confidence == Confidence::High { "sure" } else { "unsure" }) { (confidence_word(of.confidence)) }
            }
            @if !of.evidence.is_empty() { (evidence(&of.evidence)) }
            @if let Some(next) = &of.next {
                div.next {
                    p { strong { "Next step: " } (t(&next.text)) }
                    @if let Some(prediction) = &next.prediction { p.gain { strong { (prediction) } } }
                    @if !next.basis.is_empty() { p.basis { "rests on: " (t(&next.basis)) } }
                }
            }
        }
    }
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
pub(super) fn evidence(list: &[Worded]) -> Markup {
    html! {
        ul.evidence {
            @for e in list {
                li.(kebab(&e.kind)) {
                    span.what { (t(&e.name)) }
                    " "
                    @match &e.value {
                        Some(v) => { b { (t(v)) } },
                        None => { b.none { (e.without_value()) } },
                    }
                    @if !e.source.is_empty() { " " code { (t(&e.source)) } }
                }
            }
        }
    }
}

/// A table with its caption as a heading.
pub(super) fn table(table: &Table) -> Markup {
    let caption = if table.caption.is_empty() { "Numbers of the phases".to_owned() } else { t(&table.caption) };
    html! {
        @if !table.caption.is_empty() { h3.form { (t(&table.caption)) } }
        @match table.layout {
            Layout::Sides => { table.headline { (rows(table)) } },
            Layout::Columns => { div.scroll tabindex="0" role="region" aria-label=(caption) { table.data.form { (rows(table)) } } },
        }
        @for line in &table.footer { p.hint { (t(line)) } }
    }
}

fn rows(table: &Table) -> Markup {
    html! {
        thead { tr { td {} @for h in &table.head { th scope="col" { (t(h)) } } } }
        tbody {
            @for row in &table.rows {
                tr.inner[row.inner].dim[row.dim] {
                    th scope="row" { (t(&row.label)) @if !row.variant.is_empty() { span.variant { " " (row.variant) } } }
                    @for (head, c) in table.head.iter().zip(&row.cells) { td data-label=(t(head)) { (cell(c)) } }
                }
            }
        }
    }
}

fn cell(cell: &Cell) -> Markup {
    html! {
        @match cell {
            Cell::Empty => {},
            Cell::Value { shown, p99, unsteady } => {
                span.value { @if *unsteady { "~" } b { (shown.number) } @if !shown.unit.is_empty() { " " (shown.unit) } }
                @if let Some(half) = &shown.half_width { " " span.half { (PLUS_MINUS) " " (half) } }
                @if let Some(p99) = p99 { span.tail { "p99 " (p99) } }
            },
            Cell::Text(text) => { (t(text)) },
            Cell::Best(text) => { strong { (t(text)) } },
            Cell::Doubted { shown, note } => {
                span.doubtful { "(" b { (shown.number) } " " (shown.unit) ")!" @if let Some(n) = note { (n) } }
            },
            Cell::Without { word, code, note, bad } => {
                span.status.(if *bad { "refused" } else { "skipped" }) { (word) }
                @if let Some(code) = code { " " (t(code)) }
                @if let Some(n) = note { sup { (n) } }
            },
            // The bar stands in the plot; what is left is the mark of the knee.
            Cell::Bar { knee, .. } => { @if *knee { span.chip.sure { "knee" } } },
        }
    }
}

fn figures(figures: &[Figure]) -> Markup {
    html! {
        dl.tiles {
            @for f in figures {
                div { dt { (f.name) } dd {
                    (t(&f.value))
                    @if let Some(half) = &f.half_width { " " small { (PLUS_MINUS) " " (half) } }
                    @if !f.detail.is_empty() { " " small { (t(&f.detail)) } }
                } }
            }
        }
    }
}

fn notes(notes: &[Note]) -> Markup {
    html! { ol.notes { @for note in notes { li { (t(&note.text)) } } } }
}

fn remarks(remarks: &[Remark]) -> Markup {
    html! {
        ul.events {
            @for r in remarks {
                li.(match r.weight { Weight::Plain => "plain", Weight::Doubt => "doubt", Weight::Bad => "bad" }) {
                    b { (t(&r.phase)) } " " (t(&r.text))
                }
            }
        }
    }
}

/// What has to be known of the whole, and what it took.
pub(super) fn end(head: &Head, end: &End) -> Markup {
    html! {
        @for note in head.notes.iter().chain(&end.notes) { p.remark { (t(note)) } }
        p.hint { (t(&end.cost)) @if let Some(cpu) = &end.own_cpu { ", using " (cpu) " of CPU itself" } "." }
    }
}

/// Where the run is kept.
pub(super) fn footer(end: &End) -> Markup {
    html! {
        footer {
            p { "Run " code { (t(&end.run)) } ", narrows " (t(&end.version)) ". "
                "MB/s is 10⁶ bytes per second. ± is how steady this one run was (95 %); it says nothing about another run." }
            p { "This page is one file and loads nothing." }
            details {
                summary { "The plots are drawn by uPlot (MIT licence)" }
                pre { (include_str!("../../vendor/uplot/LICENSE")) }
            }
        }
    }
}
