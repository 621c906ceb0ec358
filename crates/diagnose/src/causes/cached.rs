//! Phases that the page cache served: what they show is memory, and the storage was hardly asked.

use super::probes::{self, Probe};
use super::{Cause, CauseNature};
use crate::guard::{exclude, require};
use crate::{machine, phrase};
use model::{Access, CompactSort as _, Confidence, Evidence, LimitLayer, PhaseRecord, PhaseRun, Reason, Run, Step};

/// From this share of its bytes on, a phase was served by memory.
const SERVED: f64 = 0.5;

/// Bytes of a phase that stayed in memory, as a share of all; `None` if that was not seen.
fn in_memory(run: &Run, probe: &Probe<'_>) -> Option<(f64, Evidence)> {
    let (phase, record): (&PhaseRun, &PhaseRecord) = (probe.phase, probe.record);
    let buffered = phase.plan.streams.iter().all(|s| s.path.access == Access::Buffered);
    require(buffered && !phase.plan.cold)?;
    let (share, what, source) = if probe.writes() {
        // A sync within the phase brings the bytes to the device before it ends, and rounds are timed with it.
        exclude(record.rounds.iter().any(|r| r.sync_ns > 0) || record.bytes == 0)?;
        let device = machine::device_bytes_written(run, phase)? as f64;
        let share = (1.0 - device / record.bytes as f64).max(0.0);
        (share, "share of the bytes that were not at the device when the phase ended", "diskstats")
    } else {
        let found = |r: &Reason| if let Reason::PageCache { percent } = r { Some(*percent) } else { None };
        let percent = phase.reasons.iter().find_map(found)?;
        (percent / 100.0, "share of the bytes read that came from memory", "page cache")
    };
    let evidence = Evidence::measured(what, share, format!("{} {source}", probe.name()));
    (share >= SERVED).then_some((share, evidence))
}

/// Names the page cache where it served whole phases. Where other phases reached the storage, it is a remark: those tell
/// more.
pub fn served(run: &Run) -> Option<Cause> {
    let all = probes::all(run);
    let mut cached: Vec<_> = all.iter().filter_map(|p| Some((p, in_memory(run, p)?))).collect();
    let every = cached.len() == all.len();
    cached.compact_sort_by(|a, b| b.0.bytes_per_s.total_cmp(&a.0.bytes_per_s));
    let (best, (share, evidence)) = cached.into_iter().next()?;
    let (standing, sure) =
        if every { (CauseNature::Path, Confidence::Probable) } else { (CauseNature::Distortion, Confidence::Low) };
    let did = if best.writes() { "wrote stayed there" } else { "read came from there" };
    Some(
        Cause::new(
            LimitLayer::PageCache,
            standing,
            format!(
                "the page cache, not the storage: {} of what {} {did}, at {}",
                phrase::percent(share),
                best.name(),
                phrase::rate(best.bytes_per_s)
            ),
        )
        .with_confidence(sure)
        .with_evidence([
            evidence,
            Evidence::measured("rate, bytes per second", best.bytes_per_s, machine::throughput_id(best.name())),
        ])
        .decided_by("the same phase with direct I/O, or cold reads and writes that end with a sync")
        .step(Step::MeasureStorage, None),
    )
}
