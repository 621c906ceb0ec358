//! Positioned reads and writes with flags for one call (preadv2(2), pwritev2(2)), and openings that make writes durable.

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd};

/// RWF_ATOMIC (since Linux 6.11) and RWF_DONTCACHE (since 6.14), which the C libraries do not know yet
/// (k:include/uapi/linux/fs.h).
const RWF_ATOMIC: u32 = 0x40;
const RWF_DONTCACHE: u32 = 0x80;

/// Flags of one call. Which of them a kernel and a file system know is told by its answer: EOPNOTSUPP or EINVAL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFlags {
    bits: u32,
}

impl CallFlags {
    pub const NONE: Self = Self { bits: 0 };

    /// RWF_HIPRI.
    pub fn hipri(self, on: bool) -> Self {
        self.with(ReadWriteFlags::HIPRI.bits(), on)
    }

    /// RWF_DSYNC.
    pub fn dsync(self, on: bool) -> Self {
        self.with(ReadWriteFlags::DSYNC.bits(), on)
    }

    /// RWF_SYNC.
    pub fn sync(self, on: bool) -> Self {
        self.with(ReadWriteFlags::SYNC.bits(), on)
    }

    /// RWF_NOWAIT.
    pub fn nowait(self, on: bool) -> Self {
        self.with(ReadWriteFlags::NOWAIT.bits(), on)
    }

    /// RWF_DONTCACHE.
    pub fn dontcache(self, on: bool) -> Self {
        self.with(RWF_DONTCACHE, on)
    }

    /// RWF_ATOMIC.
    pub fn atomic(self, on: bool) -> Self {
        self.with(RWF_ATOMIC, on)
    }

    fn with(self, bit: u32, on: bool) -> Self {
        Self { bits: if on { self.bits | bit } else { self.bits } }
    }

    /// As the kernel takes them.
    pub fn bits(self) -> u32 {
        self.bits
    }
}

/// preadv2(2) into `buffer`, or pread(2) without flags; bytes read, which may be fewer. Repeated when a signal interrupts it.
///
/// # Errors
/// The errno.
#[inline]
pub fn read_at_with(fd: impl AsFd, buffer: &mut [u8], offset: u64, flags: CallFlags) -> Result<usize, i32> {
    if flags == CallFlags::NONE {
        return crate::read_at(fd, buffer, offset);
    }
    let fd = fd.as_fd();
    let flags = ReadWriteFlags::from_bits_retain(flags.bits);
    loop {
        match preadv2(fd, &mut [IoSliceMut::new(buffer)], offset, flags) {
            Err(Errno::INTR) => {}
            other => return other.map_err(Errno::raw_os_error),
        }
    }
}

/// pwritev2(2) from `buffer`, or pwrite(2) without flags; bytes written, which may be fewer. Repeated when a signal
/// interrupts it.
///
/// # Errors
/// The errno.
#[inline]
pub fn write_at_with(fd: impl AsFd, buffer: &[u8], offset: u64, flags: CallFlags) -> Result<usize, i32> {
    if flags == CallFlags::NONE {
        return crate::write_at(fd, buffer, offset);
    }
    let fd = fd.as_fd();
    let flags = ReadWriteFlags::from_bits_retain(flags.bits);
    loop {
        match pwritev2(fd, &[IoSlice::new(buffer)], offset, flags) {
            Err(Errno::INTR) => {}
            other => return other.map_err(Errno::raw_os_error),
        }
    }
}

/// What an opening makes durable with each write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// O_DSYNC: the data.
    Data,
    /// O_SYNC: data and metadata.
    All,
}

/// A second, independent opening of the same file for reading and writing, whose writes are durable when they return, by
/// its name in /proc. O_SYNC cannot be switched on for an open description (fcntl(2)), so there is no other way.
///
/// # Errors
/// ENOENT where /proc is missing, else those of open(2).
pub fn reopen_durable(file: &File, direct: bool, durable: Durable) -> io::Result<File> {
    let sync = match durable {
        // rustix 1 has the bits of O_SYNC under this name.
        Durable::Data => OFlags::from_bits_retain(libc::O_DSYNC as _),
        Durable::All => OFlags::SYNC,
    };
    let mut flags = OFlags::RDWR | OFlags::CLOEXEC | sync;
    flags.set(OFlags::DIRECT, direct);
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::open(name, flags, Mode::empty())?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flagged_calls_read_what_they_wrote() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(write_at_with(&file, b"hello", 3, CallFlags::NONE.dsync(true)), Ok(5));
        let mut data = [0; 8];
        assert_eq!(read_at_with(&file, &mut data, 3, CallFlags::NONE), Ok(5));
        assert_eq!(&data[..5], b"hello");
        // Unknown bits are refused by the kernel, not dropped by us.
        assert!(write_at_with(&file, b"x", 0, CallFlags { bits: 1 << 30 }).is_err());
    }

    #[test]
    fn a_durable_opening_says_so() {
        let file = tempfile::tempfile().unwrap();
        // The first has one bit of the second (include/uapi/asm-generic/fcntl.h).
        for (durable, set) in [(Durable::Data, 0o10_000), (Durable::All, 0o4_010_000)] {
            match reopen_durable(&file, false, durable) {
                Ok(again) => {
                    assert_eq!(rustix::fs::fcntl_getfl(&again).unwrap().bits() & 0o4_010_000, set);
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => println!("SKIPPED: no /proc"),
                Err(e) => panic!("{e}"),
            }
        }
    }
}
