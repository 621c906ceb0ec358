//! Parts of a write in one buffer, for devices that write from one place only.

use sys::WritePart;

/// Puts the parts together in the buffer, whose first bytes are those of [`WritePart::Buffer`], and takes them.
///
/// # Panics
/// The parts are longer than the buffer.
pub(crate) fn put_together(buffer: &mut [u8], parts: &mut Vec<WritePart>) {
    let mut end: usize = parts.iter().map(WritePart::bytes).sum();
    let mut own: usize = parts.iter().filter(|part| matches!(part, WritePart::Buffer(_))).map(WritePart::bytes).sum();
    // From the last to the first: nothing that is still to be moved lies where something is put.
    while let Some(part) = parts.pop() {
        let start = end - part.bytes();
        match part {
            WritePart::Buffer(bytes) => {
                own -= bytes;
                buffer.copy_within(own..own + bytes, start);
            }
            WritePart::Piece(piece, range) => buffer[start..end].copy_from_slice(piece.taken(range)),
        }
        end = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;
    use sys::MemoryArea;

    #[test]
    fn parts_lie_one_behind_the_other() {
        let area = MemoryArea::new(4096).unwrap();
        let mut piece = area.take(1000, 512, Duration::ZERO).unwrap();
        piece.bytes_mut().fill(2);
        piece.clear_rest();
        let piece = Arc::new(piece);
        let mut buffer = vec![0; 4096];
        buffer[..512].fill(1);
        buffer[512..1024].fill(3);
        let mut parts = vec![
            WritePart::Buffer(512),
            WritePart::Piece(Arc::clone(&piece), 0..1024),
            WritePart::Buffer(512),
            WritePart::Piece(piece, 512..1024),
        ];
        put_together(&mut buffer, &mut parts);
        assert_eq!((parts.len(), area.used().0), (0, 0));
        let rest = [vec![2; 488], vec![0; 24]].concat();
        assert_eq!(buffer[..2560], [vec![1; 512], vec![2; 1000], vec![0; 24], vec![3; 512], rest].concat());
    }
}
