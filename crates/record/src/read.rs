//! A recording that is read: also while it is being written.

use crate::RECORDING_SUFFIX;
use conduct::admission::{Consent, admit};
use model::{CompactSort as _, Failure, FailureKind};
use observe::Root;
use recorder::{Container, ContainerError, ReadError};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use sys::SymlinkPolicy;

/// An open recording.
pub struct Read {
    pub path: PathBuf,
    /// What it holds.
    pub container: Container<File>,
    /// Of a directory that was named: its other recordings, the newest first.
    pub others: Vec<PathBuf>,
}

/// Opens a recording for reading only: a file, a device, or the newest one in a directory.
///
/// # Errors
/// There is none, it cannot be read, or it was written by a later program.
pub fn open_recording(name: &OsStr) -> Result<Read, Failure> {
    let mut found = find_recordings(name)?.into_iter();
    let path = found.next().unwrap_or_else(|| PathBuf::from(name));
    let admitted = admit(&Root::new("/"), &path, SymlinkPolicy::Follow, Consent::default())?;
    let container = Container::open(admitted.target.file).map_err(|e| {
        let kind = match &e {
            ReadError::Io { .. } => FailureKind::Device,
            ReadError::Container(ContainerError::TooSmall { .. } | ContainerError::None) => FailureKind::Usage,
            ReadError::Container(_) => FailureKind::Refused,
        };
        Failure::new(kind, format!("{}: {e}", path.display()))
    })?;
    Ok(Read { path: admitted.target.path, container, others: found.collect() })
}

/// Where a recording is: there, or the newest one in this directory.
pub(crate) fn find_recording(name: &OsStr) -> Result<PathBuf, Failure> {
    Ok(find_recordings(name)?.swap_remove(0))
}

/// That one alone, or all in this directory, the newest first; never none.
fn find_recordings(name: &OsStr) -> Result<Vec<PathBuf>, Failure> {
    let directory = Path::new(name);
    if !directory.is_dir() {
        return Ok(vec![directory.to_owned()]);
    }
    let entries =
        std::fs::read_dir(directory).map_err(|e| Failure::environment(format!("{}: {e}", directory.display())))?;
    let files = entries.filter_map(Result::ok).filter(|entry| {
        entry.path().extension().is_some_and(|e| e == RECORDING_SUFFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_file())
    });
    let changed =
        |entry: &std::fs::DirEntry| entry.metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut all: Vec<(SystemTime, PathBuf)> = files.map(|entry| (changed(&entry), entry.path())).collect();
    all.compact_sort_by(|a, b| b.cmp(a));
    if all.is_empty() {
        let what = format!("{}: there is no recording (*.{RECORDING_SUFFIX})", directory.display());
        return Err(Failure::usage(what));
    }
    Ok(all.into_iter().map(|(_, path)| path).collect())
}
