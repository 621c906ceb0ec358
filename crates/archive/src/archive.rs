//! The operations on the archive as a whole, and on finished runs.

use crate::bundle::{load, summary};
use crate::checksums::{Verification, verify};
use crate::csv::Tolerance;
use crate::directory::Archive;
use crate::id::deleted_name;
use crate::recover::{self, Recovery};
use crate::resolve::{self, RunRef};
use crate::{ArchiveError, IndexEntry, Partial, Result, index, is_run_id, sweep, tags, temporary};
use model::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

impl Archive {
    /// Begins to keep a run. Call it before the first measurement: it fails where the archive cannot be written.
    ///
    /// # Errors
    /// [`ArchiveError::Io`] (see [`ArchiveError::remedy`]), [`ArchiveError::Exists`], [`ArchiveError::Unstorable`].
    pub fn begin(&self, run: &Run) -> Result<Partial> {
        Partial::begin(self, run)
    }

    /// Keeps a run that is complete already (imported, simulated).
    ///
    /// # Errors
    /// As [`Archive::begin`].
    pub fn save(&self, run: &Run) -> Result<PathBuf> {
        self.begin(run)?.finish(run)
    }

    /// Writes the page of a run or an experiment and returns its path.
    ///
    /// # Errors
    /// [`ArchiveError::Io`]; [`ArchiveError::Unstorable`] for an id that could lead elsewhere.
    pub fn write_report(&self, id: &str, html: &str) -> Result<PathBuf> {
        if !temporary::is_plain(id) {
            let reason = "its id cannot be the name of a page".to_owned();
            return Err(ArchiveError::Unstorable { id: id.to_owned(), reason });
        }
        sweep::sweep(self);
        self.storage.create_dirs(&self.reports_dir())?;
        let path = self.report_path(id);
        self.storage.replace(&path, html.as_bytes())?;
        Ok(path)
    }

    /// Loads a run by its full id.
    ///
    /// # Errors
    /// [`ArchiveError::NotFound`], and as [`crate::load_bundle`].
    pub fn load(&self, id: &str) -> Result<Run> {
        load(&self.existing(id)?, Some(id), Tolerance::Strict)
    }

    /// Loads what lists show of a run: run.json alone, without series, histograms, samples and kernel messages.
    ///
    /// # Errors
    /// As [`Archive::load`].
    pub fn load_summary(&self, id: &str) -> Result<Run> {
        summary(&self.existing(id)?, Some(id))
    }

    /// Checks a run's files against its SHA256SUMS.
    ///
    /// # Errors
    /// [`ArchiveError::NotFound`], [`ArchiveError::Corrupt`] if SHA256SUMS itself cannot be read, [`ArchiveError::Io`].
    pub fn verify(&self, id: &str) -> Result<Verification> {
        verify(&self.existing(id)?)
    }

    /// Whether a run that was found is one of this archive, and not a bundle elsewhere that has the same id.
    pub fn holds(&self, found: &RunRef) -> bool {
        is_run_id(&found.id) && self.storage.is_same_directory(&self.run_dir(&found.id), &found.path)
    }

    /// Whether the archive has a finished run of this id.
    pub fn has(&self, id: &str) -> bool {
        self.existing(id).is_ok()
    }

    /// All finished runs, oldest first. Serves from the index and mends it where it disagrees with the bundles.
    ///
    /// # Errors
    /// [`ArchiveError::Io`]; an archive that may only be read is listed all the same.
    pub fn list(&self) -> Result<Vec<IndexEntry>> {
        index::list(self)
    }

    /// Rebuilds the index from the bundles. Returns how many there are.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn reindex(&self) -> Result<usize> {
        index::rebuild(self)
    }

    /// Finds runs by id, unique beginning of an id, its last eight digits, `latest`, tag (which may name several), or
    /// the path of a bundle.
    ///
    /// # Errors
    /// [`ArchiveError::NotFound`], [`ArchiveError::Ambiguous`], [`ArchiveError::Io`].
    pub fn resolve(&self, text: &str) -> Result<Vec<RunRef>> {
        resolve::resolve(self, text)
    }

    /// As [`Archive::resolve`], for one run.
    ///
    /// # Errors
    /// [`ArchiveError::Ambiguous`] if a tag names several, and as [`Archive::resolve`].
    pub fn resolve_one(&self, text: &str) -> Result<RunRef> {
        resolve::only(text, self.resolve(text)?)
    }

    /// Turns what crashes left into truncated runs (or whole ones, where only the last rename was missing), and clears
    /// away partial runs in which nothing was measured. Runs in progress are left alone.
    ///
    /// # Errors
    /// [`ArchiveError::Io`] if the archive as a whole cannot be used; trouble with one run is in its [`Recovery`].
    pub fn recover(&self) -> Result<Vec<Recovery>> {
        recover::recover(self)
    }

    /// Tags and the ids of the runs that carry them.
    ///
    /// # Errors
    /// [`ArchiveError::Corrupt`] if tags.toml cannot be understood, [`ArchiveError::Io`].
    pub fn tags(&self) -> Result<BTreeMap<String, BTreeSet<String>>> {
        tags::read(self)
    }

    /// Gives a run a tag.
    ///
    /// # Errors
    /// [`ArchiveError::BadTag`], [`ArchiveError::NotFound`], and as [`Archive::tags`].
    pub fn tag_add(&self, tag: &str, id: &str) -> Result<()> {
        tags::check(tag)?;
        self.existing(id)?;
        tags::change(self, |all| {
            all.entry(tag.to_owned()).or_default().insert(id.to_owned());
        })
    }

    /// Takes a tag from a run, or from all runs. Returns how many lost it.
    ///
    /// # Errors
    /// As [`Archive::tags`].
    pub fn tag_remove(&self, tag: &str, id: Option<&str>) -> Result<usize> {
        let mut removed = 0;
        tags::change(self, |all| {
            let Some(ids) = all.get_mut(tag) else { return };
            let before = ids.len();
            ids.retain(|i| id.is_some_and(|id| id != i));
            removed = before - ids.len();
        })?;
        Ok(removed)
    }

    /// Deletes a run, its page and its tags. From the first moment on it is no longer listed.
    ///
    /// # Errors
    /// [`ArchiveError::NotFound`], [`ArchiveError::Io`].
    pub fn delete(&self, id: &str) -> Result<()> {
        let path = self.existing(id)?;
        let moved = self.runs_dir().join(deleted_name(id));
        {
            let _lock = self.lock()?;
            self.storage.rename(&path, &moved)?;
            self.storage.sync_dir(&self.runs_dir())?;
            index::drop_entry(self, id)?;
        }
        tags::change(self, |all| {
            for ids in all.values_mut() {
                ids.remove(id);
            }
        })?;
        self.storage.remove_file(&self.report_path(id))?;
        self.storage.remove_tree(&moved)
    }
}
