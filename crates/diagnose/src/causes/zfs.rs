//! What ZFS adds to the work on a dataset, by its kstats: a commit of the intent log for each write, whole records for small writes.

use super::probes;
use super::smb::grew;
use super::{Cause, CauseKind, CauseNature};
use crate::stack_view::Facts;
use crate::{machine, phrase};
use model::facts as names;
use model::path_counter as counters;
use model::{Confidence, Direction, Evidence, Layer, LayerKind, LimitLayer, Run, Step, Sync};

/// Commits for this share of writes that nobody asked to be synced: sync=always.
const EACH_WRITE: f64 = 0.9;
/// Fewer writes say nothing.
const LEAST_WRITES: u64 = 16;
/// A record this many times a write makes each write read and write a whole record.
const LARGER: f64 = 4.0;

/// The dataset that the target lies on.
pub(crate) fn dataset(run: &Run) -> Option<&Layer> {
    let fs = run.target.stack.first(LayerKind::Filesystem)?;
    (fs.text(names::FSTYPE) == Some("zfs")).then_some(fs)
}

pub(super) fn causes(run: &Run) -> Vec<Cause> {
    let Some(fs) = dataset(run) else { return Vec::new() };
    sync_always(run).into_iter().chain(records_larger(run, fs)).collect()
}

/// Writes that nobody asked to be synced are committed one by one.
pub(crate) fn sync_always(run: &Run) -> Option<Cause> {
    dataset(run)?;
    let committed = |p: &probes::Probe<'_>| {
        let plain = p.writes() && p.phase.plan.streams.iter().all(|s| s.durability.sync == Sync::None);
        let samples = run.samples_of(p.phase);
        let writes = grew(samples, counters::ZFS_WRITES).filter(|n| plain && *n >= LEAST_WRITES)?;
        let share = grew(samples, counters::ZIL_COMMITS)? as f64 / writes as f64;
        (share >= EACH_WRITE).then_some(share)
    };
    let (probe, share) = probes::all(run).into_iter().find_map(|p| Some((p, committed(&p)?)))?;
    Some(
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Setting,
            format!("ZFS commits its intent log for each write ({share:.1} a write in {}), which nobody asked for: sync=always", probe.name()),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("ZFS commits each write (sync=always)")
        .with_evidence([Evidence::measured("commits a write", share, format!("{} /proc/spl/kstat/zfs zil_commit_count", probe.name()))])
        .decided_by("zfs get sync on the dataset; the same writes with sync=standard")
        .step(Step::StandardSync, None)
        .speedup_without(Some(2.0)),
    )
}

/// Small random writes into large records.
pub(crate) fn records_larger(run: &Run, fs: &Layer) -> Option<Cause> {
    let record = fs.int(names::BLOCK_SIZE_BYTES).filter(|n| *n > 0)? as f64;
    let small = probes::depths(run, Direction::Write).into_iter().rfind(|p| record >= LARGER * p.block)?;
    let best = probes::fastest(run, Direction::Write)?;
    // Where small writes are as fast in bytes, whole records cost nothing that could be seen.
    let ratio = best.bytes_per_s / small.bytes_per_s;
    (ratio >= LARGER).then(|| {
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Setting,
            format!(
                "records of {} for writes of {}: each small write reads and writes a whole record ({} in {}, {} sequential)",
                phrase::bytes(record as u64),
                phrase::bytes(small.block as u64),
                phrase::rate(small.bytes_per_s),
                small.name(),
                phrase::rate(best.bytes_per_s)
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("records that are larger than the writes")
        .with_confidence(Confidence::Low)
        .with_evidence([
            fs.evidence(names::BLOCK_SIZE_BYTES),
            Evidence::measured("rate of small writes, bytes per second", small.bytes_per_s, machine::throughput_id(small.name())),
        ])
        .decided_by("the same writes in a file of a dataset with recordsize=16K")
        .step(Step::SmallerRecords, Some((record / small.block).min(ratio)))
    })
}
