//! `narrows import`: other tools' outputs as runs of the archive.
//!
//! What an import takes is bounded, whatever the files hold: the text of one file is in memory at a time, once; of each
//! so many figures are kept as its size allows, and of all together no more than of the largest one. The copy that every
//! run of a file keeps takes its place on the disk once, where the file system can share it.

mod input;

pub use input::Purpose;

use crate::archives;
use crate::args::{GlobalArgs, ImportArgs, ImportDirection};
use crate::output::Output;
use crate::progress::Busy;
use archive::Archive;
use conduct::{WallClock, random_u64};
use exchange::{ImportError, Imported, ImportedRun, MAX_FIGURES};
use input::Input;
use model::{Better, Failure, FailureKind, Fit, UseText};
use report::document::{ImportDocument, ImportMetric, ImportOriginal, ImportRest, ImportRun};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Characters of a file's name that its copy in the bundle keeps.
const RAW_NAME_LIMIT: usize = 120;
/// Figures that are kept of each of many files, at least.
const LEAST_FIGURES: usize = 1024;

/// A file with what it held.
pub struct Source {
    pub input: Input,
    pub read: Result<Imported, ImportError>,
}

/// Executes the command.
pub fn command(args: &ImportArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    if args.files.iter().filter(|f| *f == "-").count() > 1 {
        return Err(Failure::usage("stdin can be read once only").remedy("narrows import - < FILE"));
    }
    args.tags.iter().try_for_each(|tag| archive::check_tag(tag))?;
    let directions = args.better.iter().map(|t| direction(t)).collect::<Result<Vec<_>, Failure>>()?;
    let used = args.made_for.as_deref().map(used).transpose()?;
    // All files first: nothing is kept of some if another cannot be read.
    let mut sources = read_all(&args.files, output.is_json())?;
    for run in sources.iter_mut().filter_map(|s| s.read.as_mut().ok()).flat_map(|i| &mut i.runs) {
        set_directions(run, &directions);
    }
    let archive = archives::open(global)?;
    let mut ids = Vec::new();
    for source in &mut sources {
        ids.push(keep_all(&archive, source, &args.tags)?);
    }
    let fits = used.map(|used| fits(&sources, &ids, &used)).unwrap_or_default();
    let document = document(&sources, &ids);
    let document = if fits.is_empty() { document } else { document.asked(&fits) };
    let understood = !document.runs.is_empty();
    output.answer(&document, || report::import(&document));
    if understood {
        return Ok(match document.met {
            Some(Some(false)) => ExitCode::from(1),
            Some(None) => ExitCode::from(FailureKind::Invalid.exit_code()),
            Some(Some(true)) | None => ExitCode::SUCCESS,
        });
    }
    let remedy = sources.iter().find_map(|s| s.read.as_ref().err().map(ImportError::remedy));
    let cut = sources.iter().find_map(|s| Some((s, s.read.as_ref().ok()?.ends_early.as_ref()?)));
    let failure = match cut {
        Some((source, (line, why))) => Failure::invalid(format!("{}, line {line}: {why}", source.input.name))
            .remedy("import the whole file, once the tool that writes it has ended"),
        None => Failure::invalid("no result of a known tool was found")
            .remedy(remedy.unwrap_or("narrows import --help lists what is understood")),
    };
    output.beside(&failure);
    Ok(ExitCode::from(FailureKind::Invalid.exit_code()))
}

/// Reads all files; together they keep no more figures than one may.
fn read_all(files: &[std::ffi::OsString], quiet: bool) -> Result<Vec<Source>, Failure> {
    let share = (MAX_FIGURES / files.len().max(1)).max(LEAST_FIGURES);
    let mut left = MAX_FIGURES;
    let mut sources = Vec::with_capacity(files.len());
    for file in files {
        if left == 0 {
            let message = format!("{} files hold more figures than one import keeps ({MAX_FIGURES})", files.len());
            return Err(Failure::refused(message).remedy("import them in several steps"));
        }
        let _busy = Busy::new(quiet, format!("reading {}", report::text::plain(&file.to_string_lossy(), false)));
        let source = read(file, Purpose::Keep, share.min(left))?;
        let kept: usize = source.read.iter().flat_map(|i| &i.runs).map(|r| r.metrics().count()).sum();
        left = left.saturating_sub(kept);
        sources.push(source);
    }
    Ok(sources)
}

/// `--for`.
pub fn used(name: &str) -> Result<UseText, Failure> {
    judge::use_named(name).map_err(|what| {
        Failure::usage(format!("--for: {what}")).remedy("narrows explain for-etcd   the page of a use, with its limits")
    })
}

/// How every run that was kept stands to a use.
fn fits(sources: &[Source], ids: &[Vec<String>], used: &UseText) -> Vec<(String, Fit)> {
    let runs = sources.iter().zip(ids).flat_map(|(source, ids)| {
        let runs = source.read.as_ref().map(|i| i.runs.as_slice()).unwrap_or_default();
        runs.iter().zip(ids).map(|(run, id)| (run, id, source.input.name.as_str()))
    });
    runs.map(|(run, id, file)| {
        let kept = run.to_run(id, env!("CARGO_PKG_VERSION"), file);
        (id.clone(), judge::foreign_fit(&kept, &run.works(), used))
    })
    .collect()
}

/// Reads a file and keeps so many figures of it.
pub fn read(file: &OsStr, purpose: Purpose, most_figures: usize) -> Result<Source, Failure> {
    let (input, bytes) = input::read(file, purpose)?;
    match exchange::import_within(&input.base, bytes, most_figures) {
        Err(error) if input::is_too_much(&error) => Err(input::too_large(&input.name, None)),
        read => Ok(Source { input, read }),
    }
}

/// `NAME=higher`: the end of a metric's id and its direction.
pub fn direction(text: &str) -> Result<(String, Better), Failure> {
    let usage = || {
        Failure::usage(format!("'{text}' is not METRIC=higher or METRIC=lower")).remedy("--better 'install_s=lower'")
    };
    let (name, direction) = text.rsplit_once('=').filter(|(n, _)| !n.is_empty()).ok_or_else(usage)?;
    let direction: ImportDirection = clap::ValueEnum::from_str(direction, false).map_err(|_| usage())?;
    let better = match direction {
        ImportDirection::Higher => Better::Higher,
        ImportDirection::Lower => Better::Lower,
    };
    Ok((name.to_owned(), better))
}

/// Metrics whose direction their format does not give get the one that the user gave.
fn set_directions(run: &mut ImportedRun, directions: &[(String, Better)]) {
    for m in run.groups.iter_mut().flat_map(|g| &mut g.metrics).filter(|m| m.metric.better.is_none()) {
        let id = &m.metric.id;
        let named = |name: &str| id == name || id.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        if let Some((_, better)) = directions.iter().find(|(name, _)| named(name)) {
            m.metric.better = Some(*better);
        }
    }
}

/// Keeps the runs of a file, each with the bytes that it came from; their ids.
fn keep_all(archive: &Archive, source: &mut Source, tags: &[String]) -> Result<Vec<String>, Failure> {
    let Source { input, read } = source;
    let mut copy = None;
    let runs = read.as_ref().map(|i| i.runs.as_slice()).unwrap_or_default();
    runs.iter().map(|run| keep(archive, run, input, &mut copy, tags)).collect()
}

/// Keeps a run; its id. `copy` is where the file that it came from is kept already.
fn keep(
    archive: &Archive,
    run: &ImportedRun,
    input: &mut Input,
    copy: &mut Option<PathBuf>,
    tags: &[String],
) -> Result<String, Failure> {
    let id = WallClock::start().run_id(random_u64()? as u16);
    let kept = run.to_run(&id, env!("CARGO_PKG_VERSION"), &input.name);
    let mut partial = archive.begin(&kept)?;
    let name = raw_name(&input.name);
    match copy {
        Some(first) => partial.link_raw(&name, first)?,
        None => *copy = Some(input.copy(|content| Ok(partial.raw(&name, content)?))?),
    }
    partial.finish(&kept)?;
    for tag in tags {
        archive.tag_add(tag, &id)?;
    }
    Ok(id)
}

/// A plain name for the copy in the bundle.
fn raw_name(name: &str) -> String {
    let base = Path::new(name).file_name().map_or_else(|| "output".into(), |n| n.to_string_lossy());
    let plain: String = base
        .chars()
        .map(|c| if c.is_control() || matches!(c, '/' | '\\' | char::REPLACEMENT_CHARACTER) { '_' } else { c })
        .collect();
    let mut end = plain.len().min(RAW_NAME_LIMIT);
    while !plain.is_char_boundary(end) {
        end -= 1;
    }
    let plain = &plain[..end];
    if plain.starts_with('.') { format!("_{plain}") } else { plain.to_owned() }
}

fn document<'a>(sources: &'a [Source], ids: &'a [Vec<String>]) -> ImportDocument<'a> {
    let mut runs = Vec::new();
    let mut rest = Vec::new();
    for (source, ids) in sources.iter().zip(ids) {
        match &source.read {
            Err(error) => rest.push((source, Err(error))),
            Ok(imported) => {
                runs.extend(imported.runs.iter().zip(ids).map(|(run, id)| entry(run, id, &source.input.name)));
                rest.extend(imported.not_understood.iter().map(|n| (source, Ok(n))));
            }
        }
    }
    let rest = rest
        .into_iter()
        .map(|(source, what)| match what {
            Ok(n) => ImportRest {
                file: &source.input.name,
                line: Some(n.line),
                lines: Some(n.lines),
                text: &n.text,
                why: n.why.clone(),
            },
            Err(error) => {
                ImportRest { file: &source.input.name, line: None, lines: None, text: "", why: error.to_string() }
            }
        })
        .collect();
    ImportDocument::new(runs, rest)
}

fn entry<'a>(run: &'a ImportedRun, id: &'a str, file: &'a str) -> ImportRun<'a> {
    let kept = run.to_run(id, env!("CARGO_PKG_VERSION"), file);
    let over_reports = judge::over_reports(&kept);
    ImportRun {
        run_id: id,
        source_format: run.source_format,
        source_version: run.source_version.as_deref(),
        name: &run.name,
        file,
        line: run.first_line,
        started: run.started.as_deref(),
        target: run.target.as_deref(),
        state: run.state,
        answer: report::imported_answer(&kept, &over_reports),
        over_reports,
        metrics: run
            .metrics()
            .map(|m| ImportMetric {
                metric: &m.metric,
                original: ImportOriginal { value: &m.original.value, unit: &m.original.unit },
            })
            .collect(),
        remarks: &run.remarks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_copies_are_plain() {
        assert_eq!(raw_name("/a/b/run 1.json"), "run 1.json");
        assert_eq!(raw_name(".hidden"), "_.hidden");
        assert_eq!(raw_name("stdin"), "stdin");
        assert_eq!(raw_name("a\n\\b"), "a__b");
        assert!(raw_name(&"ä".repeat(300)).len() <= RAW_NAME_LIMIT);
    }

    #[test]
    fn directions_are_given_by_the_end_of_an_id() {
        assert_eq!(direction("install_s=lower").unwrap(), ("install_s".to_owned(), Better::Lower));
        assert!(direction("install_s").is_err() && direction("=lower").is_err() && direction("a=up").is_err());
    }
}
