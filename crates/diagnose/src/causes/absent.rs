//! A machine whose processors did not run for a part of the time, without a word of it: an emulator on a busy host has no steal time to tell
//! ([`machine::ran_between`]).

use super::Cause;
use crate::machine;
use model::{Confidence, Evidence, Run};

/// A machine that ran for less than this of the time: what took long may have taken long for that.
pub(super) const MOSTLY_THERE: f64 = 0.5;

/// The phases in which the machine was away for most of the time, with the share for which it ran.
fn away(run: &Run) -> Vec<(&str, f64)> {
    machine::executed(run)
        .filter_map(|(phase, _)| Some((phase.plan.name.as_str(), machine::ran_during(run, phase)?)))
        .filter(|(_, ran)| *ran < MOSTLY_THERE)
        .collect()
}

fn of<'r>(away: &[(&'r str, f64)], cause: &Cause) -> Option<(&'r str, f64)> {
    away.iter().copied().find(|(name, _)| cause.timed && cause.is_based_on(name))
}

/// Whether a cause rests on how long something took in phases in which the machine was away for most of the time.
pub(crate) fn is_doubtful(run: &Run, cause: &Cause) -> bool {
    of(&away(run), cause).is_some()
}

/// What rests on how long something took in phases in which the machine was away for most of the time is a hint. What is seen by counts,
/// or is a setting, is as sure as before.
pub(super) fn doubt(run: &Run, causes: &mut [Cause]) {
    let away = away(run);
    for cause in causes.iter_mut().filter(|c| c.confidence >= Confidence::Probable) {
        let Some((name, ran)) = of(&away, cause) else { continue };
        cause.told.confidence = Confidence::Low;
        cause.told.evidence.push(Evidence::measured(
            "share of the time for which the processors of this machine ran",
            ran,
            format!("{name} /proc/stat"),
        ));
    }
}
