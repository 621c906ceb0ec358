//! fio's `disk_util`: what the kernel counted for each block device below the target while the jobs ran.

use super::pairs::decimal;
use crate::job::ExecutedJob;
use model::{DiskCounters, Ns, Run};
use serde::Serialize;

/// One device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DiskUtil<'a> {
    name: &'a str,
    read_ios: u64,
    write_ios: u64,
    read_sectors: u64,
    write_sectors: u64,
    read_merges: u64,
    write_merges: u64,
    read_ticks: u64,
    write_ticks: u64,
    in_queue: u64,
    util: f64,
}

/// From the last sample before the first job to the first one after the last. A device whose counters ran backwards, or
/// that came or went, is left out.
pub(crate) fn of<'a>(run: &'a Run, jobs: &[&ExecutedJob]) -> Vec<DiskUtil<'a>> {
    let (Some(first), Some(last)) = (jobs.first(), jobs.last()) else { return Vec::new() };
    let (Some(before), Some(after)) = (run.samples_of(first.phase).first(), run.samples_of(last.phase).last()) else {
        return Vec::new();
    };
    let Some(elapsed) = after.at_ns.checked_sub(before.at_ns).filter(|e| *e > 0) else { return Vec::new() };
    let device = |b: &'a DiskCounters| between(b, after.disks.iter().find(|a| a.name == b.name)?, elapsed);
    before.disks.iter().filter_map(device).collect()
}

fn between<'a>(before: &'a DiskCounters, after: &DiskCounters, elapsed: Ns) -> Option<DiskUtil<'a>> {
    let busy_ms = after.busy_ms.checked_sub(before.busy_ms)?;
    Some(DiskUtil {
        name: &before.name,
        read_ios: after.reads.checked_sub(before.reads)?,
        write_ios: after.writes.checked_sub(before.writes)?,
        read_sectors: after.sectors_read.checked_sub(before.sectors_read)?,
        write_sectors: after.sectors_written.checked_sub(before.sectors_written)?,
        read_merges: after.reads_merged.checked_sub(before.reads_merged)?,
        write_merges: after.writes_merged.checked_sub(before.writes_merged)?,
        read_ticks: after.read_ms.checked_sub(before.read_ms)?,
        write_ticks: after.write_ms.checked_sub(before.write_ms)?,
        in_queue: after.weighted_ms.checked_sub(before.weighted_ms)?,
        util: decimal((busy_ms as f64 * 1e8 / elapsed as f64).min(100.0)),
    })
}
