//! A batch: what is written, and lost or kept, as one. Each stands alone.
//!
//! A header with the directory behind it, the payloads behind that, zeros up to the next block.

use super::fields::{FieldReader, FieldWriter};
use super::{Identity, StreamName, are_numbers};

const MAGIC: &[u8; 8] = b"NARRWBAT";
/// Length of the header.
pub const HEADER_BYTES: usize = 128;
/// Length of a line of the directory.
pub const ENTRY_BYTES: usize = 64;
const SUM_AT: usize = HEADER_BYTES - 4;
/// A directory that is longer is none.
const MAX_ENTRIES: u32 = 1 << 20;

/// Flag of a header: the batch was written again after a failed write.
pub const REWRITTEN: u32 = 1;

/// Why frames were lost before they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// There was no memory for them: the storage was slower than the stream for longer than the ring holds.
    RingFull,
    /// Longer than the ring, or than a frame may be in this container.
    TooLarge,
    /// The container is full, and was to be kept.
    ContainerFull,
    /// The storage failed.
    Storage,
    /// The producer ended within the frame.
    CutOff,
    /// What came was no frame of its format.
    Damaged,
    /// The camera's driver had no buffer for it.
    Missed,
    /// The file system had no more room: a part of it stays free.
    NoRoom,
}

// In the order of their codes.
model::names! { Loss {
    RingFull = "ring-full",
    TooLarge = "too-large",
    ContainerFull = "container-full",
    Storage = "storage",
    CutOff = "cut-off",
    Damaged = "damaged",
    Missed = "missed",
    NoRoom = "no-room",
} }

impl Loss {
    fn code(self) -> u32 {
        Self::ALL.iter().position(|loss| *loss == self).unwrap_or(0) as u32 + 1
    }

    fn of(code: u32) -> Option<Self> {
        Self::ALL.get((code as usize).checked_sub(1)?).copied()
    }
}

/// A line of a batch's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A frame, whose payload is in the batch.
    Frame(FrameEntry),
    /// Frames that were lost.
    Lost {
        stream: u16,
        /// The number of the first of them.
        sequence: u64,
        /// How many, one behind the other.
        count: u64,
        loss: Loss,
    },
    /// A stream that no header has introduced; its line of the table is the payload.
    Stream {
        /// Number of the stream.
        stream: u16,
        /// Where its line is.
        payload: PayloadLocation,
    },
}

/// Where a payload lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadLocation {
    /// From the batch's start, bytes.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// CRC32C.
    pub sum: u32,
}

/// A frame, as the directory says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameEntry {
    pub stream: u16,
    /// Its number in it, with those that were lost.
    pub sequence: u64,
    /// When the producer says it was made, nanoseconds since 1970; 0 where it does not say.
    pub capture_ns: u64,
    /// When it was here, nanoseconds since 1970 by a clock that never steps during a recording.
    pub arrival_ns: u64,
    pub payload: PayloadLocation,
}

impl Entry {
    fn encode(&self, into: &mut [u8]) {
        let put = FieldWriter::into(into);
        match *self {
            Self::Frame(FrameEntry { stream, sequence, capture_ns, arrival_ns, payload }) => put
                .u16(stream)
                .u16(0)
                .u32(payload.sum)
                .u64(sequence)
                .u64(capture_ns)
                .u64(arrival_ns)
                .u64(payload.offset)
                .u32(payload.length),
            Self::Lost { stream, sequence, count, loss } => {
                put.u16(stream).u16(1).u32(0).u64(sequence).at(44).u32(loss.code()).u64(count)
            }
            Self::Stream { stream, payload } => {
                put.u16(stream).u16(2).u32(payload.sum).at(32).u64(payload.offset).u32(payload.length)
            }
        };
    }

    fn decode(from: &[u8]) -> Option<Self> {
        let mut fields = FieldReader::from(from);
        let (stream, kind, sum) = (fields.u16(), fields.u16(), fields.u32());
        let [sequence, capture_ns, arrival_ns, offset] = [(); 4].map(|()| fields.u64());
        let (length, loss, count) = (fields.u32(), fields.u32(), fields.u64());
        let payload = PayloadLocation { offset, length, sum };
        match kind {
            0 => Some(Self::Frame(FrameEntry { stream, sequence, capture_ns, arrival_ns, payload })),
            1 => Some(Self::Lost { stream, sequence, count, loss: Loss::of(loss)? }),
            2 => Some(Self::Stream { stream, payload }),
            _ => None,
        }
    }

    /// Its payload, if it has one.
    pub fn payload(&self) -> Option<PayloadLocation> {
        match self {
            Self::Frame(FrameEntry { payload, .. }) | Self::Stream { payload, .. } => Some(*payload),
            Self::Lost { .. } => None,
        }
    }
}

/// The head of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// Which container, and which opening of it.
    pub identity: Identity,
    /// The segment that it lies in.
    pub segment: u64,
    /// Its number; they count up for ever.
    pub batch: u64,
    /// Batches with lower numbers were acknowledged when it was written.
    pub acknowledged: u64,
    /// When it was closed, nanoseconds since 1970.
    pub closed_ns: u64,
    /// Whether it is one more copy: where the first lies the storage failed.
    pub rewritten: bool,
    /// Bytes up to the next batch.
    pub length: u64,
    /// What it holds.
    pub entries: Vec<Entry>,
}

impl BatchHeader {
    /// Length of header and directory for so many entries.
    pub fn bytes_for(entries: usize) -> usize {
        HEADER_BYTES + entries * ENTRY_BYTES
    }

    /// As it is written: header and directory.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; Self::bytes_for(self.entries.len())];
        for (entry, line) in self.entries.iter().zip(bytes[HEADER_BYTES..].chunks_exact_mut(ENTRY_BYTES)) {
            entry.encode(line);
        }
        let put = self.identity.put(FieldWriter::into(&mut bytes).bytes(MAGIC).u32(if self.rewritten {
            REWRITTEN
        } else {
            0
        }));
        put.u64(self.segment)
            .u64(self.batch)
            .u64(self.acknowledged)
            .u64(self.closed_ns)
            .u64(self.length)
            .u32(self.entries.len() as u32);
        let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..SUM_AT]), &bytes[HEADER_BYTES..]);
        bytes[SUM_AT..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// How long header and directory are, by its first 128 bytes; `None` where no batch begins.
    pub fn measure(bytes: &[u8]) -> Option<usize> {
        let mut fields = FieldReader::from(bytes.get(..HEADER_BYTES)?);
        (fields.array() == *MAGIC).then_some(())?;
        let entries = fields.at(72).u32();
        (entries <= MAX_ENTRIES).then_some(Self::bytes_for(entries as usize))
    }

    /// What these bytes say, and the CRC32C that vouches for them; `None` where it does not.
    pub fn decode(bytes: &[u8]) -> Option<(Self, u32)> {
        let bytes = bytes.get(..Self::measure(bytes)?)?;
        let sum = u32::from_le_bytes(bytes[SUM_AT..HEADER_BYTES].try_into().ok()?);
        if crc32c::crc32c_append(crc32c::crc32c(&bytes[..SUM_AT]), &bytes[HEADER_BYTES..]) != sum {
            return None;
        }
        let mut fields = FieldReader::from(bytes);
        let flags = fields.at(8).u32();
        let identity = Identity::get(&mut fields);
        let [segment, batch, acknowledged, closed_ns, length] = [(); 5].map(|()| fields.u64());
        let entries = bytes[HEADER_BYTES..].chunks_exact(ENTRY_BYTES).map(Entry::decode).collect::<Option<Vec<_>>>()?;
        let least = bytes.len() as u64;
        let inside = |p: PayloadLocation| p.offset.saturating_add(p.length.into()) <= length;
        let fits = length >= least && entries.iter().filter_map(Entry::payload).all(|p| p.offset >= least && inside(p));
        let rewritten = flags & REWRITTEN != 0;
        let fits = fits && are_numbers(&[segment, batch, acknowledged, length]);
        fits.then_some((Self { identity, segment, batch, acknowledged, closed_ns, rewritten, length, entries }, sum))
    }
}

/// The payload that introduces a stream.
pub fn introduction(stream: &StreamName) -> Vec<u8> {
    let mut line = vec![0; ENTRY_BYTES];
    stream.put(FieldWriter::into(&mut line));
    line
}
