//! Writes of a ring that are gathered from several places.
#![allow(unsafe_code)]

use crate::{Ring, WritePart};

impl Ring {
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
        let (start, buffers) = (self.pool.address(buffer), self.pool.count());
        let mut used = 0;
        for part in parts.drain(..) {
            let at = match &part {
                WritePart::Buffer(bytes) => {
                    used += bytes;
                    // SAFETY: within the buffer: all such parts together are no longer than it.
                    unsafe { start.add(used - bytes) }
                }
                // The kernel only reads from it, and the piece is kept as long as it may.
                WritePart::Piece(piece, range) => piece.taken(range.clone()).as_ptr().cast_mut(),
            };
            self.gathered.add(buffer, part, at, buffers);
        }
        true
    }
}
