//! From what a person types to a run.

use crate::bundle::{load_samples, summary};
use crate::bundle_files::{RUN, SUMS};
use crate::checksums::{self, Verification};
use crate::csv::Tolerance;
use crate::directory::Archive;
use crate::{ArchiveError, Result, index, is_run_id, load_bundle, order};
use model::{CompactSort as _, Run};
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

    /// Loads what is compared and ranked of it ([`Run::keep_results`]), from run.json alone.
    ///
    /// # Errors
    /// As [`load_bundle`].
    pub fn load_summary(&self) -> Result<Run> {
        let mut run = summary(&self.path, None)?;
        run.keep_results();
        Ok(run)
    }

    /// The same with the samples of the machine, from its own table: how warm it was.
    ///
    /// # Errors
    /// As [`load_bundle`].
    pub fn load_summary_with_samples(&self) -> Result<Run> {
        let mut run = self.load_summary()?;
        load_samples(&self.path, &mut run, Tolerance::DropTail, &mut Vec::new())?;
        run.bound_memory();
        Ok(run)
    }

    /// Its place in the order in which runs ended.
    pub fn order(&self) -> u64 {
        order::of_bundle(&self.path, &self.id)
    }

    /// Checks its files against its SHA256SUMS.
    ///
    /// # Errors
    /// [`ArchiveError::Corrupt`] if SHA256SUMS itself cannot be read, [`ArchiveError::Io`].
    pub fn verify(&self) -> Result<Verification> {
        checksums::verify(&self.path)
    }
}

/// A bundle by its directory, or by the run.json in it; one that lost one of its files is one still.
fn by_path(text: &str) -> Option<RunRef> {
    let path = Path::new(text);
    let directory = if path.file_name().is_some_and(|n| n == RUN) { path.parent()? } else { path };
    let directory = directory.canonicalize().ok().filter(|d| [RUN, SUMS].iter().any(|f| d.join(f).is_file()))?;
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
        // The clock of the machine may have gone back: the one that ended last, not the one with the highest id.
        let newest = index::list(archive)?.into_iter().max_by(|a, b| (a.order, &a.id).cmp(&(b.order, &b.id)));
        return newest.map(|e| vec![in_archive(e.id)]).ok_or_else(|| archive.not_found(text));
    }
    if let Some(tagged) = archive.tags()?.remove(text) {
        let mut present: Vec<RunRef> = tagged.into_iter().filter(|id| ids.contains(id)).map(in_archive).collect();
        present.compact_sort_by(|a, b| a.id.cmp(&b.id));
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

/// The run, if the text fits exactly one.
///
/// # Errors
/// [`ArchiveError::Ambiguous`] if it fits several.
pub fn only(text: &str, mut found: Vec<RunRef>) -> Result<RunRef> {
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
