//! `narrows why [RUN]`: the limiting layer of a run, with what it rests on; `--confirm` measures what decides.

use crate::archives;
use crate::args::{GlobalArgs, WhyArgs};
use crate::execution::{Asked, Execution};
use crate::output::Output;
use crate::run_source::RunSource;
use crate::signals::SecondSignal;
use conduct::plan::inputs;
use conduct::{Budget, Wanted, random_u64};
use model::{Conclusions, Confidence, Confirmation, Failure, FailureKind, Limit, LimitLayer, Run, TargetKind};
use report::Why;
use report::document::WhyDocument;
use spec::{TextInputs, Workload};
use std::ffi::OsStr;
use std::process::ExitCode;
use sys::SymlinkPolicy;

/// Executes the command.
pub fn command(args: &WhyArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let (run, taken) = RunSource::with_limits(&archives::open(global)?, &args.run, |run| {
        conclusions::of_run(run).limit.layer != LimitLayer::Unknown
    })?;
    let taken = taken.as_deref();
    // The bottleneck is the one that the card of the run has.
    let conclusions = conclusions::of_run(&run);
    if !args.confirm {
        return Ok(show(&run, &conclusions, (taken, None), output));
    }
    // What decides another cause says nothing of the bottleneck.
    let limits = |told: &model::Cause| conclusions.causes.iter().any(|c| c.is_limit && c.statement == told.statement);
    let causes = diagnose::causes(&run);
    let cause = causes.iter().find(|cause| limits(cause));
    let Some((cause, trial)) = cause.and_then(|c| Some((c, c.deciding_trial(&run)?))) else {
        show(&run, &conclusions, (taken, None), output);
        return Err(Failure::invalid(
            "nothing that can be measured here separates this bottleneck from other causes: nothing was measured",
        )
        .remedy("narrows why says under 'Decided by' what would, elsewhere or with other settings"));
    };
    same_machine(&run)?;
    let workload = workload(trial.workload())?;
    let execution = Execution::prepare(global, Asked::default(), SecondSignal::Ends, output)?;
    let name = run.target.path.clone().unwrap_or_else(|| run.target.name.clone());
    // The path of a run has no links in it: one that is there now leads elsewhere.
    let links = if run.target.path.is_some() { SymlinkPolicy::Refuse } else { SymlinkPolicy::Follow };
    let mut opened =
        execution.open(&Wanted { links, ..args.permissions.wanted(OsStr::new(&name), workload.interval_ns) })?;
    let inputs = inputs(&opened, random_u64()?);
    let plan = workload.plan(&inputs).map_err(|error| {
        Failure::refused(format!("the measurement that would decide cannot be made here: {error}"))
            .remedy("a file: --overwrite; a block device: --destroy SERIAL")
    })?;
    let executed = execution.conducted().execute("run", plan, Budget::Foreseen, &mut opened, None)?;
    let mut shown = ExitCode::SUCCESS;
    let kept = execution.answer(executed, output, |measured, _, _| {
        let outcome = trial.outcome(cause, measured);
        let now = match outcome.holds {
            Some(false) => conclusions::of_run_without(&run, cause),
            Some(true) | None => conclusions,
        };
        shown = show(&run, &now, (taken, Some(&outcome)), output);
        Ok(())
    });
    Ok(if kept == ExitCode::SUCCESS { shown } else { kept })
}

/// The text or the document, with which run was taken and what the deciding measurement gave. 4 where the limit is not known and
/// nothing else explains it, and where what should decide it does not.
fn show(
    run: &Run,
    conclusions: &Conclusions,
    (taken, confirmation): (Option<&str>, Option<&Confirmation>),
    output: &Output,
) -> ExitCode {
    let Conclusions { limit, causes, findings, next_step, .. } = conclusions;
    let unknown = diagnose::unknown(run);
    let why =
        Why { run, taken, limit, causes, findings, unknown: &unknown, next_step: next_step.as_ref(), confirmation };
    output.answer(&WhyDocument::new(&why), || report::why(&why));
    if confirmation.is_some_and(|c| c.holds.is_none()) {
        return ExitCode::from(FailureKind::Invalid.exit_code());
    }
    exit_code(limit)
}

fn exit_code(limit: &Limit) -> ExitCode {
    match (limit.layer, limit.confidence) {
        (LimitLayer::Unknown, Confidence::Low) => ExitCode::from(FailureKind::Invalid.exit_code()),
        _ => ExitCode::SUCCESS,
    }
}

/// What was measured elsewhere cannot be decided here.
fn same_machine(run: &Run) -> Result<(), Failure> {
    if matches!(run.target.kind, TargetKind::Sim | TargetKind::Null) {
        return Ok(());
    }
    let here = observe::environment(&observe::Root::new("/")).hostname;
    match (&run.environment.hostname, &here) {
        (Some(there), Some(here)) if there != here => Err(Failure::refused(format!(
            "{} was measured on {there}, and this is {here}: nothing was measured",
            run.id
        ))
        .remedy("run narrows why --confirm on the machine of the run")),
        _ => Ok(()),
    }
}

/// A text of this program is sound; if one is not, that is our fault.
fn workload(text: &str) -> Result<Workload, Failure> {
    spec::parse_workload(&TextInputs::own("why", text)).map_err(|errors| {
        let text = errors.first().map(ToString::to_string).unwrap_or_default();
        Failure::internal(format!("the measurement's own text: {text}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use spec::RunInputs;

    #[test]
    fn the_texts_of_all_trials_are_sound() {
        use diagnose::Trial;
        for trial in [Trial::Depths, Trial::Sizes, Trial::WriteSizes, Trial::WritePaths, Trial::ReadPaths] {
            let workload = workload(trial.workload()).unwrap_or_else(|f| panic!("{}", f.message));
            let inputs = RunInputs {
                kind: TargetKind::Directory,
                readiness: spec::Readiness::Writable,
                max_bytes: 1 << 30,
                sector_bytes: 512,
                memory_bytes: None,
                seed: 1,
                probe: Default::default(),
                packages: None,
            };
            assert!(workload.plan(&inputs).is_ok_and(|p| p.phases.len() >= 4), "{trial:?}");
        }
    }
}
