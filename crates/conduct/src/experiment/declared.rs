//! What an experiment asks, as it was fixed before its data.

use super::State;
use archive::Archive;
use judge::Asked;
use model::Run;
use spec::{Arm, Experiment};

/// What an experiment fixed before its data.
pub struct Declaration {
    /// Margins, error rate, primary metrics.
    pub asked: Asked,
    /// The question as a sentence.
    pub question: String,
}

/// Error rate of one comparison: several arms against the first share the experiment's (Bonferroni).
pub fn alpha(experiment: &Experiment) -> f64 {
    experiment.alpha / experiment.arms.len().saturating_sub(1).max(1) as f64
}

/// The question as the judge takes it.
pub fn asked(experiment: &Experiment) -> Asked {
    Asked {
        alpha: Some(alpha(experiment)),
        margin_percent: experiment.margin_percent,
        margins: experiment.margins.clone(),
        primary: experiment.primary.clone(),
        ..Asked::default()
    }
}

/// Whether an arm is another one under another name: nothing is set, and nothing is waited for, that differs.
pub fn same_arm(a: &Arm, b: &Arm) -> bool {
    Arm { name: b.name.clone(), ..a.clone() } == *b
}

/// What was declared for these runs, if all of them belong to one execution that the archive knows.
pub fn declared(archive: &Archive, a: &[Run], b: &[Run]) -> Option<Declaration> {
    let mut places = a.iter().chain(b).map(|r| r.experiment.as_ref().map(|p| p.id.as_str()));
    let id = places.next()??;
    if !places.all(|other| other == Some(id)) {
        return None;
    }
    let state = State::load(archive, id).ok()??;
    let experiment = super::parse(&state.source(), state.calibrate).ok()?;
    let arm = |runs: &[Run]| -> Option<&Arm> {
        let name = &runs.first()?.experiment.as_ref()?.arm;
        experiment.arms.iter().find(|arm| arm.name == *name)
    };
    let same_arm = arm(a).zip(arm(b)).is_some_and(|(a, b)| same_arm(a, b));
    Some(Declaration { asked: Asked { same_arm, ..asked(&experiment) }, question: experiment.question })
}
