//! What network and server hold, seen from the client of a file system that counts its calls: a rate, or a round trip.
//!
//! Both make a call wait for its reply. They differ in how that grows with what is in flight: beside others a call takes longer in proportion
//! to their bytes where a rate is full, and as long as alone where the way is only long. So a small call alone says what the round trip is,
//! less the time that its own bytes take at the rate that the same direction is seen to carry; and a rate is full where calls with more in
//! flight take many times as long as that. All phases count, the layout, too, which writes as fast as it can.

use super::compared::{WELL_BELOW, computed_meanwhile, is_busy};
use super::probes;
use super::server_calls::{Calls, LONG_ROUND_TRIP_MS, SMALL_BLOCK};
use super::{Cause, CauseKind, CauseNature};
use crate::guard::exclude;
use crate::{machine, phrase};
use model::{Access, Confidence, Evidence, LimitLayer, Order, Run, Step, Sync};

/// A rate is full where a call beside others takes this many times as long as a small one alone.
const QUEUED: f64 = 4.0;
/// What waits to be sent waits for a full connection, and not for a slot, where its reply takes this many times as long, too.
const ALSO_THE_REPLY: f64 = 2.0;
/// A reply in less time is one of a fast local network, whose times are those of processors.
const LEAST_MS: f64 = 0.2;
/// What is left of a call alone without the transfer of its own bytes is the round trip, where that is most of it.
const MOST: f64 = 0.5;
/// Of the operations alone these are the quickest, but for accidents.
const QUICKEST: f64 = 0.05;
/// Phases that a rate holds agree in it so far.
const ALIKE: f64 = 0.2;
/// And have this many times more or fewer bytes in flight.
const APART: f64 = 2.0;
/// What a network of one gigabit carries in practice. A rate above it is no finding by itself.
const ORDINARY_RATE: f64 = 117e6;
/// What a switched network of one gigabit takes for a round trip.
const LOCAL_ROUND_TRIP_MS: f64 = 0.2;
/// The rate and the round trip, as far as they are seen. Both may be: what is small waits for the one, what is large for the other.
pub(super) fn causes(run: &Run, all: &[Calls<'_>]) -> Vec<Cause> {
    let Some(one) = alone(all) else { return Vec::new() };
    full_pipe(run, all, one).into_iter().chain(round_trip(run, all, one)).collect()
}

/// Small calls one at a time, past the page cache and without syncs; reads where there are some, since what is written may wait for a disk.
fn alone<'a, 'r>(all: &'a [Calls<'r>]) -> Option<&'a Calls<'r>> {
    let is_plain = |calls: &&Calls<'_>| {
        calls.phase.plan.streams.iter().all(|s| {
            let block = s.blocks().is_some_and(|b| {
                b.block.order != Order::Sequential && (b.block.block_size_bytes as f64) <= SMALL_BLOCK
            });
            block && s.path.access == Access::Direct && s.durability.sync == Sync::None
        })
    };
    let single = all.iter().filter(|c| c.depth == 1.0).filter(is_plain);
    single.min_by(|a, b| a.writes.cmp(&b.writes).then(a.rtt.total_cmp(&b.rtt)))
}

fn evidence(calls: &Calls<'_>) -> impl Iterator<Item = Evidence> + use<> {
    let in_flight = Evidence::measured("bytes in flight, mean", calls.bytes_in_flight(), calls.source());
    calls.time().into_iter().chain([in_flight])
}

/// The highest rate that a direction is seen to carry, bytes per second: of all calls that were counted, and of phases past the page cache whose
/// calls were too few to count.
pub(super) fn carried(run: &Run, all: &[Calls<'_>], writes: bool) -> f64 {
    let counted = all.iter().filter(|c| c.writes == writes).map(|c| c.bytes_per_s);
    let measured = probes::all(run).into_iter().filter(|p| p.direct && p.writes() == writes).map(|p| p.bytes_per_s);
    counted.chain(measured).fold(0.0, f64::max)
}

/// Calls side by side wait for one another: a rate of network or server is full.
fn full_pipe(run: &Run, all: &[Calls<'_>], one: &Calls<'_>) -> Option<Cause> {
    let least = one.rtt.max(LEAST_MS);
    // A request to write that cannot be sent because the connection is full waits, too. One to read is small.
    let waits = |c: &Calls<'_>| if c.writes { c.queue + c.rtt } else { c.rtt };
    let is_full =
        |c: &&Calls<'_>| waits(c) >= QUEUED * least && c.rtt >= ALSO_THE_REPLY * least && !is_busy(run, c.phase);
    let rate_of = |c: &Calls<'_>| machine::throughput(run, c.name()).unwrap_or(c.bytes_per_s);
    let best = all.iter().filter(is_full).max_by(|a, b| rate_of(a).total_cmp(&rate_of(b)))?;
    let rate = rate_of(best);
    // Where others with more or fewer bytes in flight are as fast, more of them bring no more.
    let as_fast = |c: &&Calls<'_>| {
        let apart = c.bytes_in_flight() / best.bytes_in_flight();
        (1.0 - ALIKE..=1.0 + ALIKE).contains(&(c.bytes_per_s / best.bytes_per_s))
            && !(1.0 / APART..=APART).contains(&apart)
    };
    let others: Vec<&Calls<'_>> = all.iter().filter(as_fast).collect();
    Some(
        Cause::new(
            LimitLayer::Link,
            CauseNature::Path,
            format!(
                "the network or the server carries no more than {} ({}): a call of {} takes {:.1} ms beside others, a small one alone {:.1} ms",
                phrase::rate(rate),
                best.name(),
                phrase::bytes(best.bytes as u64),
                waits(best),
                one.rtt
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("what network or server carry")
        .with_evidence(evidence(best))
        .with_evidence([Evidence::measured("a small call alone, ms", one.rtt, one.source())])
        .with_evidence(others.iter().map(|c| {
            let what = format!("as fast with {} in flight, bytes per second", phrase::bytes(c.bytes_in_flight() as u64));
            Evidence::measured(what, c.bytes_per_s, c.source())
        }))
        .decided_by("the rate of the network alone (iperf3), and of the server's own storage (narrows there)")
        .step(Step::MeasureNetworkAndServer, None)
        .speedup_without(Some(ORDINARY_RATE / rate)),
    )
}

/// A single small call takes long, nearly all of it network and server, and not for its bytes.
fn round_trip(run: &Run, all: &[Calls<'_>], one: &Calls<'_>) -> Option<Cause> {
    let carried = carried(run, all, one.writes);
    let transfer_ms = one.bytes / carried.max(1.0) * 1e3;
    // What this machine did not run for is not the network's.
    let ran = machine::had_processors(run, one.phase).unwrap_or(1.0);
    let rtt = one.rtt * ran;
    // A fixed delay is in each call: what is longer than in the quickest ones is something else's.
    let quickest_ms = one.record.latency.quantile(QUICKEST).map_or(f64::INFINITY, |ns| ns as f64 / 1e6);
    let fixed_ms = (rtt - transfer_ms).min(quickest_ms);
    exclude(fixed_ms < LONG_ROUND_TRIP_MS || fixed_ms < MOST * rtt || one.rtt < WELL_BELOW * one.execute)?;
    let computed = computed_meanwhile(run, one.phase, one.record);
    let confidence = if computed.is_some() { Confidence::Low } else { Confidence::Probable };
    Some(
        Cause::new(
            LimitLayer::Link,
            CauseNature::Path,
            format!(
                "the round trip to the server: {:.1} ms of each call of {:.1} ms in {} are network and server",
                one.rtt,
                one.execute,
                one.name()
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("the round trip to the server")
        .with_confidence(confidence)
        .with_evidence(evidence(one))
        .with_evidence([Evidence::measured(
            "of it the transfer of its bytes at the highest rate seen, ms",
            transfer_ms,
            one.source(),
        )])
        .with_evidence(computed.map(|all| {
            Evidence::measured("processors that computed meanwhile", all, format!("{} /proc/stat", one.name()))
        }))
        .decided_by("ping to the server; what is more than that is the server's")
        .step(Step::FewerRoundTrips, None)
        .speedup_without(Some(one.execute / (one.execute - fixed_ms.min(one.rtt) + LOCAL_ROUND_TRIP_MS))),
    )
}
