//! A machine whose processors did not run for a part of the time, without a word of it: an emulator on a busy host has no steal time to tell.
//! The kernel accounts each tick of a processor that it ran through as something (user, system, idle, stolen); what is missing to the time
//! that passed it did not run through.

use super::{Cause, CauseNature};
use crate::machine;
use model::{Confidence, Evidence, Ns, PhaseRun, Run, SystemSample};

/// A machine that ran for less than this of the time: what took long may have taken long for that.
const MOSTLY_THERE: f64 = 0.5;
/// USER_HZ, in which /proc/stat counts.
const TICK_NS: f64 = 1e7;
/// In shorter times the ticks are too coarse.
const LEAST_NS: Ns = 200_000_000;

/// The share of the time between two looks for which the processors ran, by the ticks that they have accounted.
pub(super) fn ran_between(before: &SystemSample, after: &SystemSample) -> Option<f64> {
    let passed = after.at_ns.checked_sub(before.at_ns).filter(|ns| *ns >= LEAST_NS)?;
    if before.cpus.is_empty() || before.cpus.len() != after.cpus.len() {
        return None;
    }
    let ticks: u64 = before.cpus.iter().zip(&after.cpus).map(|(b, a)| a.total().saturating_sub(b.total())).sum();
    // One that never counted anything is none that stood still.
    (ticks > 0).then(|| ticks as f64 * TICK_NS / (passed as f64 * before.cpus.len() as f64))
}

fn ran_during(run: &Run, phase: &PhaseRun) -> Option<f64> {
    let samples = run.samples_of(phase);
    ran_between(samples.first()?, samples.last()?)
}

/// What rests on how long something took in phases in which the machine was away for most of the time is a hint. What is seen by counts,
/// or is a setting, is as sure as before.
pub(super) fn doubt(run: &Run, causes: &mut [Cause]) {
    let away: Vec<(&str, f64)> = machine::executed(run)
        .filter_map(|(phase, _)| Some((phase.plan.name.as_str(), ran_during(run, phase)?)))
        .filter(|(_, ran)| *ran < MOSTLY_THERE)
        .collect();
    let timed = |c: &&mut Cause| {
        matches!(c.nature, CauseNature::Path | CauseNature::Remainder) && c.confidence >= Confidence::Probable
    };
    for cause in causes.iter_mut().filter(timed) {
        let Some((name, ran)) = away.iter().find(|(name, _)| cause.is_based_on(name)) else { continue };
        cause.told.confidence = Confidence::Low;
        cause.told.evidence.push(Evidence::measured(
            "share of the time for which the processors of this machine ran",
            *ran,
            format!("{name} /proc/stat"),
        ));
    }
}
