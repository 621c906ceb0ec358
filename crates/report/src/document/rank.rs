//! `narrows/rank/1`: targets side by side, and which metric predicts which.

use crate::Rank;
use model::{Prediction, RankedTarget, RankedUse, Reason};
use serde::Serialize;

/// What `narrows rank` prints under `--json`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/rank/1")]
pub struct RankDocument<'a> {
    /// Who is good for what, and best at what, in sentences; null where nothing is known.
    pub answer: Option<String>,
    /// The targets in the order given, each with the same metrics.
    pub targets: &'a [RankedTarget],
    /// Who is good for which use, in order, and who is not; only uses of which something is known.
    pub uses: &'a [RankedUse],
    /// What predicts the metric that was asked for; empty where none was.
    pub prediction: &'a [Prediction],
    /// The metric that was to be predicted; null where none was.
    pub predicted: Option<&'a str>,
    /// What has to be said of the whole.
    pub reasons: &'a [Reason],
    /// The page; null where none was written.
    pub report: Option<&'a str>,
}

impl<'a> RankDocument<'a> {
    /// The document of a ranking.
    pub fn new(rank: &Rank<'a>) -> Self {
        Self {
            answer: Some(crate::rank::answers(rank).join(" ")).filter(|said| !said.is_empty()),
            targets: &rank.ranking.targets,
            uses: &rank.ranking.uses,
            prediction: &rank.ranking.prediction,
            predicted: rank.predicted,
            reasons: &rank.ranking.reasons,
            report: rank.page,
        }
    }
}
