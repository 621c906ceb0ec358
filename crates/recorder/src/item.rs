//! What is written as one: a batch, or the first or last block of a segment.

use crate::container::{
    BatchHeader, Entry, FrameEntry, HEADER_BYTES, Identity, Loss, PayloadLocation, StreamName, introduction,
};
use crate::frame_channel::{Arrival, Frame};
use model::Ns;

/// What an item is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The first block of a segment, or its last.
    SegmentEdge,
    Batch(BatchContent),
}

/// What a batch holds, in the order in which it came.
#[derive(Debug, Default)]
pub(crate) struct BatchContent {
    /// Its number, once it is closed.
    pub batch: u64,
    /// What it holds.
    pub arrivals: Vec<Arrival>,
    /// Bytes of its payloads, without introductions.
    pub bytes: u64,
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
    /// Its first bytes; a batch's payloads follow.
    head: Vec<u8>,
    /// How much of it was handed over.
    pub handed: u64,
    /// How much of it has been written.
    pub written: u64,
}

impl BatchContent {
    /// Adds a frame, or a note of lost ones.
    pub fn push(&mut self, arrival: Arrival) {
        if let Arrival::Frame(frame) = &arrival {
            self.bytes += frame.data.bytes().len() as u64;
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
        Self { kind: Kind::SegmentEdge, offset, length, head: record.to_vec(), handed: 0, written: 0 }
    }

    /// Bytes that a batch takes with so many streams introduced, before they are rounded up to blocks.
    pub fn batch_bytes(content: &BatchContent, introduced: usize) -> u64 {
        let entries = content.arrivals.len() + introduced;
        let introductions = introduced * crate::container::ENTRY_BYTES;
        (BatchHeader::bytes_for(entries) + introductions) as u64 + content.bytes
    }

    /// A batch at this place, and the CRC32C of its header.
    pub fn batch(
        content: BatchContent,
        introduced: &[StreamName],
        about: &BatchContext,
        offset: u64,
        length: u64,
    ) -> (Self, u32) {
        let entries = content.arrivals.len() + introduced.len();
        let mut at = BatchHeader::bytes_for(entries) as u64;
        let mut place = |bytes: usize, sum: u32| {
            let payload = PayloadLocation { offset: at, length: u32::try_from(bytes).unwrap_or(u32::MAX), sum };
            at += bytes as u64;
            payload
        };
        let introductions: Vec<Vec<u8>> = introduced.iter().map(introduction).collect();
        let introduce = |(stream, line): (&StreamName, &Vec<u8>)| Entry::Stream {
            stream: stream.stream,
            payload: place(line.len(), crc32c::crc32c(line)),
        };
        let mut lines: Vec<Entry> = introduced.iter().zip(&introductions).map(introduce).collect();
        lines.extend(content.arrivals.iter().map(|arrival| match arrival {
            Arrival::Frame(frame) => Entry::Frame(FrameEntry {
                stream: frame.account.name.stream,
                sequence: frame.sequence,
                capture_ns: frame.capture_ns,
                arrival_ns: about.clock_start_ns.saturating_add(frame.arrived),
                payload: place(frame.data.bytes().len(), frame.sum),
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
        (Self { kind: Kind::Batch(content), offset, length, head, handed: 0, written: 0 }, sum)
    }

    /// Whether all of it has been written.
    pub fn is_written(&self) -> bool {
        self.written >= self.length
    }

    /// Whether these bytes of the storage are part of it.
    pub fn covers(&self, offset: u64) -> bool {
        (self.offset..self.offset + self.length).contains(&offset)
    }

    /// Copies what belongs at this place of the storage: the one copy of a frame.
    pub fn copy(&self, offset: u64, mut into: &mut [u8]) {
        let mut skip = usize::try_from(offset - self.offset).unwrap_or(usize::MAX);
        let mut put = |bytes: &[u8]| {
            let bytes = bytes.get(skip..).unwrap_or_else(|| {
                skip -= bytes.len();
                &[]
            });
            if bytes.is_empty() {
                return;
            }
            skip = 0;
            let count = bytes.len().min(into.len());
            let (now, rest) = std::mem::take(&mut into).split_at_mut(count);
            now.copy_from_slice(&bytes[..count]);
            into = rest;
        };
        put(&self.head);
        if let Kind::Batch(content) = &self.kind {
            content.frames().for_each(|frame| put(frame.data.bytes()));
        }
        into.fill(0);
    }
}
