//! The numbers of a run that is no check: the tables of the card, a heat map for grids, a plot for depth curves.

use super::{depth, heat, summary, t};
use crate::run::{Cell, Form, Numbers, Table, Weight, forms, remarks, table_of, validity_words};
use crate::{Check, Style, headline, quantity, storage_line};
use maud::{Markup, html};
use model::RunValidity;

/// Name, time, storage, and what the run is worth as a whole.
pub(super) fn header(check: &Check<'_>) -> Markup {
    let run = check.run;
    html! {
        header {
            p.brand { "narrows " (t(&check.asked())) span.when { (t(check.started)) } }
            h1 { (t(&crate::identity(run))) }
            p.storage { (t(&storage_line(run))) }
            @if let Some(words) = headline::state_words(run.state) { p.banner { (words) } }
            @else if let Some(words) = validity_words(run.validity()) {
                p.banner.(if run.validity() == RunValidity::Invalid { "bad" } else { "" }) { (words) }
            }
        }
        @if check.limit_is_known() { (summary::verdict(check)) }
    }
}

fn cell(cell: &Cell) -> Markup {
    html! {
        @match cell {
            Cell::Empty => {},
            Cell::Value(text) => { (amount(text)) },
            Cell::Best(text) => { b { (text) } },
            Cell::Doubted { text, note } => {
                span.doubtful { (amount(text)) "!" @if let Some(n) = note { (n) } }
            },
            Cell::Without { word, note, bad } => {
                span.status.(if *bad { "refused" } else { "skipped" }) { (word) }
                @if let Some(n) = note { sup { (n) } }
            },
            // The bar stands in the plot; what is left is the mark of the knee.
            Cell::Drawn(text) => { @if text.contains("knee") { span.chip.sure { "knee" } } },
        }
    }
}

/// The number first, its interval quieter.
fn amount(text: &str) -> Markup {
    match text.split_once(" ± ") {
        Some((value, half)) => html! { (t(value)) " " span.half { "± " (t(half)) } },
        None => html! { (t(text)) },
    }
}

fn table(table: &Table) -> Markup {
    let caption = if table.caption.is_empty() { "Numbers of the phases".to_owned() } else { t(&table.caption) };
    html! {
        @if !table.caption.is_empty() { h3.form { (t(&table.caption)) } }
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table.data.form {
                thead { tr { td {} @for h in &table.head { th scope="col" { (t(h)) } } } }
                tbody {
                    @for row in &table.rows {
                        tr.inner[row.inner].dim[row.dim] {
                            th scope="row" { (t(&row.label)) }
                            @for c in &row.cells { td { (cell(c)) } }
                        }
                    }
                }
            }
        }
        @for line in &table.footer { p.hint { (t(line)) } }
    }
}

/// Whether a plot stands beside the numbers: of a grid, of depths, or of rounds.
pub(super) fn is_drawn(check: &Check<'_>) -> bool {
    let drawn = |f: &Form<'_>| matches!(f, Form::Grid(..) | Form::Depth(..));
    forms(check.run, check.depth_curves).iter().any(drawn) || super::rounds::rounds(check.run).is_some()
}

/// All forms with their drawings, notes, the longest gap, and what has to be said of the phases.
pub(super) fn numbers(check: &Check<'_>) -> Markup {
    let run = check.run;
    let mut n = Numbers::new(&Style::default());
    let shown: Vec<Markup> = forms(run, check.depth_curves)
        .iter()
        .map(|form| {
            let filled = table_of(check, form, usize::MAX, &mut n);
            match form {
                Form::Grid(grid, _) => heat::map(grid, &filled),
                Form::Depth(curve, places) => html! {
                    h3.form { (t(&filled.caption)) }
                    (depth::plot(run, curve, places))
                    (table(&Table { caption: String::new(), ..filled }))
                },
                _ => table(&filled),
            }
        })
        .collect();
    html! {
            @for form in &shown { div.formed { (form) } }
            @if !n.notes.is_empty() { ol.notes { @for note in &n.notes { li { (t(note)) } } } }
            dl.tiles {
                @if let Some((ns, phase)) = headline::worst_stall(run) {
                    (summary::longest_gap(ns, phase))
                }
                @if run.target.kind != model::TargetKind::Foreign { div { dt { @if run.target.kind == model::TargetKind::Sim { "simulated writes" } @else { "written" } } dd { (quantity::size(run.bytes_written)) small { "in " (quantity::duration(run.duration_ns)) } } } }
                @if let Some(ns) = headline::own_cpu_ns(run) {
                    div { dt { "own CPU" } dd { (quantity::duration(ns)) small { "over all phases" } } }
                }
            }
            @if let Some(reason) = headline::without_io_uring(run) {
                p.remark { "Without io_uring, threads stood in for depth: " (t(reason)) }
            }
            @for note in &run.plan.notes { p.remark { (t(note)) } }
            @for remark in &run.remarks { p.remark { (t(remark)) } }
    }
}

/// Changes of rate, steady state, verification, failed operations; `None` where there is nothing to say.
pub(super) fn events(check: &Check<'_>) -> Option<Markup> {
    let remarks = remarks(check.run);
    (!remarks.is_empty()).then(|| {
        html! {
            ul.events {
                @for r in &remarks {
                    li.(match r.weight { Weight::Plain => "plain", Weight::Doubt => "doubt", Weight::Bad => "bad" }) {
                        b { (t(&r.phase)) } " " (t(&r.text))
                    }
                }
            }
        }
    })
}
