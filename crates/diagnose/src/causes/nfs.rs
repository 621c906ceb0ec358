//! What holds an NFS mount back, by what its client counts of each call: how long it waited for a slot (queue), for network and server (RTT),
//! and as a whole (k:net/sunrpc/stats.c rpc_count_iostats_metrics); and by what its mount options say.
//!
//! A call that waits for a slot has not been sent. From its transmission on nothing tells the network from the server but how the time
//! grows: with the bytes in flight (a rate), with the calls in flight (calls one after the other), or not at all (a round trip).

use super::compared::{self, WELL_BELOW};
use super::nfs_calls::{self, during};
use super::probes::{self, Probe};
use super::server_calls::{self, Calls, LONG_ROUND_TRIP_MS, SMALL_BLOCK};
use super::{Cause, CauseKind, CauseNature};
use super::{nfs_slots, server_pipe};
use crate::guard::{exclude, require};
use crate::{machine, phrase};
use model::facts as names;
use model::{
    Confidence, Direction, Evidence, Layer, LayerKind, LimitLayer, NfsCounters, PhaseRun, Run, Step, SystemSample,
};

/// Transfers below this are smaller than any server of today offers (128 KiB to 1 MiB).
pub(crate) const SMALL_TRANSFER_BYTES: i64 = 64 << 10;
/// Of the time of a call, this share is most of it.
const MOST: f64 = 0.5;
/// Share of segments that were lost from which TCP is slower for it: its window halves after each (RFC 5681).
const LOST_SHARE: f64 = 0.004;
/// And so many of them.
const LOST_LEAST: u64 = 20;
/// Attribute calls, as a share of all, that are traffic of their own.
const ATTRIBUTES_SHARE: f64 = 0.2;
/// What is in flight of cold buffered reads is one window, give or take, where read-ahead is what limits them: the next window is asked
/// for when the reader reaches the middle of the last one (k:mm/readahead.c).
const WINDOWS_IN_FLIGHT: (f64, f64) = (0.4, 2.5);
/// A call at depth that takes this much of (depth) times a single one is served one after the other.
const ONE_AFTER_OTHER: f64 = 0.5;
/// Large calls that are served one after the other, too, move so many times the bytes of small ones.
const MORE_BYTES: f64 = 2.0;

/// The NFS mount that the target lies on.
pub(crate) fn mount(run: &Run) -> Option<&Layer> {
    let fs = run.target.stack.first(LayerKind::Filesystem)?;
    fs.text(names::FSTYPE).is_some_and(|fstype| matches!(fstype, "nfs" | "nfs4")).then_some(fs)
}

/// All calls of a phase.
fn calls(run: &Run, phase: &PhaseRun) -> u64 {
    let counted: Vec<_> = run.samples_of(phase).iter().filter(|s| !s.nfs.is_empty()).collect();
    let sum = |nfs: &[NfsCounters]| nfs.iter().map(|o| o.operations).fold(0, u64::saturating_add);
    counted.first().zip(counted.last()).map_or(0, |(a, b)| sum(&b.nfs).saturating_sub(sum(&a.nfs)))
}

/// Segments of TCP that were sent during the run, and how many of them were lost: sent again, without those that the other side said it had
/// already. `None` where the kernel does not say that, since then a late reply looks like a loss.
fn segments_lost(run: &Run) -> Option<(u64, u64)> {
    let of = |sample: &SystemSample| {
        Some((sample.tcp_segments_out?, sample.tcp_segments_again?.saturating_sub(sample.tcp_segments_late?)))
    };
    let (first, last) = (run.samples.iter().find_map(of)?, run.samples.iter().rev().find_map(of)?);
    Some((last.0.checked_sub(first.0)?, last.1.checked_sub(first.1)?))
}

/// What the client's counters and the mount's options give reason to name.
pub(super) fn causes(run: &Run) -> Vec<Cause> {
    let Some(fs) = mount(run) else { return Vec::new() };
    let mut found: Vec<Cause> = Vec::new();
    found.extend(packets_lost(run));
    found.extend(attributes(run, fs).or_else(|| each_write_waits(run, fs)));
    found.extend(small_transfers(run, fs));
    found.extend(nfs_slots::slots(run, fs));
    found.extend(read_ahead(run, fs));
    if !found.iter().any(|c| c.confidence >= Confidence::Probable) {
        match one_after_the_other(run) {
            Some(cause) => found.push(cause),
            // Both may be: what is small waits for the one, what is large for the other.
            None => found.extend(server_pipe::causes(run, &nfs_calls::of_phases(run))),
        }
        found.extend(client(run));
    }
    found
}

pub(crate) fn packets_lost(run: &Run) -> Option<Cause> {
    let (sent, lost) = segments_lost(run)?;
    let share = lost as f64 / sent.max(1) as f64;
    exclude(share < LOST_SHARE || lost < LOST_LEAST)?;
    Some(
        Cause::new(
            LimitLayer::Link,
            CauseNature::Distortion,
            format!(
                "packets are lost: TCP sent {lost} of {sent} segments again that had not arrived ({:.1} %)",
                100.0 * share
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("packets are lost on the way to the server")
        .with_evidence([
            Evidence::measured("segments sent", sent as f64, "/proc/net/snmp Tcp OutSegs"),
            Evidence::measured(
                "segments sent again that had not arrived",
                lost as f64,
                "/proc/net/snmp Tcp RetransSegs less /proc/net/netstat TCPDSACKRecv, TCPDSACKOfoRecv",
            ),
        ])
        .decided_by("the counters of the interfaces and switches on the way: ip -s link, ethtool -S")
        .step(Step::FindPacketLoss, None),
    )
}

/// Attributes are asked for each time: noac, actimeo=0.
pub(crate) fn attributes(run: &Run, fs: &Layer) -> Option<Cause> {
    require(fs.bool(names::ATTRIBUTES_CACHED) == Some(false))?;
    let (most, name) = run
        .phases
        .iter()
        .map(|phase| {
            let asked = during(run, phase, "GETATTR").map_or(0, |o| o.operations);
            (asked as f64 / calls(run, phase).max(1) as f64, phase.plan.name.as_str())
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let also = if fs.bool(names::SYNC_MOUNT) == Some(true) { ", and each write waits for the server" } else { "" };
    let buffered = probes::buffered(run, Direction::Write).map(|p| p.bytes_per_s);
    let direct = probes::fastest(run, Direction::Write).map(|p| p.bytes_per_s);
    let ratio = direct.zip(buffered).map(|(d, b)| d / b);
    Some(
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Setting,
            format!(
                "attributes are not cached (noac, actimeo=0): they were {} of the calls in {name}{also}",
                phrase::percent(most)
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("attributes are not cached (noac, actimeo=0)")
        .with_confidence(if most >= ATTRIBUTES_SHARE || !also.is_empty() {
            Confidence::Probable
        } else {
            Confidence::Low
        })
        .with_evidence([
            Evidence::fact("attributes are cached", false, "mount options"),
            Evidence::measured("GETATTR, share of calls", most, format!("{name} /proc/self/mountstats")),
        ])
        .decided_by("the same work on a mount without noac, where no other client changes the files")
        .step(Step::CacheAttributes, ratio)
        .speedup_without(ratio.map(|r| r.max(2.0)).or(Some(2.0))),
    )
}

/// A mount with sync: no write is gathered with others, each waits until the server has it on its disk.
fn each_write_waits(run: &Run, fs: &Layer) -> Option<Cause> {
    require(fs.bool(names::SYNC_MOUNT) == Some(true))?;
    // Large buffered writes show it best; any others show it, too.
    let others = probes::all(run).into_iter().filter(Probe::writes);
    let all = probes::buffered(run, Direction::Write).into_iter().chain(others);
    let (probe, time) = all.filter_map(|p| Some((p, nfs_calls::of_probe(run, &p)?))).next()?;
    let direct = probes::fastest(run, Direction::Write).map(|p| p.bytes_per_s);
    Some(
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Setting,
            format!(
                "mounted with sync: each write waits for the server ({:.1} ms a call in {}, {})",
                time.execute,
                probe.name(),
                phrase::rate(probe.bytes_per_s)
            ),
        )
        .of_kind(CauseKind::SyncMount)
        .with_evidence([Evidence::fact(names::SYNC_MOUNT, true, "mount options")])
        .with_evidence(time.time())
        .decided_by("the same writes on a mount without sync")
        .step(Step::MountWithoutSync, direct.map(|direct| direct / probe.bytes_per_s)),
    )
}

/// Large operations are cut into small calls by rsize or wsize.
pub(crate) fn small_transfers(run: &Run, fs: &Layer) -> Option<Cause> {
    let mut all = probes::all(run).into_iter();
    let (probe, fact, size, time) = all.find_map(|p| {
        let fact = if p.writes() { names::NFS_WRITE_BYTES } else { names::NFS_READ_BYTES };
        let size = fs.int(fact).filter(|size| (1..SMALL_TRANSFER_BYTES).contains(size))?;
        let time = nfs_calls::of_probe(run, &p)?;
        (p.block >= 4.0 * size as f64 && time.bytes <= 2.0 * size as f64 + 512.0).then_some((p, fact, size, time))
    })?;
    Some(server_calls::cut_small(&probe, fact, size, "calls").with_evidence(time.time()))
}

/// Cold buffered reads keep no more than the read-ahead window in flight.
pub(crate) fn read_ahead(run: &Run, fs: &Layer) -> Option<Cause> {
    let probe = probes::buffered(run, Direction::Read)?;
    let best = probes::fastest(run, Direction::Read)?;
    let time = nfs_calls::of_probe(run, &probe)?;
    let window = fs.int(names::BDI_READ_AHEAD_KB).filter(|kb| *kb > 0)? as f64 * 1024.0;
    // In the time of a call that nothing delays: what waits behind others is in flight, too, and says nothing of the window.
    let undelayed_ms = alone(run).map_or(time.execute, |(_, one)| one.execute.min(time.execute));
    let in_flight = probe.bytes_per_s * undelayed_ms / 1e3;
    let ids = (machine::throughput_id(probe.name()), machine::throughput_id(best.name()));
    exclude(
        probe.bytes_per_s / best.bytes_per_s >= WELL_BELOW
            || !machine::below_beyond_noise(run, &ids.0, &ids.1)
            || !(window * WINDOWS_IN_FLIGHT.0..=window * WINDOWS_IN_FLIGHT.1).contains(&in_flight)
            || compared::held_by_processor(run, &probe, &best).is_some(),
    )?;
    let ratio = best.bytes_per_s / probe.bytes_per_s;
    Some(
        Cause::new(
            LimitLayer::PageCache,
            CauseNature::Setting,
            format!(
                "read-ahead: cold buffered reads run at {} against {} direct; {} are in flight of a window of {}",
                phrase::rate(probe.bytes_per_s),
                phrase::rate(best.bytes_per_s),
                phrase::bytes(in_flight as u64),
                phrase::bytes(window as u64)
            ),
        )
        .of_kind(CauseKind::ReadAhead)
        .by_time()
        .with_evidence([Evidence::fact(names::BDI_READ_AHEAD_KB, window / 1024.0, "/sys/class/bdi")])
        .with_evidence(time.time())
        .decided_by("the same read with a larger read_ahead_kb of the mount's bdi, alternating")
        .step(Step::MoreReadAheadOfMount, Some(ratio)),
    )
}

/// A phase, and what its calls take.
type Timed<'a> = (Probe<'a>, Calls<'a>);

/// Small operations of one direction at depth 1 and at the largest depth.
fn shallow_and_deep(run: &Run, direction: Direction) -> Option<(Timed<'_>, Timed<'_>)> {
    let depths = probes::depths(run, direction);
    let shallow = *depths.first().filter(|p| p.depth == 1.0 && p.block <= SMALL_BLOCK)?;
    let deep = *depths.last().filter(|p| p.depth >= 8.0)?;
    Some(((shallow, nfs_calls::of_probe(run, &shallow)?), (deep, nfs_calls::of_probe(run, &deep)?)))
}

/// A single small call, of reads where there are some.
fn alone(run: &Run) -> Option<Timed<'_>> {
    [Direction::Read, Direction::Write].into_iter().find_map(|d| shallow_and_deep(run, d)).map(|(shallow, _)| shallow)
}

/// Small calls side by side take as long as one after the other.
fn one_after_the_other(run: &Run) -> Option<Cause> {
    let by_direction = [Direction::Write, Direction::Read].into_iter().filter_map(|d| shallow_and_deep(run, d));
    let counted = nfs_calls::of_phases(run);
    let serial = |((shallow, one), (deep, many)): &(Timed<'_>, Timed<'_>)| {
        let grows = many.rtt / one.rtt.max(0.05);
        // Where large calls move no more bytes, it is a rate that they wait for. Without any, such a rate would be a rare one.
        let larger =
            probes::all(run).into_iter().any(|p| p.direct && p.writes() == deep.writes() && p.block > 4.0 * deep.block);
        let by_bytes = server_pipe::carried(run, &counted, deep.writes()) < MORE_BYTES * deep.bytes_per_s;
        grows >= ONE_AFTER_OTHER * deep.depth
            && deep.iops(run) < 2.0 * shallow.iops(run)
            && one.rtt >= LONG_ROUND_TRIP_MS
            && !(larger && by_bytes)
            // On a full processor of this machine calls wait for that.
            && !compared::is_busy(run, deep.phase)
    };
    let ((shallow, one), (deep, many)) = by_direction.into_iter().find(serial)?;
    Some(
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Path,
            format!(
                "the server answers one call after the other: {} alone ({:.1} ms a call), {} with {:.0} in flight ({:.1} ms)",
                phrase::iops(shallow.iops(run)),
                one.rtt,
                phrase::iops(deep.iops(run)),
                deep.depth,
                many.rtt
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("the server answers one call after the other")
        .with_evidence(one.time())
        .with_evidence(many.time())
        .decided_by("the threads of the server (/proc/fs/nfsd/threads, or what it has in their place), and its disk with many requests")
        .step(Step::MoreServerThreads, None)
        .speedup_without(Some(deep.depth.min(8.0))),
    )
}

/// The client itself: of the time of a call most is neither queue nor reply, and a processor is full.
fn client(run: &Run) -> Option<Cause> {
    let seen = probes::all(run).into_iter().filter_map(|p| {
        let time = nfs_calls::of_probe(run, &p)?;
        let own = (time.execute - time.queue - time.rtt).max(0.0);
        (own >= MOST * time.execute && own > 0.0 && compared::is_busy(run, p.phase)).then_some((p, time, own))
    });
    let (probe, time, own) = seen.max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(
        Cause::new(
            LimitLayer::Cpu,
            CauseNature::Path,
            format!(
                "the NFS client on a full processor: {own:.1} ms of each call of {:.1} ms in {}",
                time.execute,
                probe.name()
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("the NFS client on a full processor")
        .with_evidence(time.time())
        .decided_by("the same work with fewer operations at once, or larger ones")
        .step(Step::FasterClient, None),
    )
}
