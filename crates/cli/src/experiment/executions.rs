//! `narrows experiment`: run one, list executions, restore what one left changed.

use crate::args::{ExperimentArgs, ExperimentCommand, GlobalArgs};
use crate::output::Output;
use crate::run::text;
use crate::{archives, run};
use experiments::experiment::State;
use model::Failure;
use report::document::{ExecutionEntry, ExecutionsDocument};
use std::process::ExitCode;

/// Executes the command.
pub fn of_experiments(args: &ExperimentArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    match &args.command {
        ExperimentCommand::Restore => Ok(super::restore(output)),
        ExperimentCommand::List => list(global, output),
        ExperimentCommand::Run(args) => {
            let args = args.as_run();
            if let Some(name) = args.workload.as_deref().filter(|_| args.resume.is_none()) {
                let source = text::source(name)?;
                if !spec::is_experiment(&source.text) {
                    let what = format!("{} is not an experiment", source.name);
                    let remedy = format!("narrows run {}   if it is a workload", source.name);
                    return Err(Failure::usage(what).remedy(remedy));
                }
            }
            run::command(&args, global, output)
        }
    }
}

fn list(global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let states = State::all(&archives::open(global)?)?;
    let entries: Vec<ExecutionEntry<'_>> = states
        .iter()
        .map(|state| ExecutionEntry {
            id: &state.id,
            name: &state.name,
            target: state.target.as_deref(),
            started: &state.started,
            made: state.runs_made(),
            runs: state.steps.len(),
            complete: state.is_complete(),
        })
        .collect();
    let document = ExecutionsDocument::new(entries);
    output.answer(&document, || report::executions(&document));
    Ok(ExitCode::SUCCESS)
}
