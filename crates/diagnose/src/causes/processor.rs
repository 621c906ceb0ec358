//! A processor or memory that is full while direct I/O runs.

use super::{Cause, Standing, generator};
use crate::fact_names as names;
use crate::{machine, phrase};
use model::{Confidence, Evidence, LayerKind, LimitLayer, Run};

/// A processor this busy is full.
const FULL: f64 = 0.9;
/// Busy like this before the phase: the load is somebody else's.
const OTHERS_BUSY: f64 = 0.5;
/// Storage that moves this share of what memory copies is moved by memory: each byte is copied once at least.
const MEMORY_SHARE: f64 = 0.6;

/// A full processor during a direct phase, by the kind of its time.
pub fn saturated(run: &Run) -> Option<Cause> {
    if generator::own_processor(run).is_some() {
        return None;
    }
    const PHASES: [&str; 4] = ["seq-read", "seq-write", "rand-read-qd32", "rand-write-qd32"];
    let (phase, record, cpus) = PHASES
        .into_iter()
        .filter_map(|name| machine::standing(run, name))
        .filter_map(|(p, r)| machine::cpus_during(run, p).map(|c| (p, r, c)))
        .max_by(|a, b| a.2.share.busy().total_cmp(&b.2.share.busy()))
        .filter(|(_, _, c)| c.share.busy() >= FULL)?;
    let name = &phase.plan.name;
    let share = cpus.share;
    let kind = if share.irq >= share.system && share.irq >= share.user {
        "in interrupts"
    } else if share.system >= share.user {
        "in the kernel"
    } else {
        "in user mode"
    };
    let crypt = run.target.stack.layers.iter().find(|l| l.text(names::DM_TYPE).is_some_and(|t| t.starts_with("crypt")));
    let layer = if crypt.is_some() { LimitLayer::Stacking } else { LimitLayer::Cpu };
    let through = crypt.map_or(String::new(), |l| format!(" with encryption ({}) in the path", l.name));
    let before = machine::busy_before(run, record);
    let others = before.is_some_and(|b| b >= OTHERS_BUSY);
    let confidence = if others || before.is_none() { Confidence::Low } else { Confidence::Probable };
    let caveat = if others { ", but it was busy before the phase as well" } else { "" };
    let before_evidence = match before {
        Some(b) => Evidence::measurement(
            "busiest processor before the phase",
            phrase::rounded(b),
            format!("{name} quiet window"),
        ),
        None => Evidence::absence("processors before the phase", format!("{name} quiet window")),
    };
    Some(
        Cause::new(
            layer,
            Standing::Path,
            format!(
                "processor {} is {} busy, mostly {kind}, during {name}{through}{caveat}",
                cpus.busiest,
                phrase::percent(share.busy())
            ),
        )
        .sure(confidence)
        .because([
            Evidence::measurement(
                "busy share",
                phrase::rounded(share.busy()),
                format!("{name} /proc/stat cpu{}", cpus.busiest),
            ),
            Evidence::measurement("system", phrase::rounded(share.system), format!("{name} /proc/stat")),
            Evidence::measurement("interrupts", phrase::rounded(share.irq), format!("{name} /proc/stat")),
            Evidence::measurement("user", phrase::rounded(share.user), format!("{name} /proc/stat")),
            before_evidence,
        ])
        .decided_by("the same phase at a lower pinned frequency: a rate that falls with it is bound by the processor")
        .step(
            "spread the work over more processors (queues, interrupts) or lower the cost per byte",
            None,
            "no ceiling beyond the processor was measured",
        ),
    )
}

/// A path that moves what memory moves: through the page cache, or storage that itself lies in memory (tmpfs, zram, a
/// cached file behind a loop). A device that is reached directly copies nothing, so a copy says nothing about it.
pub fn memory(run: &Run) -> Option<Cause> {
    let copy = machine::throughput(run, "copy")?;
    let stack = &run.target.stack;
    let in_memory = stack.mount.as_ref().is_some_and(|m| matches!(m.fstype.as_str(), "tmpfs" | "ramfs"))
        || stack.first(LayerKind::Zram).is_some()
        || stack.first(LayerKind::Loop).is_some();
    let direct: &[&str] = if in_memory { &["seq-read", "seq-write"] } else { &[] };
    let (phase, rate) = ["buffered-write", "buffered-read"]
        .iter()
        .chain(direct)
        .copied()
        .filter_map(|p| machine::throughput(run, p).map(|v| (p, v)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    if rate / copy < MEMORY_SHARE || run.target.stack.first(LayerKind::Sim).is_some() {
        return None;
    }
    Some(
        Cause::new(
            LimitLayer::Memory,
            Standing::Path,
            format!(
                "memory: {phase} moves {}, {} of what a copy in memory moves",
                phrase::rate(rate),
                phrase::percent(rate / copy)
            ),
        )
        .because([
            Evidence::measurement("rate, bytes per second", phrase::rounded(rate), machine::throughput_id(phase)),
            Evidence::measurement(
                "memory copy, bytes per second",
                phrase::rounded(copy),
                machine::throughput_id("copy"),
            ),
        ])
        .decided_by("the same phase while another thread copies memory: a lower rate means memory is shared")
        .step(
            "avoid a copy (direct I/O, mapped files)",
            Some(copy / rate),
            "memory copy rate over the rate of the phase",
        ),
    )
}
