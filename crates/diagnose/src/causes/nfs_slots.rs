//! Calls that wait for a slot of the NFS client before they are sent, by how many were in flight: the mean number of calls that waited for
//! their replies is their time for it over the time that passed (Little's law). Slots are a fixed number, so that they hold every kind of
//! call alike: what waits to be sent while far fewer are in flight than in another phase waits for something else.

use super::nfs_calls;
use super::server_calls::Calls;
use super::{Cause, CauseKind, CauseNature};
use crate::stack_view::Facts;
use model::facts as names;
use model::{Evidence, Layer, LimitLayer, Run, Step};

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

/// Whether they waited to be sent, while the program had more operations in flight than the client had calls.
fn wait(calls: &Calls<'_>) -> bool {
    let longer = if calls.bytes <= SMALL_CALL { 1.0 } else { LARGE_WAITS };
    calls.depth > 1.0
        && calls.queue >= WAITS * calls.execute
        && calls.queue > longer * calls.rtt
        && (ONE_TAKEN..calls.depth).contains(&calls.in_flight)
}

/// Calls wait for a slot of the client longer than for network and server. Numbers of a phase that were refused do not matter here: what is
/// counted are calls of the client.
pub(crate) fn slots(run: &Run, fs: &Layer) -> Option<Cause> {
    let all = nfs_calls::of_phases(run);
    let most = all.iter().map(|c| c.in_flight).fold(0.0, f64::max);
    let held = all.iter().filter(|c| wait(c) && c.in_flight >= ALIKE * most);
    // Small calls show it best: they wait for nothing else.
    let calls = held.max_by(|a, b| {
        (a.bytes <= SMALL_CALL).cmp(&(b.bytes <= SMALL_CALL)).then((a.queue / a.rtt).total_cmp(&(b.queue / b.rtt)))
    })?;
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
        .with_evidence(calls.time())
        .with_evidence([
            Evidence::measured("calls in flight, mean", calls.in_flight, calls.source()),
            Evidence::measured("calls in flight, mean of the phase that has the most", most, nfs_calls::MOUNT_STATS),
            fs.evidence(names::NFS_SLOTS),
        ])
        .decided_by("the same work with more slots (nfs.max_session_slots, sunrpc.tcp_max_slot_table_entries), and with nconnect")
        .step(Step::MoreSlots, Some(calls.execute / calls.rtt.max(0.001))),
    )
}
