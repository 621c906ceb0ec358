//! Layers between the file system and the disks: where a request spends its time, by the counters that each layer keeps.

use super::{Cause, CauseKind, CauseNature, probes};
use crate::guard::require;
use crate::phrase;
use model::facts as names;
use model::{CompactSort as _, Confidence, DiskCounters, Evidence, Layer, LayerKind, LimitLayer, PhaseRun, Run, Step};

/// From this share of a request's time on, what holds it is above the disk.
const MOSTLY: f64 = 0.5;
/// Less than this much more is scheduling.
const MIN_MS: f64 = 0.05;
/// A member that is busy for this share of the time, where another is for at most half of it, holds the array.
const BUSY: f64 = 0.85;
const HALF: f64 = 0.6;
/// Requests from which a mean time says something, and the time of all of them: stacked devices count in ticks of the
/// kernel's clock, up to 10 ms (k:block/blk-core.c bdev_end_io_acct).
const MIN_REQUESTS: u64 = 100;
const MIN_ALL_MS: f64 = 400.0;
/// Larger requests may be split on the way, and are then not the same ones at both layers.
const WHOLE_BYTES: f64 = 65_536.0;

/// What a layer did during a phase.
struct LayerActivity {
    requests: u64,
    /// Mean time of a request, milliseconds.
    each_ms: f64,
    busy: f64,
    writes: u64,
}

fn did(run: &Run, phase: &PhaseRun, layer: &Layer) -> Option<LayerActivity> {
    let samples = run.samples_of(phase);
    let (first, last) = (samples.first()?, samples.last()?);
    let of = |s: &'_ model::SystemSample| s.disks.iter().find(|d| d.name == layer.name).cloned();
    let (before, after): (DiskCounters, DiskCounters) = (of(first)?, of(last)?);
    let writes = after.writes.checked_sub(before.writes)?;
    let requests = after.reads.checked_sub(before.reads)? + writes;
    let ms = after.read_ms.checked_sub(before.read_ms)? + after.write_ms.checked_sub(before.write_ms)?;
    let busy_ms = after.busy_ms.checked_sub(before.busy_ms)?;
    let elapsed_ms = last.at_ns.saturating_sub(first.at_ns) as f64 / 1e6;
    (requests >= MIN_REQUESTS && elapsed_ms > 0.0).then(|| LayerActivity {
        requests,
        each_ms: ms as f64 / requests as f64,
        busy: (busy_ms as f64 / elapsed_ms).min(1.0),
        writes,
    })
}

/// The layers of the path that others stand on and that count: device mapper and RAID.
fn stacked(run: &Run) -> impl Iterator<Item = &Layer> {
    run.target.stack.layers.iter().filter(|l| l.counted && matches!(l.kind, LayerKind::Dm | LayerKind::Md))
}

/// A mapping that holds requests itself (a delay, encryption, a thin pool): a request takes much longer at it than at the
/// disk below, on which it waits for nothing.
pub fn above_the_disk(run: &Run) -> Option<Cause> {
    let disks = run.target.stack.lowest_counted();
    let [disk] = disks.as_slice() else { return None };
    let held = |layer: &'_ Layer, phase: &'_ PhaseRun| {
        let (above, below) = (did(run, phase, layer)?, did(run, phase, disk)?);
        // Requests that were split or merged between the two are not the same ones.
        let alike = (0.5..=2.0).contains(&(above.requests as f64 / below.requests as f64));
        let more = above.each_ms - below.each_ms;
        let counted = above.each_ms * above.requests as f64 >= MIN_ALL_MS;
        (alike && counted && more >= MIN_MS && more / above.each_ms >= MOSTLY).then_some((above.each_ms, below.each_ms))
    };
    // What waits for a free slot of the disk's queue is counted by the layer above it alone, so the queue must not be full.
    let slots = disk.int(names::QUEUE_DEPTH).map_or(1.0, |n| n as f64);
    let whole = |p: &probes::Probe<'_>| p.direct && p.block <= WHOLE_BYTES && (p.depth == 1.0 || p.depth < slots);
    let seen: Vec<(&Layer, probes::Probe<'_>, (f64, f64))> = stacked(run)
        .flat_map(|l| probes::all(run).into_iter().filter(whole).map(move |p| (l, p)))
        .filter_map(|(l, p)| Some((l, p, held(l, p.phase)?)))
        .collect();
    let (layer, probe, (above, below)) =
        seen.iter().copied().max_by(|a, b| (a.2.0 / a.2.1.max(1e-3)).total_cmp(&(b.2.0 / b.2.1.max(1e-3))))?;
    let name = probe.name();
    let kind = layer.text(names::DM_TYPE).unwrap_or("device mapper");
    let statement = format!(
        "{} ({kind}) holds requests: in {name} each takes {} at it and {} at {}",
        layer.name,
        phrase::time(above * 1e6),
        phrase::time(below * 1e6),
        disk.name
    );
    let mean = |name: &str, l: &Layer, ms: f64| {
        Evidence::measured(format!("mean time of a request at {}, ns", l.name), ms * 1e6, format!("{name} diskstats"))
    };
    // It holds those of other phases as well.
    let others = seen.iter().filter(|(l, p, _)| l.name == layer.name && p.name() != name);
    Some(
        Cause::new(LimitLayer::Stacking, CauseNature::Setting, statement)
            .speedup_without(Some(above / below.max(1e-3)))
            .by_time()
            .with_evidence([mean(name, layer, above), mean(name, disk, below)])
            .with_evidence(others.map(|(l, p, (above, _))| mean(p.name(), l, *above)))
            .with_evidence(
                layer.fact(names::DM_TYPE).map(|_| crate::stack_view::Facts::evidence(layer, names::DM_TYPE)),
            )
            .decided_by(format!("the same phase on {} itself, alternating with {}", disk.name, layer.name))
            .step(Step::LookAtMapping, None),
    )
}

/// A member of an array that is busy all the time while another waits for it.
pub fn slow_member(run: &Run) -> Option<Cause> {
    let md = run.target.stack.first(LayerKind::Md)?;
    let disks = run.target.stack.lowest_counted();
    require(disks.len() >= 2)?;
    let (probe, slow, fast) = probes::all(run)
        .into_iter()
        .filter(|p| p.direct)
        .filter_map(|p| {
            let mut all: Vec<(&Layer, LayerActivity)> =
                disks.iter().filter_map(|d| Some((*d, did(run, p.phase, d)?))).collect();
            all.compact_sort_by(|a, b| b.1.busy.total_cmp(&a.1.busy));
            (all.len() == disks.len()).then_some(())?;
            let fast = all.pop()?;
            let slow = all.into_iter().next()?;
            let held = slow.1.busy >= BUSY && fast.1.busy <= HALF && slow.1.each_ms >= 2.0 * fast.1.each_ms;
            // Reads of a mirror go to either; writes go to both.
            let shared = p.writes() == (slow.1.writes > 0) && slow.1.requests as f64 >= fast.1.requests as f64 * 0.2;
            (held && shared).then_some((p, slow, fast))
        })
        .max_by(|a, b| (a.1.1.busy - a.2.1.busy).total_cmp(&(b.1.1.busy - b.2.1.busy)))?;
    let name = probe.name();
    let statement = format!(
        "{} is held by its member {}: in {name} that is busy {} of the time, {} a request; {} only {}, {}",
        md.name,
        slow.0.name,
        phrase::percent(slow.1.busy),
        phrase::time(slow.1.each_ms * 1e6),
        fast.0.name,
        phrase::percent(fast.1.busy),
        phrase::time(fast.1.each_ms * 1e6)
    );
    let busy = |(l, d): &(&Layer, LayerActivity)| {
        Evidence::measured(
            format!("share of time with requests in flight, {}", l.name),
            d.busy,
            format!("{name} diskstats"),
        )
    };
    Some(
        Cause::new(LimitLayer::Stacking, CauseNature::Setting, statement)
            .of_kind(CauseKind::SlowMember)
            .by_time()
            .with_confidence(Confidence::Probable)
            .with_evidence([busy(&slow), busy(&fast)])
            .decided_by(format!("narrows check on each member alone, or the array without {}", slow.0.name))
            .step(Step::ReplaceSlowMember, None),
    )
}
