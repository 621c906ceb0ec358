//! Aligned buffers of equal size in one mapping.
#![allow(unsafe_code)]

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

/// Buffers of equal size, fit for O_DIRECT and for registration with a ring. Each starts on a page, or, where it is
/// smaller than one, on a multiple of its size rounded up to a power of two, at least 512: small buffers a page apart would
/// share the few sets of the first-level cache that a page offset selects, and evict each other.
///
/// Every page is written once when the pool is made. A page that was never written is the kernel's shared zero page:
/// writing from it would read one cached page for all of the data, and the first read into it would pay a page fault.
#[derive(Debug)]
pub struct BufferPool {
    base: NonNull<u8>,
    mapped_bytes: usize,
    stride: usize,
    buffer_bytes: usize,
    count: u32,
}

// SAFETY: the pool owns its private mapping alone; nothing in it is bound to the thread that made it.
unsafe impl Send for BufferPool {}
// SAFETY: through a shared reference the mapping can only be read.
unsafe impl Sync for BufferPool {}

/// What O_DIRECT asks of memory at most, where blocks are smaller than a page (logical block size; statx(2),
/// stx_dio_mem_align).
const LEAST_ALIGNMENT: usize = 512;

impl BufferPool {
    /// `count` buffers of `buffer_bytes` bytes (rounded up to 1), all pages present.
    ///
    /// # Errors
    /// `InvalidInput` where the sizes do not fit the address space or `count` is 0, else what mmap(2) says (`ENOMEM`).
    pub fn new(count: u32, buffer_bytes: usize) -> io::Result<Self> {
        let too_large = || {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{count} buffers of {buffer_bytes} bytes do not fit the address space"),
            )
        };
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a pool needs at least one buffer"));
        }
        let page = rustix::param::page_size();
        let buffer_bytes = buffer_bytes.max(1);
        let stride = if buffer_bytes < page {
            buffer_bytes.next_power_of_two().max(LEAST_ALIGNMENT)
        } else {
            buffer_bytes.checked_next_multiple_of(page).ok_or_else(too_large)?
        };
        let mapped_bytes =
            stride.checked_mul(count as usize).filter(|n| *n <= isize::MAX as usize).ok_or_else(too_large)?;
        // SAFETY: a fresh private mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe {
            mmap_anonymous(std::ptr::null_mut(), mapped_bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut pool = Self { base, mapped_bytes, stride, buffer_bytes, count };
        for byte in pool.whole().iter_mut().step_by(page) {
            // Volatile, because a compiler may know that fresh mappings hold zeros and drop the store.
            // SAFETY: `byte` is a valid, exclusive reference.
            unsafe { std::ptr::write_volatile(byte, 0x5a) };
        }
        Ok(pool)
    }

    fn whole(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is `mapped_bytes` long, readable, writable, initialised by the kernel, owned by self.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.mapped_bytes) }
    }

    /// How many buffers.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Size of each.
    #[inline]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }

    /// Where buffer `index` starts.
    ///
    /// # Panics
    /// If there is no such buffer.
    #[inline]
    pub(crate) fn address(&self, index: u32) -> *mut u8 {
        assert!(index < self.count, "buffer {index} of {}", self.count);
        // SAFETY: index < count, so the offset lies within the mapping.
        unsafe { self.base.as_ptr().add(index as usize * self.stride) }
    }

    /// The content of buffer `index`.
    ///
    /// # Panics
    /// If there is no such buffer.
    #[inline]
    pub fn buffer(&self, index: u32) -> &[u8] {
        // SAFETY: `address` checked the index; the buffer lies within the mapping, which lives as long as self, and only
        // shared references exist while self is borrowed shared.
        unsafe { std::slice::from_raw_parts(self.address(index), self.buffer_bytes) }
    }

    /// The content of buffer `index`, to be changed.
    ///
    /// # Panics
    /// If there is no such buffer.
    #[inline]
    pub fn buffer_mut(&mut self, index: u32) -> &mut [u8] {
        // SAFETY: as in `buffer`; self is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.address(index), self.buffer_bytes) }
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no reference into it outlives self. Who lends it to the kernel (the ring)
        // forgets the pool instead of dropping it while operations are in flight.
        let _ = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.mapped_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_page_aligned_and_apart() {
        let mut pool = BufferPool::new(3, 5000).unwrap();
        for i in 0..3 {
            assert_eq!(pool.address(i) as usize % rustix::param::page_size(), 0);
            assert_eq!(pool.buffer(i).len(), 5000);
            pool.buffer_mut(i).fill(i as u8 + 1);
        }
        for i in 0..3 {
            assert!(pool.buffer(i).iter().all(|b| *b == i as u8 + 1));
        }
    }

    #[test]
    fn small_buffers_lie_side_by_side() {
        for (bytes, apart) in [(1, 512), (512, 512), (520, 1024), (2048, 2048)] {
            let mut pool = BufferPool::new(9, bytes).unwrap();
            assert_eq!(pool.address(1) as usize - pool.address(0) as usize, apart);
            assert_eq!(pool.address(8) as usize % apart, 0);
            pool.buffer_mut(8).fill(7);
            assert!(pool.buffer(8).iter().all(|b| *b == 7));
        }
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(BufferPool::new(0, 4096).is_err());
        assert!(BufferPool::new(u32::MAX, usize::MAX / 2).is_err());
    }
}
