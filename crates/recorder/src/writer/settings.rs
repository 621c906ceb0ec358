//! How a recording is written, and when each frame was.

use crate::container::{Geometry, Identity, Pins, SharedPins};
use model::{IoPriority, Ns};
use std::fmt::Debug;
use std::sync::Arc;

/// Makes a growing container longer before it is written to.
pub trait SpaceProvider: Debug + Send + Sync {
    /// Whether there is room for so many segments from the container's start on, got now where it was not there before.
    fn ensure(&self, segments: u64) -> bool;
}

/// How a recording is written.
#[derive(Clone, Debug)]
pub struct WriterSettings {
    /// The container, and this opening of it.
    pub identity: Identity,
    /// Where segments and blocks lie.
    pub geometry: Geometry,
    /// The number of the first segment.
    pub next_segment: u64,
    /// The number of the first batch.
    pub next_batch: u64,
    /// How old a frame may be when it is acknowledged, the flush apart.
    pub max_latency_ns: Ns,
    /// Size of the ring.
    pub ring_bytes: u64,
    /// Nanoseconds since 1970 at the start of the device's clock.
    pub clock_start_ns: u64,
    /// Bytes of an operation at most: the size of the device's buffers.
    pub piece_bytes: u64,
    /// Priority of the writes.
    pub priority: Option<IoPriority>,
    /// What is not overwritten, as it is from moment to moment.
    pub pins: SharedPins,
    /// Whether it is kept when each frame was written.
    pub keep_times: bool,
    /// Where more room comes from, for a container that grows.
    pub room: Option<Arc<dyn SpaceProvider>>,
}

/// Of so many frames it is kept, from the first on.
pub const MAX_FRAME_TIMES: usize = 100_000;

/// When a frame came, and when all of it was written, by the device's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTime {
    /// Whole, in the ring.
    pub arrived: Ns,
    /// The call or the operation that wrote the last of it has returned.
    pub written: Ns,
}

impl WriterSettings {
    /// Segments that what is not acknowledged may lie in.
    pub(super) fn segments_in_flight(&self) -> u32 {
        // Of a segment less than half stays empty: no batch is longer than that.
        let segments = self.ring_bytes.div_ceil(self.geometry.segment_bytes / 2) + 2;
        u32::try_from(segments).unwrap_or(u32::MAX)
    }

    /// The segment that comes next, from this number on; `None` where those that are not pinned are too few for what may be in
    /// flight.
    pub(super) fn next_unpinned(&self, from: u64, pins: &Pins) -> Option<u64> {
        let segments = self.geometry.segments;
        if pins.segments() > 0 && segments.saturating_sub(pins.segments()) <= u64::from(self.segments_in_flight()) {
            return None;
        }
        (from..from + segments).find(|segment| !pins.pins_slot_of(*segment, segments))
    }

    /// The largest ring for which what is not acknowledged never lies where it would be overwritten.
    pub fn most_ring_bytes(geometry: &Geometry, pins: &Pins) -> u64 {
        let segments = geometry.segments.saturating_sub(pins.segments());
        segments.saturating_sub(2) * (geometry.segment_bytes / 4)
    }
}
