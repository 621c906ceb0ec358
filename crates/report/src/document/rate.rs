//! `narrows/rate/1`.

use model::{RatedClass, Run};
use serde::Serialize;

/// What `narrows rate --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct RateDocument<'a> {
    /// `narrows/rate/1`.
    pub schema: &'static str,
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
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RateCapacity {
    /// As it says itself.
    pub claimed_bytes: Option<u64>,
    /// As it was found; `null` where that was not measured.
    pub real_bytes: Option<u64>,
    /// `genuine`, `wraparound`, `limbo`, `unknown`.
    pub kind: &'static str,
}

impl<'a> RateDocument<'a> {
    /// Of a run. No run of classes measures the capacity.
    pub fn new(run: &'a Run, ratings: &'a [RatedClass]) -> Self {
        let capacity =
            RateCapacity { claimed_bytes: crate::rate::claimed_bytes(run), real_bytes: None, kind: "unknown" };
        Self {
            schema: "narrows/rate/1",
            run_id: &run.id,
            target: &run.target.name,
            ratings,
            capacity,
            remarks: &run.remarks,
        }
    }
}
