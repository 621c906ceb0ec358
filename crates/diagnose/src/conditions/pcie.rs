//! PCI Express and NVMe.

use super::{Case, Check, any_disk};
use crate::fact_names as names;
use crate::stack_view::Facts;
use model::{Confidence, Run};

/// The narrowest link of the path carries less than device and slot both can do.
pub fn link_degraded(run: &Run) -> Check {
    any_disk(run, |path| {
        if !path.is("nvme")? {
            return Ok(None);
        }
        let link = path.need(names::PCIE_SPEED_GT_S)?;
        let number = |name| link.need_number(name);
        let (speed, width) = (number(names::PCIE_SPEED_GT_S)?, number(names::PCIE_WIDTH)?);
        let (max_speed, max_width) = (number(names::PCIE_MAX_SPEED_GT_S)?, number(names::PCIE_MAX_WIDTH)?);
        // Without the slot's side a device in an older slot would look degraded.
        let (port_speed, port_width) = (number(names::PCIE_PORT_MAX_SPEED_GT_S)?, number(names::PCIE_PORT_MAX_WIDTH)?);
        let (best_speed, best_width) = (max_speed.min(port_speed), max_width.min(port_width));
        let (now, best) = (speed * width, best_speed * best_width);
        if now <= 0.0 || (speed >= best_speed && width >= best_width) || best <= now {
            return Ok(None);
        }
        Ok(Some(
            Case::seen(
                [
                    names::PCIE_SPEED_GT_S,
                    names::PCIE_WIDTH,
                    names::PCIE_MAX_SPEED_GT_S,
                    names::PCIE_MAX_WIDTH,
                    names::PCIE_PORT_MAX_SPEED_GT_S,
                    names::PCIE_PORT_MAX_WIDTH,
                ]
                .map(|n| link.evidence(n)),
            )
            .gain(
                "seq-read.throughput_bytes_per_s",
                Some(best / now),
                "transfer rate times lanes, possible over negotiated",
            ),
        ))
    })
}

/// The kernel gives no host memory buffer to a device that asks for one.
pub fn host_memory_off(run: &Run) -> Check {
    any_disk(run, |path| {
        if !path.is("nvme")? {
            return Ok(None);
        }
        // The attribute exists only where the device asks for a buffer; without it the question does not arise.
        let Some(holder) = path.holder(names::NVME_HMB) else { return Ok(None) };
        if holder.need_bool(names::NVME_HMB)? {
            return Ok(None);
        }
        let limit = path.holder(names::NVME_MAX_HOST_MEM_SIZE_MB).map(|l| l.evidence(names::NVME_MAX_HOST_MEM_SIZE_MB));
        Ok(Some(
            Case::seen(std::iter::once(holder.evidence(names::NVME_HMB)).chain(limit)).at_most(Confidence::Probable),
        ))
    })
}
