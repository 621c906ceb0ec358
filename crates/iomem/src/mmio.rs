//! A region of the address space.

use crate::{Access, Bus, Direction, Mode, Width, barrier, loops};
use core::cell::Cell;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU8;

/// Device memory that is mapped into the address space.
#[derive(Debug)]
pub struct Mmio<'a> {
    base: *mut u8,
    len: usize,
    writable: bool,
    memory: PhantomData<&'a Cell<u8>>,
}

impl Mmio<'_> {
    /// The region of `len` bytes from `base`.
    ///
    /// # Safety
    /// The region must be mapped, and accessible by every access within it that the rules of the copies allow, for as long as this
    /// exists: for writing, too, where `writable` says so. No Rust reference points into it but such as expect others to change it.
    /// The region does not wrap around the end of the address space.
    pub const unsafe fn new(base: *mut u8, len: usize, writable: bool) -> Self {
        Self { base, len, writable, memory: PhantomData }
    }
}

impl<'a> Mmio<'a> {
    /// Memory as if it were a device's.
    pub fn of_mut(memory: &'a mut [u8]) -> Self {
        // SAFETY: it is borrowed for as long as this exists, and for this alone.
        unsafe { Self::new(memory.as_mut_ptr(), memory.len(), true) }
    }

    /// Memory that is shared within a thread.
    pub fn of_cells(memory: &'a [Cell<u8>]) -> Self {
        // SAFETY: cells may be changed through a shared reference, and no other thread has one.
        unsafe { Self::new(memory.as_ptr().cast_mut().cast(), memory.len(), true) }
    }

    /// Memory that nobody changes.
    pub fn of_slice(memory: &'a [u8]) -> Self {
        // SAFETY: it is borrowed for as long as this exists, and never written to.
        unsafe { Self::new(memory.as_ptr().cast_mut(), memory.len(), false) }
    }

    /// Memory that others may change meanwhile.
    pub fn of_shared_mut(memory: &'a [AtomicU8]) -> Self {
        // SAFETY: atomics may be changed through a shared reference.
        unsafe { Self::new(memory.as_ptr().cast_mut().cast(), memory.len(), true) }
    }

    /// Memory that others change, and that is only read: a mapping without the right to write.
    pub fn of_shared(memory: &'a [AtomicU8]) -> Self {
        // SAFETY: what others change in it is read by single volatile loads, and never written to.
        unsafe { Self::new(memory.as_ptr().cast_mut().cast(), memory.len(), false) }
    }

    /// The pointer to `bytes` bytes at an offset; whoever calls the methods of [`Bus`] by hand is held to the region here.
    fn at(&self, offset: usize, bytes: usize, width: Width) -> *mut u8 {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.len), "an access outside the region");
        let pointer = self.base.wrapping_add(offset);
        assert!(pointer.addr().is_multiple_of(width.bytes()), "an access that is not aligned");
        assert!(width.is_supported(), "an access that this processor does not have");
        pointer
    }

    fn at_for_writing(&self, offset: usize, bytes: usize, width: Width) -> *mut u8 {
        assert!(self.writable, "a write to a region that can only be read");
        self.at(offset, bytes, width)
    }
}

/// A single access of `bytes` bytes.
fn single(bytes: usize) -> Access {
    let width = Width::of_bytes(bytes).expect("a width");
    Access { width, mode: Mode::Plain }
}

impl Bus for Mmio<'_> {
    fn address(&self) -> usize {
        self.base.addr()
    }

    fn len(&self) -> usize {
        self.len
    }

    fn is_writable(&self) -> bool {
        self.writable
    }

    fn read(&mut self, offset: usize, to: &mut [u8]) {
        self.read_run(single(to.len()), offset, to);
    }

    fn write(&mut self, offset: usize, from: &[u8]) {
        self.write_run(single(from.len()), offset, from);
    }

    fn read_run(&mut self, access: Access, offset: usize, to: &mut [u8]) {
        let from = self.at(offset, to.len(), access.width);
        // SAFETY: `at` has looked at the region, the alignment and the processor; `to` is a slice of that length.
        unsafe { loops::copy(access, Direction::Read, from, to.as_mut_ptr(), to.len()) }
    }

    fn write_run(&mut self, access: Access, offset: usize, from: &[u8]) {
        let to = self.at_for_writing(offset, from.len(), access.width);
        // SAFETY: as above, and the region may be written to.
        unsafe { loops::copy(access, Direction::Write, from.as_ptr(), to, from.len()) }
    }

    fn fill_run(&mut self, access: Access, offset: usize, value: u8, bytes: usize) {
        let to = self.at_for_writing(offset, bytes, access.width);
        // SAFETY: as above.
        unsafe { loops::fill(access.width, to, value, bytes) }
    }

    fn before(&mut self, direction: Direction, mode: Mode) {
        barrier::before(direction, mode);
    }

    fn after(&mut self, direction: Direction, mode: Mode) {
        barrier::after(direction, mode);
    }
}
