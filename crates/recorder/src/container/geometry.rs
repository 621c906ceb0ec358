//! Where the parts of a container lie.

use super::{ContainerError, FieldReader, FieldWriter};

/// Records and batches begin on multiples of this, at least.
pub const BLOCK_BYTES: u64 = 4096;
/// Segments are that long where nothing asks for another length.
const USUAL_SEGMENT_BYTES: u64 = 64 << 20;
/// Where the first segment begins: room for what others put at the start of a device.
const FIRST_SEGMENT: u64 = 1 << 20;
/// Segments begin at multiples of this: so they are found where both superblocks are gone.
pub const SEGMENT_UNIT: u64 = 64 << 10;
/// A shorter segment holds no batch worth the name.
const MIN_SEGMENT_BYTES: u64 = 256 << 10;
/// A container has so many segments or more, where nothing asks for longer ones.
const USUAL_SEGMENTS: u64 = 16;
/// Fewer segments are no ring.
const MIN_SEGMENTS: u64 = 4;
/// A container that grows is said to have so much: no file is that long.
const GROWING_BYTES: u64 = 1 << 60;
/// A segment holds this many of the largest frames.
const FRAMES_A_SEGMENT: u64 = 4;

/// What happens at the end of the container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// Recording stops.
    #[default]
    Stop,
    /// The oldest segment is overwritten.
    Wrap,
}

model::names! { WhenFull { Stop = "stop", Wrap = "wrap" } }

/// Sizes and places of a container, bytes. They never change during its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Unit of all places: 4096, or the logical block of the device where that is larger.
    pub block_bytes: u64,
    /// Length of the container.
    pub container_bytes: u64,
    /// Length of each segment.
    pub segment_bytes: u64,
    /// Where segment 0 begins.
    pub first_segment: u64,
    /// How many there are.
    pub segments: u64,
    /// What happens when all are full.
    pub when_full: WhenFull,
}

impl Geometry {
    /// Of a container of at most `bytes` for frames of at most `largest_frame` bytes, on a device of `logical_block` bytes.
    /// Without an own length, segments have 64 MiB, or less where the container is small.
    ///
    /// # Errors
    /// [`ContainerError::TooSmall`] where four segments have no room.
    pub fn fit(
        bytes: u64,
        logical_block: u64,
        largest_frame: u64,
        segment_bytes: Option<u64>,
        when_full: WhenFull,
    ) -> Result<Self, ContainerError> {
        let block_bytes = logical_block.max(BLOCK_BYTES).next_power_of_two();
        let container_bytes = bytes / block_bytes * block_bytes;
        let first_segment = FIRST_SEGMENT.max(block_bytes);
        // The second superblock lies in the last block.
        let room = container_bytes.saturating_sub(first_segment + block_bytes);
        let unit = block_bytes.max(SEGMENT_UNIT);
        let largest_segment = room / MIN_SEGMENTS / unit * unit;
        let least = (largest_frame.saturating_mul(FRAMES_A_SEGMENT)).max(MIN_SEGMENT_BYTES);
        let least = least.checked_next_multiple_of(unit).unwrap_or(u64::MAX);
        let usual = (room / USUAL_SEGMENTS / unit * unit).min(USUAL_SEGMENT_BYTES);
        let segment_bytes = segment_bytes.map_or(usual, |n| n / unit * unit).max(least);
        if segment_bytes > largest_segment {
            let needed = MIN_SEGMENTS.saturating_mul(segment_bytes).saturating_add(first_segment + block_bytes);
            return Err(ContainerError::TooSmall { bytes, needed });
        }
        let segments = room / segment_bytes;
        Ok(Self { block_bytes, container_bytes, segment_bytes, first_segment, segments, when_full })
    }

    /// The same places, without an end: of a container that takes more room as it needs it.
    pub fn growing(self) -> Self {
        let segments = GROWING_BYTES.div_ceil(self.segment_bytes);
        let grown = Self { segments, ..self };
        Self { container_bytes: grown.bytes_of(segments), ..grown }
    }

    /// Whether it takes room as it needs it.
    pub fn grows(&self) -> bool {
        self.container_bytes >= GROWING_BYTES
    }

    /// Length of a container of so many segments.
    pub fn bytes_of(&self, segments: u64) -> u64 {
        self.first_segment + segments * self.segment_bytes + self.block_bytes
    }

    /// Where the segment of this number begins.
    pub fn offset_of(&self, segment: u64) -> u64 {
        self.first_segment + segment % self.segments * self.segment_bytes
    }

    /// Where the superblock has its second copy.
    pub fn second_superblock(&self) -> u64 {
        self.container_bytes - self.block_bytes
    }

    /// The longest frame that is taken.
    pub fn largest_frame(&self) -> u64 {
        self.segment_bytes / FRAMES_A_SEGMENT
    }

    /// Rounded up to whole blocks.
    pub fn blocks(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.block_bytes)
    }

    pub(super) fn put<'a>(&self, into: FieldWriter<'a>) -> FieldWriter<'a> {
        into.u64(self.block_bytes)
            .u64(self.container_bytes)
            .u64(self.segment_bytes)
            .u64(self.first_segment)
            .u64(self.segments)
            .u32(u32::from(self.when_full == WhenFull::Wrap))
    }

    /// What a record says, if it can be so.
    pub(super) fn get(from: &mut FieldReader<'_>) -> Option<Self> {
        let [block_bytes, container_bytes, segment_bytes, first_segment, segments] = [(); 5].map(|()| from.u64());
        let when_full = match from.u32() {
            0 => WhenFull::Stop,
            1 => WhenFull::Wrap,
            _ => return None,
        };
        let geometry = Self { block_bytes, container_bytes, segment_bytes, first_segment, segments, when_full };
        let whole = |n: u64| n > 0 && block_bytes > 0 && n.is_multiple_of(block_bytes);
        let possible = block_bytes.is_power_of_two()
            && (BLOCK_BYTES..=1 << 24).contains(&block_bytes)
            && whole(container_bytes)
            && whole(segment_bytes)
            && whole(first_segment)
            && segment_bytes >= 4 * block_bytes
            && segments > 0
            && segments
                .checked_mul(segment_bytes)
                .and_then(|n| n.checked_add(first_segment)?.checked_add(block_bytes))
                .is_some_and(|end| end <= container_bytes);
        possible.then_some(geometry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_grows_whatever_its_segments_are() {
        for segment_bytes in [MIN_SEGMENT_BYTES, 3 * SEGMENT_UNIT * 5, 1_022 * SEGMENT_UNIT, 66_977_792] {
            let plain = Geometry {
                block_bytes: 4096,
                container_bytes: 1 << 30,
                segment_bytes,
                first_segment: 1 << 20,
                segments: 16,
                when_full: WhenFull::Stop,
            };
            assert!(!plain.grows() && plain.growing().grows(), "{segment_bytes}");
        }
    }

    #[test]
    fn segments_fit_the_container_and_the_frames() {
        let of = |bytes, frame| Geometry::fit(bytes, 512, frame, None, WhenFull::Stop);
        let large = of(1 << 40, 1 << 20).unwrap();
        assert_eq!((large.segment_bytes, large.block_bytes), (64 << 20, 4096));
        assert!(large.offset_of(large.segments - 1) + large.segment_bytes <= large.second_superblock());
        assert_eq!(large.offset_of(large.segments), large.first_segment);
        assert_eq!(of(1 << 30, 32 << 20).unwrap().segment_bytes, 128 << 20);
        let small = of(16 << 20, 1000).unwrap();
        assert_eq!((small.segment_bytes, small.segments), (14 << 16, 17));
        assert!(matches!(of(1 << 20, 1000), Err(ContainerError::TooSmall { .. })));
        assert!(matches!(of(64 << 20, 32 << 20), Err(ContainerError::TooSmall { .. })));
        assert!(matches!(of(64 << 20, u64::MAX), Err(ContainerError::TooSmall { .. })));
        let wide = Geometry::fit(1 << 30, 16384, 1000, None, WhenFull::Wrap).unwrap();
        assert_eq!((wide.block_bytes, wide.second_superblock() % 16384), (16384, 0));
    }
}
