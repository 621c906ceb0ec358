//! Calls of a recording, made by descriptors and by names of our own form below one directory.

use super::CallOp;
use model::{CallFlag, CallKind, FileCall, FileTrace, NO_NUMBER};
use std::cell::RefCell;
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use sys::{
    OpenAs,
    errno::{EBADF, EINVAL, EIO, ENAMETOOLONG},
};
use workload::{PathText, TraceNames};

/// Where symbolic links lead.
const NOWHERE: &CStr = c"nowhere";

thread_local! {
    /// Where paths are made: a call has two at most.
    static TEXTS: RefCell<[PathText; 2]> = RefCell::default();
}

/// The files of a recording.
#[derive(Debug)]
pub struct ReplayedCalls {
    directory: Arc<File>,
    names: TraceNames,
    /// Open descriptors, by the number of their open.
    open: Mutex<Vec<Option<Arc<OwnedFd>>>>,
}

/// How a recording opened a file.
fn open_as(flags: u16) -> OpenAs {
    let has = |flag: u16| flags & flag != 0;
    OpenAs {
        read: has(CallFlag::READ),
        write: has(CallFlag::WRITE),
        create: has(CallFlag::CREATE),
        exclusive: has(CallFlag::EXCLUSIVE),
        truncate: has(CallFlag::TRUNCATE),
        sync: has(CallFlag::SYNC),
        dsync: has(CallFlag::DSYNC),
        directory: has(CallFlag::DIRECTORY),
    }
}

impl ReplayedCalls {
    /// Those of a trace, below an open directory, under the names of this set.
    pub fn new(directory: Arc<File>, trace: Arc<FileTrace>, set: u32) -> Self {
        let open = Mutex::new(vec![None; trace.handles as usize]);
        Self { directory, names: TraceNames::of(trace, set), open }
    }

    fn table(&self) -> MutexGuard<'_, Vec<Option<Arc<OwnedFd>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, call: &FileCall) -> Result<Arc<OwnedFd>, i32> {
        self.table().get(call.handle as usize).and_then(Clone::clone).ok_or(EBADF)
    }

    fn opened(&self, call: &FileCall) -> Result<(), i32> {
        let file = self.by_name(call, |directory, path| sys::open_as(directory, path, open_as(call.flags)))?;
        if let Some(slot) = self.table().get_mut(call.handle as usize) {
            *slot = Some(Arc::new(file));
        }
        Ok(())
    }

    fn path<'a>(&self, number: u32, text: &'a mut PathText) -> Result<&'a CStr, i32> {
        self.names.path(number, text).ok_or(ENAMETOOLONG)
    }

    /// With the directory that all lie in, and the path of a call below it.
    fn by_name<T>(&self, call: &FileCall, made: impl FnOnce(&File, &CStr) -> Result<T, i32>) -> Result<T, i32> {
        TEXTS.with_borrow_mut(|[text, _]| made(&self.directory, self.path(call.path, text)?))
    }

    /// The same with both of its paths.
    fn by_names(&self, call: &FileCall, made: impl FnOnce(&File, &CStr, &CStr) -> Result<(), i32>) -> Result<(), i32> {
        TEXTS.with_borrow_mut(|[text, other]| {
            made(&self.directory, self.path(call.path, text)?, self.path(call.second, other)?)
        })
    }

    fn truncate(&self, call: &FileCall) -> Result<(), i32> {
        if call.handle != NO_NUMBER {
            return sys::set_length(&*self.file(call)?, call.offset);
        }
        let write = OpenAs { write: true, ..OpenAs::default() };
        sys::set_length(self.by_name(call, |directory, path| sys::open_as(directory, path, write))?, call.offset)
    }

    fn made(&self, call: &FileCall, buffer: &mut [u8]) -> Result<u32, i32> {
        let data = |buffer| -> Result<&mut [u8], i32> {
            let buffer: &mut [u8] = buffer;
            buffer.get_mut(..call.bytes as usize).ok_or(EINVAL)
        };
        match call.kind {
            CallKind::Read => return sys::read_at(&*self.file(call)?, data(buffer)?, call.offset).map(|n| n as u32),
            CallKind::Write => return sys::write_at(&*self.file(call)?, data(buffer)?, call.offset).map(|n| n as u32),
            CallKind::Open => self.opened(call),
            // What nobody else uses is closed here.
            CallKind::Close => {
                let file = self.table().get_mut(call.handle as usize).and_then(Option::take);
                file.map(drop).ok_or(EBADF)
            }
            CallKind::Fsync => sys::sync_all(&*self.file(call)?),
            CallKind::Fdatasync => sys::sync_data(&*self.file(call)?),
            CallKind::SyncRange => sys::sync_range(&*self.file(call)?, call.offset, call.bytes, call.flags),
            CallKind::SyncFs => sys::sync_file_system(&*self.directory).map_err(|e| e.raw_os_error().unwrap_or(EIO)),
            CallKind::Truncate => self.truncate(call),
            CallKind::Allocate => sys::allocate(&*self.file(call)?, call.offset, call.bytes),
            CallKind::Stat => self.by_name(call, |at, path| sys::stat_entry(at, path)),
            CallKind::List => self.by_name(call, |at, path| sys::list_names(at, path).map(|_| ())),
            CallKind::Rename => self.by_names(call, |at, from, to| sys::rename_entry(at, from, to)),
            CallKind::Link => self.by_names(call, |at, from, to| sys::link_entry(at, from, to)),
            CallKind::Symlink => self.by_name(call, |at, path| sys::symlink_entry(at, NOWHERE, path)),
            CallKind::Unlink => self.by_name(call, |at, path| sys::remove_file(at, path)),
            CallKind::Mkdir => self.by_name(call, |at, path| sys::make_directory(at, path)),
            CallKind::Rmdir => self.by_name(call, |at, path| sys::remove_directory(at, path)),
            CallKind::Chmod => {
                let is_directory = call.flags & CallFlag::DIRECTORY != 0;
                self.by_name(call, |at, path| sys::set_mode(at, path, is_directory))
            }
            CallKind::Chown => self.by_name(call, |at, path| sys::set_owner(at, path)),
            CallKind::Utimes => self.by_name(call, |at, path| sys::set_times(at, path)),
        }
        .map(|()| 0)
    }

    /// Makes one with its buffer: bytes transferred.
    ///
    /// # Errors
    /// The errno.
    pub fn execute(&self, op: &CallOp, buffer: &mut [u8]) -> Result<u32, i32> {
        match self.made(&op.call, buffer) {
            Err(_) if op.call.flags & CallFlag::MAY_FAIL != 0 && op.call.kind == CallKind::Stat => Ok(0),
            result => result,
        }
    }
}
