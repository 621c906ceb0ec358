//! What the client of an NFS mount counted of its calls during a phase.

use super::probes::Probe;
use super::server_calls::{Calls, Counted};
use crate::machine;
use model::{NfsCounters, Ns, PhaseRecord, PhaseRun, Run, SystemSample};

pub(super) const MOUNT_STATS: &str = "/proc/self/mountstats";
/// Fewer calls say nothing.
const LEAST_CALLS: u64 = 16;

/// What was counted of an operation during a phase.
pub(super) fn during(run: &Run, phase: &PhaseRun, operation: &str) -> Option<NfsCounters> {
    counted(run, phase, operation).map(|(counters, _)| counters)
}

/// With the time in which it was counted.
fn counted(run: &Run, phase: &PhaseRun, operation: &str) -> Option<(NfsCounters, Ns)> {
    let looks: Vec<_> = run.samples_of(phase).iter().filter(|s| !s.nfs.is_empty()).collect();
    // Looks before its start and after its end see calls of its neighbours: large ones beside a few small ones are most of the time.
    let within =
        |s: &&&SystemSample| phase.record.as_ref().is_some_and(|r| (r.started_ns..=r.ended_ns).contains(&s.at_ns));
    let inside: Vec<_> = looks.iter().filter(within).copied().collect();
    between(&inside, operation).or_else(|| between(&looks, operation))
}

/// What was counted of an operation from the first to the last of these looks, and the time between them.
fn between(looks: &[&SystemSample], operation: &str) -> Option<(NfsCounters, Ns)> {
    let (first, last) = (looks.first()?, looks.last()?);
    let find = |nfs: &[NfsCounters]| nfs.iter().find(|o| o.name == operation).cloned();
    // What was never used before is not among the first.
    let before = find(&first.nfs).unwrap_or_default();
    let counters = find(&last.nfs)?.since(&before).filter(|o| o.operations >= LEAST_CALLS)?;
    let passed = last.at_ns.checked_sub(first.at_ns).filter(|ns| *ns > 0)?;
    Some((counters, passed))
}

/// The READs or WRITEs of a phase.
fn of<'a>(run: &Run, phase: &'a PhaseRun, record: &'a PhaseRecord, writes: bool) -> Option<Calls<'a>> {
    let (counted, passed_ns) = counted(run, phase, if writes { "WRITE" } else { "READ" })?;
    let counted = Counted {
        calls: counted.operations,
        passed_ns,
        bytes: if writes { counted.bytes_sent } else { counted.bytes_received },
        queue_ms: counted.queue_ms,
        rtt_ms: counted.rtt_ms,
        execute_ms: counted.execute_ms,
    };
    Some(Calls::of(phase, record, writes, &counted, MOUNT_STATS))
}

/// Those of a phase that asks one plain thing.
pub(super) fn of_probe<'a>(run: &Run, probe: &Probe<'a>) -> Option<Calls<'a>> {
    of(run, probe.phase, probe.record, probe.writes())
}

/// Those of all phases.
pub(super) fn of_phases(run: &Run) -> Vec<Calls<'_>> {
    machine::executed(run).filter_map(|(phase, record)| of(run, phase, record, phase.plan.is_write())).collect()
}
