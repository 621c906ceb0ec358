//! Calls that wait for a slot of the NFS client before they are sent, by how many were in flight: the mean number of calls that waited for
//! their replies is their time for it over the time that passed (Little's law). Slots are a fixed number, so that they hold every kind of
//! call alike: what waits to be sent while far fewer are in flight than in another phase waits for something else.

use super::nfs_calls::during;
use super::{Cause, CauseKind, CauseNature};
use crate::machine;
use crate::stack_view::Facts;
use model::facts as names;
use model::{Evidence, Layer, LimitLayer, NfsCounters, PhaseRecord, PhaseRun, Run, Step};

/// What has waited to be sent for this share of its time and longer than for its reply waited for a slot.
const WAITS: f64 = 0.5;
/// Phases that slots hold have this much of the largest number in flight of any phase.
const ALIKE: f64 = 0.5;
/// Calls of more bytes may wait for a socket that is full: only where fewer are in flight than the program has operations is it the slots.
const SMALL_CALL: f64 = 36_864.0;
/// And longer by so much.
const LARGE_WAITS: f64 = 4.0;
/// While calls wait for a slot, one at least is taken most of the time.
const ONE_TAKEN: f64 = 0.5;

/// The calls of one operation in a phase.
struct Calls<'a> {
    phase: &'a PhaseRun,
    /// Means of a call, milliseconds.
    queue: f64,
    rtt: f64,
    execute: f64,
    /// Mean number of calls that waited for their replies.
    in_flight: f64,
    bytes: f64,
    /// Operations that the program has in flight.
    depth: f64,
}

impl<'a> Calls<'a> {
    fn of(run: &Run, phase: &'a PhaseRun, record: &PhaseRecord) -> Option<Self> {
        let name = if phase.plan.is_write() { "WRITE" } else { "READ" };
        let counted: NfsCounters = during(run, phase, name)?;
        let each = |total: u64| total as f64 / counted.operations as f64;
        let within =
            |s: &&model::SystemSample| (record.started_ns..=record.ended_ns).contains(&s.at_ns) && !s.nfs.is_empty();
        let inside: Vec<_> = run.samples_of(phase).iter().filter(within).collect();
        let passed_ms = inside.last()?.at_ns.saturating_sub(inside.first()?.at_ns) as f64 / 1e6;
        let bytes = if phase.plan.is_write() { counted.bytes_sent } else { counted.bytes_received };
        (passed_ms > 0.0).then(|| Self {
            phase,
            queue: each(counted.queue_ms),
            rtt: each(counted.rtt_ms),
            execute: each(counted.execute_ms),
            in_flight: counted.rtt_ms as f64 / passed_ms,
            bytes: each(bytes),
            depth: f64::from(phase.plan.queue_depth().max(1)),
        })
    }

    /// Whether they waited to be sent, while the program had more operations in flight than the client had calls.
    fn wait(&self) -> bool {
        let longer = if self.bytes <= SMALL_CALL { 1.0 } else { LARGE_WAITS };
        self.depth > 1.0
            && self.queue >= WAITS * self.execute
            && self.queue > longer * self.rtt
            && (ONE_TAKEN..self.depth).contains(&self.in_flight)
    }
}

/// Calls wait for a slot of the client longer than for network and server. Numbers of a phase that were refused do not matter here: what is
/// counted are calls of the client.
pub(crate) fn slots(run: &Run, fs: &Layer) -> Option<Cause> {
    let all: Vec<Calls<'_>> =
        machine::executed(run).filter_map(|(phase, record)| Calls::of(run, phase, record)).collect();
    let most = all.iter().map(|c| c.in_flight).fold(0.0, f64::max);
    let held = all.iter().filter(|c| c.wait() && c.in_flight >= ALIKE * most);
    // Small calls show it best: they wait for nothing else.
    let calls = held.max_by(|a, b| {
        (a.bytes <= SMALL_CALL).cmp(&(b.bytes <= SMALL_CALL)).then((a.queue / a.rtt).total_cmp(&(b.queue / b.rtt)))
    })?;
    let source = || format!("{} /proc/self/mountstats", calls.phase.plan.name);
    Some(
        Cause::new(
            LimitLayer::Driver,
            CauseNature::Setting,
            format!(
                "the client's slots: in {} a call waits {:.1} ms to be sent and {:.1} ms for its reply; about {:.0} of {:.0} are in \
                 flight, and in no phase more than {}",
                calls.phase.plan.name,
                calls.queue,
                calls.rtt,
                calls.in_flight,
                calls.depth,
                format_args!("{:.0}", most.ceil())
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("the client's slots")
        .with_evidence([
            Evidence::measured("a call waits to be sent, ms", calls.queue, source()),
            Evidence::measured("network and server, ms a call", calls.rtt, source()),
            Evidence::measured("a whole call, ms", calls.execute, source()),
            Evidence::measured("calls in flight, mean", calls.in_flight, source()),
            Evidence::measured("calls in flight, mean of the phase that has the most", most, "/proc/self/mountstats"),
        ])
        .with_evidence([fs.evidence(names::NFS_SLOTS)])
        .decided_by("the same work with more slots (nfs.max_session_slots, sunrpc.tcp_max_slot_table_entries), and with nconnect")
        .step(Step::MoreSlots, Some(calls.execute / calls.rtt.max(0.001))),
    )
}
