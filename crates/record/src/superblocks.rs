//! Superblocks of recordings as files: read, changed by one process at a time, written; and what is said where that fails.

pub(crate) use conduct::file_failure::cannot;
use model::{Failure, FailureKind};
use recorder::{RECORD_BYTES, ReadError, Store, Superblock};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;
use sys::RecordLock;

/// How long others that change pins are waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// A lock for whoever changes superblocks: this process alone does until it is dropped.
pub(crate) fn lock_superblocks<'a>(file: &'a File, path: &Path) -> Result<RecordLock<'a>, Failure> {
    RecordLock::wait(file, PATIENCE).map_err(|e| cannot(path, &e))
}

/// The first copy of the superblock of this container, if it is whole.
pub(crate) fn superblock_of(file: &File, uuid: &[u8; 16]) -> Option<Superblock> {
    let mut record = [0; RECORD_BYTES];
    Store::read_at(file, 0, &mut record).ok()?;
    Superblock::decode(&record).ok()?.filter(|superblock| superblock.identity.uuid == *uuid)
}

/// Both copies, durably; never both at once, so that one is always whole.
pub(crate) fn write_superblocks(file: &File, superblock: &Superblock) -> io::Result<()> {
    let record = superblock.encode();
    for at in [superblock.second_place(Store::length(file)?), 0] {
        file.write_all_at(&record, at)?;
        file.sync_data()?;
    }
    Ok(())
}

pub(crate) fn refused(path: &Path, why: &str) -> Failure {
    Failure::refused(format!("{}: {why}", path.display()))
}

pub(crate) fn failed(path: &Path, e: &ReadError) -> Failure {
    let kind = match e {
        ReadError::Container(_) => FailureKind::Refused,
        ReadError::Io { .. } => FailureKind::Device,
    };
    Failure::new(kind, format!("{}: {e}", path.display()))
}
