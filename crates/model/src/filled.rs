//! What a target does while all of it is written.

use serde::{Deserialize, Serialize};

/// A part of what was written, in order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilledPart {
    /// Bytes that were written at its end.
    pub end_bytes: u64,
    /// Mean rate of the part.
    pub bytes_per_s: f64,
    /// The rate of its slowest second.
    pub least_bytes_per_s: f64,
}

/// Where the rate of a write falls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cliff {
    /// Median rate of the seconds before.
    pub before_bytes_per_s: f64,
    /// Bytes that went at it: where a cache ran out, what it holds and what drained meanwhile.
    pub bytes: u64,
    /// Median rate of the seconds after.
    pub after_bytes_per_s: f64,
}

/// A target that was written from its start to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    /// Bytes that were written.
    pub bytes: u64,
    /// Over all of it.
    pub bytes_per_s: f64,
    /// Where it falls; `None` where it does not, to more than a fifth.
    pub cliff: Option<Cliff>,
    /// The tenths of the target, in order.
    pub parts: Vec<FilledPart>,
}
