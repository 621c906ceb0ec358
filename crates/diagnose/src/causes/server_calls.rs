//! The reads or writes that a client asked a server for during a phase, as it counts them.

use super::probes::Probe;
use super::{Cause, CauseKind, CauseNature};
use crate::phrase;
use model::{Evidence, LimitLayer, Ns, PhaseRecord, PhaseRun, Step};

/// Single blocks up to this fit into one call.
pub(super) const SMALL_BLOCK: f64 = 32_768.0;
/// A round trip above this is more than a local network takes.
pub(super) const LONG_ROUND_TRIP_MS: f64 = 1.0;

/// What a client counted, in so much time.
pub(super) struct Counted {
    pub calls: u64,
    pub passed_ns: Ns,
    pub bytes: u64,
    /// Of all calls: until they were sent, from then on to their replies, as a whole.
    pub queue_ms: u64,
    pub rtt_ms: u64,
    pub execute_ms: u64,
}

/// The reads or writes of a phase.
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
    file: &'static str,
}

impl<'a> Calls<'a> {
    /// `file`: where the client counts them.
    pub fn of(
        phase: &'a PhaseRun,
        record: &'a PhaseRecord,
        writes: bool,
        counted: &Counted,
        file: &'static str,
    ) -> Self {
        let each = |total: u64| total as f64 / counted.calls.max(1) as f64;
        let seconds = counted.passed_ns.max(1) as f64 / 1e9;
        Self {
            phase,
            record,
            writes,
            queue: each(counted.queue_ms),
            rtt: each(counted.rtt_ms),
            execute: each(counted.execute_ms),
            in_flight: counted.rtt_ms as f64 / 1e3 / seconds,
            bytes: each(counted.bytes),
            bytes_per_s: counted.bytes as f64 / seconds,
            depth: f64::from(phase.plan.queue_depth().max(1)),
            file,
        }
    }

    /// The name of the phase.
    pub fn name(&self) -> &'a str {
        &self.phase.plan.name
    }

    /// Where its numbers are from.
    pub fn source(&self) -> String {
        format!("{} {}", self.name(), self.file)
    }

    /// Where the time of a call went.
    pub fn time(&self) -> [Evidence; 3] {
        call_time([self.queue, self.rtt, self.execute], &self.source())
    }

    /// Bytes that waited for their replies, on average.
    pub fn bytes_in_flight(&self) -> f64 {
        self.in_flight * self.bytes
    }
}

/// Where the time of a call went: until it was sent, from then on to its reply, as a whole.
pub(super) fn call_time([queue_ms, rtt_ms, execute_ms]: [f64; 3], source: &str) -> [Evidence; 3] {
    [
        Evidence::measured("a call waits to be sent, ms", queue_ms, source),
        Evidence::measured("network and server, ms a call", rtt_ms, source),
        Evidence::measured("a whole call, ms", execute_ms, source),
    ]
}

/// Large operations are cut into small ones of the protocol by rsize or wsize, which is that fact of the mount.
pub(super) fn cut_small(probe: &Probe<'_>, fact: &str, size: i64, called: &str) -> Cause {
    let option = if probe.writes() { "wsize" } else { "rsize" };
    let pieces = probe.block / size as f64;
    let statement = format!(
        "{option} is {size} bytes: each operation of {} in {} is cut into {pieces:.0} {called}",
        phrase::bytes(probe.block as u64),
        probe.name()
    );
    Cause::new(LimitLayer::Filesystem, CauseNature::Setting, statement)
        .of_kind(CauseKind::Elsewhere)
        .with_short("small rsize or wsize")
        .with_evidence([Evidence::fact(fact, size, "mount options")])
        .decided_by("the same work on a mount without rsize and wsize: the client then takes what the server offers")
        .step(Step::LargerTransfers, None)
        .speedup_without(Some(pieces.min(8.0)))
}
