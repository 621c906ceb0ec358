//! How large a device is, as it says and as it was found.

use crate::{DataFault, DataFinding, Run, TargetKind};
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

impl Run {
    /// How large its target really is, as far as this run tells: it was measured, or what came back says it.
    pub fn capacity_found(&self) -> Option<Capacity> {
        let measured = self.capacity.clone().filter(|c| c.kind != CapacityKind::Unknown);
        measured.or_else(|| {
            let records = || self.phases.iter().filter_map(|p| p.record.as_ref());
            let verified = || records().filter_map(|r| r.verify.as_ref());
            let found = verified().filter_map(|v| CapacityKind::found(&v.findings));
            let (kind, real_bytes) = found.min_by_key(|(_, real_bytes)| *real_bytes)?;
            let is_device = matches!(self.target.kind, TargetKind::BlockDevice | TargetKind::Sim);
            let device = self.target.stack.device_bytes().filter(|_| is_device);
            Some(Capacity {
                claimed_bytes: device.or(self.target.size_bytes).unwrap_or(self.bytes_written),
                real_bytes: Some(real_bytes),
                kind,
                quick: true,
                written_bytes: records().map(|r| r.bytes).sum(),
                verified_bytes: verified().map(|v| v.bytes_verified).sum(),
                reasons: Vec::new(),
            })
        })
    }

    /// The capacity that was found, where less is there than the target says.
    pub fn fake(&self) -> Option<Capacity> {
        self.capacity_found().filter(|c| c.kind.is_fake())
    }
}
