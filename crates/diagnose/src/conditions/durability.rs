//! Settings by which durability is bought or sold: journals, commits, flushes.

use super::{Decision, Match, NoCase::DoesNotHold, exclude, first_case, require};
use crate::stack_view::{Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Fact, Layer, LayerKind};

fn on_filesystems(on: &Subject<'_>, condition: impl Fn(&Layer) -> Decision) -> Decision {
    first_case(on.stack.all(LayerKind::Filesystem).map(condition))
}

fn is_ext(fs: &Layer) -> Result<bool, Missing> {
    Ok(matches!(fs.need_text(names::FSTYPE)?, "ext4" | "ext3"))
}

/// ext4 that writes all data into its journal first.
pub fn data_journal(on: &Subject<'_>) -> Decision {
    on_filesystems(on, |fs| {
        require(is_ext(fs)? && fs.need_text(names::JOURNAL_MODE)? == "journal")?;
        Ok(Match::observed([fs.evidence(names::FSTYPE), fs.evidence(names::JOURNAL_MODE)]))
    })
}

/// Metadata that may stay in memory for minutes.
pub fn long_commit_interval(on: &Subject<'_>) -> Decision {
    /// ext4's default is 5 s, btrfs' 30 s.
    const LONG_S: i64 = 60;
    on_filesystems(on, |fs| {
        require(matches!(fs.need_text(names::FSTYPE)?, "ext4" | "ext3" | "btrfs" | "f2fs"))?;
        // Only options that differ from the default are shown.
        let long = fs.int(names::COMMIT_INTERVAL_S).is_some_and(|s| s > LONG_S);
        require(long)?;
        Ok(Match::observed([fs.evidence(names::COMMIT_INTERVAL_S)]))
    })
}

/// A file system that sends no flushes.
pub fn barriers_off(on: &Subject<'_>) -> Decision {
    on_filesystems(on, |fs| match fs.bool(names::BARRIERS) {
        Some(false) => Ok(Match::observed([fs.evidence(names::BARRIERS), fs.evidence(names::MOUNT_OPTIONS)])),
        Some(true) => Err(DoesNotHold),
        // File systems in memory or on a network have no such option.
        None if fs.text(names::BACKING).is_some_and(|b| b != "block") => Err(DoesNotHold),
        None => Err(Missing(names::BARRIERS).into()),
    })
}

/// Discards at once, on a drive whose discard cannot be queued.
pub fn discard_unqueued(on: &Subject<'_>) -> Decision {
    on_filesystems(on, |fs| {
        require(fs.need_bool(names::ONLINE_DISCARD)?)?;
        first_case(on.disks().iter().filter(|d| d.disk.text(names::TRANSPORT) == Some("sata")).map(|d| {
            let unqueued = matches!(d.disk.need_text(names::ATA_TRIM)?, "unqueued" | "forced_unqueued");
            require(unqueued)?;
            let evidence = [fs.evidence(names::ONLINE_DISCARD), d.disk.evidence(names::ATA_TRIM)];
            Ok(Match::observed(evidence).at_most(Confidence::Probable))
        }))
    })
}

/// Writeback throttling that met its target: reads waited longer than it allows, so buffered writes were held back.
pub fn writeback_throttled(on: &Subject<'_>) -> Decision {
    const MIX: Missing = Missing("a phase that reads and writes at once");
    first_case(on.disks().iter().map(|d| {
        // Looked for and not there: the kernel has no writeback throttling for this queue.
        exclude(d.disk.facts.get(names::WBT_LAT_USEC).is_some_and(Fact::is_null))?;
        let target_us = d.disk.need_int(names::WBT_LAT_USEC)?;
        exclude(target_us <= 0)?;
        let median_of = |name: &str| {
            let id = format!("{name}.read.latency_ns_p50");
            let writes = on
                .value(&format!("{name}.write.throughput_bytes_per_s"))
                .or_else(|| on.value(&format!("{name}.write.iops")));
            writes.and(on.value(&id)).map(|v| (id, v))
        };
        let slowest = on
            .executed()
            .filter(|(p, _)| p.plan.access == model::Access::Buffered)
            .filter_map(|(p, _)| median_of(&p.plan.name))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let (id, median) = slowest.ok_or(MIX)?;
        exclude(median < target_us as f64 * 1e3)?;
        let seen = model::Evidence::measurement("median read latency beside writes, ns", median, id);
        Ok(Match::observed([d.disk.evidence(names::WBT_LAT_USEC), seen]).at_most(Confidence::Probable))
    }))
}
