//! `narrows run`: a workload on a target.

mod frames;
mod job;
mod layers;
pub mod text;

use crate::args::{GlobalArgs, RunArgs, RunFormat};
use crate::execution::{Asked, Execution};
use crate::export::say_withheld;
use crate::output::Output;
use crate::signals::SecondSignal;
use crate::{archives, check, experiment, group, output_file, report_page};
use archive::Archive;
use conduct::destination::destination;
use conduct::{Budget, Language, Source, Wanted, WriteAllowance, plan, random_u64};
use exchange::Options;
use model::{Failure, Plan, Run};
use spec::Workload;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Executes the command.
pub fn command(args: &RunArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    if (output.is_json() || output.is_markdown()) && args.format.is_some() {
        let other = if output.is_json() { "--json" } else { "--markdown" };
        let message = format!("{other} and --format are two documents, and stdout takes one");
        return Err(
            Failure::usage(message).remedy("narrows export RUN --format fio-json -o FILE   afterwards, for the second")
        );
    }
    if args.restore {
        return Ok(experiment::restore(output));
    }
    if args.plan {
        experiment::mention_left(output);
    } else {
        experiment::undo_left(&archives::open(global)?, output);
    }
    if args.resume.is_some() {
        group::refuse(&args.group, "an experiment that is resumed")?;
        return resume(args, global, output);
    }
    let of_options = (!args.job.given.is_empty()).then(|| job::source(args)).transpose()?;
    let (source, args) = match (&of_options, args.workload.as_deref()) {
        (Some((source, args)), _) => (source.clone(), args),
        (None, Some(name)) => (text::source(name)?, args),
        (None, None) => {
            return Err(Failure::usage("which workload?").remedy("narrows workloads"));
        }
    };
    if source.language == Language::Toml && spec::is_frames(&source.text) {
        group::refuse(&args.group, "a recording of frames")?;
        return frames::command(args, &source, global, output);
    }
    if source.language == Language::Toml && spec::is_layers(&source.text) {
        group::refuse(&args.group, "a comparison of layers")?;
        return layers::command(args, &source, global, output);
    }
    if source.language == Language::Toml && spec::is_experiment(&source.text) {
        refuse_what_is_for_workloads(args)?;
        group::refuse(&args.group, "an experiment")?;
        return experiment::command(args, source, global, output);
    }
    if let Some(times) = args.repeat {
        group::refuse(&args.group, "several runs (--repeat)")?;
        return experiment::repeat(args, times, source, global, output);
    }
    refuse_what_is_for_experiments(args)?;
    run_workload(args, &source, of_options.is_some(), global, output)
}

/// Runs a workload once, or shows its plan; one that was asked for by options as texts, too.
fn run_workload(
    args: &RunArgs,
    source: &Source,
    of_options: bool,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let max_write = args.max_write.as_deref().map(check::max_write).transpose()?;
    let workload = text::read(args, source)?;
    let (page, identify, keep_every) = (args.report.as_deref(), args.identify, args.keep_every.as_deref());
    let asked = Asked { page, identify, keep_every, ..Asked::of(&args.marks) };
    let mut execution = Execution::prepare(global, asked, SecondSignal::Ends, output)?;
    let place = destination(args.target.as_deref(), &workload)?;
    workload.check_budget().map_err(|e| plan::failure(&e))?;
    if !args.plan {
        let RunArgs { set, max_write, lenient, on_error, real, .. } = args;
        let asked = format!("run {:?} {set:?} {max_write:?} {lenient} {on_error:?} {real:?}", source.text);
        if args.group.scale && workload.has_budget() {
            let what = "--scale is for workloads whose phases have their own times, and this one has a budget";
            return Err(Failure::usage(what).remedy("narrows run stream TARGET --group --scale"));
        }
        execution.meet(group::invitation(&args.group, asked)?)?;
    }
    let seed = args.marks.seed.map_or_else(random_u64, Ok)?;
    // A plan that is only shown writes nothing: its sizes are those without a probe.
    let wanted = Wanted {
        region: workload.copies_region(),
        shared_in_group: args.group.group && (args.group.shared_file || workload.shared_file),
        probe: ((workload.has_budget() || workload.preconditions()) && !args.plan)
            .then(|| WriteAllowance::AtMost(max_write.unwrap_or(u64::MAX))),
        ..args.permissions.wanted(&place.name, workload.interval_ns)
    };
    let (mut opened, seed) = execution.open_for(&wanted, seed)?;
    opened.remarks.extend(place.remark);
    let plan = execution.plan(&workload, &opened, seed, max_write.map(WriteAllowance::AtMost))?;
    if let Some(max_write) = max_write {
        let with = |set: &[String]| {
            let args = RunArgs { set: [&args.set, set].concat(), ..args.clone() };
            let workload = text::read(&args, source).ok()?;
            plan::plan_within(&workload, &opened, seed, Some(WriteAllowance::AtMost(max_write))).ok()
        };
        keeps_to(&plan, opened.target.stack.fstype(), max_write, workload.has_packages(), with)
            .map_err(|e| plan::failure_after_probe(e, opened.rig.bytes_written()))?;
    }
    if args.plan {
        if of_options && !output.is_json() {
            let asks =
                |ours: &Workload| plan::plan(ours, &opened, seed).is_ok_and(|ours| job::asks_the_same(&ours, &plan));
            show_texts(source, asks, output);
        }
        report_page::show_plan(&opened.target, &plan, output);
        return Ok(ExitCode::SUCCESS);
    }
    let budget = if workload.has_budget() { Budget::Kept } else { Budget::Foreseen };
    let executed = execution.measure("run", plan, budget, None, &mut opened)?;
    Ok(execution.answer(executed, output, |run, conclusions, page| match args.format {
        Some(format) => fio_json(run, format, output),
        None => {
            report_page::show(run, conclusions, page, &args.marks.tags, false, output);
            Ok(())
        }
    }))
}

/// What was asked by options, as texts in both languages; `asks_the_same` says whether ours does.
fn show_texts(source: &Source, asks_the_same: impl Fn(&Workload) -> bool, output: &Output) {
    let same = job::toml(source).filter(|(_, ours)| asks_the_same(ours));
    let ours = same.map_or_else(|| "# in our language it takes more than its options\n".to_owned(), |(text, _)| text);
    output.text(&format!("# as a fio job file\n{}\n# as TOML\n{ours}\n", source.text));
}

fn refuse_what_is_for_experiments(args: &RunArgs) -> Result<(), Failure> {
    if args.calibrate {
        return Err(Failure::usage("--calibrate is for experiments, and this is a workload")
            .remedy("docs/experiments.md; its first arm is run under two names"));
    }
    Ok(())
}

/// Options that say something of phases, experiments or runs.
fn refuse_what_is_for_phases(args: &RunArgs, study: &str) -> Result<(), Failure> {
    let given = [
        ("--repeat", args.repeat.is_some()),
        ("--calibrate", args.calibrate),
        ("--format", args.format.is_some()),
        ("--keep-every", args.keep_every.is_some()),
        ("--lenient", args.lenient),
        ("--tag", !args.marks.tags.is_empty()),
        ("--wait-quiet", args.marks.wait_quiet.is_some()),
        ("--strict", args.strict),
        ("--on-error", args.on_error.is_some()),
        ("--allow-commands", args.allow_commands),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!("{option} is not for {study}"))
            .remedy(format!("--set rounds=N and other keys: narrows workloads show {study}"))),
    }
}

/// Writes the page of a study, where it was asked for or into the archive, and says where it is.
fn write_page(
    study: &str,
    args: &RunArgs,
    page: &str,
    started: &jiff::Timestamp,
    archive: &Archive,
) -> Result<String, Failure> {
    if let Some(path) = args.report.as_deref() {
        output_file::write(path, page.as_bytes())?;
        return Ok(path.display().to_string());
    }
    let id = format!("{study}-{}-{:08x}", started.strftime("%Y%m%dT%H%M%SZ"), random_u64()? as u32);
    Ok(archive.write_report(&id, page)?.display().to_string())
}

/// Options that an experiment has in its text.
fn refuse_what_is_for_workloads(args: &RunArgs) -> Result<(), Failure> {
    if args.repeat.is_some() {
        return Err(Failure::usage("--repeat is for workloads; an experiment says how often itself")
            .remedy("pairs = N   in its text"));
    }
    if args.max_write.is_some() {
        return Err(Failure::usage("--max-write is for workloads, and this is an experiment")
            .remedy("narrows run TEXT --plan   says what each of its arms writes at most"));
    }
    Ok(())
}

/// `--resume [ID]` takes what follows it for an id: a file there is the experiment, and what follows that the target.
fn resume(args: &RunArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let mut args = args.clone();
    if let Some(file) = args.resume.take_if(|r| !r.is_empty() && Path::new(r).is_file()) {
        args.target = args.workload.replace(file).or(args.target);
        args.resume = Some(OsString::new());
    }
    let source = args.workload.as_deref().map(text::source).transpose()?;
    if let Some(source) = source.as_ref().filter(|s| !spec::is_experiment(&s.text)) {
        return Err(Failure::usage(format!("{} is not an experiment: there is nothing to resume", source.name))
            .remedy("narrows run --resume continues what was interrupted last, also with runs of --repeat"));
    }
    experiment::resume(&args, source, global, output)
}

/// Whether it writes no more than `--max-write` allows; `with` plans it with other values for some keys.
fn keeps_to(
    plan: &Plan,
    fstype: Option<&str>,
    most: u64,
    has_packages: bool,
    with: impl Fn(&[String]) -> Option<Plan>,
) -> Result<(), Failure> {
    let size = report::quantity::size;
    let bytes = plan.device_bytes_at_most(fstype);
    let what = match bytes {
        Some(bytes) if bytes <= most => return Ok(()),
        Some(bytes) => format!("it may write {}, and --max-write allows {}", size(bytes), size(most)),
        None => format!("only its time bounds what it writes, and --max-write allows {}", size(most)),
    };
    // What is advised was tried: not every workload has a region, or packages.
    let fits = |set: &Vec<String>| {
        with(set).and_then(|plan| plan.device_bytes_at_most(fstype)).is_some_and(|bytes| bytes <= most)
    };
    let regions = (1..=SHARES).map(|share| vec![format!("region={}MiB", (most >> share >> 20).max(1))]);
    let packages = (0..SHARES).map(|share| {
        let count = MOST_PACKAGES >> share;
        vec![format!("package-count={count}"), format!("packages-removed={}", count / 3)]
    });
    let less = regions.chain(packages.filter(|_| has_packages)).find(fits);
    let less =
        less.map(|set| format!("{}, or ", set.iter().map(|s| format!("--set {s}")).collect::<Vec<_>>().join(" ")));
    let more = bytes.map_or_else(
        || "an amount in its text".to_owned(),
        |bytes| format!("--max-write {}MB", bytes.div_ceil(1_000_000)),
    );
    Err(Failure::refused(what).remedy(format!("{}{more}; --plan says what it writes", less.unwrap_or_default())))
}

/// How often what is written is halved to find what fits.
const SHARES: u32 = 7;
/// Packages of the largest smaller set that is tried.
const MOST_PACKAGES: u32 = 256;

fn fio_json(run: &Run, format: RunFormat, output: &Output) -> Result<(), Failure> {
    let options = Options { bins: format == RunFormat::FioJsonPlus, ..Options::default() };
    output.text(&exchange::fio_json(run, &options)?);
    say_withheld(run, &options, output);
    Ok(())
}
