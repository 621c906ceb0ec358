//! The directory of an archive: where things are in it.

use crate::id::{is_deleted, is_run_id, partial_name};
use crate::lock::{self, Lock};
use crate::storage::Storage;
use crate::{ArchiveError, Result};
use std::path::{Path, PathBuf};

/// A directory of runs. Opening it touches nothing; it is created with the first run.
#[derive(Clone, Debug)]
pub struct Archive {
    directory: PathBuf,
    pub(crate) storage: Storage,
}

impl Archive {
    /// The archive in `directory`, which need not exist yet.
    pub fn open(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        Self { storage: Storage::new(&directory), directory }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where pages go, `<id>.html` each. It may not exist yet; see [`Archive::write_report`].
    pub fn reports_dir(&self) -> PathBuf {
        self.directory.join("reports")
    }

    /// The page of a run.
    pub fn report_path(&self, id: &str) -> PathBuf {
        self.reports_dir().join(format!("{id}.html"))
    }

    /// The directory of a finished run.
    pub fn run_dir(&self, id: &str) -> PathBuf {
        self.runs_dir().join(id)
    }

    pub(crate) fn runs_dir(&self) -> PathBuf {
        self.directory.join("runs")
    }

    pub(crate) fn partial_dir(&self, id: &str) -> PathBuf {
        self.runs_dir().join(partial_name(id))
    }

    /// Whether something can be kept here, before minutes of work are spent on it.
    ///
    /// # Errors
    /// [`ArchiveError::Io`]: its file system is read-only, or full, or this user may not write there.
    pub fn check_writable(&self) -> Result<()> {
        self.lock().map(drop)
    }

    /// Creates the directories where they are missing and takes the archive's lock.
    pub(crate) fn lock(&self) -> Result<Lock> {
        self.storage.create_dirs(&self.runs_dir())?;
        let path = self.directory.join("archive.lock");
        lock::wait(&path, self.storage.open_lock(&path)?)
    }

    /// The directory of a finished run that is there.
    pub(crate) fn existing(&self, id: &str) -> Result<PathBuf> {
        let path = self.run_dir(id);
        let is_there = is_run_id(id) && self.storage.is_directory(&path)?;
        is_there.then_some(path).ok_or_else(|| self.not_found(id))
    }

    pub(crate) fn not_found(&self, text: &str) -> ArchiveError {
        ArchiveError::NotFound { text: text.to_owned(), archive: self.directory.clone() }
    }

    /// Ids of all finished runs, oldest first; none if the archive does not exist.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn ids(&self) -> Result<Vec<String>> {
        Ok(self.storage.names(&self.runs_dir())?.into_iter().filter(|n| is_run_id(n)).collect())
    }

    /// Removes what deletions that were cut off left.
    pub(crate) fn finish_deletions(&self) -> Result<()> {
        for name in self.storage.names(&self.runs_dir())?.iter().filter(|n| is_deleted(n)) {
            self.storage.remove_tree(&self.runs_dir().join(name))?;
        }
        Ok(())
    }
}
