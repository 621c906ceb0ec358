//! Experiments on the command line: their texts, what has to be agreed to, the preview, and the answer. What executes them
//! is [`experiments::experiment`].

mod agreement;
mod executions;
mod outcome;
mod pending_restores;
mod preview;
mod quick;
mod text;

pub use quick::{compare as quick_compare, repeat};

pub use agreement::agreed;
pub use executions::of_experiments;
pub use pending_restores::{mention_left, recover, restore, undo_left};

use crate::args::{GlobalArgs, RunArgs};
use crate::execution::{Asked, Execution};
use crate::output::Output;
use crate::run::text::settings;
use crate::signals::SecondSignal;
use conduct::{Language, Source, random_u64};
use experiments::experiment::{self, ActiveExecution, CommandLineOverrides, ReadyArm, Runner, SettingsInForce, State};
use model::Failure;
use spec::Experiment;
use std::collections::HashSet;
use std::process::ExitCode;

/// An experiment as a command was told to execute it.
struct Command<'a> {
    experiment: Experiment,
    args: &'a RunArgs,
    execution: Execution<'a>,
    output: &'a Output,
}

/// `narrows run EXPERIMENT.toml [TARGET]`.
pub fn command(args: &RunArgs, source: Source, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    if args.format.is_some() {
        return Err(Failure::usage("--format is for a workload, and this is an experiment")
            .remedy("narrows export RUN --format fio-json   for each of its runs, afterwards"));
    }
    let experiment = experiment::parse(&source, args.calibrate)?;
    let workload = text::workload_source(&experiment, &source)?;
    execute(args, &source, &workload, global, output)
}

/// The text of an experiment, and that of its workload, from the beginning.
fn execute(
    args: &RunArgs,
    source: &Source,
    workload: &Source,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let experiment = experiment::parse(source, args.calibrate)?;
    let execution = prepare(args, global, output)?;
    let unfinished = State::last_unfinished(execution.archive(), &experiment.name)?;
    if let Some(unfinished) = unfinished.filter(|_| !args.plan) {
        output.warning(&format!(
            "{} is not complete ({} of {} runs); this is a new execution, --resume would continue that one",
            unfinished.id,
            unfinished.runs_made(),
            unfinished.steps.len()
        ));
    }
    let given = CommandLineOverrides {
        seed: args.marks.seed.or(experiment.seed).map_or_else(random_u64, Ok)?,
        target: args.target.as_ref().map(|t| t.to_string_lossy().into_owned()),
        set: settings(args, Language::Toml)?,
        calibrate: args.calibrate,
    };
    let state = State::new(&experiment, source, workload, given, random_u64()? as u32);
    let command = Command { experiment, args, execution, output };
    let arms = command.arms(&state)?;
    command.warn_of_few_pairs(&arms);
    command.warn_of_what_is_not_passed(&arms);
    if args.plan {
        preview::show(&command.experiment, &state, &arms, output);
        return Ok(ExitCode::SUCCESS);
    }
    let Command { experiment, execution, .. } = &command;
    agreement::to_commands(experiment, source, args, output, execution.signals())?;
    experiment::refuse_small_margins(execution.archive(), experiment, &arms, args.calibrate)?;
    let active = ActiveExecution::start(execution.archive(), state)?;
    command.finish(active, &arms)
}

/// `narrows run [EXPERIMENT.toml] --resume [ID]`.
pub fn resume(
    args: &RunArgs,
    source: Option<Source>,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let execution = prepare(args, global, output)?;
    let id = args.resume.as_deref().and_then(|r| r.to_str()).filter(|r| !r.is_empty());
    let name = source.as_ref().map(|s| experiment::parse(s, false).map(|e| e.name)).transpose()?;
    let mut state = State::to_resume(execution.archive(), id, name.as_deref())?;
    if let Some(source) = source.as_ref().filter(|s| s.text != state.text) {
        let message = format!(
            "{} is not what {} was started with: its questions were fixed before the data",
            source.name, state.id
        );
        return Err(Failure::refused(message)
            .remedy(format!("narrows run {} starts it anew, or put the text back", source.name)));
    }
    let experiment = experiment::parse(&state.source(), state.calibrate)?;
    agreement::to_state(&mut state, source.as_ref(), &experiment, args, output, execution.signals())?;
    agreement::to_commands(&experiment, &state.source(), args, output, execution.signals())?;
    if let Some(target) = &args.target {
        state.target = Some(target.to_string_lossy().into_owned());
    }
    let active = ActiveExecution::resume(execution.archive(), state)?;
    let command = Command { experiment, args, execution, output };
    let arms = command.arms(&active.state)?;
    command.finish(active, &arms)
}

fn prepare<'a>(args: &'a RunArgs, global: &GlobalArgs, output: &Output) -> Result<Execution<'a>, Failure> {
    let asked = Asked { page: args.report.as_deref(), identify: args.identify, ..Asked::of(&args.marks) };
    Execution::prepare(global, asked, SecondSignal::Hurries, output)
}

impl Command<'_> {
    fn arms(&self, state: &State) -> Result<Vec<ReadyArm>, Failure> {
        let source = state.workload();
        let workload = |arm: &spec::Arm| text::workload(&self.experiment, arm, &source, &state.set);
        let allowed = self.args.permissions.allowed();
        experiment::arms(&self.experiment, state, &workload, allowed, &self.execution.conducted())
    }

    /// What the user should know before hours are spent.
    fn warn_of_few_pairs(&self, arms: &[ReadyArm]) {
        if let Some(few) = experiment::too_few_pairs(&self.experiment, arms) {
            self.output.warning(&format!(
                "{} pairs cannot show a difference in {} metrics at {}: pairs = {} or more, or fewer metrics in primary",
                few.pairs, few.questions, few.alpha, few.least
            ));
        }
    }

    /// A setting of the page cache makes no difference to what does not pass it: said before it starts.
    fn warn_of_what_is_not_passed(&self, arms: &[ReadyArm]) {
        let [reads, writes] = arms.iter().fold([false; 2], |[reads, writes], arm| {
            let [r, w] = arm.workload.passes_page_cache();
            [reads || r, writes || w]
        });
        let mut already_warned = HashSet::new();
        for name in arms.iter().flat_map(|arm| &arm.arm.settings).filter_map(of_page_cache) {
            let (passes, what) = match name {
                PageCacheSetting::ReadAhead(name) => (reads, (name, "reads")),
                PageCacheSetting::Writeback(name) => (writes, (name, "writes")),
            };
            if !passes && already_warned.insert(what) {
                let (name, what) = what;
                self.output.warning(&format!(
                    "{name} cannot make a difference here: it is of {what} through the page cache, and this workload has none \
                     (its I/O is direct; access = \"buffered\" has them, as in experiments/read-ahead.toml)"
                ));
            }
        }
    }

    fn finish(&self, mut active: ActiveExecution, arms: &[ReadyArm]) -> Result<ExitCode, Failure> {
        let Self { experiment, args, execution, output } = self;
        let slot = SettingsInForce::default();
        execution.restore_on_second_signal(&slot, output);
        let walk = Runner {
            experiment,
            arms,
            allowed: args.permissions.allowed(),
            slot: &slot,
            execution: execution.conducted(),
            archive: execution.archive(),
        };
        let walked = active.run_steps(&walk, &args.marks.tags);
        let ended = match walked {
            Ok(ended) => ended,
            Err(failure) => return execution.ended_by(failure, output),
        };
        outcome::show(experiment, &active.state, execution.archive(), args, output, ended)
    }
}

/// A setting that only what goes through the page cache feels, by its name.
enum PageCacheSetting<'a> {
    ReadAhead(&'a str),
    Writeback(&'a str),
}

fn of_page_cache(setting: &spec::Setting) -> Option<PageCacheSetting<'_>> {
    let name = match setting {
        spec::Setting::Value { path, .. } => path,
        spec::Setting::Named { name, .. } => name,
        _ => return None,
    };
    if name == "read-ahead" || name.ends_with("/read_ahead_kb") {
        return Some(PageCacheSetting::ReadAhead(name));
    }
    let last = name.rsplit(['/', '.']).next().unwrap_or(name);
    last.replace('_', "-").starts_with("dirty-").then_some(PageCacheSetting::Writeback(name))
}
