//! From what a person types to a run.

use crate::archive::Archive;
use crate::bundle_files::RUN;
use crate::{ArchiveError, Result, is_run_id, load_bundle};
use model::Run;
use std::path::{Path, PathBuf};

/// A finished run, in the archive or elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRef {
    /// Its id; for a bundle outside the archive, the name of its directory.
    pub id: String,
    /// Its directory.
    pub path: PathBuf,
}

impl RunRef {
    /// Loads it.
    ///
    /// # Errors
    /// As [`load_bundle`].
    pub fn load(&self) -> Result<Run> {
        load_bundle(&self.path)
    }
}

/// A bundle by its directory, or by the run.json in it.
fn by_path(text: &str) -> Option<RunRef> {
    let path = Path::new(text);
    let directory = if path.file_name().is_some_and(|n| n == RUN) { path.parent()? } else { path };
    let directory = directory.canonicalize().ok().filter(|d| d.join(RUN).is_file())?;
    Some(RunRef { id: directory.file_name()?.to_string_lossy().into_owned(), path: directory })
}

/// See [`Archive::resolve`]. Tags come before beginnings of ids (they cannot be confused), paths only if they look like
/// one or nothing else fits.
pub(crate) fn resolve(archive: &Archive, text: &str) -> Result<Vec<RunRef>> {
    let in_archive = |id: String| RunRef { path: archive.run_dir(&id), id };
    if text.contains('/')
        && let Some(found) = by_path(text)
    {
        return Ok(vec![found]);
    }
    let ids = archive.ids()?;
    if is_run_id(text) && ids.iter().any(|i| i == text) {
        return Ok(vec![in_archive(text.to_owned())]);
    }
    if text == "latest" {
        return newest(archive, &ids).map(|id| vec![in_archive(id)]).ok_or_else(|| archive.not_found(text));
    }
    if let Some(tagged) = archive.tags()?.remove(text) {
        let mut present: Vec<RunRef> = tagged.into_iter().filter(|id| ids.contains(id)).map(in_archive).collect();
        present.sort_by(|a, b| a.id.cmp(&b.id));
        return if present.is_empty() { Err(archive.not_found(text)) } else { Ok(present) };
    }
    let fits = |id: &&String| id.starts_with(text) || (text.len() >= 4 && id[17..].starts_with(text));
    let mut fitting: Vec<String> =
        if text.is_empty() { Vec::new() } else { ids.iter().filter(fits).cloned().collect() };
    match fitting.len() {
        0 => by_path(text).map(|found| vec![found]).ok_or_else(|| archive.not_found(text)),
        1 => Ok(fitting.drain(..).map(in_archive).collect()),
        _ => Err(ambiguous(text, &fitting)),
    }
}

/// The run that began last. Ids tell the second; of those of one second (simulated runs take less) the one that was written
/// last.
fn newest(archive: &Archive, ids: &[String]) -> Option<String> {
    let second = |id: &str| id.split('-').next().map(str::to_owned);
    let last = second(ids.last()?);
    let written = |id: &&String| std::fs::metadata(archive.run_dir(id).join(RUN)).and_then(|m| m.modified()).ok();
    ids.iter().filter(|id| second(id) == last).max_by_key(written).cloned()
}

/// The only one.
pub(crate) fn one(text: &str, mut found: Vec<RunRef>) -> Result<RunRef> {
    match (found.pop(), found.is_empty()) {
        (Some(run), true) => Ok(run),
        (Some(run), false) => {
            found.push(run);
            Err(ambiguous(text, &found.into_iter().map(|r| r.id).collect::<Vec<_>>()))
        }
        (None, _) => Err(ArchiveError::Ambiguous { text: text.to_owned(), count: 0, first: String::new() }),
    }
}

fn ambiguous(text: &str, ids: &[String]) -> ArchiveError {
    let first: Vec<&str> = ids.iter().take(3).map(String::as_str).collect();
    ArchiveError::Ambiguous { text: text.to_owned(), count: ids.len(), first: first.join(", ") }
}
