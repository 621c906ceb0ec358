//! The request queue, its policy and geometry.

use super::{Decision, Match, NoCase::DoesNotHold, any_disk, any_disk_of, exclude, first_case, require};
use crate::causes::{self, compared};
use crate::machine;
use crate::stack_view::{DiskPath, Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Direction, Evidence, Layer, LayerKind, PhaseRun, Work};

/// Flash below MTD has no request queue; its block device is a thin copy of it.
fn without_queue(path: &DiskPath<'_>) -> Result<bool, Missing> {
    path.is("mtd")
}

/// One hardware queue for several processors of a guest.
pub fn virtio_single_queue(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "virtio", |path| {
        require(path.disk.need_int(names::HARDWARE_QUEUES)? == 1)?;
        let processors = on.processors()?;
        exclude(processors == 1)?;
        Ok(Match::observed([
            path.disk.evidence(names::HARDWARE_QUEUES),
            Evidence::fact("processors", processors, "environment"),
        ]))
    })
}

/// The kernel holds the disk's cache to be write through. Named for disks with a cache of their own to switch; for
/// virtual disks the host decides, for flash cards there is usually none.
pub fn write_through_cache(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(matches!(path.disk.need_text(names::TRANSPORT)?, "sata" | "ide" | "scsi" | "usb"))?;
        require(path.disk.need_text(names::WRITE_CACHE)? == "write through")?;
        // What the drive itself says decides; without it, an array with a protected cache reports write through rightly, and
        // so do bridges that do not tell.
        let own = path.disk.bool(names::ATA_WRITE_CACHE_ENABLED);
        let sure = if own.is_some() { Confidence::High } else { Confidence::Low };
        let evidence = [path.disk.evidence(names::WRITE_CACHE), path.disk.evidence(names::ATA_WRITE_CACHE_ENABLED)];
        Ok(Match::observed(evidence).at_most(sure))
    })
}

/// A window below the kernel's default of 128 KiB, with cold buffered reads well below direct ones where both stand: of a disk, or of
/// a loop device, mapping or array above it, each of which has one of its own (k:block/blk-sysfs.c, queue_ra_show).
pub fn read_ahead_small(on: &Subject<'_>) -> Decision {
    const DEFAULT_KB: i64 = 128;
    let case = |layer: &Layer| {
        exclude(layer.need_int(names::READ_AHEAD_KB)? >= DEFAULT_KB)?;
        let ratio = on.measured(|run| compared::direct_over_buffered(run, Direction::Read));
        // Small, and it costs nothing here.
        exclude(ratio.is_some_and(|r| r < 1.1))?;
        let case = Match::observed([layer.evidence(names::READ_AHEAD_KB)]).at_most(Confidence::Probable);
        Ok(case.gain(&on.rate_id(Work::BufferedRead), ratio, "direct over buffered read of this run"))
    };
    let above = [LayerKind::Loop, LayerKind::Dm, LayerKind::Md].into_iter().flat_map(|kind| on.stack.all(kind));
    let above = above.filter(|layer| layer.int(names::READ_AHEAD_KB).is_some()).map(case);
    let of_disk = |path: &DiskPath<'_>| exclude(without_queue(path)?).and_then(|()| case(path.disk));
    first_case(above.chain(on.disks().iter().map(of_disk)))
}

/// Requests limited to less than 512 KiB and less than the hardware takes.
pub fn max_sectors_below_hardware(on: &Subject<'_>) -> Decision {
    /// Larger requests gain little on any medium; the kernel's own cap is 1280 KiB (BLK_DEF_MAX_SECTORS_CAP).
    const ENOUGH_KB: i64 = 512;
    any_disk(on, |path| {
        exclude(without_queue(path)?)?;
        let now = path.disk.need_int(names::MAX_SECTORS_KB)?;
        let hardware = path.disk.need_int(names::MAX_HW_SECTORS_KB)?;
        exclude(now >= hardware || now >= ENOUGH_KB)?;
        Ok(Match::observed([path.disk.evidence(names::MAX_SECTORS_KB), path.disk.evidence(names::MAX_HW_SECTORS_KB)]))
    })
}

/// What huge pages must bring before it is named.
const SPLITTING_GAIN: f64 = 1.05;
/// Requests of this size are split on few queues, and by every program on those.
const SMALL_REQUEST_BYTES: f64 = 65_536.0;

/// Requests that have more segments than the queue takes, where that costs something: by two phases that differ in nothing
/// but the pages of their buffers, by the requests that the disk counted, or by a limit that splits everything.
pub fn split_requests(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        exclude(without_queue(path)?)?;
        let page = on.environment.page_size_bytes.unwrap_or(4096) as f64;
        // A queue that tells no limit splits nothing that is known.
        let segments = path.disk.int(names::MAX_SEGMENTS).ok_or(DoesNotHold)?;
        let in_pages = segments as f64 * page;
        let most = path.disk.need_number(names::MAX_SECTORS_KB)? * 1024.0;
        let limits = [path.disk.evidence(names::MAX_SEGMENTS), path.disk.evidence(names::MAX_SECTORS_KB)];
        // What is too large is split for its size, whatever pages it lies in.
        exclude(in_pages >= most)?;
        if let Some((ordinary, ratio)) = on.measured(|run| causes::huge_over_ordinary(run, in_pages)) {
            exclude(ratio < SPLITTING_GAIN)?;
            let rate = ordinary.id("throughput_bytes_per_s");
            let what = "rate in huge pages over rate in ordinary pages";
            let evidence =
                limits.into_iter().chain([Evidence::measurement(what, (ratio * 100.0).round() / 100.0, rate.as_str())]);
            let case = Match::observed(evidence.chain(requests(on, path, ordinary.phase)));
            return Ok(case.gain(&rate, Some(ratio), "the same phase with buffers in huge pages"));
        }
        let split = on.measured(|run| causes::split_phase(run, path.disk, in_pages.min(most)));
        exclude(split.is_none() && in_pages >= SMALL_REQUEST_BYTES)?;
        let counted = split.and_then(|phase| requests(on, path, phase));
        Ok(Match::observed(limits.into_iter().chain(counted)).at_most(Confidence::Probable))
    })
}

/// The requests that the disk counted for an operation of the phase.
fn requests(on: &Subject<'_>, path: &DiskPath<'_>, phase: &PhaseRun) -> Option<Evidence> {
    let each = on.measured(|run| machine::requests_per_operation(run, phase, &path.disk.name))?;
    let source = format!("{} diskstats", phase.plan.name);
    Some(Evidence::measurement("requests an operation", (each * 100.0).round() / 100.0, source))
}

/// BFQ on NVMe: its per-operation cost is paid where operations are many and cheap.
pub fn bfq_on_nvme(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "nvme", |path| {
        require(path.disk.need_text(names::SCHEDULER)? == "bfq")?;
        let scaling = on.measured(causes::read_scaling).map(|s| s.1).unwrap_or_default();
        Ok(Match::observed(std::iter::once(path.disk.evidence(names::SCHEDULER)).chain(scaling))
            .at_most(Confidence::Probable))
    })
}

/// A partition that begins off the natural boundary of its device.
pub fn misaligned_partition(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Partition).map(|partition| {
        let offset = partition.int(names::ALIGNMENT_OFFSET_BYTES);
        // The kernel says -1 where it does not know; then only the start decides.
        let by_kernel = offset.is_some_and(|o| o > 0);
        let aligned = partition.need_bool(names::ALIGNED)?;
        exclude(aligned && !by_kernel)?;
        Ok(Match::observed([
            partition.evidence(names::START_BYTES),
            partition.evidence(names::ALIGNMENT_OFFSET_BYTES),
            partition.evidence(names::ALIGNED),
        ]))
    }))
}

/// Merging of neighbouring requests switched off entirely.
pub fn merging_off(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        // NVMe has no seek and little cost per command.
        exclude(path.is("nvme")? || without_queue(path)?)?;
        require(path.disk.need_int(names::NOMERGES)? == 2)?;
        Ok(Match::observed([path.disk.evidence(names::NOMERGES)]).at_most(Confidence::Probable))
    })
}

/// Counters of the disk that stand still.
pub fn traffic_not_counted(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        exclude(without_queue(path)? || path.disk.need_bool(names::IO_STATISTICS)?)?;
        Ok(Match::observed([path.disk.evidence(names::IO_STATISTICS)]))
    })
}
