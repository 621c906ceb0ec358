//! `narrows/rate/1`.

use model::{Capacity, CapacityKind, RatedClass, Run};
use serde::Serialize;

/// What `narrows rate --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/rate/1")]
pub struct RateDocument<'a> {
    /// Which classes it reaches and which not, in a sentence; null where there is nothing to rate.
    pub answer: Option<String>,
    /// The run that the classes were read from.
    pub run_id: &'a str,
    /// The target, as it was named.
    pub target: &'a str,
    /// A class each, with all that it asks for.
    pub ratings: &'a [RatedClass],
    /// How large it really is.
    pub capacity: RateCapacity,
    /// What the user should know of the target.
    pub remarks: &'a [String],
}

/// How large a device is.
#[derive(Clone, Debug, Serialize)]
pub struct RateCapacity {
    /// As it says itself.
    pub claimed_bytes: Option<u64>,
    /// As it was found; `null` where that was not measured.
    pub real_bytes: Option<u64>,
    /// `genuine`, `wraparound`, `limbo`, `unknown`.
    pub kind: CapacityKind,
    /// Whether only places at random were looked at.
    pub quick: bool,
    /// What was written to find out.
    pub written_bytes: u64,
    /// Why it is not known.
    pub reasons: Vec<String>,
}

impl<'a> RateDocument<'a> {
    /// Of a run, with the capacity where that was looked for.
    pub fn new(run: &'a Run, ratings: &'a [RatedClass], capacity: Option<&Capacity>) -> Self {
        let capacity = RateCapacity {
            claimed_bytes: capacity.map(|c| c.claimed_bytes).or(crate::rate::claimed_bytes(run)),
            real_bytes: capacity.and_then(|c| c.real_bytes),
            kind: capacity.map_or(CapacityKind::Unknown, |c| c.kind),
            quick: capacity.is_some_and(|c| c.quick),
            written_bytes: capacity.map_or(0, |c| c.written_bytes),
            reasons: capacity.map_or_else(|| vec!["not measured: --capacity".to_owned()], |c| c.reasons.clone()),
        };
        Self {
            answer: crate::rate::answer(run, ratings).map(|(_, text)| text),
            run_id: &run.id,
            target: &run.target.name,
            ratings,
            capacity,
            remarks: &run.remarks,
        }
    }
}
