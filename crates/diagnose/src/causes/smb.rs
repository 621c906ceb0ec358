//! What holds an SMB mount back, by what its client counts of the share (/proc/fs/cifs/Stats) and how it is connected.
//!
//! The client times no single request but, where it is built so (CONFIG_CIFS_STATS2), all READs and all WRITEs together: they tell a rate from a
//! round trip as the calls of NFS do. What a request takes is else the latency of small operations one at a time.

use super::compared::{self, FULL, OTHERS_BUSY, WELL_BELOW, computed_meanwhile};
use super::nfs::SMALL_TRANSFER_BYTES;
use super::probes::{self, Probe};
use super::server_calls::{self, Calls, Counted, LONG_ROUND_TRIP_MS};
use super::server_pipe;
use super::{Cause, CauseKind, CauseNature};
use crate::guard::require;
use crate::stack_view::Facts;
use crate::{machine, phrase};
use model::facts as names;
use model::path_counter as counters;
use model::{
    Confidence, Direction, Evidence, Layer, LayerKind, LimitLayer, PhaseRecord, PhaseRun, Run, Step, SystemSample,
    path_counter_value,
};

/// Depth that brings so many times the rate of one operation at a time shows that one waits.
const SCALES: f64 = 4.0;
/// Requests for one file from which they are one after the other: open, read or write, close.
const REQUESTS_A_FILE: f64 = 2.0;
/// Fewer files say nothing.
const LEAST_FILES: u64 = 16;
const STATS: &str = "/proc/fs/cifs/Stats";

/// The SMB mount that the target lies on.
pub(crate) fn mount(run: &Run) -> Option<&Layer> {
    let fs = run.target.stack.first(LayerKind::Filesystem)?;
    fs.text(names::FSTYPE).is_some_and(|fstype| matches!(fstype, "cifs" | "smb3")).then_some(fs)
}

/// How much a counter grew between the first and the last of these samples that have it.
pub(super) fn grew(samples: &[SystemSample], name: &str) -> Option<u64> {
    let mut values = samples.iter().filter_map(|s| path_counter_value(&s.path, name));
    let first = values.next()?;
    values.next_back()?.checked_sub(first)
}

pub(super) fn causes(run: &Run) -> Vec<Cause> {
    let Some(fs) = mount(run) else { return Vec::new() };
    let mut found: Vec<Cause> = Vec::new();
    found.extend(reconnects(run));
    found.extend(cache_off(run, fs));
    found.extend(signing(run, fs));
    found.extend(small_files(run));
    found.extend(small_transfers(run, fs));
    if !found.iter().any(|c| c.confidence >= Confidence::Probable) {
        // Where the client times its requests, they tell a rate from a round trip.
        let timed = of_phases(run);
        if timed.is_empty() {
            found.extend(round_trip(run));
        } else {
            found.extend(server_pipe::causes(run, &timed));
        }
        found.extend(one_channel(run, fs));
    }
    found
}

/// The timed READs or WRITEs of all phases.
fn of_phases(run: &Run) -> Vec<Calls<'_>> {
    let of = |phase: &PhaseRun, record: &PhaseRecord, writes| {
        let within = |s: &&SystemSample| (record.started_ns..=record.ended_ns).contains(&s.at_ns) && !s.path.is_empty();
        let inside: Vec<&SystemSample> = run.samples_of(phase).iter().filter(within).collect();
        let (first, last) = (inside.first()?, inside.last()?);
        let grew = |name| path_counter_value(&last.path, name)?.checked_sub(path_counter_value(&first.path, name)?);
        let [count, ms, bytes] = match writes {
            true => [counters::SMB_TIMED_WRITES, counters::SMB_WRITE_MS, counters::SMB_BYTES_WRITTEN],
            false => [counters::SMB_TIMED_READS, counters::SMB_READ_MS, counters::SMB_BYTES_READ],
        };
        let ms = grew(ms)?;
        let passed_ns = last.at_ns.checked_sub(first.at_ns).filter(|ns| *ns > 0)?;
        let calls = grew(count).filter(|n| *n >= LEAST_FILES)?;
        // From when a request was made to its reply: what waits for credits or for the connection is in it.
        Some(Counted { calls, passed_ns, bytes: grew(bytes)?, queue_ms: 0, rtt_ms: ms, execute_ms: ms })
    };
    machine::executed(run)
        .filter_map(|(phase, record)| {
            let writes = phase.plan.is_write();
            Some(Calls::of(phase, record, writes, &of(phase, record, writes)?, STATS))
        })
        .collect()
}

/// Sessions were connected anew while the run went on.
pub(crate) fn reconnects(run: &Run) -> Option<Cause> {
    let count = grew(&run.samples, counters::SMB_RECONNECTS).filter(|n| *n > 0)?;
    Some(
        Cause::new(
            LimitLayer::Link,
            CauseNature::Distortion,
            format!(
                "SMB sessions were connected anew {} during the run",
                if count == 1 { "once".into() } else { format!("{count} times") }
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("SMB sessions that are connected anew")
        .with_evidence([Evidence::measured("reconnects of sessions", count as f64, STATS)])
        .decided_by("the kernel's log (CIFS: VFS: ... reconnect), and the server's")
        .step(Step::FindReconnects, None),
    )
}

/// No data are cached, so that buffered reads and writes go to the server as the program makes them.
pub(crate) fn cache_off(run: &Run, fs: &Layer) -> Option<Cause> {
    require(fs.text(names::SMB_CACHE) == Some("none"))?;
    let slower = |direction| {
        let (buffered, direct) = (probes::buffered(run, direction)?, probes::fastest(run, direction)?);
        let slower = buffered.bytes_per_s < WELL_BELOW * direct.bytes_per_s;
        (slower && compared::held_by_processor(run, &buffered, &direct).is_none()).then_some((buffered, direct))
    };
    let (probe, best) = [Direction::Read, Direction::Write].into_iter().find_map(slower)?;
    Some(
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Setting,
            format!(
                "mounted with cache=none: {} runs at {} against {} direct with depth, each request to the server by itself",
                probe.name(),
                phrase::rate(probe.bytes_per_s),
                phrase::rate(best.bytes_per_s)
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("the mount caches nothing (cache=none)")
        .by_time()
        .with_evidence([
            fs.evidence(names::SMB_CACHE),
            Evidence::measured("buffered rate, bytes per second", probe.bytes_per_s, machine::throughput_id(probe.name())),
            Evidence::measured("direct rate, bytes per second", best.bytes_per_s, machine::throughput_id(best.name())),
        ])
        .decided_by("the same work on a mount with cache=strict")
        .step(Step::CacheOnShare, Some(best.bytes_per_s / probe.bytes_per_s)),
    )
}

/// A processor is full while the messages of the session are signed or encrypted.
pub(crate) fn signing(run: &Run, fs: &Layer) -> Option<Cause> {
    let encrypts = fs.bool(names::SMB_ENCRYPTED) == Some(true);
    require(encrypts || fs.bool(names::SMB_SIGNED) == Some(true))?;
    let best = probes::fastest_of_all(run)?;
    let cpus = machine::cpus_during(run, best.phase)?;
    let full = cpus.full();
    // The client signs in the kernel; and what was busy before is not its work.
    let is_its = cpus.share.user <= cpus.share.system + cpus.share.irq
        && machine::busy_before(run, best.record).is_none_or(|busy| busy < OTHERS_BUSY);
    let what = if encrypts { "encryption" } else { "signing" };
    let fact = if encrypts { names::SMB_ENCRYPTED } else { names::SMB_SIGNED };
    (full >= FULL && is_its).then(|| {
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Setting,
            format!(
                "{what} of SMB on a full processor: {} during {} ({})",
                phrase::percent(full),
                best.name(),
                phrase::rate(best.bytes_per_s)
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short(format!("{what} of SMB on a full processor"))
        .with_evidence([
            fs.evidence(fact),
            Evidence::measured("busiest processor", full, format!("{} /proc/stat", best.name())),
        ])
        .decided_by("the same work on a mount without seal and without signing, where the server lets that be")
        .step(Step::LessSigning, None)
    })
}

/// Small files: each takes several requests, one after the other.
pub(crate) fn small_files(run: &Run) -> Option<Cause> {
    let of = |phase: &PhaseRun| {
        let record = phase.record.as_ref().filter(|r| phase.plan.operates_on_files() && r.operations >= LEAST_FILES)?;
        // The samples need not lie at its ends: rates are compared, not sums.
        let samples = run.samples_of(phase);
        let seen_ns = samples.last()?.at_ns.saturating_sub(samples.first()?.at_ns).max(1) as f64;
        let a_second = grew(samples, counters::SMB_REQUESTS)? as f64 / seen_ns;
        let requests = a_second * record.duration_ns() as f64 / record.operations as f64;
        let workers = f64::from(record.engine_threads(&phase.plan).max(1));
        let file_ms = record.duration_ns() as f64 * workers / record.operations as f64 / 1e6;
        (requests >= REQUESTS_A_FILE && file_ms >= LONG_ROUND_TRIP_MS).then_some((requests, file_ms))
    };
    let seen = run.phases.iter().filter_map(|phase| Some((phase, of(phase)?)));
    let (phase, (requests, file_ms)) = seen.max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
    Some(
        Cause::new(
            LimitLayer::Link,
            CauseNature::Path,
            format!(
                "small files, one after the other: in {} each takes {requests:.1} requests and {file_ms:.1} ms, {:.2} ms a request",
                phase.plan.name,
                file_ms / requests
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("the round trips of small files")
        .with_evidence([
            Evidence::measured("SMB requests an operation", requests, format!("{} {STATS}", phase.plan.name)),
            Evidence::measured("milliseconds an operation", file_ms, format!("{} record", phase.plan.name)),
        ])
        .decided_by("the same files by several workers at once: where the rate grows with them, it is the round trip")
        .step(Step::SmallFilesTogether, None)
        .speedup_without(Some(requests)),
    )
}

/// Large operations are cut into small requests by rsize or wsize.
pub(crate) fn small_transfers(run: &Run, fs: &Layer) -> Option<Cause> {
    let cut = |p: &Probe<'_>| {
        let (fact, bytes, requests) = match p.writes() {
            true => (names::SMB_WRITE_BYTES, counters::SMB_BYTES_WRITTEN, counters::SMB_WRITES),
            false => (names::SMB_READ_BYTES, counters::SMB_BYTES_READ, counters::SMB_READS),
        };
        let size = fs.int(fact).filter(|size| (1..SMALL_TRANSFER_BYTES).contains(size))?;
        let samples = run.samples_of(p.phase);
        let requests = grew(samples, requests).filter(|n| *n >= LEAST_FILES)?;
        let each = grew(samples, bytes)? as f64 / requests as f64;
        (p.block >= 4.0 * size as f64 && each <= 2.0 * size as f64).then_some((fact, size, each))
    };
    let (probe, (fact, size, each)) = probes::all(run).into_iter().find_map(|p| Some((p, cut(&p)?)))?;
    let each = Evidence::measured("bytes of a request", each, format!("{} {STATS}", probe.name()));
    Some(server_calls::cut_small(&probe, fact, size, "requests").with_evidence([each]))
}

/// A small operation alone takes long, and more of them at once are faster.
fn round_trip(run: &Run) -> Option<Cause> {
    let pair = |direction| {
        let depths = probes::depths(run, direction);
        let shallow = *depths.first().filter(|p| p.depth == 1.0)?;
        let deep = *depths.last().filter(|p| p.depth >= 8.0)?;
        let ms = shallow.latency_ns(run)? / 1e6;
        (ms >= LONG_ROUND_TRIP_MS && deep.iops(run) >= SCALES * shallow.iops(run)).then_some((shallow, deep, ms))
    };
    let (shallow, deep, ms) = [Direction::Read, Direction::Write].into_iter().find_map(pair)?;
    let computed = computed_meanwhile(run, shallow.phase, shallow.record);
    Some(
        Cause::new(
            LimitLayer::Link,
            CauseNature::Path,
            format!(
                "the round trip to the server: {} takes {ms:.1} ms an operation, and {:.0} at once are {} as fast",
                shallow.name(),
                deep.depth,
                phrase::times(deep.iops(run) / shallow.iops(run))
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("the round trip to the server")
        .with_confidence(if computed.is_some() { Confidence::Low } else { Confidence::Probable })
        .with_evidence([Evidence::measured("mean latency, ms", ms, shallow.id("latency_ns_mean"))])
        .with_evidence(computed.map(|all| {
            let source = format!("{} /proc/stat", shallow.name());
            Evidence::measured("processors that computed meanwhile", all, source)
        }))
        .decided_by("ping to the server; what is more than that is the server's")
        .step(Step::FewerRoundTrips, None)
        .speedup_without(Some(deep.iops(run) / shallow.iops(run))),
    )
}

/// One connection carries all, where the server offers more: a hint, for what they would bring was not measured.
fn one_channel(run: &Run, fs: &Layer) -> Option<Cause> {
    let offered = fs.int(names::SMB_INTERFACES).filter(|n| *n > 0)?;
    let scales = fs.bool(names::SMB_INTERFACE_SCALES) == Some(true);
    require(fs.int(names::SMB_CHANNELS) == Some(1) && (offered > 1 || scales))?;
    let best = probes::fastest_of_all(run)?;
    Some(
        Cause::new(
            LimitLayer::Link,
            CauseNature::Setting,
            format!(
                "one connection carries all ({}), and the server offers {offered} interfaces",
                phrase::rate(best.bytes_per_s)
            ),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("one connection to the server")
        .with_confidence(Confidence::Low)
        .with_evidence([fs.evidence(names::SMB_CHANNELS), fs.evidence(names::SMB_INTERFACES)])
        .decided_by("the same work on a mount with multichannel,max_channels=4")
        .step(Step::MoreChannels, None),
    )
}
