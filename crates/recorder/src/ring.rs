//! The memory that holds frames from their arrival until they are durable, and from which they are written.

use model::Ns;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sys::{MemoryArea, MemoryPiece};

/// What a frame takes at least, whatever its length.
const MIN_PIECE: usize = 1024;
/// Frames from this length on are written from where they lie: each starts on a block, in memory and in the container, for at most
/// a sixteenth more of both. Of shorter ones copying costs less than a part of their own of a write.
pub const LENT_BYTES: usize = 64 << 10;
/// The blocks that they start on, also as far as their memory is concerned (O_DIRECT).
pub(crate) const LENT_UNIT: usize = 4096;
/// Whoever waits looks at its reason to stop that often.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A piece of it. Given back when it is dropped.
pub type Piece = MemoryPiece;

/// Memory for frames, bounded.
#[derive(Debug)]
pub struct Ring(Arc<MemoryArea>);

/// What a frame's piece starts on a multiple of.
fn unit(length: usize) -> usize {
    if length >= LENT_BYTES { LENT_UNIT } else { MIN_PIECE }
}

impl Ring {
    /// Of so many bytes.
    ///
    /// # Errors
    /// The memory cannot be had.
    pub fn new(bytes: usize) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self(MemoryArea::new(bytes)?)))
    }

    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// How much of it holds frames, and the most that ever did.
    pub fn used(&self) -> (usize, usize) {
        self.0.used()
    }

    /// A piece of `length` bytes, whose content is of no matter; `None` where there is no room now.
    pub fn take(&self, length: usize) -> Option<Piece> {
        self.0.take(length, unit(length), Duration::ZERO)
    }

    /// The same, waiting for room until `stops`; and how long it waited.
    pub fn wait(&self, length: usize, stops: impl Fn() -> bool) -> (Option<Piece>, Ns) {
        if let Some(piece) = self.take(length) {
            return (Some(piece), 0);
        }
        let start = Instant::now();
        let waited = || u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if !self.fits(length) {
            return (None, 0);
        }
        while !stops() {
            if let Some(piece) = self.0.take(length, unit(length), POLL_INTERVAL) {
                return (Some(piece), waited());
            }
        }
        (None, waited())
    }

    /// Whether a frame of this length ever has room.
    pub(crate) fn fits(&self, length: usize) -> bool {
        length.max(1).checked_next_multiple_of(unit(length)).is_some_and(|takes| takes <= self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_its_size_is_ever_used() {
        let ring = Ring::new(10 << 10).unwrap();
        let (a, b) = (ring.take(4000).unwrap(), ring.take(6 << 10).unwrap());
        assert_eq!((ring.used(), a.bytes().len(), b.bytes().len()), ((10 << 10, 10 << 10), 4000, 6 << 10));
        assert!(ring.take(0).is_none() && ring.take(usize::MAX).is_none());
        drop(a);
        let again = ring.take(3500).unwrap();
        assert_eq!(again.bytes().len(), 3500);
        drop((again, b));
        assert_eq!(ring.used(), (0, 10 << 10));
        assert_eq!(ring.take(10 << 10).unwrap().bytes().len(), 10 << 10);
    }

    #[test]
    fn whoever_waits_gets_what_is_given_back() {
        let ring = Ring::new(4 << 10).unwrap();
        let all = ring.take(4 << 10).unwrap();
        let waiter = std::thread::spawn({
            let ring = Arc::clone(&ring);
            move || ring.wait(1000, || false)
        });
        std::thread::sleep(Duration::from_millis(20));
        drop(all);
        let (piece, waited) = waiter.join().unwrap();
        assert!(piece.is_some() && waited >= 1_000_000);
        assert!(ring.wait(5 << 10, || false).0.is_none(), "it never fits");
        let _all = piece;
        let full = ring.take(3 << 10).unwrap();
        assert!(ring.wait(1000, || true).0.is_none());
        drop(full);
    }

    #[test]
    fn what_is_written_from_where_it_lies_starts_on_a_block() {
        let ring = Ring::new(1 << 20).unwrap();
        let _odd = ring.take(1000).unwrap();
        let large = ring.take(LENT_BYTES + 1).unwrap();
        assert!(large.bytes().as_ptr().addr().is_multiple_of(LENT_UNIT) && large.takes().is_multiple_of(LENT_UNIT));
    }
}
