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

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}
