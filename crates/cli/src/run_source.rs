//! The runs that a name on the command line stands for: of the archive (an id or its beginning, a tag, `latest`), a bundle
//! elsewhere, or a file that another tool printed, which is read and not kept.

use crate::import::{self, Purpose};
use archive::{Archive, ArchiveError, IndexEntry, RunRef};
use exchange::MAX_FIGURES;
use model::{Failure, ForeignWork, Run};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// What a name stands for.
#[derive(Default)]
pub struct RunSource {
    /// As it was given.
    pub name: String,
    pub runs: Vec<Run>,
    /// Where each run lies; of another tool's there are none.
    pub kept: Vec<RunRef>,
    /// The work behind the figures of another tool.
    pub works: Vec<ForeignWork>,
    /// Lines of another tool's file that were not understood, in words.
    pub not_understood: Vec<String>,
    /// Runs that could not be read, in words.
    pub unreadable: Vec<String>,
    failed: Option<Failure>,
}

/// How much of a run is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Whole,
    /// The metrics and how warm the machine was.
    Compared,
    /// The metrics; of a check also its series, which has the slowest second.
    Ranked,
}

/// Runs of a name whose samples are read, which say how warm they were; of more, series are not to be read.
const MOST_WITH_SAMPLES: usize = 100;

impl RunSource {
    /// All runs of a name that can be read.
    ///
    /// # Errors
    /// There is nothing of that name, or nothing of it can be read or understood.
    pub fn load(archive: &Archive, name: &OsStr, part: Part) -> Result<Self, Failure> {
        let Meaning::Kept(found) = meaning(archive, name)? else { return Self::of_another_tool(name) };
        let mut all = Self { name: name.to_string_lossy().into_owned(), ..Self::default() };
        let with_samples = found.len() <= MOST_WITH_SAMPLES;
        for found in found {
            let run = match part {
                Part::Whole => found.load(),
                Part::Compared if with_samples => found.load_summary_with_samples(),
                Part::Compared => found.load_summary(),
                Part::Ranked => {
                    found.load_summary().and_then(|run| if run.is_overview() { found.load() } else { Ok(run) })
                }
            };
            match run {
                Ok(run) => {
                    all.runs.push(run);
                    all.kept.push(found);
                }
                Err(error) => {
                    all.unreadable.push(format!("{}: {error}", found.id));
                    all.failed.get_or_insert(error.into());
                }
            }
        }
        match all.failed.take_if(|_| all.runs.is_empty()) {
            Some(failure) => Err(failure),
            None => Ok(all),
        }
    }

    /// The one run of a name, and where it lies unless another tool made it.
    ///
    /// # Errors
    /// As [`Self::load`]; the name stands for several.
    pub fn one(archive: &Archive, name: &OsStr) -> Result<(Run, Option<RunRef>), Failure> {
        if let Meaning::Kept(found) = meaning(archive, name)? {
            let found = archive::only(text_of(name)?, found)?;
            return Ok((found.load()?, Some(found)));
        }
        let mut source = Self::of_another_tool(name)?;
        match (source.runs.pop(), source.runs.len()) {
            (Some(run), 0) => Ok((run, None)),
            (_, others) => {
                let what = format!("{} holds {} results, and this is about one", source.name, others + 1);
                Err(Failure::usage(what).remedy("narrows import FILE   keeps each of them as a run"))
            }
        }
    }

    /// The runs of several names, each once, and where they lie unless another tool made them.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn all(archive: &Archive, names: &[OsString]) -> Result<Vec<(Run, Option<RunRef>)>, Failure> {
        let (mut all, mut known) = (Vec::new(), HashSet::new());
        for name in names {
            let source = Self::load(archive, name, Part::Whole)?;
            source.failed.map_or(Ok(()), Err)?;
            let kept = source.kept.into_iter().map(Some).chain(std::iter::repeat(None));
            all.extend(source.runs.into_iter().zip(kept).filter(|(run, _)| known.insert(run.id.clone())));
        }
        Ok(all)
    }

    /// What another tool printed, from a file or stdin (`-`); the ids of its runs are the file's name and a number.
    ///
    /// # Errors
    /// It cannot be read, is no text, or nothing in it is understood (`invalid`).
    pub fn of_another_tool(file: &OsStr) -> Result<Self, Failure> {
        let source = import::read(file, Purpose::Look, MAX_FIGURES)?;
        let name = source.input.name;
        let invalid = |what: String| Failure::invalid(format!("{name}: {what}"));
        let imported = source.read.map_err(|error| invalid(error.to_string()).remedy(error.remedy()))?;
        if imported.runs.is_empty() {
            return Err(invalid("no result of a known tool was found".to_owned())
                .remedy("narrows import --help lists what is understood"));
        }
        let id = |number: usize| if imported.runs.len() == 1 { name.clone() } else { format!("{name}#{}", number + 1) };
        let runs = imported.runs.iter().enumerate();
        Ok(Self {
            runs: runs.map(|(i, run)| run.to_run(&id(i), env!("CARGO_PKG_VERSION"), &name)).collect(),
            works: imported.runs.iter().flat_map(exchange::ImportedRun::works).collect(),
            not_understood: imported
                .not_understood
                .iter()
                .map(|n| format!("{name}, line {}: {}", n.line, n.why))
                .collect(),
            name: file.to_string_lossy().into_owned(),
            ..Self::default()
        })
    }
}

/// The runs of a name; of a target by its name, the latest.
fn resolved(archive: &Archive, text: &str) -> Result<Vec<RunRef>, ArchiveError> {
    archive.resolve(text).or_else(|e| latest_on(archive, text, &e).map(|run| vec![run]).ok_or(e))
}

/// The run that ended last on the target of this name, where nothing else is called so.
fn latest_on(archive: &Archive, text: &str, error: &ArchiveError) -> Option<RunRef> {
    let path = std::fs::canonicalize(text).ok();
    let path = path.as_deref().and_then(Path::to_str);
    let is_it = |entry: &IndexEntry| {
        let run = entry.run.as_ref();
        run.is_some_and(|run| run.target == text || path.is_some() && run.target_path.as_deref() == path)
    };
    let entries = || archive.list().ok().into_iter().flatten().filter(is_it);
    let latest = matches!(error, ArchiveError::NotFound { .. }).then(|| entries().max_by_key(|e| e.order)).flatten();
    archive.resolve_one(&latest?.id).ok()
}

fn text_of(name: &OsStr) -> Result<&str, Failure> {
    name.to_str().ok_or_else(|| {
        Failure::usage(format!("'{}' is not the name of a run", name.to_string_lossy()))
            .remedy("narrows runs   lists what there is")
    })
}

/// What a name means.
enum Meaning {
    Kept(Vec<RunRef>),
    /// What another tool printed: stdin, or a file that is no bundle.
    OfAnotherTool,
}

/// What a name means. As with bundles, what the archive knows by a plain name comes before a file of that name.
fn meaning(archive: &Archive, name: &OsStr) -> Result<Meaning, Failure> {
    let path = Path::new(name);
    // A device is a target, and not what a tool printed.
    let readable = |m: &std::fs::Metadata| !m.is_dir() && !m.file_type().is_block_device();
    let is_file = path.metadata().is_ok_and(|m| readable(&m)) && path.file_name() != Some(OsStr::new("run.json"));
    if name != "-" && !is_file {
        return Ok(Meaning::Kept(resolved(archive, text_of(name)?)?));
    }
    let plain = name.to_str().filter(|text| name != "-" && !text.contains('/'));
    let known = plain.and_then(|text| archive.resolve(text).ok());
    Ok(known.map_or(Meaning::OfAnotherTool, Meaning::Kept))
}
