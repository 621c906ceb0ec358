//! One call on files, as a program made it.

use crate::{Direction, Ns};
use serde::{Deserialize, Serialize};

/// The longest read or write: longer ones are made in pieces. Buffers are as long.
pub const MAX_CALL_BYTES: u64 = 1 << 20;
/// No descriptor, and no second path.
pub const NO_NUMBER: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallKind {
    /// openat(2); with [`FileCall::flags`].
    #[default]
    Open,
    /// close(2).
    Close,
    /// pread(2), and what reads otherwise.
    Read,
    /// pwrite(2), and what writes otherwise.
    Write,
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2), with its flags.
    SyncRange,
    /// syncfs(2), and sync(2).
    SyncFs,
    /// ftruncate(2), and truncate(2) where there is no descriptor.
    Truncate,
    /// fallocate(2) without a mode.
    Allocate,
    /// stat(2) and what else looks a name up: access(2), readlink(2), an open that found nothing.
    Stat,
    /// getdents64(2) until all names are read.
    List,
    /// renameat(2).
    Rename,
    /// linkat(2).
    Link,
    /// symlinkat(2).
    Symlink,
    /// unlinkat(2).
    Unlink,
    /// mkdirat(2).
    Mkdir,
    /// unlinkat(2) of a directory.
    Rmdir,
    /// fchmodat(2).
    Chmod,
    /// fchownat(2).
    Chown,
    /// utimensat(2).
    Utimes,
}

impl CallKind {
    /// What it counts as.
    pub fn direction(self) -> Direction {
        match self {
            Self::Read => Direction::Read,
            Self::Write => Direction::Write,
            Self::Fsync | Self::Fdatasync | Self::SyncRange | Self::SyncFs => Direction::Sync,
            _ => Direction::Names,
        }
    }

    /// Whether it leaves everything as it was; of an open its flags tell.
    pub fn only_looks(self) -> bool {
        matches!(self, Self::Read | Self::Stat | Self::List | Self::Close)
    }

    /// Whether it changes what a directory holds, so that what lies below is reached or not.
    pub fn moves_names(self) -> bool {
        matches!(self, Self::Rename | Self::Mkdir | Self::Rmdir)
    }
}

/// How a file is opened: bits of [`FileCall::flags`].
#[derive(Clone, Copy, Debug)]
pub struct CallFlag;

impl CallFlag {
    /// Opened for reading.
    pub const READ: u16 = 1;
    /// Opened for writing.
    pub const WRITE: u16 = 2;
    /// It is made if it is not there.
    pub const CREATE: u16 = 4;
    /// O_EXCL: fails if the file exists.
    pub const EXCLUSIVE: u16 = 8;
    /// O_TRUNC.
    pub const TRUNCATE: u16 = 16;
    /// O_SYNC.
    pub const SYNC: u16 = 32;
    /// O_DSYNC.
    pub const DSYNC: u16 = 64;
    pub const DIRECTORY: u16 = 128;
    /// It failed when it was recorded, and may again.
    pub const MAY_FAIL: u16 = 256;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCall {
    /// When it started, from the first one on.
    pub at_ns: Ns,
    /// So long after the end of the call before, of the same thread.
    pub pause_ns: Ns,
    /// First byte; of a truncation the new length.
    pub offset: u64,
    /// Bytes of a read, a write, a sync of a range or a reservation.
    pub bytes: u64,
    /// The path, by its number in [`FileTrace::paths`](crate::FileTrace::paths): of a call by a descriptor the one that it was opened by.
    pub path: u32,
    /// The new path of a rename or link; [`NO_NUMBER`] elsewhere.
    pub second: u32,
    /// The descriptor: a number for each open; [`NO_NUMBER`] without one.
    pub handle: u32,
    /// Who made it.
    pub thread: u16,
    /// Of an open how, see [`CallFlag`]; of a sync of a range its own.
    pub flags: u16,
    pub kind: CallKind,
}

impl FileCall {
    /// Whether it leaves everything as it was.
    pub fn only_looks(&self) -> bool {
        let makes = CallFlag::CREATE | CallFlag::TRUNCATE;
        self.kind.only_looks() || self.kind == CallKind::Open && self.flags & makes == 0
    }
}
