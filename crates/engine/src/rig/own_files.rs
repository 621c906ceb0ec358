//! The files that the streams of a plan name, below a directory.
//!
//! A name stands for one file for all streams and phases of a run. It never appears in the directory: each file is made
//! without a name (O_TMPFILE; where the file system has none, created exclusively and unlinked at once), so that it is gone
//! with this program however that ends, nothing of the user's can be hit by a name, and nothing need be tidied up. Only where a file without
//! a name cannot be opened again (SMB) it has one of ours until the end.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io;
use std::sync::Arc;
use sys::{KeptName, TemporaryKind};

/// The files of a stream: the target, or those that it names.
pub(crate) type Files = Vec<Arc<File>>;

/// Files by name.
#[derive(Debug, Default)]
pub(crate) struct OwnFiles {
    files: BTreeMap<String, Arc<File>>,
    /// Removed after the files are closed.
    kept: Vec<KeptName>,
}

impl OwnFiles {
    /// The files of these names, made where they are asked for first.
    ///
    /// # Errors
    /// Those of making a temporary file, and EMFILE.
    pub(crate) fn open(&mut self, directory: &File, names: &[String]) -> io::Result<Files> {
        let open = |name: &String| {
            Ok(Arc::clone(match self.files.entry(name.clone()) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(none) => {
                    let (file, kind) = sys::create_temporary(directory)?;
                    if let TemporaryKind::Named(name) = kind {
                        self.kept.push(name);
                    }
                    none.insert(Arc::new(file))
                }
            }))
        };
        names.iter().map(open).collect()
    }

    /// Bytes that each of these files holds at least; 0 where one does not exist yet.
    pub(crate) fn shortest(&self, names: &[String]) -> u64 {
        let len = |name| self.files.get(name).and_then(|f| f.metadata().ok()).map_or(0, |m| m.len());
        names.iter().map(len).min().unwrap_or(0)
    }

    /// How long each is, by name.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = (&str, u64)> {
        self.files.iter().map(|(name, f)| (name.as_str(), f.metadata().map_or(0, |m| m.len())))
    }

    /// Those that exist of these names.
    pub(crate) fn of(&self, names: &[String]) -> impl Iterator<Item = &Arc<File>> {
        names.iter().filter_map(|n| self.files.get(n))
    }

    /// Makes all durable.
    ///
    /// # Errors
    /// Those of fsync(2); all are tried.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.files.values().map(|f| sys::sync_through_reconnect(f)).fold(Ok(()), io::Result::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn one_name_is_one_file_and_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let handle = sys::open_directory(directory.path()).unwrap();
        let names = ["a".to_owned(), "b".to_owned(), "a".to_owned()];
        let mut own = OwnFiles::default();
        assert_eq!(own.shortest(&names), 0);
        let files = own.open(&handle, &names).unwrap();
        files[0].write_all_at(b"hello", 0).unwrap();
        let mut text = [0; 5];
        files[2].read_exact_at(&mut text, 0).unwrap();
        assert_eq!((&text, own.shortest(&names[..1]), own.shortest(&names)), (b"hello", 5, 0));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        own.sync().unwrap();
    }
}
