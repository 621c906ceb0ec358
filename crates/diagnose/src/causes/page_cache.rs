//! The step from direct to buffered: copying into the page cache and flushing it, reading ahead out of it.

use super::{Cause, Standing};
use crate::{machine, phrase};
use model::{Confidence, DirectProof, Evidence, LimitLayer, NS_PER_S, PhaseRecord, Run};

/// Buffered below this share of direct, beyond both intervals, is a step of the ladder.
pub(crate) const WELL_BELOW: f64 = 0.8;
/// System time of our own thread, share of one processor, from which a processor is busy in the kernel for us. Buffered
/// writes on ext4 charge 0.27 to 0.71 (measured, kernel 6.18), direct ones a few percent.
const OWN_SYSTEM: f64 = 0.25;
/// Or that much kernel time over all processors (the flusher threads are not charged to us).
const KERNEL_PROCESSORS: f64 = 0.5;
/// Kernel time that was there before the phase is not ours.
const OTHERS_BUSY: f64 = 0.5;

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

pub(crate) fn kernel_work(run: &Run, name: &str) -> Option<KernelWork> {
    let (phase, record) = machine::standing(run, name)?;
    let (_, own) = machine::own_share(phase, record)?;
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
    (write + sync > 0).then(|| write as f64 / (write + sync) as f64)
}

/// Whether even the best round of buffered writes stayed below the direct rate. The interval of a few rounds, or of a
/// path with two speeds, is wide; that none of them came near is plain all the same.
fn every_round_below(run: &Run, direct: f64) -> bool {
    const FEWEST: usize = 3;
    machine::standing(run, "buffered-write").is_some_and(|(_, record)| {
        record.rounds.len() >= FEWEST
            && record.rounds.iter().all(|r| {
                let ns = r.write_ns + r.sync_ns;
                ns > 0 && r.bytes as f64 / ns as f64 * 1e9 < direct * WELL_BELOW
            })
    })
}

/// Buffered and direct writes, if buffered is well below direct beyond the noise of both.
pub(crate) fn write_step(run: &Run) -> Option<(f64, f64)> {
    let (buffered_id, direct_id) = (machine::throughput_id("buffered-write"), machine::throughput_id("seq-write"));
    let buffered = machine::value(run, &buffered_id)?;
    let direct = machine::direct_throughput(run, "seq-write")?;
    let beyond_noise = machine::below_beyond_noise(run, &buffered_id, &direct_id) || every_round_below(run, direct);
    (buffered / direct < WELL_BELOW && beyond_noise).then_some((buffered, direct))
}

pub(crate) fn write_step_evidence(run: &Run, buffered: f64, direct: f64) -> Vec<Evidence> {
    let mut evidence = vec![
        Evidence::measurement(
            "buffered write, bytes per second",
            phrase::rounded(buffered),
            machine::throughput_id("buffered-write"),
        ),
        Evidence::measurement(
            "direct write, bytes per second",
            phrase::rounded(direct),
            machine::throughput_id("seq-write"),
        ),
    ];
    match kernel_work(run, "buffered-write") {
        Some(work) => {
            evidence.push(Evidence::measurement(
                "own system CPU share",
                phrase::rounded(work.own),
                "buffered-write getrusage",
            ));
            evidence.extend(work.all.map(|all| {
                Evidence::measurement(
                    "processors busy in the kernel",
                    phrase::rounded(all),
                    "buffered-write /proc/stat",
                )
            }));
        }
        None => evidence.push(Evidence::absence("CPU during buffered writes", "buffered-write getrusage")),
    }
    let records = (machine::standing(run, "buffered-write"), machine::standing(run, "seq-write"));
    if let (Some((_, b)), Some((_, d))) = records {
        if let (Some(b), Some(d)) = (seconds_per_gb(b), seconds_per_gb(d)) {
            evidence.push(Evidence::measurement(
                "own system CPU seconds per GB, buffered and direct",
                vec![phrase::rounded(b), phrase::rounded(d)],
                "buffered-write, seq-write getrusage",
            ));
        }
        evidence.extend(copying_share(b).map(|s| {
            Evidence::measurement("time in write calls, share of rounds", phrase::rounded(s), "buffered-write rounds")
        }));
    }
    evidence
}

/// Buffered writes well below direct ones; with a processor busy in the kernel, the page cache is named for it.
pub fn buffered_writes(run: &Run) -> Option<Cause> {
    let (buffered, direct) = write_step(run)?;
    let work = kernel_work(run, "buffered-write").filter(|w| w.busy);
    let pair = format!("{} against {} direct", phrase::rate(buffered), phrase::rate(direct));
    let cause = match work {
        Some(w) => {
            let kernel = w.all.map_or(w.own, |all| all.max(w.own));
            Cause::new(
                LimitLayer::PageCache,
                Standing::Path,
                format!("copying through the page cache: buffered writes {pair}, with {} of a processor busy in the kernel", phrase::percent(kernel)),
            )
            .decided_by("the program's own writes, direct from aligned buffers against buffered, alternating")
        }
        None => Cause::new(
            LimitLayer::PageCache,
            Standing::Path,
            format!("buffered writes lose to direct ones ({pair}), and no busy processor explains it"),
        )
        .sure(Confidence::Low)
        .decided_by("CPU by kind, writeback and journal traffic during buffered writes; then direct against buffered, alternating"),
    };
    Some(cause.because(write_step_evidence(run, buffered, direct)).step(
        "write with direct I/O from aligned buffers",
        Some(direct / buffered),
        "direct over buffered write throughput of this run",
    ))
}

/// Cold buffered reads well below direct ones: read-ahead keeps fewer bytes in flight than depth 8 does.
pub fn buffered_reads(run: &Run) -> Option<Cause> {
    let (buffered_id, direct_id) = (machine::throughput_id("buffered-read"), machine::throughput_id("seq-read"));
    let buffered = machine::value(run, &buffered_id)?;
    let direct = machine::direct_throughput(run, "seq-read")?;
    if buffered / direct >= WELL_BELOW || !machine::below_beyond_noise(run, &buffered_id, &direct_id) {
        return None;
    }
    Some(
        Cause::new(
            LimitLayer::PageCache,
            Standing::Path,
            format!("cold buffered reads run at {} against {} direct", phrase::rate(buffered), phrase::rate(direct)),
        )
        .sure(Confidence::Low)
        .because([
            Evidence::measurement("buffered read, bytes per second", phrase::rounded(buffered), buffered_id),
            Evidence::measurement("direct read, bytes per second", phrase::rounded(direct), direct_id),
        ])
        .decided_by("the same read with a larger read_ahead_kb, alternating")
        .step(
            "try a larger read_ahead_kb, or read directly from aligned buffers",
            Some(direct / buffered),
            "direct over buffered read throughput of this run",
        ),
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
            Standing::Path,
            format!("the file system serves O_DIRECT through the page cache ({basis})"),
        )
        .sure(Confidence::Low)
        .because([Evidence::fact("direct I/O", basis.as_str(), format!("{} direct proof", phase.plan.name))])
        .decided_by("the same check on a file without checksums (chattr +C on btrfs), or on the device"),
    )
}
