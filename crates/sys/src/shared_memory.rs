//! Memory that another process writes into while it is read here: a sealed memfd (memfd_create(2), F_ADD_SEALS of fcntl(2)).
//!
//! The other process is not trusted. What it may not do is take the memory away: that is sealed, and asked before anything is
//! touched. Its bytes may change while they are copied; whoever copies them decides by the copy, never by a second look.
#![allow(unsafe_code)]

use rustix::fs::{SealFlags, fcntl_get_seals, fstat};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mapping of all of a sealed memfd, for reading and writing.
#[derive(Debug)]
pub struct SharedMemory {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is only read and written through atomics and raw copies, from any thread.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Maps it.
    ///
    /// # Errors
    /// `InvalidInput`: it is no memfd, or its size can still change (F_SEAL_SHRINK and F_SEAL_GROW are not set); else what mmap(2)
    /// says.
    pub fn of(file: &impl AsFd) -> io::Result<Self> {
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why.to_owned());
        let seals = fcntl_get_seals(file).map_err(|_| invalid("it is not a memfd that can be sealed"))?;
        if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
            return Err(invalid("its size is not sealed (F_SEAL_SHRINK and F_SEAL_GROW)"));
        }
        let bytes = usize::try_from(fstat(file)?.st_size).map_err(|_| invalid("it is too large"))?;
        if bytes == 0 {
            return Err(invalid("it is empty"));
        }
        // SAFETY: a new shared mapping at an address of the kernel's choice touches no other memory; it cannot shrink.
        let base = unsafe {
            mmap(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)
        }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(Self { base, bytes })
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.bytes, "word {offset} of {}", self.bytes);
        // SAFETY: within the mapping, aligned (the mapping is by pages), valid as long as self; both sides use it atomically,
        // and whatever a stranger stores there is a number.
        unsafe { &*self.base.as_ptr().add(offset).cast::<AtomicU64>() }
    }

    /// A number at a place that is a multiple of 8; what the other wrote before it stored that is seen after it.
    ///
    /// # Panics
    /// The place is not within.
    pub fn load(&self, offset: usize) -> u64 {
        u64::from_le(self.word(offset).load(Ordering::Acquire))
    }

    /// Stores a number for the other to see.
    ///
    /// # Panics
    /// The place is not within.
    pub fn store(&self, offset: usize, value: u64) {
        self.word(offset).store(value.to_le(), Ordering::Release);
    }

    /// Copies bytes from a place.
    ///
    /// # Panics
    /// They are not all within.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        assert!(offset <= self.bytes && into.len() <= self.bytes - offset);
        // SAFETY: both ranges are valid for their length and do not overlap: `into` is memory of ours alone. The source may
        // change meanwhile; its bytes are any bytes.
        unsafe { std::ptr::copy_nonoverlapping(self.base.as_ptr().add(offset), into.as_mut_ptr(), into.len()) };
    }

    /// Copies bytes to a place.
    ///
    /// # Panics
    /// They are not all within.
    pub fn write(&self, offset: usize, from: &[u8]) {
        assert!(offset <= self.bytes && from.len() <= self.bytes - offset);
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.base.as_ptr().add(offset), from.len()) };
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference into it outlives self.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, fcntl_add_seals, ftruncate, memfd_create};

    #[test]
    fn only_memory_that_cannot_be_taken_away_is_mapped() {
        let memory = memfd_create("frames", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&memory, 8192).unwrap();
        assert_eq!(SharedMemory::of(&memory).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW).unwrap();
        let (one, other) = (SharedMemory::of(&memory).unwrap(), SharedMemory::of(&memory).unwrap());
        one.write(100, b"frame");
        one.store(64, 7);
        let mut read = [0; 5];
        other.read(100, &mut read);
        assert_eq!((&read, other.load(64), other.bytes()), (b"frame", 7, 8192));
        assert!(ftruncate(&memory, 0).is_err());
        let file = tempfile::tempfile().unwrap();
        assert!(SharedMemory::of(&file).is_err());
    }
}
