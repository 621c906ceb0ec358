//! What is sustained after heat, or the end of a cache, was seen anywhere in a run.
//!
//! Before a device gets hot it takes more than it does for long. A rate from before is no answer to what is asked for in every
//! second: the rate of a later phase is, and where none follows, the rate is at most the lowest one that was seen.

use crate::bounded::{Bounded, bounded_value};
use model::{Bound, PhaseRun, PhaseStatus, Reason, Work};

/// The lowest sustained rate of one phase of sequential writes, as far as what other phases of the run saw lets it be.
pub(crate) fn after_changes(phases: &[PhaseRun], lowest: Bounded) -> Bounded {
    let after_cache = sequential(phases).filter_map(lasting_fall).fold(lowest.value, f64::min);
    let lowest = if after_cache < lowest.value { Bounded::exactly(after_cache) } else { lowest };
    let Some(hot) = phases.iter().rposition(is_slowed_by_heat) else { return lowest };
    let least = |phases: &[PhaseRun]| sequential(phases).filter_map(rate_seen).reduce(f64::min);
    match least(&phases[hot + 1..]) {
        Some(later) => Bounded::exactly(later.min(lowest.value)),
        None => Bounded::by(Bound::AtMost, least(phases).map_or(lowest.value, |rate| rate.min(lowest.value))),
    }
}

/// Why a rate that is only an upper bound does not answer, from the phase that got hot.
pub(crate) fn reason_of_heat(phases: &[PhaseRun], rate: f64) -> Reason {
    let phase = phases.iter().rfind(|p| is_slowed_by_heat(p));
    let why = phase.and_then(|p| p.reasons.iter().find(|r| is_heat(r))).map_or_else(String::new, Reason::to_string);
    let name = phase.map_or("", |p| p.plan.name.as_str());
    Reason::of(
        "throttled",
        format!(
            "it sustains at most {:.1} MB/s, and what it comes down to is not known ({name}: {why}); narrows fill writes until it is steady",
            rate / 1e6
        ),
    )
}

fn is_heat(reason: &Reason) -> bool {
    matches!(reason, Reason::Throttled { .. })
}

fn is_slowed_by_heat(phase: &PhaseRun) -> bool {
    phase.reasons.iter().any(is_heat)
}

fn sequential(phases: &[PhaseRun]) -> impl Iterator<Item = &PhaseRun> {
    phases.iter().filter(|p| matches!(Work::of(&p.plan), Some(Work::SequentialWrite | Work::BufferedWrite)))
}

/// The rate to which a phase fell and at which it stayed until its end.
fn lasting_fall(phase: &PhaseRun) -> Option<f64> {
    let last = phase.changes.last().filter(|_| phase.status == PhaseStatus::Measured)?;
    last.ratio().filter(|ratio| *ratio < 1.0).map(|_| last.after_bytes_per_s)
}

/// The rate of a phase that counts, at the lower end of its interval.
fn rate_seen(phase: &PhaseRun) -> Option<f64> {
    let id = format!("{}.throughput_bytes_per_s", phase.plan.name);
    let metric = phase.metrics.iter().find(|m| m.id == id)?;
    let found = bounded_value(phase, metric).ok()??;
    found.bound.is_none().then_some(found.low)
}
