//! What the clients of NFS and SMB count of ways of known kind: a fixed delay, a rate, both, and a number of slots. The counters follow from
//! them by the law of a closed queue, not from a recording.

use crate::expect::*;
use crate::network::mount;
use crate::run_builder::*;
use crate::shares::share;
use model::{Confidence, Fact, NfsCounters, PathCounter, Run, path_counter as counters};

/// The way to a server.
#[derive(Clone, Copy)]
struct Way {
    /// A reply comes so much later than its request, whatever else is on the way.
    delay_ms: f64,
    /// Bytes per second, of reads and of writes.
    rate: (f64, f64),
    slots: f64,
    smb: bool,
}

/// Bytes of a call beside its data.
const HEADER: f64 = 160.0;

const FAST: f64 = 1e10;

impl Way {
    fn delay(delay_ms: f64) -> Self {
        Self { delay_ms, rate: (FAST, FAST), slots: 64.0, smb: false }
    }

    fn rate(bytes_per_s: f64) -> Self {
        Self { delay_ms: 0.1, rate: (bytes_per_s, bytes_per_s), slots: 64.0, smb: false }
    }

    /// Milliseconds in the queue and for the reply, and calls a second, of so many operations of this size at once.
    fn takes(self, writes: bool, block: f64, depth: f64) -> (f64, f64, f64) {
        let rate = if writes { self.rate.1 } else { self.rate.0 };
        let in_flight = depth.min(self.slots);
        let transfer = (block + HEADER) / rate * 1e3;
        let rtt = (self.delay_ms + transfer).max(in_flight * transfer);
        (((depth - in_flight) / in_flight) * rtt, rtt, in_flight / rtt * 1e3)
    }
}

/// The phases of a check over it, each with the counters of its calls. Those that are refused have no valid number.
fn over(way: Way, refused: &[&str]) -> Run {
    over_with(way, refused, |phase| phase)
}

fn over_with(way: Way, refused: &[&str], change: impl Fn(Phase) -> Phase) -> Run {
    const SMALL: f64 = 4096.0;
    const LARGE: f64 = 1_048_576.0;
    let phases = [
        ("layout", LARGE, 8.0),
        ("seq-write", LARGE, 8.0),
        ("seq-read", LARGE, 8.0),
        ("rand-read-qd1", SMALL, 1.0),
        ("rand-read-qd4", SMALL, 4.0),
        ("rand-read-qd32", SMALL, 32.0),
    ];
    let writes = |name: &str| name == "layout" || name.contains("write");
    let built = phases.map(|(name, block, depth)| {
        let (_, _, calls_a_second) = way.takes(writes(name), block, depth);
        let phase = match block == SMALL {
            true => random(name, calls_a_second),
            false => sequential(name, calls_a_second * block / 1e6),
        };
        change(if refused.contains(&name) { phase.refused() } else { phase })
    });
    let slots = [("nfs_slots", Fact::Int(way.slots as i64))];
    let mut run = if way.smb { share(&[]) } else { mount(&slots) }.phases(built).build();
    let times: Vec<(u64, u64)> =
        run.phases.iter().map(|p| p.record.as_ref().map_or((0, 0), |r| (r.started_ns, r.ended_ns))).collect();
    for sample in &mut run.samples {
        for (operation, of_writes) in [("READ", false), ("WRITE", true)] {
            let mut sum = NfsCounters { name: operation.to_owned(), operations: 1, ..NfsCounters::default() };
            for ((_, block, depth), (from, to)) in phases.iter().zip(&times).filter(|(p, _)| writes(p.0) == of_writes) {
                let (queue, rtt, a_second) = way.takes(of_writes, *block, *depth);
                let passed = (sample.at_ns.clamp(*from, *to) - from) as f64 / 1e9;
                let calls = (a_second * passed).floor();
                sum.operations += calls as u64;
                sum.queue_ms += (calls * queue) as u64;
                sum.rtt_ms += (calls * rtt) as u64;
                sum.execute_ms += (calls * (queue + rtt)) as u64;
                let bytes = (calls * (block + HEADER)) as u64;
                if of_writes {
                    sum.bytes_sent += bytes
                } else {
                    sum.bytes_received += bytes
                };
            }
            sample.nfs.push(sum);
        }
        if way.smb {
            sample.path = smb(&std::mem::take(&mut sample.nfs));
        }
    }
    run
}

/// The same as an SMB client counts it.
fn smb(calls: &[NfsCounters]) -> Vec<PathCounter> {
    let (reads, writes) = (&calls[0], &calls[1]);
    [
        (counters::SMB_TIMED_READS, reads.operations),
        (counters::SMB_READ_MS, reads.execute_ms),
        (counters::SMB_BYTES_READ, reads.bytes_received),
        (counters::SMB_TIMED_WRITES, writes.operations),
        (counters::SMB_WRITE_MS, writes.execute_ms),
        (counters::SMB_BYTES_WRITTEN, writes.bytes_sent),
    ]
    .map(|(name, value)| PathCounter { name: name.to_owned(), value })
    .into()
}

const RATE: &str = "carries no more than";
const TRIP: &str = "the round trip to the server";
const SLOTS: &str = "the client's slots";

/// Which of the three are named, at least probable; never more sure than that.
fn named(run: &Run) -> Vec<&'static str> {
    let found = diagnose::causes(run);
    assert!(found.iter().all(|c| c.confidence < Confidence::High), "{found:?}");
    let is = |words: &&str| found.iter().any(|c| c.statement.contains(words) && c.confidence == Confidence::Probable);
    [RATE, TRIP, SLOTS].into_iter().filter(is).collect()
}

#[test]
fn a_fixed_delay_is_a_round_trip_however_many_slots_there_are() {
    for delay_ms in [2.0, 4.0, 40.0] {
        for slots in [32.0, 64.0, 1024.0] {
            let run = over(Way { slots, ..Way::delay(delay_ms) }, &[]);
            assert_eq!(named(&run), [TRIP], "{delay_ms} ms, {slots} slots");
            assert!(diagnose::limit(&run).statement.contains(TRIP));
        }
        // All slots are taken at depth 32, and at 8 and 32: as many wait as are on the way, and many more.
        for (slots, what) in [(16.0, TRIP), (4.0, SLOTS), (2.0, SLOTS)] {
            let run = over(Way { slots, ..Way::delay(delay_ms) }, &[]);
            assert_eq!(named(&run), [what], "{delay_ms} ms, {slots} slots");
        }
    }
}

#[test]
fn a_rate_is_never_a_round_trip_however_long_a_call_takes_alone() {
    // A small call alone takes from 0.1 to 34 ms.
    for rate in [125e3, 2e6, 20e6, 60e6] {
        let run = over(Way::rate(rate), &[]);
        assert_eq!(named(&run), [RATE], "{rate}");
        assert!(diagnose::limit(&run).statement.contains(RATE), "{rate}: {:?}", diagnose::limit(&run));
    }
}

/// A server that takes a time of its own for each call, however small, and one call at a time.
#[test]
fn calls_one_after_the_other_are_no_rate() {
    let each = Way { slots: 1.0, ..Way::delay(8.0) };
    let mut run = over(each, &[]);
    // The client has slots, so that they wait at the server.
    for sample in &mut run.samples {
        for calls in &mut sample.nfs {
            calls.rtt_ms += std::mem::take(&mut calls.queue_ms);
        }
    }
    let found = diagnose::limit(&run);
    assert!(found.statement.contains("the server answers one call after the other"), "{found:?}");
    assert_eq!(named(&run), [""; 0]);
}

#[test]
fn a_rate_is_seen_in_the_layout_where_no_large_phase_has_a_valid_number() {
    let large = ["seq-write", "seq-read"];
    let run = over(Way::rate(20e6), &large);
    assert_eq!(named(&run), [RATE]);
    let run = over(Way::rate(20e6), &["seq-write", "seq-read", "rand-read-qd32", "rand-read-qd4"]);
    assert_eq!(named(&run), [RATE]);
    // It is as fast as small calls at depth 32, with much less in flight: evidence of a rate, and not of a delay.
    let as_fast = |run: &Run| {
        let named = diagnose::causes(run).into_iter().find(|c| c.statement.contains(RATE));
        named.is_some_and(|c| c.evidence.iter().any(|e| e.what.starts_with("as fast with")))
    };
    assert!(as_fast(&run));
    assert!(!as_fast(&over(Way { delay_ms: 8.0, ..Way::rate(200e6) }, &[])));
    let alone = over(Way::delay(4.0), &large);
    assert_eq!(named(&alone), [TRIP]);
}

#[test]
fn a_delay_and_a_rate_are_both_told() {
    let run = over(Way { delay_ms: 8.0, ..Way::rate(20e6) }, &[]);
    assert_eq!(named(&run), [RATE, TRIP]);
}

#[test]
fn a_rate_of_one_direction_is_not_measured_by_the_other() {
    // Writes are fast: 2 ms of a read alone are the transfer of its bytes all the same.
    let run = over(Way { rate: (2e6, FAST), ..Way::rate(0.0) }, &[]);
    assert_eq!(named(&run), [RATE]);
}

#[test]
fn what_processors_compute_for_one_call_at_a_time_is_no_round_trip() {
    let busy = |system: f64| {
        let change = move |phase: Phase| phase.cpu(0.02, system, 0.0);
        over_with(Way::delay(2.0), &[], change)
    };
    assert_eq!(named(&busy(0.4)), [TRIP]);
    assert_eq!(named(&busy(0.95)), [""; 0]);
    let hint = diagnose::causes(&busy(0.95)).into_iter().find(|c| c.statement.contains(TRIP)).expect("a hint");
    assert!(hint.evidence.iter().any(|e| e.what == "processors that computed meanwhile"), "{hint:?}");
}

#[test]
fn a_call_is_as_long_as_the_machine_was_there_for() {
    let away = |ran: f64| idle_but_away(over(Way::delay(1.5), &[]), move |_| ran);
    assert_eq!(named(&away(0.95)), [TRIP]);
    // 1.5 ms of which it ran for 0.9.
    assert_eq!(named(&away(0.6)), [""; 0]);
}

#[test]
fn an_smb_client_that_times_its_requests_tells_the_same_ways_apart() {
    let smb = |way: Way| named(&over(Way { smb: true, ..way }, &[]));
    for delay_ms in [2.0, 40.0] {
        assert_eq!(smb(Way::delay(delay_ms)), [TRIP], "{delay_ms} ms");
    }
    for rate in [2e6, 20e6] {
        assert_eq!(smb(Way::rate(rate)), [RATE], "{rate}");
    }
    assert_eq!(smb(Way { delay_ms: 8.0, ..Way::rate(20e6) }), [RATE, TRIP]);
}

#[test]
fn a_delay_is_in_the_quickest_calls_too() {
    let run = |quickest_ns: u64| {
        let mut run = over(Way::delay(6.0), &[]);
        let alone = run.phases.iter_mut().find(|p| p.plan.name == "rand-read-qd1").and_then(|p| p.record.as_mut());
        let latency = &mut alone.expect("a record").latency;
        latency.record_n(quickest_ns, 100);
        latency.record_n(8_000_000, 300);
        run
    };
    assert_eq!(named(&run(5_500_000)), [TRIP]);
    // Half a millisecond for a quarter of them: what the others wait for is not the way.
    assert_eq!(named(&run(500_000)), [""; 0]);
}
