//! The directory of a run's own in which operations on files take place, below the target.
//!
//! Files of a phase need names. They are made in a directory that this run makes, whose name nobody else uses, by numbers
//! (`SET.INDEX`), and nothing but names of that form is ever removed, relative to its open descriptor: what others put there
//! stays, and the directory with it. A run holds a lock on its directory; one that a killed run left behind has none any more,
//! and is removed when the next run makes its own.

use crate::device::{LINKED, entry_name};
use model::{FileKind, FileOperation, FilesPlan};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use sys::Locked;

const PREFIX: &str = ".narrows-files-";

/// The directory, and what is in it.
#[derive(Debug)]
pub(crate) struct OwnDirectory {
    parent: File,
    name: String,
    directory: Arc<File>,
    /// Members of each set that are there, the first ones; of a set without an entry, none is.
    there: BTreeMap<u32, u64>,
}

/// The set of a name that a run gives.
fn set_of(name: &str) -> Option<u32> {
    let (set, index) = name.split_once('.')?;
    let (set, index) = (set.parse().ok()?, index.parse().ok()?);
    (entry_name(set, index, &mut [0; 32]) == name).then_some(set)
}

/// Removes the members of a set, or of all.
fn clear(directory: &File, set: Option<u32>) -> io::Result<()> {
    let mut names = Vec::new();
    sys::each_entry(directory, |name, is_directory| {
        if set_of(name).is_some_and(|own| set.is_none_or(|set| set == own)) {
            names.push((name.to_owned(), is_directory));
        }
    })?;
    let remove = |(name, is_directory): &(String, bool)| match is_directory {
        true => sys::remove_directory(directory, name),
        false => sys::remove_file(directory, name),
    };
    names.iter().map(remove).fold(Ok(()), Result::and).map_err(io::Error::from_raw_os_error)
}

impl OwnDirectory {
    /// Makes one below `target`, and removes what killed runs left there.
    ///
    /// # Errors
    /// Those of making and opening a directory.
    pub fn create(target: &File) -> io::Result<Self> {
        let parent = target.try_clone()?;
        remove_left(&parent);
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let name = format!("{PREFIX}{}-{}", std::process::id(), time.as_nanos());
        sys::make_directory(&parent, &name).map_err(io::Error::from_raw_os_error)?;
        let directory = sys::open_own_directory(&parent, &name).inspect_err(|_| {
            let _ = sys::remove_directory(&parent, &name);
        })?;
        // Where there are no locks, nobody removes what is not locked.
        let _ = sys::lock_exclusively(&directory, Duration::ZERO);
        Ok(Self { parent, name, directory: Arc::new(directory), there: BTreeMap::new() })
    }

    /// The open directory.
    pub fn handle(&self) -> Arc<File> {
        Arc::clone(&self.directory)
    }

    /// Before operations on files: those that are to be made are not there. How many there are that can be operated on.
    ///
    /// # Errors
    /// Those of removing what an earlier phase left.
    pub fn prepare(&mut self, files: &FilesPlan) -> io::Result<u64> {
        if !files.file_operation.makes() {
            return Ok(self.there.get(&files.file_set).map_or(0, |there| files.file_count.min(*there)));
        }
        // Should they not be made, what there is of them is still found.
        if self.there.insert(files.file_set, 0).is_some() {
            clear(&self.directory, Some(files.file_set))?;
        }
        if files.file_kind == FileKind::HardLink && files.file_operation == FileOperation::Create {
            let linked =
                sys::create_file(&*self.directory, entry_name(files.file_set, LINKED, &mut [0; 32]), &[], false);
            linked.map_err(io::Error::from_raw_os_error)?;
        }
        Ok(files.file_count)
    }

    /// After them: `done` succeeded, and none failed if `all_right`.
    pub fn conclude(&mut self, files: &FilesPlan, done: u64, all_right: bool) {
        let whole = done == files.file_count;
        let first = if all_right && (whole || !files.file_shuffle) { done } else { 0 };
        match files.file_operation {
            made if made.makes() => _ = self.there.insert(files.file_set, first),
            changed if !changed.changes_data() => {}
            // What hard links were names of stays until the set is made anew.
            _ if whole && files.file_kind != FileKind::HardLink && self.there.get(&files.file_set) == Some(&done) => {
                _ = self.there.remove(&files.file_set)
            }
            // Which are left is not known.
            _ => _ = self.there.insert(files.file_set, 0),
        }
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // What cannot be removed now is found by the next run.
        let _ = clear(&self.directory, None);
        let _ = sys::remove_directory(&self.parent, &self.name);
    }
}

/// Removes the directories of runs that are no more: this user's, called as runs call them, and locked by nobody. In one that
/// holds anything else only what a run made is removed.
fn remove_left(parent: &File) {
    let mut left = Vec::new();
    // Where a directory cannot be listed, nothing is found.
    let _ = sys::each_entry(parent, |name, is_directory| {
        left.extend((is_directory && name.starts_with(PREFIX)).then(|| name.to_owned()));
    });
    for name in left {
        if let Ok(directory) = sys::open_own_directory(parent, &name)
            && let Ok(Locked::Held) = sys::lock_exclusively(&directory, Duration::ZERO)
        {
            let _ = clear(&directory, None);
            let _ = sys::remove_directory(parent, &name);
        }
    }
}
