//! What the client of an NFS mount counted of its calls during a phase.

use crate::machine;
use model::{NfsCounters, Ns, PhaseRecord, PhaseRun, Run, SystemSample};

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
pub(super) struct Calls<'a> {
    pub phase: &'a PhaseRun,
    pub record: &'a PhaseRecord,
    pub writes: bool,
    /// Means of a call, milliseconds.
    pub queue: f64,
    pub rtt: f64,
    pub execute: f64,
    /// Mean number of calls that waited for their replies: their time for it over the time that passed (Little's law).
    pub in_flight: f64,
    /// Bytes of a call.
    pub bytes: f64,
    /// Bytes of all calls a second.
    pub bytes_per_s: f64,
    /// Operations that the program has in flight.
    pub depth: f64,
}

impl<'a> Calls<'a> {
    fn of(run: &Run, phase: &'a PhaseRun, record: &'a PhaseRecord) -> Option<Self> {
        let writes = phase.plan.is_write();
        let (counted, passed_ns) = counted(run, phase, if writes { "WRITE" } else { "READ" })?;
        let each = |total: u64| total as f64 / counted.operations as f64;
        let bytes = if writes { counted.bytes_sent } else { counted.bytes_received };
        Some(Self {
            phase,
            record,
            writes,
            queue: each(counted.queue_ms),
            rtt: each(counted.rtt_ms),
            execute: each(counted.execute_ms),
            in_flight: counted.rtt_ms as f64 * 1e6 / passed_ns as f64,
            bytes: each(bytes),
            bytes_per_s: bytes as f64 * 1e9 / passed_ns as f64,
            depth: f64::from(phase.plan.queue_depth().max(1)),
        })
    }

    /// Those of all phases, the layout and phases without a valid number, too: what is counted are calls of the client.
    pub fn all(run: &'a Run) -> Vec<Self> {
        machine::executed(run).filter_map(|(phase, record)| Self::of(run, phase, record)).collect()
    }

    /// The name of the phase.
    pub fn name(&self) -> &'a str {
        &self.phase.plan.name
    }

    /// Bytes that waited for their replies, on average.
    pub fn bytes_in_flight(&self) -> f64 {
        self.in_flight * self.bytes
    }
}
