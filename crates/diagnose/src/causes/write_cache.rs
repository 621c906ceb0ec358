//! A device that writes fast into a cache and slowly once it is full.

use super::{Cause, Standing, credit, gaps, probes, thermal};
use crate::{machine, phrase, series, stack_view};
use model::{Confidence, Direction, Evidence, LimitLayer, PhaseRecord, PhaseRun, Run};

/// A rate this near to the one after a fall is the same: what was full stayed full.
const STAYED: f64 = 1.3;

/// A fall of the rate at which data move: where a device stands still now and then, of the rate in between.
fn fall(run: &Run, phase: &PhaseRun, record: &PhaseRecord) -> Option<series::Step> {
    match gaps::gaps(run, phase, record) {
        Some(_) => series::fall_of(&gaps::without_gaps(record)),
        None => series::fall(record),
    }
}

/// A fall of the direct sequential write rate that stays down: within the phase, or before it while its data were laid
/// out.
pub fn exhausted(run: &Run) -> Option<Cause> {
    let writes = probes::fastest(run, Direction::Write)?;
    let within = fall(run, writes.phase, writes.record).map(|fall| (writes.phase, fall));
    let (phase, fall) = within.or_else(|| {
        credit::before_measuring(run, writes.phase).find_map(|p| {
            let (_, record) = machine::standing(run, &p.plan.name)?;
            // The layout's own speed says nothing if writes are faster afterwards: then nothing was used up.
            fall(run, p, record).filter(|f| writes.bytes_per_s <= f.after * STAYED).map(|f| (p, f))
        })
    })?;
    let record = phase.record.as_ref()?;
    let name = &phase.plan.name;
    // Bytes up to the fall say how large such a cache would be.
    let written: u64 = record.intervals.iter().filter(|i| i.start_ns < fall.at_ns).map(|i| i.bytes).sum();
    // Throttling at the same time is the better explanation, and so is a limiter's plateau; then the fall is told there.
    let told_elsewhere = thermal::explains(run, phase) || credit::spent(run).is_some();
    let confidence = if told_elsewhere { Confidence::Low } else { Confidence::Probable };
    let when = if phase.plan.measures_target() { "" } else { " before anything was measured" };
    Some(
        Cause::new(
            LimitLayer::Device,
            Standing::Path,
            format!(
                "{}'s write cache ran out{when}, after {}: {} before, {} after",
                stack_view::called(run),
                phrase::bytes(written),
                phrase::rate(fall.before),
                phrase::rate(fall.after)
            ),
        )
        .sure(confidence)
        .because([
            Evidence::measurement(
                "write rate before and after, bytes per second",
                vec![phrase::rounded(fall.before), phrase::rounded(fall.after)],
                format!("{name} series, fall at {}", phrase::seconds(fall.at_ns)),
            ),
            Evidence::measurement("bytes written before the fall", written, format!("{name} series")),
        ])
        .decided_by("the same write after some minutes of rest: a cache recovers, a full device does not")
        .step(
            "plan with the rate after the fall for long writes, or keep bursts below the cache",
            None,
            "the rate before the fall is the cache's, not one that lasts",
        ),
    )
}
