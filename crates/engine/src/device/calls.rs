//! Single operations, carried out in the calling thread.

use crate::DeviceError;
use model::RwFlags;
use std::os::fd::{AsFd, OwnedFd};
use sys::CallFlags;
use workload::{BlockOp, FileSpace, OpKind};

/// What carries single operations out: one file, or several with flags for each call.
pub trait Calls: Send + Sync {
    /// Before the first operation.
    fn prepare(&self);

    /// Carries one out; bytes transferred, or the errno.
    ///
    /// # Errors
    /// The errno.
    fn carry_out(&self, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32>;
}

impl Calls for OwnedFd {
    fn prepare(&self) {
        // Another user's file keeps its times: the reads are the same.
        let _ = sys::keep_access_time(self);
    }

    #[inline]
    fn carry_out(&self, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32> {
        execute(self, op, buffer)
    }
}

/// Several files in one range of addresses, or flags for each call (preadv2(2), pwritev2(2)), or both.
#[derive(Debug)]
pub struct FileSet {
    files: Vec<OwnedFd>,
    space: FileSpace,
    read: CallFlags,
    write: CallFlags,
    flagged: bool,
}

impl FileSet {
    /// Files whose addresses are those of `space`.
    pub fn new(files: Vec<OwnedFd>, space: FileSpace, flags: RwFlags) -> Self {
        let (read, write) = call_flags(flags);
        Self { files, space, read, write, flagged: flags != RwFlags::default() }
    }
}

/// Flags of reads and of writes.
pub(super) fn call_flags(flags: RwFlags) -> (CallFlags, CallFlags) {
    let both = CallFlags::NONE.hipri(flags.hipri).nowait(flags.nowait).dontcache(flags.dontcache);
    (both, both.dsync(flags.dsync).sync(flags.sync).atomic(flags.atomic))
}

/// An operation that a function is not for (the same on every Linux architecture).
const EINVAL: i32 = 22;

/// No such file: an address beyond the last one (ENXIO is the same on every Linux architecture).
pub(super) const ENXIO: i32 = 6;

impl Calls for FileSet {
    fn prepare(&self) {
        self.files.iter().for_each(Calls::prepare);
    }

    fn carry_out(&self, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32> {
        let (index, offset) = self.space.locate(op.offset);
        let file = self.files.get(index).ok_or(ENXIO)?.as_fd();
        if !self.flagged {
            return execute(file, &BlockOp { offset, ..*op }, buffer);
        }
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

/// Carries one operation out; bytes transferred, or the errno.
#[inline]
pub(super) fn execute(file: impl AsFd, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32> {
    let file = file.as_fd();
    let buffer = &mut buffer[..op.len as usize];
    // A length fits u32, because `op.len` does.
    let count = match op.kind {
        OpKind::Read => sys::read_at(file, buffer, op.offset)?,
        OpKind::Write => sys::write_at(file, buffer, op.offset)?,
        OpKind::WriteSync => {
            let written = sys::write_at(file, buffer, op.offset)?;
            sys::sync_data(file)?;
            written
        }
        OpKind::Fsync => {
            sys::sync_all(file)?;
            0
        }
        OpKind::Fdatasync | OpKind::Trim | OpKind::WriteZeroes => return without_data(file, op),
    };
    Ok(count as u32)
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
pub(super) fn check(op: &BlockOp, depth: u32, buffer_bytes: usize) -> Result<(), DeviceError> {
    if op.buffer >= depth || op.len as usize > buffer_bytes {
        return Err(DeviceError::BadOperation(format!(
            "buffer {} of {depth}, {} bytes of {buffer_bytes}",
            op.buffer, op.len
        )));
    }
    Ok(())
}
