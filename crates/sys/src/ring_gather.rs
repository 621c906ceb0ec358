//! What one write of a ring sends, where that is not all in its own buffer.

use crate::MemoryPiece;
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
struct Gathered {
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

/// What was gathered for each buffer, where anything ever was.
#[derive(Debug, Default)]
pub(crate) struct GatherTable(Vec<Gathered>);

impl GatherTable {
    /// What was gathered for a transfer of this buffer.
    #[inline]
    pub fn of(&self, fixed: IoringOp, buffer: u32) -> Option<&[iovec]> {
        let gathered = self.0.get(buffer as usize).filter(|_| fixed == IoringOp::WriteFixed)?;
        (!gathered.vectors.is_empty()).then_some(&gathered.vectors[..])
    }

    /// A write has ended, or will not be: its pieces are given back.
    #[inline]
    pub fn clear(&mut self, buffer: u32) {
        if let Some(gathered) = self.0.get_mut(buffer as usize) {
            gathered.parts.clear();
            gathered.vectors.clear();
        }
    }

    /// One part more of what a buffer sends, which lies there; `buffers` has the ring.
    pub fn add(&mut self, buffer: u32, part: WritePart, at: *mut u8, buffers: u32) {
        if self.0.is_empty() {
            self.0.resize_with(buffers as usize, Gathered::default);
        }
        let gathered = &mut self.0[buffer as usize];
        gathered.vectors.push(iovec { iov_base: at.cast(), iov_len: part.bytes() });
        gathered.parts.push(part);
    }
}
