//! `narrows rate`: how a card, or a kept run of one, stands to the published classes.

use crate::archives;
use crate::args::{CapacityHow, GlobalArgs, RateArgs};
use crate::check::max_write;
use crate::execution::{Asked, Execution};
use crate::output::Output;
use crate::run::text;
use crate::run_source::{RunSource, Wants};
use crate::signals::SecondSignal;
use conduct::{Budget, Wanted, WriteAllowance, plan, random_u64};
use model::{Capacity, CapacityKind, Failure, FailureKind, Purpose, RatedClass, Run, TargetKind};
use report::document::RateDocument;
use soak::CapacityProbe;
use spec::Workload;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// What the classes of a small device may write where its capacity was asked for.
const SMALL_DEVICE_BYTES: u64 = 384 << 20;

/// Executes the command.
pub fn command(args: &RateArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let class = args.class.as_deref().map(class_named).transpose()?;
    if let Some(run) = kept(args, global)? {
        if args.capacity.is_some() {
            return Err(Failure::usage("--capacity is measured on a device, and this is a kept run")
                .remedy("narrows rate /dev/NAME --destroy SERIAL --capacity quick"));
        }
        return Ok(show(&run, run.capacity.clone().or(run.capacity_found()).as_ref(), class, output));
    }
    if let Some((run, classes)) = foreign(args)? {
        return Ok(shown(&run, classes, None, class, output));
    }
    let workload = workload(args, class)?;
    let most = args.max_write.as_deref().map(max_write).transpose()?.map(WriteAllowance::AtMost);
    let execution = Execution::prepare(global, Asked::of(&args.marks), SecondSignal::Ends, output)?;
    let wanted = Wanted {
        probe: Some(most.unwrap_or(WriteAllowance::Usual)),
        ..args.permissions.wanted(&args.source, workload.interval_ns)
    };
    // By an opening of its own: its time is none of the budget, and its bytes none of what the classes may write.
    let capacity = args.capacity.map(|how| found_capacity(how, &wanted, &execution, output)).transpose()?;
    let mut opened = execution.open(&wanted)?;
    // A minute of reading tells no class.
    conduct::may_be_written(&opened, "its classes show")?;
    // The run says it wherever it is shown.
    opened.capacity.clone_from(&capacity);
    if capacity.is_some() {
        opened.rig.clear_pending_faults();
    }
    // What is simulated wears nothing.
    // Who lets a small device be filled to see how large it is wants its classes, too.
    let usual = match WriteAllowance::Usual.small_device((&opened.target.stack).into()).filter(|_| capacity.is_some()) {
        Some(_) => WriteAllowance::AtMost(SMALL_DEVICE_BYTES),
        None => WriteAllowance::Usual,
    };
    let bounds = (opened.target.kind != TargetKind::Sim).then(|| most.unwrap_or(usual));
    let seed = args.marks.seed.map_or_else(random_u64, Ok)?;
    let plan = plan::plan_within(&workload, &opened, seed, bounds)?;
    let executed = execution.measure("rate", plan, Budget::Kept, bounds, &mut opened)?;
    let mut code = ExitCode::SUCCESS;
    let ended = execution.answer(executed, output, |run, _, _| {
        code = show(run, capacity.as_ref(), class, output);
        Ok(())
    });
    // What ended it early, or could not be kept, is said before the answer to the question; but a fake is one, whatever its rates.
    let unanswered = ended == ExitCode::from(FailureKind::Invalid.exit_code());
    let is_capacity_known = capacity.as_ref().is_some_and(|c| c.kind != CapacityKind::Unknown);
    Ok(if ended == ExitCode::SUCCESS || (unanswered && is_capacity_known) { code } else { ended })
}

fn found_capacity(
    how: CapacityHow,
    wanted: &Wanted<'_>,
    execution: &Execution<'_>,
    output: &Output,
) -> Result<Capacity, Failure> {
    let mut opened = execution.open(&Wanted { probe: None, ..wanted.clone() })?;
    let name = opened.target.name.clone();
    if !matches!(opened.target.kind, TargetKind::BlockDevice | TargetKind::File | TargetKind::Sim) {
        let what = format!("{name}: a capacity is that of a device, or of a file");
        return Err(Failure::refused(what).remedy(
            "narrows rate /dev/NAME --destroy SERIAL --capacity quick; narrows soak DIRECTORY   fills what is free",
        ));
    }
    // Before it is announced.
    conduct::may_be_written(&opened, "its capacity shows")?;
    let probe = if how == CapacityHow::Full { CapacityProbe::Full } else { CapacityProbe::Quick };
    if !output.is_json() {
        let over = report::quantity::size(soak::probe_bytes(opened.max_bytes, probe));
        output.warning(&format!("writes {over} all over {name} to find out how large it is"));
    }
    let random = [random_u64()?, random_u64()?, random_u64()?, random_u64()?];
    let found = soak::capacity(&mut opened, execution.control(), probe, random)?;
    opened.rig.flush()?;
    Ok(found)
}

/// The name of a class as it is written, whatever its letters.
fn class_named(name: &str) -> Result<&'static str, Failure> {
    judge::class_names().find(|class| class.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let all: Vec<&str> = judge::class_names().collect();
        Failure::usage(format!("--class: '{name}' is not a class; there are {}", all.join(", ")))
            .remedy("for example --class A1")
    })
}

/// Bytes at the beginning of a file that tell whether it is text.
const TEXT_LOOKED_AT: usize = 4096;

/// The outputs of other tools that a file holds, as one run, with how it stands to the classes: a file of text in which a
/// result is found is no target. All results of the file are taken together.
fn foreign(args: &RateArgs) -> Result<Option<(Run, Vec<RatedClass>)>, Failure> {
    let path = Path::new(&args.source);
    let is_stdin = args.source == "-";
    if !is_stdin && (!path.is_file() || args.capacity.is_some() || !is_text(path)) {
        return Ok(None);
    }
    let found = match RunSource::of_another_tool(&args.source) {
        Ok(found) => found,
        Err(error) if is_stdin => return Err(error),
        Err(_) => return Ok(None),
    };
    let mut runs = found.runs.into_iter();
    let Some(mut run) = runs.next() else { return Ok(None) };
    for other in runs {
        run.phases.extend(other.phases);
        run.remarks.extend(other.remarks);
    }
    let classes = judge::foreign_classes(&run, &found.works);
    Ok(Some((run, classes)))
}

/// Whether a file begins as a text does.
fn is_text(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(TEXT_LOOKED_AT as u64).read_to_end(&mut start));
    read.is_ok() && !start.is_empty() && !start.contains(&0)
}

/// The run of the archive that is meant, where no target is: what is there as a file or a simulated device is a target, unless
/// it is a bundle.
fn kept(args: &RateArgs, global: &GlobalArgs) -> Result<Option<Run>, Failure> {
    let (path, name) = (Path::new(&args.source), args.source.to_string_lossy());
    let is_bundle = path.join("run.json").exists() || path.extension().is_some_and(|e| e == "tar" || e == "zst");
    if name.starts_with("sim:") || name.starts_with("null:") || (path.exists() && !is_bundle) {
        return Ok(None);
    }
    if name.contains('/') && !is_bundle {
        // A path that is not there: the target says so better.
        return Ok(None);
    }
    Ok(Some(RunSource::one(&archives::open(global)?, &args.source, Wants::Numbers)?.0))
}

/// Those phases of the check that decide the class, or all classes.
fn workload(args: &RateArgs, class: Option<&str>) -> Result<Workload, Failure> {
    let mut workload = text::built_in("check", "budget", Some(&args.budget), "60s")?;
    workload.keep_phases(&judge::phases_of_class(class));
    workload.notes.extend(class.map(|name| Purpose::Class(name.to_owned()).note()));
    workload.check_budget().map_err(|e| plan::failure(&e))?;
    Ok(workload)
}

/// Prints the answer: 1 where it is not as large as it says, or the class that was asked about is not reached, 4 where that is not known.
/// Where the capacity was asked about and no class, rates that are not known leave nothing open.
fn show(run: &Run, capacity: Option<&Capacity>, class: Option<&str>, output: &Output) -> ExitCode {
    shown(run, judge::rated_classes(run), capacity, class, output)
}

/// As [`show`], of classes that were judged already.
fn shown(
    run: &Run,
    mut classes: Vec<RatedClass>,
    capacity: Option<&Capacity>,
    class: Option<&str>,
    output: &Output,
) -> ExitCode {
    classes.retain(|c| class.is_none_or(|name| name == c.rating.class));
    output.answer(&RateDocument::new(run, &classes, capacity), || report::rate(run, &classes, capacity));
    let known = |c: &RatedClass| c.rating.indication.is_some();
    match class {
        _ if capacity.is_some_and(|c| c.kind.is_fake()) => ExitCode::from(1),
        None if capacity.is_some_and(|c| c.kind == CapacityKind::Genuine) => ExitCode::SUCCESS,
        None if capacity.is_some() => ExitCode::from(FailureKind::Invalid.exit_code()),
        Some(_) if classes.iter().any(|c| c.rating.indication.as_deref() == Some("below")) => ExitCode::from(1),
        _ if classes.iter().any(known) => ExitCode::SUCCESS,
        _ => ExitCode::from(FailureKind::Invalid.exit_code()),
    }
}
