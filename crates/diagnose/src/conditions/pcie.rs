//! PCI Express and NVMe.

use super::{Decision, Match, NoCase::DoesNotHold, any_disk_of, exclude};
use crate::link_modes;
use crate::stack_view::Facts;
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Work};

/// The narrowest link of the path carries less than both of its ends can do.
pub fn link_degraded(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "nvme", |path| {
        let link = path.need(names::PCIE_SPEED_GT_S)?;
        let possible = link_modes::pcie(link)?;
        exclude(possible.ratio <= 1.0)?;
        Ok(Match::observed(possible.facts.into_iter().map(|n| link.evidence(n))).gain(
            &on.rate_id(Work::SequentialRead),
            Some(possible.ratio),
            "line rate that both ends could do over that of the link as it is",
        ))
    })
}

/// The kernel gives no host memory buffer to a device that asks for one.
pub fn host_memory_off(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "nvme", |path| {
        // The attribute exists only where the device asks for a buffer; without it the question does not arise.
        let holder = path.holder(names::NVME_HMB).ok_or(DoesNotHold)?;
        exclude(holder.need_bool(names::NVME_HMB)?)?;
        let limit = path.holder(names::NVME_MAX_HOST_MEM_SIZE_MB).map(|l| l.evidence(names::NVME_MAX_HOST_MEM_SIZE_MB));
        Ok(Match::observed(std::iter::once(holder.evidence(names::NVME_HMB)).chain(limit))
            .at_most(Confidence::Probable))
    })
}
