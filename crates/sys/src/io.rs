//! Positioned reads and writes and syncs, with the errno as the error.

use rustix::io::Errno;
use std::os::fd::AsFd;

/// pread(2) into `buffer`; bytes read, which may be fewer. Repeated when a signal interrupts it.
///
/// # Errors
/// The errno.
#[inline]
pub fn read_at(fd: impl AsFd, buffer: &mut [u8], offset: u64) -> Result<usize, i32> {
    let fd = fd.as_fd();
    retry(|| rustix::io::pread(fd, &mut *buffer, offset))
}

/// pwrite(2) from `buffer`; bytes written, which may be fewer. Repeated when a signal interrupts it.
///
/// # Errors
/// The errno.
#[inline]
pub fn write_at(fd: impl AsFd, buffer: &[u8], offset: u64) -> Result<usize, i32> {
    let fd = fd.as_fd();
    retry(|| rustix::io::pwrite(fd, buffer, offset))
}

/// fdatasync(2): the data, and what is needed to find them again.
///
/// # Errors
/// The errno; `EIO` may concern data written long before.
#[inline]
pub fn sync_data(fd: impl AsFd) -> Result<(), i32> {
    let fd = fd.as_fd();
    retry(|| rustix::fs::fdatasync(fd))
}

/// fsync(2): data and metadata.
///
/// # Errors
/// The errno; `EIO` may concern data written long before.
#[inline]
pub fn sync_all(fd: impl AsFd) -> Result<(), i32> {
    let fd = fd.as_fd();
    retry(|| rustix::fs::fsync(fd))
}

#[inline]
fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, i32> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other.map_err(Errno::raw_os_error),
        }
    }
}
