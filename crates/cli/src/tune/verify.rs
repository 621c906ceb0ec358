//! `narrows tune --verify`: whether what was kept is in effect, and still a gain.

use super::{budget_ns, workload};
use crate::archives;
use crate::args::{GlobalArgs, TuneArgs};
use crate::execution::{Asked, Execution};
use crate::experiment;
use crate::output::Output;
use crate::signals::SecondSignal;
use experiments::experiment::SettingsInForce;
use experiments::tune::{self, Kept, KeptSearch, Trial};
use model::{Failure, KeptTrial, TuneVerification};
use report::document::TuneVerifyDocument;
use settings::Tree;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// The time of a trial, unless it is said otherwise.
const USUAL_BUDGET: &str = "1m";

/// Looks at what is kept, measures what is in effect, and answers.
pub fn command(
    args: &TuneArgs,
    target: Option<&OsStr>,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let budget_ns = budget_ns(args, USUAL_BUDGET)?;
    if args.plan {
        experiment::mention_left(output);
    } else {
        experiment::undo_left(&archives::open(global)?, output);
    }
    let kept = tune::look_at_kept(Path::new("/"), &Tree::machine())?;
    let named = target.map(tune::absolute).transpose()?;
    // Of several searches that of the target, where it still has its name.
    let is_named = |search: &KeptSearch| named.as_ref().is_none_or(|named| *named == search.target);
    let none_is = !kept.searches.iter().any(is_named);
    let Kept { settings, searches } = &kept;
    let mut verified = TuneVerification { settings: settings.clone(), trials: Vec::new() };
    let wanted: Vec<&KeptSearch> = searches.iter().filter(|search| none_is || is_named(search)).collect();
    if !args.plan && !wanted.is_empty() {
        let execution = Execution::prepare(global, Asked::default(), SecondSignal::Hurries, output)?;
        let _lock = tune::Lock::take()?;
        for search in wanted {
            let on = named.as_deref().unwrap_or(&search.target);
            match tried(search, on, args, budget_ns, &execution, output) {
                Ok(trial) => verified.trials.push(trial),
                Err(failure) => return execution.ended_by(failure, output),
            }
        }
    }
    output.answer(&TuneVerifyDocument::new(&verified), || report::tune_verification(&verified));
    Ok(if verified.is_as_kept() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn tried(
    search: &KeptSearch,
    on: &str,
    args: &TuneArgs,
    budget_ns: u64,
    execution: &Execution<'_>,
    output: &Output,
) -> Result<KeptTrial, Failure> {
    if !search.in_effect {
        return Ok(search.not_tried(on, "not all of it is in effect"));
    }
    let asked = args.made_for.as_deref().unwrap_or(&search.asked);
    let objective = match tune::objective(asked, tune::cell_ns(budget_ns), &workload) {
        Ok(objective) => objective,
        Err(failure) if args.made_for.is_some() => return Err(failure),
        Err(failure) => return Ok(search.not_tried(on, failure.message)),
    };
    let slot = SettingsInForce::default();
    execution.restore_on_second_signal(&slot, output);
    let target = OsStr::new(on);
    let trial = Trial { execution: execution.conducted(), slot: &slot, target, allowed: args.permissions.allowed() };
    search.tried(&trial, &objective, budget_ns)
}
