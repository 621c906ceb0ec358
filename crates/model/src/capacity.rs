//! How large a device is, as it says and as it was found.

use crate::{DataFault, DataFinding};
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
    /// Whether what is real is known as a bound only: places at random were looked at, or data that were written for something else.
    pub quick: bool,
    pub written_bytes: u64,
    /// What was read back and compared.
    pub verified_bytes: u64,
    /// Why it is not known.
    pub reasons: Vec<String>,
}

impl CapacityKind {
    /// Whether less is there than the device says.
    pub fn is_fake(self) -> bool {
        matches!(self, Self::WrapAround | Self::Limbo)
    }

    /// What findings of data say of the capacity, with the bytes that are real at most; `None` where they say nothing of it.
    pub fn found(findings: &[DataFinding]) -> Option<(Self, u64)> {
        let of = |class, kind| Some((kind, findings.iter().find(|f| f.class == class)?.lba.saturating_mul(512)));
        of(DataFault::WrapAround, Self::WrapAround).or_else(|| of(DataFault::LimboCapacity, Self::Limbo))
    }
}
