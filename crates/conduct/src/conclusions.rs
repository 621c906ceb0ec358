//! What is concluded from a run, whoever made it and whenever.

use model::{Cause, DepthCurve, Finding, Limit, NextStep, Rating, Run};

/// What the judge and the diagnosis say of a run; drawn anew from any run of the archive.
pub struct Conclusions {
    /// The bottleneck.
    pub limit: Limit,
    /// All that may hold the run back, the most telling first.
    pub causes: Vec<Cause>,
    /// Named conditions.
    pub findings: Vec<Finding>,
    /// Speed classes.
    pub ratings: Vec<Rating>,
    /// Phases that differ only in depth, and where more of it stops to pay.
    pub depth_curves: Vec<DepthCurve>,
    /// What to do next.
    pub next_step: Option<NextStep>,
}

impl Conclusions {
    /// Of a run.
    pub fn of(run: &Run) -> Self {
        let limit = diagnose::limit(run);
        let findings = diagnose::findings(run);
        let next_step = diagnose::next_step(run, &limit, &findings);
        let causes = diagnose::causes(run).into_iter().map(Cause::from).collect();
        Self {
            ratings: judge::ratings(run),
            depth_curves: judge::depth_curves(run),
            limit,
            causes,
            findings,
            next_step,
        }
    }
}
