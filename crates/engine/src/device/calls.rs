//! Operations on files, carried out one by one in the calling thread.

use super::in_thread::Calls;
use super::metadata::Metadata;
use super::mmap::MappedFiles;
use crate::DeviceError;
use model::RwFlags;
use std::os::fd::{AsFd, OwnedFd};
use sys::{
    CallFlags,
    errno::{EINVAL, ENXIO},
};
use workload::{BlockOp, FileSpace, OpKind, Request};

/// Files in one range of addresses, and how they are reached.
#[derive(Debug)]
pub enum FileCalls {
    /// By pread and pwrite.
    Read(FileSet),
    /// By loads and stores.
    Mapped(MappedFiles),
    /// Only what is known of them is changed.
    Metadata(Metadata),
}

impl Calls for FileCalls {
    type Op = BlockOp;

    #[inline]
    fn carry_out(&self, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32> {
        match self {
            Self::Read(files) => files.carry_out(op, buffer),
            Self::Mapped(files) => files.carry_out(op, buffer),
            Self::Metadata(files) => files.carry_out(op),
        }
    }
}

impl From<OwnedFd> for FileCalls {
    fn from(file: OwnedFd) -> Self {
        Self::Read(FileSet::new(vec![file], FileSpace::alone(), RwFlags::default()))
    }
}

/// Files, with flags for each call (preadv2(2), pwritev2(2)) where some are asked for.
#[derive(Debug)]
pub struct FileSet {
    files: Vec<OwnedFd>,
    space: FileSpace,
    read: CallFlags,
    write: CallFlags,
}

/// Flags of reads and of writes.
pub(super) fn call_flags(flags: RwFlags) -> (CallFlags, CallFlags) {
    let both = CallFlags::NONE.hipri(flags.hipri).nowait(flags.nowait).dontcache(flags.dontcache);
    (both, both.dsync(flags.dsync).sync(flags.sync).atomic(flags.atomic))
}

impl FileSet {
    /// Files whose addresses are those of `space`.
    pub fn new(files: Vec<OwnedFd>, space: FileSpace, flags: RwFlags) -> Self {
        for file in &files {
            // Another user's file keeps its times: the reads are the same.
            let _ = sys::keep_access_time(file);
        }
        let (read, write) = call_flags(flags);
        Self { files, space, read, write }
    }

    /// Carries one out; bytes transferred, or the errno.
    #[inline]
    fn carry_out(&self, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32> {
        let (index, offset) = if self.files.len() == 1 { (0, op.offset) } else { self.space.locate(op.offset) };
        let file = self.files.get(index).ok_or(ENXIO)?.as_fd();
        let data = &mut buffer[..op.len as usize];
        let count = match op.kind {
            OpKind::Read => sys::read_at_with(file, data, offset, self.read)?,
            OpKind::Write => sys::write_at_with(file, data, offset, self.write)?,
            OpKind::WriteSync => {
                let written = sys::write_at_with(file, data, offset, self.write)?;
                sys::sync_data(file)?;
                written
            }
            OpKind::Fsync | OpKind::Fdatasync | OpKind::Trim | OpKind::WriteZeroes => {
                return without_data(file, &BlockOp { offset, ..*op });
            }
        };
        // A length fits u32, because `op.len` does.
        Ok(count as u32)
    }
}

/// What carries no data, and is rare or slow enough to stay out of the way of what does.
#[cold]
pub(super) fn without_data(file: impl AsFd, op: &BlockOp) -> Result<u32, i32> {
    let len = u64::from(op.len);
    match op.kind {
        OpKind::Fsync => sys::sync_all(file).map(|()| 0),
        OpKind::Fdatasync => sys::sync_data(file).map(|()| 0),
        OpKind::Trim => sys::discard(file, op.offset, len).map(|()| op.len),
        OpKind::WriteZeroes => sys::write_zeroes(file, op.offset, len).map(|()| op.len),
        OpKind::Read | OpKind::Write | OpKind::WriteSync => Err(EINVAL),
    }
}

/// An operation's buffer must exist and hold its bytes; told before anything is carried out.
#[inline]
pub(crate) fn check(op: &impl Request, depth: u32, buffer_bytes: usize) -> Result<(), DeviceError> {
    let (buffer, len) = (op.buffer(), op.len());
    if buffer >= depth || len as usize > buffer_bytes {
        let what = format!("buffer {buffer} of {depth}, {len} bytes of {buffer_bytes}");
        return Err(DeviceError::BadOperation(what));
    }
    Ok(())
}
