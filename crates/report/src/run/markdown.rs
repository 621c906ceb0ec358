//! The numbers of a run as Markdown.

use super::{Cell, Numbers, Table};
use crate::markdown::safe;
use crate::{Check, Style, headline, quantity};
use model::Unit;

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Best(text) => format!("**{text}**"),
        Cell::Without { .. } => format!("*{}*", safe(&cell.text())),
        Cell::Drawn(text) => text.trim_start_matches('█').trim().to_owned(),
        _ => cell.text(),
    }
}

fn table(table: &Table) -> String {
    let mut out = String::new();
    if !table.caption.is_empty() {
        out.push_str(&format!("{}\n\n", safe(&table.caption)));
    }
    let head: Vec<String> = table.head.iter().map(|h| safe(h)).collect();
    out.push_str(&format!("| | {} |\n|---|{}\n", head.join(" | "), "---:|".repeat(head.len())));
    for row in &table.rows {
        let cells: Vec<String> = row.cells.iter().map(cell).collect();
        let lead = if row.inner { "· " } else { "" };
        out.push_str(&format!("| {lead}{} | {} |\n", safe(&row.label), cells.join(" | ")));
    }
    for line in &table.footer {
        out.push_str(&format!("\n{}\n", safe(line)));
    }
    out.push('\n');
    out
}

/// Forms, worst stall, remarks and notes.
pub(crate) fn numbers(check: &Check<'_>) -> String {
    let run = check.run;
    let mut out = String::new();
    let words = super::validity_words(run.validity()).filter(|_| headline::state_words(run.state).is_none());
    if let Some(words) = words {
        out.push_str(&format!("*{words}*\n\n"));
    }
    for note in &run.plan.notes {
        out.push_str(&format!("Note: {}\n\n", safe(note)));
    }
    let mut n = Numbers::new(&Style::default());
    for form in super::forms(run, check.depth_curves) {
        out.push_str(&table(&super::table_of(check, &form, usize::MAX, &mut n)));
    }
    if let Some((ns, phase)) = headline::worst_stall(run) {
        out.push_str(&format!("Longest gap {} in {}.\n\n", quantity::quantity(ns, Unit::Ns), safe(phase)));
    }
    let remarks = super::remarks(run);
    for remark in &remarks {
        out.push_str(&format!("- {}: {}\n", safe(&remark.phase), safe(&remark.text)));
    }
    if !remarks.is_empty() {
        out.push('\n');
    }
    for (i, note) in n.notes.iter().enumerate() {
        out.push_str(&format!("{}. {}\n", i + 1, safe(note)));
    }
    out
}
