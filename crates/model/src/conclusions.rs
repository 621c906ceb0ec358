//! What is concluded of a run: drawn once, by one function (`diagnose::conclusions`), and handed on. Nothing of it is stored, so that
//! an old run gains from what is learned later.

use crate::{Answer, Cause, DepthCurve, Finding, Fit, Limit, Metric, NextStep, Rating, RowLimit, ScaleCurve};

/// What the judge says of a run as a whole.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// What the target is good for; first what was asked about, where something was.
    pub fit: Vec<Fit>,
    /// The use that was asked about, by its name; of several all, with commas between.
    pub asked_for: Option<String>,
    /// Speed classes.
    pub ratings: Vec<Rating>,
    /// Phases that differ only in depth, and where more of it stops to pay.
    pub depth_curves: Vec<DepthCurve>,
    /// Phases that were done by 1, 2, 4, ... ranks of a group.
    pub scale: Vec<ScaleCurve>,
    /// What was asked, where that takes more than the metrics.
    pub answer: Option<Answer>,
    /// Of the reports of another tool: each figure over all of them.
    pub over_reports: Vec<Metric>,
}

/// What is derived from a run each time it is shown, and not stored.
#[derive(Clone, Debug)]
pub struct Conclusions {
    /// The bottleneck.
    pub limit: Limit,
    /// All that may hold the run back, the most telling first.
    pub causes: Vec<Cause>,
    /// Named conditions.
    pub findings: Vec<Finding>,
    /// What limits each row of the card.
    pub limits: Vec<RowLimit>,
    /// What to do next.
    pub next_step: Option<NextStep>,
    /// What the judge says.
    pub judged: Judged,
}
