//! Files and directories by their names in an open directory, with the errno as the error. No symbolic link is followed, and
//! nothing that is there already is opened for writing, but by [`write_entry`].

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::path::Arg;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

fn errno<T>(result: Result<T, Errno>) -> Result<T, i32> {
    result.map_err(Errno::raw_os_error)
}

/// Creates a file that does not exist yet (mode 0600), writes `data` to it, makes it durable where `sync` says so, and closes
/// it.
///
/// # Errors
/// The errno of the first call that fails: `EEXIST`, `ENOSPC` (also without inodes), `EDQUOT`.
#[inline]
pub fn create_file(directory: impl AsFd, name: impl Arg, data: &[u8], sync: bool) -> Result<(), i32> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file: OwnedFd = errno(rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR))?;
    write_whole(&file, data, sync)
}

fn write_whole(file: &OwnedFd, data: &[u8], sync: bool) -> Result<(), i32> {
    let mut done = 0;
    while done < data.len() {
        done += match crate::write_at(file, &data[done..], done as u64)? {
            0 => return Err(Errno::IO.raw_os_error()),
            written => written,
        };
    }
    if sync { crate::sync_all(file) } else { Ok(()) }
}

/// Opens a file that is there, writes `data` at its beginning, makes it durable where `sync` says so, and closes it.
///
/// # Errors
/// The errno of the first call that fails.
#[inline]
pub fn write_entry(directory: impl AsFd, name: impl Arg, data: &[u8], sync: bool) -> Result<(), i32> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file: OwnedFd = errno(rustix::fs::openat(directory, name, flags, Mode::empty()))?;
    write_whole(&file, data, sync)
}

/// Gives a file or directory another name; a file that has it is replaced, at one moment for all who look.
///
/// # Errors
/// The errno: `ENOENT`, `ENOSPC`, `EISDIR`, `ENOTEMPTY`.
#[inline]
pub fn rename_entry(directory: impl AsFd, from: impl Arg, to: impl Arg) -> Result<(), i32> {
    errno(rustix::fs::renameat(&directory, from, &directory, to))
}

/// Makes the names of a directory durable: opens it, fsync, closes it.
///
/// # Errors
/// The errno.
#[inline]
pub fn sync_names(directory: impl AsFd, name: impl Arg) -> Result<(), i32> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened: OwnedFd = errno(rustix::fs::openat(directory, name, flags, Mode::empty()))?;
    errno(rustix::fs::fsync(opened))
}

/// Opens a directory, reads all names in it by calls of 32 KiB (getdents64(2), as the C library does it), and closes it; how many there
/// are, with `.` and `..`.
///
/// # Errors
/// The errno.
// Its buffer is no part of what other operations take of the stack.
#[inline(never)]
pub fn list_names(directory: impl AsFd, name: impl Arg) -> Result<u64, i32> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened: OwnedFd = errno(rustix::fs::openat(directory, name, flags, Mode::empty()))?;
    let mut buffer = [MaybeUninit::uninit(); 32 << 10];
    let mut all = rustix::fs::RawDir::new(opened, &mut buffer);
    let mut seen = 0;
    while let Some(entry) = all.next() {
        errno(entry)?;
        seen += 1;
    }
    Ok(seen)
}

/// Opens a file for reading and closes it.
///
/// # Errors
/// The errno.
#[inline]
pub fn open_entry(directory: impl AsFd, name: impl Arg) -> Result<(), i32> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    errno(rustix::fs::openat(directory, name, flags, Mode::empty())).map(drop)
}

/// Looks a file's attributes up and, where it is not empty, opens it, reads as much of it as fits, and closes it; how much that was.
///
/// # Errors
/// The errno.
#[inline]
pub fn read_entry(directory: impl AsFd, name: impl Arg + Copy, into: &mut [u8]) -> Result<usize, i32> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if errno(rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW))?.st_size == 0 {
        return Ok(0);
    }
    let file: OwnedFd = errno(rustix::fs::openat(directory, name, flags, Mode::empty()))?;
    let mut done = 0;
    while done < into.len() {
        match errno(rustix::io::read(&file, &mut into[done..]))? {
            0 => break,
            read => done += read,
        }
    }
    Ok(done)
}

/// Gives a file of a directory one more name there.
///
/// # Errors
/// The errno: `EMLINK`, and `EPERM` where the file system has no such links.
#[inline]
pub fn link_entry(directory: impl AsFd, from: impl Arg, name: impl Arg) -> Result<(), i32> {
    errno(rustix::fs::linkat(&directory, from, &directory, name, AtFlags::empty()))
}

/// Makes a symbolic link.
///
/// # Errors
/// The errno: `EPERM` where the file system has none.
#[inline]
pub fn symlink_entry(directory: impl AsFd, to: impl Arg, name: impl Arg) -> Result<(), i32> {
    errno(rustix::fs::symlinkat(to, directory, name))
}

/// Looks a name's attributes up.
///
/// # Errors
/// The errno.
#[inline]
pub fn stat_entry(directory: impl AsFd, name: impl Arg) -> Result<(), i32> {
    errno(rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)).map(|_| ())
}

/// Makes a directory (mode 0700).
///
/// # Errors
/// The errno.
#[inline]
pub fn make_directory(directory: impl AsFd, name: impl Arg) -> Result<(), i32> {
    errno(rustix::fs::mkdirat(directory, name, Mode::RWXU))
}

/// Removes a name that is not a directory's.
///
/// # Errors
/// The errno.
#[inline]
pub fn remove_file(directory: impl AsFd, name: impl Arg) -> Result<(), i32> {
    errno(rustix::fs::unlinkat(directory, name, AtFlags::empty()))
}

/// Removes an empty directory.
///
/// # Errors
/// The errno.
#[inline]
pub fn remove_directory(directory: impl AsFd, name: impl Arg) -> Result<(), i32> {
    errno(rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR))
}

/// Makes a file in a directory for reading and writing, which nobody else may open.
///
/// # Errors
/// `EEXIST` where anything has that name.
pub fn create_own_file(directory: impl AsFd, name: impl Arg) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Opens a regular file that is in a directory and belongs to this user, for reading and writing.
///
/// # Errors
/// `ELOOP` for a link, `EPERM` where it is another user's or no regular file, or has a second name.
pub fn open_own_file(directory: impl AsFd, name: impl Arg) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&opened)?;
    let own = stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_nlink == 1;
    if !own || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Errno::PERM.into());
    }
    Ok(opened.into())
}

/// Opens a directory that is in another one and belongs to this user.
///
/// # Errors
/// `ELOOP` or `ENOTDIR` where it is something else, `EPERM` where it is another user's.
pub fn open_own_directory(directory: impl AsFd, name: impl Arg) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    if rustix::fs::fstat(&opened)?.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Errno::PERM.into());
    }
    Ok(opened.into())
}

/// Hands each name of a directory over, but for `.` and `..`, with whether it is known to be a directory's. Names that are no
/// UTF-8 are left out.
///
/// # Errors
/// Those of reading a directory.
pub fn each_entry(directory: impl AsFd, mut hear: impl FnMut(&str, bool)) -> io::Result<()> {
    // The descriptor may be one that is good for nothing but names (O_PATH).
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    for entry in rustix::fs::Dir::new(rustix::fs::openat(directory, ".", flags, Mode::empty())?)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().to_str()
            && !matches!(name, "." | "..")
        {
            hear(name, entry.file_type() == FileType::Directory);
        }
    }
    Ok(())
}

/// Has the file system of an open directory write all that it holds back (syncfs(2)).
///
/// # Errors
/// Those of syncfs(2).
pub fn sync_file_system(directory: impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::syncfs(directory)?)
}

/// Inodes that are free for us, where the file system counts them.
///
/// # Errors
/// Those of statvfs(3).
pub fn free_inodes(directory: impl AsFd) -> io::Result<Option<u64>> {
    let v = rustix::fs::fstatvfs(directory)?;
    Ok(Some(v.f_favail).filter(|_| v.f_files > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_never_touched_and_what_is_made_can_be_removed() {
        let directory = tempfile::tempdir().unwrap();
        let handle = crate::open_directory(directory.path()).unwrap();
        std::fs::write(directory.path().join("theirs"), "kept").unwrap();
        std::os::unix::fs::symlink("theirs", directory.path().join("link")).unwrap();
        let name = |errno: i32| crate::errno_name(errno);
        for taken in ["theirs", "link"] {
            assert_eq!(create_file(&handle, taken, b"x", false).map_err(name), Err("EEXIST".into()));
        }
        assert_eq!(open_entry(&handle, "link").map_err(name), Err("ELOOP".into()));
        assert!(open_own_directory(&handle, "link").is_err());
        create_file(&handle, "ours", b"data", true).unwrap();
        assert_eq!(std::fs::read(directory.path().join("ours")).unwrap(), b"data");
        stat_entry(&handle, "ours").unwrap();
        open_entry(&handle, "ours").unwrap();
        make_directory(&handle, "sub").unwrap();
        assert_eq!(remove_file(&handle, "sub").map_err(name), Err("EISDIR".into()));
        let own = open_own_directory(&handle, "sub").unwrap();
        create_file(&own, "inner", &[], false).unwrap();
        let mut names = Vec::new();
        each_entry(&handle, |name, is_directory| names.push((name.to_owned(), is_directory))).unwrap();
        names.sort();
        let of = |name: &str, directory| (name.to_owned(), directory);
        assert_eq!(names, [of("link", false), of("ours", false), of("sub", true), of("theirs", false)]);
        assert_eq!(remove_directory(&handle, "sub").map_err(name), Err("ENOTEMPTY".into()));
        remove_file(&own, "inner").unwrap();
        remove_directory(&handle, "sub").unwrap();
        remove_file(&handle, "ours").unwrap();
        assert_eq!(stat_entry(&handle, "ours").map_err(name), Err("ENOENT".into()));
        assert_eq!(std::fs::read(directory.path().join("theirs")).unwrap(), b"kept");
        sync_file_system(&handle).unwrap();
        free_inodes(&handle).unwrap();
    }
}
