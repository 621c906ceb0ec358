//! `narrows/fill/1`.

use crate::Check;
use model::{Answer, Filled, VerifyRecord};
use serde::Serialize;

/// What `narrows fill --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/fill/1")]
pub struct FillDocument<'a> {
    /// Where the rate falls, and whether the data came back, in a sentence.
    pub answer: Option<String>,
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
    pub fn new(check: &Check<'a>) -> Self {
        let run = check.run;
        let (fill, after_rest, rest_ns) = match check.answer {
            Some(Answer::Filled { filled, rested, rest_ns }) => (filled.as_ref(), rested.as_ref(), *rest_ns),
            _ => (None, None, 0),
        };
        Self {
            answer: check.answer(),
            run_id: &run.id,
            target: &run.target.name,
            fill,
            rest_s: rest_ns as f64 / 1e9,
            after_rest,
            verify: run.phases.iter().find_map(|p| p.record.as_ref()?.verify.as_ref()),
            remarks: &run.remarks,
        }
    }
}
