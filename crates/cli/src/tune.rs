//! `narrows tune`: searches settings that make a metric better, proves what it found, and says how it is kept.

use crate::args::{GlobalArgs, TuneArgs};
use crate::execution::{Asked, Execution};
use crate::output::Output;
use crate::run::text;
use crate::signals::SecondSignal;
use crate::{archives, experiment, settings};
use conduct::experiment::SettingsInForce;
use conduct::tune::{self, Trial};
use conduct::{Language, random_u64};
use model::{Failure, FailureKind, parse_duration_ns};
use report::document::{TuneDocument, TunePlanDocument};
use report::{tune_plan_text, tuning_text};
use spec::Workload;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// What is felt most, where something may be written; else what a program gets that reads a file.
const USUAL: [&str; 2] = ["responsive", "buffered-read"];

/// Executes the command.
pub fn command(args: &TuneArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let target = match (&args.list, &args.target) {
        (Some(listed), _) => return settings::list(listed, output),
        (None, _) if args.restore => return Ok(experiment::restore(output)),
        (None, Some(target)) => target,
        (None, None) => {
            return Err(Failure::new(FailureKind::Usage, "settings of which path?").remedy("narrows tune /mnt/data"));
        }
    };
    if args.plan {
        experiment::mention_left(output);
    } else {
        experiment::undo_left(&archives::open(global)?, output);
    }
    let budget_ns = parse_duration_ns(&args.budget)
        .map_err(|e| Failure::new(FailureKind::Usage, format!("--budget: {e}")).remedy("for example --budget 20m"))?;
    let objective = tune::objective(made_for(args, target), tune::cell_ns(budget_ns), &workload)?;
    let execution = Execution::prepare(global, Asked::default(), SecondSignal::Hurries, output)?;
    let slot = SettingsInForce::default();
    let trial = Trial { execution: execution.conducted(), slot: &slot, target, allowed: args.permissions.allowed() };
    let asked = tune::Asked {
        objective,
        only: &args.only,
        allow_unsafe: args.allow_unsafe,
        budget_ns,
        margin_percent: args.margin,
        seed: args.seed.map_or_else(random_u64, Ok)?,
    };
    let prepared = tune::prepare(asked, &trial)?;
    let plan = prepared.plan();
    let document = TunePlanDocument::new(&plan);
    if args.plan {
        output.answer(&document, |style| tune_plan_text(&plan, style));
        return Ok(ExitCode::SUCCESS);
    }
    if !output.is_json() {
        output.warning(&document.answer);
    }
    execution.restore_on_second_signal(&slot, output);
    match prepared.search(&trial) {
        Ok(tuning) => {
            output.answer(&TuneDocument::new(&tuning), |style| tuning_text(&tuning, style));
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => execution.ended_by(failure, output),
    }
}

fn made_for<'a>(args: &'a TuneArgs, target: &OsStr) -> &'a str {
    let usual = USUAL[usize::from(!Path::new(target).is_dir())];
    args.made_for.as_deref().unwrap_or(usual)
}

/// A built-in workload, or one of a file.
fn workload(name: &str) -> Result<Workload, Failure> {
    let source = text::source(&OsString::from(name))?;
    if source.language == Language::Toml && (spec::is_experiment(&source.text) || spec::is_frames(&source.text)) {
        return Err(Failure::new(FailureKind::Usage, "it is no workload"));
    }
    text::workload(&source, &[], false)
}
