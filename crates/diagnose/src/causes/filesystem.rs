//! What the file system or its mount adds to each request: a process of its own, a wait for the device.

use super::{Cause, CauseNature, probes};
use crate::machine;
use crate::stack_view::Facts;
use model::facts as names;
use model::{Confidence, Evidence, LayerKind, LimitLayer, PhaseRun, Run, Step};

/// Processor time beside our own from which the file system's process was seen at work, in processors.
const AT_WORK: f64 = 0.3;
/// Its share of the time from which what it does is most of what a request waits for.
const BUSIEST: f64 = 0.7;

/// The type of a file system in user mode (FUSE): `fuseblk`, `fuse.sshfs`.
pub(super) fn user_mode(run: &Run) -> Option<&str> {
    run.target.stack.mount.as_ref().map(|m| m.fstype.as_str()).filter(|t| t.starts_with("fuse"))
}

/// Whether the mount makes every write wait for the device.
pub(super) fn waits_for_each_write(run: &Run) -> bool {
    run.target.stack.first(LayerKind::Filesystem).is_some_and(|fs| fs.bool(names::SYNC_MOUNT) == Some(true))
}

/// Memory that the control groups of this process leave it, where that is less than what the run writes.
pub(super) fn little_memory(run: &Run) -> Option<(f64, Evidence)> {
    let host = run.target.stack.first(LayerKind::Host)?;
    let bytes = host.need_number(names::CGROUP_MEMORY_BYTES).ok().filter(|b| *b > 0.0)?;
    (bytes < run.plan.size.bytes as f64).then(|| (bytes, host.evidence(names::CGROUP_MEMORY_BYTES)))
}

/// Processors that others used during a phase, and how busy the busiest one was.
fn beside_ours(run: &Run, phase: &PhaseRun) -> Option<(f64, f64)> {
    let record = phase.record.as_ref()?;
    let cpus = machine::cpus_during(run, phase)?;
    let own = (record.usage.user_ns + record.usage.system_ns) as f64 / record.duration_ns().max(1) as f64;
    Some(((cpus.all - own).max(0.0), cpus.full()))
}

/// A file system in user mode: each request goes through its process, whatever the kernel could do.
pub fn in_user_mode(run: &Run) -> Option<Cause> {
    let fstype = user_mode(run)?;
    let (probe, others, busiest) = probes::all(run)
        .into_iter()
        .map(|p| {
            let (others, busiest) = beside_ours(run, p.phase).unwrap_or_default();
            (p, others, busiest)
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let name = probe.name();
    let at_work = others >= AT_WORK && busiest >= BUSIEST;
    let seen = if at_work {
        format!(": during {name} {others:.1} processors were busy beside this program")
    } else {
        ", through whose process each request goes".to_owned()
    };
    Some(
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Setting,
            format!("a file system in user mode ({fstype}){seen}"),
        )
        .with_confidence(if at_work { Confidence::Probable } else { Confidence::Low })
        .with_evidence([
            Evidence::fact("type of the file system", fstype, "mount"),
            Evidence::measured("processors busy beside our own time", others, format!("{name} /proc/stat, getrusage")),
        ])
        .decided_by("the same check on a file system of the kernel (ntfs3, exfat, ext4) on the same device")
        .step(Step::KernelFilesystem, None),
    )
}
