//! `narrows rank`: targets relative to the best, then which metric goes with which.

mod describe;
mod form;
mod uses;

pub(crate) use describe::predictions;
pub(crate) use form::{answers, order, place, shown};
pub(crate) use uses::{installation, use_sentences};

use crate::{Style, presentation};
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
    presentation::terminal::render(&describe::describe(rank), style)
}

/// The ranking for issues and forums, in 40 lines at most.
pub fn rank_markdown(rank: &Rank<'_>) -> String {
    presentation::markdown::render(&describe::describe(rank))
}
