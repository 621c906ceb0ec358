//! `narrows/tune/1` of a search.

use crate::tune::{answer, plan_answer};
use model::{TunePlan, Tuning};
use serde::Serialize;

/// What `narrows tune TARGET --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct TuneDocument<'a> {
    /// `narrows/tune/1`.
    pub schema: &'static str,
    /// What settings can do for the metric, in a sentence.
    pub answer: String,
    #[serde(flatten)]
    tuning: &'a Tuning,
}

impl<'a> TuneDocument<'a> {
    pub fn new(tuning: &'a Tuning) -> Self {
        Self { schema: "narrows/tune/1", answer: answer(tuning), tuning }
    }
}

/// What `narrows tune TARGET --plan --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct TunePlanDocument<'a> {
    /// `narrows/tune/1`.
    pub schema: &'static str,
    /// What it will do, in a sentence.
    pub answer: String,
    #[serde(flatten)]
    plan: &'a TunePlan,
}

impl<'a> TunePlanDocument<'a> {
    pub fn new(plan: &'a TunePlan) -> Self {
        Self { schema: "narrows/tune/1", answer: plan_answer(plan), plan }
    }
}
