//! The file that a soak of a directory makes for itself.

use super::SoakState;
use model::{Failure, FailureKind};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Of what a file system has free, one part in so many stays free.
const FREE_PART: u64 = 20;
/// Whole MiB are soaked.
const MIB: u64 = 1 << 20;

/// A file that was made for a soak.
#[derive(Debug)]
pub struct OwnFile {
    /// Without links in it: what stands there later by a link is refused.
    pub path: PathBuf,
    /// Its `st_dev` and `st_ino`.
    pub file: (u64, u64),
}

impl OwnFile {
    /// A new file for the soak of this id, with its blocks reserved; without a size, all that is free but for a twentieth.
    ///
    /// # Errors
    /// There is no room, or the directory takes no file; then none is left.
    pub fn make(directory: &Path, id: &str, size: Option<u64>) -> Result<Self, Failure> {
        let cannot =
            |path: &Path, e: &io::Error| Failure::new(FailureKind::Environment, format!("{}: {e}", path.display()));
        let directory = directory.canonicalize().map_err(|e| cannot(directory, &e))?;
        let path = directory.join(SoakState::own_file_name(id));
        let space = rustix::fs::statvfs(&directory).map_err(|e| cannot(&directory, &e.into()))?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        let bytes = size.unwrap_or(free - free / FREE_PART) / MIB * MIB;
        if bytes < MIB || bytes > free {
            let [free, asked] = [free, size.unwrap_or(bytes)].map(model::bytes_text);
            let what = format!("{}: {free} are free, and {asked} are asked for", directory.display());
            return Err(Failure::new(FailureKind::Environment, what)
                .remedy("--size SIZE   1 MiB or more, and less than is free"));
        }
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|e| cannot(&path, &e))?;
        let made = reserve(&file, bytes).and_then(|()| file.metadata());
        let metadata = made.map_err(|e| {
            // It was made a moment ago, and nothing is in it.
            let _ = std::fs::remove_file(&path);
            cannot(&path, &e)
        })?;
        Ok(Self { path, file: (metadata.dev(), metadata.ino()) })
    }
}

/// Where blocks cannot be reserved they are had when they are written.
pub(crate) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    match sys::reserve(file, 0, bytes) {
        Err(e) if e.raw_os_error() == Some(sys::errno::EOPNOTSUPP) => file.set_len(bytes)?,
        other => other?,
    }
    file.sync_all()
}
