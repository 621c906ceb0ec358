//! A comparison as Markdown.

use super::text::change_with_interval;
use super::{Compare, Row, cause_words, notes, overall_words, verdict_words};
use crate::markdown::safe;

/// The comparison for an issue or a forum: without paths of this machine beyond the names of the sides.
pub fn compare_markdown(view: &Compare<'_>) -> String {
    let comparison = view.comparison;
    let mut out =
        format!("### {} → {}: {}\n\n", safe(view.a.name), safe(view.b.name), safe(&overall_words(comparison)));
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
    for metric in &comparison.metrics {
        let row = Row::of(metric);
        let name = if metric.primary { format!("**{}**", safe(&metric.id)) } else { safe(&metric.id) };
        let change = change_with_interval(metric).unwrap_or_else(|| "–".into());
        out.push_str(&format!("| {name} | {} | {} | {change} | {} |\n", row.a, row.b, verdict_words(metric)));
    }
    out.push('\n');
    for (reason, ids) in notes(comparison) {
        let whom = if ids.len() > 3 { format!("{} metrics", ids.len()) } else { ids.join(", ") };
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
    out
}
