//! Aligned buffers of equal size in one mapping.
#![allow(unsafe_code)]

use crate::pages::{self, Pages};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

/// What to ask of the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolOptions {
    pub pages: Pages,
    /// The first buffer starts on a multiple of this, a power of two; 0: on a page.
    pub alignment_bytes: usize,
}

/// Buffers of equal size, fit for O_DIRECT and for registration with a ring. Each starts on a page, or, where it is
/// smaller than one, on a multiple of its size rounded up to a power of two, at least 512: small buffers a page apart would
/// share the few sets of the first-level cache that a page offset selects, and evict each other.
///
/// Buffers of 64 KiB and more lie in huge pages where there are any: a request of the block layer has a segment for each
/// run of contiguous memory, and a queue takes only so many of them (k:block/blk-merge.c, bio_split_io_at), so that 1 MiB in
/// pages of 4 KiB may have to be split.
///
/// Every page is written once when the pool is made. A page that was never written is the kernel's shared zero page:
/// writing from it would read one cached page for all of the data, and the first read into it would pay a page fault.
///
/// Who makes a pool owns it: a device has it for as long as it lives and gives it back, so that what follows finds the
/// memory present.
#[derive(Debug)]
pub struct BufferPool {
    memory: Arc<Memory>,
    base: NonNull<u8>,
    stride: usize,
    buffer_bytes: usize,
    count: u32,
}

/// One mapping, in which a pool, or the parts of one, have each their own range.
#[derive(Debug)]
struct Memory {
    mapping: NonNull<u8>,
    mapped_bytes: usize,
    options: PoolOptions,
    huge_bytes: u64,
    missing: Option<String>,
}

// SAFETY: the address of a private mapping; nothing in it is bound to the thread that made it, and what it points to is
// reached through the pools alone.
unsafe impl Send for Memory {}
// SAFETY: a shared reference shows numbers and text only.
unsafe impl Sync for Memory {}
// SAFETY: a pool alone has its range of the mapping, whichever thread it is in.
unsafe impl Send for BufferPool {}
// SAFETY: through a shared reference the range can only be read.
unsafe impl Sync for BufferPool {}

/// What O_DIRECT asks of memory at most, where blocks are smaller than a page (logical block size; statx(2),
/// stx_dio_mem_align).
const MIN_ALIGNMENT: usize = 512;

/// The smallest buffers for which huge pages are asked: below, a request has few segments.
const MIN_HUGE: usize = 64 << 10;

/// A mapping is made longer to end on a huge page, where these are no larger: with base pages of 16 and 64 KiB they have 32
/// and 512 MiB (Documentation/arch/arm64/memory.rst), and a small pool is not worth one.
const LARGEST_ROUNDED: usize = 4 << 20;

/// A private mapping at an address of the kernel's choice.
fn map(bytes: usize, flags: MapFlags) -> io::Result<NonNull<u8>> {
    // SAFETY: a fresh private mapping at an address of the kernel's choice touches no other memory.
    let base = unsafe {
        mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | flags)
    }?;
    NonNull::new(base.cast::<u8>()).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))
}

/// Distance between buffers, and bytes of all; `None` beyond the address space.
fn extent(count: u32, buffer_bytes: usize) -> Option<(usize, usize)> {
    let page = rustix::param::page_size();
    let stride = if buffer_bytes < page {
        buffer_bytes.next_power_of_two().max(MIN_ALIGNMENT)
    } else {
        buffer_bytes.checked_next_multiple_of(page)?
    };
    let bytes = stride.checked_mul(usize::try_from(count).ok()?)?;
    (bytes <= isize::MAX as usize).then_some((stride, bytes))
}

/// The first such address in a mapping that is longer than what is used by `alignment`, or begins on it.
fn aligned(mapping: NonNull<u8>, alignment: usize) -> NonNull<u8> {
    let skipped = mapping.as_ptr().align_offset(alignment);
    // SAFETY: the callers' mappings are longer than what is used by the distance to the next such address.
    unsafe { mapping.add(skipped) }
}

/// Memory for `bytes`, asked to lie in huge pages where `huge`: mapping, its length, its first aligned address, and the
/// length from there that is asked for.
pub(crate) fn anonymous(
    bytes: usize,
    alignment: usize,
    huge: bool,
) -> io::Result<(NonNull<u8>, usize, NonNull<u8>, usize)> {
    let size = if huge { pages::transparent_huge_bytes() } else { None };
    let (alignment, length) = match size {
        Some(size) if size <= LARGEST_ROUNDED => (alignment.max(size), bytes.next_multiple_of(size)),
        Some(size) if size <= bytes => (alignment.max(size), bytes),
        _ => (alignment, bytes),
    };
    // Addresses that are not used cost nothing: the pages are never touched.
    let mapped = length.saturating_add(alignment - rustix::param::page_size());
    let mapping = map(mapped, MapFlags::empty())?;
    let base = aligned(mapping, alignment);
    if huge {
        // SAFETY: the range lies within our mapping; the advice changes nothing of its content. What is not granted is seen
        // by the caller.
        let _ = unsafe { madvise(base.as_ptr().cast::<c_void>(), length, Advice::LinuxHugepage) };
    }
    Ok((mapping, mapped, base, length))
}

/// A mapping of pages that the administrator reserved, at least `bytes` long; if there is none, why.
fn reserved(bytes: usize, size: Option<usize>) -> Result<(NonNull<u8>, usize), String> {
    let size = match size.or_else(pages::reserved_huge_bytes) {
        Some(size) if size.is_power_of_two() => size,
        Some(size) => return Err(format!("reserved huge pages: {size} bytes are not a power of two")),
        None => return Err("reserved huge pages: the kernel has none (CONFIG_HUGETLBFS)".to_owned()),
    };
    let length = bytes.checked_next_multiple_of(size).ok_or("reserved huge pages: beyond the address space")?;
    // The size is given by its logarithm (mmap(2), MAP_HUGE_SHIFT).
    let flags = MapFlags::HUGETLB | MapFlags::from_bits_retain(size.trailing_zeros() << 26);
    match map(length, flags) {
        Ok(base) => Ok((base, length)),
        Err(e) => Err(format!(
            "reserved huge pages of {} KiB: {} ({length} bytes are needed; sysctl vm.nr_hugepages)",
            size >> 10,
            crate::errno_name(e.raw_os_error().unwrap_or(0))
        )),
    }
}

impl BufferPool {
    /// `count` buffers of `buffer_bytes` bytes (rounded up to 1), all pages present, in huge pages where that is useful.
    ///
    /// # Errors
    /// `InvalidInput` where the sizes do not fit the address space or `count` is 0, else what mmap(2) says (`ENOMEM`).
    pub fn new(count: u32, buffer_bytes: usize) -> io::Result<Self> {
        Self::with(count, buffer_bytes, PoolOptions::default())
    }

    /// The same in such pages. What cannot be had is done without, which [`BufferPool::missing`] says.
    ///
    /// # Errors
    /// As [`BufferPool::new`].
    pub fn with(count: u32, buffer_bytes: usize, options: PoolOptions) -> io::Result<Self> {
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a pool needs at least one buffer"));
        }
        let buffer_bytes = buffer_bytes.max(1);
        let too_large = || {
            let message = format!("{count} buffers of {buffer_bytes} bytes do not fit the address space");
            io::Error::new(io::ErrorKind::InvalidInput, message)
        };
        let (stride, bytes) = extent(count, buffer_bytes).ok_or_else(too_large)?;
        let alignment = options.alignment_bytes.max(rustix::param::page_size()).checked_next_power_of_two();
        let alignment = alignment.filter(|n| n.checked_add(bytes).is_some()).ok_or_else(too_large)?;
        let mut missing = None;
        let reserved = match options.pages {
            Pages::Reserved { bytes: size } => {
                reserved(bytes + alignment, size).inspect_err(|why| missing = Some(why.clone())).ok()
            }
            Pages::Ordinary | Pages::Huge => None,
        };
        let wanted = options.pages != Pages::Ordinary && buffer_bytes >= MIN_HUGE && reserved.is_none();
        let (mapping, mapped_bytes, base, length) = match reserved {
            Some((mapping, mapped)) => (mapping, mapped, aligned(mapping, alignment), bytes),
            None => anonymous(bytes, alignment, wanted)?,
        };
        let memory = Memory { mapping, mapped_bytes, options, huge_bytes: 0, missing };
        let mut pool = Self { memory: Arc::new(memory), base, stride, buffer_bytes, count };
        pool.touch();
        if let Some(memory) = Arc::get_mut(&mut pool.memory) {
            memory.see(wanted, reserved.is_some(), base, bytes, length);
        }
        Ok(pool)
    }

    fn touch(&mut self) {
        for byte in self.whole().iter_mut().step_by(rustix::param::page_size()) {
            // Volatile, because a compiler may know that fresh mappings hold zeros and drop the store.
            // SAFETY: `byte` is a valid, exclusive reference.
            unsafe { std::ptr::write_volatile(byte, 0x5a) };
        }
    }

    /// A pool for each buffer, in the same memory: they can be lent to different threads.
    pub fn split(self) -> Vec<Self> {
        let (stride, buffer_bytes) = (self.stride, self.buffer_bytes);
        let one = |index| {
            let base = NonNull::new(self.address(index)).unwrap_or(NonNull::dangling());
            Self { memory: Arc::clone(&self.memory), base, stride, buffer_bytes, count: 1 }
        };
        (0..self.count).map(one).collect()
    }

    /// The pool that was split, where these are all of its parts, in order.
    pub fn join(parts: Vec<Self>) -> Option<Self> {
        let first = parts.first()?;
        let memory = Arc::clone(&first.memory);
        let base = first.base;
        let stride = first.stride;
        let buffer_bytes = first.buffer_bytes;
        let count = u32::try_from(parts.len()).ok()?;
        let next = |(i, part): (usize, &Self)| {
            part.base.as_ptr() as usize == base.as_ptr() as usize + i * stride && Arc::ptr_eq(&part.memory, &memory)
        };
        parts.iter().enumerate().all(next).then_some(Self { memory, base, stride, buffer_bytes, count })
    }

    /// What it was made with.
    pub fn options(&self) -> PoolOptions {
        self.memory.options
    }

    /// Bytes of the buffers that lie in huge pages, as far as the kernel tells.
    pub fn huge_bytes(&self) -> u64 {
        self.memory.huge_bytes
    }

    /// What was asked of the pages and not had, with the reason.
    pub fn missing(&self) -> Option<&str> {
        self.memory.missing.as_deref()
    }

    fn whole(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is at least this long behind its base, readable, writable, initialised by the kernel, owned by
        // self.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.stride * self.count as usize) }
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

impl Memory {
    /// Takes down what the buffers got.
    fn see(&mut self, wanted: bool, reserved: bool, base: NonNull<u8>, bytes: usize, length: usize) {
        let start = base.as_ptr() as usize;
        self.huge_bytes = match (reserved, wanted) {
            (true, _) => bytes as u64,
            (false, true) => pages::huge_bytes_within(start..start + bytes).min(bytes as u64),
            (false, false) => 0,
        };
        if wanted && self.huge_bytes < bytes as u64 {
            let why = format!("huge pages: {} of {bytes} bytes: {}", self.huge_bytes, pages::why_not_huge(length));
            self.missing = Some(self.missing.take().map_or(why.clone(), |first| format!("{first}; {why}")));
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no pool, hence no reference into it, outlives self. Who lends it to the kernel (the
        // ring) forgets its pool instead of dropping it while operations are in flight.
        let _ = unsafe { munmap(self.mapping.as_ptr().cast::<c_void>(), self.mapped_bytes) };
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
    fn parts_of_a_pool_keep_the_memory() {
        let mut pool = BufferPool::new(3, 4096).unwrap();
        (0..3).for_each(|i| pool.buffer_mut(i).fill(i as u8 + 1));
        let mut parts = pool.split();
        assert_eq!(parts.iter().map(|p| p.buffer(0)[4095]).collect::<Vec<_>>(), [1, 2, 3]);
        let mut pool = BufferPool::join(parts).unwrap();
        assert_eq!((pool.count(), pool.buffer_mut(2)[0]), (3, 3));
        parts = pool.split();
        parts.swap(0, 1);
        assert!(BufferPool::join(parts).is_none());
        let mut parts = BufferPool::new(3, 4096).unwrap().split();
        parts[2].buffer_mut(0).fill(3);
        let last = parts.pop().unwrap();
        drop(parts);
        assert!(std::thread::spawn(move || last.buffer(0).iter().all(|b| *b == 3)).join().unwrap());
    }

    /// What is asked for and cannot be had is said, and the buffers are there all the same.
    #[test]
    fn pages_that_are_asked_for_are_had_or_said_to_be_missing() {
        for pages in [Pages::Ordinary, Pages::Huge, Pages::Reserved { bytes: None }, Pages::Reserved { bytes: Some(3) }]
        {
            for (count, bytes) in [(1, 64 << 10), (3, 1 << 20), (2, 3_000_000)] {
                let options = PoolOptions { pages, alignment_bytes: 0 };
                let mut pool = BufferPool::with(count, bytes, options).unwrap();
                (0..count).for_each(|i| pool.buffer_mut(i).fill(7));
                assert_eq!((pool.buffer_bytes(), pool.options()), (bytes, options));
                let whole = pool.huge_bytes() >= u64::from(count) * bytes as u64;
                match pages {
                    Pages::Ordinary => assert_eq!((pool.huge_bytes(), pool.missing()), (0, None)),
                    Pages::Huge => assert_eq!(pool.missing().is_none(), whole, "{:?}", pool.missing()),
                    Pages::Reserved { .. } => assert!(whole || pool.missing().is_some()),
                }
            }
        }
        let small = BufferPool::with(32, 4096, PoolOptions::default()).unwrap();
        assert_eq!((small.huge_bytes(), small.missing()), (0, None));
    }

    #[test]
    fn a_reserved_size_that_the_kernel_lacks_is_named() {
        // No machine has huge pages of 8 KiB, nor 2^40 bytes reserved.
        for (count, size) in [(1, Some(8192)), (4, Some(1 << 40))] {
            let options = PoolOptions { pages: Pages::Reserved { bytes: size }, alignment_bytes: 0 };
            let pool = BufferPool::with(count, 1 << 20, options).unwrap();
            assert!(pool.missing().unwrap().contains("reserved huge pages"), "{:?}", pool.missing());
        }
    }

    #[test]
    fn the_first_buffer_is_aligned_as_asked() {
        for alignment_bytes in [0, 512, 4096, 64 << 10, 8 << 20] {
            for pages in [Pages::Ordinary, Pages::Huge] {
                let mut pool = BufferPool::with(2, 100_000, PoolOptions { pages, alignment_bytes }).unwrap();
                assert_eq!(pool.address(0) as usize % alignment_bytes.max(4096), 0);
                pool.buffer_mut(1).fill(1);
            }
        }
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(BufferPool::new(0, 4096).is_err());
        assert!(BufferPool::new(u32::MAX, usize::MAX / 2).is_err());
    }
}
