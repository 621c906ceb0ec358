//! A processor or memory that is full while direct I/O runs.

use super::compared::{FULL, OTHERS_BUSY};
use super::probes;
use super::{Cause, CauseKind, CauseNature, Trial, generator};
use crate::guard::exclude;
use crate::stack_view::Facts;
use crate::{machine, phrase};
use model::facts as names;
use model::{Access, Confidence, Evidence, Fact, LayerKind, LimitLayer, PhaseRecord, Run, Step, Work};

/// Storage that moves this share of what memory copies is moved by memory: each byte is copied once at least.
const MEMORY_SHARE: f64 = 0.6;

/// A processor that is nearly full of interrupts: of all interrupts so many arrive at it.
const ON_ONE: f64 = 0.8;
/// A quota that is used to this share is met: what is left is the grain of its periods.
const QUOTA_MET: f64 = 0.85;
/// Where some phase of the run met it (the memory copy computes all the time), this share is enough for the others: what
/// io_uring's own threads use of it is not in our account.
const QUOTA_NEARLY_MET: f64 = 0.6;

/// A full processor during a direct phase, by the kind of its time.
pub fn saturated(run: &Run) -> Option<Cause> {
    exclude(generator::own_processor(run).is_some())?;
    let (probe, cpus) = probes::all(run)
        .into_iter()
        .filter(|p| p.direct)
        .filter_map(|p| machine::cpus_during(run, p.phase).map(|c| (p, c)))
        .max_by(|a, b| a.1.full().total_cmp(&b.1.full()))
        .filter(|(_, c)| c.full() >= FULL)?;
    let name = probe.name();
    let share = cpus.share;
    let in_interrupts = share.irq >= share.system && share.irq >= share.user;
    let kind = if in_interrupts {
        "in interrupts"
    } else if share.system >= share.user {
        "in the kernel"
    } else {
        "in user mode"
    };
    let stack = &run.target.stack;
    let crypt = stack.layers.iter().find(|l| l.text(names::DM_TYPE).is_some_and(|t| t.starts_with("crypt")));
    // A file system in user mode spends the time of its own process, not ours.
    let fuse = stack.mount.as_ref().is_some_and(|m| m.fstype.starts_with("fuse")) && share.user > share.system;
    let (layer, through) = match crypt {
        Some(l) => (LimitLayer::Stacking, format!(" with encryption ({}) in the path", l.name)),
        None if fuse => (LimitLayer::Filesystem, " with a file system in user mode (FUSE) in the path".to_owned()),
        None => (LimitLayer::Cpu, String::new()),
    };
    let on_one = in_interrupts.then(|| machine::interrupts_on(run, probe.phase, cpus.busiest)).flatten();
    let on_one = on_one.filter(|s| *s >= ON_ONE);
    let arrive = on_one.map_or(String::new(), |s| format!(" (it takes {} of all interrupts)", phrase::percent(s)));
    let before = machine::busy_before(run, probe.record);
    let others = before.is_some_and(|b| b >= OTHERS_BUSY);
    let confidence = if others || before.is_none() { Confidence::Low } else { Confidence::Probable };
    let caveat = if others { ", but it was busy before the phase as well" } else { "" };
    let before_evidence = match before {
        Some(b) => Evidence::measured(
            "busy share of the busiest processor before the phase",
            b,
            format!("{name} quiet window"),
        ),
        None => Evidence::absence("processors before the phase", format!("{name} quiet window")),
    };
    let step = match on_one {
        _ if others => Step::StopOtherWork,
        Some(_) => Step::SpreadInterrupts,
        None => Step::SpreadWork,
    };
    Some(
        Cause::new(
            layer,
            CauseNature::Path,
            format!(
                "processor {} is {} busy, mostly {kind}{arrive}, during {name}{through}{caveat}",
                cpus.busiest,
                phrase::percent(share.busy())
            ),
        )
        .of_kind(if crypt.is_some() { CauseKind::Encryption } else { CauseKind::OfItsLayer })
        .with_confidence(confidence)
        .with_evidence([
            Evidence::measured("busy share", share.busy(), format!("{name} /proc/stat cpu{}", cpus.busiest)),
            Evidence::measured("system share", share.system, format!("{name} /proc/stat")),
            Evidence::measured("interrupt share", share.irq, format!("{name} /proc/stat")),
            Evidence::measured("user share", share.user, format!("{name} /proc/stat")),
            before_evidence,
        ])
        .with_evidence(
            on_one.map(|s| Evidence::measured("share of all interrupts", s, format!("{name} /proc/interrupts"))),
        )
        .decided_by("the same phase at a lower pinned frequency: a rate that falls with it is bound by the processor")
        .tried_by(Trial::Sizes)
        .step(step, None),
    )
}

/// A quota of processor time that the control groups of this process set, and that a phase used up.
pub fn quota(run: &Run) -> Option<Cause> {
    let host = run.target.stack.first(LayerKind::Host)?;
    let granted = host.need_number(names::CGROUP_CPU_PROCESSORS).ok().filter(|g| *g > 0.0)?;
    let used_of = |record: &PhaseRecord| {
        (record.usage.user_ns + record.usage.system_ns) as f64 / record.duration_ns().max(1) as f64
    };
    let met = run.phases.iter().filter_map(|p| p.record.as_ref()).any(|r| used_of(r) >= granted * QUOTA_MET);
    let enough = if met { QUOTA_NEARLY_MET } else { QUOTA_MET };
    let (probe, used) = probes::with_other_io(run)
        .into_iter()
        .map(|p| (p, used_of(p.record)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, used)| *used >= granted * enough)?;
    let name = probe.name();
    Some(
        Cause::new(
            LimitLayer::Cpu,
            CauseNature::Distortion,
            format!(
                "the processor quota of this control group: {} of a processor are granted, and {name} uses {}",
                phrase::percent(granted),
                phrase::percent(used)
            ),
        )
        .with_evidence([
            host.evidence(names::CGROUP_CPU_PROCESSORS),
            Evidence::measured("own CPU time over wall time", used, format!("{name} getrusage")),
        ])
        .decided_by("the same phase outside of the control group, or with a larger quota, alternating")
        .step(Step::RaiseQuota, None),
    )
}

/// A path that moves what memory moves: through the page cache, or storage that itself lies in memory (tmpfs, zram, a
/// cached file behind a loop). A device that is reached directly copies nothing, so a copy says nothing about it.
pub fn memory(run: &Run) -> Option<Cause> {
    let copy = machine::rate(run, Work::MemoryCopy)?;
    // Under a quota of processor time the copy says what the quota lets pass, not what memory moves.
    let quota = run.target.stack.first(LayerKind::Host).and_then(|h| h.need_number(names::CGROUP_CPU_PROCESSORS).ok());
    exclude(quota.is_some_and(|processors| processors < 1.0))?;
    let stack = &run.target.stack;
    let cached_loop = stack.all(LayerKind::Loop).any(|l| l.fact(names::DIO) != Some(&Fact::Bool(true)));
    let in_memory = stack.mount.as_ref().is_some_and(|m| matches!(m.fstype.as_str(), "tmpfs" | "ramfs"))
        || stack.first(LayerKind::Zram).is_some()
        || cached_loop;
    let nothing_below = in_memory && stack.layers.iter().all(|l| l.device.is_none());
    let asked_buffered = |p: &probes::Probe<'_>| p.phase.plan.streams.iter().all(|s| s.path.access == Access::Buffered);
    // What was over at once shows caches and bursts.
    let at_once = |p: &probes::Probe<'_>| p.phase.reasons.iter().any(|r| r.is("short-phase"));
    let best = probes::all(run)
        .into_iter()
        .filter(|p| !p.random && !at_once(p) && (asked_buffered(p) || (in_memory && p.direct)))
        .max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))?;
    let phase = best.name();
    let rate = best.bytes_per_s;
    exclude((rate / copy < MEMORY_SHARE && !nothing_below) || run.target.stack.first(LayerKind::Sim).is_some())?;
    let below = if nothing_below { "there is no device below this file system: " } else { "" };
    let cause = Cause::new(
        LimitLayer::Memory,
        CauseNature::Path,
        format!(
            "memory: {below}{phase} moves {}, {} of what a copy in memory moves",
            phrase::rate(rate),
            phrase::percent(rate / copy)
        ),
    )
    .with_evidence([
        Evidence::measured("rate, bytes per second", rate, machine::throughput_id(phase)),
        Evidence::measured("memory copy, bytes per second", copy, machine::rate_id(run, Work::MemoryCopy)),
    ])
    .decided_by("the same phase while another thread copies memory: a lower rate means memory is shared");
    Some(match best.direct {
        false => cause.step(Step::AvoidCopy, Some(copy / rate)),
        true if cached_loop => cause.step(Step::LoopDirect, None),
        true => cause,
    })
}
