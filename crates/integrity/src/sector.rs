//! The slow path of one sector: what it is, if not what it must be.

use crate::block::{AllowedGenerations, Stamper};
use crate::damage::Damage;
use crate::stamp::{
    AT_CRC, AT_SECTOR, MAGIC, PAYLOAD_BYTES, PayloadSum, STAMP_BYTES, Sector, Stamp, crc_of, flags, split, u32_at,
};

/// Versions that a sector without a sound stamp is compared with.
const MAX_CANDIDATES: u32 = 64;

/// What a sector turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Intact, of this place, and of an allowed generation.
    Right(Stamp),
    /// Intact and of this place, older than allowed.
    Older(Stamp),
    /// Intact and of this place, newer than anything issued.
    Newer(Stamp),
    /// Intact, of another place of this target.
    Elsewhere(Stamp),
    /// A sound stamp of another run or target.
    Foreign(Stamp),
    /// Resembles an allowed version.
    Damaged(u32, Damage),
    /// All bytes are this one.
    Blank(u8),
    /// None of these. With the difference to what its sound stamp says, if it has one.
    Unrecognisable(Option<Damage>),
}

impl Content {
    /// The stamp, where one could be read.
    pub(crate) fn stamp(&self) -> Option<&Stamp> {
        match self {
            Self::Right(s) | Self::Older(s) | Self::Newer(s) | Self::Elsewhere(s) | Self::Foreign(s) => Some(s),
            _ => None,
        }
    }

    /// The generation found.
    pub(crate) fn generation(&self) -> Option<u32> {
        match self {
            Self::Damaged(generation, _) => Some(*generation),
            other => other.stamp().map(|s| s.generation),
        }
    }
}

/// What the sector at `lba`, number `position` of the block read, is. `peers` are the stamps that could be read elsewhere
/// in the block.
pub(crate) fn examine(
    stamper: &Stamper,
    sector: &Sector,
    lba: u64,
    position: usize,
    allowed: AllowedGenerations,
    peers: &[Stamp],
) -> Content {
    if let Some(stamp) = Stamp::decode(split(sector).0) {
        if stamp.run_id != stamper.run_id || stamp.target_id != stamper.target_id {
            return Content::Foreign(stamp);
        }
        if let Some(damage) = Damage::between(&stamper.regenerate(&stamp), sector) {
            // What a damaged sector says of its place is believed only if it is this place.
            let here = stamp.lba == lba && stamp.generation <= allowed.max;
            return match damage.is_small() && here {
                true => Content::Damaged(stamp.generation, damage),
                false => Content::Unrecognisable(Some(damage)),
            };
        }
        return match () {
            () if stamp.lba != lba => Content::Elsewhere(stamp),
            () if stamp.generation > allowed.max => Content::Newer(stamp),
            () if stamp.generation < allowed.min => Content::Older(stamp),
            () => Content::Right(stamp),
        };
    }
    if sector.iter().all(|byte| *byte == sector[0]) {
        return Content::Blank(sector[0]);
    }
    match nearest(stamper, sector, lba, position, allowed, peers) {
        Some((generation, damage)) if damage.is_small() => Content::Damaged(generation, damage),
        _ => Content::Unrecognisable(None),
    }
}

/// The allowed version that a sector without a sound stamp is nearest to, and the difference.
fn nearest(
    stamper: &Stamper,
    sector: &Sector,
    lba: u64,
    position: usize,
    allowed: AllowedGenerations,
    peers: &[Stamp],
) -> Option<(u32, Damage)> {
    let (head, payload) = split(sector);
    // The number of the sector within its write: what the damaged stamp says, what its peers say, what it is if the block
    // is the write.
    let mut numbers = vec![u16::from_le_bytes([head[AT_SECTOR], head[AT_SECTOR + 1]]), position as u16];
    numbers.extend(peers.iter().filter_map(|p| {
        let number = i64::from(p.sector) + lba as i64 - p.lba as i64;
        u16::try_from(number).ok()
    }));
    numbers.sort_unstable();
    numbers.dedup();
    let mut best: Option<(u32, u32, Stamp)> = None;
    for generation in (allowed.min.max(1)..=allowed.max).rev().take(MAX_CANDIDATES as usize) {
        for number in &numbers {
            let stamp = Stamp {
                run_id: stamper.run_id,
                target_id: stamper.target_id,
                lba,
                generation,
                sector: *number,
                ..likely(stamper, head, generation, peers)
            };
            let written: [u8; PAYLOAD_BYTES] = *split(&stamper.regenerate(&stamp)).1;
            let flipped = written.iter().zip(payload).map(|(w, r)| (w ^ r).count_ones()).sum();
            if best.is_none_or(|(_, least, _)| flipped < least) {
                best = Some((generation, flipped, stamp));
            }
        }
    }
    let (generation, _, stamp) = best?;
    let written = restore(stamper.regenerate(&stamp), head);
    Damage::between(&written, sector).map(|damage| (generation, damage))
}

/// The fields that only the write knows: from a peer of the same write, else as they are read.
fn likely(stamper: &Stamper, head: &[u8; STAMP_BYTES], generation: u32, peers: &[Stamp]) -> Stamp {
    if let Some(peer) = peers.iter().find(|p| p.generation == generation) {
        return *peer;
    }
    let mut sound = *head;
    // Read the damaged stamp as if its checksum and what is known of every stamp were right.
    sound[..4].copy_from_slice(&MAGIC);
    sound[AT_CRC - 4..AT_CRC]
        .copy_from_slice(&flags(PayloadSum::of_kind(stamper.kind), stamper.zero_words()).to_le_bytes());
    let crc = crc_of(&sound);
    sound[AT_CRC..].copy_from_slice(&crc.to_le_bytes());
    Stamp::decode(&sound).expect("magic, flags and checksum were just set")
}

/// Where the checksum that was read does not belong to the stamp that is thought to have been written, one of the fields
/// that only the write knows may hold a flipped bit: the one that makes the checksum right.
fn restore(mut written: Sector, read: &[u8; STAMP_BYTES]) -> Sector {
    let (head, _) = split(&written);
    let wanted = u32_at(read, AT_CRC);
    if u32_at(head, AT_CRC) == wanted {
        return written;
    }
    let head = *head;
    let fields = (24..32).chain(36..40).chain(42..48);
    for (at, bit) in fields.flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut tried = head;
        tried[at] ^= 1 << bit;
        if crc_of(&tried) == wanted {
            tried[AT_CRC..].copy_from_slice(&wanted.to_le_bytes());
            written[..STAMP_BYTES].copy_from_slice(&tried);
            break;
        }
    }
    written
}

/// Whether a foreign sector's payload is the one that its stamp was made for.
pub(crate) fn foreign_is_intact(stamp: &Stamp, sector: &Sector) -> bool {
    let (_, payload) = split(sector);
    stamp.sum_kind.of(payload) == stamp.payload_sum
}
