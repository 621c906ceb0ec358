//! One user at a time, without leaving anything behind.

use rustix::fs::{FlockOperation, fcntl_lock, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// Outcome of an attempt to lock.
#[derive(Debug, PartialEq, Eq)]
pub enum Locked {
    /// It is ours until the descriptor (and its copies) are closed; SIGKILL closes them.
    Held,
    /// Another process holds it.
    Busy,
    /// The file system has no locks, or wants a writable descriptor (NFS).
    Unsupported,
}

/// Takes an advisory lock (flock) on the open file, directory or device itself, so that nothing is left behind
/// whatever happens. Waits up to `patience` for a holder to let go: udev takes a shared lock for the moment in which it
/// probes a block device.
///
/// # Errors
/// Whatever else flock(2) says.
pub fn lock_exclusively(file: &File, patience: Duration) -> io::Result<Locked> {
    lock(file, FlockOperation::NonBlockingLockExclusive, patience)
}

/// The same for a lock that several may hold at once, and none beside an exclusive one.
///
/// # Errors
/// Whatever else flock(2) says.
pub fn lock_shared(file: &File) -> io::Result<Locked> {
    lock(file, FlockOperation::NonBlockingLockShared, Duration::ZERO)
}

fn lock(file: &File, operation: FlockOperation, patience: Duration) -> io::Result<Locked> {
    let deadline = Instant::now() + patience;
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(Locked::Held),
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            Err(Errno::WOULDBLOCK) => return Ok(Locked::Busy),
            Err(Errno::INTR) => {}
            Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK | Errno::BADF | Errno::INVAL) => {
                return Ok(Locked::Unsupported);
            }
            Err(e) => return Err(e.into()),
        }
    }
}

/// A write lock of this process on a whole file (fcntl(2), F_SETLK), until it is dropped. It goes, too, when any descriptor of the file
/// is closed by this process: none may be, meanwhile.
#[derive(Debug)]
pub struct RecordLock<'a>(&'a File);

impl<'a> RecordLock<'a> {
    /// Waits up to `patience` for other processes. Where there are no locks nobody else has one.
    ///
    /// # Errors
    /// Others hold it for longer, or whatever else fcntl(2) says.
    pub fn wait(file: &'a File, patience: Duration) -> io::Result<Self> {
        let begun = Instant::now();
        loop {
            match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) | Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => return Ok(Self(file)),
                Err(_) if begun.elapsed() < patience => std::thread::sleep(PAUSE),
                Err(e) => return Err(e.into()),
            }
        }
    }
}

impl Drop for RecordLock<'_> {
    fn drop(&mut self) {
        let _ = fcntl_lock(self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_share_a_lock_and_none_has_it_alone_meanwhile() {
        let directory = tempfile::tempdir().unwrap();
        let open = || crate::open_directory(directory.path()).unwrap();
        let (first, second, third) = (open(), open(), open());
        assert_eq!((lock_shared(&first).unwrap(), lock_shared(&second).unwrap()), (Locked::Held, Locked::Held));
        assert_eq!(lock_exclusively(&third, Duration::ZERO).unwrap(), Locked::Busy);
        drop((first, second));
        assert_eq!(lock_exclusively(&third, Duration::ZERO).unwrap(), Locked::Held);
    }

    #[test]
    fn the_second_one_is_refused_until_the_first_has_gone() {
        let directory = tempfile::tempdir().unwrap();
        let open = || crate::open_directory(directory.path()).unwrap();
        let (first, second) = (open(), open());
        assert_eq!(lock_exclusively(&first, Duration::ZERO).unwrap(), Locked::Held);
        assert_eq!(lock_exclusively(&second, Duration::ZERO).unwrap(), Locked::Busy);
        drop(first);
        assert_eq!(lock_exclusively(&second, Duration::ZERO).unwrap(), Locked::Held);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
