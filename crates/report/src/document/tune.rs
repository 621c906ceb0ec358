//! `narrows/tune/1` of a search.

use crate::tune::{answer, plan_answer, verify_answer};
use model::{TunePlan, TuneVerification, Tuning};
use serde::Serialize;

/// What `narrows tune TARGET --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/tune/1")]
pub struct TuneDocument<'a> {
    /// What settings can do for the metric, in a sentence.
    pub answer: String,
    #[serde(flatten)]
    tuning: &'a Tuning,
    /// Where its page is.
    report: Option<&'a str>,
}

impl<'a> TuneDocument<'a> {
    pub fn new(tuning: &'a Tuning, report: Option<&'a str>) -> Self {
        Self { answer: answer(tuning), tuning, report }
    }
}

/// What `narrows tune TARGET --plan --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/tune/1")]
pub struct TunePlanDocument<'a> {
    /// What it will do, in a sentence.
    pub answer: String,
    #[serde(flatten)]
    plan: &'a TunePlan,
}

impl<'a> TunePlanDocument<'a> {
    pub fn new(plan: &'a TunePlan) -> Self {
        Self { answer: plan_answer(plan), plan }
    }
}

/// What `narrows tune --verify --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/tune-verify/1")]
pub struct TuneVerifyDocument<'a> {
    /// Whether all is in effect and still a gain, in a sentence.
    pub answer: String,
    /// Whether all is in effect, and nothing of it is shown to be a loss.
    pub met: bool,
    #[serde(flatten)]
    verified: &'a TuneVerification,
}

impl<'a> TuneVerifyDocument<'a> {
    pub fn new(verified: &'a TuneVerification) -> Self {
        Self { answer: verify_answer(verified), met: verified.is_as_kept(), verified }
    }
}
