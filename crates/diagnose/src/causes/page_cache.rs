//! The step from direct to buffered: copying into the page cache and flushing it, reading ahead out of it.

use super::compared::{self, HeldByProcessor, OTHERS_BUSY, WELL_BELOW};
use super::probes::{self, Probe};
use super::{Cause, CauseKind, CauseNature, Trial, filesystem, nfs, smb};
use crate::guard::exclude;
use crate::stack_view::{self, Facts};
use crate::{machine, phrase};
use model::facts as names;
use model::{Confidence, DirectProof, Direction, Evidence, LimitLayer, NS_PER_S, PhaseRecord, Run, Step, four_figures};

/// System time of our own thread, share of one processor, from which a processor is busy in the kernel for us. Buffered
/// writes on ext4 charge 0.27 to 0.71 (measured, kernel 6.18), direct ones a few percent.
const OWN_SYSTEM: f64 = 0.25;
/// Or that much kernel time over all processors (the flusher threads are not charged to us).
const KERNEL_PROCESSORS: f64 = 0.5;

/// The kernel's work during buffered writes.
#[derive(Clone, Copy)]
pub(crate) struct KernelWork {
    /// System time of our own thread, share of one processor.
    pub own: f64,
    /// System and interrupt time over all processors, in processors.
    pub all: Option<f64>,
    /// Whether a processor is busy in the kernel.
    pub busy: bool,
}

fn kernel_work(run: &Run, probe: &Probe<'_>) -> Option<KernelWork> {
    let (phase, record) = (probe.phase, probe.record);
    let own = machine::own_system_for_certain(run, phase, record)?;
    let all = machine::cpus_during(run, phase).map(|c| c.kernel_processors);
    let others = machine::busy_before(run, record).is_some_and(|b| b >= OTHERS_BUSY);
    let busy = own >= OWN_SYSTEM || (all.is_some_and(|a| a >= KERNEL_PROCESSORS) && !others);
    Some(KernelWork { own, all, busy })
}

fn seconds_per_gb(record: &PhaseRecord) -> Option<f64> {
    (record.bytes > 0).then(|| record.usage.system_ns as f64 / NS_PER_S as f64 / (record.bytes as f64 / 1e9))
}

/// Time in write calls (copying) as a share of the rounds (write calls and fsync).
fn copying_share(record: &PhaseRecord) -> Option<f64> {
    let write: u64 = record.rounds.iter().map(|r| r.write_ns).sum();
    let sync: u64 = record.rounds.iter().map(|r| r.sync_ns).sum();
    (sync > 0).then(|| write as f64 / (write + sync) as f64)
}

/// Whether even the best round of buffered writes stayed below the direct rate. The interval of a few rounds, or of a
/// path with two speeds, is wide; that none of them came near is plain all the same.
fn every_round_below(record: &PhaseRecord, direct: f64) -> bool {
    const FEWEST: usize = 3;
    record.rounds.len() >= FEWEST
        && record.rounds.iter().all(|r| {
            let ns = r.write_ns + r.sync_ns;
            ns > 0 && r.bytes as f64 / ns as f64 * 1e9 < direct * WELL_BELOW
        })
}

/// Buffered writes well below direct ones.
#[derive(Clone, Copy)]
pub(crate) struct WriteStep<'a> {
    buffered: Probe<'a>,
    direct: Probe<'a>,
    work: Option<KernelWork>,
    /// What of the processors, and not of the way through the page cache, held the buffered writes.
    pub held: Option<HeldByProcessor>,
}

impl WriteStep<'_> {
    /// How many times as fast direct writes are.
    pub fn direct_over_buffered(&self) -> f64 {
        self.direct.bytes_per_s / self.buffered.bytes_per_s
    }

    /// Whether a processor was busy in the kernel.
    pub fn busy(&self) -> bool {
        self.work.is_some_and(|w| w.busy)
    }

    pub fn evidence(&self) -> Vec<Evidence> {
        let (name, direct) = (self.buffered.name(), self.direct.name());
        let mut evidence = vec![
            Evidence::measured(
                "buffered write, bytes per second",
                self.buffered.bytes_per_s,
                machine::throughput_id(name),
            ),
            Evidence::measured(
                "direct write, bytes per second",
                self.direct.bytes_per_s,
                machine::throughput_id(direct),
            ),
        ];
        match self.work {
            Some(work) => {
                evidence.push(Evidence::measured("own system CPU share", work.own, format!("{name} getrusage")));
                evidence.extend(
                    work.all.map(|all| {
                        Evidence::measured("processors busy in the kernel", all, format!("{name} /proc/stat"))
                    }),
                );
            }
            None => evidence.push(Evidence::absence("CPU during buffered writes", format!("{name} getrusage"))),
        }
        if let (Some(b), Some(d)) = (seconds_per_gb(self.buffered.record), seconds_per_gb(self.direct.record)) {
            evidence.push(Evidence::measurement(
                "own system CPU seconds per GB, buffered and direct",
                vec![four_figures(b), four_figures(d)],
                format!("{name}, {direct} getrusage"),
            ));
        }
        evidence.extend(
            copying_share(self.buffered.record)
                .map(|s| Evidence::measured("time in write calls, share of rounds", s, format!("{name} rounds"))),
        );
        evidence.extend(self.held.iter().flat_map(|held| held.evidence(name, direct)));
        evidence
    }
}

/// Buffered and direct writes, if buffered is well below direct beyond the noise of both.
pub(crate) fn write_step(run: &Run) -> Option<WriteStep<'_>> {
    let buffered = probes::buffered(run, Direction::Write)?;
    let direct = probes::fastest(run, Direction::Write)?;
    let (below, above) = (machine::throughput_id(buffered.name()), machine::throughput_id(direct.name()));
    let beyond_noise =
        machine::below_beyond_noise(run, &below, &above) || every_round_below(buffered.record, direct.bytes_per_s);
    let work = kernel_work(run, &buffered);
    // On a share each round ends with a wait for the server: where nothing computes, that is what it loses.
    let waits_for_a_server = (nfs::mount(run).is_some() || smb::mount(run).is_some())
        && !work.is_some_and(|w| w.busy)
        && !filesystem::waits_for_each_write(run);
    let is_step = buffered.bytes_per_s / direct.bytes_per_s < WELL_BELOW && beyond_noise && !waits_for_a_server;
    is_step.then(|| WriteStep { buffered, direct, work, held: compared::held_by_processor(run, &buffered, &direct) })
}

/// Buffered writes well below direct ones; with a processor busy in the kernel, the page cache is named for it.
pub fn buffered_writes(run: &Run) -> Option<Cause> {
    let step = write_step(run)?;
    let work = step.work.filter(|w| w.busy);
    let (buffered, direct) = (phrase::rate(step.buffered.bytes_per_s), phrase::rate(step.direct.bytes_per_s));
    let pair = format!("{buffered} against {direct} direct");
    let named = instead(run, &pair);
    if let Some(held) = step.held.filter(|_| named.is_none()) {
        return Some(held.cause(&pair, step.buffered.name()).with_evidence(step.evidence()));
    }
    let cause = match work {
        Some(w) => {
            let kernel = w.all.map_or(w.own, |all| all.max(w.own));
            Cause::new(
                LimitLayer::PageCache,
                CauseNature::Path,
                format!("copying through the page cache: buffered writes {pair}, with {} of a processor busy in the kernel", phrase::percent(kernel)),
            )
            .decided_by("the program's own writes, direct from aligned buffers against buffered, alternating")
        }
        None => Cause::new(
            LimitLayer::PageCache,
            CauseNature::Path,
            format!("buffered writes lose to direct ones ({pair}), and no busy processor explains it"),
        )
        .with_confidence(Confidence::Low)
        .decided_by("CPU by kind, writeback and journal traffic during buffered writes; then direct against buffered, alternating"),
    };
    let (cause, remedy) = named.unwrap_or((cause, Step::WriteDirectly));
    let cause = cause
        .with_evidence(step.evidence())
        .tried_by(Trial::WritePaths)
        .step(remedy, Some(step.direct_over_buffered()));
    Some(cause.based_on(Step::WriteDirectly.basis()))
}

/// What explains slow buffered writes better than copying: a mount that waits for each, memory that is not there, a process
/// that carries them out; with the remedy.
fn instead(run: &Run, pair: &str) -> Option<(Cause, Step)> {
    if filesystem::waits_for_each_write(run) {
        let statement = format!(
            "the file system is mounted with sync, so that each write waits for the device: buffered writes {pair}"
        );
        let cause = Cause::new(LimitLayer::Filesystem, CauseNature::Setting, statement)
            .of_kind(CauseKind::SyncMount)
            .decided_by("the same writes after mount -o remount,async, alternating");
        return Some((cause, Step::MountWithoutSync));
    }
    if let Some(fstype) = filesystem::user_mode(run) {
        let statement = format!("a file system in user mode ({fstype}) carries out each write: buffered writes {pair}");
        let cause = Cause::new(LimitLayer::Filesystem, CauseNature::Setting, statement)
            .decided_by("the same check on a file system of the kernel on the same device");
        return Some((cause, Step::KernelFilesystem));
    }
    let (bytes, evidence) = filesystem::little_memory(run)?;
    let statement = format!(
        "the memory limit of this control group ({}) leaves the page cache little room: buffered writes {pair}",
        phrase::bytes(bytes as u64)
    );
    let cause = Cause::new(LimitLayer::Memory, CauseNature::Setting, statement)
        .of_kind(CauseKind::MemoryLimit)
        .with_evidence([evidence])
        .decided_by("the same writes outside of the control group, or with a larger limit, alternating");
    Some((cause, Step::RaiseMemoryLimit))
}

/// Own system time of a reader that does nothing but copy: it hardly waits.
const COPYING: f64 = 0.7;
/// What read-ahead allows, as a share of one window a latency: a reader that copies between two windows gets one, one
/// that copies beside them two (k:mm/readahead.c asks for the next window at a marker in the present one).
const WINDOWS_IN_FLIGHT: (f64, f64) = (0.6, 2.4);

/// Bytes per second that one read-ahead window a latency gives: its latency is the fixed time of a small read and the
/// transfer at the direct rate.
fn one_window(run: &Run, direct: f64) -> Option<(f64, f64)> {
    let path = stack_view::only_disk(&run.target.stack)?;
    let window = path.holder(names::READ_AHEAD_KB)?.need_number(names::READ_AHEAD_KB).ok()? * 1024.0;
    let small = probes::depths(run, Direction::Read)
        .first()
        .copied()
        .or_else(|| probes::sizes(run, Direction::Read).first().copied())
        .filter(|p| p.depth == 1.0)?;
    let fixed = (small.latency_ns(run)? / 1e9 - small.block / direct).max(0.0);
    (window > 0.0).then(|| (window, window / (fixed + window / direct)))
}

fn rates(buffered: &Probe<'_>, direct: &Probe<'_>) -> [Evidence; 2] {
    [("buffered read, bytes per second", buffered), ("direct read, bytes per second", direct)]
        .map(|(what, probe)| Evidence::measured(what, probe.bytes_per_s, machine::throughput_id(probe.name())))
}

/// Cold buffered reads well below direct ones: read-ahead keeps fewer bytes in flight than the direct phase does, or the
/// copy takes a whole processor.
pub fn buffered_reads(run: &Run) -> Option<Cause> {
    let probe = probes::buffered(run, Direction::Read)?;
    let best = probes::fastest(run, Direction::Read)?;
    let (buffered_id, direct_id) = (machine::throughput_id(probe.name()), machine::throughput_id(best.name()));
    let (buffered, direct) = (probe.bytes_per_s, best.bytes_per_s);
    exclude(buffered / direct >= WELL_BELOW || !machine::below_beyond_noise(run, &buffered_id, &direct_id))?;
    let pair = format!("{} against {} direct", phrase::rate(buffered), phrase::rate(direct));
    let copying = machine::own_system_for_certain(run, probe.phase, probe.record);
    let is_other = copying.is_some_and(|own| own >= COPYING) || filesystem::user_mode(run).is_some();
    if let Some(held) = compared::held_by_processor(run, &probe, &best).filter(|_| !is_other) {
        let cause = held.cause(&pair, probe.name()).with_evidence(rates(&probe, &best));
        return Some(cause.with_evidence(held.evidence(probe.name(), best.name())));
    }
    let window = one_window(run, direct);
    let explained = window.is_some_and(|(_, one)| {
        one / direct < WELL_BELOW && (WINDOWS_IN_FLIGHT.0..=WINDOWS_IN_FLIGHT.1).contains(&(buffered / one))
    });
    let (statement, sure, step, decided) = match (copying, window) {
        (Some(own), _) if own >= COPYING => (
            format!(
                "copying out of the page cache: cold buffered reads run at {pair}, and the reader computes {} of the time",
                phrase::percent(own)
            ),
            Confidence::Probable,
            Step::ReadDirectly,
            "the program's own reads, direct against buffered, alternating",
        ),
        (_, Some((bytes, _))) if explained => (
            format!(
                "read-ahead: cold buffered reads run at {pair}, what windows of {:.0} KiB give at this device's latency",
                bytes / 1024.0
            ),
            Confidence::Probable,
            Step::MoreReadAhead,
            "the same read with a larger read_ahead_kb, alternating",
        ),
        _ => (
            format!("cold buffered reads run at {pair}"),
            Confidence::Low,
            Step::TryReadAhead,
            "the same read with a larger read_ahead_kb, alternating",
        ),
    };
    let by_windows = explained && copying.is_none_or(|own| own < COPYING);
    let (layer, kind, statement) = match filesystem::user_mode(run) {
        Some(fstype) => (
            LimitLayer::Filesystem,
            CauseKind::OfItsLayer,
            format!("a file system in user mode ({fstype}) serves each read: cold buffered reads run at {pair}"),
        ),
        None if by_windows => (LimitLayer::PageCache, CauseKind::ReadAhead, statement),
        None => (LimitLayer::PageCache, CauseKind::OfItsLayer, statement),
    };
    Some(
        Cause::new(
            layer,
            if kind == CauseKind::ReadAhead { CauseNature::Setting } else { CauseNature::Path },
            statement,
        )
        .of_kind(kind)
        .by_time()
        .with_confidence(sure)
        .with_evidence(rates(&probe, &best))
        .with_evidence(window.map(|(_, one)| {
            Evidence::measured(
                "one read-ahead window a latency, bytes per second",
                one,
                "read_ahead_kb, latency at depth 1",
            )
        }))
        .with_evidence(
            copying.map(|own| Evidence::measured("own system CPU share", own, format!("{} getrusage", probe.name()))),
        )
        .decided_by(decided)
        .tried_by(Trial::ReadPaths)
        .step(step, Some(direct / buffered)),
    )
}

/// O_DIRECT that goes through the page cache: there is no direct path to compare with.
pub fn direct_fallback(run: &Run) -> Option<Cause> {
    let (phase, basis) = machine::executed(run).find_map(|(p, r)| match &r.direct {
        Some(DirectProof::Fallback(basis)) => Some((p, basis)),
        _ => None,
    })?;
    Some(
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Path,
            format!("the file system serves O_DIRECT through the page cache ({basis})"),
        )
        .with_confidence(Confidence::Low)
        .with_evidence([Evidence::fact("direct I/O", basis.as_str(), format!("{} direct proof", phase.plan.name))])
        .decided_by("the same check on a file without checksums (chattr +C on btrfs), or on the device"),
    )
}
