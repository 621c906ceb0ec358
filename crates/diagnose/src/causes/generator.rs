//! The program itself is the limit.

use super::{Cause, Standing};
use crate::{machine, phrase};
use model::{Confidence, EngineKind, Evidence, LimitLayer, Run};

/// User time of our own at this share of a processor per worker leaves nothing to wait for the storage with.
const OWN_USER_SHARE: f64 = 0.9;

/// `null:` has nothing below the generator: what it shows is the generator.
pub fn null_target(run: &Run) -> Option<Cause> {
    let best = run
        .metrics()
        .filter(|m| m.id.ends_with(".iops"))
        .filter_map(|m| machine::metric(run, &m.id))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let evidence =
        best.map(|(m, v)| Evidence::measurement("rate without any device", phrase::rounded(v), m.id.clone()));
    let rate =
        best.map_or(String::new(), |(_, v)| format!(": {} is what this program can ask for here", phrase::iops(v)));
    Some(
        Cause::new(
            LimitLayer::Generator,
            Standing::Distortion,
            format!("the generator itself, as null: has no storage{rate}"),
        )
        .sure(Confidence::High)
        .because([Evidence::fact("target", "null", "target kind")])
        .because(evidence)
        .decided_by("nothing below the generator exists on this target"),
    )
}

/// Our own workers burn a whole processor in user mode.
pub fn own_processor(run: &Run) -> Option<Cause> {
    let (phase, user) = machine::executed(run)
        .filter(|(_, r)| !matches!(r.engine.kind, EngineKind::Sim | EngineKind::Null))
        .filter_map(|(p, r)| machine::own_share(p, r).map(|(user, _)| (p, user)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, user)| *user >= OWN_USER_SHARE)?;
    let name = &phase.plan.name;
    Some(
        Cause::new(
            LimitLayer::Generator,
            Standing::Distortion,
            format!("this program: its worker computes {} of the time during {name}", phrase::percent(user)),
        )
        .because([Evidence::measurement("own user CPU share", phrase::rounded(user), format!("{name} getrusage"))])
        .decided_by(format!("{name} again with more workers: a higher rate means the generator was the limit"))
        .step("repeat with more workers or larger blocks", None, "the storage was not reached"),
    )
}
