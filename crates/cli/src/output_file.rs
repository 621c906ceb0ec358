//! Every file that a command writes for the user is opened here: pages, exports, captures. Only regular files and pipes are
//! ever written; a slip of the finger that names a disk costs the content of that disk.
//!
//! A file that is not there yet gets its name when it is whole ([open(2)](https://man7.org/linux/man-pages/man2/open.2.html),
//! `O_TMPFILE`): a full disk or a signal leaves nothing behind. It is its owner's alone (0600). A file that is there keeps its
//! links, owner and mode; it is cut off only after it was seen to be one.

use crate::looked_at::{LookedAt, kind_name};
use model::Failure;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, linkat, major, minor, openat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Major number of flash memory as a character device (Documentation/admin-guide/devices.txt).
const MTD_MAJOR: u32 = 90;
/// /dev/mem, /dev/kmem and /dev/port.
const MEMORY: [(u32, u32); 3] = [(1, 1), (1, 2), (1, 4)];

/// An output that is being written. Dropped without [`OutputFile::finish`], a new file is gone.
pub struct OutputFile {
    file: File,
    path: PathBuf,
    name: Name,
}

/// How the file has its name.
enum Name {
    /// It was there before.
    Kept,
    /// It gets it at the end.
    Later(OwnedFd, OsString),
    /// It has it already, as the file system knows no files without one.
    Given(OwnedFd, OsString),
    /// It is finished.
    Done,
}

/// Writes a whole file.
///
/// # Errors
/// It is no regular file or pipe (`refused`), or cannot be written.
pub fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut file = OutputFile::open(path)?;
    file.write_all(content).map_err(|e| cannot(path, &e.to_string()))?;
    file.finish()
}

/// Writes a whole file that other programs read: a new one is readable for all (0644).
///
/// # Errors
/// As [`write()`].
pub fn publish(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut file = OutputFile::open(path)?;
    if !matches!(file.name, Name::Kept) {
        let readable = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        rustix::fs::fchmod(&file.file, readable).map_err(|e| cannot(path, &error_of(e)))?;
    }
    file.write_all(content).map_err(|e| cannot(path, &e.to_string()))?;
    file.finish()
}

/// Whether a file could be written, before anything is done for it. Creates and changes nothing.
///
/// # Errors
/// As [`write()`].
pub fn check(path: &Path) -> Result<(), Failure> {
    not_stdout(path)?;
    if let Some(there) = there(path)? {
        let name = format!("/proc/self/fd/{}", there.as_fd().as_raw_fd());
        return rustix::fs::access(name, rustix::fs::Access::WRITE_OK).map_err(|e| cannot(path, &error_of(e)));
    }
    let (directory, _) = split(path)?;
    if !directory.is_dir() {
        return Err(cannot(path, &format!("{} is not a directory", directory.display())));
    }
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).map_err(|e| cannot(path, &error_of(e)))
}

/// Whether a stream leads to what holds data: a block device, flash memory, or the memory of the machine. The shell opens
/// what stdout is redirected to, and asks nobody.
pub fn is_storage(stream: impl AsFd) -> bool {
    let Ok(stat) = fstat(stream) else { return false };
    let number = (major(stat.st_rdev), minor(stat.st_rdev));
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => true,
        FileType::CharacterDevice => number.0 == MTD_MAJOR || MEMORY.contains(&number),
        _ => false,
    }
}

impl OutputFile {
    /// Opens an output: a file or pipe that is there, or a new file.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn open(path: &Path) -> Result<Self, Failure> {
        not_stdout(path)?;
        let Some(there) = there(path)? else { return Self::create(path) };
        let file = there.open(OFlags::WRONLY).map_err(|e| cannot(path, &open_error(&there, &e)))?;
        // The descriptor decided: it is a file or a pipe, and nothing else can be behind it.
        let prepared = match there.kind() {
            FileType::RegularFile => file.set_len(0),
            _ => rustix::io::ioctl_fionbio(&file, false).map_err(io::Error::from),
        };
        prepared.map_err(|e| cannot(path, &e.to_string()))?;
        Ok(Self { file, path: path.to_owned(), name: Name::Kept })
    }

    /// Begins a file that must not be there.
    ///
    /// # Errors
    /// It is there (`refused`), or cannot be written.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let (directory, name) = split(path)?;
        let name = name.to_owned();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, directory, flags, Mode::empty()).map_err(|e| cannot(path, &error_of(e)))?;
        if rustix::fs::statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Err(is_there(path));
        }
        let mode = Mode::RUSR | Mode::WUSR;
        match openat(&directory, ".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode) {
            // It gets its name through /proc.
            Ok(_) if !Path::new("/proc/self/fd").exists() => {}
            Ok(file) => {
                return Ok(Self { file: file.into(), path: path.to_owned(), name: Name::Later(directory, name) });
            }
            // EISDIR and ENOENT: kernels before 3.11; EOPNOTSUPP: the file system has none; EINVAL: some FUSE servers.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => {}
            Err(e) => return Err(cannot(path, &error_of(e))),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&directory, &name, flags, mode) {
            Ok(file) => Ok(Self { file: file.into(), path: path.to_owned(), name: Name::Given(directory, name) }),
            Err(Errno::EXIST) => Err(is_there(path)),
            Err(e) => Err(cannot(path, &error_of(e))),
        }
    }

    /// Makes it durable and gives it its name.
    ///
    /// # Errors
    /// It cannot be written, or another file has the name by now.
    pub fn finish(mut self) -> Result<(), Failure> {
        match self.file.sync_all() {
            // Pipes, and some FUSE servers, have nothing to sync.
            Err(e) if matches!(Errno::from_io_error(&e), Some(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)) => {}
            synced => synced.map_err(|e| cannot(&self.path, &e.to_string()))?,
        }
        if let Name::Later(directory, name) = &self.name {
            let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            match linkat(CWD, own, directory, name, AtFlags::SYMLINK_FOLLOW) {
                Ok(()) => {}
                Err(Errno::EXIST) => return Err(is_there(&self.path)),
                Err(e) => return Err(cannot(&self.path, &error_of(e))),
            }
        }
        self.name = Name::Done;
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Name::Given(directory, name) = &self.name {
            // Half a file is worth less than none, and the error that led here tells why.
            let _ = unlinkat(directory, name, AtFlags::empty());
        }
    }
}

/// Stdout has the answer of the command, and takes nothing else.
fn not_stdout(path: &Path) -> Result<(), Failure> {
    if path != Path::new("-") {
        return Ok(());
    }
    Err(Failure::usage("- is stdout, which has the answer of this command")
        .remedy("name a file; ./- is one of that name"))
}

/// What stands under a name, if it may be written; `None` where nothing does.
fn there(path: &Path) -> Result<Option<LookedAt>, Failure> {
    let Some(found) = LookedAt::at(path).map_err(|e| cannot(path, &e.to_string()))? else {
        // A link that leads nowhere may lead to a disk once one is plugged in.
        return match path.is_symlink() {
            true => Err(cannot(path, "it is a symbolic link to nothing")),
            false => Ok(None),
        };
    };
    match found.kind() {
        FileType::RegularFile | FileType::Fifo => Ok(Some(found)),
        FileType::Directory => Err(cannot(path, "it is a directory")),
        kind => {
            let message = format!("{} is {}, and nothing is written there", path.display(), kind_name(kind));
            Err(Failure::refused(message).remedy("name a file, or a pipe that somebody reads"))
        }
    }
}

/// The directory and the name in it.
fn split(path: &Path) -> Result<(&Path, &OsStr), Failure> {
    let slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let name = path.file_name().filter(|_| !slash).ok_or_else(|| cannot(path, "it is not the name of a file"))?;
    Ok((path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")), name))
}

fn open_error(there: &LookedAt, error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::NXIO) if there.kind() == FileType::Fifo => "no process reads this pipe".to_owned(),
        Some(Errno::NOENT) => "/proc is not mounted".to_owned(),
        _ => error.to_string(),
    }
}

fn error_of(errno: Errno) -> String {
    io::Error::from(errno).to_string()
}

fn is_there(path: &Path) -> Failure {
    Failure::refused(format!("{} is there already, and is not overwritten", path.display()))
        .remedy("name a file that is not there")
}

fn cannot(path: &Path, reason: &str) -> Failure {
    Failure::environment(format!("cannot write to {}: {reason}", path.display()))
        .remedy("name a file in a directory that exists and that you may write to")
}
