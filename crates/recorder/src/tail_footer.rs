//! Where what a container holds ends: its file can be cut off behind it, and goes on from there.

use crate::container::{RECORD_BYTES, WhenFull};
use crate::read_error::ReadError;
use crate::reader::Container;
use crate::store::Store;

/// What has to stand behind what a container holds before its file is cut off there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TailFooter {
    /// The footer of the last segment, and where it stands then: right behind its batches.
    pub footer: Option<(u64, [u8; RECORD_BYTES])>,
    /// Where the second copy of the superblock stands then, in the last block.
    pub superblock: u64,
    /// How long the file is then.
    pub bytes: u64,
}

impl<S: Store> Container<S> {
    /// The footer of the last segment, and the place in its last block where it stands in a container that is not cut off.
    pub fn last_footer(&self) -> Option<(u64, [u8; RECORD_BYTES])> {
        let last = self.segments().last()?;
        let geometry = self.geometry();
        let at = geometry.offset_of(last.header.segment) + geometry.segment_bytes - geometry.block_bytes;
        Some((at, last.footer.as_ref()?.encode()))
    }

    /// Where it can be cut off; `None` where it cannot: room that is not used is to be kept, or it went round.
    ///
    /// # Errors
    /// The storage failed.
    pub fn tail_footer(&self) -> Result<Option<TailFooter>, ReadError> {
        let geometry = *self.geometry();
        let at_end = |superblock| TailFooter { footer: None, superblock, bytes: superblock + geometry.block_bytes };
        if !self.superblock.gives_back {
            return Ok(None);
        }
        let Some(last) = self.segments().last() else { return Ok(Some(at_end(geometry.first_segment))) };
        if geometry.when_full == WhenFull::Wrap && last.header.segment >= geometry.segments {
            return Ok(None);
        }
        let start = geometry.offset_of(last.header.segment);
        if let Some(footer) = &last.footer {
            let place = start + footer.end.min(geometry.segment_bytes - geometry.block_bytes);
            let ending = at_end(place + geometry.block_bytes);
            return Ok(Some(TailFooter { footer: Some((place, footer.encode())), ..ending }));
        }
        let mut end = start + geometry.block_bytes;
        self.each(last, &mut |batch| end = end.max(batch.offset + geometry.blocks(batch.header.length)))?;
        Ok(Some(at_end(end)))
    }
}
