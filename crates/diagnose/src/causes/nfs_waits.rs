//! What the calls of one phase waited for, whatever it asks: the client counts it without a second phase to compare with.

use super::nfs_calls::{MOUNT_STATS, during};
use super::server_calls::call_time;
use super::{Cause, CauseKind, CauseNature};
use model::{Confidence, LimitLayer, NfsCounters, PhaseRun, Run, ServerCalls};

/// Of the time of a call, this share is most of it.
const MOST: f64 = 0.5;

/// The operation on which the calls of a phase spent the most time, with its means.
pub(crate) fn calls(run: &Run, phase: &PhaseRun) -> Option<ServerCalls> {
    let last = run.samples_of(phase).iter().rev().find(|s| !s.nfs.is_empty())?;
    let counted = last.nfs.iter().filter_map(|operation| during(run, phase, &operation.name));
    let most: NfsCounters = counted.max_by_key(|counted| counted.execute_ms)?;
    let each = |total: u64| total as f64 / most.operations as f64;
    Some(ServerCalls {
        queue_ms: each(most.queue_ms),
        server_ms: each(most.rtt_ms),
        whole_ms: each(most.execute_ms),
        operation: most.name,
    })
}

/// Where most of the time of its calls went. Only a hint: what would be faster without it was not measured.
pub(crate) fn waited(run: &Run, phase: &PhaseRun) -> Option<Cause> {
    let ServerCalls { operation, queue_ms, server_ms, whole_ms } = calls(run, phase)?;
    let own_ms = (whole_ms - queue_ms - server_ms).max(0.0);
    let (layer, what, most) = [
        (LimitLayer::Link, "network and server", server_ms),
        (LimitLayer::Driver, "waiting to be sent (the client's slots, or a full connection)", queue_ms),
        (LimitLayer::Cpu, "the client itself", own_ms),
    ]
    .into_iter()
    .find(|(_, _, ms)| *ms > 0.0 && *ms >= MOST * whole_ms)?;
    let source = format!("{} {MOUNT_STATS}", phase.plan.name);
    Some(
        Cause::new(
            layer,
            CauseNature::Path,
            format!("{most:.1} ms of each {operation} of {whole_ms:.1} ms are {what}"),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_confidence(Confidence::Low)
        .with_evidence(call_time([queue_ms, server_ms, whole_ms], &source))
        .decided_by("the same work from another client of that server, at the same time (--group) and alone"),
    )
}
