//! Loop, device mapper, software RAID.

use super::{Case, Check, first_case};
use crate::fact_names as names;
use crate::machine;
use crate::stack_view::Facts;
use model::{Confidence, Evidence, LayerKind, Run};

/// A loop device that reads and writes its file through the page cache.
pub fn loop_double_cache(run: &Run) -> Check {
    first_case(
        run.target
            .stack
            .all(LayerKind::Loop)
            .map(|l| Ok((!l.need_bool(names::DIO)?).then(|| Case::seen([l.evidence(names::DIO)])))),
    )
}

/// Encryption that hands every request to work queues. Whether the flags are set is only in the mapping's table, which
/// sysfs does not show; so the finding stays a hint until a processor is seen busy in the kernel.
pub fn dm_crypt_queues(run: &Run) -> Check {
    first_case(run.target.stack.all(LayerKind::Dm).map(|dm| {
        if !dm.need_text(names::DM_TYPE)?.starts_with("crypt") {
            return Ok(None);
        }
        let kernel = ["seq-read", "seq-write"]
            .into_iter()
            .filter_map(|name| machine::standing(run, name))
            .filter_map(|(p, _)| machine::cpus_during(run, p).map(|c| (&p.plan.name, c.kernel_processors)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let mut evidence = vec![dm.evidence(names::DM_TYPE), Evidence::absence("work queue flags", "dmsetup table")];
        let busy = kernel.is_some_and(|(_, k)| k >= 0.5);
        evidence.extend(
            kernel.map(|(name, k)| {
                Evidence::measurement("processors busy in the kernel", k, format!("{name} /proc/stat"))
            }),
        );
        Ok(Some(Case::seen(evidence).at_most(if busy { Confidence::Probable } else { Confidence::Low })))
    }))
}

/// An array that rebuilds or checks itself while it is measured.
pub fn raid_resync(run: &Run) -> Check {
    first_case(run.target.stack.all(LayerKind::Md).map(|md| {
        let action = match md.need_text(names::SYNC_ACTION) {
            Ok(action) => action,
            // raid0 and linear have nothing to synchronise and no such file.
            Err(_) if md.int(names::DEGRADED).is_none() => return Ok(None),
            Err(missing) => return Err(missing),
        };
        Ok((!matches!(action, "idle" | "frozen"))
            .then(|| Case::seen([md.evidence(names::SYNC_ACTION), md.evidence(names::DEGRADED)])))
    }))
}
