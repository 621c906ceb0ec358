//! The first and the last block of a segment: which it is, what it belongs to, and what it holds.

use super::fields::{FieldReader, RECORD_BYTES, seal, sealed};
use super::{FieldWriter, Geometry, Identity, StreamName, VERSION, are_numbers};

const HEADER: &[u8; 8] = b"NARRWSEG";
const FOOTER: &[u8; 8] = b"NARRWEND";
const VERSION_AT: usize = 8;
/// Where the table of streams begins in either, and how long a line of it is.
const TABLE_AT: usize = 160;
const LINE_BYTES: usize = 64;
/// Streams of a container at most.
pub const MAX_STREAMS: usize = (RECORD_BYTES - 4 - TABLE_AT) / LINE_BYTES;

/// The first block of a segment: each describes itself, so that superblocks are a convenience.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Which container, and which opening of it.
    pub identity: Identity,
    /// Its number: they count up for ever; the slot is its remainder by the number of segments.
    pub segment: u64,
    /// The number of its first batch.
    pub first_batch: u64,
    /// When it was begun, nanoseconds since 1970.
    pub started_ns: u64,
    /// Segments that may have been written into before the first block of any of them was durable: where the container wraps,
    /// so many of the oldest may be overwritten in part.
    pub reach: u32,
    /// Segments that were pinned then: such are passed over.
    pub pinned: u32,
    /// As in the superblock.
    pub geometry: Geometry,
    /// The streams that were known then; others are introduced by batches.
    pub streams: Vec<StreamName>,
}

impl SegmentHeader {
    /// As it is written; of streams beyond [`MAX_STREAMS`] nothing is said.
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        let put = self.identity.put(FieldWriter::into(&mut record).bytes(HEADER).u32(VERSION));
        let put = put.u64(self.segment).u64(self.first_batch).u64(self.started_ns).u32(self.reach);
        let count = self.streams.len().min(MAX_STREAMS);
        let mut put = self.geometry.put(put).u32(count as u32).u32(self.pinned);
        for (i, stream) in self.streams.iter().take(count).enumerate() {
            put = stream.put(put.at(TABLE_AT + i * LINE_BYTES));
        }
        seal(&mut record);
        record
    }

    /// What a block says; `None` where it is no header of a segment.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = sealed(bytes, HEADER)?;
        if fields.at(VERSION_AT).u32() != VERSION {
            return None;
        }
        let identity = Identity::get(&mut fields);
        let [segment, first_batch, started_ns] = [(); 3].map(|()| fields.u64());
        let reach = fields.u32();
        let geometry = Geometry::get(&mut fields)?;
        let count = (fields.u32() as usize).min(MAX_STREAMS);
        let pinned = fields.u32();
        let streams =
            (0..count).map(|i| StreamName::get(fields.at(TABLE_AT + i * LINE_BYTES))).collect::<Option<_>>()?;
        if !are_numbers(&[segment, first_batch]) {
            return None;
        }
        Some(Self { identity, segment, first_batch, started_ns, reach, pinned, geometry, streams })
    }
}

/// What a segment holds of one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentStream {
    /// Number of frames in the segment.
    pub frames: u64,
    /// Bytes of those frames.
    pub bytes: u64,
    /// Frames that were lost before they could be written.
    pub lost: u64,
    /// Arrival of the first frame and of the last, nanoseconds since 1970.
    pub first_ns: u64,
    pub last_ns: u64,
}

impl SegmentStream {
    /// A frame that arrived then.
    pub fn add(&mut self, bytes: u64, arrival_ns: u64) {
        if self.frames == 0 {
            self.first_ns = arrival_ns;
        }
        self.frames = self.frames.saturating_add(1);
        (self.bytes, self.last_ns) = (self.bytes.saturating_add(bytes), arrival_ns);
    }

    /// So many were lost.
    pub fn lose(&mut self, frames: u64) {
        self.lost = self.lost.saturating_add(frames);
    }

    /// Both together; `later` comes behind.
    pub fn plus(self, later: Self) -> Self {
        Self {
            frames: self.frames.saturating_add(later.frames),
            bytes: self.bytes.saturating_add(later.bytes),
            lost: self.lost.saturating_add(later.lost),
            first_ns: if self.frames > 0 { self.first_ns } else { later.first_ns },
            last_ns: if later.frames > 0 { later.last_ns } else { self.last_ns },
        }
    }
}

/// The last block of a segment that is whole: what it holds, so that it need not be read to know. Can always be made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFooter {
    /// As in its header.
    pub identity: Identity,
    /// As in its header.
    pub segment: u64,
    /// Its batches are numbered from `first_batch` on, without a hole.
    pub first_batch: u64,
    /// Number of batches in the segment.
    pub batches: u64,
    /// Where they end, from the segment's start.
    pub end: u64,
    /// CRC32C over the headers' CRC32C, in order.
    pub sum: u32,
    /// By the streams' numbers.
    pub streams: Vec<SegmentStream>,
}

impl SegmentFooter {
    /// The bytes of the record.
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        let put = self.identity.put(FieldWriter::into(&mut record).bytes(FOOTER).u32(VERSION));
        let put = put.u64(self.segment).u64(self.first_batch).u64(self.batches).u64(self.end);
        let count = self.streams.len().min(MAX_STREAMS);
        let mut put = put.u32(self.sum).u32(count as u32);
        for (i, held) in self.streams.iter().take(count).enumerate() {
            let SegmentStream { frames, bytes, lost, first_ns, last_ns } = *held;
            put = put.at(TABLE_AT + i * LINE_BYTES).u64(frames).u64(bytes).u64(lost).u64(first_ns).u64(last_ns);
        }
        seal(&mut record);
        record
    }

    /// What a block says; `None` where it is no footer.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = sealed(bytes, FOOTER)?;
        if fields.at(VERSION_AT).u32() != VERSION {
            return None;
        }
        let identity = Identity::get(&mut fields);
        let [segment, first_batch, batches, end] = [(); 4].map(|()| fields.u64());
        let sum = fields.u32();
        let count = (fields.u32() as usize).min(MAX_STREAMS);
        let held = |fields: &mut FieldReader<'_>| {
            let [frames, bytes, lost, first_ns, last_ns] = [(); 5].map(|()| fields.u64());
            SegmentStream { frames, bytes, lost, first_ns, last_ns }
        };
        let streams = (0..count).map(|i| held(fields.at(TABLE_AT + i * LINE_BYTES))).collect();
        if !are_numbers(&[segment, first_batch, batches, end]) {
            return None;
        }
        Some(Self { identity, segment, first_batch, batches, end, sum, streams })
    }
}

/// A stream's line of a table, which grows where it is too short.
pub(crate) fn line<T: Clone + Default>(table: &mut Vec<T>, stream: u16) -> &mut T {
    let at = usize::from(stream);
    if table.len() <= at {
        table.resize(at + 1, T::default());
    }
    &mut table[at]
}
