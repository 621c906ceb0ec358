//! A comparison as Markdown.

use super::text::{change_with_interval, tells_something};
use super::{Compare, Row, cause_words, metric_words, notes, statement, verdict_words};
use crate::forum;
use crate::presentation::markdown::safe;

/// The comparison for an issue or a forum, in 40 lines at most, what was asked and what changed first: without paths of this machine beyond the names of the sides.
pub fn compare_markdown(view: &Compare<'_>) -> String {
    let comparison = view.comparison;
    let mut out = format!("### {} → {}: {}\n\n", safe(view.a.name), safe(view.b.name), safe(&statement(comparison)));
    if !view.question.is_empty() {
        out.push_str(&format!("{}\n\n", safe(view.question)));
    }
    if !comparison.environment_differences.is_empty() {
        out.push_str(
            "The sides differ in more than their numbers; the cause may be here:\n\n| | A | B |\n|---|---|---|\n",
        );
        for d in &comparison.environment_differences {
            let values = |all: &[String]| if all.is_empty() { "not known".into() } else { safe(&all.join(" / ")) };
            out.push_str(&format!("| {} | {} | {} |\n", safe(&d.what), values(&d.a), values(&d.b)));
        }
        out.push('\n');
    }
    for reason in &comparison.reasons {
        out.push_str(&format!("- {}\n", safe(reason)));
    }
    if !comparison.reasons.is_empty() {
        out.push('\n');
    }
    out.push_str("| metric | A | B | change | verdict |\n|---|---:|---:|---:|---|\n");
    let mut metrics: Vec<_> = comparison.metrics.iter().collect();
    metrics.sort_by_key(|m| (!m.primary, !tells_something(m)));
    for metric in metrics {
        let row = Row::of(metric);
        let name = safe(&metric_words(&metric.id));
        let name = if metric.primary { format!("**{name}**") } else { name };
        let change = change_with_interval(metric).unwrap_or_else(|| "–".into());
        out.push_str(&format!("| {name} | {} | {} | {change} | {} |\n", row.a, row.b, verdict_words(metric)));
    }
    out.push('\n');
    for (reason, ids) in notes(comparison) {
        let names: Vec<String> = ids.iter().take(3).map(|id| metric_words(id)).collect();
        let whom = if ids.len() > 3 { format!("{} metrics", ids.len()) } else { names.join(", ") };
        out.push_str(&format!("- {}: {}\n", safe(&whom), safe(&reason)));
    }
    if let Some(words) = cause_words(comparison) {
        out.push_str(&format!("\n{words}\n\n"));
        comparison.cause_reasons.iter().for_each(|reason| out.push_str(&format!("- {}\n", safe(reason))));
    }
    out.push_str(&format!(
        "\nBold: asked. Basis: {}.\n",
        comparison.metrics.first().map_or("none", |m| m.basis.name())
    ));
    forum::folded(&out)
}
