//! The bus of a card: lines, clock, mode.

use super::{Decision, Match, NoCase::DoesNotHold, any_disk_of, exclude, require};
use crate::link_modes;
use crate::stack_view::{Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Fact, Work};

/// One data line for a card that has four.
pub fn one_data_line(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "mmc", |path| {
        let link = path.need(names::BUS_WIDTH)?;
        require(link.need_int(names::BUS_WIDTH)? == 1)?;
        match path.disk.need_text(names::MMC_TYPE)? {
            "SD" => {
                let Some(Fact::List(widths)) = path.disk.fact(names::SD_BUS_WIDTHS) else {
                    return Err(Missing(names::SD_BUS_WIDTHS).into());
                };
                require(widths.iter().any(|w| w == "4"))?;
                let evidence = [link.evidence(names::BUS_WIDTH), path.disk.evidence(names::SD_BUS_WIDTHS)];
                Ok(Match::observed(evidence).gain(
                    &on.rate_id(Work::SequentialRead),
                    Some(4.0),
                    "four data lines over one, at the same clock",
                ))
            }
            // Every eMMC has eight lines; how many of them a board connects is not known.
            "MMC" => Ok(Match::observed([link.evidence(names::BUS_WIDTH)]).at_most(Confidence::Probable)),
            _ => Err(DoesNotHold),
        }
    })
}

/// An eMMC in a high-speed mode although the host offers HS200 or HS400.
pub fn emmc_below_host_mode(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "mmc", |path| {
        require(path.disk.need_text(names::MMC_TYPE)? == "MMC")?;
        let link = path.need(names::BUS_MODE)?;
        require(matches!(link.need_text(names::BUS_MODE)?, "legacy" | "mmc-hs" | "ddr52"))?;
        // HS200 came with 4.5 (EXT_CSD revision 6), HS400 with 5.0.
        exclude(path.disk.need_int(names::MMC_REVISION)? < 6)?;
        let host = path.need(names::MMC_HOST_MODES)?;
        let Some(Fact::List(modes)) = host.fact(names::MMC_HOST_MODES) else { return Err(DoesNotHold) };
        // What the card can do is in EXT_CSD byte 196, which only root may read.
        let card = match path.disk.fact(names::EMMC_MODES) {
            Some(Fact::List(modes)) => Some(modes),
            _ => None,
        };
        let best = link_modes::best_of_emmc(modes, card).ok_or(DoesNotHold)?;
        let eight = link.int(names::BUS_WIDTH).is_none_or(|w| w == 8);
        let now = link.ceiling_bytes_per_s.map(|v| v as f64).filter(|_| eight);
        let evidence = [
            link.evidence(names::BUS_MODE),
            host.evidence(names::MMC_HOST_MODES),
            path.disk.evidence(names::EMMC_MODES),
        ];
        let sure = if card.is_some() { Confidence::High } else { Confidence::Probable };
        Ok(Match::observed(evidence).at_most(sure).gain(
            &on.rate_id(Work::SequentialRead),
            now.map(|n| best / n),
            "line rate of the host's best mode over that of the mode in use",
        ))
    })
}

/// The clock tree gives much less than the core asked for. SDR104 has a finding of its own.
pub fn clock_below_request(on: &Subject<'_>) -> Decision {
    const ENOUGH: f64 = 0.9;
    any_disk_of(on, "mmc", |path| {
        let link = path.need(names::CLOCK_HZ)?;
        let asked = link.need_number(names::CLOCK_REQUESTED_HZ)?;
        let actual = link.need_number(names::CLOCK_HZ)?;
        let derated_sdr104 = link.text(names::BUS_MODE) == Some("sdr104") && actual < 180e6;
        exclude(derated_sdr104 || actual <= 0.0 || actual >= asked * ENOUGH)?;
        let evidence = [names::CLOCK_REQUESTED_HZ, names::CLOCK_HZ, names::BUS_MODE].map(|n| link.evidence(n));
        Ok(Match::observed(evidence).gain(
            &on.rate_id(Work::SequentialRead),
            Some(asked / actual),
            "requested clock over the actual one",
        ))
    })
}

/// Transfers that arrived damaged or not at all. Commands without an answer are no error: cards are probed with commands
/// that they may not know.
pub fn errors(on: &Subject<'_>) -> Decision {
    const MORE_THAN_ACCIDENT: u64 = 10;
    any_disk_of(on, "mmc", |path| {
        let host = path.need(names::MMC_ERROR_KINDS)?;
        let Some(Fact::List(kinds)) = host.fact(names::MMC_ERROR_KINDS) else { return Err(DoesNotHold) };
        // `Data CRC Error Occurred: 12`
        let count = |kind: &String| kind.rsplit(':').next().and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(1);
        let matters = |kind: &&String| ["CRC", "Data Timeout", "ADMA", "Timedout"].iter().any(|k| kind.contains(k));
        exclude(kinds.iter().filter(matters).map(count).sum::<u64>() < MORE_THAN_ACCIDENT)?;
        Ok(Match::observed([host.evidence(names::MMC_ERROR_KINDS)]).at_most(Confidence::Probable))
    })
}
