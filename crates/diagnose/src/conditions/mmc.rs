//! SD cards and eMMC.

use super::{Decision, Match, NoCase::DoesNotHold, any_disk, exclude, require};
use crate::link_modes;
use crate::stack_view::{DiskPath, Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Work};

fn is_type(path: &DiskPath<'_>, wanted: &str) -> Result<bool, Missing> {
    Ok(path.is("mmc")? && path.disk.need_text(names::MMC_TYPE)? == wanted)
}

/// An A2 card (SSR APP_PERF_CLASS 2) on a host whose path runs no command queue. SD cards have no `cmdq_en` file in
/// mainline, so the proof of a queue is that attribute where a vendor kernel adds it, or random reads that scale.
pub fn sd_a2_without_queue(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(is_type(path, "SD")? && path.disk.need_int(names::APP_PERFORMANCE_CLASS)? == 2)?;
        // Fewer tags than the 64 of an unqueued card are the card's own depth (k:drivers/mmc/core/queue.c).
        exclude(
            path.disk.bool(names::CMDQ_EN) == Some(true) || path.disk.int(names::QUEUE_DEPTH).is_some_and(|d| d > 1),
        )?;
        let scaling = on.measured(crate::causes::read_scaling);
        exclude(scaling.as_ref().is_some_and(|(ratio, _)| *ratio > 1.5))?;
        let evidence = [path.disk.evidence(names::APP_PERFORMANCE_CLASS), path.disk.evidence(names::CMDQ_EN)];
        let host_cannot = path.holder(names::MMC_HOST_CQE).and_then(|l| l.bool(names::MMC_HOST_CQE)) == Some(false);
        let case = match scaling {
            Some((_, measured)) => Match::observed(evidence.into_iter().chain(measured)),
            None if host_cannot || path.disk.bool(names::CMDQ_EN) == Some(false) => Match::observed(evidence),
            None => return Err(Missing(Work::QueuedRead.iops()).into()),
        };
        let host = path.holder(names::MMC_HOST_CQE).map(|l| l.evidence(names::MMC_HOST_CQE));
        let mut case = case.at_most(Confidence::Probable);
        case.evidence.extend(host);
        // The next ceiling for 4 KiB reads is what the same run carries sequentially.
        let now = on.value_of_work(Work::QueuedRead, "iops");
        let ceiling = on.direct_rate(Work::SequentialRead).map(|v| v / 4096.0);
        let ratio = ceiling.zip(now).map(|(c, n)| (c / n).min(32.0));
        Ok(case.gain(
            &on.metric_id_of_work(Work::QueuedRead, "iops"),
            ratio,
            "sequential read at 4 KiB per operation over random read at depth 32",
        ))
    })
}

/// SDR104 runs at up to 208 MHz (SD Physical Layer Specification, UHS-I); a host that clocks it below 180 MHz derates it.
pub fn sdr104_derated(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(is_type(path, "SD")?)?;
        let ratio = link_modes::sdr104(path)?.ok_or(DoesNotHold)?;
        let mode = path.need(names::BUS_MODE)?;
        Ok(Match::observed([mode.evidence(names::BUS_MODE), mode.evidence(names::CLOCK_HZ)]).gain(
            &on.rate_id(Work::SequentialRead),
            Some(ratio),
            "208 MHz over the actual clock",
        ))
    })
}

/// A UHS card that runs in a mode of 3.3 V signalling (default speed or high speed).
pub fn sd_high_speed_only(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(is_type(path, "SD")?)?;
        let link = path.need(names::BUS_MODE)?;
        require(matches!(link.need_text(names::BUS_MODE)?, "legacy" | "sd-hs"))?;
        exclude(path.disk.need_int(names::UHS_GRADE)? < 1)?;
        // Line rates at four data lines: high speed 25 MB/s, SDR104 104 MB/s, SDR50 and DDR50 50 MB/s.
        let best = link_modes::best_of_sd_host(path);
        let now = link.ceiling_bytes_per_s.map(|v| v as f64);
        let mut evidence = vec![
            link.evidence(names::BUS_MODE),
            link.evidence(names::SIGNAL_VOLTAGE),
            path.disk.evidence(names::UHS_GRADE),
        ];
        evidence.extend(path.holder(names::MMC_HOST_MODES).map(|l| l.evidence(names::MMC_HOST_MODES)));
        Ok(Match::observed(evidence).gain(
            &on.rate_id(Work::SequentialRead),
            best.zip(now).map(|(b, n)| b / n),
            "line rate of the best mode of the host over that of the mode in use",
        ))
    })
}

/// eMMC 5.1 (EXT_CSD revision 8) and later may have a command queue (CMDQ_SUPPORT is optional); here it is off.
pub fn emmc_without_queue(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(is_type(path, "MMC")?)?;
        exclude(path.disk.need_bool(names::CMDQ_EN)?)?;
        exclude(path.disk.need_int(names::MMC_REVISION)? < 8)?;
        let mut evidence = vec![path.disk.evidence(names::CMDQ_EN), path.disk.evidence(names::MMC_REVISION)];
        evidence.extend(path.holder(names::MMC_HOST_CQE).map(|l| l.evidence(names::MMC_HOST_CQE)));
        evidence.push(path.disk.evidence(names::EMMC_QUEUE_SUPPORTED));
        let sure = match path.disk.bool(names::EMMC_QUEUE_SUPPORTED) {
            Some(true) => Confidence::High,
            Some(false) => return Err(DoesNotHold),
            None => Confidence::Probable,
        };
        Ok(Match::observed(evidence).at_most(sure))
    })
}

/// An eMMC that has a cache and does not use it.
pub fn emmc_cache_off(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(is_type(path, "MMC")? && path.disk.need_int(names::EMMC_CACHE_BYTES)? > 0)?;
        exclude(path.disk.need_bool(names::EMMC_CACHE_ON)?)?;
        Ok(Match::observed([path.disk.evidence(names::EMMC_CACHE_BYTES), path.disk.evidence(names::EMMC_CACHE_ON)]))
    })
}
