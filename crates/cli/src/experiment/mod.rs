//! Experiments: arms run in pairs whose order was drawn by lot, settings put back on every way out, and a state in the
//! archive from which it goes on after a crash or a reboot. docs/experiments.md describes the form of the text.

mod agreement;
mod declared;
mod facts;
mod left;
mod lock;
mod noise;
mod outcome;
mod own;
mod preview;
mod ready;
mod settings;
mod state;
mod steps;
mod text;

pub use declared::declared;
pub use left::{mention_left, recover, restore, undo_left};
pub use noise::noise_floor_of;

use crate::args::{GlobalArgs, RunArgs};
use crate::execution::{Execution, Page, random_u64};
use crate::output::Output;
use crate::run::text::Source;
use model::{Failure, FailureKind};
use spec::{Arm, Experiment};
use state::State;
use std::process::ExitCode;

/// `narrows run EXPERIMENT.toml [TARGET]`.
pub fn command(args: &RunArgs, source: Source, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    if args.format.is_some() {
        return Err(Failure::new(FailureKind::Usage, "--format is for a workload, and this is an experiment")
            .remedy("narrows export RUN --format fio-json   for each of its runs, afterwards"));
    }
    let experiment = text::experiment(&source, args.calibrate)?;
    let workload = text::workload_source(&experiment, &source)?;
    let mut execution =
        Execution::prepare_patient(global, &args.tags, Page { file: args.report.as_deref(), identify: args.identify })?;
    let unfinished = state::last_unfinished(execution.archive(), &experiment.name)?;
    if let Some(unfinished) = unfinished.filter(|_| !args.plan) {
        let done = unfinished.steps.iter().filter(|s| s.run_id.is_some()).count();
        output.warning(&format!(
            "{} is not complete ({done} of {} runs); this is a new execution, --resume would go on with that one",
            unfinished.id,
            unfinished.steps.len()
        ));
    }
    let seed = match args.seed.or(experiment.seed) {
        Some(seed) => seed,
        None => random_u64()?,
    };
    let set = crate::run::text::settings(args, crate::run::text::Language::Toml)?;
    let mut state = State::new(&experiment, &source, &workload, seed, args, set, random_u64()? as u32);
    let arms = ready::arms(&experiment, &state, &args.permissions, &execution)?;
    ready::warn(&experiment, &arms, output);
    if args.plan {
        preview::show(&experiment, &state, &arms, output);
        return Ok(ExitCode::SUCCESS);
    }
    agreement::to_commands(&experiment, &source, args, output, execution.signals())?;
    noise::refuse_small_margins(execution.archive(), &experiment, &arms, args.calibrate)?;
    let lock = lock::Lock::take(execution.archive(), &state.id)?;
    state.save(execution.archive())?;
    own::remember(&state);
    finish(&experiment, &mut state, &arms, args, &mut execution, output, &lock)
}

/// `narrows run [EXPERIMENT.toml] --resume [ID]`.
pub fn resume(
    args: &RunArgs,
    source: Option<Source>,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let mut execution =
        Execution::prepare_patient(global, &args.tags, Page { file: args.report.as_deref(), identify: args.identify })?;
    let id = args.resume.as_deref().and_then(|r| r.to_str()).filter(|r| !r.is_empty());
    let name = source.as_ref().map(|s| text::experiment(s, false).map(|e| e.name)).transpose()?;
    let mut state = state::to_resume(execution.archive(), id, name.as_deref())?;
    if let Some(source) = source.as_ref().filter(|s| s.text != state.text) {
        let message = format!(
            "{} is not what {} was started with: its questions were fixed before the data",
            source.name, state.id
        );
        return Err(Failure::new(FailureKind::Refused, message)
            .remedy(format!("narrows run {} starts it anew, or put the text back", source.name)));
    }
    let experiment = text::experiment(&state.source(), state.calibrate)?;
    agreement::to_state(&mut state, source.as_ref(), &experiment, args, output, execution.signals())?;
    agreement::to_commands(&experiment, &state.source(), args, output, execution.signals())?;
    if let Some(target) = &args.target {
        state.target = Some(target.to_string_lossy().into_owned());
    }
    let lock = lock::Lock::take(execution.archive(), &state.id)?;
    // Another process may have made runs until this moment.
    if let Some(now) = state::load(execution.archive(), &state.id)? {
        state.steps = now.steps;
    }
    let arms = ready::arms(&experiment, &state, &args.permissions, &execution)?;
    own::remember(&state);
    finish(&experiment, &mut state, &arms, args, &mut execution, output, &lock)
}

fn finish(
    experiment: &Experiment,
    state: &mut State,
    arms: &[ready::ReadyArm],
    args: &RunArgs,
    execution: &mut Execution<'_>,
    output: &Output,
    _held: &lock::Lock,
) -> Result<ExitCode, Failure> {
    let walked = steps::walk(experiment, state, arms, &args.permissions, execution, output);
    // Why it stopped matters more than a tag that could not be given.
    let tagged = outcome::tag(execution.archive(), state, &args.tags);
    let clean = walked?;
    tagged?;
    own::forget(state);
    outcome::show(experiment, state, execution.archive(), args, output, clean)
}

/// The arms that are run: those of the text, or the first one under two names.
fn arms_of(experiment: &Experiment, calibrate: bool) -> Vec<Arm> {
    match experiment.arms.first() {
        Some(first) if calibrate => {
            ["1", "2"].iter().map(|n| Arm { name: format!("{}-{n}", first.name), ..first.clone() }).collect()
        }
        _ => experiment.arms.clone(),
    }
}
