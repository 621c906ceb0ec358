//! `narrows rank`: targets relative to the best, then which metric goes with which.

mod describe;
mod form;
mod uses;

pub(crate) use describe::predictions;
pub use describe::rank;
pub(crate) use form::{answers, order, place, shown};
pub(crate) use uses::{installation, use_sentences};

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
