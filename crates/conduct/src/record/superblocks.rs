//! Superblocks of recordings as files: read, changed by one process at a time, written; and what is said where that fails.

pub(super) use crate::file_failure::cannot;
use model::{Failure, FailureKind};
use recorder::{RECORD_BYTES, ReadError, Store, Superblock};
use rustix::fs::FlockOperation;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long others that change pins are waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// A superblock that this process alone changes, until it is dropped.
pub(super) struct SuperblockLock<'a>(&'a File);

impl<'a> SuperblockLock<'a> {
    /// Waits for others. The lock goes when any descriptor of the file is closed by this process: none may be, meanwhile.
    pub fn wait(file: &'a File, path: &Path) -> Result<Self, Failure> {
        let begun = Instant::now();
        loop {
            match rustix::fs::fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                // Where there are no locks nobody else has one.
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOLCK) => {
                    return Ok(Self(file));
                }
                Err(_) if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
                Err(e) => return Err(cannot(path, &e.into())),
            }
        }
    }
}

impl Drop for SuperblockLock<'_> {
    fn drop(&mut self) {
        let _ = rustix::fs::fcntl_lock(self.0, FlockOperation::Unlock);
    }
}

/// The first copy of the superblock of this container, if it is whole.
pub(super) fn superblock_of(file: &File, uuid: &[u8; 16]) -> Option<Superblock> {
    let mut record = [0; RECORD_BYTES];
    Store::read_at(file, 0, &mut record).ok()?;
    Superblock::decode(&record).ok()?.filter(|superblock| superblock.identity.uuid == *uuid)
}

/// Both copies, durably; never both at once, so that one is always whole.
pub(super) fn write_superblocks(file: &File, superblock: &Superblock) -> io::Result<()> {
    let record = superblock.encode();
    for at in [superblock.second_place(Store::length(file)?), 0] {
        file.write_all_at(&record, at)?;
        file.sync_data()?;
    }
    Ok(())
}

pub(super) fn refused(path: &Path, why: &str) -> Failure {
    Failure::refused(format!("{}: {why}", path.display()))
}

pub(super) fn failed(path: &Path, e: &ReadError) -> Failure {
    let kind = match e {
        ReadError::Container(_) => FailureKind::Refused,
        ReadError::Io { .. } => FailureKind::Device,
    };
    Failure::new(kind, format!("{}: {e}", path.display()))
}
