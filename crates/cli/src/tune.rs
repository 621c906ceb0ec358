//! `narrows tune`: searches settings that make a metric better, proves what it found, and says how it is kept.

mod verify;

use crate::args::{GlobalArgs, TuneArgs};
use crate::execution::{Asked, Execution};
use crate::output::Output;
use crate::reading::{self, Pipes};
use crate::redaction::OnPage;
use crate::run::text;
use crate::signals::SecondSignal;
use crate::{archives, experiment, output_file, settings};
use archive::Archive;
use conduct::{Language, random_u64};
use experiments::experiment::SettingsInForce;
use experiments::tune::{self, Trial, kept};
use model::{Failure, KeepLine, TuneProof, Tuning, parse_duration_ns};
use report::document::{ActionDocument, TuneDocument, TunePlanDocument};
use spec::Workload;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

/// More is no file of known gains.
const MOST_KNOWN_BYTES: u64 = 4 << 20;
/// What is felt most, where something may be written; else what a program gets that reads a file.
const USUAL: [&str; 2] = ["responsive", "buffered-read"];

/// Executes the command.
pub fn command(args: &TuneArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let resumed = args.resume.then(|| resumed(args, global)).transpose()?;
    let target =
        match (&args.list, args.target.clone().or_else(|| resumed.as_ref().map(|state| state.target.clone().into()))) {
            (Some(listed), _) => return settings::list(listed, output),
            (None, _) if args.restore => return Ok(experiment::restore(output)),
            (None, _) if args.undo_kept => return undo_kept(output),
            (None, _) if args.export.is_some() => return exported(args, global, output),
            (None, target) if args.verify => return verify::command(args, target.as_deref(), global, output),
            (None, Some(target)) => target,
            (None, None) => {
                return Err(Failure::usage("settings of which path?").remedy("narrows tune /mnt/data"));
            }
        };
    let target = target.as_os_str();
    if args.plan {
        experiment::mention_left(output);
    } else {
        experiment::undo_left(&archives::open(global)?, output);
    }
    let budget_ns = budget_ns(args, "20m")?;
    let budget_ns = resumed.as_ref().map_or(budget_ns, |state| state.budget_ns);
    let made_for = resumed.as_ref().map_or_else(|| made_for(args, target), |state| &state.asked);
    let objective = tune::objective(made_for, tune::cell_ns(budget_ns), &workload)?;
    let known = args.known.as_deref().map_or_else(|| Ok(Vec::new()), known)?;
    let asked = Asked { page: args.report.as_deref(), identify: args.identify, ..Asked::default() };
    let execution = Execution::prepare(global, asked, SecondSignal::Hurries, output)?;
    let lock = (!args.plan).then(tune::Lock::take).transpose()?;
    let slot = SettingsInForce::default();
    let trial = Trial { execution: execution.conducted(), slot: &slot, target, allowed: args.permissions.allowed() };
    let asked = tune::Asked {
        objective,
        only: resumed.as_ref().map_or(&args.only, |state| &state.only),
        allow_unsafe: args.allow_unsafe,
        allow_registers: args.allow_registers,
        budget_ns,
        margin_percent: resumed.as_ref().map_or(args.margin, |state| state.margin_percent),
        seed: resumed.as_ref().map_or(args.seed, |state| Some(state.seed)).map_or_else(random_u64, Ok)?,
        known: &known,
        resumed: resumed.clone(),
    };
    let prepared = tune::prepare(asked, &trial)?;
    let plan = prepared.plan();
    let document = TunePlanDocument::new(&plan);
    let Some(lock) = &lock else {
        output.answer(&document, || report::tune_plan(&plan));
        return Ok(ExitCode::SUCCESS);
    };
    if !output.is_json() {
        output.warning(&document.answer);
    }
    execution.restore_on_second_signal(&slot, output);
    match prepared.search(&trial, lock) {
        Ok(tuning) => {
            let page =
                args.report.as_deref().map(|file| (file, page(&tuning, file, args.identify, execution.archive())));
            let shown = page.as_ref().and_then(|(file, page)| page.is_ok().then(|| file.display().to_string()));
            output.answer(&TuneDocument::new(&tuning, shown.as_deref()), || {
                report::tuning(&tuning).on_page(shown.clone())
            });
            page.map_or(Ok(()), |(_, page)| page)?;
            if let Some(winner) = tuning.winner.as_ref().filter(|_| args.keep) {
                let origin = kept::origin(&tuning.id, &tune::absolute(target)?, &tuning.asked, &winner.settings);
                keep((winner, args.yes), &tuning.id, &origin, &execution, output)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => execution.ended_by(failure, output),
    }
}

/// What a search proved, as a line.
fn exported(args: &TuneArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let id = args.export.as_deref().filter(|id| !id.is_empty());
    let known = tune::exported(&archives::open(global)?, id)?;
    output.answer_text(&known, |_| format!("{known}\n"));
    Ok(ExitCode::SUCCESS)
}

/// What others proved.
fn known(path: &Path) -> Result<Vec<tune::Known>, Failure> {
    let name = path.display().to_string();
    let cannot =
        |why: String| Failure::usage(format!("--known: {name}: {why}")).remedy("a file of lines of tune --export");
    let mut text = String::new();
    let file = reading::file(path, Pipes::Taken, "known gains").map_err(|e| cannot(e.to_string()))?;
    file.take(MOST_KNOWN_BYTES + 1).read_to_string(&mut text).map_err(|e| cannot(e.to_string()))?;
    if text.len() as u64 > MOST_KNOWN_BYTES {
        return Err(cannot(format!("it is larger than {MOST_KNOWN_BYTES} bytes")));
    }
    tune::known(&text, &name)
}

/// How long it may take.
fn budget_ns(args: &TuneArgs, usual: &str) -> Result<u64, Failure> {
    parse_duration_ns(args.budget.as_deref().unwrap_or(usual))
        .map_err(|e| Failure::usage(format!("--budget: {e}")).remedy("for example --budget 20m"))
}

/// The search that goes on.
fn resumed(args: &TuneArgs, global: &GlobalArgs) -> Result<tune::State, Failure> {
    let absolute = args.target.as_ref().map(|target| tune::absolute(target)).transpose()?;
    let state = tune::State::to_resume(&archives::open(global)?, absolute.as_deref())?;
    for (option, before, now) in [
        ("--allow-unsafe", state.allow_unsafe, args.allow_unsafe),
        ("--allow-registers", state.allow_registers, args.allow_registers),
    ] {
        if before != now {
            let message = format!("{} was begun {} {option}", state.id, if before { "with" } else { "without" });
            return Err(Failure::usage(message).remedy("say so again: permissions are not kept"));
        }
    }
    Ok(state)
}

/// Writes the page; what identifies the machine is learnt from a run of the confirmation.
fn page(tuning: &Tuning, file: &Path, identify: bool, archive: &Archive) -> Result<(), Failure> {
    let found = tuning.tags.first().map_or_else(|| Ok(Vec::new()), |tag| archive.resolve(tag))?;
    let runs = found.first().map(|run| run.load_summary()).transpose()?;
    let on_page = OnPage::of(&runs, identify)?;
    let mut shown = tuning.clone();
    let keep = shown.winner.iter_mut().flat_map(|winner| &mut winner.keep);
    let texts = keep.flat_map(|line| [&mut line.text, &mut line.undo]).chain([&mut shown.target, &mut shown.asked]);
    texts.for_each(|text| *text = on_page.text(text));
    output_file::write(file, report::tune_page(&shown, env!("CARGO_PKG_VERSION")).as_bytes())
}

/// Writes what keeps a winner, if a person who was shown it agrees.
fn keep(
    (winner, yes): (&TuneProof, bool),
    id: &str,
    origin: &serde_json::Value,
    execution: &Execution<'_>,
    output: &Output,
) -> Result<(), Failure> {
    let (written, others): (Vec<&KeepLine>, Vec<&KeepLine>) =
        winner.keep.iter().partition(|line| kept::is_written(line));
    for line in others {
        output.warning(&format!("for you to write ({}), in {}: {}", line.mechanism, line.file, line.text));
    }
    if written.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> =
        written.iter().flat_map(|line| line.text.lines().map(|text| format!("{}: {text}", line.file))).collect();
    let message = "these lines keep the settings over a reboot";
    if !yes && !experiment::agreed(message, &lines, "Write them?", output, execution.signals()) {
        let refused = Failure::refused(format!("{message}, and nobody agreed: {}", lines.join("; ")));
        return Err(refused.remedy("--keep asks on a terminal; --yes writes them without; or write them yourself"));
    }
    for path in kept::write(&winner.keep, id, Some(origin), Path::new("/"))? {
        output.warning(&format!("wrote {}; narrows tune --undo-kept removes it", path.display()));
    }
    Ok(())
}

/// `narrows tune --undo-kept`.
fn undo_kept(output: &Output) -> Result<ExitCode, Failure> {
    let removed = kept::undo(Path::new("/"))?;
    let line = |(path, held): &(std::path::PathBuf, String)| {
        (path.display().to_string(), format!("removed; it held {}", held.replace('\n', "; ")))
    };
    let mut lines: Vec<(String, String)> = removed.iter().map(line).collect();
    if lines.is_empty() {
        lines.push(("nothing".to_owned(), "there is no file that narrows tune wrote".to_owned()));
    }
    output.answer(&ActionDocument::new("undo-kept", &lines), || report::actions(&lines));
    Ok(ExitCode::SUCCESS)
}

fn made_for<'a>(args: &'a TuneArgs, target: &OsStr) -> &'a str {
    let usual = USUAL[usize::from(!Path::new(target).is_dir())];
    args.made_for.as_deref().unwrap_or(usual)
}

/// A built-in workload, or one of a file.
fn workload(name: &str) -> Result<Workload, Failure> {
    let source = text::source(&OsString::from(name))?;
    if source.language == Language::Toml && (spec::is_experiment(&source.text) || spec::is_frames(&source.text)) {
        return Err(Failure::usage("it is no workload"));
    }
    text::workload(&source, &[], false)
}
