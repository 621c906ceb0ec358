//! `narrows rank` as text and as Markdown: targets relative to the best, then which metric goes with which.

mod form;
mod markdown;
mod prediction;
mod table;

pub use markdown::rank_markdown;

pub(crate) use form::{Cell, cell, order, same_order_percent, shown};

use crate::text::{plain, wrap_quantities};
use crate::{Paint, Style};
use model::Ranking;

/// Metrics that are named of a winner.
const MOST_NAMED: usize = 6;

/// A ranking, with what is needed to show it.
#[derive(Clone, Copy, Debug)]
pub struct Rank<'a> {
    /// What the judge found.
    pub ranking: &'a Ranking,
    /// The metric that was to be predicted.
    pub predicted: Option<&'a str>,
    /// Whether the metrics were chosen by the user: then all of them are shown.
    pub chosen: bool,
    /// The page, where one was written.
    pub page: Option<&'a str>,
}

/// The whole ranking, within the columns of the style.
pub fn rank_text(rank: &Rank<'_>, style: &Style) -> String {
    let mut out = String::new();
    let n = rank.ranking.targets.len();
    let title = match rank.predicted {
        Some(predicted) => format!("narrows rank: {n} targets, and what goes with {}", plain(predicted, style.ascii)),
        None => format!("narrows rank: {n} targets"),
    };
    line(&mut out, &style.paint(Paint::Title, &title));
    for winner in winners(rank) {
        for (i, l) in
            wrap_quantities(&plain(&winner, style.ascii), style.columns().saturating_sub(2)).iter().enumerate()
        {
            line(&mut out, &format!("{}{l}", if i == 0 { "" } else { "  " }));
        }
    }
    table::tables(&mut out, rank, style);
    if let Some(predicted) = rank.predicted {
        prediction::predictions(&mut out, rank.ranking, predicted, style);
    }
    if !rank.ranking.reasons.is_empty() {
        line(&mut out, "");
    }
    for reason in &rank.ranking.reasons {
        let text = plain(model::Reason::of(reason).sentence, style.ascii);
        for (i, l) in wrap_quantities(&text, style.columns().saturating_sub(2)).iter().enumerate() {
            line(&mut out, &format!("{} {l}", if i == 0 { "-" } else { " " }));
        }
    }
    if let Some(page) = rank.page {
        line(&mut out, "");
        line(&mut out, &format!("Page: {}", plain(page, style.ascii)));
    }
    out
}

/// Who is best at what, in words: a sentence for each target that is first, or shares the first place, anywhere.
pub(crate) fn winners(rank: &Rank<'_>) -> Vec<String> {
    let ranking = rank.ranking;
    let shown = shown(rank);
    let words = |i: usize| {
        let metric = &ranking.targets[0].metrics[i];
        let firsts = ranking.targets.iter().filter(|t| t.metrics[i].place == Some(1)).count();
        format!("{}{}", crate::compare::metric_words(&metric.id), if firsts > 1 { " (shared)" } else { "" })
    };
    let best = |target: &model::RankedTarget| -> Vec<String> {
        // What all share tells none of them apart.
        let apart = |i: &usize| ranking.targets.iter().any(|t| t.metrics[*i].place != Some(1));
        shown.iter().copied().filter(apart).filter(|i| target.metrics[*i].place == Some(1)).map(words).collect()
    };
    let all: Vec<(&str, Vec<String>)> =
        ranking.targets.iter().map(|t| (t.name.as_str(), best(t))).filter(|(_, best)| !best.is_empty()).collect();
    let sentence = |(name, best): (&str, Vec<String>)| {
        let named = best.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
        match best.len().saturating_sub(MOST_NAMED) {
            0 => format!("{name} is best in {named}."),
            more => format!("{name} is best in {named} and {more} more."),
        }
    };
    all.into_iter().map(sentence).collect()
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}
