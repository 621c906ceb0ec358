//! Operations on files and directories by their names, in the calling thread.

use super::in_thread::{Calls, InThread};
use model::{FileKind, FileOperation};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use sys::{BufferPool, Epoch, errno::EIO};
use workload::FileOp;

/// The name of a member of a set of files: nothing else is ever made or removed.
/// The member of a set that hard links are names of: no index is as high.
pub(crate) const LINKED: u64 = u64::MAX;
/// Where symbolic links lead.
const NOWHERE: &str = "nowhere";

pub(crate) fn entry_name(set: u32, index: u64, buffer: &mut [u8; 32]) -> &str {
    let mut rest = &mut buffer[..];
    // 10 digits, a dot and 20 digits fit.
    let _ = write!(rest, "{set}.{index}");
    let left = rest.len();
    std::str::from_utf8(&buffer[..buffer.len() - left]).unwrap_or_default()
}

/// Creates, looks up and removes files, or directories, in one directory. A file that is created is opened, written to if it
/// has data, synced if that is asked for, and closed: one operation, one latency.
pub type FilesDevice = InThread<Entries>;

impl FilesDevice {
    /// On the files of a set in an open directory, with a buffer for what is written; `sync`: each new file is made durable.
    pub fn new(epoch: Epoch, directory: Arc<File>, set: u32, sync: bool, pool: BufferPool) -> Self {
        Self::over(epoch, Entries { directory, set, sync }, pool)
    }
}

/// The entries of a directory that belong to a set of files.
#[derive(Debug)]
pub struct Entries {
    directory: Arc<File>,
    set: u32,
    sync: bool,
}

impl Calls for Entries {
    type Op = FileOp;

    fn carry_out(&self, op: &FileOp, buffer: &mut [u8]) -> Result<u32, i32> {
        let mut text = [0; 32];
        let (directory, name) = (&*self.directory, entry_name(self.set, op.index, &mut text));
        if op.sync {
            return sys::sync_file_system(directory).map(|()| 0).map_err(|e| e.raw_os_error().unwrap_or(EIO));
        }
        match op.operation {
            FileOperation::Create => match op.kind {
                FileKind::File => sys::create_file(directory, name, &buffer[..op.len as usize], self.sync),
                FileKind::HardLink => sys::link_entry(directory, entry_name(self.set, LINKED, &mut [0; 32]), name),
                FileKind::Symlink => sys::symlink_entry(directory, NOWHERE, name),
            },
            FileOperation::ReadFile => {
                return sys::read_entry(directory, name, &mut buffer[..op.len as usize]).map(|read| read as u32);
            }
            FileOperation::Stat | FileOperation::StatDir => sys::stat_entry(directory, name),
            FileOperation::Open => sys::open_entry(directory, name),
            FileOperation::Delete => sys::remove_file(directory, name),
            FileOperation::Mkdir => sys::make_directory(directory, name),
            FileOperation::Rmdir => sys::remove_directory(directory, name),
        }
        .map(|()| op.len)
    }

    fn remarks(&self, _pool: &BufferPool) -> (Option<String>, Option<String>) {
        (None, None)
    }
}
