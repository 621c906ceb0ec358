//! One opening of a target, and everything else through it.
//!
//! A handle (O_PATH, open(2)) names an object without using it: no driver is woken, no permission to read is needed, and
//! the object stays what it was, whatever happens to the name. Descriptors for reading and writing are had from the
//! handle (/proc/self/fd, proc(5)), never from the name again.

use crate::OpenMode;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Whether symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymlinkPolicy {
    /// The name is a person's: `/dev/disk/by-id/...` is a link.
    Follow,
    /// The name was confirmed as the object's own, without links: one in any of its components is an exchange.
    Refuse,
}

/// A handle on what a name stands for now.
///
/// # Errors
/// Those of open(2); ELOOP for a symbolic link that must not be followed.
pub fn open_handle(path: &Path, links: SymlinkPolicy) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    if links == SymlinkPolicy::Follow {
        return Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?.into());
    }
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(handle) => Ok(handle.into()),
        // Before Linux 5.6, and where a filter of system calls does not know it.
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(path),
        Err(e) => Err(e.into()),
    }
}

/// The same, component by component.
fn step_by_step(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let start = if path.is_absolute() { "/" } else { "." };
    let mut at: File = rustix::fs::openat(CWD, start, flags, Mode::empty())?.into();
    for component in path.components() {
        let name = match component {
            Component::Normal(name) => name,
            Component::ParentDir => "..".as_ref(),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
        };
        at = rustix::fs::openat(&at, name, flags, Mode::empty())?.into();
        // With O_PATH the link itself is opened.
        if at.metadata()?.file_type().is_symlink() {
            return Err(Errno::LOOP.into());
        }
    }
    Ok(at)
}

/// A descriptor for the object of a handle. O_NONBLOCK, so that a FIFO or a lease cannot hang us; it is kept off the
/// descriptor afterwards.
///
/// # Errors
/// Those of open(2); ENOENT without /proc; ESTALE where /proc led to something else.
pub fn open_through(handle: &impl AsFd, mode: OpenMode) -> io::Result<File> {
    let name = format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd());
    same_object(handle, crate::open_existing(Path::new(&name), mode)?)
}

/// A session that is made anew takes so long at most, in pauses between two attempts.
const RECONNECTS: u32 = 20;
const RECONNECT_PAUSE: Duration = Duration::from_millis(250);

/// fsync(2), also where the session with the file's server breaks meanwhile. SMB repeats reads and writes, but not that: it gives EAGAIN until the
/// session is there again, then EBADF, since the server does not know the handle (k:fs/smb/client/smb2pdu.c smb2_reconnect). A handle that is
/// opened anew is as good: what was written and did not arrive is an error of the file, which each handle is told once.
///
/// # Errors
/// Those of fsync(2), and where the file cannot be opened again.
pub fn sync_through_reconnect(file: &File) -> io::Result<()> {
    let lost = |e: &io::Error| matches!(Errno::from_io_error(e), Some(Errno::AGAIN | Errno::BADF));
    let mut result = file.sync_all();
    for _ in 0..RECONNECTS {
        if !result.as_ref().is_err_and(lost) {
            break;
        }
        std::thread::sleep(RECONNECT_PAUSE);
        result = open_alike(file).and_then(|file| file.sync_all());
    }
    result
}

/// The object of a descriptor once more, for writing only where that one is: what is only read is not opened for more.
fn open_alike(file: &File) -> io::Result<File> {
    let writes = rustix::fs::fcntl_getfl(file)?.intersects(OFlags::WRONLY | OFlags::RDWR);
    open_through(file, if writes { OpenMode::ReadWrite } else { OpenMode::Read })
}

/// The same where there is no /proc: by the name again, and only if that still stands for the object of the handle.
///
/// # Errors
/// Those of open(2); ESTALE where the name stands for something else by now.
pub fn open_named(handle: &impl AsFd, path: &Path, mode: OpenMode) -> io::Result<File> {
    same_object(handle, crate::open_existing(path, mode)?)
}

/// The directory of a handle, opened for reading: flock and fsync need that, and O_PATH gives neither.
///
/// # Errors
/// Those of open(2).
pub fn open_directory_of(handle: &impl AsFd) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(handle, ".", flags, Mode::empty())?.into())
}

/// Major and minor number of a device as stat(2) has it.
pub fn device_number(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// The name that the kernel has for an open object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DescriptorName {
    Is(PathBuf),
    /// None any more: what has the name now is something else.
    Gone,
    /// There is no /proc to ask.
    NotTold,
}

/// Asks for the name of an open object.
pub fn name_of(handle: &impl AsFd) -> DescriptorName {
    let Ok(name) = std::fs::read_link(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())) else {
        return DescriptorName::NotTold;
    };
    let is_deleted = name.as_os_str().as_bytes().ends_with(b" (deleted)") && !name.exists();
    if name.is_absolute() && !is_deleted { DescriptorName::Is(name) } else { DescriptorName::Gone }
}

fn same_object(handle: &impl AsFd, file: File) -> io::Result<File> {
    let ours = rustix::fs::fstat(handle)?;
    let theirs = file.metadata()?;
    let same = (ours.st_dev, ours.st_ino, ours.st_rdev) == (theirs.dev(), theirs.ino(), theirs.rdev());
    if same { Ok(file) } else { Err(Errno::STALE.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn text(mut file: File) -> String {
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn what_cannot_be_synced_by_its_own_descriptor_is_opened_again_and_for_no_more_than_that_one_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        std::fs::write(&path, "data").unwrap();
        // fsync(2) gives EBADF for such a handle, as SMB does for one that its server has forgotten.
        let lost = open_handle(&path, SymlinkPolicy::Follow).unwrap();
        assert_eq!(lost.sync_all().unwrap_err().raw_os_error(), Some(Errno::BADF.raw_os_error()));
        sync_through_reconnect(&lost).unwrap();
        let writes = |file: File| rustix::fs::fcntl_getfl(file).unwrap().contains(OFlags::RDWR);
        assert!(!writes(open_alike(&lost).unwrap()), "a target that is only read");
        assert!(!writes(open_alike(&File::open(&path).unwrap()).unwrap()));
        let written = File::options().read(true).write(true).open(&path).unwrap();
        assert!(writes(open_alike(&written).unwrap()));
    }

    #[test]
    fn a_name_that_is_exchanged_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("target");
        std::fs::write(&path, "first").unwrap();
        let handle = open_handle(&path, SymlinkPolicy::Follow).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(directory.path().join("other"), "other").unwrap();
        std::os::unix::fs::symlink("other", &path).unwrap();
        assert_eq!(text(open_through(&handle, OpenMode::ReadWrite).unwrap()), "first");
        let by_name = open_named(&handle, &path, OpenMode::Read).unwrap_err();
        assert_eq!(by_name.raw_os_error(), Some(Errno::STALE.raw_os_error()));
        assert_eq!(name_of(&handle), DescriptorName::Gone);
    }

    #[test]
    fn a_link_in_place_of_a_confirmed_name_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        std::os::unix::fs::symlink(".", directory.path().join("here")).unwrap();
        for open in [|path: &Path| open_handle(path, SymlinkPolicy::Refuse), step_by_step] {
            assert!(open(&file.canonicalize().unwrap()).is_ok());
            for path in [link.as_path(), &directory.path().join("here/file")] {
                assert_eq!(open(path).unwrap_err().raw_os_error(), Some(Errno::LOOP.raw_os_error()));
            }
        }
        let followed = open_handle(&link, SymlinkPolicy::Follow).unwrap();
        assert_eq!(name_of(&followed), DescriptorName::Is(file.canonicalize().unwrap()));
    }

    #[test]
    fn a_directory_is_opened_through_its_handle() {
        let directory = tempfile::tempdir().unwrap();
        let handle = open_handle(directory.path(), SymlinkPolicy::Follow).unwrap();
        let (file, _) = crate::create_temporary(&handle).unwrap();
        assert_eq!(file.metadata().unwrap().nlink(), 0);
        assert!(open_directory_of(&handle).is_ok());
    }
}
