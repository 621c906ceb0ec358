//! The oldest and the newest generation that each unit of a file or device may hold: eight bytes a unit, of which only
//! what is written takes memory.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Units of a chunk: 512 KiB of memory, and 256 MiB of a target with units of 4 KiB.
const CHUNK_UNITS: u64 = 65_536;

/// Generations have 30 bits; a unit that was written more often owes nothing any more.
pub(crate) const LAST_GENERATION: u32 = (1 << 30) - 1;

/// What is known of one unit.
///
/// Bits 0 to 29 the oldest generation that may be there (0: nothing of this run need be), bit 30 that a flush failed after
/// the write, bit 31 that the unit was found wrong and reported; bits 32 to 61 the newest generation that was issued, bit
/// 62 that a write failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry(u64);

const FLUSH_FAILED: u64 = 1 << 30;
const REPORTED: u64 = 1 << 31;
const WRITE_FAILED: u64 = 1 << 62;
const DOUBTS: u64 = FLUSH_FAILED | REPORTED | WRITE_FAILED;

impl Entry {
    #[inline]
    pub fn low(self) -> u32 {
        self.0 as u32 & LAST_GENERATION
    }

    #[inline]
    pub fn high(self) -> u32 {
        (self.0 >> 32) as u32 & LAST_GENERATION
    }

    /// Whether something is owed, and nothing is in doubt: the bits of the lower half but the generation, and the failed
    /// write, are not set.
    #[inline]
    pub fn is_plain(self) -> bool {
        self.0 & DOUBTS == 0 && self.low() > 0
    }

    pub fn write_failed(self) -> bool {
        self.0 & WRITE_FAILED != 0
    }

    pub fn flush_failed(self) -> bool {
        self.0 & FLUSH_FAILED != 0
    }

    pub fn reported(self) -> bool {
        self.0 & REPORTED != 0
    }

    /// Exactly this generation, no doubt.
    #[inline]
    pub fn exactly(generation: u32) -> Self {
        Self(u64::from(generation) << 32 | u64::from(generation))
    }

    #[inline]
    pub fn with_low(self, low: u32) -> Self {
        Self(self.0 & !u64::from(LAST_GENERATION) | u64::from(low & LAST_GENERATION))
    }

    #[inline]
    pub fn with_high(self, high: u32) -> Self {
        Self(self.0 & !(u64::from(LAST_GENERATION) << 32) | u64::from(high & LAST_GENERATION) << 32)
    }

    pub fn with_write_failed(self) -> Self {
        Self(self.0 | WRITE_FAILED)
    }

    pub fn with_flush_failed(self) -> Self {
        Self(self.0 | FLUSH_FAILED)
    }

    pub fn marked_reported(self) -> Self {
        Self(self.0 | REPORTED)
    }
}

/// The units of one file or device. Streams that use different units may share it between threads; two that use the same
/// ones may only both read.
#[derive(Debug, Default)]
pub struct Table {
    unit_bytes: u64,
    chunks: Vec<Option<Box<[AtomicU64]>>>,
}

/// The table would need more memory than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "knowing what {units} units of data must hold takes {needed_bytes} bytes of memory, which cannot be had; verify larger \
     blocks or a smaller region"
)]
pub struct TooManyUnits {
    /// Units asked for.
    pub units: u64,
    /// What they take.
    pub needed_bytes: u64,
}

impl Table {
    /// An empty table of units of so many bytes, the smallest pieces that are written as one.
    ///
    /// # Panics
    /// If a unit is no byte.
    pub fn new(unit_bytes: u64) -> Self {
        assert!(unit_bytes > 0, "a unit has at least one byte");
        Self { unit_bytes, chunks: Vec::new() }
    }

    /// The memory that so many units take at most, in bytes, where they lie in one stretch.
    pub fn bytes(units: u64) -> u64 {
        units.saturating_add(2 * CHUNK_UNITS).saturating_mul(8)
    }

    #[inline]
    pub fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    /// Makes room for the units from `first` to before `end`.
    ///
    /// # Errors
    /// If the memory cannot be had.
    pub fn cover(&mut self, first: u64, end: u64) -> Result<(), TooManyUnits> {
        let units = end.saturating_sub(first);
        if units == 0 {
            return Ok(());
        }
        let refused = TooManyUnits { units, needed_bytes: Self::bytes(units) };
        let chunks = usize::try_from(end.div_ceil(CHUNK_UNITS)).map_err(|_| refused)?;
        if chunks > self.chunks.len() {
            self.chunks.try_reserve_exact(chunks - self.chunks.len()).map_err(|_| refused)?;
            self.chunks.resize_with(chunks, || None);
        }
        for chunk in &mut self.chunks[(first / CHUNK_UNITS) as usize..chunks] {
            if chunk.is_none() {
                let mut units = Vec::new();
                units.try_reserve_exact(CHUNK_UNITS as usize).map_err(|_| refused)?;
                units.resize_with(CHUNK_UNITS as usize, AtomicU64::default);
                *chunk = Some(units.into_boxed_slice());
            }
        }
        Ok(())
    }

    /// Tells smaller pieces apart: `unit_bytes` divides the units so far. Each piece is as its unit was.
    ///
    /// # Errors
    /// If the memory cannot be had; the table is then as it was.
    pub fn refine(&mut self, unit_bytes: u64) -> Result<(), TooManyUnits> {
        let pieces = self.unit_bytes / unit_bytes.max(1);
        if pieces <= 1 || !self.unit_bytes.is_multiple_of(unit_bytes) {
            return Ok(());
        }
        let mut finer = Self::new(unit_bytes);
        for (first, chunk) in self.chunks.iter().enumerate().filter_map(|(i, c)| Some((i as u64, c.as_ref()?))) {
            // Only stretches that hold something, so that the pieces of a nearly empty chunk do not take memory.
            for (i, cell) in chunk.iter().enumerate() {
                let entry = cell.load(Relaxed);
                if entry != 0 {
                    let at = (first * CHUNK_UNITS + i as u64) * pieces;
                    finer.cover(at, at + pieces)?;
                    (at..at + pieces).for_each(|piece| finer.set(piece, Entry(entry)));
                }
            }
        }
        *self = finer;
        Ok(())
    }

    /// The units of these bytes hold a version from `low` to `high`, as somebody remembers who wrote them; 0 for none.
    ///
    /// # Errors
    /// If the memory cannot be had.
    pub fn remember(&mut self, start: u64, end: u64, low: u32, high: u32) -> Result<(), TooManyUnits> {
        let first = start / self.unit_bytes;
        let end = end.div_ceil(self.unit_bytes);
        self.cover(first, end)?;
        let high = high.min(LAST_GENERATION);
        (first..end).for_each(|unit| self.set(unit, Entry::exactly(high).with_low(low.min(high))));
        Ok(())
    }

    /// The bytes from `start` to before `end` were written, or taken away, in a way that nothing is known of: their units
    /// owe nothing until they are written again.
    pub fn forget(&self, start: u64, end: u64) {
        let first = start / self.unit_bytes;
        let end = end.div_ceil(self.unit_bytes);
        let mut unit = first;
        while unit < end && unit / CHUNK_UNITS < self.chunks.len() as u64 {
            if self.chunks[(unit / CHUNK_UNITS) as usize].is_none() {
                unit = (unit / CHUNK_UNITS + 1) * CHUNK_UNITS;
                continue;
            }
            self.set(unit, self.entry(unit).with_low(0));
            unit += 1;
        }
    }

    /// The first unit from `from` to before `end` that owes something.
    pub fn next_checkable(&self, from: u64, end: u64) -> Option<u64> {
        self.next(from, end, |entry| entry.low() > 0 && !entry.write_failed() && !entry.reported())
    }

    /// The first unit from `from` to before `end` of which a write failed, so that it owes nothing.
    pub fn next_failed(&self, from: u64, end: u64) -> Option<u64> {
        self.next(from, end, |entry| entry.write_failed() && !entry.reported())
    }

    fn next(&self, from: u64, end: u64, test: impl Fn(Entry) -> bool) -> Option<u64> {
        let mut unit = from;
        while unit < end && unit / CHUNK_UNITS < self.chunks.len() as u64 {
            let chunk_end = (unit / CHUNK_UNITS + 1) * CHUNK_UNITS;
            if self.chunks[(unit / CHUNK_UNITS) as usize].is_some()
                && let Some(found) = (unit..chunk_end.min(end)).find(|u| test(self.entry(*u)))
            {
                return Some(found);
            }
            unit = chunk_end;
        }
        None
    }

    /// A flush failed, and what it covered is not known.
    pub(crate) fn doubt_all(&self) {
        for cell in self.chunks.iter().flatten().flat_map(|chunk| chunk.iter()) {
            let entry = Entry(cell.load(Relaxed));
            if entry.low() > 0 {
                cell.store(entry.with_flush_failed().0, Relaxed);
            }
        }
    }

    #[inline]
    fn cell(&self, unit: u64) -> Option<&AtomicU64> {
        let chunk = self.chunks.get(usize::try_from(unit / CHUNK_UNITS).ok()?)?.as_ref()?;
        chunk.get((unit % CHUNK_UNITS) as usize)
    }

    /// What is known of a unit; nothing for one that is not in the table.
    #[inline]
    pub(crate) fn entry(&self, unit: u64) -> Entry {
        self.cell(unit).map_or(Entry::default(), |cell| Entry(cell.load(Relaxed)))
    }

    #[inline]
    pub(crate) fn set(&self, unit: u64, entry: Entry) {
        if let Some(cell) = self.cell(unit) {
            cell.store(entry.0, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_covered_takes_memory() {
        let mut table = Table::new(4096);
        let far = 1 << 40;
        table.cover(far, far + 10).unwrap();
        assert_eq!(table.chunks.iter().flatten().count(), 1);
        table.set(far + 9, Entry::exactly(3));
        table.set(5, Entry::exactly(3));
        assert_eq!(
            (table.entry(far + 9).high(), table.entry(5), table.entry(u64::MAX).low()),
            (3, Entry::default(), 0)
        );
        assert!(table.cover(0, u64::MAX).is_err());
    }

    #[test]
    fn pieces_are_as_their_unit_was() {
        let mut table = Table::new(1 << 20);
        table.cover(0, 10).unwrap();
        table.set(7, Entry::exactly(2).with_flush_failed());
        table.refine(4096).unwrap();
        assert_eq!(table.entry(7 * 256), Entry::exactly(2).with_flush_failed());
        assert_eq!(table.entry(8 * 256 - 1), table.entry(7 * 256));
        assert_eq!((table.entry(8 * 256), table.entry(7 * 256 - 1)), (Entry::default(), Entry::default()));
        // What does not divide changes nothing.
        table.refine(3000).unwrap();
        assert_eq!(table.unit_bytes(), 4096);
    }

    #[test]
    fn what_is_forgotten_keeps_its_generation() {
        let mut table = Table::new(4096);
        table.cover(0, 10).unwrap();
        (0..10).for_each(|unit| table.set(unit, Entry::exactly(4)));
        table.forget(5000, 9000);
        let known: Vec<u32> = (0..5).map(|u| table.entry(u).low()).collect();
        assert_eq!((known, table.entry(1).high()), (vec![4, 0, 0, 4, 4], 4));
        table.set(3, table.entry(3).with_write_failed());
        table.set(5, table.entry(5).marked_reported());
        let owed = |from| table.next_checkable(from, 1 << 60);
        assert_eq!([0, 1, 5, 10].map(owed), [Some(0), Some(4), Some(6), None]);
        assert_eq!((table.next_failed(0, 10), table.next_failed(4, 10)), (Some(3), None));
    }

    #[test]
    fn the_fields_do_not_touch_each_other() {
        let entry = Entry::exactly(LAST_GENERATION).with_low(1).marked_reported();
        assert_eq!((entry.low(), entry.high()), (1, LAST_GENERATION));
        assert!(entry.reported() && !entry.flush_failed() && !entry.write_failed() && !entry.is_plain());
        let entry = Entry::exactly(1).with_high(9);
        assert!(entry.is_plain() && entry.high() == 9 && entry.low() == 1);
        assert!(entry.with_write_failed().write_failed() && !entry.with_low(0).is_plain());
    }
}
