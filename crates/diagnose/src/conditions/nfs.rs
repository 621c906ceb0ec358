//! NFS mounts: their options, and what their client counts.

use super::paths::case_of;
use super::{Decision, Match, NoCase::DoesNotHold, exclude, first_case, require};
use crate::causes::{Cause, nfs, nfs_slots, nfs_sync};
use crate::stack_view::{Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Fact, Layer, LayerKind, Run, Work};

const TYPES: [&str; 2] = ["nfs", "nfs4"];

/// A condition of any mount of these types on the path.
pub(super) fn any_mount(on: &Subject<'_>, types: &[&str], condition: impl Fn(&Layer) -> Decision) -> Decision {
    first_case(on.stack.all(LayerKind::Filesystem).map(|fs| {
        require(types.contains(&fs.need_text(names::FSTYPE)?))?;
        condition(fs)
    }))
}

/// A mount whose reads or writes are cut below what servers offer, by these facts.
pub(super) fn transfers_below(fs: &Layer, sizes: [&'static str; 2]) -> Decision {
    let [read, write] = sizes.map(|name| fs.need_int(name).map(|bytes| (name, bytes)));
    let small = [read?, write?].into_iter().filter(|(_, bytes)| *bytes < nfs::SMALL_TRANSFER_BYTES);
    let evidence: Vec<_> = small.map(|(name, _)| fs.evidence(name)).collect();
    exclude(evidence.is_empty())?;
    Ok(Match::observed(evidence).at_most(Confidence::Probable))
}

/// What a run shows of a mount; unknown where nothing was measured that could.
fn measured(
    on: &Subject<'_>,
    needed: &[Work],
    cause: impl for<'r> Fn(&'r Run, &'r Layer) -> Option<Cause>,
) -> Decision {
    any_mount(on, &TYPES, |_| {
        let seen = on.measured(|run| Some((run, nfs::mount(run)?)));
        if let Some(cause) = seen.and_then(|(run, fs)| cause(run, fs)) {
            return case_of(on, cause);
        }
        match needed.iter().find(|work| on.rate(**work).is_none()) {
            Some(work) => Err(Missing(work.throughput()).into()),
            None => Err(DoesNotHold),
        }
    })
}

/// Segments that did not arrive.
pub fn packets_lost(on: &Subject<'_>) -> Decision {
    any_mount(on, &TYPES, |_| match on.measured(nfs::packets_lost) {
        Some(cause) => case_of(on, cause),
        None if on.samples().iter().any(|s| s.tcp_segments_late.is_some()) => Err(DoesNotHold),
        None => Err(Missing("segments sent again").into()),
    })
}

/// noac, actimeo=0.
pub fn attributes_uncached(on: &Subject<'_>) -> Decision {
    any_mount(on, &TYPES, |fs| {
        exclude(fs.need_bool(names::ATTRIBUTES_CACHED)?)?;
        Ok(Match::observed([fs.evidence(names::ATTRIBUTES_CACHED), fs.evidence(names::MOUNT_OPTIONS)]))
    })
}

/// rsize or wsize below what servers offer.
pub fn small_transfers(on: &Subject<'_>) -> Decision {
    any_mount(on, &TYPES, |fs| transfers_below(fs, [names::NFS_READ_BYTES, names::NFS_WRITE_BYTES]))
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
    any_mount(on, &TYPES, |fs| {
        require(fs.need_bool(names::SOFT_MOUNT)? && fs.fact(names::READ_ONLY) != Some(&Fact::Bool(true)))?;
        Ok(Match::observed([fs.evidence(names::SOFT_MOUNT), fs.evidence(names::MOUNT_OPTIONS)]))
    })
}
