//! File systems and their mounts.

use super::{Decision, Match, NoCase::DoesNotHold, exclude, first_case, require};
use crate::causes::compared;
use crate::stack_view::{Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, DirectProof, Direction, Evidence, Fact, LayerKind, Work};

/// btrfs with data checksums and direct writes that fell back. Kernels from 6.14 or 6.15 on do so for every inode with
/// checksums (968f19c5b1b7, also in stable kernels), so what the engine recorded decides, not the version.
pub fn btrfs_direct_fallback(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Filesystem).map(|fs| {
        require(fs.need_text(names::FSTYPE)? == "btrfs" && fs.need_bool(names::CHECKSUMS)?)?;
        let proof = on.executed().find_map(|(p, r)| r.direct.as_ref().map(|d| (&p.plan.name, d)));
        let (phase, proof) = proof.ok_or(Missing("direct I/O proof"))?;
        let facts = [fs.evidence(names::FSTYPE), fs.evidence(names::CHECKSUMS)];
        match proof {
            DirectProof::Fallback(basis) => {
                let seen = Evidence::fact("direct I/O", basis.as_str(), format!("{phase} direct proof"));
                Ok(Match::observed(facts.into_iter().chain([seen])))
            }
            DirectProof::Proven(_) | DirectProof::NoDevice(_) => Err(DoesNotHold),
            DirectProof::Unproven(_) => Err(Missing("direct I/O proof").into()),
        }
    }))
}

/// NTFS through FUSE (ntfs-3g mounts as `fuseblk`).
pub fn ntfs_fuse(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Filesystem).map(|fs| {
        let fstype = fs.need_text(names::FSTYPE)?;
        require(matches!(fstype, "fuseblk" | "fuse.ntfs-3g" | "fuse.ntfs"))?;
        // exFAT and others may also mount as fuseblk.
        let sure = if fstype == "fuseblk" { Confidence::Low } else { Confidence::Probable };
        Ok(Match::observed([fs.evidence(names::FSTYPE), fs.evidence(names::MOUNT_SOURCE)]).at_most(sure))
    }))
}

/// Mounted with `sync`: every write waits for the device. With `dirsync`, every change of a directory does.
pub fn sync_mount(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Filesystem).map(|fs| {
        let directories =
            matches!(fs.fact(names::MOUNT_OPTIONS), Some(Fact::List(o)) if o.iter().any(|o| o == "dirsync"));
        if directories && fs.bool(names::SYNC_MOUNT) != Some(true) {
            return Ok(Match::observed([fs.evidence(names::MOUNT_OPTIONS)]));
        }
        // noac brings sync with it, and has a page of its own.
        exclude(fs.bool(names::ATTRIBUTES_CACHED) == Some(false))?;
        require(fs.need_bool(names::SYNC_MOUNT)?)?;
        let ratio = on.measured(|run| compared::direct_over_buffered(run, Direction::Write));
        Ok(Match::observed([fs.evidence(names::SYNC_MOUNT)]).gain(
            &on.rate_id(Work::BufferedWrite),
            ratio,
            "direct over buffered write of this run",
        ))
    }))
}

/// The kernel still initialises the inode tables of a fresh ext4.
pub fn ext4_lazy_init(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Filesystem).map(|fs| {
        require(fs.need_text(names::FSTYPE)? == "ext4")?;
        // The thread serves every ext4 of the machine, so it may be at work on another one.
        require(fs.need_bool(names::LAZY_INIT_RUNNING)?)?;
        Ok(Match::observed([fs.evidence(names::LAZY_INIT_RUNNING)]).at_most(Confidence::Probable))
    }))
}
