//! Small files beside the bundles: how far an experiment came, what has to be put back after a crash, the noise of the
//! rig. Each is replaced as a whole and synced; a reader, and a crash, see the old or the new one.

use crate::directory::Archive;
use crate::folder::parent_of;
use crate::lock::{Lock, LockAttempt, attempt};
use crate::{ArchiveError, Result};
use std::path::PathBuf;

/// More is no file of ours.
const LIMIT_BYTES: u64 = 64 << 20;

impl Archive {
    /// Path of a file beside the bundles, `experiments/ID.json` for example.
    pub fn side_path(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    /// Writes a file beside the bundles; it is durable when this returns.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn write_side_file(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.side_path(name);
        if let Some(parent) = path.parent() {
            self.storage.create_dirs(parent)?;
        }
        self.storage.replace(&path, content)
    }

    /// Reads a file beside the bundles; `None` if there is none.
    ///
    /// # Errors
    /// [`ArchiveError::Io`], and [`ArchiveError::Corrupt`] where it is not text.
    pub fn read_side_file(&self, name: &str) -> Result<Option<String>> {
        let path = self.side_path(name);
        let Some(content) = self.storage.read_limited(&path, LIMIT_BYTES)? else { return Ok(None) };
        String::from_utf8(content).map(Some).map_err(|_| ArchiveError::corrupt(&path, None, "it is not UTF-8"))
    }

    /// Removes a file beside the bundles; one that is not there is no error.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn remove_side_file(&self, name: &str) -> Result<()> {
        let path = self.side_path(name);
        let directory = parent_of(&path);
        if !self.storage.is_directory(directory)? {
            return Ok(());
        }
        self.storage.remove_file(&path)?;
        self.storage.sync_dir(directory)
    }

    /// Names of the files in a directory beside the bundles, in order; none if there is no such directory.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn list_side_files(&self, directory: &str) -> Result<Vec<String>> {
        self.storage.names(&self.side_path(directory))
    }

    /// Takes a lock beside the bundles, `experiments/ID.lock` for example; `None` where another process has it. The file goes
    /// at a later start, when nobody holds it.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn lock_side_file(&self, name: &str) -> Result<Option<Lock>> {
        let path = self.side_path(name);
        self.storage.create_dirs(parent_of(&path))?;
        loop {
            match attempt(&path, self.storage.open_lock(&path)?)? {
                // One that was swept away between its opening and its locking is no lock for others.
                LockAttempt::Held(lock) if lock.stat().is_ok_and(|s| s.st_nlink == 0) => {}
                LockAttempt::Held(lock) => return Ok(Some(lock)),
                LockAttempt::Unknown => return Ok(Some(Lock::unknown())),
                LockAttempt::Taken => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_listed_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let archive = Archive::open(directory.path());
        assert_eq!(archive.read_side_file("experiments/a.json").unwrap(), None);
        assert!(archive.list_side_files("experiments").unwrap().is_empty());
        archive.write_side_file("experiments/a.json", b"one").unwrap();
        archive.write_side_file("experiments/a.json", b"two").unwrap();
        assert_eq!(archive.read_side_file("experiments/a.json").unwrap().as_deref(), Some("two"));
        assert_eq!(archive.list_side_files("experiments").unwrap(), ["a.json"]);
        archive.remove_side_file("experiments/a.json").unwrap();
        archive.remove_side_file("experiments/a.json").unwrap();
        assert_eq!(archive.read_side_file("experiments/a.json").unwrap(), None);
    }
}
