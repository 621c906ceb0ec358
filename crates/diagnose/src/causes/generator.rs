//! The program itself is the limit.

use super::{Cause, CauseNature};
use crate::{machine, phrase};
use model::{Confidence, EngineKind, Evidence, LimitLayer, PhaseRecord, PhaseRun, Run, Step, traffic};

/// User time of our own at this share of a processor per worker leaves nothing to wait for the storage with.
const OWN_USER_SHARE: f64 = 0.9;

/// `null:` has nothing below the generator: what it shows is the generator.
pub fn null_target(run: &Run) -> Option<Cause> {
    let best = run
        .metrics()
        .filter(|m| m.key().quantity == "iops")
        .filter_map(|m| machine::metric(run, &m.id))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let evidence = best.map(|(m, v)| Evidence::measured("rate without any device", v, m.id.clone()));
    let rate =
        best.map_or(String::new(), |(_, v)| format!(": {} is what this program can ask for here", phrase::iops(v)));
    Some(
        Cause::new(
            LimitLayer::Generator,
            CauseNature::Distortion,
            format!("the generator itself, as null: has no storage{rate}"),
        )
        .with_confidence(Confidence::High)
        .with_evidence([Evidence::fact("target", "null", "target kind")])
        .with_evidence(evidence)
        .decided_by("nothing below the generator exists on this target"),
    )
}

/// More than all of a thread's time is no account of it: a hypervisor that takes processors away has their ticks counted as ours.
const WHOLE: f64 = 1.05;
/// A disk that has this share of the depth in flight is never without work.
const NEVER_WAITS: f64 = 0.9;

/// What the workers of a phase computed for certain: of the time that was stolen nobody knows whose it was.
fn computed(run: &Run, phase: &PhaseRun, record: &PhaseRecord) -> Option<f64> {
    let (user, _) = machine::own_share(phase, record).filter(|(user, _)| *user <= WHOLE)?;
    let samples = run.samples_of(phase);
    // Making data is not what holds a loop whose device is never without work.
    let disks: Vec<String> = run.target.stack.lowest_counted().iter().map(|l| l.name.clone()).collect();
    let in_flight =
        samples.first().zip(samples.last()).and_then(|(a, b)| traffic(a, b, &disks)).map(|t| t.mean_in_flight);
    let waits = in_flight.is_none_or(|n| n < NEVER_WAITS * f64::from(phase.plan.queue_depth()));
    waits.then_some(user.min(1.0) - machine::steal(run, phase))
}

/// Our own workers burn a whole processor in user mode.
pub fn own_processor(run: &Run) -> Option<Cause> {
    let (phase, user) = machine::executed(run)
        .filter(|(_, r)| !matches!(r.engine.kind, EngineKind::Sim | EngineKind::Null))
        .filter_map(|(p, r)| Some((p, computed(run, p, r)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, user)| *user >= OWN_USER_SHARE)?;
    let name = &phase.plan.name;
    Some(
        Cause::new(
            LimitLayer::Generator,
            CauseNature::Distortion,
            format!("this program: its worker computes {} of the time during {name}", phrase::percent(user)),
        )
        .with_evidence([Evidence::measured("own user CPU share", user, format!("{name} getrusage"))])
        .decided_by(format!("{name} again with more workers: a higher rate means the generator was the limit"))
        .step(Step::MoreWorkers, None),
    )
}
