//! The kernel's own answer to "does anybody else use this file?", across all namespaces and without a right to look at
//! others' processes.
//!
//! A write lease is granted only where the file has no other opening (fcntl(2), F_SETLEASE; k:fs/locks.c,
//! check_conflicting_open): descriptors of other processes, mappings whose descriptor was closed, loop devices and
//! active swap files all count.
#![allow(unsafe_code)]

use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;

/// F_SETSIG (k:include/uapi/asm-generic/fcntl.h).
const F_SETSIG: libc::c_int = 10;

/// Whether ours is the only opening of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoleOpening {
    /// At that moment nobody else had it open.
    Yes,
    /// Somebody else has it open.
    No,
    /// The file system has no leases, or they are not ours to take on another user's file.
    NotTold,
}

/// Takes a write lease and gives it back at once. The file must be open once, for writing, by this process.
///
/// # Errors
/// Whatever else fcntl(2) says.
pub fn sole_opening(file: &File) -> io::Result<SoleOpening> {
    // Before Linux 5.3 a name that is held, as by a handle, counted as an opening.
    if kernel_before(5, 3) {
        return Ok(SoleOpening::NotTold);
    }
    // Whoever opens the file in the moment in between breaks the lease, which is told by a signal: SIGIO would end the
    // process, SIGURG is ignored by default.
    fcntl(file, F_SETSIG, libc::SIGURG)?;
    match fcntl(file, libc::F_SETLEASE, libc::F_WRLCK) {
        Ok(()) => {
            fcntl(file, libc::F_SETLEASE, libc::F_UNLCK)?;
            Ok(SoleOpening::Yes)
        }
        Err(e) => match Errno::from_io_error(&e) {
            Some(Errno::AGAIN) => Ok(SoleOpening::No),
            Some(Errno::INVAL | Errno::ACCESS | Errno::PERM | Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {
                Ok(SoleOpening::NotTold)
            }
            _ => Err(e),
        },
    }
}

/// Rounds in which a device's cached pages have to go each time: memory that is short may take them once by chance.
const ROUNDS: usize = 3;
/// Bytes that are read from the start of the device.
const SAMPLE_BYTES: usize = 16 << 10;

/// Whether nobody has the block device open: with its last close the kernel drops its cached pages (k:block/bdev.c,
/// blkdev_put_whole and blkdev_flush_mapping), so pages that stay are kept by somebody's descriptor, mount or mapping, in
/// whichever process and namespace. Whoever has a partition open has its disk open too. The handle (O_PATH) is no opening;
/// this process must have no other.
///
/// # Errors
/// That the device cannot be opened for reading or read.
pub fn sole_device_opening(handle: &impl AsFd) -> io::Result<SoleOpening> {
    let open = || crate::open_through(handle, crate::OpenMode::Read);
    let resident = |file: &File| crate::resident_pages(file, 0, SAMPLE_BYTES as u64).map(|pages| pages.resident);
    let mut sample = vec![0; SAMPLE_BYTES];
    for _ in 0..ROUNDS {
        let (first, second) = (open()?, open()?);
        let read = first.read_at(&mut sample, 0)?;
        // Where pages are not kept at all (DAX), or not while it is open, their absence says nothing.
        let cached = read > 0 && resident(&first)? > 0;
        drop(first);
        if !cached || resident(&second)? == 0 {
            return Ok(SoleOpening::NotTold);
        }
        drop(second);
        if resident(&open()?)? > 0 {
            return Ok(SoleOpening::No);
        }
    }
    Ok(SoleOpening::Yes)
}

/// A lock of another that would keep a write lock of ours from the whole file: of a process (fcntl(2), F_GETLK) or of an
/// open file description (F_OFD_SETLK).
///
/// A file system without locks has none that are held.
///
/// # Errors
/// Those of fcntl(2).
pub fn record_lock(file: &File) -> io::Result<Option<LockHolder>> {
    // SAFETY: struct flock is plain numbers, for which zeros are values: the whole file from its start.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: F_GETLK reads and writes the one struct flock that the pointer leads to.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, std::ptr::from_mut(&mut lock)) };
    if result < 0 {
        let error = io::Error::last_os_error();
        return match Errno::from_io_error(&error) {
            Some(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => Ok(None),
            _ => Err(error),
        };
    }
    let free = i32::from(lock.l_type) == i32::from(libc::F_UNLCK as libc::c_short);
    Ok((!free).then(|| LockHolder { process: u32::try_from(lock.l_pid).ok().filter(|pid| *pid > 0) }))
}

/// Who holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockHolder {
    /// The process; `None` for a lock that belongs to an open file description, or to another machine.
    pub process: Option<u32>,
}

fn kernel_before(major: u32, minor: u32) -> bool {
    let release = rustix::system::uname();
    let release = release.release().to_string_lossy();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < (major, minor)
}

fn fcntl(file: &File, command: libc::c_int, argument: libc::c_int) -> io::Result<()> {
    // SAFETY: the commands of this file take an int, and touch no memory of ours.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpenMode, open_existing};

    #[test]
    fn another_opening_is_noticed_also_of_a_mapping() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, [1; 8192]).unwrap();
        let ours = open_existing(&path, OpenMode::ReadWrite).unwrap();
        match sole_opening(&ours).unwrap() {
            SoleOpening::NotTold => return println!("SKIPPED: no leases on this file system"),
            told => assert_eq!(told, SoleOpening::Yes),
        }
        let other = open_existing(&path, OpenMode::ReadWrite).unwrap();
        assert_eq!(sole_opening(&ours).unwrap(), SoleOpening::No);
        let mapping = crate::Mapping::new(&other, 4096, true);
        drop(other);
        if let Ok(mapping) = mapping {
            assert_eq!(sole_opening(&ours).unwrap(), SoleOpening::No, "the mapping holds it open");
            drop(mapping);
        }
        assert_eq!(sole_opening(&ours).unwrap(), SoleOpening::Yes);
    }

    #[test]
    fn a_lock_that_nobody_holds_is_none() {
        assert_eq!(record_lock(&tempfile::tempfile().unwrap()).unwrap(), None);
    }
}
