//! Locks that the kernel drops with the process that holds them (flock(2)).

use crate::{ArchiveError, Result};
use rustix::fs::{FlockOperation, Stat, flock, fstat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// A lock; dropped with the value.
#[derive(Debug)]
pub struct Lock {
    file: Option<File>,
}

impl Lock {
    /// Of a file system that cannot lock: nothing is held.
    pub(crate) fn unknown() -> Self {
        Self { file: None }
    }

    /// What is locked, where the file system can lock.
    pub(crate) fn stat(&self) -> io::Result<Stat> {
        let file = self.file.as_ref().ok_or(Errno::NOLCK)?;
        Ok(fstat(file)?)
    }
}

/// What came of trying to lock.
#[derive(Debug)]
pub(crate) enum LockAttempt {
    /// We hold it.
    Held(Lock),
    /// A living process holds it.
    Taken,
    /// This file system cannot lock, so nobody knows.
    Unknown,
}

fn cannot_lock(errno: Errno) -> bool {
    matches!(errno, Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK | Errno::INVAL)
}

fn flocked(file: &File, operation: FlockOperation) -> rustix::io::Result<()> {
    loop {
        match flock(file, operation) {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// Waits for the lock. On a file system that cannot lock, nothing is held: a single user is better served than refused.
pub(crate) fn wait(path: &Path, file: File) -> Result<Lock> {
    match flocked(&file, FlockOperation::LockExclusive) {
        Ok(()) => Ok(Lock { file: Some(file) }),
        Err(e) if cannot_lock(e) => Ok(Lock { file: None }),
        Err(e) => Err(ArchiveError::io("lock", path)(e.into())),
    }
}

/// Takes the lock if nobody has it.
pub(crate) fn attempt(path: &Path, file: File) -> Result<LockAttempt> {
    match flocked(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(LockAttempt::Held(Lock { file: Some(file) })),
        Err(Errno::WOULDBLOCK) => Ok(LockAttempt::Taken),
        Err(e) if cannot_lock(e) => Ok(LockAttempt::Unknown),
        Err(e) => Err(ArchiveError::io("lock", path)(e.into())),
    }
}

/// Says with a lock that a new file is being written. False where somebody who took it for abandoned in the moment before
/// has removed it.
pub(crate) fn claim(file: &File) -> io::Result<bool> {
    match flocked(file, FlockOperation::LockExclusive) {
        Err(e) if !cannot_lock(e) => return Err(e.into()),
        _ => {}
    }
    Ok(fstat(file)?.st_nlink > 0)
}
