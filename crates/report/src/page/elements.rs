//! The parts of a result as elements of the page.

use super::chart::px;
use super::t;
use crate::evidence::{RenderedEvidence, confidence_word};
use crate::presentation::{
    Axis, Bottleneck, Cell, End, Figure, Head, Layout, Note, Part, Remark, Row, Span, Table, Tone, table::PLUS_MINUS,
};
use crate::quantity;
use crate::text::capital;
use maud::{Markup, html};
use model::{Confidence, LimitLayer, json_name};

/// Name, time, storage, what it is worth as a whole, and the answer.
pub(super) fn head(head: &Head) -> Markup {
    html! {
        header {
            p.brand { "narrows " (t(&head.command)) span.when { (t(&head.when)) } }
            h1 { (t(&head.subject)) }
            @for about in &head.about { p.storage { (t(about)) } }
            @if let Some(state) = &head.state { p.banner.(if state.bad { "bad" } else { "" }) { (state.words) } }
            @if let Some((_, answer)) = &head.answer { p.fit { strong { (t(answer)) } } }
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
        Part::Heading(text) => html! { h3.form { (t(text)) } },
        Part::Item(item) => html! {
            h3.form { @if !item.kind.is_empty() { small { (item.kind) } " " } (t(&item.name)) @if !item.about.is_empty() { " " small { (t(&item.about)) } } }
        },
        Part::Facts(facts) => {
            html! { dl.limits { @for (name, value) in facts { dt { (t(name)) } dd { (t(value)) } } } }
        }
        Part::Sentence(_, text) => html! { p.doubt { (t(text)) } },
        Part::Hint(text) => html! { p.hint { (t(text)) } },
        Part::List(list) => html! { ul.notes { @for text in list { li { (t(text)) } } } },
        Part::Notes(of) => notes(of),
        Part::Remarks(of) => remarks(of),
        Part::Bottleneck(of) => bottleneck(of),
        Part::Statements { title, rows, .. } => html! {
            @if !title.is_empty() { h3 { (title) } }
            dl.limits { @for (label, statement) in rows { dt { (t(label)) } dd { (t(statement)) } } }
        },
        Part::Findings(findings) => {
            html! { dl.limits { @for (id, title) in findings { dt { (t(id)) } dd { (t(title)) } } } }
        }
        Part::Named(name, text) => html! { p.remark { b { (name) } " " (t(text)) } },
        Part::Code(text) => html! { pre { @for line in text.lines() { (t(line)) "\n" } } },
    }
}

/// The bottleneck with its evidence, and what to do next.
fn bottleneck(of: &Bottleneck) -> Markup {
    html! {
        section.verdict aria-labelledby="verdict-title" {
            h2 id="verdict-title" { (t(&of.title)) }
            p.statement { (capital(&t(&of.statement))) }
            p.confidence {
                span.chip { (layer_word(of.layer)) }
                @if of.layer != LimitLayer::Unknown {
                    span.chip.(if of.confidence == Confidence::High { "sure" } else { "unsure" }) { (confidence_word(of.confidence)) }
                }
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
pub(super) fn layer_word(layer: LimitLayer) -> String {
    json_name(&layer).replace('-', " ")
}

/// Evidence as a list: what, value, where from.
pub(super) fn evidence(list: &[RenderedEvidence]) -> Markup {
    html! {
        ul.evidence {
            @for e in list {
                li.(json_name(&e.kind)) {
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
            Layout::Columns => { div.scroll tabindex="0" role="region" aria-label=(caption) { table.data.form.stacked[is_stacked(table)] { (rows(table)) } } },
        }
        @for line in &table.footer { p.hint { (t(line)) } }
    }
}

/// More columns than this do not fit on a telephone.
const NARROW_COLUMNS: usize = 3;

/// Whether a table is stacked where there is little room: a column of it is drawn, or it has many, of which a verdict is as wide as two.
fn is_stacked(table: &Table) -> bool {
    let verdicts = |row: &Row| row.cells.iter().filter(|cell| matches!(cell, Cell::Answer(..))).count();
    let verdicts = table.rows.iter().map(verdicts).max().unwrap_or(0);
    table.head.len() + verdicts > NARROW_COLUMNS || (0..table.head.len()).any(|i| table.axis(i).is_some())
}

/// What a cell is, where its head is not seen; some say it themselves.
fn label(head: &str, cell: &Cell) -> Option<String> {
    (!matches!(cell, Cell::Change { .. } | Cell::Interval(_) | Cell::Answer(..))).then(|| t(head))
}

/// Where a cell stands.
fn class(cell: &Cell) -> &'static str {
    match cell {
        Cell::Change { .. } => "change",
        Cell::Answer(..) => "left said",
        other if other.is_left() => "left",
        _ => "",
    }
}

fn rows(table: &Table) -> Markup {
    let empty = |i: &usize| table.rows.iter().filter_map(|r| r.cells.get(*i)).all(|c| *c == Cell::Empty);
    let table = &table.without(&table.page_only.iter().copied().filter(empty).collect::<Vec<_>>());
    let scale = table.scale(WIDEST);
    html! {
        thead { tr {
            @if table.corner.is_empty() { td {} } @else { th.corner scope="col" { (table.corner) } }
            @for (i, h) in table.head.iter().enumerate() {
                th.left[table.is_left(i)] scope="col" { @match table.axis(i) { Some(axis) => { (ends(axis, scale)) }, None => { (t(h)) } } }
            }
        } }
        tbody {
            @for row in &table.rows {
                @if row.cells.is_empty() {
                    tr.group { th scope="rowgroup" colspan=(table.head.len() + 1) { (t(&row.label)) } }
                } @else {
                    tr.inner[row.inner].dim[row.dim] {
                        th scope="row" { (t(&row.label)) @if !row.variant.is_empty() { span.variant { " " (row.variant) } } }
                        @for (head, c) in table.head.iter().zip(&row.cells) {
                            td.(class(c)) data-label=[label(head, c)] { (cell(c, scale)) }
                        }
                    }
                }
            }
        }
    }
}

/// Ratios up to this one have their place on the axis; larger ones are an arrow at its end.
const WIDEST: f64 = 32.0;

/// The ends and the middle of an axis.
fn ends(axis: Axis, scale: f64) -> Markup {
    let (low, middle, high) = match axis {
        Axis::Ratio => {
            let end = quantity::ratio(scale.exp());
            (format!("1/{end}"), "1", format!("{end} ×"))
        }
        Axis::Correlation => ("-1".to_owned(), "0", "1".to_owned()),
    };
    html! {
        svg width="136" height="16" viewBox="0 0 136 16" role="img" aria-label=(format!("axis from {low} to {high}")) {
            text.axis x="0" y="12" { (low) }
            text.axis x="68" y="12" text-anchor="middle" { (middle) }
            text.axis x="136" y="12" text-anchor="end" { (high) }
        }
    }
}

/// An interval on its axis; what counts as the same is a band behind it.
fn interval(span: &Span, scale: f64) -> Markup {
    let scale = if span.axis == Axis::Ratio { scale } else { 1.0 };
    let x = |v: f64| (68.0 + v / scale * 62.0).clamp(6.0, 130.0);
    html! {
        svg width="136" height="16" viewBox="0 0 136 16" aria-hidden="true" {
            @if let Some(margin) = span.margin { rect.track x=(px(x(-margin))) y="1" width=(px(x(margin) - x(-margin))) height="14" {} }
            line.grid x1="68" x2="68" y1="0" y2="16" {}
            @if let (Some(low), Some(high)) = (span.low.map(x), span.high.map(x)) {
                path.whisker d=(format!("M{} 8 H{}", px(low), px(high))) {}
            }
            @if let Some(point) = span.point.filter(|p| !p.is_nan()) {
                @match point / scale {
                    ..-1.001 => { path d="M0 8 L9 3 V13 Z" fill="currentColor" {} },
                    1.001.. => { path d="M136 8 L127 3 V13 Z" fill="currentColor" {} },
                    _ => { circle cx=(px(x(point))) cy="8" r="4" fill="currentColor" {} },
                }
            }
        }
    }
}

fn cell(cell: &Cell, scale: f64) -> Markup {
    html! {
        @match cell {
            Cell::Empty => {},
            Cell::Value { shown, p99, unsteady } => {
                span.value { @if *unsteady { "~" } b { (shown.number) } @if !shown.unit.is_empty() { " " (shown.unit) } }
                @if let Some(half) = &shown.half_width { " " span.half { (PLUS_MINUS) " " (half) } }
                @if let Some(p99) = p99 { span.tail { "p99 " (p99) } }
            },
            Cell::Text(text) | Cell::Words(text) => { (t(text)) },
            Cell::Spark(_) => { (cell.text(false)) },
            Cell::Best(text) => { strong { (t(text)) } },
            Cell::Doubted { shown, note } => {
                span.doubtful { "(" b { (shown.number) } " " (shown.unit) ")!" @if let Some(n) = note { (n) } }
            },
            Cell::Without { word, code, note, bad } => {
                span.status.(if *bad { "refused" } else { "skipped" }) { (word) }
                @if let Some(code) = code { " " (t(code)) }
                @if let Some(n) = note { sup { (n) } }
            },
            Cell::Change { change, interval } => {
                b { (change) } @if let Some(interval) = interval { " " span.half { (interval) } }
            },
            Cell::Interval(span) => { (interval(span, scale)) },
            Cell::Answer(tone, words) => { span.chip.(chip(*tone)) { (t(words)) } },
            Cell::Ranked { value, place, .. } => { (t(value)) " " small { (place) } },
            // The bar stands in the plot; what is left is the mark of the knee.
            Cell::Bar { knee, .. } => { @if *knee { span.chip.sure { "knee" } } },
        }
    }
}

/// The look of a word in a frame.
pub(super) fn chip(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "sure",
        Tone::Plain => "plain",
        Tone::Doubt => "unsure",
        Tone::Bad => "low",
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
                li.(match r.tone { Tone::Doubt => "doubt", Tone::Bad => "bad", _ => "plain" }) {
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
        @if let Some(kept) = &end.kept {
            p.hint { (t(&kept.cost)) @if let Some(cpu) = &kept.own_cpu { ", using " (cpu) " of CPU itself" } "." }
        }
    }
}

/// Where the run is kept.
pub(super) fn footer(end: &End) -> Markup {
    html! {
        footer {
            p { @if let Some(kept) = &end.kept { "Run " code { (t(&kept.run)) } ", narrows " (t(&kept.version)) ". " }
                "MB/s is 10⁶ bytes per second. ± is how steady this one run was (95 %); it is not about another run." }
            p { "This page is one file and loads nothing." }
            details {
                summary { "The plots are drawn by uPlot (MIT licence)" }
                pre { (include_str!("../../vendor/uplot/LICENSE")) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A telephone has no room for more: a table of many columns becomes a list of its rows there.
    #[test]
    fn a_table_of_many_columns_is_stacked_where_there_is_little_room() {
        let of = |columns: usize| {
            let cells = || (0..columns).map(|i| Cell::Text(i.to_string())).collect();
            let head = (0..columns).map(|i| format!("column {i}")).collect();
            let made = Table { head, rows: vec![Row::new("row", cells())], ..Table::default() };
            table(&made).into_string()
        };
        assert!(!of(3).contains("stacked") && of(4).contains("stacked"), "{}", of(4));
        assert!(of(6).contains("data-label=\"column 5\""), "{}", of(6));
    }
}
