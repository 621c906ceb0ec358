//! The memory of frames that wait for the writer: how large it is, and how full.

use model::Failure;
use observe::Root;
use recorder::{Geometry, Pins, Ring, WriterSettings};
use std::sync::Arc;

/// The ring has so much, unless memory is short, or it is said otherwise.
const USUAL_RING_BYTES: u64 = 256 << 20;
/// Of what memory is available the ring takes one part in so many.
const RING_SHARE: u64 = 4;
/// A smaller ring holds no batch.
pub(crate) const LEAST_RING_BYTES: u64 = 2 << 20;

/// How much of the ring holds frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingLevel {
    pub used_bytes: u64,
    pub size_bytes: u64,
}

impl RingLevel {
    /// In percent of its size.
    pub fn percent(self) -> u64 {
        100 * self.used_bytes / self.size_bytes.max(1)
    }
}

/// How large the ring is, of what was asked for: it holds no more than the container can take.
///
/// # Errors
/// Too little was asked for, or is left to record in.
pub(crate) fn ring_bytes(asked: Option<u64>, geometry: &Geometry, pins: &Pins) -> Result<u64, Failure> {
    let most = WriterSettings::most_ring_bytes(geometry, pins);
    if most < LEAST_RING_BYTES && !pins.is_empty() {
        let what =
            format!("{} of {} segments are pinned: too few are left to record in", pins.segments(), geometry.segments);
        return Err(Failure::refused(what).remedy("narrows record unpin"));
    }
    let available = observe::memory_available(&Root::new("/")).map_or(USUAL_RING_BYTES, |n| n / RING_SHARE);
    let usual = USUAL_RING_BYTES.min(available).max(LEAST_RING_BYTES);
    let bytes = asked.unwrap_or(usual).min(most);
    if asked.is_some_and(|asked| asked < LEAST_RING_BYTES) {
        return Err(Failure::usage("--ring: a ring has 2 MiB or more"));
    }
    Ok(bytes)
}

/// The memory of frames.
pub(crate) fn ring(bytes: u64) -> Result<Arc<Ring>, Failure> {
    let failed = |e| {
        let what = format!("a ring of {}: {e}", model::bytes_text(bytes));
        Failure::environment(what).remedy("give it less memory, for example --ring 16MB")
    };
    Ring::new(usize::try_from(bytes).unwrap_or(usize::MAX)).map_err(failed)
}

pub(crate) fn level(ring: &Ring, size_bytes: u64) -> RingLevel {
    RingLevel { used_bytes: ring.used().0 as u64, size_bytes }
}
