//! `narrows/plan/1`: what would be done.

use super::seconds;
use model::{Plan, Target};
use serde::Serialize;

/// What `narrows run NAME|FILE --plan --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/plan/1")]
pub struct PlanDocument<'a> {
    /// The target and the stack below it.
    pub target: &'a Target,
    /// The plan, every default explicit.
    pub plan: &'a Plan,
    /// The most memory that any of its phases takes.
    pub memory_bytes: u64,
    /// Bytes that reach the device at most, what a file system writes beside them included; null where only time bounds them.
    pub bytes_written_at_most: Option<u64>,
    /// Time that it takes at most, layout and quiet windows included.
    pub duration_at_most_s: f64,
    /// What the text asked for and the plan does otherwise, or leaves out, with the reason.
    pub notes: &'a [String],
}

impl<'a> PlanDocument<'a> {
    /// The document of a plan on a target.
    pub fn new(target: &'a Target, plan: &'a Plan) -> Self {
        Self {
            target,
            plan,
            memory_bytes: plan.memory_bytes(),
            bytes_written_at_most: plan.device_bytes_at_most(target.stack.fstype()),
            duration_at_most_s: seconds(plan.budget_ns),
            notes: &plan.notes,
        }
    }
}
