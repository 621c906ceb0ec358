//! Loop, device mapper, software RAID.

use super::{Decision, Match, NoCase::DoesNotHold, exclude, first_case, require};
use crate::machine;
use crate::stack_view::Facts;
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Evidence, LayerKind, Work};

/// A loop device that reads and writes its file through the page cache.
pub fn loop_double_cache(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Loop).map(|l| {
        exclude(l.need_bool(names::DIO)?)?;
        Ok(Match::observed([l.evidence(names::DIO)]))
    }))
}

/// Encryption that hands every request to work queues. Whether the flags are set is only in the mapping's table, which
/// sysfs does not show; so the finding stays a hint until a processor is seen busy in the kernel.
pub fn dm_crypt_queues(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Dm).map(|dm| {
        require(dm.need_text(names::DM_TYPE)?.starts_with("crypt"))?;
        let kernel = [Work::SequentialRead, Work::SequentialWrite]
            .into_iter()
            .filter_map(|work| on.measured(|run| machine::phase_of_work(run, work)))
            .filter_map(|(p, _)| {
                on.measured(|run| machine::cpus_during(run, p)).map(|c| (&p.plan.name, c.kernel_processors))
            })
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let mut evidence = vec![dm.evidence(names::DM_TYPE), Evidence::absence("work queue flags", "dmsetup table")];
        let busy = kernel.is_some_and(|(_, k)| k >= 0.5);
        evidence.extend(
            kernel.map(|(name, k)| {
                Evidence::measurement("processors busy in the kernel", k, format!("{name} /proc/stat"))
            }),
        );
        Ok(Match::observed(evidence).at_most(if busy { Confidence::Probable } else { Confidence::Low }))
    }))
}

/// An array that rebuilds or checks itself while it is measured.
pub fn raid_resync(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Md).map(|md| {
        let action = match md.need_text(names::SYNC_ACTION) {
            Ok(action) => action,
            // raid0 and linear have nothing to synchronise and no such file.
            Err(_) if md.int(names::DEGRADED).is_none() => return Err(DoesNotHold),
            Err(missing) => return Err(missing.into()),
        };
        exclude(matches!(action, "idle" | "frozen"))?;
        Ok(Match::observed([md.evidence(names::SYNC_ACTION), md.evidence(names::DEGRADED)]))
    }))
}

/// An array that lacks a member.
pub fn raid_degraded(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Md).map(|md| {
        // raid0 and linear cannot be degraded and have no such file.
        let missing = match md.need_int(names::DEGRADED) {
            Ok(missing) => missing,
            Err(_) if matches!(md.text(names::MD_LEVEL), Some("raid0" | "linear")) => return Err(DoesNotHold),
            Err(missing) => return Err(missing.into()),
        };
        require(missing > 0)?;
        Ok(Match::observed([names::DEGRADED, names::RAID_DISKS, names::MD_LEVEL].map(|name| md.evidence(name))))
    }))
}

/// Parity RAID with the stripe cache of the days of spinning disks.
pub fn raid5_stripe_cache(on: &Subject<'_>) -> Decision {
    /// Documentation/admin-guide/md.rst.
    const DEFAULT: i64 = 256;
    first_case(on.stack.all(LayerKind::Md).map(|md| {
        require(matches!(md.need_text(names::MD_LEVEL)?, "raid4" | "raid5" | "raid6"))?;
        exclude(md.need_int(names::STRIPE_CACHE_SIZE)? > DEFAULT)?;
        let evidence = [md.evidence(names::MD_LEVEL), md.evidence(names::STRIPE_CACHE_SIZE)];
        Ok(Match::observed(evidence).at_most(Confidence::Low))
    }))
}

/// dm-integrity, which journals all data unless told otherwise. The mode is only in the mapping's table.
pub fn integrity_journal(on: &Subject<'_>) -> Decision {
    first_case(on.stack.all(LayerKind::Dm).map(|dm| {
        require(dm.need_text(names::DM_TYPE)? == "integrity")?;
        let mode = Evidence::absence("mode (J journal, B bitmap, D direct)", "dmsetup table");
        Ok(Match::observed([dm.evidence(names::DM_TYPE), mode]).at_most(Confidence::Probable))
    }))
}

/// A limit that a control group of this process sets on a device of the path.
pub fn cgroup_limit(on: &Subject<'_>) -> Decision {
    const LIMITS: [&str; 4] = [
        names::CGROUP_READ_BYTES_PER_S,
        names::CGROUP_WRITE_BYTES_PER_S,
        names::CGROUP_READ_IOPS,
        names::CGROUP_WRITE_IOPS,
    ];
    let set = on.stack.layers.iter().flat_map(|layer| {
        LIMITS.iter().filter(move |name| layer.fact(name).is_some()).map(move |name| layer.evidence(name))
    });
    let evidence: Vec<Evidence> = set.collect();
    exclude(evidence.is_empty())?;
    Ok(Match::observed(evidence))
}
