//! Copies of memory, one piece after the other.

use crate::{Next, Outcome, Request, Source};
use model::{Direction, Ns};

/// One piece that is copied from one buffer to the same place of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyOp {
    /// First byte, in both.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// Its name while it is under way.
    pub buffer: u32,
}

impl Request for CopyOp {
    #[inline]
    fn buffer(&self) -> u32 {
        self.buffer
    }

    #[inline]
    fn set_buffer(&mut self, index: u32) {
        self.buffer = index;
    }

    #[inline]
    fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    fn intended_ns(&self) -> Option<Ns> {
        None
    }

    /// Each copied byte is counted once, as read.
    #[inline]
    fn direction(&self) -> Direction {
        Direction::Read
    }
}

/// Pass after pass over buffers of equal size, in pieces of equal size.
#[derive(Debug)]
pub struct CopyStream {
    bytes: u64,
    piece: u32,
    offset: u64,
}

impl CopyStream {
    /// Over the whole pieces within `bytes`, which are at least one.
    pub fn new(bytes: u64, piece: u32) -> Self {
        Self { bytes, piece, offset: 0 }
    }
}

impl Source for CopyStream {
    type Op = CopyOp;

    #[inline]
    fn next(&mut self, _now: Ns) -> Next<CopyOp> {
        if self.offset + u64::from(self.piece) > self.bytes {
            self.offset = 0;
        }
        let op = CopyOp { offset: self.offset, len: self.piece, buffer: 0 };
        self.offset += u64::from(self.piece);
        Next::Op(op)
    }

    #[inline]
    fn completed(&mut self, _op: &CopyOp, _outcome: Outcome) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_whole_pieces() {
        let mut stream = CopyStream::new(10, 4);
        let offsets: Vec<u64> = (0..5)
            .map(|_| match stream.next(0) {
                Next::Op(op) => op.offset,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(offsets, [0, 4, 0, 4, 0]);
    }
}
