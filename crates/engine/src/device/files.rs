//! Operations on files and directories by their names, in the calling thread.

use super::in_thread::InThread;
use super::one_call::Calls;
use model::{FileKind, FileOperation, FilesPlan};
use std::cell::RefCell;
use std::ffi::CStr;
use std::fs::File;
use std::sync::Arc;
use sys::{BufferPool, Epoch, errno::EIO};
use workload::{EntryNames, FileOp, LINKED, PathText, second_name};

/// Where symbolic links lead.
const NOWHERE: &CStr = c"nowhere";

/// Creates, looks up and removes files, or directories, below one directory. A file that is created is opened, written to if it
/// has data, synced if that is asked for, and closed: one operation, one latency.
pub type FilesDevice = InThread<Entries>;

impl FilesDevice {
    /// On the files of a plan below an open directory, with a buffer for what is written; `sync`: each new file is made durable.
    pub fn new(epoch: Epoch, directory: Arc<File>, files: &FilesPlan, sync: bool, pool: BufferPool) -> Self {
        let names = EntryNames::of(files);
        let renamed = files.file_renamed;
        let sync_directory = files.sync_directory;
        let texts = Default::default();
        Self::with_calls(epoch, Entries { directory, names, renamed, sync, sync_directory, texts }, pool)
    }
}

/// The entries of a directory that belong to a set of files.
#[derive(Debug)]
pub struct Entries {
    directory: Arc<File>,
    names: EntryNames,
    renamed: bool,
    sync: bool,
    sync_directory: bool,
    /// Where paths are made, for operations that need several at once; kept, for clearing them takes longer than filling them.
    texts: [RefCell<PathText>; 3],
}

impl Entries {
    #[inline]
    fn create(&self, op: &FileOp, name: &CStr, data: &[u8]) -> Result<(), i32> {
        let directory = &*self.directory;
        match op.kind {
            FileKind::File => sys::create_file(directory, name, data, self.sync),
            FileKind::HardLink => {
                sys::link_entry(directory, self.names.top(LINKED, &mut self.texts[1].borrow_mut()), name)
            }
            FileKind::Symlink => sys::symlink_entry(directory, NOWHERE, name),
        }
    }

    /// A new file takes the place of one.
    #[inline(never)]
    fn replace(&self, op: &FileOp, name: &CStr, data: &[u8]) -> Result<(), i32> {
        let mut text = self.texts[1].borrow_mut();
        let beside = self.names.path(op.index, "new", &mut text);
        sys::create_file(&*self.directory, beside, data, self.sync)?;
        sys::rename_entry(&*self.directory, beside, name)
    }

    /// A transaction with a rollback journal: <https://sqlite.org/atomiccommit.html>, sections 3.5 to 3.11.
    #[inline(never)]
    fn journal(&self, op: &FileOp, name: &CStr, data: &[u8]) -> Result<(), i32> {
        let mut text = self.texts[2].borrow_mut();
        let journal = self.names.path(op.index, "journal", &mut text);
        let (before, after) = data.split_at(data.len() / 2);
        sys::create_file(&*self.directory, journal, before, self.sync)?;
        self.settle_names(op)?;
        sys::write_entry(&*self.directory, name, after, self.sync)?;
        sys::remove_file(&*self.directory, journal)
    }

    fn rename(&self, op: &FileOp, name: &CStr) -> Result<(), i32> {
        let mut text = self.texts[1].borrow_mut();
        sys::rename_entry(&*self.directory, name, self.names.path(op.index, second_name(!self.renamed), &mut text))
    }

    /// What was done to names of its directory is made durable, where that is asked for.
    #[inline]
    fn settle_names(&self, op: &FileOp) -> Result<(), i32> {
        if !self.sync_directory {
            return Ok(());
        }
        sys::sync_names(&*self.directory, self.names.directory_of(op.index, &mut self.texts[1].borrow_mut()))
    }
}

impl Calls for Entries {
    type Op = FileOp;

    fn execute(&self, op: &FileOp, buffer: &mut [u8]) -> Result<u32, i32> {
        let directory = &*self.directory;
        if op.sync {
            return sys::sync_file_system(directory).map(|()| 0).map_err(|e| e.raw_os_error().unwrap_or(EIO));
        }
        let mut text = self.texts[0].borrow_mut();
        if op.operation == FileOperation::List {
            return sys::list_names(directory, self.names.directory(op.index, &mut text)).map(|_| 0);
        }
        let name = self.names.path(op.index, second_name(self.renamed), &mut text);
        let data = &mut buffer[..op.len as usize];
        match op.operation {
            FileOperation::Create => self.create(op, name, data),
            FileOperation::ReadFile => return sys::read_entry(directory, name, data).map(|read| read as u32),
            FileOperation::Stat | FileOperation::StatDir => return sys::stat_entry(directory, name).map(|()| 0),
            FileOperation::Open => return sys::open_entry(directory, name).map(|()| 0),
            FileOperation::Rename | FileOperation::RenameDir => self.rename(op, name),
            FileOperation::Replace => self.replace(op, name, data),
            FileOperation::Journal => self.journal(op, name, data),
            FileOperation::Delete => sys::remove_file(directory, name),
            FileOperation::Mkdir => sys::make_directory(directory, name),
            FileOperation::Rmdir => sys::remove_directory(directory, name),
            FileOperation::List => Ok(()),
        }?;
        self.settle_names(op)?;
        Ok(op.len)
    }

    fn remarks(&self, _pool: &BufferPool) -> (Option<String>, Option<String>) {
        (None, None)
    }
}
