//! SATA and IDE.

use super::ahci::is_samsung_on_ati;
use super::{Decision, Match, NoCase::DoesNotHold, any_disk, any_disk_of, exclude, require};
use crate::stack_view::{Facts, Missing, driver_evidence, sata_generation_gbit_s};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Evidence, Work};

/// A SATA disk behind the IDE personality of its controller: no command queueing, no hot plug.
pub fn ide_mode(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        if let Some(layer) = path.has_driver("ata_piix") {
            let class = path.holder(names::PCI_CLASS).map(|l| l.evidence(names::PCI_CLASS));
            return Ok(Match::observed(std::iter::once(driver_evidence(layer)).chain(class)));
        }
        // Any other driver, or another bus, is known not to be it.
        let elsewhere = path.disk.text(names::TRANSPORT).is_some_and(|t| !matches!(t, "sata" | "ide" | "scsi"));
        let known = elsewhere || path.below.iter().any(|l| l.driver.is_some()) || path.disk.driver.is_some();
        Err(if known { DoesNotHold } else { Missing("driver").into() })
    })
}

/// Negotiated speed below what the port does, after libata lowered it: for the device, which it counts, or for the link,
/// which it limits (after resets that failed nothing is counted, libata-eh.c ata_eh_reset). Without either the disk may
/// simply be of an older generation.
pub fn link_downshift(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "sata", |path| {
        let limit = path.holder(names::SATA_SPEED_LIMIT_GBIT_S).map(|l| l.need_number(names::SATA_SPEED_LIMIT_GBIT_S));
        let downshifts = path.disk.int(names::ATA_SPEED_DOWNSHIFTS);
        // None was counted and nothing is limited: whatever the speeds are, they were never lowered.
        exclude(downshifts == Some(0) && limit.is_none())?;
        let link = path.need(names::SATA_SPEED_GBIT_S)?;
        let now = link.need_number(names::SATA_SPEED_GBIT_S)?;
        let port = link.need_number(names::SATA_SPEED_MAX_GBIT_S)?;
        let max = sata_generation_gbit_s(path.disk).map_or(port, |drive| port.min(drive));
        exclude(now >= max || now <= 0.0)?;
        let limited = matches!(limit, Some(Ok(limit)) if limit < max);
        exclude(!limited && path.disk.need_int(names::ATA_SPEED_DOWNSHIFTS)? == 0)?;
        Ok(Match::observed([
            link.evidence(names::SATA_SPEED_GBIT_S),
            link.evidence(names::SATA_SPEED_MAX_GBIT_S),
            link.evidence(names::SATA_SPEED_LIMIT_GBIT_S),
            path.disk.evidence(names::ATA_SPEED_DOWNSHIFTS),
        ])
        .gain(
            &on.rate_id(Work::SequentialRead),
            Some(max / now),
            "the highest speed of port and drive over the negotiated one",
        ))
    })
}

/// AHCI that can queue, and a disk that is given one command at a time.
pub fn no_ncq(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "sata", |path| {
        exclude(path.has_driver("ata_piix").is_some() || path.is_optical())?;
        require(path.disk.need_int(names::QUEUE_DEPTH)? == 1)?;
        // Reasons that are known have findings of their own.
        let host_cannot = path.holder(names::NCQ_HOST).and_then(|l| l.bool(names::NCQ_HOST)) == Some(false);
        exclude(host_cannot || is_samsung_on_ati(path))?;
        let mut evidence = vec![path.disk.evidence(names::QUEUE_DEPTH)];
        evidence.extend(path.holder(names::ATA_NCQ_DEPTH).map(|l| l.evidence(names::ATA_NCQ_DEPTH)));
        evidence.extend(path.holder(names::NCQ_HOST).map(|l| l.evidence(names::NCQ_HOST)));
        evidence.extend(path.below.iter().find(|l| l.driver.is_some()).map(driver_evidence));
        Ok(Match::observed(evidence))
    })
}

/// Allwinner A10/A20 AHCI with the smallest DMA transactions. The register decides where it was read; else a write rate
/// far below the read rate names it. The kernel's release decides nothing: 5.3 brought the change (pull request "libata
/// changes for 5.3-rc", 8 July 2019), distributions carried it earlier, and boards run kernels that never got it.
pub fn a20_fifo(on: &Subject<'_>) -> Decision {
    /// Reported: writes 36 to 45 MB/s, reads about 200; repaired: 120 to 127.
    const WRITE_OVER_READ: f64 = 0.4;
    const REPAIRED_BYTES_PER_S: f64 = 60e6;
    const REGISTER: &str = "P0DMACR (AHCI block + 0x170)";
    any_disk(on, |path| {
        let layer = path.has_driver("ahci-sunxi").ok_or(DoesNotHold)?;
        let read = on.direct_rate(Work::SequentialRead);
        let write = on.direct_rate(Work::SequentialWrite);
        let mut evidence = vec![driver_evidence(layer)];
        evidence.extend(on.environment.kernel.as_deref().map(|k| Evidence::fact("kernel", k, "environment")));
        let rates = write.zip(read).map(|(w, r)| {
            [
                Evidence::measurement("direct write, bytes per second", w, on.rate_id(Work::SequentialWrite)),
                Evidence::measurement("direct read, bytes per second", r, on.rate_id(Work::SequentialRead)),
            ]
        });
        let sure = if let Some(holder) = path.holder(names::SUNXI_AHCI_P0DMACR) {
            // TXTS 3:0 and RXTS 7:4 (k:drivers/ata/ahci_sunxi.c).
            exclude(holder.need_int(names::SUNXI_AHCI_P0DMACR)? & 0xff == 0x33)?;
            evidence.push(holder.evidence(names::SUNXI_AHCI_P0DMACR));
            Confidence::High
        } else if let (Some(w), Some(r)) = (write, read) {
            exclude(w >= r * WRITE_OVER_READ || w >= REPAIRED_BYTES_PER_S)?;
            evidence.push(Evidence::absence(REGISTER, "register not read"));
            Confidence::Probable
        } else {
            return Err(Missing(names::SUNXI_AHCI_P0DMACR).into());
        };
        let ratio = write.zip(read).map(|(w, r)| r / w);
        Ok(Match::observed(evidence.into_iter().chain(rates.into_iter().flatten())).at_most(sure).gain(
            &on.rate_id(Work::SequentialWrite),
            ratio,
            "direct read over direct write of this run",
        ))
    })
}

/// Policies that put the link to sleep between commands.
pub fn link_power_management(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "sata", |path| {
        let holder = path.need(names::LINK_POWER_POLICY)?;
        let policy = holder.need_text(names::LINK_POWER_POLICY)?;
        let sleeps = matches!(policy, "min_power" | "min_power_with_partial" | "med_power_with_dipm" | "medium_power");
        // Deep sleep costs up to milliseconds, partial sleep microseconds: the second is a hint only.
        let sure = if policy.starts_with("min_power") { Confidence::High } else { Confidence::Low };
        require(sleeps)?;
        Ok(Match::observed([holder.evidence(names::LINK_POWER_POLICY)]).at_most(sure))
    })
}

/// A solid-state drive of a newer generation than its port: the port is the ceiling.
pub fn older_port(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "sata", |path| {
        exclude(path.disk.bool(names::ROTATIONAL) == Some(true))?;
        let link = path.need(names::SATA_SPEED_MAX_GBIT_S)?;
        let port = link.need_number(names::SATA_SPEED_MAX_GBIT_S)?;
        let able = sata_generation_gbit_s(path.disk).ok_or(Missing(names::ATA_SATA_GENERATION))?;
        exclude(port <= 0.0 || able <= port)?;
        let evidence = [path.disk.evidence(names::ATA_SATA_GENERATION), link.evidence(names::SATA_SPEED_MAX_GBIT_S)];
        Ok(Match::observed(evidence).gain(
            &on.rate_id(Work::SequentialRead),
            Some(able / port),
            "the drive's fastest generation over the port's",
        ))
    })
}
