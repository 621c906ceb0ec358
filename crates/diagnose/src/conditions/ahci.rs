//! Host adapters: what they cannot do, what they hide, and what libata turned off.

use super::{Decision, Match, NoCase::DoesNotHold, any_disk, any_disk_of, exclude, require};
use crate::stack_view::{DiskPath, Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Fact, LayerKind};

fn host_queues(path: &DiskPath<'_>) -> Option<bool> {
    path.holder(names::NCQ_HOST).and_then(|l| l.bool(names::NCQ_HOST))
}

/// Drives for which libata turns queueing off behind controllers of ATI (7a8526a5cd51).
pub fn is_samsung_on_ati(path: &DiskPath<'_>) -> bool {
    let drive = path.disk.text(names::MODEL).unwrap_or_default();
    let vendor = path.holder(names::PCI_VENDOR_ID).and_then(|l| l.text(names::PCI_VENDOR_ID)).unwrap_or_default();
    (drive.starts_with("Samsung SSD 860") || drive.starts_with("Samsung SSD 870"))
        && vendor.trim_start_matches("0x").eq_ignore_ascii_case("1002")
}

/// Commands one at a time because the host adapter cannot queue.
pub fn host_without_ncq(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "sata", |path| {
        exclude(path.has_driver("ata_piix").is_some() || path.is_optical())?;
        let depth = path.disk.need_int(names::QUEUE_DEPTH)?;
        require(depth == 1 && !host_queues(path).ok_or(Missing(names::NCQ_HOST))?)?;
        let host = path.holder(names::NCQ_HOST).map(|l| l.evidence(names::NCQ_HOST));
        Ok(Match::observed(host.into_iter().chain([path.disk.evidence(names::QUEUE_DEPTH)])))
    })
}

/// Samsung 860 and 870 behind an ATI host adapter.
pub fn samsung_on_ati(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "sata", |path| {
        require(path.has_driver("ata_piix").is_none() && is_samsung_on_ati(path))?;
        require(path.disk.need_int(names::QUEUE_DEPTH)? == 1)?;
        let vendor = path.holder(names::PCI_VENDOR_ID).map(|l| l.evidence(names::PCI_VENDOR_ID));
        let disk = [path.disk.evidence(names::MODEL), path.disk.evidence(names::QUEUE_DEPTH)];
        Ok(Match::observed(disk.into_iter().chain(vendor)))
    })
}

/// 32-bit DMA in a machine with memory above 4 GiB.
pub fn short_addresses(on: &Subject<'_>) -> Decision {
    const REACH_BYTES: i64 = 4 << 30;
    any_disk_of(on, "sata", |path| {
        require(path.below.iter().any(|l| l.driver.as_deref().is_some_and(|d| d.starts_with("ahci"))))?;
        let host = path.need(names::AHCI_64BIT_DMA)?;
        exclude(host.need_bool(names::AHCI_64BIT_DMA)?)?;
        let machine = on.stack.first(LayerKind::Host).ok_or(Missing(names::MEMORY_BYTES))?;
        exclude(machine.need_int(names::MEMORY_BYTES)? <= REACH_BYTES)?;
        let evidence = [host.evidence(names::AHCI_64BIT_DMA), machine.evidence(names::MEMORY_BYTES)];
        // An IOMMU remaps instead of copying.
        Ok(Match::observed(evidence).at_most(Confidence::Low))
    })
}

/// Disks behind a port multiplier that the host can talk to only one at a time.
pub fn multiplier_serialised(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "sata", |path| {
        let link = path.holder(names::PORT_MULTIPLIER).ok_or(DoesNotHold)?;
        require(link.need_bool(names::PORT_MULTIPLIER)?)?;
        let host = path.need(names::AHCI_FBS)?;
        exclude(host.need_bool(names::AHCI_FBS)?)?;
        Ok(Match::observed([link.evidence(names::PORT_MULTIPLIER), host.evidence(names::AHCI_FBS)]))
    })
}

/// Data moved by the processor, or by a DMA mode of the last century: libata falls back to them after errors.
pub fn slow_transfer_mode(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(matches!(path.disk.need_text(names::TRANSPORT)?, "sata" | "ide"))?;
        let mode = path.disk.need_text(names::ATA_DMA_MODE)?;
        // `dma_mode` is the DMA mode in use; a disk in PIO has none, which the kernel prints in several ways.
        match mode {
            m if m.starts_with("XFER_UDMA") => Err(DoesNotHold),
            m if ["XFER_PIO", "XFER_MW_DMA", "XFER_SW_DMA"].iter().any(|slow| m.starts_with(slow)) => {
                Ok(Match::observed([path.disk.evidence(names::ATA_DMA_MODE)]))
            }
            _ => Err(Missing(names::ATA_DMA_MODE).into()),
        }
    })
}

/// Errors that libata recorded for the drive.
pub fn errors_recorded(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(matches!(path.disk.need_text(names::TRANSPORT)?, "sata" | "ide"))?;
        match path.disk.fact(names::ATA_ERRORS) {
            Some(Fact::List(errors)) if errors.is_empty() => Err(DoesNotHold),
            Some(Fact::List(errors)) => {
                let sure = if errors.len() > 1 { Confidence::Probable } else { Confidence::Low };
                let downshifts = path.disk.evidence(names::ATA_SPEED_DOWNSHIFTS);
                Ok(Match::observed([path.disk.evidence(names::ATA_ERRORS), downshifts]).at_most(sure))
            }
            _ => Err(Missing(names::ATA_ERRORS).into()),
        }
    })
}

/// NVMe drives that the firmware hides behind the SATA controller.
pub fn remapped_nvme(on: &Subject<'_>) -> Decision {
    let mut controllers = on.stack.all(LayerKind::Controller);
    // Only Intel's controllers have the attribute; without it nothing is remapped that could be seen.
    let hiding = controllers.find(|c| c.int(names::REMAPPED_NVME).is_some_and(|n| n > 0)).ok_or(DoesNotHold)?;
    Ok(Match::observed([hiding.evidence(names::REMAPPED_NVME)]))
}
