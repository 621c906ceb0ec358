//! Files that are gone with this program.
//!
//! Without a name, where that works. An SMB server keeps a file that was removed until its last handle is closed, but gives no further
//! handle to it (STATUS_DELETE_PENDING, [MS-FSA] 2.1.5.1.2), so that it cannot be opened once more, with O_DIRECT or by another thread, and the
//! client cannot ask for the room that there is (seen with Linux 6.1 and Samba 4.17: ENOENT). There the name stays until the file is done with.

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// How a temporary file ends.
#[derive(Debug)]
pub enum TemporaryKind {
    /// O_TMPFILE: it never had a name.
    Unnamed,
    /// The file system has no O_TMPFILE: created exclusively and unlinked at once.
    Unlinked,
    /// The file system gives no further handle to a file without a name: it has one until this is dropped. After SIGKILL it stays, until this
    /// machine makes the next one in that directory.
    Named(KeptName),
}

/// The name of a file, which is removed with this.
#[derive(Debug)]
pub struct KeptName {
    directory: OwnedFd,
    name: String,
}

impl Drop for KeptName {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.directory, self.name.as_str(), AtFlags::empty());
    }
}

const MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const PREFIX: &str = ".narrows-";
const SUFFIX: &str = ".tmp";

/// Creates a file that is gone with its last descriptor, even after SIGKILL, but for [`TemporaryKind::Named`]. Mode 0600, opened for reading
/// and writing. O_PATH is enough for the directory.
///
/// # Errors
/// Those of open(2): EACCES, EROFS, ENOSPC, EDQUOT, ENOTDIR, ENOENT.
pub fn create_temporary(directory: &impl AsFd) -> io::Result<(File, TemporaryKind)> {
    match rustix::fs::openat(directory, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, MODE) {
        Ok(fd) => return Ok((fd.into(), TemporaryKind::Unnamed)),
        // EISDIR and ENOENT: kernels before 3.11; EOPNOTSUPP: the file system has none; EINVAL: some FUSE servers.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => {}
        Err(e) => return Err(e.into()),
    }
    let file = create_unlinked(directory)?;
    if can_be_opened_again(&file) {
        return Ok((file, TemporaryKind::Unlinked));
    }
    drop(file);
    create_named(directory)
}

fn create_unlinked(directory: &impl AsFd) -> io::Result<File> {
    let (file, name) = create_new(directory, "")?;
    match rustix::fs::unlinkat(directory, &name, AtFlags::empty()) {
        Ok(()) => Ok(file),
        Err(e) => {
            // Directories of a Windows host (vboxsf, 9p) keep a name while its file is open: without this the file that
            // is of no use to us would be left behind.
            drop(file);
            let _ = rustix::fs::unlinkat(directory, &name, AtFlags::empty());
            Err(e.into())
        }
    }
}

/// Its name says whose it is, for [`remove_left`].
fn create_named(directory: &impl AsFd) -> io::Result<(File, TemporaryKind)> {
    let machine = machine_id();
    remove_left(directory, &machine);
    let own = directory.as_fd().try_clone_to_owned()?;
    let (file, name) = create_new(directory, &format!("{machine}-"))?;
    Ok((file, TemporaryKind::Named(KeptName { directory: own, name })))
}

/// `.narrows-PID-NANOSECONDS-ATTEMPT.tmp`, with what is given before the process.
fn create_new(directory: &impl AsFd, whose: &str) -> io::Result<(File, String)> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    for attempt in 0..16u32 {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let process = rustix::process::getpid().as_raw_nonzero();
        let name = format!("{PREFIX}{whose}{process}-{}-{attempt}{SUFFIX}", time.tv_nsec);
        match rustix::fs::openat(directory, &name, flags, MODE) {
            Ok(fd) => return Ok((fd.into(), name)),
            Err(Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// Whether a file without a name can be opened once more, by its name in /proc. Without /proc nobody does.
fn can_be_opened_again(file: &File) -> bool {
    match crate::reopen(file, false, false) {
        Err(e) if matches!(e.raw_os_error().map(Errno::from_raw_os_error), Some(Errno::NOENT | Errno::STALE)) => {
            !Path::new("/proc/self/fd").exists()
        }
        _ => true,
    }
}

/// What no two machines that use one share have in common: their hosts' names may be.
fn machine_id() -> String {
    let file = |path: &str| std::fs::read_to_string(path).ok().filter(|text| !text.trim().is_empty());
    let id = file("/etc/machine-id").or_else(|| file("/proc/sys/kernel/random/boot_id"));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    // FNV-1a: the file's text itself is nobody's business (machine-id(5)).
    let text = format!("{}{host}", id.unwrap_or_default().trim());
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// Removes files that processes of this machine left, which were ended before they could: none of its own, nor of one that runs.
fn remove_left(directory: &impl AsFd, machine: &str) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let mut left = Vec::new();
    let _ = crate::each_entry(directory, |name, is_directory| {
        let rest = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix(machine)?.strip_prefix('-'));
        let process = rest.filter(|rest| rest.ends_with(SUFFIX)).and_then(|rest| rest.split('-').next()?.parse().ok());
        let ended = process.is_some_and(|process: u32| !Path::new(&format!("/proc/{process}")).exists());
        if ended && !is_directory {
            left.push(name.to_owned());
        }
    });
    for name in left {
        let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_directory;
    use std::os::unix::fs::{FileExt, MetadataExt};

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn temporary_files_leave_no_name() {
        let directory = tempfile::tempdir().unwrap();
        let handle = open_directory(directory.path()).unwrap();
        for file in [create_temporary(&handle).unwrap().0, create_unlinked(&handle).unwrap()] {
            file.write_all_at(b"x", 0).unwrap();
            assert_eq!(file.metadata().unwrap().nlink(), 0);
            assert_eq!(names(directory.path()), [""; 0]);
            assert!(can_be_opened_again(&file));
        }
    }

    #[test]
    fn a_name_that_is_kept_goes_with_its_owner_and_with_the_next_of_this_machine() {
        let directory = tempfile::tempdir().unwrap();
        let handle = open_directory(directory.path()).unwrap();
        let machine = machine_id();
        // Of a process that has ended (no system has so many), of another machine, and of the user.
        let ended = format!(".narrows-{machine}-4194305-1-0.tmp");
        let others = [".narrows-0123456789abcdef-4194305-1-0.tmp".to_owned(), format!(".narrows-{machine}-x.tmp")];
        for name in others.iter().chain([&ended]) {
            std::fs::write(directory.path().join(name), "x").unwrap();
        }
        let (first, kept) = create_named(&handle).unwrap();
        let (second, also) = create_named(&handle).unwrap();
        first.write_all_at(b"hello", 0).unwrap();
        assert_eq!(crate::reopen(&first, true, false).unwrap().metadata().unwrap().len(), 5);
        let there = names(directory.path());
        assert_eq!(there.len(), 4, "those of a process that runs stay: {there:?}");
        assert!(!there.contains(&ended) && others.iter().all(|name| there.contains(name)), "{there:?}");
        drop((kept, also, second));
        assert_eq!(names(directory.path()).len(), 2);
        assert_eq!(first.metadata().unwrap().nlink(), 0);
    }
}
