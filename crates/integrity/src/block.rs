//! The fast path: stamps whole blocks before they are written and checks whole blocks that were read.

use crate::keystream::{Keystream, Secret};
use crate::stamp::{
    AT_COUNT, AT_EPOCH, AT_FLAGS, AT_GENERATION, AT_LBA, AT_PAYLOAD_SUM, AT_RUN, AT_SECTOR, AT_SEQUENCE, AT_TARGET,
    PAYLOAD_WORDS, PayloadSum, SECTOR_BYTES, Sector, Stamp, flags_are_right, is_sound, split, split_mut, sum_of,
    u32_at, u64_at, zero_words_of,
};
use model::VerifyKind;
use multiversion::multiversion;

/// Which target of which run: the identity that every stamp carries, and the secret that the payloads are made from.
#[derive(Clone, Copy, Debug)]
pub struct Stamper {
    /// Random for each run: data of an earlier run, however alike, are foreign.
    pub run_id: u64,
    /// Number of the target within the run.
    pub target_id: u32,
    /// Never written anywhere on the target.
    pub secret: Secret,
    /// What is checked on the fast path, and which checksum the payload gets.
    pub kind: VerifyKind,
    /// Words at the end of each payload that are zero; see [`Stamper::with_compressible_percent`].
    zero_words: u8,
}

/// One write, as its stamps tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// First sector of the write: its offset divided by 512.
    pub lba: u64,
    /// Version that these places get.
    pub generation: u32,
    /// Number of the write in the run.
    pub sequence: u64,
    /// Flushes acknowledged so far.
    pub epoch: u32,
    /// Milliseconds since the start of the run.
    pub time_ms: u32,
}

/// The generations that a place may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowedGenerations {
    /// The oldest; 0 if nothing of this run need be there.
    pub min: u32,
    /// The newest that was issued.
    pub max: u32,
}

impl AllowedGenerations {
    /// Exactly this one.
    pub fn only(generation: u32) -> Self {
        Self { min: generation, max: generation }
    }

    /// Whether `generation` may be there.
    #[inline]
    pub fn holds(self, generation: u32) -> bool {
        self.min <= generation && generation <= self.max
    }
}

/// What the fast path learned from a block that is as it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intact {
    /// The generation: how often the place was written.
    pub generation: u32,
    /// The write that it came from.
    pub sequence: u64,
    /// Flushes acknowledged when that was issued.
    pub epoch: u32,
}

/// The fast path met something that [`crate::classify()`] must look at: which sector of the block, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sector {sector} of the block is not what it must be")]
pub struct Suspect {
    /// First sector that is not as it must be.
    pub sector: u32,
}

#[inline(always)]
fn sectors_of(block: &[u8]) -> &[Sector] {
    let (sectors, rest) = block.as_chunks::<SECTOR_BYTES>();
    assert!(
        rest.is_empty() && !sectors.is_empty() && sectors.len() <= usize::from(u16::MAX),
        "a stamped block is 1 to 65,535 whole sectors of 512 bytes, not {} bytes",
        block.len()
    );
    sectors
}

impl Stamper {
    /// For one target of one run; stamps with XXH3 and checks everything.
    pub fn new(run_id: u64, target_id: u32, secret: Secret) -> Self {
        Self { run_id, target_id, secret, kind: VerifyKind::Stamp, zero_words: 0 }
    }

    /// Whether a place begins with the stamp of another run, or of another target.
    pub fn is_foreign(&self, place: &[u8]) -> bool {
        let stamp = place.first_chunk().and_then(Stamp::decode);
        stamp.is_some_and(|s| s.run_id != self.run_id || s.target_id != self.target_id)
    }

    /// The same with another kind of check.
    pub fn with_kind(self, kind: VerifyKind) -> Self {
        Self { kind, ..self }
    }

    /// The same with payloads of which the end is zero, so that about `percent` of each sector can be compressed away:
    /// at most 87, because stamps never can.
    pub fn with_compressible_percent(self, percent: u8) -> Self {
        let words = usize::from(percent.min(100)) * (SECTOR_BYTES / 8) / 100;
        Self { zero_words: words.min(PAYLOAD_WORDS) as u8, ..self }
    }

    /// Fills `block` with the data of `write`, in place: `block` is all of it.
    ///
    /// # Panics
    /// If `block` is not 1 to 65,535 whole sectors: plans are resolved before they get here.
    #[inline]
    pub fn stamp(&self, block: &mut [u8], write: &Write) {
        let count = sectors_of(block).len() as u16;
        self.stamp_piece(block, write, 0, count);
    }

    /// Fills a piece of a write of `count` sectors: those from number `first` on. For writes whose places have different
    /// generations, and for buffers that are not one stretch of memory.
    ///
    /// # Panics
    /// If `piece` is not whole sectors or goes beyond the write.
    #[inline]
    pub fn stamp_piece(&self, piece: &mut [u8], write: &Write, first: u16, count: u16) {
        let sectors = sectors_of(piece).len();
        assert!(
            usize::from(first) + sectors <= usize::from(count),
            "{sectors} sectors from number {first} on are more than a write of {count} sectors has"
        );
        let stamp = Stamp {
            run_id: self.run_id,
            target_id: self.target_id,
            lba: write.lba + u64::from(first),
            sequence: write.sequence,
            generation: write.generation,
            epoch: write.epoch,
            sector: first,
            count,
            time_ms: write.time_ms,
            payload_sum: 0,
            sum_kind: PayloadSum::of_kind(self.kind),
            zero_words: self.zero_words,
        };
        fill(self.secret, piece.as_chunks_mut().0, stamp);
    }

    /// The sector as it was written, made again from its stamp.
    pub fn regenerate(&self, stamp: &Stamp) -> Sector {
        let mut sector = [0; SECTOR_BYTES];
        fill(self.secret, std::slice::from_mut(&mut sector), *stamp);
        sector
    }

    /// Whether `block`, read from `lba`, is one intact write, or a stretch of one, of an allowed generation.
    ///
    /// Checked are, for every sector: the stamp's own checksum; run, target and place; the generation; that all are of
    /// one write; and the payload as [`Stamper::kind`] says, also where a stream of the run wrote it that verifies in
    /// another way or makes data that compress differently. A block with a suspect is not yet at fault: ask
    /// [`crate::classify()`], which also knows what is legal after a failure.
    ///
    /// # Errors
    /// [`Suspect`] names the first sector that is not as it must be.
    ///
    /// # Panics
    /// If `block` is not 1 to 65,535 whole sectors.
    #[inline]
    pub fn check(&self, block: &[u8], lba: u64, allowed: AllowedGenerations) -> Result<Intact, Suspect> {
        let sectors = sectors_of(block);
        let (first, _) = split(&sectors[0]);
        let sequence = u64_at(first, AT_SEQUENCE);
        let epoch = u32_at(first, AT_EPOCH);
        let generation = u32_at(first, AT_GENERATION);
        let number = u16::from_le_bytes([first[AT_SECTOR], first[AT_SECTOR + 1]]);
        let count = u16::from_le_bytes([first[AT_COUNT], first[AT_COUNT + 1]]);
        if !allowed.holds(generation) || usize::from(number) + sectors.len() > usize::from(count) {
            return Err(Suspect { sector: 0 });
        }
        let written = SharedStampFields { lba, sequence, generation, number };
        match first_wrong(self, sectors, &written) {
            Some(sector) => Err(Suspect { sector: sector as u32 }),
            None => Ok(Intact { generation, sequence, epoch }),
        }
    }

    /// Words at the end of each payload that are zero.
    pub(crate) fn zero_words(&self) -> u8 {
        self.zero_words
    }
}

/// What all sectors of a write have in common, or count up from the first.
struct SharedStampFields {
    lba: u64,
    sequence: u64,
    generation: u32,
    number: u16,
}

/// So many sectors are filled ahead of the one that is summed: the steps of one sector wait for each other, those of several do
/// not, and memory takes what was stored while others are summed.
const AHEAD: usize = 4;

/// Fills the sectors of a write, `first` being the stamp of the first.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+bmi2", "x86_64+avx2+bmi2"))]
fn fill(secret: Secret, sectors: &mut [Sector], first: Stamp) {
    for i in 0..sectors.len() + AHEAD {
        if let Some(sector) = sectors.get_mut(i) {
            let (lba, number) = (first.lba.wrapping_add(i as u64), first.sector.wrapping_add(i as u16));
            Keystream::new(secret, lba, first.generation, number).fill(split_mut(sector).1, first.zero_words);
        }
        if let Some(i) = i.checked_sub(AHEAD) {
            let (lba, number) = (first.lba.wrapping_add(i as u64), first.sector.wrapping_add(i as u16));
            let (head, payload) = split_mut(&mut sectors[i]);
            *head = Stamp { lba, sector: number, payload_sum: first.sum_kind.of(payload), ..first }.encode();
        }
    }
}

/// The first sector that is not as `written` and the stamper say.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+bmi2", "x86_64+avx2+bmi2"))]
fn first_wrong(stamper: &Stamper, sectors: &[Sector], written: &SharedStampFields) -> Option<usize> {
    sectors.iter().enumerate().position(|(i, sector)| {
        let (stamp, payload) = split(sector);
        let (lba, index) = (written.lba + i as u64, written.number + i as u16);
        let sound = is_sound(stamp)
            & (u64_at(stamp, AT_RUN) == stamper.run_id)
            & (u32_at(stamp, AT_TARGET) == stamper.target_id)
            & (u64_at(stamp, AT_LBA) == lba)
            & (u64_at(stamp, AT_SEQUENCE) == written.sequence)
            & (u32_at(stamp, AT_GENERATION) == written.generation)
            & (u16::from_le_bytes([stamp[AT_SECTOR], stamp[AT_SECTOR + 1]]) == index)
            & flags_are_right(u32_at(stamp, AT_FLAGS));
        let right = match stamper.kind {
            VerifyKind::Stamp => {
                let keystream = Keystream::new(stamper.secret, lba, written.generation, index);
                keystream.is_keystream(payload, zero_words_of(u32_at(stamp, AT_FLAGS)))
            }
            // The sum that the stamp has: another stream of the run may have written it with the other kind.
            VerifyKind::Crc32c | VerifyKind::Xxhash => {
                sum_of(u32_at(stamp, AT_FLAGS)).of(payload) == u64_at(stamp, AT_PAYLOAD_SUM)
            }
            VerifyKind::Meta => true,
        };
        !(sound & right)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WRITE: Write = Write { lba: 4096, generation: 3, sequence: 77, epoch: 2, time_ms: 1234 };

    fn stamper(kind: VerifyKind) -> Stamper {
        Stamper::new(0xfeed, 1, Secret([11, 12])).with_kind(kind)
    }

    fn kinds() -> impl Strategy<Value = VerifyKind> {
        prop::sample::select(VerifyKind::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn what_was_stamped_is_intact(kind in kinds(), sectors in 1usize..40, percent in 0u8..=100) {
            let stamper = stamper(kind).with_compressible_percent(percent);
            let mut block = vec![0xee; sectors * SECTOR_BYTES];
            stamper.stamp(&mut block, &WRITE);
            let intact = Intact { generation: 3, sequence: 77, epoch: 2 };
            prop_assert_eq!(stamper.check(&block, 4096, AllowedGenerations { min: 2, max: 5 }), Ok(intact));
            // And so is a stretch of it.
            let from = sectors / 2;
            let part = &block[from * SECTOR_BYTES..];
            prop_assert_eq!(stamper.check(part, 4096 + from as u64, AllowedGenerations::only(3)), Ok(intact));
        }

        #[test]
        fn any_flipped_bit_is_a_suspect(
            kind in prop::sample::select(vec![VerifyKind::Stamp, VerifyKind::Crc32c, VerifyKind::Xxhash]),
            bit in 0usize..8 * 4096,
            percent in 0u8..=87,
        ) {
            let stamper = stamper(kind).with_compressible_percent(percent);
            let mut block = vec![0; 4096];
            stamper.stamp(&mut block, &WRITE);
            block[bit / 8] ^= 1 << (bit % 8);
            let found = stamper.check(&block, 4096, AllowedGenerations::only(3)).unwrap_err().sector as usize;
            // A damaged first stamp makes its neighbours look wrong; the first suspect is still it.
            prop_assert_eq!(found, bit / 8 / SECTOR_BYTES);
        }
    }

    #[test]
    fn wrong_place_run_target_or_version_is_a_suspect() {
        let good = stamper(VerifyKind::Stamp);
        let mut block = vec![0; 4096];
        good.stamp(&mut block, &WRITE);
        assert!(good.check(&block, 4097, AllowedGenerations::only(3)).is_err());
        assert!(good.check(&block, 4096, AllowedGenerations::only(2)).is_err());
        assert!(good.check(&block, 4096, AllowedGenerations::only(4)).is_err());
        assert!(Stamper { run_id: 1, ..good }.check(&block, 4096, AllowedGenerations::only(3)).is_err());
        assert!(Stamper { target_id: 9, ..good }.check(&block, 4096, AllowedGenerations::only(3)).is_err());
        assert!(Stamper { secret: Secret([11, 13]), ..good }.check(&block, 4096, AllowedGenerations::only(3)).is_err());
    }

    #[test]
    fn pieces_make_the_same_block() {
        let stamper = stamper(VerifyKind::Stamp);
        let (mut whole, mut pieces) = (vec![0; 8192], vec![0; 8192]);
        stamper.stamp(&mut whole, &WRITE);
        for (i, piece) in pieces.chunks_mut(1024).enumerate() {
            stamper.stamp_piece(piece, &WRITE, 2 * i as u16, 16);
        }
        assert_eq!(whole, pieces);
    }

    #[test]
    fn a_part_of_the_sector_can_be_compressible() {
        let mut block = vec![0; 512];
        stamper(VerifyKind::Stamp).with_compressible_percent(50).stamp(&mut block, &WRITE);
        assert!(block[256..].iter().all(|b| *b == 0));
        assert!(block[64..256].iter().filter(|b| **b == 0).count() < 10);
    }

    #[test]
    #[should_panic(expected = "whole sectors of 512 bytes, not 700 bytes")]
    fn half_a_sector_is_refused() {
        stamper(VerifyKind::Stamp).stamp(&mut [0; 700], &WRITE);
    }
}
