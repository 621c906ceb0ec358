//! A ranking as Markdown, for issues and forums.

use super::{Rank, cell, order, same_order_percent, shown};
use crate::forum;
use crate::presentation::markdown::safe;
use crate::quantity;
use std::fmt::Write as _;

/// The ranking as Markdown, in 40 lines at most.
pub fn rank_markdown(rank: &Rank<'_>) -> String {
    let ranking = rank.ranking;
    let metrics = shown(rank);
    let mut out = format!("### {} targets side by side\n\n", ranking.targets.len());
    if let Some(first) = ranking.targets.first().filter(|_| !metrics.is_empty()) {
        let heads: Vec<String> = metrics.iter().map(|i| safe(&first.metrics[*i].id)).collect();
        let _ = writeln!(out, "| target | {} |\n|---|{}", heads.join(" | "), "---:|".repeat(heads.len()));
        for target in order(ranking, metrics.first().copied()) {
            let _ = write!(out, "| {} |", safe(&ranking.targets[target].name));
            for &i in &metrics {
                let column: Vec<_> = ranking.targets.iter().map(|t| &t.metrics[i]).collect();
                let metric = column[target];
                let cell = cell(metric, &column);
                let value = metric.value.map_or_else(|| "-".to_owned(), |v| quantity::quantity(v, metric.unit));
                let _ = match cell.place.is_empty() {
                    true => write!(out, " {value} |"),
                    false => write!(out, " {value} ({}, {}) |", cell.words, cell.place),
                };
            }
            out.push('\n');
        }
        out.push_str("\nIn brackets: relative to the best, and the place (= where it cannot be told apart).\n");
    }
    if let Some(predicted) = rank.predicted {
        let _ = writeln!(
            out,
            "\n### What goes with {}\n\n| predictor | kind | tau | 95 % | pairs in one order | p, allowing for all tried |\n\
             |---|---|---:|---|---:|---:|",
            safe(predicted)
        );
        for p in &ranking.prediction {
            let kind = if p.work { "work" } else { "synthetic" };
            let number = |v: Option<f64>, digits: usize| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.digits$}"));
            let _ = writeln!(
                out,
                "| {} | {kind} | {} | {} to {} | {} % | {} |",
                safe(&p.predictor),
                number(p.tau, 2),
                number(p.low, 2),
                number(p.high, 2),
                number(same_order_percent(p), 0),
                number(p.p_adjusted, 3),
            );
        }
    }
    out.push('\n');
    for reason in &ranking.reasons {
        let _ = writeln!(out, "- {}", safe(model::Reason::of(reason).sentence));
    }
    forum::folded(&out)
}
