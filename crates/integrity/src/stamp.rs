//! The 64 bytes at the start of every 512-byte sector, also on devices with larger sectors: who wrote it, where, when,
//! and which version it is. The layout is described in docs/design/sector-stamp.md; all numbers are little-endian.

pub(crate) use crate::sizes::Aligned;
pub use crate::sizes::{PAYLOAD_BYTES, PAYLOAD_WORDS, SECTOR_BYTES, STAMP_BYTES};
use crate::xxh3::xxh3;
use model::VerifyKind;

/// Sectors of the largest write: 32 MiB less one sector; the count is a 16-bit field.
pub const MAX_WRITE_SECTORS: u32 = u16::MAX as u32;

pub type Sector = [u8; SECTOR_BYTES];

/// `nrw`, and the version of the layout.
pub(crate) const MAGIC: [u8; 4] = *b"nrw\x02";

pub(crate) const AT_MAGIC: usize = 0;
pub(crate) const AT_TARGET: usize = 4;
pub(crate) const AT_RUN: usize = 8;
pub(crate) const AT_LBA: usize = 16;
pub(crate) const AT_SEQUENCE: usize = 24;
pub(crate) const AT_GENERATION: usize = 32;
pub(crate) const AT_EPOCH: usize = 36;
pub(crate) const AT_SECTOR: usize = 40;
pub(crate) const AT_COUNT: usize = 42;
pub(crate) const AT_TIME: usize = 44;
pub(crate) const AT_PAYLOAD_SUM: usize = 48;
pub(crate) const AT_FLAGS: usize = 56;
pub(crate) const AT_CRC: usize = 60;

// The fields follow one another without a gap, each at a multiple of its size, and the checksum closes the stamp.
const _: () = {
    assert!(STAMP_BYTES == 64 && PAYLOAD_BYTES == 448 && PAYLOAD_WORDS == 56);
    assert!(AT_TARGET == AT_MAGIC + 4 && AT_RUN == AT_TARGET + 4 && AT_LBA == AT_RUN + 8);
    assert!(AT_SEQUENCE == AT_LBA + 8 && AT_GENERATION == AT_SEQUENCE + 8 && AT_EPOCH == AT_GENERATION + 4);
    assert!(AT_SECTOR == AT_EPOCH + 4 && AT_COUNT == AT_SECTOR + 2 && AT_TIME == AT_COUNT + 2);
    assert!(AT_PAYLOAD_SUM == AT_TIME + 4 && AT_FLAGS == AT_PAYLOAD_SUM + 8 && AT_CRC == AT_FLAGS + 4);
    assert!(AT_CRC + 4 == STAMP_BYTES);
};

/// What a stamp says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Random id of the run.
    pub run_id: u64,
    /// Which of the run's targets.
    pub target_id: u32,
    /// Where the sector belongs: 512-byte sectors from the start of the target.
    pub lba: u64,
    /// Global number of the write.
    pub sequence: u64,
    /// Version of this place: 1 for the first write.
    pub generation: u32,
    /// Flushes acknowledged when the write was issued.
    pub epoch: u32,
    /// Number of this sector within its write.
    pub sector: u16,
    /// Sectors of the write.
    pub count: u16,
    /// Milliseconds since the start of the run; wraps after 49 days.
    pub time_ms: u32,
    /// Checksum of the payload as it was stamped.
    pub payload_sum: u64,
    /// Which checksum that is.
    pub sum_kind: PayloadSum,
    /// Words at the end of the payload that are zero, to make data compressible: 0 to 56.
    pub zero_words: u8,
}

/// The checksum of a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PayloadSum {
    /// XXH3 with 64 bits.
    #[default]
    Xxh3,
    /// CRC-32C (Castagnoli, RFC 3720), in the low half of the field.
    Crc32c,
}

impl PayloadSum {
    /// The checksum that stamps carry when this is checked.
    #[inline]
    pub fn of_kind(kind: VerifyKind) -> Self {
        match kind {
            VerifyKind::Crc32c => Self::Crc32c,
            VerifyKind::Stamp | VerifyKind::Xxhash | VerifyKind::Meta => Self::Xxh3,
        }
    }

    /// The checksum of `payload`.
    #[inline(always)]
    pub fn of(self, payload: &[u8; PAYLOAD_BYTES]) -> u64 {
        match self {
            Self::Xxh3 => xxh3(payload),
            Self::Crc32c => crc32c_of(payload),
        }
    }
}

/// Apart, so that loops over sectors that are summed in the other way stay short.
#[inline(never)]
pub(crate) fn crc32c_of(payload: &[u8; PAYLOAD_BYTES]) -> u64 {
    u64::from(crc32c::crc32c(payload))
}

/// The two parts of a sector.
#[inline(always)]
pub(crate) fn split(sector: &Sector) -> (&[u8; STAMP_BYTES], &[u8; PAYLOAD_BYTES]) {
    let (stamp, payload) = sector.split_first_chunk().expect("a sector is longer than its stamp");
    (stamp, payload.first_chunk().expect("the rest of a sector is its payload"))
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn split_mut(sector: &mut Sector) -> (&mut [u8; STAMP_BYTES], &mut [u8; PAYLOAD_BYTES]) {
    let (stamp, payload) = sector.split_first_chunk_mut().expect("a sector is longer than its stamp");
    (stamp, payload.first_chunk_mut().expect("the rest of a sector is its payload"))
}

#[inline(always)]
fn u16_at(bytes: &[u8; STAMP_BYTES], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

#[inline(always)]
pub(crate) fn u32_at(bytes: &[u8; STAMP_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("inside the stamp"))
}

#[inline(always)]
pub(crate) fn u64_at(bytes: &[u8; STAMP_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("inside the stamp"))
}

/// The checksum that closes a stamp: CRC-32C of its 64 bytes with zeros where the checksum is, which is eight whole words.
#[inline(always)]
pub(crate) fn crc_of(bytes: &[u8; STAMP_BYTES]) -> u32 {
    let mut words = Aligned([0u64; STAMP_BYTES / 8]);
    for (word, bytes) in words.0.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words.0[AT_CRC / 8] &= 0xffff_ffff;
    crc32c::crc32c(&bytes_of(&words).0)
}

/// Whether the checksum of the stamp itself is right and it is one of this layout.
#[inline(always)]
pub(crate) fn is_sound(bytes: &[u8; STAMP_BYTES]) -> bool {
    bytes[..4] == MAGIC && u32_at(bytes, AT_CRC) == crc_of(bytes)
}

#[inline(always)]
fn bytes_of(words: &Aligned<[u64; STAMP_BYTES / 8]>) -> Aligned<[u8; STAMP_BYTES]> {
    let mut bytes = Aligned([0; STAMP_BYTES]);
    for (bytes, word) in bytes.0.as_chunks_mut::<8>().0.iter_mut().zip(words.0) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

impl Stamp {
    /// The stamp as it lies on the target, closed by its checksum.
    #[inline(always)]
    pub fn encode(&self) -> [u8; STAMP_BYTES] {
        // Whole words: a processor that is to sum bytes that it has just stored in other sizes waits for them.
        let mut words = Aligned([
            u64::from(u32::from_le_bytes(MAGIC)) | u64::from(self.target_id) << 32,
            self.run_id,
            self.lba,
            self.sequence,
            u64::from(self.generation) | u64::from(self.epoch) << 32,
            u64::from(self.sector) | u64::from(self.count) << 16 | u64::from(self.time_ms) << 32,
            self.payload_sum,
            u64::from(flags(self.sum_kind, self.zero_words)),
        ]);
        let crc = crc_of(&bytes_of(&words).0);
        words.0[7] |= u64::from(crc) << 32;
        bytes_of(&words).0
    }

    /// Reads a stamp; `None` if its checksum, its magic, its version or its flags are not right.
    pub fn decode(bytes: &[u8; STAMP_BYTES]) -> Option<Self> {
        if !is_sound(bytes) {
            return None;
        }
        let flags = u32_at(bytes, AT_FLAGS);
        if !flags_are_right(flags) {
            return None;
        }
        let (sum_kind, zero_words) = (sum_of(flags), zero_words_of(flags));
        Some(Self {
            run_id: u64_at(bytes, AT_RUN),
            target_id: u32_at(bytes, AT_TARGET),
            lba: u64_at(bytes, AT_LBA),
            sequence: u64_at(bytes, AT_SEQUENCE),
            generation: u32_at(bytes, AT_GENERATION),
            epoch: u32_at(bytes, AT_EPOCH),
            sector: u16_at(bytes, AT_SECTOR),
            count: u16_at(bytes, AT_COUNT),
            time_ms: u32_at(bytes, AT_TIME),
            payload_sum: u64_at(bytes, AT_PAYLOAD_SUM),
            sum_kind,
            zero_words,
        })
    }
}

/// The flags: byte 0 the kind of payload checksum, byte 1 the zero words, the rest 0.
#[inline(always)]
pub(crate) fn flags(sum_kind: PayloadSum, zero_words: u8) -> u32 {
    let kind = match sum_kind {
        PayloadSum::Xxh3 => 0,
        PayloadSum::Crc32c => 1,
    };
    kind | u32::from(zero_words) << 8
}

/// Whether flags are ones that a stamp can have.
#[inline(always)]
pub(crate) fn flags_are_right(flags: u32) -> bool {
    (flags & 0xff <= 1) & (flags >> 8 <= PAYLOAD_WORDS as u32)
}

/// The kind of payload checksum that right flags say.
#[inline(always)]
pub(crate) fn sum_of(flags: u32) -> PayloadSum {
    if flags & 0xff == 0 { PayloadSum::Xxh3 } else { PayloadSum::Crc32c }
}

/// The zero words that right flags say.
#[inline(always)]
pub(crate) fn zero_words_of(flags: u32) -> u8 {
    (flags >> 8) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stamp() -> Stamp {
        Stamp {
            run_id: 0x0102_0304_0506_0708,
            target_id: 0x1112_1314,
            lba: 0x2122_2324_2526_2728,
            sequence: 0x3132_3334_3536_3738,
            generation: 0x4142_4344,
            epoch: 0x5152_5354,
            sector: 0x6162,
            count: 0x7172,
            time_ms: 0x8182_8384,
            payload_sum: 0x9192_9394_9596_9798,
            sum_kind: PayloadSum::Crc32c,
            zero_words: 7,
        }
    }

    /// The layout is a contract: disks stamped by one version are read by another.
    #[test]
    fn the_layout_is_the_documented_one() {
        let bytes = stamp().encode();
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        let fields = [
            "6e727702",
            "14131211",
            "0807060504030201",
            "2827262524232221",
            "3837363534333231",
            "44434241",
            "54535251",
            "6261",
            "7271",
            "84838281",
            "9897969594939291",
            "01070000",
        ];
        assert_eq!(hex[..120], fields.concat());
        let open = [&bytes[..60], &[0; 4][..]].concat();
        assert_eq!(u32_at(&bytes, AT_CRC), crc32c::crc32c(&open));
    }

    #[test]
    fn the_checksums_are_the_published_ones() {
        // RFC 3720, appendix B.4: 32 bytes of zeros; and the check value of the CRC catalogue.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        // The reference implementation's value for the empty input.
        assert_eq!(xxhash_rust::xxh3::xxh3_64(b""), 0x2d06_8005_38d3_94c2);
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(
            run_id: u64, target_id: u32, lba: u64, sequence: u64, generation: u32, epoch: u32, sector: u16, count: u16,
            time_ms: u32, payload_sum: u64, crc: bool, zero_words in 0u8..=56,
        ) {
            let sum_kind = if crc { PayloadSum::Crc32c } else { PayloadSum::Xxh3 };
            let stamp = Stamp {
                run_id, target_id, lba, sequence, generation, epoch, sector, count, time_ms, payload_sum, sum_kind,
                zero_words,
            };
            prop_assert_eq!(Stamp::decode(&stamp.encode()), Some(stamp));
        }

        #[test]
        fn any_three_flipped_bits_are_noticed(flips in prop::collection::btree_set(0usize..512, 1..=3)) {
            let mut bytes = stamp().encode();
            for bit in flips {
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            prop_assert_eq!(Stamp::decode(&bytes), None);
        }

        #[test]
        fn nothing_else_is_taken_for_a_stamp(bytes in prop::array::uniform32(any::<u8>())) {
            let mut all = [0; STAMP_BYTES];
            all[..32].copy_from_slice(&bytes);
            all[32..].copy_from_slice(&bytes);
            prop_assert_eq!(Stamp::decode(&all), None);
        }
    }
}
