//! The memory that holds frames from their arrival until they are durable.
//!
//! It is a number of bytes, not an area: pieces are taken and given back in any order, and those that were given back serve
//! again, so that their pages are there.

use model::Ns;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a frame takes at least, whatever its length.
const MIN_PIECE: usize = 1024;
/// Whoever waits looks at its reason to stop that often.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Memory for frames, bounded.
#[derive(Debug)]
pub struct Ring {
    bytes: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    used: usize,
    most_used: usize,
    /// Pieces that were given back, and their length in all.
    spare: Vec<Vec<u8>>,
    spare_bytes: usize,
}

/// A piece of it. Given back when it is dropped.
#[derive(Debug)]
pub struct Piece {
    bytes: Vec<u8>,
    /// How much of the ring it takes.
    takes: usize,
    ring: Arc<Ring>,
}

impl Ring {
    /// Of so many bytes.
    pub fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { bytes, state: Mutex::default(), freed: Condvar::new() })
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How much of it holds frames, and the most that ever did.
    pub fn used(&self) -> (usize, usize) {
        let state = self.state();
        (state.used, state.most_used)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece of `length` bytes, whose content is of no matter; `None` where there is no room now.
    pub fn take(self: &Arc<Self>, length: usize) -> Option<Piece> {
        let takes = length.max(MIN_PIECE).checked_next_multiple_of(MIN_PIECE)?;
        let mut state = self.state();
        if state.used.checked_add(takes)? > self.bytes {
            return None;
        }
        state.used += takes;
        state.most_used = state.most_used.max(state.used);
        let fits = |spare: &Vec<u8>| (takes..=takes.saturating_mul(2)).contains(&spare.capacity());
        let mut bytes = match state.spare.iter().rposition(fits) {
            Some(at) => {
                let bytes = state.spare.swap_remove(at);
                state.spare_bytes -= bytes.capacity();
                bytes
            }
            None => Vec::new(),
        };
        // What lies spare is part of the ring: it makes room.
        let mut released = Vec::new();
        while state.used + state.spare_bytes > self.bytes
            && let Some(spare) = state.spare.pop()
        {
            state.spare_bytes -= spare.capacity();
            released.push(spare);
        }
        drop(state);
        drop(released);
        if bytes.capacity() == 0 {
            bytes.reserve_exact(takes);
        }
        // Only what was never there is made zero.
        bytes.resize(length, 0);
        Some(Piece { bytes, takes, ring: Arc::clone(self) })
    }

    /// The same, waiting for room until `stops`; and how long it waited.
    pub fn wait(self: &Arc<Self>, length: usize, stops: impl Fn() -> bool) -> (Option<Piece>, Ns) {
        if let Some(piece) = self.take(length) {
            return (Some(piece), 0);
        }
        let start = Instant::now();
        let waited = || u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if length.max(MIN_PIECE) > self.bytes {
            return (None, 0);
        }
        while !stops() {
            if let Some(piece) = self.take(length) {
                return (Some(piece), waited());
            }
            let state = self.state();
            if state.used.saturating_add(length + MIN_PIECE) > self.bytes {
                drop(self.freed.wait_timeout(state, POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner));
            }
        }
        (None, waited())
    }
}

impl Piece {
    /// What it holds.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// To be filled.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Keeps only the first bytes.
    pub fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let mut state = self.ring.state();
        state.used -= self.takes;
        if state.used + state.spare_bytes + bytes.capacity() <= self.ring.bytes {
            state.spare_bytes += bytes.capacity();
            state.spare.push(bytes);
        }
        drop(state);
        self.ring.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_its_size_is_ever_used() {
        let ring = Ring::new(10 << 10);
        let (a, b) = (ring.take(4000).unwrap(), ring.take(6 << 10).unwrap());
        assert_eq!((ring.used(), a.bytes().len(), b.bytes().len()), ((10 << 10, 10 << 10), 4000, 6 << 10));
        assert!(ring.take(0).is_none() && ring.take(usize::MAX).is_none());
        drop(a);
        let again = ring.take(3500).unwrap();
        assert_eq!(again.bytes().len(), 3500);
        drop((again, b));
        assert_eq!(ring.used(), (0, 10 << 10));
        assert_eq!(ring.take(10 << 10).unwrap().bytes().len(), 10 << 10);
        let state = ring.state();
        assert!(state.spare_bytes <= ring.bytes && state.used == 0);
    }

    #[test]
    fn whoever_waits_gets_what_is_given_back() {
        let ring = Ring::new(4 << 10);
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
}
