//! What carries accesses out.

use crate::{Mode, Width};

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the device.
    Read,
    /// To the device.
    Write,
}

/// How the accesses of a run are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Bytes of each.
    pub width: Width,
    /// By which instructions.
    pub mode: Mode,
}

/// A region of device memory. [`Mmio`](crate::Mmio) is the real one; a test records what it is asked for, a program may trace.
///
/// The copies of this crate keep the promises that the methods ask for: offsets are within the region, and `address() + offset` is a
/// multiple of the access's width.
pub trait Bus {
    /// The address of its first byte, from which alignment is reckoned.
    fn address(&self) -> usize;

    /// Length of the region in bytes.
    fn len(&self) -> usize;

    /// Whether it has none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it can be written to.
    fn is_writable(&self) -> bool {
        true
    }

    /// One read access of `to.len()` bytes, a width. The bytes arrive in the order of their addresses.
    fn read(&mut self, offset: usize, to: &mut [u8]);

    /// A single write access at `offset`.
    fn write(&mut self, offset: usize, from: &[u8]);

    /// Reads one after the other until `to` is full.
    fn read_run(&mut self, access: Access, offset: usize, to: &mut [u8]) {
        let width = access.width.bytes();
        for (i, piece) in to.chunks_exact_mut(width).enumerate() {
            self.read(offset + i * width, piece);
        }
    }

    /// Writes one after the other.
    fn write_run(&mut self, access: Access, offset: usize, from: &[u8]) {
        let width = access.width.bytes();
        for (i, piece) in from.chunks_exact(width).enumerate() {
            self.write(offset + i * width, piece);
        }
    }

    /// Writes `bytes` bytes of one value.
    fn fill_run(&mut self, access: Access, offset: usize, value: u8, bytes: usize) {
        let width = access.width.bytes();
        let piece = [value; 64];
        for at in (0..bytes).step_by(width) {
            self.write(offset + at, &piece[..width]);
        }
    }

    /// Before the first access of a copy.
    fn before(&mut self, _direction: Direction, _mode: Mode) {}

    /// After the last.
    fn after(&mut self, _direction: Direction, _mode: Mode) {}
}
