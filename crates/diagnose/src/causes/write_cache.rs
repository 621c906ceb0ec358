//! A device that writes fast into a cache and slowly once it is full.

use super::{Cause, CauseNature, credit, gaps, probes, thermal};
use crate::{machine, phrase, series, stack_view};
use model::{Confidence, Direction, Evidence, Interval, LimitLayer, PhaseRecord, PhaseRun, Run, Step, four_figures};

/// A rate this near to the one after a fall is the same: what was full stayed full.
const STAYED: f64 = 1.3;

/// A fall of the rate at which data move: where a device stands still now and then, of the rate in between.
fn fall(run: &Run, phase: &PhaseRun, record: &PhaseRecord) -> Option<series::Step> {
    match gaps::gaps(run, phase, record) {
        Some(_) => series::fall_of(&gaps::without_gaps(record)),
        None => series::fall(record),
    }
}

fn intervals(phase: &PhaseRun) -> impl Iterator<Item = &Interval> {
    phase.record.iter().flat_map(|r| &r.intervals)
}

/// A fall in all that was written in the same way, from the first byte of a layout to the end of the phase that is measured: one
/// that comes before the counted part of that phase, or so early that it is less than a few windows of the layout.
fn from_the_first<'a>(run: &'a Run, writes: &probes::Probe<'a>) -> Option<(&'a PhaseRun, series::Step)> {
    let asks = |p: &PhaseRun| Some((p.plan.streams.first()?.blocks()?.block.block_size_bytes, p.plan.queue_depth()));
    let before = credit::before_measuring(run, writes.phase).filter(|p| asks(p) == asks(writes.phase));
    let phases: Vec<&PhaseRun> = before.filter(|p| p.record.is_some()).chain([writes.phase]).collect();
    let all: Vec<Interval> = phases.iter().flat_map(|p| intervals(p)).filter(|i| i.operations > 0).copied().collect();
    let fall = series::fall_of(&all).or_else(|| series::early_fall(&all))?;
    let phase = *phases.iter().rev().find(|p| intervals(p).next().is_some_and(|i| i.start_ns <= fall.at_ns))?;
    (phase.plan.name == writes.name() || writes.bytes_per_s <= fall.after * STAYED).then_some((phase, fall))
}

/// A fall of the direct sequential write rate that stays down: within the phase, or before it while its data were laid
/// out.
pub fn exhausted(run: &Run) -> Option<Cause> {
    let writes = probes::fastest(run, Direction::Write)?;
    let within = fall(run, writes.phase, writes.record).map(|fall| (writes.phase, fall));
    let before = || {
        credit::before_measuring(run, writes.phase).find_map(|p| {
            let (_, record) = machine::valid_phase(run, &p.plan.name)?;
            // The layout's own speed says nothing if writes are faster afterwards: then nothing was used up.
            fall(run, p, record).filter(|f| writes.bytes_per_s <= f.after * STAYED).map(|f| (p, f))
        })
    };
    let (phase, fall) = within.or_else(before).or_else(|| from_the_first(run, &writes))?;
    let name = &phase.plan.name;
    // Bytes up to the fall say how large such a cache would be; those of a layout at the same rate went into it as well.
    let into_it = |p: &&PhaseRun| {
        let record = p.record.as_ref();
        record.is_some_and(|r| r.bytes as f64 * 1e9 / r.duration_ns().max(1) as f64 >= fall.before / STAYED)
    };
    let laid_out = credit::before_measuring(run, phase).filter(into_it).flat_map(intervals);
    let written: u64 = intervals(phase).filter(|i| i.start_ns < fall.at_ns).chain(laid_out).map(|i| i.bytes).sum();
    // Throttling at the same time is the better explanation, and so is a limiter's plateau; then the fall is told there.
    let told_elsewhere = thermal::throttling_explains(run, phase) || credit::burst_credit_spent_cause(run).is_some();
    let confidence = if told_elsewhere { Confidence::Low } else { Confidence::Probable };
    let when = if phase.plan.measures_target() { "" } else { " before anything was measured" };
    Some(
        Cause::new(
            LimitLayer::Device,
            CauseNature::Path,
            format!(
                "{}'s write cache ran out{when}, after {}: {} before, {} after",
                stack_view::display_name(run),
                phrase::bytes(written),
                phrase::rate(fall.before),
                phrase::rate(fall.after)
            ),
        )
        .with_confidence(confidence)
        .speedup_without(Some(fall.before / fall.after))
        .with_evidence([
            Evidence::measurement(
                "write rate before and after, bytes per second",
                vec![four_figures(fall.before), four_figures(fall.after)],
                format!("{name} series, fall at {}", phrase::seconds(fall.at_ns)),
            ),
            Evidence::measurement("bytes written before the fall", written, format!("{name} series")),
        ])
        .decided_by("the same write after some minutes of rest: a cache recovers, a full device does not")
        .step(Step::PlanWithRateAfterCache, None),
    )
}
