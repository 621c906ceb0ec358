//! Segments of a container that wraps which are not overwritten: as the superblock says it, and as a writer hears of it.

use super::{FieldReader, FieldWriter, are_numbers};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A superblock has room for so many stretches.
pub const MAX_PINS: usize = 64;

/// Stretches of numbers of segments, ascending, with others between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins(Vec<Range<u64>>);

impl Pins {
    /// The pinned ranges of segment numbers, ascending.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many segments they are.
    pub fn segments(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether a segment is among them.
    pub fn is_pinned(&self, segment: u64) -> bool {
        self.0.iter().any(|range| range.contains(&segment))
    }

    /// Whether a segment of this number would lie where one of them lies, in a container of so many.
    pub fn pins_slot_of(&self, segment: u64, segments: u64) -> bool {
        let slot = segment % segments;
        let n = segments;
        self.0.iter().any(|range| (slot + n - range.start % n) % n < range.end - range.start)
    }

    /// With these, too; `None` where the superblock has no room for so many stretches.
    pub fn with(&self, added: &[Range<u64>]) -> Option<Self> {
        let mut all: Vec<Range<u64>> = self.0.iter().chain(added).filter(|range| !range.is_empty()).cloned().collect();
        all.sort_unstable_by_key(|range| range.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for range in all {
            match joined.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => joined.push(range),
            }
        }
        (joined.len() <= MAX_PINS).then_some(Self(joined))
    }

    /// Without these; `None` where what is left are too many stretches.
    pub fn without(&self, removed: &[Range<u64>]) -> Option<Self> {
        let left = removed.iter().fold(self.0.clone(), |left, cut| {
            let parts =
                |range: Range<u64>| [range.start..range.end.min(cut.start), range.start.max(cut.end)..range.end];
            left.into_iter().flat_map(parts).filter(|range| !range.is_empty()).collect()
        });
        Self::default().with(&left)
    }

    pub(super) fn put<'a>(&self, into: FieldWriter<'a>) -> FieldWriter<'a> {
        let into = into.u32(self.0.len() as u32);
        self.0.iter().fold(into, |into, range| into.u64(range.start).u64(range.end))
    }

    /// What a record says, if it can be so.
    pub(super) fn get(from: &mut FieldReader<'_>) -> Option<Self> {
        let count = from.u32() as usize;
        let ranges: Vec<Range<u64>> = (0..count.min(MAX_PINS)).map(|_| from.u64()..from.u64()).collect();
        let whole = ranges.iter().all(|range| range.start < range.end && are_numbers(&[range.end]));
        let apart = ranges.windows(2).all(|pair| pair[0].end < pair[1].start);
        (count <= MAX_PINS && whole && apart).then_some(Self(ranges))
    }
}

/// The pins of a container that is recorded to: others may change them meanwhile.
#[derive(Clone, Debug, Default)]
pub struct SharedPins(Arc<Mutex<Pins>>);

impl SharedPins {
    /// Starts with these pins.
    pub fn new(pins: Pins) -> Self {
        let shared = Self::default();
        shared.set(pins);
        shared
    }

    /// The present pins.
    pub fn now(&self) -> Pins {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on these.
    pub fn set(&self, pins: Pins) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = pins;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_joined_cut_and_have_places() {
        let pins = Pins::default().with(&[7..9, 3..5, 5..6, 20..20]).unwrap();
        assert_eq!((pins.ranges(), pins.segments()), (&[3..6, 7..9][..], 5));
        assert!(pins.is_pinned(5) && !pins.is_pinned(6) && pins.is_pinned(8));
        assert_eq!(pins.without(&[4..5, 5..8]).unwrap().ranges(), [3..4, 8..9]);
        assert_eq!(pins.without(&[0..50, 50..100]).unwrap(), Pins::default());
        assert_eq!(pins.without(&[50..60, 70..80]).unwrap(), pins);
        // Places of a container of 10: those of 3, 4, 5, 7, 8, of 13 and so on.
        let kept = |pins: &Pins| (10..30).filter(|n| pins.pins_slot_of(*n, 10)).collect::<Vec<u64>>();
        assert_eq!(kept(&pins), [13, 14, 15, 17, 18, 23, 24, 25, 27, 28]);
        assert_eq!(
            kept(&Pins::default().with(std::slice::from_ref(&(19..21))).unwrap()),
            [10, 19, 20, 29],
            "around the end"
        );
        assert!(kept(&Pins::default()).is_empty());
        let many: Vec<Range<u64>> = (0..=MAX_PINS as u64).map(|n| n * 2..n * 2 + 1).collect();
        assert_eq!(Pins::default().with(&many), None);
        assert!(Pins::default().with(&many[1..]).is_some());
        // A stretch is let go piece by piece: what is counted is what is left.
        let full = Pins::default().with(&[&many[2..], &[200..203, 203..210]].concat()).unwrap();
        assert_eq!(full.without(&[205..206, 206..210]).unwrap().ranges().last(), Some(&(200..205)));
    }

    #[test]
    fn what_a_record_says_is_taken_only_if_it_can_be() {
        let pins = Pins::default().with(&[3..6, 7..9]).unwrap();
        let mut bytes = [0; 64];
        pins.put(FieldWriter::into(&mut bytes));
        assert_eq!(Pins::get(&mut FieldReader::from(&bytes)), Some(pins));
        for (at, value) in [(0, 65), (0, 3), (4, 6), (12, 7), (20, 6), (35, 255)] {
            let mut wrong = bytes;
            wrong[at] = value;
            assert_eq!(Pins::get(&mut FieldReader::from(&wrong)), None, "{at}: {value}");
        }
    }
}
