//! What limited single phases, each by what was seen during it: the run as a whole has one limit, which may be of another phase.

use crate::causes::{Cause, causes, nfs_waits};
use crate::rows::limits_of;
use model::{Confidence, Limit, LimitLayer, PhaseRun, Run, ServerCalls};

/// What limited a phase.
#[derive(Clone, Debug)]
pub struct PhaseLimit {
    /// `unknown` where nothing was seen.
    pub limit: Limit,
    /// What its calls to a server took, where the client counts them.
    pub calls: Option<ServerCalls>,
}

/// What limited each of these phases; `None` of one that did not measure the target.
///
/// In this order: a cause that is at least probable and rests on the phase, or is found where there is nothing but this phase; what its calls
/// to a server waited for; the row of its kind of work; a hint. A cause that rests on other phases is none of this one.
pub fn limits_of_phases<'n>(run: &Run, names: impl IntoIterator<Item = &'n str>) -> Vec<Option<PhaseLimit>> {
    let ranked = causes(run);
    let rows = limits_of(run, &ranked);
    // What the run is beside its phases, once: the samples of long runs are many.
    let mut alone = without_phases(run);
    let mut of = |name: &str| {
        let phase = run.phase(name).filter(|p| p.plan.measures_target() && p.record.is_some())?;
        alone.phases = vec![phase.clone()];
        alone.samples = run.samples_of(phase).to_vec();
        let found = causes(&alone);
        let best = best_of(&ranked, &found, phase);
        let row = rows.iter().find(|r| r.phase == name && r.layer != LimitLayer::Unknown);
        let sure = best.filter(|cause| cause.confidence >= Confidence::Probable).map(Limit::from);
        // What the client counted of this phase comes before what is left over, and before a hint that has to be compared with others.
        let limit = sure
            .or_else(|| nfs_waits::waited(run, phase).as_ref().map(Limit::from))
            .or_else(|| row.filter(|row| row.confidence >= Confidence::Probable).map(Limit::from))
            .or_else(|| best.map(Limit::from))
            .or_else(|| row.map(Limit::from))
            .unwrap_or_else(|| crate::limit::unknown_limit(&alone));
        Some(PhaseLimit { limit, calls: nfs_waits::calls(run, phase) })
    };
    names.into_iter().map(&mut of).collect()
}

/// A copy of what a run has beside its phases and samples.
fn without_phases(run: &Run) -> Run {
    Run {
        schema: run.schema.clone(),
        id: run.id.clone(),
        command: run.command.clone(),
        program_version: run.program_version.clone(),
        state: run.state,
        plan: model::Plan { phases: Vec::new(), ..run.plan.clone() },
        environment: run.environment.clone(),
        target: run.target.clone(),
        sessions: run.sessions.clone(),
        experiment: run.experiment.clone(),
        group: None,
        duration_ns: run.duration_ns,
        bytes_written: run.bytes_written,
        capacity: run.capacity.clone(),
        remarks: Vec::new(),
        phases: Vec::new(),
        samples: Vec::new(),
        kernel_log: None,
    }
}

/// The first of the causes that are of this phase: what remains when all else is ruled out is not, where little else was looked at.
fn best_of<'c>(of_run: &'c [Cause], alone: &'c [Cause], phase: &PhaseRun) -> Option<&'c Cause> {
    let of_run = of_run.iter().filter(|c| c.is_based_on(&phase.plan.name));
    let alone = alone.iter().filter(|c| !c.is_remainder());
    of_run.chain(alone).filter(|c| !c.is_remark()).min_by_key(|c| c.rank())
}
