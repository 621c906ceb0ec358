//! How the rate of a group grows with the number of its ranks.

use crate::Unit;
use serde::{Deserialize, Serialize};

/// One phase, done by 1, 2, 4, ... ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScaleCurve {
    /// Its name without the number of ranks.
    pub phase: String,
    pub unit: Unit,
    /// By the number of ranks.
    pub points: Vec<ScalePoint>,
    /// From where on more ranks do not pay.
    pub knee: ScaleKnee,
    /// Less than this for each doubling of the ranks counts as no gain, percent.
    pub least_gain_percent: f64,
}

/// What so many ranks did together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalePoint {
    pub ranks: u32,
    /// The metric.
    pub metric: String,
    /// The sum of all; `None` where it was refused.
    pub value: Option<f64>,
    /// What it would be, where it was refused.
    pub rejected_value: Option<f64>,
    /// Of as many times what one rank does alone, percent.
    pub efficiency_percent: Option<f64>,
}

/// Where more ranks stop to pay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleKnee {
    /// With so many; whatever more did gained less than the least for each doubling.
    At { ranks: u32, share_of_highest_percent: f64 },
    /// Even the last doubling gained enough.
    NotReached { ranks: u32 },
    /// Too few sums are valid.
    Unknown { valid: u32, of: u32 },
}
