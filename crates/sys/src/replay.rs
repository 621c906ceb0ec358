//! Calls on files below an open directory as a recording names them, with the errno as the error. No symbolic link is followed.

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, Uid};
use rustix::io::Errno;
use rustix::path::Arg;
use std::os::fd::{AsFd, OwnedFd};

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenAs {
    /// It may be written, and where not write-only also read.
    pub write: bool,
    /// Opened for reading.
    pub read: bool,
    /// It is made if it is not there (mode 0600).
    pub create: bool,
    /// O_EXCL: fails if the file exists.
    pub exclusive: bool,
    /// O_TRUNC.
    pub truncate: bool,
    /// O_SYNC.
    pub sync: bool,
    /// O_DSYNC.
    pub dsync: bool,
    pub directory: bool,
}

/// Opens a file or a directory.
///
/// # Errors
/// The errno: `ELOOP` where a symbolic link has that name.
pub fn open_as(directory: impl AsFd, name: impl Arg, how: OpenAs) -> Result<OwnedFd, i32> {
    let access = match (how.read, how.write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    let flags = [
        (how.create, OFlags::CREATE),
        (how.exclusive, OFlags::EXCL),
        (how.truncate, OFlags::TRUNC),
        (how.sync, OFlags::SYNC),
        (how.dsync, OFlags::from_bits_retain(libc::O_DSYNC as _)),
        (how.directory, OFlags::DIRECTORY),
    ];
    let flags = flags.into_iter().filter(|(set, _)| *set).fold(access, |all, (_, flag)| all | flag);
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR).map_err(Errno::raw_os_error)
}

/// Sets the permissions of a name's file: those of its owner alone, the whole of a directory's.
///
/// # Errors
/// The errno.
pub fn set_mode(directory: impl AsFd, name: impl Arg, is_directory: bool) -> Result<(), i32> {
    let mode = if is_directory { Mode::RWXU } else { Mode::RUSR | Mode::WUSR };
    rustix::fs::chmodat(directory, name, mode, AtFlags::empty()).map_err(Errno::raw_os_error)
}

/// Sets the owner of a name's file to the one that it has: this user.
///
/// # Errors
/// The errno.
pub fn set_owner(directory: impl AsFd, name: impl Arg) -> Result<(), i32> {
    let (user, group): (Uid, Gid) = (rustix::process::geteuid(), rustix::process::getegid());
    rustix::fs::chownat(directory, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)
        .map_err(Errno::raw_os_error)
}

/// Sets both times of a name to now.
///
/// # Errors
/// The errno.
pub fn set_times(directory: impl AsFd, name: impl Arg) -> Result<(), i32> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let times = Timestamps { last_access: now, last_modification: now };
    rustix::fs::utimensat(directory, name, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(Errno::raw_os_error)
}

/// sync_file_range(2), by its own flags (SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE and _WAIT_AFTER; others are left out).
///
/// # Errors
/// The errno.
#[allow(unsafe_code)]
pub fn sync_range(file: impl AsFd, offset: u64, bytes: u64, flags: u16) -> Result<(), i32> {
    use std::os::fd::AsRawFd;
    let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let known = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: an open descriptor and plain numbers.
    let result = unsafe {
        libc::sync_file_range(file.as_fd().as_raw_fd(), signed(offset), signed(bytes), u32::from(flags) & known)
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_opened_as_they_were_and_links_never_followed() {
        let directory = tempfile::tempdir().unwrap();
        let handle = crate::open_directory(directory.path()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", directory.path().join("link")).unwrap();
        let made = OpenAs { write: true, create: true, exclusive: true, ..OpenAs::default() };
        let file = open_as(&handle, "file", made).unwrap();
        crate::write_at(&file, b"data", 0).unwrap();
        sync_range(&file, 0, 4, 7).unwrap();
        assert_eq!(open_as(&handle, "file", made).unwrap_err(), libc::EEXIST);
        assert_eq!(open_as(&handle, "link", OpenAs::default()).unwrap_err(), libc::ELOOP);
        open_as(&handle, ".", OpenAs { directory: true, ..OpenAs::default() }).unwrap();
        open_as(&handle, "file", OpenAs { write: true, truncate: true, ..OpenAs::default() }).unwrap();
        assert_eq!(std::fs::read(directory.path().join("file")).unwrap(), b"");
        set_mode(&handle, "file", false).unwrap();
        set_owner(&handle, "file").unwrap();
        set_times(&handle, "file").unwrap();
        assert_eq!(set_times(&handle, "none").unwrap_err(), libc::ENOENT);
    }
}
