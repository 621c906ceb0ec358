//! How a target's rate grows with the operations in flight, and where more of them stop to pay.

use serde::{Deserialize, Serialize};

/// Where the rate stops to grow with the depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Knee {
    /// At this depth: everything deeper gains less than `least_gain_percent` for each doubling.
    At {
        /// Operations in flight.
        depth: u32,
        /// The phase that measured it.
        phase: String,
        /// Its rate as a share of the highest rate of the curve, per cent.
        share_of_highest_percent: f64,
    },
    /// The deepest phase still gained at least that much: the knee lies beyond it, if there is one.
    NotReached {
        /// The deepest that was measured.
        depth: u32,
    },
    /// The knee cannot be determined.
    Unknown { reason: String },
}

/// Phases that differ only in how many operations are in flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DepthCurve {
    /// Names of the phases, in the order of their depths.
    pub phases: Vec<String>,
    /// Operations in flight of each, all streams together.
    pub depths: Vec<u32>,
    /// Where more stop to pay.
    pub knee: Knee,
    /// Less than this for each doubling of the depth counts as no gain, per cent.
    pub least_gain_percent: f64,
}
