//! PCI Express and NVMe.

use super::{Case, Check, any_disk};
use crate::fact_names as names;
use crate::stack_view::Facts;
use model::{Confidence, Run};

/// What a link carries in proportion to others: transfer rate, share of the bits that are data, lanes. 8 of 10 bits carry
/// data up to 5 GT/s, 128 of 130 up to 32 GT/s, 242 of 256 above (PCI Express Base Specification 6.0, 4.2).
fn carried(speed_gt_s: f64, width: f64) -> f64 {
    let data = match speed_gt_s {
        s if s <= 5.0 => 8.0 / 10.0,
        s if s <= 32.0 => 128.0 / 130.0,
        _ => 242.0 / 256.0,
    };
    speed_gt_s * data * width
}

/// The narrowest link of the path carries less than both of its ends can do.
pub fn link_degraded(run: &Run) -> Check {
    any_disk(run, |path| {
        if !path.is("nvme")? {
            return Ok(None);
        }
        let link = path.need(names::PCIE_SPEED_GT_S)?;
        let number = |name| link.need_number(name);
        let (speed, width) = (number(names::PCIE_SPEED_GT_S)?, number(names::PCIE_WIDTH)?);
        let mut ends = vec![names::PCIE_NARROWEST, names::PCIE_MAX_SPEED_GT_S, names::PCIE_MAX_WIDTH];
        let (best_speed, best_width) = if link.facts.contains_key(names::PCIE_NARROWEST_MAX_SPEED_GT_S) {
            // The narrowest link need not be the device's own: above a switch its neighbours decide.
            ends.extend([names::PCIE_NARROWEST_MAX_SPEED_GT_S, names::PCIE_NARROWEST_MAX_WIDTH]);
            (number(names::PCIE_NARROWEST_MAX_SPEED_GT_S)?, number(names::PCIE_NARROWEST_MAX_WIDTH)?)
        } else {
            // Without the slot's side a device in an older slot would look degraded.
            ends.extend([names::PCIE_PORT_MAX_SPEED_GT_S, names::PCIE_PORT_MAX_WIDTH]);
            let (max_speed, max_width) = (number(names::PCIE_MAX_SPEED_GT_S)?, number(names::PCIE_MAX_WIDTH)?);
            let port = (number(names::PCIE_PORT_MAX_SPEED_GT_S)?, number(names::PCIE_PORT_MAX_WIDTH)?);
            (max_speed.min(port.0), max_width.min(port.1))
        };
        let (now, best) = (carried(speed, width), carried(best_speed, best_width));
        if now <= 0.0 || (speed >= best_speed && width >= best_width) || best <= now {
            return Ok(None);
        }
        let evidence = [names::PCIE_SPEED_GT_S, names::PCIE_WIDTH].into_iter().chain(ends);
        Ok(Some(Case::seen(evidence.map(|n| link.evidence(n))).gain(
            "seq-read.throughput_bytes_per_s",
            Some(best / now),
            "line rate that both ends could do over that of the link as it is",
        )))
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
