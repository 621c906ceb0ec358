//! Runs as `check` would leave them, and what is found in them.

use model::{Confidence, Finding, Run};
pub use test_runs::built::*;

/// The finding of that id, if it holds.
pub fn finding(run: &Run, id: &str) -> Option<Finding> {
    diagnose::findings(run).into_iter().find(|f| f.id == id)
}

/// What is missing to decide the finding, if it is unknown.
pub fn missing(run: &Run, id: &str) -> Option<String> {
    diagnose::unknown(run).into_iter().find(|u| u.id == id).map(|u| u.missing)
}

/// At least probable.
pub fn sure(confidence: Confidence) -> bool {
    confidence >= Confidence::Probable
}

/// What to try next, as it is told of a run.
pub fn next_step(run: &Run, findings: &[Finding]) -> Option<model::NextStep> {
    let (causes, rows) = (diagnose::causes(run), diagnose::limits(run));
    diagnose::headline(run, &causes, &rows, &diagnose::Question::default(), findings).next_step
}
