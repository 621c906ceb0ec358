//! NFS mounts: their options, and what their client counts.

use super::paths::case_of;
use super::{Decision, Match, first_case};
use crate::causes::{Cause, nfs, nfs_slots, nfs_sync};
use crate::stack_view::{Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Fact, Layer, LayerKind, Run, Work};

/// Whether a layer is a mount of NFS.
fn is_nfs(fs: &Layer) -> Result<bool, Missing> {
    Ok(matches!(fs.need_text(names::FSTYPE)?, "nfs" | "nfs4"))
}

/// A condition of any mount of NFS on the path.
fn any_mount(on: &Subject<'_>, condition: impl Fn(&Layer) -> Decision) -> Decision {
    first_case(on.stack.all(LayerKind::Filesystem).map(|fs| if is_nfs(fs)? { condition(fs) } else { Ok(None) }))
}

/// What a run shows of a mount; unknown where nothing was measured that could.
fn measured(
    on: &Subject<'_>,
    needed: &[Work],
    cause: impl for<'r> Fn(&'r Run, &'r Layer) -> Option<Cause>,
) -> Decision {
    any_mount(on, |_| {
        let seen = on.measured(|run| Some((run, nfs::mount(run)?)));
        if let Some(cause) = seen.and_then(|(run, fs)| cause(run, fs)) {
            return case_of(on, cause);
        }
        match needed.iter().find(|work| on.rate(**work).is_none()) {
            Some(work) => Err(Missing(work.throughput())),
            None => Ok(None),
        }
    })
}

/// Segments that did not arrive.
pub fn packets_lost(on: &Subject<'_>) -> Decision {
    any_mount(on, |_| match on.measured(nfs::packets_lost) {
        Some(cause) => case_of(on, cause),
        None if on.samples().iter().any(|s| s.tcp_segments_late.is_some()) => Ok(None),
        None => Err(Missing("segments sent again")),
    })
}

/// noac, actimeo=0.
pub fn attributes_uncached(on: &Subject<'_>) -> Decision {
    any_mount(on, |fs| {
        Ok((!fs.need_bool(names::ATTRIBUTES_CACHED)?)
            .then(|| Match::observed([fs.evidence(names::ATTRIBUTES_CACHED), fs.evidence(names::MOUNT_OPTIONS)])))
    })
}

/// rsize or wsize below what servers offer.
pub fn small_transfers(on: &Subject<'_>) -> Decision {
    any_mount(on, |fs| {
        let small = [names::NFS_READ_BYTES, names::NFS_WRITE_BYTES].map(|name| {
            let size = fs.need_int(name)?;
            Ok((size < nfs::SMALL_TRANSFER_BYTES).then(|| fs.evidence(name)))
        });
        let [read, write] = small;
        let evidence: Vec<_> = [read?, write?].into_iter().flatten().collect();
        Ok((!evidence.is_empty()).then(|| Match::observed(evidence).at_most(Confidence::Probable)))
    })
}

/// Small calls wait for a slot.
pub fn client_slots(on: &Subject<'_>) -> Decision {
    measured(on, &[Work::QueuedRead], nfs_slots::slots)
}

/// Each sync waits for the server's disk.
pub fn commit_each_sync(on: &Subject<'_>) -> Decision {
    measured(on, &[Work::RandomRead, Work::DurableWrite], |run, _| nfs_sync::commit_for_each_sync(run))
}

/// A window that is less than a round trip carries.
pub fn read_ahead_small(on: &Subject<'_>) -> Decision {
    measured(on, &[Work::BufferedRead, Work::SequentialRead], nfs::read_ahead)
}

/// Errors in the place of waiting, where something is written.
pub fn soft_mount(on: &Subject<'_>) -> Decision {
    any_mount(on, |fs| {
        let soft = fs.need_bool(names::SOFT_MOUNT)? && fs.fact(names::READ_ONLY) != Some(&Fact::Bool(true));
        Ok(soft.then(|| Match::observed([fs.evidence(names::SOFT_MOUNT), fs.evidence(names::MOUNT_OPTIONS)])))
    })
}
