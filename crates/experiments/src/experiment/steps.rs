//! The runs, in the order that was drawn.

use super::in_force::SettingsInForce;
use super::ready::{self, Allowed, ReadyArm};
use super::state::State;
use archive::Archive;
use conduct::{Budget, Execution, plan};
use conduct::{Event, Step};
use model::{ExperimentPlace, Failure, FailureKind, NS_PER_S, Run, RunState, TargetKind};
use spec::Experiment;
use std::time::{Duration, Instant};

/// What the runs of an experiment are made with.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// What is asked.
    pub experiment: &'a Experiment,
    /// Its arms, looked at.
    pub arms: &'a [ReadyArm],
    /// What the user allows.
    pub allowed: Allowed<'a>,
    /// Where the settings in force are, for whoever has to put them back meanwhile.
    pub slot: &'a SettingsInForce,
    /// Executes each run.
    pub execution: Execution<'a>,
    /// Where the state is.
    pub archive: &'a Archive,
}

/// Makes the runs that are still to be made, as far as the state of the machine allows. Whether all data that were
/// verified came back as they were written.
///
/// # Errors
/// What stopped it; the state is kept, and `--resume` goes on.
pub(super) fn run_steps(runner: &Runner<'_>, state: &mut State) -> Result<bool, Failure> {
    let Runner { experiment, arms, execution, .. } = runner;
    let mut clean = true;
    let mut first = true;
    for index in 0..state.steps.len() {
        let step = state.steps[index].clone();
        if step.run_id.is_some() {
            continue;
        }
        let Some(ready) = arms.get(step.arm) else {
            return Err(Failure::internal(format!("{}: there is no arm {}", state.id, step.arm)));
        };
        if let Some(state_needed) = &ready.waits {
            return Err(waiting(state, &ready.arm.name, state_needed));
        }
        if !std::mem::take(&mut first) {
            rest_between_runs(experiment, ready, execution);
        }
        if execution.interrupts.end() {
            return Err(interrupted(state));
        }
        let place = ExperimentPlace {
            id: state.id.clone(),
            arm: step.arm_name.clone(),
            pair: step.pair,
            order: u32::try_from(index).ok(),
            seed: Some(state.seed),
        };
        let place = Step { place: &place, pairs: experiment.pairs };
        let run = one(runner, ready, state, place)?;
        match run.state {
            RunState::Complete => {}
            RunState::Interrupted => return Err(interrupted(state)),
            RunState::Failed | RunState::Truncated => {
                let message = format!("run {} of arm '{}' failed: {}", run.id, step.arm_name, why(&run));
                return Err(Failure::invalid(message)
                    .remedy(format!("fix it, then narrows run --resume {} continues where it stopped", state.id)));
            }
        }
        clean &= run.phases.iter().filter_map(|p| p.record.as_ref()?.verify.as_ref()).all(|v| v.mismatched() == 0);
        state.steps[index].run_id = Some(run.id.clone());
        state.save(runner.archive)?;
        execution.listener.on_event(Event::StepMade { step: place, made: state.runs_made(), of: state.steps.len() });
    }
    Ok(clean)
}

/// One run: settings, workload, settings back.
fn one(runner: &Runner<'_>, ready: &ReadyArm, state: &State, step: Step<'_>) -> Result<Run, Failure> {
    let execution = runner.execution.from_now();
    let (slot, interrupts) = (runner.slot, execution.interrupts);
    let stack = ready.target_state.as_ref().map(ready::ArmTarget::stack_for_settings).unwrap_or_default();
    slot.apply(&ready.arm, &state.id, &stack, interrupts).inspect_err(|failure| {
        if failure.kind == FailureKind::Invalid {
            execution.listener.on_event(Event::StillChanged);
        }
    })?;
    let made = (|| {
        let mut opened = ready::open(ready, runner.allowed, &execution)?;
        // Both runs of a pair ask for the same blocks in the same order.
        let seed = state.seed ^ u64::from(step.place.pair + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let plan = plan::plan(&ready.workload, &opened, seed)?;
        execution.execute("run", plan, Budget::Foreseen, &mut opened, Some(step))
    })();
    let restored = slot.undo(&|| interrupts.asked_twice());
    if restored.is_err() {
        execution.listener.on_event(Event::StillChanged);
    }
    let run = made.and_then(conduct::Executed::into_kept);
    match (run, restored) {
        // Ctrl-C before the run had anything to keep: as between two runs.
        (Err(_), Ok(())) if execution.interrupts.end() => Err(interrupted(state)),
        (run, Ok(())) => run,
        // What is left changed matters more than why the run ended.
        (Ok(_), Err(failure)) => Err(failure),
        (Err(first), Err(failure)) => {
            Err(Failure { message: format!("{}; {}", failure.message, first.message), ..failure })
        }
    }
}

/// Rests between two runs, if asked; simulated time needs no rest.
fn rest_between_runs(experiment: &Experiment, ready: &ReadyArm, execution: &Execution<'_>) {
    if ready.target_state.as_ref().is_some_and(|h| h.target.kind == TargetKind::Sim) {
        return;
    }
    let until = Instant::now() + Duration::from_nanos(experiment.settle_ns.min(86_400 * NS_PER_S));
    while Instant::now() < until && !execution.interrupts.end() {
        std::thread::sleep(Duration::from_millis(50).min(until.saturating_duration_since(Instant::now())));
    }
}

fn why(run: &Run) -> String {
    let of_phases = || run.phases.iter().flat_map(|p| &p.reasons).next_back().map(model::Reason::to_string);
    run.remarks.last().cloned().or_else(of_phases).unwrap_or_else(|| "its phases say why".to_owned())
}

fn progress(state: &State) -> String {
    format!("{} of {} runs are made", state.runs_made(), state.steps.len())
}

/// The next arm needs another state of the machine.
fn waiting(state: &State, arm: &str, needed: &str) -> Failure {
    let message = format!("{}; the next one is of arm '{arm}', which needs {needed}", progress(state));
    Failure::invalid(message)
        .remedy(format!("bring the machine into that state, then: narrows run --resume {}", state.id))
}

fn interrupted(state: &State) -> Failure {
    Failure::invalid(format!("interrupted: {}, and all settings are as they were", progress(state)))
        .remedy(format!("narrows run --resume {} continues in the same order", state.id))
}
