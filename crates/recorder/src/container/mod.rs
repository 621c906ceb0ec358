//! The container: the same bytes on a raw device and in a preallocated file (docs/design/container.md).
//!
//! Pure: bytes in, values out. Every record has a CRC32C and names the container and the opening that it belongs to, so that
//! what an older recording left at the same place is never taken for one of this.

mod batch;
mod fields;
mod geometry;
mod pins;
mod segment;
mod superblock;
#[cfg(test)]
mod vectors_tests;

pub use batch::{BatchHeader, ENTRY_BYTES, Entry, FrameEntry, HEADER_BYTES, Loss, PayloadLocation, introduction};
pub use fields::RECORD_BYTES;
use fields::{FieldReader, FieldWriter};
pub use geometry::{BLOCK_BYTES, Geometry, SEGMENT_UNIT, WhenFull};
pub use pins::{MAX_PINS, Pins, SharedPins};
pub(crate) use segment::line;
pub use segment::{MAX_STREAMS, SegmentFooter, SegmentHeader, SegmentStream};
pub use superblock::Superblock;

/// Version of the format.
pub const VERSION: u32 = 1;
/// Version of a superblock that has pins: who does not know them must not overwrite what they keep.
const PINNED_VERSION: u32 = 2;
/// Version of a superblock of a container whose file may be shorter: who does not know that takes it for damaged.
const NEWEST_VERSION: u32 = 3;
/// Numbers of segments and batches stay below this: at a million a second for thirty thousand years.
const MAX_NUMBER: u64 = 1 << 60;
/// Longer names are cut.
const MAX_NAME_BYTES: usize = 60;

/// Whether numbers of segments, batches and frames may be such.
fn are_numbers(numbers: &[u64]) -> bool {
    numbers.iter().all(|number| *number < MAX_NUMBER)
}

/// Why something is no container, or not one for us.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContainerError {
    /// There is no superblock, and no segment either.
    #[error("it holds no recording")]
    None,
    /// It was written by a later program.
    #[error("the recording has format version {found}; this program reads and writes versions up to {NEWEST_VERSION}")]
    Version {
        /// Version that the container has.
        found: u32,
    },
    /// Four segments have no room.
    #[error("{bytes} bytes are too few: {needed} are needed")]
    TooSmall {
        /// What is there.
        bytes: u64,
        /// What would do.
        needed: u64,
    },
    /// The target is shorter than the container.
    #[error("it has {found} bytes, and the recording {expected}: the rest is missing")]
    Cut {
        /// What is there.
        found: u64,
        /// What the container has.
        expected: u64,
    },
}

/// Which container a record belongs to, and which of its openings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Drawn by lot when it was made.
    pub uuid: [u8; 16],
    /// Counts the times that it was opened for recording, from 1.
    pub epoch: u32,
}

impl Identity {
    fn put<'a>(&self, into: FieldWriter<'a>) -> FieldWriter<'a> {
        into.bytes(&self.uuid).u32(self.epoch)
    }

    fn get(from: &mut FieldReader<'_>) -> Self {
        Self { uuid: from.array(), epoch: from.u32() }
    }
}

/// What the frames of a stream are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameKind {
    /// Bytes of which nothing is known.
    #[default]
    Opaque,
    /// JPEG pictures.
    Jpeg,
}

model::names! { FrameKind { Opaque = "opaque", Jpeg = "jpeg" } }

/// A stream, as the container knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamName {
    /// Number of the stream in its container.
    pub stream: u16,
    /// What its frames are.
    pub kind: FrameKind,
    /// What it is called; at most 60 bytes are kept.
    pub name: String,
}

impl StreamName {
    fn put<'a>(&self, into: FieldWriter<'a>) -> FieldWriter<'a> {
        let mut length = self.name.len().min(MAX_NAME_BYTES);
        while !self.name.is_char_boundary(length) {
            length -= 1;
        }
        into.u16(self.stream)
            .u8(u8::from(self.kind == FrameKind::Jpeg))
            .u8(length as u8)
            .bytes(&self.name.as_bytes()[..length])
    }

    fn get(from: &mut FieldReader<'_>) -> Option<Self> {
        let stream = from.u16();
        let kind = from.u8();
        let length = usize::from(from.u8());
        let kind = match kind {
            0 => FrameKind::Opaque,
            1 => FrameKind::Jpeg,
            _ => return None,
        };
        let bytes: [u8; MAX_NAME_BYTES] = from.array();
        let name = std::str::from_utf8(bytes.get(..length)?).ok()?.to_owned();
        Some(Self { stream, kind, name })
    }

    /// What the payload of [`Entry::Stream`] says.
    pub fn introduced(payload: &[u8]) -> Option<Self> {
        Self::get(&mut FieldReader::from(payload))
    }
}
