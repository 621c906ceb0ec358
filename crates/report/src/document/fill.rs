//! `narrows/fill/1`.

use model::{Filled, Run, VerifyRecord};
use serde::Serialize;

/// What `narrows fill --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct FillDocument<'a> {
    /// `narrows/fill/1`.
    pub schema: &'static str,
    /// The run, for its metrics and series.
    pub run_id: &'a str,
    /// The target, as it was named.
    pub target: &'a str,
    /// While all of it was written; `null` where that was too short to tell.
    pub fill: Option<&'a Filled>,
    /// How long it rested then, seconds.
    pub rest_s: f64,
    /// What was written after that.
    pub after_rest: Option<&'a Filled>,
    /// Whether what was written came back (`--verify`); `null` where nobody looked.
    pub verify: Option<&'a VerifyRecord>,
    /// What the user should know of the target.
    pub remarks: &'a [String],
}

impl<'a> FillDocument<'a> {
    /// Of a run of the workload `fill`.
    pub fn new(run: &'a Run, fill: Option<&'a Filled>, after_rest: Option<&'a Filled>) -> Self {
        // The quiet window after the one phase, and that before the next.
        let rest_s = run.plan.quiet_ns as f64 * 2.0 / 1e9;
        let (run_id, target) = (run.id.as_str(), run.target.name.as_str());
        let verify = run.phases.iter().find_map(|p| p.record.as_ref()?.verify.as_ref());
        Self { schema: "narrows/fill/1", run_id, target, fill, rest_s, after_rest, verify, remarks: &run.remarks }
    }
}
