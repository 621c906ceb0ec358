//! What a run does as one of a group: it waits for the others before each phase and after it, and tells what it did.

use super::Execution;
use crate::Opened;
use crate::group::Group;
use crate::listener::{Event, Listener};
use diagnose::PhaseLimit;
use engine::Rig;
use model::{
    Active, Failure, GroupPhase, LimitLayer, Ns, PhasePlan, PhaseRecord, PhaseRun, PhaseStatus, RankLimit, Reason, Run,
    RunState, TargetKind, Together,
};

/// A run's part in its group, where it has one: else nothing here does anything.
pub(super) struct Grouped<'a> {
    group: Option<&'a Group>,
    listener: &'a dyn Listener,
    /// The rig has a time of its own.
    simulated: bool,
    phase: Option<PhaseTogether>,
}

/// What all did together in the phase that is over.
struct PhaseTogether {
    together: Together,
    own: Active,
    ahead_ns: i64,
}

impl<'a> Grouped<'a> {
    pub fn of(execution: &Execution<'a>, opened: &Opened) -> Self {
        let simulated = opened.target.kind == TargetKind::Sim;
        Self { group: execution.group, listener: execution.listener, simulated, phase: None }
    }

    /// Has the group do something; `None` where there is none, or where it ends: then the run does, too.
    fn ask<T>(&self, run: &mut Run, act: impl FnOnce(&Group) -> Result<T, Failure>) -> Option<T> {
        let group = self.group.filter(|_| run.state == RunState::Complete)?;
        act(group).map_err(|_| run.state = RunState::Interrupted).ok()
    }

    /// Waits for the others before a phase, when so much of the budget is left; the least that is left to any.
    pub fn ready(&self, run: &mut Run, left_ns: Ns) -> Ns {
        self.ask(run, |group| group.ready(left_ns)).unwrap_or(left_ns)
    }

    /// Waits for the moment at which all start the phase; whether it has come.
    pub fn start(&mut self, run: &mut Run, rig: &mut dyn Rig, plan: &PhasePlan) -> bool {
        self.phase = None;
        if self.group.is_some() {
            rig.prepare(plan);
        }
        self.group.is_none() || self.ask(run, |group| group.start(self.simulated)).is_some()
    }

    /// Whether the phase is one for other ranks; waits until they have done it. Why it was left out here.
    pub fn sits_out(&self, run: &mut Run, plan: &PhasePlan) -> Option<Reason> {
        let ranks = plan.ranks.filter(|_| self.group.is_some_and(|group| plan.leaves_out(group.place().0)))?;
        self.ask(run, |group| group.sit_out(&plan.name));
        Some(Reason::of("waits", format!("it is done by {ranks} of the ranks, and this one waits")))
    }

    /// A phase was executed, and the run's clock shows `now`.
    pub fn done(&mut self, run: &mut Run, record: &PhaseRecord, now: Ns) {
        let PhaseRecord { started_ns, ended_ns, .. } = *record;
        let counted_ns = started_ns + record.warmup.cut_ns;
        let active = Active { started_ns, counted_ns, ended_ns, ..Active::default() };
        let done = self.ask(run, |group| group.done(active, now, self.simulated));
        self.phase = done.map(|(together, own, ahead_ns)| PhaseTogether { together, own, ahead_ns });
    }

    /// Waits until all have flushed what they wrote, so that quiet windows are quiet.
    pub fn settled(&self, run: &mut Run) {
        let _ = self.ask(run, Group::wait);
    }

    /// What is known of the phase for its judgement.
    pub fn judged(&self) -> Option<GroupPhase> {
        self.phase.as_ref().map(|phase| judge::group::phase(&phase.together, "", Vec::new()))
    }

    /// Tells the others what it did in the phase that was just judged; rank 0 adds the sums.
    pub fn share(&mut self, run: &mut Run) {
        let Some(PhaseTogether { together, own, ahead_ns }) = self.phase.take() else { return };
        let Some(group) = self.group else { return };
        let (rank, _) = group.place();
        let Some(PhaseRun { plan, record: Some(record), status, reasons, .. }) = run.phases.last() else { return };
        let mut share = judge::group::share(&together, rank, &own, &record.intervals, ahead_ns);
        share.refused = (*status == PhaseStatus::Refused).then(|| model::reason::joined_codes(reasons));
        let plan = plan.clone();
        let Some(phase) = self.ask(run, |group| group.share(&plan.name, &together, share)) else { return };
        if rank == 0
            && let Some(last) = run.phases.last_mut()
        {
            last.metrics.extend(judge::group::metrics(&plan, &phase));
        }
    }

    /// This run could not execute a phase: the others are not kept waiting for it.
    pub fn fails(&self, run: &mut Run, failure: &Failure) {
        if let Some(group) = self.group.filter(|_| run.state == RunState::Complete) {
            group.leave(&failure.message);
            run.state = RunState::Interrupted;
        }
    }

    /// Why nothing could be measured, where the group ended before.
    pub fn failure(&self) -> Option<Failure> {
        let why = self.group?.ended()?;
        Some(
            Failure::invalid(format!("the group ended before anything was measured: {why}"))
                .remedy("start all ranks again"),
        )
    }

    /// A phase is over, one way or the other: what ends this run ends the group, and what ended the group is told.
    pub fn look(&mut self, run: &mut Run) {
        let Some(group) = self.group else { return };
        run.group = Some(group.so_far());
        let why = match run.state {
            RunState::Complete | RunState::Truncated => return,
            _ if group.ended().is_some() => return,
            RunState::Interrupted => "it was interrupted".to_owned(),
            RunState::Failed => {
                let failed = run.phases.iter().rev().find_map(|p| p.record.as_ref().filter(|r| !r.errors.is_empty()));
                let errors: Vec<&str> = failed.map_or(Vec::new(), |r| r.errors.keys().map(String::as_str).collect());
                // Without an error of the kernel it is what the phase refuses itself for.
                let reasons = run.phases.iter().rev().find_map(|p| p.reasons.first());
                match reasons.filter(|_| errors.is_empty()) {
                    Some(reason) => format!("its target failed ({})", reason.text()),
                    None => format!("its target failed ({})", errors.join(", ")),
                }
            }
        };
        group.leave(&why);
    }

    /// All phases are over: what limited each rank is told, and the group ends.
    pub fn conclude(&mut self, run: &mut Run) {
        let Some(group) = self.group else { return };
        run.group = Some(group.so_far());
        if run.state == RunState::Complete {
            let limits = limits(run);
            self.ask(run, |group| group.limits(limits));
        }
        let ended = group.ended();
        if ended.is_none() {
            group.finish();
        }
        let mut place = group.so_far();
        place.ended = ended;
        if let Some(why) = &place.ended {
            self.listener.on_event(Event::GroupEnds(why));
            run.remarks.push(Reason::of("group-ended", why.clone()).to_string());
        }
        run.group = Some(place);
    }
}

/// What limited the run in each phase of the group.
fn limits(run: &Run) -> Vec<Option<RankLimit>> {
    let names: Vec<&str> = run.group.iter().flat_map(|g| &g.phases).map(|phase| phase.name.as_str()).collect();
    let found = diagnose::limits_of_phases(run, names.iter().copied());
    let of = |(name, found): (&str, Option<PhaseLimit>)| {
        let PhaseLimit { limit, calls } = found?;
        if limit.layer != LimitLayer::Unknown || calls.is_some() {
            return Some(RankLimit { layer: limit.layer, statement: limit.statement, calls });
        }
        let executed = run.phase(name)?;
        let busy = executed.reasons.iter().chain(executed.metrics.iter().flat_map(|m| &m.reasons));
        let busy = busy.into_iter().find(|r| r.code() == Some("cpu-wait"))?;
        Some(RankLimit { layer: LimitLayer::Cpu, statement: busy.text(), calls: None })
    };
    names.iter().copied().zip(found).map(of).collect()
}
