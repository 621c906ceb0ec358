//! A file in memory: loads and stores instead of calls.
#![allow(unsafe_code)]

use crate::bus_fault::{LostPages, guarded};
use libc::{EINVAL, EIO};
use rustix::io::Errno;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// A shared mapping of the beginning of a file.
///
/// What goes wrong at a load or store (a page that the device cannot read, a file that became shorter, a hole for which
/// there is no room) fails the one operation with EIO: the signal by which the kernel says it does not say more. What a
/// failed store had already stored stays in the page cache.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
    /// Where it begins in the file.
    start: u64,
    writable: bool,
    /// To map anew what could not be had.
    file: OwnedFd,
    /// Some of it is not the file's any more.
    broken: AtomicBool,
    /// Offset of the last byte range that could not be had, its page; `u64::MAX`: none.
    last_fault: AtomicU64,
}

// SAFETY: the mapping belongs to the process, not to a thread.
unsafe impl Send for Mapping {}
// SAFETY: the memory is only copied from and to through raw pointers, never referenced; what happens when several threads
// or programs store to one place at once is what shared mappings are: some mixture of the bytes.
unsafe impl Sync for Mapping {}

fn access(writable: bool) -> ProtFlags {
    let mut access = ProtFlags::READ;
    access.set(ProtFlags::WRITE, writable);
    access
}

impl Mapping {
    /// Maps the first `len` bytes, which the file has.
    ///
    /// # Errors
    /// `InvalidInput` where the length does not fit the address space (32-bit machines), else what mmap(2) says.
    pub fn new(fd: impl AsFd, len: u64, writable: bool) -> io::Result<Self> {
        Self::of_part(fd, 0, len, writable)
    }

    /// Maps `len` bytes from `start`, a multiple of the page size.
    ///
    /// # Errors
    /// As for the first bytes.
    pub fn of_part(fd: impl AsFd, start: u64, len: u64, writable: bool) -> io::Result<Self> {
        let too_large =
            || io::Error::new(io::ErrorKind::InvalidInput, format!("{len} bytes do not fit the address space"));
        let len = usize::try_from(len).ok().filter(|n| *n > 0 && *n <= isize::MAX as usize).ok_or_else(too_large)?;
        let file = fd.as_fd().try_clone_to_owned()?;
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe { mmap(std::ptr::null_mut(), len, access(writable), MapFlags::SHARED, fd, start) }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(Self {
            base,
            len,
            start,
            writable,
            file,
            broken: AtomicBool::new(false),
            last_fault: AtomicU64::new(u64::MAX),
        })
    }

    /// Copies while faults are caught.
    #[inline]
    fn copy(&self, from: *const u8, to: *mut u8, len: usize) -> Result<(), i32> {
        // SAFETY: the callers have checked that both ranges are as long as `len` and that one lies in the mapping; a buffer
        // of the caller's does not overlap it.
        self.access(|| unsafe { std::ptr::copy_nonoverlapping(from, to, len) })
    }

    /// Has the mapping accessed while faults are caught.
    #[inline]
    fn access(&self, access: impl FnOnce()) -> Result<(), i32> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(EIO);
        }
        let start = self.base.as_ptr() as usize;
        guarded(start, start + self.len, access).map_err(|lost| self.map_again(lost))
    }

    /// Lends a range to `access`, which may read it by whatever accesses it likes, and write to it where the mapping is writable
    /// and it is told so.
    ///
    /// # Errors
    /// `EINVAL` beyond the mapping, `EIO` where the device did not answer ([`Mapping::last_fault`] says where).
    pub fn lend(&self, offset: u64, len: usize, access: impl FnOnce(&[AtomicU8], bool)) -> Result<(), i32> {
        let at = self.at(offset, len)?;
        // SAFETY: the range lies in the mapping, which lives as long as `self`; bytes that others change are what atomics are for.
        let memory = unsafe { std::slice::from_raw_parts(at.cast::<AtomicU8>(), len) };
        self.access(|| access(memory, self.writable))
    }

    /// Where the last access that was not answered was: the page's offset from the start of the mapping.
    pub fn last_fault(&self) -> Option<u64> {
        Some(self.last_fault.load(Ordering::Relaxed)).filter(|offset| *offset != u64::MAX)
    }

    /// After a fault: the pages that stand in for those that could not be had give way to the file's.
    #[cold]
    fn map_again(&self, lost: LostPages) -> i32 {
        let start = self.base.as_ptr() as usize;
        let offset = lost.first - start;
        self.last_fault.store(offset as u64, Ordering::Relaxed);
        let len = lost.last - lost.first + rustix::param::page_size();
        // SAFETY: the range consists of pages of our mapping, into which no reference points; it becomes what it was.
        // Pages between lost ones are the file's before and after.
        let mapped = unsafe {
            let at = self.base.as_ptr().add(offset).cast::<c_void>();
            mmap(
                at,
                len,
                access(self.writable),
                MapFlags::SHARED | MapFlags::FIXED,
                &self.file,
                self.start + offset as u64,
            )
        };
        if mapped.is_err() {
            // Empty pages stay there, on which later operations would succeed: none may.
            self.broken.store(true, Ordering::Relaxed);
        }
        EIO
    }

    /// Where a range lies, if it lies within.
    fn at(&self, offset: u64, len: usize) -> Result<*mut u8, i32> {
        let start = usize::try_from(offset).map_err(|_| EINVAL)?;
        if start.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(EINVAL);
        }
        // SAFETY: the range was found to lie within the mapping.
        Ok(unsafe { self.base.as_ptr().add(start) })
    }

    /// Copies from the file.
    ///
    /// # Errors
    /// `EINVAL` beyond the mapping; `EIO` where the kernel could not give the page.
    pub fn load(&self, offset: u64, into: &mut [u8]) -> Result<(), i32> {
        let from = self.at(offset, into.len())?;
        self.copy(from.cast_const(), into.as_mut_ptr(), into.len())
    }

    /// Copies into the file.
    ///
    /// # Errors
    /// `EINVAL` beyond the mapping, or where it is only read; `EIO` where the kernel could not give the page.
    pub fn store(&self, offset: u64, data: &[u8]) -> Result<(), i32> {
        if !self.writable {
            return Err(EINVAL);
        }
        let to = self.at(offset, data.len())?;
        self.copy(data.as_ptr(), to, data.len())
    }

    /// Makes the pages of a range durable: msync(2) with MS_SYNC.
    ///
    /// # Errors
    /// The errno; `EIO` may concern data written long before.
    pub fn sync(&self, offset: u64, len: u64) -> Result<(), i32> {
        let page = rustix::param::page_size() as u64;
        let start = offset / page * page;
        let end = offset.saturating_add(len).min(self.len as u64);
        let len = usize::try_from(end.saturating_sub(start)).map_err(|_| EINVAL)?;
        let from = self.at(start, len)?;
        // SAFETY: the range lies within the mapping and begins on a page.
        unsafe { msync(from.cast::<c_void>(), len, MsyncFlags::SYNC) }.map_err(Errno::raw_os_error)
    }

    /// Length, bytes.
    pub fn len(&self) -> u64 {
        self.len as u64
    }

    /// Never: mappings have a length.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference into it was ever given out.
        let _ = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_cannot_be_had_fails_and_is_asked_for_again() {
        let page = rustix::param::page_size() as u64;
        let file = tempfile::tempfile().unwrap();
        file.set_len(4 * page).unwrap();
        let mapping = Mapping::new(&file, 4 * page, true).unwrap();
        mapping.store(3 * page, b"there").unwrap();
        file.set_len(page).unwrap();
        let mut text = vec![0; 3 * page as usize];
        for _ in 0..3 {
            assert_eq!(mapping.load(page, &mut text), Err(EIO));
            assert_eq!(mapping.last_fault(), Some(page));
            assert_eq!(mapping.store(2 * page, b"lost"), Err(EIO));
            // What is there is not concerned.
            mapping.store(5, b"hello").unwrap();
        }
        file.set_len(4 * page).unwrap();
        mapping.store(2 * page, b"again").unwrap();
        let mut text = [1; 5];
        file.read_exact_at(&mut text, 2 * page).unwrap();
        assert_eq!(&text, b"again");
        // The page that was lost is a new one, and not what stood in for it.
        mapping.load(3 * page, &mut text).unwrap();
        assert_eq!(text, [0; 5]);
        // The same in another thread.
        file.set_len(page).unwrap();
        let mapping = &mapping;
        let lost = std::thread::scope(|s| s.spawn(move || mapping.load(page, &mut [0])).join().unwrap());
        assert_eq!(lost, Err(EIO));
    }

    #[test]
    fn what_is_stored_is_in_the_file() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10_000).unwrap();
        let mapping = Mapping::new(&file, 10_000, true).unwrap();
        mapping.store(5_000, b"hello").unwrap();
        mapping.sync(5_000, 5).unwrap();
        let mut text = [0; 5];
        file.read_exact_at(&mut text, 5_000).unwrap();
        assert_eq!(&text, b"hello");
        file.write_all_at(b"again", 9_995).unwrap();
        mapping.load(9_995, &mut text).unwrap();
        assert_eq!(&text, b"again");
        assert_eq!(mapping.load(9_996, &mut text), Err(EINVAL));
        assert_eq!(mapping.store(u64::MAX, b"x"), Err(EINVAL));
        assert_eq!(Mapping::new(&file, 10, false).unwrap().store(0, b"x"), Err(EINVAL));
    }
}
