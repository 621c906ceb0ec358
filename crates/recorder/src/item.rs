//! What is written as one: a batch, or the first or last block of a segment.

use crate::container::{
    BatchHeader, Entry, FrameEntry, HEADER_BYTES, Identity, Loss, PayloadLocation, StreamName, introduction,
};
use crate::frame_channel::{Arrival, Frame};
use crate::ring::{LENT_BYTES, LENT_UNIT};
use model::Ns;
use std::sync::Arc;
use sys::WritePart;

/// What an item is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The first block of a segment, or its last.
    SegmentEdge,
    Batch(BatchContent),
}

/// What a batch holds, in the order in which it came.
#[derive(Debug)]
pub(crate) struct BatchContent {
    /// Its number, once it is closed.
    pub batch: u64,
    /// What it holds.
    pub arrivals: Vec<Arrival>,
    /// Bytes of its payloads, without introductions.
    pub bytes: u64,
    /// Whether long frames are written from where they lie.
    lends: bool,
    /// Bytes of those that are, with what fills their last blocks.
    lent: u64,
    /// Bytes of the others.
    packed: u64,
    /// Arrival of its first frame, by the device's clock.
    pub oldest: Ns,
}

/// A record on its way to the storage: what it is made of, and how far it is.
#[derive(Debug)]
pub(crate) struct Item {
    pub kind: Kind,
    /// Where it goes.
    pub offset: u64,
    /// Length in bytes, a multiple of the block size.
    pub length: u64,
    /// Its first bytes; a batch's payloads follow: those that are copied, then from a block on each of those that are not.
    head: Vec<u8>,
    /// Where those begin, from the item's start.
    packed_end: u64,
    /// How much of it was handed over.
    pub handed: u64,
    /// How much of it has been written.
    pub written: u64,
}

impl BatchContent {
    /// An empty one, in a container with such blocks.
    pub fn new(block_bytes: u64) -> Self {
        let lends = block_bytes <= LENT_UNIT as u64;
        Self { batch: 0, arrivals: Vec::new(), bytes: 0, lends, lent: 0, packed: 0, oldest: 0 }
    }

    /// What a frame of so many bytes would add to it.
    pub fn room_for(&self, bytes: u64) -> u64 {
        if self.is_lent(bytes) { lent_bytes(bytes) } else { bytes }
    }

    /// Its payloads, with what fills the blocks of those that have their own.
    pub fn room(&self) -> u64 {
        self.lent + self.packed
    }

    /// Whether a frame of so many bytes is written from where it lies.
    fn is_lent(&self, bytes: u64) -> bool {
        self.lends && bytes >= LENT_BYTES as u64
    }

    /// The frames that are, or those that are not.
    fn frames_by(&self, lent: bool) -> impl Iterator<Item = &Frame> {
        self.frames().filter(move |frame| self.is_lent(frame.bytes()) == lent)
    }

    /// Adds a frame, or a note of lost ones.
    pub fn push(&mut self, arrival: Arrival) {
        if let Arrival::Frame(frame) = &arrival {
            let bytes = frame.bytes();
            self.bytes += bytes;
            match self.is_lent(bytes) {
                true => self.lent += lent_bytes(bytes),
                false => self.packed += bytes,
            }
        }
        self.arrivals.push(arrival);
    }

    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.arrivals.iter().filter_map(|arrival| match arrival {
            Arrival::Frame(frame) => Some(frame),
            Arrival::Lost { .. } => None,
        })
    }

    /// The streams that occur in it.
    pub fn streams(&self) -> impl Iterator<Item = &StreamName> {
        self.arrivals.iter().map(|arrival| match arrival {
            Arrival::Frame(Frame { account, .. }) | Arrival::Lost { account, .. } => &account.name,
        })
    }

    /// Counts all frames of the batch as lost.
    pub fn mark_lost(&self, loss: Loss) {
        self.frames().for_each(|frame| frame.account.add_lost(loss, 1));
    }
}

impl Frame {
    /// Its length.
    pub(crate) fn bytes(&self) -> u64 {
        self.data.bytes().len() as u64
    }
}

/// What a frame that is written from where it lies takes: whole blocks.
fn lent_bytes(bytes: u64) -> u64 {
    bytes.next_multiple_of(LENT_UNIT as u64)
}

/// Header, directory, introductions of so many streams, and the payloads that are copied.
fn packed_bytes(content: &BatchContent, introduced: usize) -> u64 {
    let head = BatchHeader::bytes_for(content.arrivals.len() + introduced) + introduced * crate::container::ENTRY_BYTES;
    head as u64 + content.packed
}

/// What the head of a batch says beyond what is in it.
pub(crate) struct BatchContext {
    pub identity: Identity,
    pub segment: u64,
    pub acknowledged: u64,
    pub closed_ns: u64,
    pub rewritten: bool,
    /// Nanoseconds since 1970 at the start of the device's clock.
    pub clock_start_ns: u64,
}

impl Item {
    /// The first or the last block of a segment.
    pub fn segment_edge(record: &[u8], offset: u64, block_bytes: u64) -> Self {
        let length = (record.len() as u64).next_multiple_of(block_bytes);
        Self {
            kind: Kind::SegmentEdge,
            offset,
            length,
            head: record.to_vec(),
            packed_end: length,
            handed: 0,
            written: 0,
        }
    }

    /// Bytes that a batch takes with so many streams introduced, with what fills its blocks.
    pub fn batch_bytes(content: &BatchContent, introduced: usize, block_bytes: u64) -> u64 {
        packed_bytes(content, introduced).next_multiple_of(block_bytes) + content.lent
    }

    /// A batch at this place, and the CRC32C of its header.
    pub fn batch(
        content: BatchContent,
        introduced: &[StreamName],
        about: &BatchContext,
        offset: u64,
        block_bytes: u64,
    ) -> (Self, u32) {
        let length = Self::batch_bytes(&content, introduced.len(), block_bytes);
        let entries = content.arrivals.len() + introduced.len();
        let mut at = BatchHeader::bytes_for(entries) as u64;
        let packed_end = packed_bytes(&content, introduced.len()).next_multiple_of(block_bytes);
        let mut lent_at = packed_end;
        let mut place = |bytes: usize, sum: u32, is_lent: bool| {
            let (next, takes) =
                if is_lent { (&mut lent_at, lent_bytes(bytes as u64)) } else { (&mut at, bytes as u64) };
            let payload = PayloadLocation { offset: *next, length: u32::try_from(bytes).unwrap_or(u32::MAX), sum };
            *next += takes;
            payload
        };
        let introductions: Vec<Vec<u8>> = introduced.iter().map(introduction).collect();
        let introduce = |(stream, line): (&StreamName, &Vec<u8>)| Entry::Stream {
            stream: stream.stream,
            payload: place(line.len(), crc32c::crc32c(line), false),
        };
        let mut lines: Vec<Entry> = introduced.iter().zip(&introductions).map(introduce).collect();
        lines.extend(content.arrivals.iter().map(|arrival| match arrival {
            Arrival::Frame(frame) => Entry::Frame(FrameEntry {
                stream: frame.account.name.stream,
                sequence: frame.sequence,
                capture_ns: frame.capture_ns,
                arrival_ns: about.clock_start_ns.saturating_add(frame.arrived),
                payload: place(frame.data.bytes().len(), frame.sum, content.is_lent(frame.bytes())),
            }),
            Arrival::Lost { account, sequence, count, loss } => {
                Entry::Lost { stream: account.name.stream, sequence: *sequence, count: *count, loss: *loss }
            }
        }));
        let header = BatchHeader {
            identity: about.identity,
            segment: about.segment,
            batch: content.batch,
            acknowledged: about.acknowledged,
            closed_ns: about.closed_ns,
            rewritten: about.rewritten,
            length,
            entries: lines,
        };
        let mut head = header.encode();
        let sum = u32::from_le_bytes(head[HEADER_BYTES - 4..HEADER_BYTES].try_into().unwrap_or_default());
        introductions.iter().for_each(|line| head.extend_from_slice(line));
        (Self { kind: Kind::Batch(content), offset, length, head, packed_end, handed: 0, written: 0 }, sum)
    }

    /// Whether all of it has been written.
    pub fn is_written(&self) -> bool {
        self.written >= self.length
    }

    /// Whether these bytes of the storage are part of it.
    pub fn covers(&self, offset: u64) -> bool {
        (self.offset..self.offset + self.length).contains(&offset)
    }

    /// The parts of a write of so many bytes from this place of the item on: what has no block of its own is put into the buffer, the
    /// rest is sent from where it lies. How many bytes of frames were copied, and how many are sent so.
    pub fn gather(&self, from: u64, length: u64, buffer: &mut [u8], parts: &mut Vec<WritePart>) -> (u64, u64) {
        let to = from + length;
        let (mut copied, mut lent) = (0, 0);
        if from < self.packed_end {
            let own = (self.packed_end.min(to) - from) as usize;
            copied = self.copy(from, &mut buffer[..own]);
            parts.push(WritePart::Buffer(own));
        }
        let Kind::Batch(content) = &self.kind else { return (copied, lent) };
        let mut start = self.packed_end;
        for frame in content.frames_by(true) {
            let end = start + lent_bytes(frame.bytes());
            let part = from.max(start)..to.min(end);
            if !part.is_empty() {
                let within = (part.start - start) as usize..(part.end - start) as usize;
                lent += (within.end as u64).min(frame.bytes()).saturating_sub(within.start as u64);
                parts.push(WritePart::Piece(Arc::clone(&frame.data), within));
            }
            start = end;
        }
        (copied, lent)
    }

    /// Copies what belongs at this place of what is copied; how many bytes of frames that was.
    fn copy(&self, from: u64, mut into: &mut [u8]) -> u64 {
        let mut skip = usize::try_from(from).unwrap_or(usize::MAX);
        let mut put = |bytes: &[u8]| {
            let bytes = bytes.get(skip..).unwrap_or_else(|| {
                skip -= bytes.len();
                &[]
            });
            if bytes.is_empty() {
                return 0;
            }
            skip = 0;
            let count = bytes.len().min(into.len());
            let (now, rest) = std::mem::take(&mut into).split_at_mut(count);
            now.copy_from_slice(&bytes[..count]);
            into = rest;
            count as u64
        };
        put(&self.head);
        let copied = match &self.kind {
            Kind::Batch(content) => content.frames_by(false).map(|frame| put(frame.data.bytes())).sum(),
            Kind::SegmentEdge => 0,
        };
        into.fill(0);
        copied
    }
}
