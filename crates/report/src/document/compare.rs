//! `narrows/compare/1`: two sides, metric by metric.

use crate::Compare;
use model::{Capacity, Comparison, Run};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct CompareSide<'a> {
    /// As the user named it.
    pub name: &'a str,
    /// Ids of its runs; of pairs in their order.
    pub runs: Vec<&'a str>,
    /// How large its target really is, where that is less than it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fake: Option<Capacity>,
}

/// What `narrows compare` prints under `--json`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/compare/1")]
pub struct CompareDocument<'a> {
    /// Whether it helped, in a sentence: what was set otherwise, and from which number to which it went.
    pub answer: String,
    /// What was asked, the metrics, the differences of the environments, and all together.
    #[serde(flatten)]
    pub comparison: &'a Comparison,
    /// The first side.
    pub a: CompareSide<'a>,
    /// The second.
    pub b: CompareSide<'a>,
    /// The page; null where none was written.
    pub report: Option<&'a str>,
}

impl<'a> CompareDocument<'a> {
    /// The document.
    pub fn new(view: &Compare<'a>) -> Self {
        let side = |s: crate::Side<'a>| CompareSide {
            name: s.name,
            runs: s.runs.iter().map(|r| r.id.as_str()).collect(),
            fake: s.fake(),
        };
        let answer = crate::compare::statement(view.comparison) + ".";
        Self { answer, comparison: view.comparison, a: side(view.a), b: side(view.b), report: view.page }
    }
}

/// Noise of one metric as calibrated.
#[derive(Clone, Debug, Serialize)]
pub struct NoiseEntry<'a> {
    /// Metric.
    pub id: &'a str,
    /// Smallest margin that so many pairs can decide here, percent.
    pub paired_percent: f64,
    /// Difference of two single runs that is nothing unusual, percent.
    pub single_percent: f64,
    /// Pairs of the calibration.
    pub pairs: u32,
}

/// One run of an experiment in the order that was drawn.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentStep<'a> {
    /// Number of the pair, from 0 on.
    pub pair: u32,
    pub arm: &'a str,
    /// The run; null where it is still to be made.
    pub run_id: Option<&'a str>,
}

/// An experiment that was executed, as far as it came.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentSummary<'a> {
    /// Id of this execution.
    pub id: &'a str,
    /// Name in the text.
    pub name: &'a str,
    /// What it asks.
    pub question: &'a str,
    /// Seed of the order.
    pub seed: u64,
    /// The order, with what is done.
    pub order: Vec<ExperimentStep<'a>>,
    /// Whether all runs were made.
    pub complete: bool,
    /// Where there is one arm: each metric over its runs.
    pub repeated: &'a [model::Metric],
    /// Noise of the rig, where this was a calibration.
    pub noise: Vec<NoiseEntry<'a>>,
}

/// What `narrows run EXPERIMENT.toml` prints under `--json`: the last run, the experiment, and the comparison of the first
/// arm with each of the others.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentDocument<'a> {
    /// `narrows/run/1`, with the last run that was made.
    #[serde(flatten)]
    pub run: super::RunDocument<'a>,
    pub experiment: ExperimentSummary<'a>,
    /// First arm against the second; null where the experiment is not complete.
    pub comparison: Option<CompareDocument<'a>>,
    /// First arm against each of the others.
    pub comparisons: Vec<CompareDocument<'a>>,
    /// The page; null where none was written.
    pub report: Option<&'a str>,
}

impl<'a> ExperimentDocument<'a> {
    /// The document of the last run, with its tags.
    pub fn new(
        last: &'a Run,
        tags: &'a [String],
        experiment: ExperimentSummary<'a>,
        comparisons: Vec<CompareDocument<'a>>,
        report: Option<&'a str>,
    ) -> Self {
        let run = super::RunDocument::new(last, tags, &[]);
        Self { run, experiment, comparison: comparisons.first().cloned(), comparisons, report }
    }
}
