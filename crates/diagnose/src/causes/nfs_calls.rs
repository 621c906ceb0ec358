//! What the client of an NFS mount counted of its calls during a phase.

use model::{NfsCounters, PhaseRun, Run, SystemSample};

/// Fewer calls say nothing.
const LEAST_CALLS: u64 = 16;

/// What was counted of an operation during a phase.
pub(super) fn during(run: &Run, phase: &PhaseRun, operation: &str) -> Option<NfsCounters> {
    let counted: Vec<_> = run.samples_of(phase).iter().filter(|s| !s.nfs.is_empty()).collect();
    // Looks before its start and after its end see calls of its neighbours: large ones beside a few small ones are most of the time.
    let within =
        |s: &&&SystemSample| phase.record.as_ref().is_some_and(|r| (r.started_ns..=r.ended_ns).contains(&s.at_ns));
    let inside: Vec<_> = counted.iter().filter(within).copied().collect();
    between(&inside, operation).or_else(|| between(&counted, operation))
}

/// What was counted of an operation from the first to the last of these looks.
fn between(looks: &[&SystemSample], operation: &str) -> Option<NfsCounters> {
    let (first, last) = (looks.first()?, looks.last()?);
    let find = |nfs: &[NfsCounters]| nfs.iter().find(|o| o.name == operation).cloned();
    // What was never used before is not among the first.
    let before = find(&first.nfs).unwrap_or_default();
    find(&last.nfs)?.since(&before).filter(|o| o.operations >= LEAST_CALLS)
}
