//! What a card says of itself, and queues that go wrong.

use super::{Decision, Match, NoCase::DoesNotHold, any_disk, any_disk_of, exclude, first_case, require};
use crate::kernel_log::{self, LOG};
use crate::stack_view::{DiskPath, Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, LayerKind};

fn is_sd(path: &DiskPath<'_>) -> Result<bool, Missing> {
    Ok(path.is("mmc")? && path.disk.need_text(names::MMC_TYPE)? == "SD")
}

/// Boards with the BCM2712, whose SD host has a command queue.
fn is_bcm2712(machine: &str) -> bool {
    ["Raspberry Pi 5", "Raspberry Pi Compute Module 5", "Raspberry Pi 500"].iter().any(|m| machine.starts_with(m))
}

/// An A2 card in a Raspberry Pi 5 whose kernel leaves the queue off: it is on only for cards of its list
/// (raspberrypi/linux#6591).
pub fn pi5_queue_off(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(is_sd(path)?)?;
        let machine = on.environment.machine.as_deref().ok_or(Missing("environment: machine"))?;
        require(is_bcm2712(machine) && path.disk.need_int(names::APP_PERFORMANCE_CLASS)? == 2)?;
        exclude(path.disk.int(names::SD_CARD_QUEUE_DEPTH) == Some(0) || path.disk.bool(names::CMDQ_EN) == Some(true))?;
        // 64 tags without a queue, the card's depth with one (k:drivers/mmc/core/queue.c).
        exclude(path.disk.need_int(names::QUEUE_DEPTH)? > 1)?;
        Ok(Match::observed([
            model::Evidence::fact("machine", machine, "environment"),
            path.disk.evidence(names::APP_PERFORMANCE_CLASS),
            path.disk.evidence(names::SD_CARD_QUEUE_DEPTH),
            path.disk.evidence(names::QUEUE_DEPTH),
        ]))
    })
}

/// The command queue engine had to be restarted.
pub fn queue_recovery(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "mmc", |path| {
        exclude(path.disk.bool(names::CMDQ_EN) == Some(false))?;
        let host = path.holder(names::MMC_HOST).and_then(|l| l.text(names::MMC_HOST));
        let lines = on.log_lines(&["running CQE recovery"], host.as_slice()).ok_or(LOG)?;
        let line = kernel_log::evidence(&lines).ok_or(DoesNotHold)?;
        Ok(Match::observed([line, path.disk.evidence(names::CMDQ_EN), path.disk.evidence(names::MODEL)]))
    })
}

/// `0x000012` as a number.
fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}

/// Identities that counterfeit cards were seen with. The product name is no hint: genuine cards of Samsung are called
/// `00000`.
pub fn counterfeit_identity(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(is_sd(path)?)?;
        let number = |name| path.disk.need_text(name).map(hexadecimal);
        let (manufacturer, oem) = (number(names::MANFID)?, number(names::OEMID)?);
        require(matches!(manufacturer, Some(0x00 | 0x12)) && oem == Some(0x3456))?;
        let serial_zero = path.disk.text(names::SERIAL).and_then(hexadecimal) == Some(0);
        let sure = if serial_zero { Confidence::Probable } else { Confidence::Low };
        let evidence = [names::MANFID, names::OEMID, names::SERIAL, names::MODEL].map(|n| path.disk.evidence(n));
        Ok(Match::observed(evidence).at_most(sure))
    })
}

/// An eMMC that is slower with SET_BLOCK_COUNT: manufacturers and product names of k:drivers/mmc/core/quirks.h
/// (MMC_QUIRK_BLK_NO_CMD23); SD cards are not meant.
pub fn slow_with_block_count(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "mmc", |path| {
        require(path.disk.need_text(names::MMC_TYPE)? == "MMC")?;
        let slow = match hexadecimal(path.disk.need_text(names::MANFID)?) {
            Some(0x11) => ["MMC08G", "MMC16G", "MMC32G"].as_slice(),
            Some(0x02) => &["SDMB-32", "SDM032"],
            _ => return Err(DoesNotHold),
        };
        require(slow.contains(&path.disk.need_text(names::MODEL)?.trim()))?;
        Ok(Match::observed([names::MANFID, names::MODEL].map(|name| path.disk.evidence(name))))
    })
}

/// An eMMC near its end: nine tenths of its rated wear used, or spare blocks running out.
pub fn worn(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "mmc", |path| {
        require(path.disk.need_text(names::MMC_TYPE)? == "MMC")?;
        // Before 5.0 (EXT_CSD revision 7) there is no such register.
        exclude(path.disk.int(names::MMC_REVISION).is_some_and(|r| r < 7))?;
        let tenths: Vec<u32> =
            path.disk.need_text(names::LIFE_TIME)?.split_whitespace().filter_map(hexadecimal).collect();
        let spare = path.disk.text(names::PRE_EOL).and_then(hexadecimal);
        // 0 is not defined, 1 to 10 are tenths, 11 is past the rated life (JESD84-B51, DEVICE_LIFE_TIME_EST_TYP_A, PRE_EOL_INFO).
        let worn = tenths.iter().any(|t| (10..=11).contains(t)) || matches!(spare, Some(2 | 3));
        require(worn)?;
        Ok(Match::observed([path.disk.evidence(names::LIFE_TIME), path.disk.evidence(names::PRE_EOL)]))
    })
}

/// A partition that begins inside an allocation unit of its SD card.
pub fn partition_off_allocation_unit(on: &Subject<'_>) -> Decision {
    let cards = on.disks();
    first_case(on.stack.all(LayerKind::Partition).map(|partition| {
        // `mmcblk0p1` lies on `mmcblk0`.
        let card = cards.iter().find(|c| partition.name.starts_with(&c.disk.name) && c.disk.kind == LayerKind::Disk);
        let card = card.filter(|c| c.disk.text(names::MMC_TYPE) == Some("SD")).ok_or(DoesNotHold)?;
        let unit = card.disk.need_int(names::ALLOCATION_UNIT_BYTES)?;
        let start = partition.need_int(names::START_BYTES)?;
        exclude(unit <= 0 || start % unit == 0)?;
        let evidence = [partition.evidence(names::START_BYTES), card.disk.evidence(names::ALLOCATION_UNIT_BYTES)];
        Ok(Match::observed(evidence).at_most(Confidence::Low))
    }))
}
