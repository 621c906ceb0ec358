//! One mapping of which pieces are taken and given back in any order, to be filled by one thread and written from where they lie by
//! another.
#![allow(unsafe_code)]

use crate::pool::anonymous;
use rustix::mm::munmap;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Memory of a fixed length, in huge pages where there are any. Its pages are there once they have been written.
#[derive(Debug)]
pub struct MemoryArea {
    mapping: NonNull<u8>,
    mapped_bytes: usize,
    base: NonNull<u8>,
    bytes: usize,
    state: Mutex<AreaState>,
    freed: Condvar,
}

/// What of it is free.
#[derive(Debug, Default)]
struct AreaState {
    /// Free ranges: length by start. None touches the next.
    free: BTreeMap<usize, usize>,
    used: usize,
    most_used: usize,
    /// Threads that wait for room: where there are none nobody is woken.
    waiting: usize,
}

/// A piece of an area, of one owner, or of several who only read it. Given back when it is dropped.
#[derive(Debug)]
pub struct MemoryPiece {
    area: Arc<MemoryArea>,
    start: usize,
    length: usize,
    /// How much of the area it takes, a multiple of `unit`.
    takes: usize,
    unit: usize,
}

// SAFETY: the address of a private mapping, in which each piece alone has its own range; the state has a lock.
unsafe impl Send for MemoryArea {}
// SAFETY: as above.
unsafe impl Sync for MemoryArea {}

impl AreaState {
    /// The first free range that has room for so many bytes, which become used: the lowest, so that few pages serve again and again.
    fn take(&mut self, bytes: usize, unit: usize) -> Option<usize> {
        let fits = |(start, length): (&usize, &usize)| {
            let first = start.checked_next_multiple_of(unit)?;
            (first - start)
                .checked_add(bytes)
                .is_some_and(|needed| needed <= *length)
                .then_some((*start, *length, first))
        };
        let (start, length, first) = self.free.iter().find_map(fits)?;
        self.free.remove(&start);
        let end = first + bytes;
        if first > start {
            self.free.insert(start, first - start);
        }
        if end < start + length {
            self.free.insert(end, start + length - end);
        }
        self.used += bytes;
        self.most_used = self.most_used.max(self.used);
        Some(first)
    }

    fn give_back(&mut self, mut start: usize, mut bytes: usize) {
        self.used -= bytes;
        if let Some(behind) = self.free.remove(&(start + bytes)) {
            bytes += behind;
        }
        if let Some((&before, &length)) = self.free.range(..start).next_back()
            && before + length == start
        {
            (start, bytes) = (before, length + bytes);
        }
        self.free.insert(start, bytes);
    }
}

impl MemoryArea {
    /// Of so many bytes, at least 1.
    ///
    /// # Errors
    /// What mmap(2) says (`ENOMEM`).
    pub fn new(bytes: usize) -> io::Result<Arc<Self>> {
        let bytes = bytes.max(1);
        let room = bytes.checked_next_multiple_of(rustix::param::page_size()).filter(|n| *n <= isize::MAX as usize / 2);
        let room = room.ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let (mapping, mapped_bytes, base, _) = anonymous(room, rustix::param::page_size(), true)?;
        let free = BTreeMap::from([(0, bytes)]);
        let state = Mutex::new(AreaState { free, ..AreaState::default() });
        Ok(Arc::new(Self { mapping, mapped_bytes, base, bytes, state, freed: Condvar::new() }))
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How much of it is taken, and the most that ever was.
    pub fn used(&self) -> (usize, usize) {
        let state = self.state();
        (state.used, state.most_used)
    }

    fn state(&self) -> MutexGuard<'_, AreaState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece of `length` bytes, whose content is of no matter. It starts on a multiple of `unit`, a power of two up to the size of
    /// a page, and takes a multiple of it. `None` where there is no room for it, now or ever, within the time.
    pub fn take(self: &Arc<Self>, length: usize, unit: usize, wait: Duration) -> Option<MemoryPiece> {
        assert!(unit.is_power_of_two() && unit <= rustix::param::page_size(), "a unit of {unit} bytes");
        let takes = length.max(1).checked_next_multiple_of(unit).filter(|takes| *takes <= self.bytes)?;
        let piece = |start| MemoryPiece { area: Arc::clone(self), start, length, takes, unit };
        let mut state = self.state();
        if let Some(start) = state.take(takes, unit) {
            return Some(piece(start));
        }
        let end = Instant::now().checked_add(wait).filter(|_| !wait.is_zero())?;
        state.waiting += 1;
        let mut start = None;
        while let (None, Some(left)) = (start, end.checked_duration_since(Instant::now())) {
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            start = state.take(takes, unit);
        }
        state.waiting -= 1;
        start.map(piece)
    }

    fn give_back(&self, start: usize, bytes: usize) {
        let mut state = self.state();
        state.give_back(start, bytes);
        let waits = state.waiting > 0;
        drop(state);
        if waits {
            self.freed.notify_all();
        }
    }
}

impl Drop for MemoryArea {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours; each piece keeps the area, so none is left. The kernel reads from pieces only that a ring has.
        let _ = unsafe { munmap(self.mapping.as_ptr().cast::<c_void>(), self.mapped_bytes) };
    }
}

impl MemoryPiece {
    /// What it holds.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the range lies within the mapping, is readable and initialised by the kernel, and is this piece's alone.
        unsafe { std::slice::from_raw_parts(self.address(0), self.length) }
    }

    /// To be filled.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; self is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.address(0), self.length) }
    }

    /// Keeps only the first bytes; the rest is given back.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
        let takes = self.length.max(1).next_multiple_of(self.unit);
        if takes < self.takes {
            self.area.give_back(self.start + takes, self.takes - takes);
            self.takes = takes;
        }
    }

    /// Makes zeros of what it takes beyond its length; how much it takes.
    pub fn clear_rest(&mut self) -> usize {
        // SAFETY: as in `bytes_mut`, for what the piece takes beyond its length.
        unsafe { std::ptr::write_bytes(self.address(self.length), 0, self.takes - self.length) };
        self.takes
    }

    /// How much of the area it takes: a multiple of its unit.
    pub fn takes(&self) -> usize {
        self.takes
    }

    /// So many bytes of what it takes, also beyond its length.
    ///
    /// # Panics
    /// They are not all within.
    pub fn taken(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.takes, "{range:?} of {}", self.takes);
        // SAFETY: checked above; else as in `bytes`.
        unsafe { std::slice::from_raw_parts(self.address(range.start), range.len()) }
    }

    /// Where a byte of what it takes lies.
    fn address(&self, at: usize) -> *mut u8 {
        // SAFETY: start and takes lie within the mapping, and no caller asks for more than it takes.
        unsafe { self.area.base.as_ptr().add(self.start + at) }
    }
}

impl Drop for MemoryPiece {
    fn drop(&mut self) {
        self.area.give_back(self.start, self.takes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    #[test]
    fn pieces_lie_apart_aligned_and_become_one_again() {
        let area = MemoryArea::new(64 << 10).unwrap();
        let mut pieces: Vec<MemoryPiece> =
            (0..12).map_while(|n| area.take(3000 + n, [1024, 4096][n % 2], NOW)).collect();
        assert!(pieces.len() > 8);
        for (n, piece) in pieces.iter_mut().enumerate() {
            assert!(piece.bytes().as_ptr().addr().is_multiple_of([1024, 4096][n % 2]));
            piece.bytes_mut().fill(n as u8);
        }
        for (n, piece) in pieces.iter().enumerate() {
            assert!(piece.bytes().iter().all(|b| *b == n as u8) && piece.bytes().len() == 3000 + n);
        }
        while !pieces.is_empty() {
            pieces.swap_remove(pieces.len() / 2);
        }
        assert_eq!((area.used().0, &area.state().free), (0, &BTreeMap::from([(0, 64 << 10)])));
        assert!(area.take((64 << 10) + 1, 1, NOW).is_none() && area.take(usize::MAX, 4096, NOW).is_none());
        assert_eq!(area.take(64 << 10, 4096, NOW).unwrap().bytes().len(), 64 << 10);
    }

    #[test]
    fn what_is_cut_off_is_given_back_and_the_rest_of_a_unit_is_zeros() {
        let area = MemoryArea::new(16 << 10).unwrap();
        let mut piece = area.take(16 << 10, 4096, NOW).unwrap();
        piece.bytes_mut().fill(7);
        piece.truncate(5000);
        assert_eq!((piece.clear_rest(), piece.takes(), area.used()), (8192, 8192, (8192, 16 << 10)));
        assert_eq!((piece.taken(4999..5001), piece.taken(8191..8192)), (&[7, 0][..], &[0][..]));
        assert!(area.take(8192, 4096, NOW).is_some());
        assert!(std::panic::catch_unwind(|| piece.taken(0..8193).len()).is_err());
    }

    #[test]
    fn whoever_waits_gets_what_is_given_back() {
        let area = MemoryArea::new(8 << 10).unwrap();
        let all = area.take(8 << 10, 4096, NOW).unwrap();
        let waiter = std::thread::spawn({
            let area = Arc::clone(&area);
            move || area.take(5000, 4096, Duration::from_secs(60))
        });
        std::thread::sleep(Duration::from_millis(20));
        drop(all);
        assert_eq!(waiter.join().unwrap().unwrap().bytes().len(), 5000);
    }

    /// Pieces of any length, taken and given back in any order: none overlaps another.
    #[test]
    fn any_order_of_taking_and_giving_back() {
        let area = MemoryArea::new(1 << 20).unwrap();
        let mut random = model_of_order(0x5eed);
        let mut held: Vec<(MemoryPiece, u8)> = Vec::new();
        for step in 0..20_000u32 {
            let drawn = random();
            if drawn.is_multiple_of(3) && !held.is_empty() {
                let (piece, mark) = held.swap_remove(drawn as usize / 3 % held.len());
                assert!(piece.bytes().iter().all(|b| *b == mark), "step {step}");
            } else if let Some(mut piece) = area.take((drawn >> 8) as usize % 40_000, 1 << (drawn % 13), NOW) {
                piece.bytes_mut().fill(step as u8);
                held.push((piece, step as u8));
            }
        }
        let used: usize = held.iter().map(|(piece, _)| piece.takes()).sum();
        assert_eq!(area.used().0, used);
        drop(held);
        assert_eq!((area.used().0, area.state().free.len()), (0, 1));
    }

    /// Marsaglia's xorshift.
    fn model_of_order(mut state: u64) -> impl FnMut() -> u64 {
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        }
    }
}
