//! Locks that the kernel drops with the process that holds them (flock(2)).

use crate::{ArchiveError, Result};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A lock; dropped with the value.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: Option<File>,
}

/// What came of trying to lock.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// We hold it.
    Held(Lock),
    /// A living process holds it.
    Taken,
    /// This file system cannot lock, so nobody knows.
    Unknown,
}

fn open(path: &Path) -> Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits() as i32)
        .open(path)
        .map_err(ArchiveError::io("open the lock", path))
}

fn cannot_lock(errno: Errno) -> bool {
    matches!(errno, Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK | Errno::INVAL)
}

/// Waits for the lock. On a file system that cannot lock, nothing is held: a single user is better served than refused.
pub(crate) fn wait(path: &Path) -> Result<Lock> {
    let file = open(path)?;
    loop {
        match flock(&file, FlockOperation::LockExclusive) {
            Ok(()) => return Ok(Lock { _file: Some(file) }),
            Err(Errno::INTR) => {}
            Err(e) if cannot_lock(e) => return Ok(Lock { _file: None }),
            Err(e) => return Err(ArchiveError::io("lock", path)(e.into())),
        }
    }
}

/// Takes the lock if nobody has it.
pub(crate) fn attempt(path: &Path) -> Result<Attempt> {
    let file = open(path)?;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Attempt::Held(Lock { _file: Some(file) })),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => return Ok(Attempt::Taken),
            Err(e) if cannot_lock(e) => return Ok(Attempt::Unknown),
            Err(e) => return Err(ArchiveError::io("lock", path)(e.into())),
        }
    }
}
