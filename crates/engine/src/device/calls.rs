//! Single operations, carried out in the calling thread.

use super::psync::{execute, without_data};
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
