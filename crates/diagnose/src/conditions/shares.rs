//! SMB mounts and ZFS datasets: their options, and what is counted of them.

use super::nfs::{any_mount, transfers_below};
use super::paths::case_of;
use super::{Decision, Match, NoCase::DoesNotHold, require};
use crate::causes::{Cause, smb, zfs};
use crate::stack_view::{Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Run};

const SMB: [&str; 2] = ["cifs", "smb3"];

/// What a run shows; unknown where it counted nothing that could.
fn seen(
    on: &Subject<'_>,
    types: &[&str],
    missing: &'static str,
    cause: impl for<'r> Fn(&'r Run) -> Option<Cause>,
) -> Decision {
    any_mount(on, types, |_| match on.measured(&cause) {
        Some(cause) => case_of(on, cause),
        None if on.samples().iter().any(|s| !s.path.is_empty()) => Err(DoesNotHold),
        None => Err(Missing(missing).into()),
    })
}

/// cache=none, actimeo=0.
pub fn smb_cache_off(on: &Subject<'_>) -> Decision {
    any_mount(on, &SMB, |fs| {
        require(fs.text(names::SMB_CACHE) == Some("none") || !fs.need_bool(names::ATTRIBUTES_CACHED)?)?;
        Ok(Match::observed([fs.evidence(names::SMB_CACHE), fs.evidence(names::ATTRIBUTES_CACHED)]))
    })
}

/// rsize or wsize below what servers offer.
pub fn smb_small_transfers(on: &Subject<'_>) -> Decision {
    any_mount(on, &SMB, |fs| transfers_below(fs, [names::SMB_READ_BYTES, names::SMB_WRITE_BYTES]))
}

/// One connection, where the server offers more.
pub fn smb_single_channel(on: &Subject<'_>) -> Decision {
    any_mount(on, &SMB, |fs| {
        let more = fs.need_int(names::SMB_INTERFACES)? > 1 || fs.bool(names::SMB_INTERFACE_SCALES) == Some(true);
        require(more && fs.need_int(names::SMB_CHANNELS)? == 1)?;
        let evidence = [fs.evidence(names::SMB_CHANNELS), fs.evidence(names::SMB_INTERFACES)];
        Ok(Match::observed(evidence).at_most(Confidence::Low))
    })
}

/// Signing or encryption fills a processor.
pub fn smb_signing(on: &Subject<'_>) -> Decision {
    seen(on, &SMB, "requests of the SMB client", |run| smb::signing(run, smb::mount(run)?))
}

/// Sessions that are connected anew.
pub fn smb_reconnects(on: &Subject<'_>) -> Decision {
    seen(on, &SMB, "requests of the SMB client", smb::reconnects)
}

/// Several requests one after the other for each file.
pub fn smb_small_files(on: &Subject<'_>) -> Decision {
    seen(on, &SMB, "requests of the SMB client", smb::small_files)
}

/// Each write is committed.
pub fn zfs_sync_always(on: &Subject<'_>) -> Decision {
    seen(on, &["zfs"], "commits of the intent log", zfs::sync_always)
}

/// Records larger than the writes.
pub fn zfs_large_records(on: &Subject<'_>) -> Decision {
    any_mount(on, &["zfs"], |fs| {
        fs.need_int(names::BLOCK_SIZE_BYTES)?;
        match on.measured(|run| zfs::records_larger(run, zfs::dataset(run)?)) {
            Some(cause) => case_of(on, cause),
            None if on.rate(model::Work::QueuedWrite).is_some() => Err(DoesNotHold),
            None => Err(Missing(model::Work::QueuedWrite.throughput()).into()),
        }
    })
}
