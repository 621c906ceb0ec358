//! The directory of a run's own in which operations on files take place, below the target.
//!
//! Files of a phase need names. They are made in a directory that this run makes, whose name nobody else uses, by numbers
//! (`SET.INDEX`; `workload/src/entry_names.rs`), and nothing but names of that form is ever removed, relative to its open descriptor: what others put there
//! stays, and the directory with it. A run holds a lock on its directory; one that a killed run left behind has none any more,
//! and is removed when the next run makes its own.

use super::refusal::{Attempt, refusal};
use super::target::FileTarget;
use model::{Failure, FileKind, FileOperation, FilesPlan};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;
use sys::Locked;
use workload::{EntryNames, LINKED, PathText, set_of};

/// What dpkg made in the run's directory, beside what other phases have there (`file_trace`): a build without that finds what another left.
const OF_DPKG: [&str; 2] = ["dpkg-root", "dpkg-archives"];
const PREFIX: &str = ".narrows-files-";

/// The directory, and what is in it.
#[derive(Debug)]
pub(crate) struct OwnDirectory {
    parent: File,
    name: String,
    directory: Arc<File>,
    /// Members of each set that are there, the first ones; of a set without an entry, none is.
    there: BTreeMap<u32, u64>,
    /// Sets whose members have their second names.
    renamed: BTreeSet<u32>,
    /// Sets that are this run's: all, but in a directory that it shares with others.
    sets: RangeInclusive<u32>,
}

fn kind_of(errno: i32) -> io::ErrorKind {
    io::Error::from_raw_os_error(errno).kind()
}

/// Directories are nested no deeper than this by any plan.
const DEEPEST: u32 = 32;

/// All sets.
const ALL: RangeInclusive<u32> = 0..=u32::MAX;

/// Removes the members of these sets, and the directories that they lie in.
fn clear(directory: &File, sets: &RangeInclusive<u32>) -> io::Result<()> {
    if *sets == ALL {
        clear_packages(directory);
    }
    clear_below(directory, sets, DEEPEST)
}

/// Removes what dpkg made, which has names of its own, below the two names that a run gives it.
fn clear_packages(directory: &File) {
    for name in OF_DPKG {
        if let Ok(below) = sys::open_own_directory(directory, name) {
            // Links are not followed; what cannot be removed now is found by the next run.
            let here = format!("/proc/self/fd/{}", below.as_raw_fd());
            for entry in std::fs::read_dir(&here).into_iter().flatten().flatten() {
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let _ = if is_directory {
                    std::fs::remove_dir_all(entry.path())
                } else {
                    std::fs::remove_file(entry.path())
                };
            }
            let _ = sys::remove_directory(directory, name);
        }
    }
}

fn clear_below(directory: &File, sets: &RangeInclusive<u32>, deepest: u32) -> io::Result<()> {
    let mut names = Vec::new();
    sys::each_entry(directory, |name, is_directory| {
        if set_of(name).is_some_and(|own| sets.contains(&own)) {
            names.push((name.to_owned(), is_directory));
        }
    })?;
    let remove = |(name, is_directory): &(String, bool)| {
        let removed = match is_directory {
            true => sys::remove_directory(directory, name.as_str()),
            false => sys::remove_file(directory, name.as_str()),
        };
        match removed {
            Err(errno) if *is_directory && deepest > 0 && kind_of(errno) == io::ErrorKind::DirectoryNotEmpty => {
                clear_below(&sys::open_own_directory(directory, name.as_str())?, sets, deepest - 1)?;
                sys::remove_directory(directory, name.as_str()).map_err(io::Error::from_raw_os_error)
            }
            other => other.map_err(io::Error::from_raw_os_error),
        }
    };
    names.iter().map(remove).fold(Ok(()), Result::and)
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
        sys::make_directory(&parent, name.as_str()).map_err(io::Error::from_raw_os_error)?;
        let directory = sys::open_own_directory(&parent, name.as_str()).inspect_err(|_| {
            let _ = sys::remove_directory(&parent, name.as_str());
        })?;
        // Where there are no locks, nobody removes what is not locked.
        let _ = sys::lock_exclusively(&directory, Duration::ZERO);
        Ok(Self::of(parent, name, directory, ALL))
    }

    /// One that several runs share, each with sets of its own; the first makes it.
    ///
    /// # Errors
    /// Those of making and opening a directory.
    pub fn shared(parent: &File, name: &str, makes: bool, sets: RangeInclusive<u32>) -> io::Result<Self> {
        let (parent, name) = (parent.try_clone()?, format!("{PREFIX}{name}"));
        if makes {
            sys::make_directory(&parent, name.as_str()).map_err(io::Error::from_raw_os_error)?;
        }
        let directory = sys::open_own_directory(&parent, name.as_str())?;
        let _ = sys::lock_shared(&directory);
        Ok(Self::of(parent, name, directory, sets))
    }

    fn of(parent: File, name: String, directory: File, sets: RangeInclusive<u32>) -> Self {
        let (there, renamed) = (BTreeMap::new(), BTreeSet::new());
        Self { parent, name, directory: Arc::new(directory), there, renamed, sets }
    }

    /// The open directory.
    pub fn handle(&self) -> Arc<File> {
        Arc::clone(&self.directory)
    }

    /// Before operations on files: those that are to be made are not there, and the directories that they are to lie in are. What the
    /// plan becomes with those that can be operated on; it may be none.
    ///
    /// # Errors
    /// Those of removing what an earlier phase left, and of making directories.
    pub fn prepare(&mut self, files: &mut FilesPlan) -> io::Result<()> {
        if !files.file_operation.makes() {
            files.file_renamed = self.renamed.contains(&files.file_set);
            files.file_count = self.there.get(&files.file_set).map_or(0, |there| files.file_count.min(*there));
            return Ok(());
        }
        // Should they not be made, what there is of them is still found.
        if self.there.insert(files.file_set, 0).is_some() {
            clear(&self.directory, &(files.file_set..=files.file_set))?;
        }
        self.renamed.remove(&files.file_set);
        let names = EntryNames::of(files);
        self.make_directories(files, &names)?;
        if files.file_kind == FileKind::HardLink && files.file_operation == FileOperation::Create {
            let linked = sys::create_file(&*self.directory, names.top(LINKED, &mut PathText::default()), &[], false);
            linked.map_err(io::Error::from_raw_os_error)?;
        }
        Ok(())
    }

    fn make_directories(&self, files: &FilesPlan, names: &EntryNames) -> io::Result<()> {
        let mut text = PathText::default();
        for directory in 0..files.directories() {
            for level in 1..=names.levels() {
                match sys::make_directory(&*self.directory, names.directory_above(directory, level, &mut text)) {
                    // Made for a directory before.
                    Err(errno) if level < names.levels() && kind_of(errno) == io::ErrorKind::AlreadyExists => {}
                    made => made.map_err(io::Error::from_raw_os_error)?,
                }
            }
        }
        Ok(())
    }

    /// Makes one link of the kind that the plan's files are, and removes it.
    ///
    /// # Errors
    /// Those of making a link: EPERM where the file system has none.
    pub fn try_link(&self, files: &FilesPlan) -> io::Result<()> {
        let names = EntryNames::of(files);
        let mut linked = PathText::default();
        let mut text = PathText::default();
        let name = names.path_at_top(LINKED, "new", &mut text);
        let made = match files.file_kind {
            FileKind::File => return Ok(()),
            FileKind::HardLink => sys::link_entry(&*self.directory, names.top(LINKED, &mut linked), name),
            FileKind::Symlink => sys::symlink_entry(&*self.directory, name, name),
        };
        made.and_then(|()| sys::remove_file(&*self.directory, name)).map_err(io::Error::from_raw_os_error)
    }

    /// The numbers of the files, in the order in which their directories have them.
    ///
    /// # Errors
    /// Those of opening and reading directories.
    pub fn order(&self, files: &FilesPlan) -> io::Result<Arc<[u64]>> {
        let names = EntryNames::of(files);
        let mut text = PathText::default();
        let mut order = Vec::new();
        for directory in 0..files.directories().max(1) {
            let opened = sys::open_own_directory(&*self.directory, names.directory(directory, &mut text))?;
            sys::each_entry(&opened, |name, _| {
                order.extend(names.index_of(name, files.file_renamed).filter(|index| *index < files.file_count));
            })?;
        }
        Ok(order.into())
    }

    /// After them: `done` succeeded, and none failed if `all_right`.
    pub fn conclude(&mut self, files: &FilesPlan, done: u64, all_right: bool) {
        let whole = done == files.file_count;
        let first = if all_right && (whole || !files.file_shuffle && !files.file_by_directory) { done } else { 0 };
        match files.file_operation {
            made if made.makes() => _ = self.there.insert(files.file_set, first),
            other if !other.once() => {}
            renames if renames.renames() && all_right && whole => {
                if !self.renamed.remove(&files.file_set) {
                    self.renamed.insert(files.file_set);
                }
            }
            // What hard links were names of, and directories, stay until the set is made anew.
            _ if whole && !files.leaves_something() && self.there.get(&files.file_set) == Some(&done) => {
                _ = self.there.remove(&files.file_set)
            }
            // Which are left is not known.
            _ => _ = self.there.insert(files.file_set, 0),
        }
    }
}

/// The directory of the run's own, made where it is not there yet.
pub(super) fn own_directory<'a>(
    made: &'a mut Option<OwnDirectory>,
    target: &FileTarget,
) -> Result<&'a mut OwnDirectory, Failure> {
    match made {
        Some(own) => Ok(own),
        none => {
            let new = OwnDirectory::create(&target.file).map_err(|e| refusal(Attempt::Create, &target.path, &e))?;
            Ok(none.insert(new))
        }
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // What cannot be removed now is found by the next run.
        let _ = clear(&self.directory, &self.sets);
        let _ = sys::remove_directory(&self.parent, self.name.as_str());
    }
}

/// Removes the directories of runs that are no more: this user's, called as runs call them, and locked by nobody. In one that
/// holds anything else only what a run made is removed.
pub(super) fn remove_left(parent: &File) {
    let mut left = Vec::new();
    // Where a directory cannot be listed, nothing is found.
    let _ = sys::each_entry(parent, |name, is_directory| {
        left.extend((is_directory && name.starts_with(PREFIX)).then(|| name.to_owned()));
    });
    for name in left {
        if let Ok(directory) = sys::open_own_directory(parent, name.as_str())
            && let Ok(Locked::Held) = sys::lock_exclusively(&directory, Duration::ZERO)
        {
            let _ = clear(&directory, &ALL);
            let _ = sys::remove_directory(parent, name.as_str());
        }
    }
}
