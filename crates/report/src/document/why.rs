//! `narrows/why/1`.

use crate::Why;
use model::{Cause, Confirmation, Finding, Limit, NextStep, RunState, Undecided};
use serde::Serialize;

/// What `narrows why --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/why/1")]
pub struct WhyDocument<'a> {
    /// Id of the run in the archive.
    pub run_id: &'a str,
    /// Which run that is, in words, where the one that was named says nothing of limits; else null.
    pub taken: Option<&'a str>,
    /// The bottleneck in a sentence.
    pub answer: String,
    /// The bottleneck.
    pub limit: &'a Limit,
    /// All that may hold the run back, the most telling first.
    pub causes: Vec<WhyCause<'a>>,
    /// Named conditions that hold.
    pub findings: &'a [Finding],
    /// Conditions that can neither be named nor ruled out, with what is missing.
    pub unknown: &'a [Undecided],
    /// The target, as it was named.
    pub target: &'a str,
    /// Which command made the run.
    pub command: &'a str,
    /// How far the run came.
    pub state: RunState,
    /// What to do next; null without advice.
    pub next_step: Option<&'a NextStep>,
    /// What the deciding measurement gave; null without `--confirm`, and where there is none.
    pub confirmation: Option<&'a Confirmation>,
}

/// One cause; what to do about it stands beside it.
#[derive(Clone, Debug, Serialize)]
pub struct WhyCause<'a> {
    /// The cause; its keys stand beside the next one.
    #[serde(flatten)]
    pub cause: &'a Cause,
    /// What to do about it, and what it can bring at most; null where nothing can be done.
    pub next_step: Option<&'a NextStep>,
}

impl<'a> WhyDocument<'a> {
    /// The document of an attribution.
    pub fn new(why: &Why<'a>) -> Self {
        Self {
            run_id: &why.run.id,
            taken: why.taken,
            answer: crate::why::answers(why).join(" "),
            limit: why.limit,
            causes: why.causes.iter().map(|cause| WhyCause { cause, next_step: cause.next_step.as_ref() }).collect(),
            findings: why.findings,
            unknown: why.unknown,
            target: &why.run.target.name,
            command: &why.run.command,
            state: why.run.state,
            next_step: why.next_step,
            confirmation: why.confirmation,
        }
    }
}
