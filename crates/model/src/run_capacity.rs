//! How large the target of a run really is, as far as the run tells.

use crate::{Capacity, CapacityKind, Run, TargetKind};

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
