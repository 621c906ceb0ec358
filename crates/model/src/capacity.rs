//! How large a device is, as it says and as it was found.

use serde::{Deserialize, Serialize};

/// What became of what was written all over a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CapacityKind {
    /// Everything came back.
    Genuine,
    /// Addresses beyond the real capacity lead back to its start.
    WrapAround,
    /// Nothing is kept beyond the real capacity.
    Limbo,
    /// It was not measured, or cannot be told.
    Unknown,
}

/// How large a device is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The capacity that the device reports.
    pub claimed_bytes: u64,
    /// As it was found: of a fake where it ends. A quick look gives it to the nearest place that it met.
    pub real_bytes: Option<u64>,
    pub kind: CapacityKind,
    /// Whether only places at random were looked at.
    pub quick: bool,
    pub written_bytes: u64,
    /// What was read back and compared.
    pub verified_bytes: u64,
    /// Why it is not known.
    pub reasons: Vec<String>,
}
