//! Many targets side by side, and which metric predicts which.

use crate::{Better, Fit, Reason, Unit};
use serde::{Deserialize, Serialize};

/// One metric of one target among the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedMetric {
    /// For example `seq-read.throughput_bytes_per_s`.
    pub id: String,
    /// Unit of the value.
    pub unit: Unit,
    /// Which direction is better; `None`: not ranked.
    pub better: Option<Better>,
    /// Median over the target's runs; `None` where none was measured.
    pub value: Option<f64>,
    /// The value over the best one; `None` where there is no best.
    pub ratio_to_best: Option<f64>,
    /// Place, from 1; targets that cannot be told apart share one.
    pub place: Option<u32>,
    /// Runs that carry it.
    pub n: u32,
    /// On which side of the value the true one is, where something slowed runs that carry it.
    #[serde(default)]
    pub bound: Option<crate::Bound>,
    /// Why there is no value, or what limits it.
    #[serde(default)]
    pub reasons: Vec<Reason>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedTarget {
    pub name: String,
    /// How large it really is, where that is less than it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fake: Option<crate::Capacity>,
    /// Its metrics, in one order for all targets.
    pub metrics: Vec<RankedMetric>,
}

/// How one target stands to a use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UseFit {
    pub target: String,
    /// Among those that are good for it, from 1, shared by those that cannot be told apart; `None` for all others.
    #[serde(default)]
    pub place: Option<u32>,
    #[serde(flatten)]
    pub fit: Fit,
}

/// A use that has rules: who is good for it, the best first, then who is not, then those of whom it is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedUse {
    /// As `check --for` takes it: `root-fs`, `video`.
    #[serde(rename = "for")]
    pub what: String,
    /// To stand behind "good for".
    pub title: String,
    pub targets: Vec<UseFit>,
}

/// How far one metric puts the targets in the order of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The metric that is known beforehand.
    pub predictor: String,
    /// The one that matters.
    pub predicted: String,
    /// Kendall's tau-b over targets; negative: more of the one goes with less of the other.
    pub tau: Option<f64>,
    /// Two-sided probability of an order as much alike, or as opposite, by chance.
    pub p: Option<f64>,
    /// Lower end of the 95 % interval of tau over targets.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// [`Self::p`] allowing for all predictors that were tried (Benjamini and Hochberg): the false discovery rate at which
    /// it is shown.
    pub p_adjusted: Option<f64>,
    /// Whether the predictor is itself the time that a piece of work takes, and not a synthetic quantity.
    pub work: bool,
    /// Targets that have both.
    pub n: u32,
    /// Share of pairs of targets that both put in the same order: (tau + 1) / 2.
    pub agreement: Option<f64>,
    /// Smallest and largest tau when any one target is left out.
    pub leave_one_out: Option<(f64, f64)>,
    /// The target without which tau changes most.
    pub most_influential: Option<String>,
    /// Probability of standing as far as this behind the closest synthetic predictor (the closest of all, if none is
    /// synthetic) if the two were equally close, by exchanging them target by target; `None` for that one itself.
    pub as_close_as_best_p: Option<f64>,
    /// Each `code: sentence`.
    pub reasons: Vec<Reason>,
}

/// The whole ranking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// In the order in which they were given.
    pub targets: Vec<RankedTarget>,
    /// Uses of which something is known.
    #[serde(default)]
    pub uses: Vec<RankedUse>,
    /// Synthetic predictors first, the closest of them at the head; then the times of other work, likewise.
    pub prediction: Vec<Prediction>,
    /// What has to be said of the whole.
    pub reasons: Vec<Reason>,
}
