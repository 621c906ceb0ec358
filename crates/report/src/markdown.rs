//! The card as Markdown, for issues and forums that render it.

use crate::copy::routine;
use crate::headline::{self, Cell};
use crate::text::plain;
use crate::{Check, forum, quantity, storage_line};
use model::{Run, Unit, Work};

/// Text that must not become mark-up: every character with a meaning in Markdown or HTML is escaped.
pub(crate) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text, false).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A mention or an issue link would notify people who have nothing to do with this.
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Value { shown, p99 } => {
            let p99 = p99.as_ref().map(|p| format!(", p99 {p}")).unwrap_or_default();
            format!("{}{p99}", shown.with_interval("±"))
        }
        Cell::Without { rejected: Some(shown), note, .. } => {
            format!("({}){}", shown.value(), note.map(|n| format!("!{n}")).unwrap_or_default())
        }
        Cell::Without { word, code, note, .. } => {
            let code = code.as_deref().map(|c| format!(": {}", safe(c))).unwrap_or_default();
            let note = note.map(|n| format!(" ({n})")).unwrap_or_default();
            format!("*{word}{code}*{note}")
        }
    }
}

/// The card of a check as Markdown, in 40 lines at most.
pub fn markdown(check: &Check<'_>) -> String {
    let run = check.run;
    let mut out = format!("**narrows {} {}**", safe(&check.asked()), safe(&crate::identity(run)));
    out.push_str(&format!(" ({})\n\n{}\n\n", safe(check.started), safe(&storage_line(run))));
    if let Some(words) = headline::state_words(run.state) {
        out.push_str(&format!("*{words}*\n\n"));
    }
    if check.is_check() {
        if let Some(verdict) = check.verdict() {
            out.push_str(&format!("**{}**\n\n", safe(&verdict)));
        }
        out.push_str(&check_numbers(run));
    } else {
        out.push_str(&crate::run::markdown_numbers(check));
    }
    if check.is_check() || check.limit_is_known() {
        out.push_str(&bottleneck(check));
    }
    if check.is_check() {
        out.push_str(&limits(check));
    }
    if !check.findings.is_empty() {
        out.push_str("\n**Findings**\n\n");
        for f in check.findings {
            out.push_str(&format!("- {}: {}\n", safe(&f.id), safe(&f.title)));
        }
    }
    if !check.ratings.is_empty() && check.is_check() && check.asked_for.is_none() {
        let ratings = safe(&headline::ratings_words(check.ratings));
        out.push_str(&format!("\nShort-test ratings: {ratings} (not a certificate)\n"));
    }
    for remark in &run.remarks {
        out.push_str(&format!("\nNote: {}\n", safe(remark)));
    }
    let version = safe(&run.program_version);
    out.push_str(&format!("\n{}. Run {}, narrows {version}.\n", headline::written_words(run), safe(&run.id)));
    forum::folded(&out)
}

/// The rows of the check-up.
fn check_numbers(run: &Run) -> String {
    let h = headline::headline(run);
    let mut out = String::new();
    out.push_str("| | read | write |\n|---|---|---|\n");
    let mut label = "";
    for r in &h.rows {
        label = if r.label.is_empty() { label } else { r.label };
        let variant = if r.variant.is_empty() { String::new() } else { format!(", {}", r.variant) };
        out.push_str(&format!("| {label}{variant} | {} | {} |\n", cell(&r.read), cell(&r.write)));
    }
    out.push('\n');
    if let Some((ns, phase)) = headline::worst_stall(run) {
        out.push_str(&format!(
            "Longest gap without a completion {} in {}. ",
            quantity::quantity(ns, Unit::Ns),
            safe(phase)
        ));
    }
    if let Some(copy) = run.metric_doing(Work::MemoryCopy, "throughput_bytes_per_s").and_then(quantity::metric) {
        out.push_str(&format!("Memory copy {}, {}.", copy.with_interval("±"), routine(run)));
    }
    out.push_str("\n\n");
    for (i, note) in h.notes.iter().enumerate() {
        out.push_str(&format!("{}. {}\n", i + 1, safe(note)));
    }
    out
}

/// What limits each row.
fn limits(check: &Check<'_>) -> String {
    let rows = headline::row_limits(check);
    let lines = rows.iter().map(|(label, statement)| format!("- {label}: {}\n", safe(statement)));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n**What limits each number**\n\n{lines}") }
}

/// The limit with its evidence, and what to do next.
fn bottleneck(check: &Check<'_>) -> String {
    let run = check.run;
    let mut out = String::new();
    let limit = check.limit;
    let confidence = headline::confidence_word(limit.confidence);
    out.push_str(&format!("\n**Bottleneck:** {} ({confidence})\n\n", safe(&limit.statement)));
    for e in &limit.evidence {
        out.push_str(&format!("- {}\n", safe(&headline::evidence_line(run, e))));
    }
    if let Some(next) = check.next_step {
        let ratio =
            next.predicted_ratio.map(|r| format!(" (predicted at most {} x)", quantity::ratio(r))).unwrap_or_default();
        out.push_str(&format!("\n**Next step:** {}{ratio}\n", safe(&next.text)));
    }
    out
}
