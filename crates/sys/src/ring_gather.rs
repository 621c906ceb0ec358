//! What one write of a ring sends, where that is not all in its own buffer.
#![allow(unsafe_code)]

use crate::{MemoryPiece, Ring};
use rustix::io_uring::{IoringOp, addr_or_splice_off_in_union, io_uring_ptr, io_uring_sqe, iovec, len_union};
use std::ops::Range;
use std::sync::Arc;

/// A part of what a write sends.
#[derive(Clone, Debug)]
pub enum WritePart {
    /// So many of the next bytes of the operation's own buffer, from its start on.
    Buffer(usize),
    /// These bytes of what a piece takes, from where they lie.
    Piece(Arc<MemoryPiece>, Range<usize>),
}

impl WritePart {
    /// How many bytes it is.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Buffer(bytes) => *bytes,
            Self::Piece(_, range) => range.len(),
        }
    }
}

/// The parts of one write, as the kernel takes them (writev(2)), and what keeps their memory.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    parts: Vec<WritePart>,
    vectors: Vec<iovec>,
}

/// The same entry for these vectors, which stay where they are until the entry has completed.
#[inline]
pub(crate) fn vectored_entry(mut entry: io_uring_sqe, opcode: IoringOp, vectors: &[iovec]) -> io_uring_sqe {
    entry.opcode = opcode;
    entry.addr_or_splice_off_in =
        addr_or_splice_off_in_union { addr: io_uring_ptr::new(vectors.as_ptr().cast_mut().cast()) };
    entry.len = len_union { len: vectors.len() as u32 };
    entry
}

impl Ring {
    /// What was gathered for a transfer of this buffer.
    #[inline]
    pub(crate) fn gathered_for(&self, fixed: IoringOp, buffer: u32) -> Option<&[iovec]> {
        let gathered = self.gathered.get(buffer as usize).filter(|_| fixed == IoringOp::WriteFixed)?;
        (!gathered.vectors.is_empty()).then_some(&gathered.vectors[..])
    }

    /// A write has ended, or will not be: its pieces are given back.
    #[inline]
    pub(crate) fn ungather(&mut self, buffer: u32) {
        if let Some(gathered) = self.gathered.get_mut(buffer as usize) {
            gathered.parts.clear();
            gathered.vectors.clear();
        }
    }

    /// Has the next write of this buffer send these parts, one behind the other; they are taken, and their pieces kept until it has
    /// succeeded, or the buffer is used for something else. Whether it was possible.
    pub fn gather(&mut self, buffer: u32, parts: &mut Vec<WritePart>) -> bool {
        // An operation in flight names what is there.
        if self.buffer_mut(buffer).is_none() {
            return false;
        }
        let own = |part: &WritePart| matches!(part, WritePart::Buffer(_)).then(|| part.bytes());
        if parts.iter().filter_map(own).fold(0, usize::saturating_add) > self.pool.buffer_bytes() {
            return false;
        }
        let start = self.pool.address(buffer);
        if self.gathered.is_empty() {
            self.gathered.resize_with(self.pool.count() as usize, Gathered::default);
        }
        let gathered = &mut self.gathered[buffer as usize];
        let mut used = 0;
        for part in parts.drain(..) {
            let (iov_base, iov_len) = match &part {
                WritePart::Buffer(bytes) => {
                    used += bytes;
                    // SAFETY: within the buffer: all such parts together are no longer than it.
                    (unsafe { start.add(used - bytes) }, *bytes)
                }
                // The kernel only reads from it, and the piece is kept as long as it may.
                WritePart::Piece(piece, range) => (piece.taken(range.clone()).as_ptr().cast_mut(), range.len()),
            };
            gathered.vectors.push(iovec { iov_base: iov_base.cast(), iov_len });
            gathered.parts.push(part);
        }
        true
    }
}
