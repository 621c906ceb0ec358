//! A file that is looked at before it is opened. Opening alone can act: a watchdog starts, a tape rewinds, a FIFO waits. So
//! a name is resolved once, to a descriptor that can do nothing (`O_PATH`, open(2)); what is to be done is decided about
//! that descriptor, and the same file is opened through it, whatever the name means by then.

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// What a name led to.
pub struct LookedAt {
    /// As it was given.
    path: PathBuf,
    descriptor: OwnedFd,
    stat: Stat,
}

impl LookedAt {
    /// Resolves a name, symbolic links included; `None` where there is nothing.
    ///
    /// # Errors
    /// Those of open(2) and fstat(2).
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        let descriptor = match openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        let stat = fstat(&descriptor)?;
        Ok(Some(Self { path: path.to_owned(), descriptor, stat }))
    }

    /// What kind of file it is.
    pub fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    /// Opens this file and no other, by its descriptor's name in /proc. Never waits: a FIFO that nobody reads is ENXIO.
    ///
    /// # Errors
    /// Those of open(2). Where /proc is missing: ENOENT for writing, and ESTALE if the name means another file by now.
    pub fn open(&self, flags: OFlags) -> io::Result<File> {
        let name = format!("/proc/self/fd/{}", self.descriptor.as_raw_fd());
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        match openat(CWD, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if !flags.intersects(OFlags::WRONLY | OFlags::RDWR) => self.open_by_name(flags),
            opened => Ok(opened?.into()),
        }
    }

    /// For reading, without /proc: by its name again, and only if that still means this file.
    fn open_by_name(&self, flags: OFlags) -> io::Result<File> {
        let opened = openat(CWD, &self.path, flags, Mode::empty())?;
        let stat = fstat(&opened)?;
        if (stat.st_dev, stat.st_ino) != (self.stat.st_dev, self.stat.st_ino) {
            return Err(Errno::STALE.into());
        }
        Ok(opened.into())
    }
}

impl AsFd for LookedAt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// A kind of file in words.
pub fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a character device",
        FileType::BlockDevice => "a block device",
        FileType::Unknown => "a special file",
    }
}
