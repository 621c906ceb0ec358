//! The few things that the archive does to a file system, each durable when it returns.
//!
//! Every primitive step passes [`Storage::step`], so that the crash tests can stop at each one and undo what had not
//! been synced (`crash_tests.rs` lists what is injected).

use crate::{ArchiveError, Result};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Durable changes to the archive's file system.
#[derive(Clone, Debug, Default)]
pub(crate) struct Storage {
    #[cfg(test)]
    pub(crate) fault: Option<std::sync::Arc<std::sync::Mutex<crate::crash_tests::Fault>>>,
}

/// One primitive step, for the fault injection.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), allow(dead_code, reason = "only the crash tests look at the paths"))]
pub(crate) enum Step<'a> {
    CreateDir(&'a Path),
    Write(&'a Path, &'a [u8], u64),
    SyncFile(&'a Path),
    Rename(&'a Path, &'a Path),
    SyncDir(&'a Path),
    Remove(&'a Path),
}

impl Storage {
    #[cfg(test)]
    fn step(&self, step: Step<'_>) -> io::Result<()> {
        self.fault.as_ref().map_or(Ok(()), |f| f.lock().expect("no test panics in a step").step(step))
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the tests' version does something")]
    fn step(&self, _: Step<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Creates a directory and whatever is missing above it.
    pub fn create_dirs(&self, path: &Path) -> Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            self.create_dirs(parent)?;
        }
        match self.step(Step::CreateDir(path)).and_then(|()| fs::create_dir(path)) {
            // Another process was faster.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            Err(e) => Err(ArchiveError::io("create the directory", path)(e)),
            Ok(()) => self.sync_dir(parent_of(path)),
        }
    }

    /// Creates a directory that must not exist.
    pub fn create_dir(&self, path: &Path) -> Result<()> {
        self.step(Step::CreateDir(path))
            .and_then(|()| fs::create_dir(path))
            .map_err(ArchiveError::io("create the directory", path))?;
        self.sync_dir(parent_of(path))
    }

    /// Gives a file new content; a reader, and a crash, see the old or the new one.
    pub fn replace(&self, path: &Path, content: &[u8]) -> Result<()> {
        let temporary = temporary_of(path);
        self.write(&temporary, content, 0)?;
        self.rename(&temporary, path)?;
        self.sync_dir(parent_of(path))
    }

    /// Adds to a file of which the first `length_bytes` are good; what stands behind them (a failed attempt) goes.
    pub fn append(&self, path: &Path, length_bytes: u64, content: &[u8]) -> Result<()> {
        self.write(path, content, length_bytes)
    }

    fn write(&self, path: &Path, content: &[u8], offset: u64) -> Result<()> {
        let attempt = || -> io::Result<()> {
            self.step(Step::Write(path, content, offset))?;
            let mut file = File::options()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o644)
                .custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits() as i32)
                .open(path)?;
            file.set_len(offset)?;
            io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
            file.write_all(content)?;
            self.step(Step::SyncFile(path))?;
            file.sync_all()
        };
        attempt().map_err(ArchiveError::io("write", path))
    }

    /// Renames; durable only after [`Storage::sync_dir`] of the directory.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.step(Step::Rename(from, to)).and_then(|()| fs::rename(from, to)).map_err(ArchiveError::io("rename", from))
    }

    /// Makes creations, renames and removals in a directory durable.
    pub fn sync_dir(&self, path: &Path) -> Result<()> {
        let sync = || File::open(path)?.sync_all();
        match self.step(Step::SyncDir(path)).and_then(|()| sync()) {
            // Some network and FUSE file systems have no fsync for directories; their renames are what they are.
            Err(e) if matches!(Errno::from_io_error(&e), Some(Errno::INVAL | Errno::NOTSUP)) => Ok(()),
            other => other.map_err(ArchiveError::io("sync the directory", path)),
        }
    }

    /// Removes a file; one that is not there is fine.
    pub fn remove_file(&self, path: &Path) -> Result<()> {
        match self.step(Step::Remove(path)).and_then(|()| fs::remove_file(path)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other.map_err(ArchiveError::io("remove", path)),
        }
    }

    /// Removes a directory and all in it, without following symbolic links.
    pub fn remove_tree(&self, path: &Path) -> Result<()> {
        match self.step(Step::Remove(path)).and_then(|()| fs::remove_dir_all(path)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other.map_err(ArchiveError::io("remove", path)),
        }
    }
}

/// The directory that an entry lies in.
pub(crate) fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn temporary_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    name.into()
}

/// Opens a regular file for reading, and nothing else: a bundle may come from a stranger, and a symbolic link or a FIFO
/// in it must neither lead outside nor hang. `None` if it is not there.
pub(crate) fn open_regular(path: &Path) -> Result<Option<(File, u64)>> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match File::options().read(true).custom_flags(flags.bits() as i32).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(ArchiveError::io("open", path)(e)),
    };
    let metadata = file.metadata().map_err(ArchiveError::io("stat", path))?;
    if !metadata.is_file() {
        return Err(ArchiveError::corrupt(path, None, "it is not a regular file"));
    }
    Ok(Some((file, metadata.len())))
}

/// Reads a whole regular file of at most `limit_bytes`; `None` if it is not there.
pub(crate) fn read_limited(path: &Path, limit_bytes: u64) -> Result<Option<Vec<u8>>> {
    let Some((file, size_bytes)) = open_regular(path)? else { return Ok(None) };
    if size_bytes > limit_bytes {
        return Err(ArchiveError::TooLarge { path: path.to_owned(), size_bytes, limit_bytes });
    }
    let mut content = Vec::new();
    // It may grow while it is read.
    file.take(limit_bytes).read_to_end(&mut content).map_err(ArchiveError::io("read", path))?;
    Ok(Some(content))
}
