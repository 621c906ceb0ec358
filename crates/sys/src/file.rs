//! Opening, making durable and dropping from the cache.

use rustix::fs::{Advice, FallocateFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

/// What may be done with an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// O_RDONLY.
    Read,
    /// O_RDWR; never creates and never truncates.
    ReadWrite,
    /// O_RDWR | O_EXCL: for block devices. Fails with EBUSY while the device is mounted, claimed by another driver or
    /// opened exclusively (k:block/bdev.c, bd_prepare_to_claim).
    ReadWriteExclusive,
    /// O_RDONLY | O_EXCL: the same claim without the right to write, so that closing it is no change that udev acts on.
    ReadExclusive,
}

impl OpenMode {
    fn flags(self) -> OFlags {
        match self {
            Self::Read => OFlags::RDONLY,
            Self::ReadWrite => OFlags::RDWR,
            Self::ReadWriteExclusive => OFlags::RDWR | OFlags::EXCL,
            Self::ReadExclusive => OFlags::RDONLY | OFlags::EXCL,
        }
    }
}

/// Opens what exists. O_NONBLOCK, so that a FIFO cannot hang us; it has no effect on files and block devices, and is
/// kept off the descriptor afterwards.
pub fn open_existing(path: &Path, mode: OpenMode) -> io::Result<File> {
    let flags = mode.flags() | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let fd = rustix::fs::open(path, flags, Mode::empty())?;
    let now = rustix::fs::fcntl_getfl(&fd)?;
    rustix::fs::fcntl_setfl(&fd, now - OFlags::NONBLOCK)?;
    Ok(fd.into())
}

/// Opens a directory for reading, which is what flock and fsync need.
pub fn open_directory(path: &Path) -> io::Result<File> {
    Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// A second, independent opening of the same file, with or without O_DIRECT, by its name in /proc: works for files
/// without a name. Where /proc is missing, ENOENT.
pub fn reopen(file: &File, writable: bool, direct: bool) -> io::Result<File> {
    let mut flags = if writable { OFlags::RDWR } else { OFlags::RDONLY } | OFlags::CLOEXEC;
    flags.set(OFlags::DIRECT, direct);
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::open(name, flags, Mode::empty())?.into())
}

/// Switches O_DIRECT of an open description on or off (fcntl F_SETFL): the way where [`reopen`] has no /proc.
///
/// # Errors
/// EINVAL where the file system has no O_DIRECT.
pub fn set_direct(file: &File, direct: bool) -> io::Result<()> {
    let mut flags = rustix::fs::fcntl_getfl(file)?;
    flags.set(OFlags::DIRECT, direct);
    Ok(rustix::fs::fcntl_setfl(file, flags)?)
}

/// Has reads leave the time of the last access alone (O_NOATIME): no time spent on it, and no write to the device that is
/// read. Fails with EPERM where the file is another user's; the file is as good without.
pub fn set_noatime(file: &impl AsFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags | OFlags::NOATIME)?)
}

/// Whether O_DIRECT is set on the open description.
pub fn is_direct(file: &File) -> io::Result<bool> {
    Ok(rustix::fs::fcntl_getfl(file)?.contains(OFlags::DIRECT))
}

/// Whether the description was opened for writing.
pub fn is_writable(file: &File) -> io::Result<bool> {
    Ok(rustix::fs::fcntl_getfl(file)?.intersects(OFlags::RDWR | OFlags::WRONLY))
}

/// Drops clean pages of a range from the page cache (posix_fadvise DONTNEED); dirty ones stay, so sync first. Pages
/// that are mapped or in a per-CPU batch may stay as well: check with [`crate::resident_pages`].
pub fn drop_cached(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let Some(len) = NonZeroU64::new(len) else { return Ok(()) };
    Ok(rustix::fs::fadvise(file, offset, Some(len), Advice::DontNeed)?)
}

/// Switches readahead off for an open description (posix_fadvise RANDOM): samples then read only what they ask for.
pub fn expect_random(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::Random)?)
}

/// Reserves space without writing; the extents stay unwritten.
pub fn reserve(file: &File, offset: u64, len: u64) -> io::Result<()> {
    Ok(rustix::fs::fallocate(file, FallocateFlags::empty(), offset, len)?)
}

/// The same, behind the end of the file, which stays as long as it is.
pub fn reserve_behind(file: &File, offset: u64, len: u64) -> io::Result<()> {
    Ok(rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, offset, len)?)
}

/// Reserves blocks for a range of a file, which grows to hold it (fallocate(2)).
///
/// # Errors
/// The errno.
pub fn allocate(fd: impl AsFd, offset: u64, len: u64) -> Result<(), i32> {
    rustix::fs::fallocate(fd, FallocateFlags::empty(), offset, len).map_err(Errno::raw_os_error)
}

/// Sets the length of a file (ftruncate(2)).
///
/// # Errors
/// The errno.
pub fn set_length(fd: impl AsFd, bytes: u64) -> Result<(), i32> {
    rustix::fs::ftruncate(fd, bytes).map_err(Errno::raw_os_error)
}

/// The next hole at or after `offset`, by SEEK_HOLE; the end of the file counts as one. Moves the file's position.
pub fn next_hole(file: &File, offset: u64) -> io::Result<u64> {
    Ok(rustix::fs::seek(file, SeekFrom::Hole(offset))?)
}

/// The next data at or after `offset`, by SEEK_DATA; `None` if only a hole follows. Moves the file's position.
pub fn next_data(file: &File, offset: u64) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Ok(at) => Ok(Some(at)),
        Err(Errno::NXIO) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::create_temporary;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_nameless_file_can_be_reopened() {
        let directory = tempfile::tempdir().unwrap();
        let (file, _) = create_temporary(&open_directory(directory.path()).unwrap()).unwrap();
        file.write_all_at(b"hello", 0).unwrap();
        let again = reopen(&file, false, false).unwrap();
        let mut text = [0; 5];
        again.read_exact_at(&mut text, 0).unwrap();
        assert_eq!(&text, b"hello");
        assert!(again.write_at(b"x", 0).is_err(), "opened for reading only");
    }

    #[test]
    fn a_fifo_does_not_hang_and_nothing_is_created() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        assert_eq!(
            open_existing(&missing, OpenMode::ReadWrite).unwrap_err().raw_os_error(),
            Some(Errno::NOENT.raw_os_error())
        );
        assert!(!missing.exists());
        let fifo = directory.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        open_existing(&fifo, OpenMode::Read).unwrap();
    }

    #[test]
    fn holes_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let (file, _) = create_temporary(&open_directory(directory.path()).unwrap()).unwrap();
        file.set_len(1 << 20).unwrap();
        assert!(matches!(next_data(&file, 0), Ok(None | Some(0))), "a hole, or a file system that cannot tell");
        file.write_all_at(&[1; 65536], 0).unwrap();
        assert_eq!(next_data(&file, 0).unwrap(), Some(0));
    }
}
