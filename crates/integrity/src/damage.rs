//! How a damaged sector differs from the one that was written: which bits, in which byte lanes, or shifted by how much.

use crate::stamp::{SECTOR_BYTES, STAMP_BYTES, Sector};
use model::Evidence;

/// Beyond this many flipped bits of 4,096 a sector no longer resembles the other: random bytes differ in about 2,048 with a
/// standard deviation of 32, an eighth is 48 of those away.
pub(crate) const MAX_FLIPPED_BITS: u32 = 512;
/// Positions that are named one by one.
const MAX_NAMED: usize = 16;

/// The differences between what was written and what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Bits that differ.
    pub(crate) flipped: u32,
    /// The first of them, as (byte of the sector, bit, value read).
    named: Vec<(u16, u8, bool)>,
    first_byte: usize,
    last_byte: usize,
    bytes: u32,
    /// All damage lies in bytes whose offset is `lane.0` modulo `lane.1`.
    lane: Option<(usize, usize)>,
    /// Every flipped bit has this number and was read as this value.
    stuck: Option<(u8, bool)>,
    /// The payload is there, moved by this many bytes.
    slipped: Option<isize>,
}

impl Damage {
    /// Compares. `None` if they are equal.
    pub(crate) fn between(written: &Sector, read: &Sector) -> Option<Self> {
        let different: Vec<(usize, u8)> =
            written.iter().zip(read).map(|(w, r)| w ^ r).enumerate().filter(|(_, d)| *d != 0).collect();
        let (first_byte, last_byte) = (different.first()?.0, different.last()?.0);
        let flips =
            || different.iter().flat_map(|(at, d)| (0..8u8).filter(move |b| d >> b & 1 == 1).map(move |b| (*at, b)));
        let value = |at: usize, bit: u8| read[at] >> bit & 1 == 1;
        let flipped = flips().count() as u32;
        let lane = (different.len() >= 3)
            .then(|| {
                [16, 8, 4, 2]
                    .into_iter()
                    .map(|width| (first_byte % width, width))
                    .find(|(lane, width)| different.iter().all(|(at, _)| at % width == *lane))
            })
            .flatten();
        let stuck = flips()
            .next()
            .map(|(at, bit)| (bit, value(at, bit)))
            .filter(|(bit, read_as)| flipped >= 3 && flips().all(|(at, b)| b == *bit && value(at, b) == *read_as));
        Some(Self {
            flipped,
            named: flips().take(MAX_NAMED).map(|(at, bit)| (at as u16, bit, value(at, bit))).collect(),
            first_byte,
            last_byte,
            bytes: different.len() as u32,
            lane,
            stuck,
            slipped: if flipped > 64 { shifted(written, read) } else { None },
        })
    }

    /// Whether the sector still resembles the one that was written.
    pub(crate) fn is_small(&self) -> bool {
        self.flipped <= MAX_FLIPPED_BITS
    }

    /// What it is, as evidence from `source`.
    pub(crate) fn evidence(&self, source: &str, evidence: &mut Vec<Evidence>) {
        evidence.push(Evidence::measurement("flipped bits", self.flipped, source));
        evidence.push(Evidence::measurement("damaged bytes", self.bytes, source));
        let range = format!("{} to {}", self.first_byte, self.last_byte);
        evidence.push(Evidence::measurement("damaged bytes of the sector, first to last", range, source));
        if self.is_small() {
            let named = self
                .named
                .iter()
                .map(|(at, bit, read_as)| format!("byte {at} bit {bit} read as {}", u8::from(*read_as)));
            let more = if self.flipped as usize > self.named.len() { ", and more" } else { "" };
            let named = named.collect::<Vec<_>>().join(", ") + more;
            evidence.push(Evidence::measurement("flipped", named, source));
        }
        if let Some((lane, width)) = self.lane {
            let lane = format!("byte {lane} of every {width}");
            evidence.push(Evidence::measurement("one byte lane", lane, source));
        }
        if let Some((bit, read_as)) = self.stuck {
            let stuck = format!("bit {bit} of the byte always read as {}", u8::from(read_as));
            evidence.push(Evidence::measurement("one data line", stuck, source));
        }
        if let Some(by) = self.slipped {
            evidence.push(Evidence::measurement("payload slipped by bytes", by as i64, source));
        }
    }
}

/// Whether the last three quarters of the damage are the written bytes, moved: words lost or read twice on a bus.
fn shifted(written: &Sector, read: &Sector) -> Option<isize> {
    (1..=64isize).flat_map(|by| [by, -by]).find(|by| {
        let moved =
            |at: usize| at.checked_add_signed(-by).filter(|from| *from < SECTOR_BYTES).map(|from| written[from]);
        let same = (STAMP_BYTES..SECTOR_BYTES).filter(|at| moved(*at) == Some(read[*at])).count();
        // By chance two of 448 bytes are equal; the slip may begin anywhere in the first half.
        same >= (SECTOR_BYTES - STAMP_BYTES) / 2 - 64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Stamper, Write};
    use crate::keystream::Secret;

    fn sector() -> Sector {
        let mut block = [0; SECTOR_BYTES];
        let write = Write { lba: 5, generation: 1, sequence: 9, epoch: 0, time_ms: 0 };
        Stamper::new(1, 1, Secret([5, 6])).stamp(&mut block, &write);
        block
    }

    #[test]
    fn equal_is_no_damage() {
        assert_eq!(Damage::between(&sector(), &sector()), None);
    }

    #[test]
    fn flips_are_named() {
        let mut read = sector();
        read[100] ^= 0x41;
        let damage = Damage::between(&sector(), &read).unwrap();
        assert_eq!((damage.flipped, damage.bytes), (2, 1));
        assert_eq!(damage.named.iter().map(|n| (n.0, n.1)).collect::<Vec<_>>(), [(100, 0), (100, 6)]);
        assert!(damage.is_small() && damage.lane.is_none() && damage.slipped.is_none());
    }

    #[test]
    fn a_stuck_line_and_its_lane_are_seen() {
        let mut read = sector();
        (3..SECTOR_BYTES).step_by(8).for_each(|at| read[at] |= 0x10);
        let damage = Damage::between(&sector(), &read).unwrap();
        assert_eq!((damage.lane, damage.stuck), (Some((3, 8)), Some((4, true))));
        assert!(damage.is_small());
    }

    #[test]
    fn slipped_words_are_seen() {
        let written = sector();
        for by in [2usize, 4, 8] {
            let mut read = written;
            read.copy_within(128..SECTOR_BYTES - by, 128 + by);
            assert_eq!(Damage::between(&written, &read).unwrap().slipped, Some(by as isize));
            let mut read = written;
            read.copy_within(128 + by.., 128);
            assert_eq!(Damage::between(&written, &read).unwrap().slipped, Some(-(by as isize)));
        }
        let mut noise = written;
        noise.iter_mut().enumerate().for_each(|(i, b)| *b ^= (i as u8).wrapping_mul(97) | 1);
        assert_eq!(Damage::between(&written, &noise).unwrap().slipped, None);
    }
}
