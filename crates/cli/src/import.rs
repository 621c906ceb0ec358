//! `narrows import`: other tools' outputs as runs of the archive.

use crate::archives;
use crate::args::{GlobalArgs, ImportArgs, ImportDirection};
use crate::execution::random_u64;
use crate::output::Output;
use crate::reading::{self, Pipes, Reading};
use crate::wall::WallClock;
use archive::Archive;
use exchange::{IMPORT_LIMIT_BYTES, ImportError, Imported, ImportedRun};
use model::{Better, Failure, FailureKind, Run};
use report::document::{ImportDocument, ImportMetric, ImportOriginal, ImportRest, ImportRun};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

/// Characters of a file's name that its copy in the bundle keeps.
const RAW_NAME_LIMIT: usize = 120;

/// Bytes that the copies of one file may take: every run keeps what it was read from.
const COPIES_LIMIT_BYTES: u64 = 4 << 30;

/// A file with what it held.
struct Source {
    /// As the user wrote it.
    name: String,
    bytes: Vec<u8>,
    read: Result<Imported, ImportError>,
}

/// Executes the command.
pub fn command(args: &ImportArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    if args.files.iter().filter(|f| *f == "-").count() > 1 {
        return Err(Failure::new(FailureKind::Usage, "stdin can be read once only").remedy("narrows import - < FILE"));
    }
    args.tags.iter().try_for_each(|tag| archive::check_tag(tag))?;
    let told = args.better.iter().map(|t| direction(t)).collect::<Result<Vec<_>, Failure>>()?;
    // All files first: nothing is kept of some if another cannot be read.
    let mut sources = args.files.iter().map(|f| read(f)).collect::<Result<Vec<Source>, Failure>>()?;
    for run in sources.iter_mut().filter_map(|s| s.read.as_mut().ok()).flat_map(|i| &mut i.runs) {
        tell(run, &told);
    }
    for source in &sources {
        let runs = source.read.as_ref().map_or(0, |i| i.runs.len());
        copies_fit(&source.name, runs as u64, source.bytes.len() as u64)?;
    }
    let archive = archives::open(global)?;
    let mut ids = Vec::new();
    for source in &sources {
        let runs = source.read.as_ref().map(|i| i.runs.as_slice()).unwrap_or_default();
        let kept: Result<Vec<String>, Failure> =
            runs.iter().map(|run| keep(&archive, run, source, &args.tags)).collect();
        ids.push(kept?);
    }
    let document = document(&sources, &ids);
    let understood = !document.runs.is_empty();
    if output.is_json() {
        output.document(&document);
    } else {
        output.text(&report::import_text(&document, output.style()));
    }
    if understood {
        return Ok(ExitCode::SUCCESS);
    }
    let remedy = sources.iter().find_map(|s| s.read.as_ref().err().map(ImportError::remedy));
    let failure = Failure::new(FailureKind::Invalid, "no result of a known tool was found")
        .remedy(remedy.unwrap_or("narrows import --help lists what is understood"));
    output.beside(&failure);
    Ok(ExitCode::from(FailureKind::Invalid.exit_code()))
}

/// Refuses a file whose copies, one in each of its runs, would fill the disk.
fn copies_fit(name: &str, runs: u64, size_bytes: u64) -> Result<(), Failure> {
    let all_bytes = runs.saturating_mul(size_bytes);
    if all_bytes <= COPIES_LIMIT_BYTES {
        return Ok(());
    }
    let (all, limit) = (report::quantity::binary_size(all_bytes), report::quantity::binary_size(COPIES_LIMIT_BYTES));
    let what = format!("{name} holds {runs} results, each would keep a copy of it: {all}, at most {limit} is kept");
    Err(Failure::new(FailureKind::Refused, what)
        .remedy("split it; narrows compare and narrows rank read it as it is and keep nothing"))
}

/// What a file of another tool holds, for commands that read it and keep nothing.
pub struct Foreign {
    /// Its runs; their ids are the file's name and a number.
    pub runs: Vec<Run>,
    /// Lines that were not understood, in words.
    pub remarks: Vec<String>,
}

/// Reads a file of another tool (`-` is stdin).
///
/// # Errors
/// Where it cannot be read, is no text, or nothing in it is understood (`invalid`).
pub fn foreign(file: &OsStr) -> Result<Foreign, Failure> {
    let source = read(file)?;
    let name = &source.name;
    let invalid = |what: String| Failure::new(FailureKind::Invalid, format!("{name}: {what}"));
    let imported = match &source.read {
        Ok(imported) => imported,
        Err(error) => return Err(invalid(error.to_string()).remedy(error.remedy())),
    };
    if imported.runs.is_empty() {
        return Err(invalid("no result of a known tool was found".to_owned())
            .remedy("narrows import --help lists what is understood"));
    }
    let id = |number: usize| if imported.runs.len() == 1 { name.clone() } else { format!("{name}#{}", number + 1) };
    let runs = imported.runs.iter().enumerate();
    let runs = runs.map(|(i, run)| run.to_run(&id(i), env!("CARGO_PKG_VERSION"), name)).collect();
    let rest = imported.not_understood.iter();
    Ok(Foreign { runs, remarks: rest.map(|n| format!("{name}, line {}: {}", n.line, n.why)).collect() })
}

/// Reads a file of any kind that ends, up to the limit.
fn read(file: &OsStr) -> Result<Source, Failure> {
    let path = Path::new(file);
    let (name, opened) = if file == "-" {
        ("stdin".to_owned(), reading::stdin("what a tool printed").map_err(|e| unreadable(path, &e))?)
    } else {
        (path.display().to_string(), open(path)?)
    };
    let mut bytes = Vec::new();
    opened.take(IMPORT_LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(|e| unreadable(path, &e))?;
    let base = path.file_name().map_or_else(|| name.clone(), |n| n.to_string_lossy().into_owned());
    let read = exchange::import(if file == "-" { "stdin" } else { &base }, &bytes);
    if let Err(ImportError::TooLarge { .. }) = &read {
        return Err(too_large(&name, None));
    }
    Ok(Source { name, bytes, read })
}

fn open(path: &Path) -> Result<Reading, Failure> {
    let opened = reading::file(path, Pipes::Taken, "what a tool printed").map_err(|error| {
        if error.kind() != io::ErrorKind::InvalidInput {
            return unreadable(path, &error);
        }
        let remedy = match path.is_dir() {
            true => format!("narrows import {}/*", path.display()),
            false => "give the file with the output of the tool, or - for stdin".to_owned(),
        };
        Failure::new(FailureKind::Usage, format!("cannot read {}: {error}", path.display())).remedy(remedy)
    })?;
    if opened.size_bytes() > IMPORT_LIMIT_BYTES {
        return Err(too_large(&path.display().to_string(), Some(opened.size_bytes())));
    }
    Ok(opened)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot read {}: {error}", path.display());
    Failure::new(FailureKind::Environment, message).remedy("give a file that exists and may be read, or - for stdin")
}

fn too_large(name: &str, size_bytes: Option<u64>) -> Failure {
    let size = size_bytes.map_or_else(|| "more".to_owned(), report::quantity::size);
    let limit = report::quantity::binary_size(IMPORT_LIMIT_BYTES);
    Failure::new(
        FailureKind::Refused,
        format!("{name} is too large to be a tool's output: {size}, at most {limit} is read"),
    )
    .remedy("cut out the part that holds the result")
}

/// `NAME=higher`: the end of a metric's id and its direction.
pub fn direction(text: &str) -> Result<(String, Better), Failure> {
    let usage = || {
        Failure::new(FailureKind::Usage, format!("'{text}' is not METRIC=higher or METRIC=lower"))
            .remedy("--better 'install_s=lower'")
    };
    let (name, direction) = text.rsplit_once('=').filter(|(n, _)| !n.is_empty()).ok_or_else(usage)?;
    let direction: ImportDirection = clap::ValueEnum::from_str(direction, false).map_err(|_| usage())?;
    let better = match direction {
        ImportDirection::Higher => Better::Higher,
        ImportDirection::Lower => Better::Lower,
    };
    Ok((name.to_owned(), better))
}

/// Metrics whose direction their format does not tell get the one that the user told.
fn tell(run: &mut ImportedRun, told: &[(String, Better)]) {
    for m in run.groups.iter_mut().flat_map(|g| &mut g.metrics).filter(|m| m.metric.better.is_none()) {
        let id = &m.metric.id;
        let named = |name: &str| id == name || id.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        if let Some((_, better)) = told.iter().find(|(name, _)| named(name)) {
            m.metric.better = Some(*better);
        }
    }
}

/// Keeps a run with the bytes that it came from; its id.
fn keep(archive: &Archive, run: &ImportedRun, source: &Source, tags: &[String]) -> Result<String, Failure> {
    let id = WallClock::start().run_id(random_u64()? as u16);
    let kept = run.to_run(&id, env!("CARGO_PKG_VERSION"), &source.name);
    let mut partial = archive.begin(&kept)?;
    partial.raw(&raw_name(&source.name), &source.bytes)?;
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
                runs.extend(imported.runs.iter().zip(ids).map(|(run, id)| entry(run, id, &source.name)));
                rest.extend(imported.not_understood.iter().map(|n| (source, Ok(n))));
            }
        }
    }
    let rest = rest
        .into_iter()
        .map(|(source, what)| match what {
            Ok(n) => ImportRest {
                file: &source.name,
                line: Some(n.line),
                lines: Some(n.lines),
                text: &n.text,
                why: n.why.clone(),
            },
            Err(error) => ImportRest { file: &source.name, line: None, lines: None, text: "", why: error.to_string() },
        })
        .collect();
    ImportDocument::new(runs, rest)
}

fn entry<'a>(run: &'a ImportedRun, id: &'a str, file: &'a str) -> ImportRun<'a> {
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
    fn copies_are_bounded() {
        assert!(copies_fit("a", 4096, 1 << 20).is_ok());
        let refused = copies_fit("a", 4097, 1 << 20).unwrap_err();
        assert!(refused.message.contains("4097 results"), "{refused:?}");
        assert!(copies_fit("a", u64::MAX, u64::MAX).is_err());
    }

    #[test]
    fn directions_are_told_by_the_end_of_an_id() {
        assert_eq!(direction("install_s=lower").unwrap(), ("install_s".to_owned(), Better::Lower));
        assert!(direction("install_s").is_err() && direction("=lower").is_err() && direction("a=up").is_err());
    }
}
