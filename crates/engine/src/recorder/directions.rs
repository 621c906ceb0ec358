//! What a stream of several directions did, direction by direction.

use model::{Direction, Histogram, Ns};

/// One direction of one stream, as a worker recorded it.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionRecord {
    /// Which.
    pub direction: Direction,
    /// Operations that succeeded, warm-up included.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes after the warm-up cut.
    pub counted_bytes: u64,
    /// Latencies after the warm-up cut.
    pub latency: Histogram,
}

/// The directions of a stream; each takes its histograms when it is announced.
#[derive(Debug, Default)]
pub(super) struct Directions {
    sides: Vec<Side>,
}

#[derive(Debug)]
struct Side {
    direction: Direction,
    bytes: u64,
    warm_bytes: u64,
    warm: Histogram,
    counted: Histogram,
}

impl Directions {
    pub fn new(directions: &[Direction]) -> Self {
        let side = |&direction: &Direction| Side {
            direction,
            bytes: 0,
            warm_bytes: 0,
            warm: Histogram::new(),
            counted: Histogram::new(),
        };
        Self { sides: directions.iter().map(side).collect() }
    }

    /// An operation ended; `warm`: before the cut.
    #[inline]
    pub fn ended(&mut self, direction: Direction, latency: Ns, bytes: u32, warm: bool) {
        let Some(side) = self.sides.iter_mut().find(|s| s.direction == direction) else { return };
        side.bytes += u64::from(bytes);
        if warm {
            side.warm.record(latency);
            side.warm_bytes += u64::from(bytes);
        } else {
            side.counted.record(latency);
        }
    }

    /// `uncut`: the phase ended before the cut, and nothing is left out.
    pub fn finish(self, uncut: bool) -> Vec<DirectionRecord> {
        let record = |side: Side| DirectionRecord {
            direction: side.direction,
            operations: side.warm.count() + side.counted.count(),
            bytes: side.bytes,
            counted_bytes: if uncut { side.bytes } else { side.bytes - side.warm_bytes },
            latency: if uncut { side.warm } else { side.counted },
        };
        self.sides.into_iter().map(record).collect()
    }
}
