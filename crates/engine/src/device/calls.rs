//! Operations on files, carried out one by one in the calling thread.

use super::metadata::Metadata;
use super::mmap::MappedFiles;
use super::one_call::{Calls, without_data};
use model::RwFlags;
use std::os::fd::{AsFd, OwnedFd};
use sys::{CallFlags, errno::ENXIO};
use workload::{BlockOp, FileSpace, OpKind};

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
    fn execute(&self, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32> {
        match self {
            Self::Read(files) => files.execute(op, buffer),
            Self::Mapped(files) => files.execute(op, buffer),
            Self::Metadata(files) => files.execute(op),
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
            let _ = sys::set_noatime(file);
        }
        let (read, write) = call_flags(flags);
        Self { files, space, read, write }
    }

    /// Carries one out; bytes transferred, or the errno.
    #[inline]
    fn execute(&self, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32> {
        let (index, offset) = if self.files.len() == 1 { (0, op.offset) } else { self.space.locate(op.offset) };
        let file = self.files.get(index).ok_or(ENXIO)?.as_fd();
        if !matches!(op.kind, OpKind::Read | OpKind::Write | OpKind::WriteSync) {
            return without_data(file, &BlockOp { offset, ..*op });
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
            OpKind::Fsync | OpKind::Fdatasync | OpKind::Trim | OpKind::WriteZeroes => 0,
        };
        // A length fits u32, because `op.len` does.
        Ok(count as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::one_call::check;
    use sys::errno::{EINVAL, EOPNOTSUPP};

    #[test]
    fn a_trim_is_longer_than_any_buffer() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8 << 30).unwrap();
        let set = FileSet::new(vec![file.into()], FileSpace::alone(), RwFlags::default());
        let len = 0xffff_f000;
        let trim = BlockOp { kind: OpKind::Trim, offset: 1 << 30, len, ..BlockOp::default() };
        assert!(check(&trim, 1, 4096).is_ok());
        assert!(check(&BlockOp { kind: OpKind::Read, ..trim }, 1, 4096).is_err(), "what is read needs room");
        match set.execute(&trim, &mut [0; 4096]) {
            Err(EOPNOTSUPP | EINVAL) => println!("SKIPPED: the file system of temporary files has no holes"),
            done => assert_eq!(done, Ok(len)),
        }
    }
}
