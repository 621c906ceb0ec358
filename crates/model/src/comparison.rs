//! What comparing two sides came to.

use crate::{Better, Reason, Unit, job_options};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

named! {
    /// The answer for one metric.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Verdict {
        /// B is better than A, with the error rate that was asked for.
        Better = "better",
        /// B is worse than A.
        Worse = "worse",
        /// The difference is inside the margin, with the error rate that was asked for.
        Same = "same",
        /// Neither is shown.
        Unclear = "unclear",
        /// The numbers cannot carry the question.
        Invalid = "invalid",
    }
}

named! {
    /// What a verdict rests on.
    pub enum Basis {
        /// Runs in pairs whose order was drawn by lot.
        Paired = "paired",
        /// Several runs of each side, whose order was not randomised.
        Unpaired = "unpaired",
        /// One run of a side, or of both.
        Single = "single",
    }
}

/// Whether the thing compared is shown to be the reason for what differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attribution {
    /// The order of the runs was randomised, so that nothing else can have gone along with it by more than chance.
    Randomised,
    /// Something else may be the reason: the runs were made in an order nobody randomised, or there is one of a side.
    NotShown,
}

/// A trend over time in the runs of one side: it can look like a difference between the sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// `a` or `b`.
    pub side: String,
    /// The metric that moved.
    pub metric: String,
    /// From the first run of the side to its last along the fitted line, percent.
    pub change_percent: f64,
    /// Probability of a trend at least as strong if there were none, adjusted for all that were looked at.
    pub p: f64,
    /// Runs of the side that have the metric and a time.
    pub runs: u32,
}

/// How many primary metrics came to which verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// B is better.
    pub better: u32,
    /// B is worse.
    pub worse: u32,
    /// Inside the margin.
    pub same: u32,
    /// Neither is shown.
    pub unclear: u32,
    /// The numbers cannot carry the question.
    pub invalid: u32,
    /// Id of the metric with the largest change for the better; of single runs, beyond noise.
    pub largest_better: Option<String>,
    /// Id of the metric with the largest change for the worse.
    pub largest_worse: Option<String>,
}

/// What was asked, fixed before the data where there was an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The largest difference that does not matter, by metric, percent of A.
    pub margin_percent: BTreeMap<String, f64>,
    /// Error rate over all primary metrics together.
    pub alpha: f64,
    /// Pairs that there are.
    pub pairs: u32,
    /// Seed of the order of the runs; `None` where nobody drew it.
    pub seed: Option<u64>,
}

/// One metric of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// For example `seq-write.throughput_bytes_per_s`.
    pub id: String,
    /// Unit of `a` and `b`.
    pub unit: Unit,
    /// Which direction is better; `None`: not judged.
    pub better: Option<Better>,
    /// Level of side A: its value; of several runs the median of those that are compared, moved with that of B until `b / a` is `ratio`.
    pub a: Option<f64>,
    /// Level of side B, likewise.
    pub b: Option<f64>,
    /// b / a; of several runs the Hodges-Lehmann estimate over pairs.
    pub ratio: Option<f64>,
    /// Lower end of the 1 - alpha interval of the ratio.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Probability of a difference at least as large if there were none, adjusted for the number of questions.
    pub p: Option<f64>,
    /// Better, worse, same, unclear or invalid.
    pub verdict: Verdict,
    /// What it rests on.
    pub basis: Basis,
    /// Of single runs: whether they differ by more than the noise that is usual; `None` where that is not asked.
    pub beyond_noise: Option<bool>,
    /// Each `code: sentence`.
    pub reasons: Vec<Reason>,
    /// Whether it was a question fixed before, or one of the main ones; the others are exploratory.
    pub primary: bool,
    /// Pairs that would decide, of unpaired sets runs of each side, at the spread seen; `None` where decided or not to be told.
    pub pairs_needed: Option<u32>,
    /// Values of side A by pair, or in the order of the runs; `None` where a run has none.
    pub values_a: Vec<Option<f64>>,
    /// Values of side B, run by run.
    pub values_b: Vec<Option<f64>>,
}

/// Something in which the sides differ beside what was to be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentDifference {
    /// `kernel`, `governor`, `mount options`, `region size`.
    pub what: String,
    /// Of side A; several where its own runs differ.
    pub a: Vec<String>,
    /// Of side B.
    pub b: Vec<String>,
}

/// More values than this are counted in a sentence.
const MAX_SAID: usize = 3;

impl EnvironmentDifference {
    /// Value by value, for a sentence: `A depth=1, B depth=32; A ...`.
    pub fn text(&self) -> String {
        let each: Vec<String> = self.a.iter().zip(&self.b).map(|(a, b)| format!("A {a}, B {b}")).collect();
        match each.len().saturating_sub(MAX_SAID) {
            0 => each.join("; "),
            more => format!("{}; and {more} others", each[..MAX_SAID].join("; ")),
        }
    }
}

/// The whole comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What was asked.
    pub question: Question,
    /// What was set on the one side and otherwise on the other, of an experiment; empty where that is not known.
    #[serde(default)]
    pub compared: Vec<EnvironmentDifference>,
    /// By metric, primary ones first.
    pub metrics: Vec<Compared>,
    /// In what else the sides differ.
    pub environment_differences: Vec<EnvironmentDifference>,
    /// The primary metrics together: worse if one of them is, else better if one is, else invalid, unclear or same.
    pub overall: Verdict,
    /// The primary metrics by verdict, with the largest change in each direction.
    #[serde(default)]
    pub counts: Counts,
    /// Whether the thing compared is shown to be the reason; `None` where there is nothing to compare.
    #[serde(default)]
    pub cause: Option<Attribution>,
    /// What speaks for and against that.
    #[serde(default, with = "crate::reason::as_lines")]
    pub cause_reasons: Vec<Reason>,
    /// Trends within the sides.
    #[serde(default)]
    pub drift: Vec<Drift>,
    /// What concerns all metrics.
    pub reasons: Vec<Reason>,
}

impl Comparison {
    /// In which options the jobs of the sides differ, where that is not what an experiment compares.
    pub fn other_work(&self) -> Option<&EnvironmentDifference> {
        let compared = self.cause == Some(Attribution::Randomised);
        self.environment_differences.iter().find(|d| !compared && d.what == job_options::DIFFERENCE)
    }
}
