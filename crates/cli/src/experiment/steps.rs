//! The runs, in the order that was drawn.

use super::ready::{self, ReadyArm};
use super::settings::Slot;
use super::state::State;
use crate::args::Permissions;
use crate::conduct::Budget;
use crate::execution::Execution;
use crate::output::Output;
use model::{ExperimentPlace, Failure, FailureKind, NS_PER_S, Run, RunState, TargetKind};
use spec::Experiment;
use std::time::{Duration, Instant};

/// After the second signal, what ends by itself does so within this time.
const PATIENCE: Duration = Duration::from_secs(3);

/// Makes the runs that are still to be made, as far as the state of the machine allows. Whether all data that were
/// verified came back as they were written.
///
/// # Errors
/// What stopped it; the state is kept, and `--resume` goes on.
pub fn walk(
    experiment: &Experiment,
    state: &mut State,
    arms: &[ReadyArm],
    permissions: &Permissions,
    execution: &mut Execution<'_>,
    output: &Output,
) -> Result<bool, Failure> {
    let slot = Slot::default();
    second_signal(&slot, output, execution);
    let mut clean = true;
    let mut first = true;
    for index in 0..state.steps.len() {
        let step = state.steps[index].clone();
        if step.run_id.is_some() {
            continue;
        }
        let Some(ready) = arms.get(step.arm) else {
            return Err(Failure::new(FailureKind::Internal, format!("{}: there is no arm {}", state.id, step.arm)));
        };
        if let Some(state_needed) = &ready.waits {
            return Err(waiting(state, &ready.arm.name, state_needed));
        }
        if !std::mem::take(&mut first) {
            settle(experiment, ready, execution);
        }
        if execution.interrupted() {
            return Err(interrupted(state));
        }
        let label = format!("pair {} of {}, {}", step.pair + 1, experiment.pairs, step.arm_name);
        let place = ExperimentPlace {
            id: state.id.clone(),
            arm: step.arm_name.clone(),
            pair: step.pair,
            order: u32::try_from(index).ok(),
            seed: Some(state.seed),
        };
        let run = one(ready, state, place, label, permissions, &slot, execution, output)?;
        match run.state {
            RunState::Complete => {}
            RunState::Interrupted => return Err(interrupted(state)),
            RunState::Failed | RunState::Truncated => {
                let message = format!("run {} of arm '{}' failed: {}", run.id, step.arm_name, why(&run));
                return Err(Failure::new(FailureKind::Invalid, message)
                    .remedy(format!("mend it, then narrows run --resume {}   goes on where it stopped", state.id)));
            }
        }
        clean &= run.phases.iter().filter_map(|p| p.record.as_ref()?.verify.as_ref()).all(|v| v.mismatched() == 0);
        state.steps[index].run_id = Some(run.id.clone());
        state.save(execution.archive())?;
        let done = state.steps.iter().filter(|s| s.run_id.is_some()).count();
        execution.progress_line(
            output,
            &format!("{done} of {}  pair {}  {}", state.steps.len(), step.pair + 1, step.arm_name),
        );
    }
    Ok(clean)
}

/// Who asks twice to end gets the settings back, and the end of the program, whatever the run waits for.
fn second_signal(slot: &Slot, output: &Output, execution: &Execution<'_>) {
    let (slot, output) = (slot.clone(), output.for_another_thread());
    execution.signals().on_second(move || {
        let undone = slot.undo(&|| true);
        // What is not stuck ends by itself, and has more to say.
        std::thread::sleep(PATIENCE);
        let message = "interrupted twice: the run is not waited for any longer".to_owned();
        let failure = match undone {
            Ok(()) => Failure::new(FailureKind::Invalid, format!("{message}, and all settings are as they were"))
                .remedy("narrows runs recover   saves what was measured"),
            Err(failure) => {
                output.in_red();
                Failure { message: format!("{message}; {}", failure.message), ..failure }
            }
        };
        output.failure(&failure);
        std::process::exit(FailureKind::Invalid.exit_code().into());
    });
}

/// One run: settings, workload, settings back.
#[expect(clippy::too_many_arguments, reason = "each is one thing that a run needs")]
fn one(
    ready: &ReadyArm,
    state: &State,
    place: ExperimentPlace,
    label: String,
    permissions: &Permissions,
    slot: &Slot,
    execution: &mut Execution<'_>,
    output: &Output,
) -> Result<Run, Failure> {
    execution.restart_clock();
    let stack = ready.here.as_ref().map(ready::Here::real_stack).unwrap_or_default();
    slot.apply(&ready.arm, &state.id, &stack, execution.signals()).inspect_err(|failure| {
        if failure.kind == FailureKind::Invalid {
            output.in_red();
        }
    })?;
    let made = (|| {
        let mut opened = ready::open(ready, permissions, execution)?;
        // Both runs of a pair ask for the same blocks in the same order.
        let seed = state.seed ^ u64::from(place.pair + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let plan = crate::run::plan::plan(&ready.workload, &opened, seed)?;
        execution.execute_for("run", plan, Budget::Foreseen, &mut opened, place, label)
    })();
    let restored = slot.undo(&|| execution.signals().second());
    if restored.is_err() {
        output.in_red();
    }
    let run = made.and_then(crate::execution::Executed::into_kept);
    match (run, restored) {
        // Ctrl-C before the run had anything to keep: as between two runs.
        (Err(_), Ok(())) if execution.interrupted() => Err(interrupted(state)),
        (run, Ok(())) => run,
        // What is left changed matters more than why the run ended.
        (Ok(_), Err(failure)) => Err(failure),
        (Err(first), Err(failure)) => {
            Err(Failure { message: format!("{}; {}", failure.message, first.message), ..failure })
        }
    }
}

/// Rests between two runs, if asked; simulated time needs no rest.
fn settle(experiment: &Experiment, ready: &ReadyArm, execution: &Execution<'_>) {
    if ready.here.as_ref().is_some_and(|h| h.target.kind == TargetKind::Sim) {
        return;
    }
    let until = Instant::now() + Duration::from_nanos(experiment.settle_ns.min(86_400 * NS_PER_S));
    while Instant::now() < until && !execution.interrupted() {
        std::thread::sleep(Duration::from_millis(50).min(until.saturating_duration_since(Instant::now())));
    }
}

fn why(run: &Run) -> String {
    let reasons = run.phases.iter().flat_map(|p| p.reasons.iter()).chain(&run.remarks);
    reasons.last().cloned().unwrap_or_else(|| "its phases say why".to_owned())
}

fn progress(state: &State) -> String {
    let done = state.steps.iter().filter(|s| s.run_id.is_some()).count();
    format!("{done} of {} runs are made", state.steps.len())
}

/// The next arm needs another state of the machine.
fn waiting(state: &State, arm: &str, needed: &str) -> Failure {
    let message = format!("{}; the next one is of arm '{arm}', which needs {needed}", progress(state));
    Failure::new(FailureKind::Invalid, message)
        .remedy(format!("bring the machine into that state, then: narrows run --resume {}", state.id))
}

fn interrupted(state: &State) -> Failure {
    Failure::new(FailureKind::Invalid, format!("interrupted: {}, and all settings are as they were", progress(state)))
        .remedy(format!("narrows run --resume {}   goes on in the same order", state.id))
}
