//! `narrows/tune/1` of a search.

use crate::tune::{answer, plan_answer, verify_answer};
use model::{TunePlan, TuneVerification, Tuning};
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
    /// Where its page is.
    report: Option<&'a str>,
}

impl<'a> TuneDocument<'a> {
    pub fn new(tuning: &'a Tuning, report: Option<&'a str>) -> Self {
        Self { schema: "narrows/tune/1", answer: answer(tuning), tuning, report }
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

/// What `narrows tune --verify --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct TuneVerifyDocument<'a> {
    /// `narrows/tune-verify/1`.
    pub schema: &'static str,
    /// Whether all is in effect and still a gain, in a sentence.
    pub answer: String,
    /// Whether all is in effect, and nothing of it is shown to be a loss.
    pub met: bool,
    #[serde(flatten)]
    verified: &'a TuneVerification,
}

impl<'a> TuneVerifyDocument<'a> {
    pub fn new(verified: &'a TuneVerification) -> Self {
        Self { schema: "narrows/tune-verify/1", answer: verify_answer(verified), met: verified.is_as_kept(), verified }
    }
}
