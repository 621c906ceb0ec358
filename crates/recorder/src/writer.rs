//! The writer: frames become batches, batches operations of the engine's loop, and flushes acknowledgements.
//!
//! A batch closes when it has a mebibyte, or when its first frame has waited for half of the latency that was asked for. It is
//! acknowledged when it and all before it are written and flushed; only then the ring has its memory back. After a write or a
//! flush that failed nothing that was not acknowledged is believed to be there: all of it goes into a fresh segment.

mod segment;
mod settings;

use crate::account::Accounts;
use crate::container::{Loss, SegmentFooter, SegmentHeader, WhenFull};
use crate::frame_channel::{Arrival, Frame, FrameSource, Polled};
use crate::item::{BatchContent, BatchContext, Item, Kind};
use engine::{DataSource, Device};
use model::{Histogram, Ns};
use segment::{Open, unknown};
pub use settings::{FrameTime, MAX_FRAME_TIMES, SpaceProvider, WriterSettings};
use std::collections::VecDeque;
use std::sync::Arc;
use sys::WritePart;
use workload::{BlockOp, Next, OpKind, OpResult, Source};

/// A batch of so many bytes is not made longer.
const BATCH_BYTES: u64 = 1 << 20;
/// Entries of a batch at most: the directory of so many tiny frames has as many bytes as a batch.
const BATCH_ENTRIES: usize = 8192;
/// Fresh segments that are tried one after the other without anything acknowledged in between.
const MAX_MOVES: u32 = 8;
/// A part of the ring so large is not left unacknowledged.
const UNFLUSHED_SHARE: u64 = 4;

/// What came of a recording, beyond the counters of its streams.
#[derive(Clone, Debug, Default)]
pub struct WriterOutcome {
    /// Age of frames when they were acknowledged.
    pub ages: Histogram,
    /// When each was written, where that is kept.
    pub times: Vec<FrameTime>,
    /// Bytes of frames that were acknowledged.
    pub durable_bytes: u64,
    /// Bytes that were handed to the storage, with heads and padding.
    pub written_bytes: u64,
    /// Bytes of frames that were copied on their way from the ring to the storage.
    pub copied_bytes: u64,
    /// Those that were written from where they lay in the ring.
    pub uncopied_bytes: u64,
    /// Flushes that succeeded.
    pub flushes: u64,
    /// The slowest of them.
    pub slowest_flush_ns: Ns,
    /// Segments that were begun.
    pub segments: u64,
    /// Writes and flushes that failed.
    pub failures: u64,
    /// The errno of the last of them.
    pub errno: Option<i32>,
    /// What made it end before the producers did.
    pub ended_by: Option<Loss>,
}

/// A flush in flight.
#[derive(Clone, Copy, Debug)]
struct Flush {
    number: u64,
    /// How many of the items it covers.
    covers: usize,
    begun: Ns,
}

/// The writer as a source of operations, with their data.
#[derive(Debug)]
pub struct WriterSource<I> {
    settings: WriterSettings,
    frame_source: I,
    accounts: Arc<Accounts>,
    ended: bool,
    filling: BatchContent,
    open: Option<Open>,
    next_segment: u64,
    next_batch: u64,
    /// Batches with lower numbers are durable.
    acknowledged: u64,
    /// What is not acknowledged, in order; of the first `handed` all was handed over.
    items: VecDeque<Item>,
    handed: usize,
    unacknowledged_bytes: u64,
    /// Segments that are full: sealed once their last batch is acknowledged.
    full: VecDeque<Open>,
    flush: Option<Flush>,
    flushes: u64,
    moves: u32,
    /// The item of the operation that was handed out last, and where in it that begins.
    current: (usize, u64),
    /// Of its data; kept for its memory.
    parts: Vec<WritePart>,
    written: WriterOutcome,
}

impl<I: FrameSource> DataSource for WriterSource<I> {
    fn generates(&self) -> bool {
        true
    }

    /// The operation is the one that was handed out last.
    fn prepare<D: Device<Op = BlockOp>>(&mut self, op: &BlockOp, device: &mut D) {
        let (item, from) = self.current;
        let Some(item) = self.items.get(item) else { return };
        let buffer = &mut device.buffer(op.buffer)[..op.len as usize];
        let (copied, lent) = item.gather(from, op.len.into(), buffer, &mut self.parts);
        // What is all in the operation's own buffer is there.
        let sent = if let [WritePart::Buffer(_)] = self.parts[..] {
            self.parts.clear();
            false
        } else {
            device.gather(op.buffer, &mut self.parts)
        };
        let (copied, uncopied) = if sent { (copied, lent) } else { (copied + lent, 0) };
        self.written.copied_bytes += copied;
        self.written.uncopied_bytes += uncopied;
    }
}

impl<I: FrameSource> Source for WriterSource<I> {
    type Op = BlockOp;

    fn next(&mut self, now: Ns) -> Next<BlockOp> {
        let wake = self.receive(now);
        if self.flush_is_due(now) {
            return Next::Op(self.begin_flush(now));
        }
        if let Some(op) = self.piece() {
            return Next::Op(op);
        }
        if self.ended && self.filling.arrivals.is_empty() && self.items.is_empty() {
            if self.seal_last() {
                return self.piece().map_or(Next::Done, Next::Op);
            }
            return Next::Done;
        }
        let half = self.settings.max_latency_ns / 2;
        let closes = (!self.filling.arrivals.is_empty()).then(|| self.filling.oldest.saturating_add(half));
        let flushes = self.oldest_written().filter(|_| self.flush.is_none()).map(|oldest| oldest.saturating_add(half));
        let wake = [wake, closes, flushes].into_iter().flatten().min();
        Next::WaitUntil(wake.unwrap_or(Ns::MAX))
    }

    fn on_completion(&mut self, op: &BlockOp, outcome: OpResult) {
        let sync = op.kind == OpKind::Fdatasync;
        if sync && self.flush.is_none_or(|flush| flush.number != op.offset) {
            // It was of no matter any more when it ended.
            return;
        }
        match outcome.result {
            Ok(_) if sync => self.flushed(outcome.at_ns),
            Ok(bytes) => {
                let Some(item) = self.items.iter_mut().find(|item| item.covers(op.offset)) else { return };
                if bytes < op.len {
                    return self.failed(None, outcome.at_ns);
                }
                item.written += u64::from(bytes);
                if let (true, true, Kind::Batch(content)) = (self.settings.keep_times, item.is_written(), &item.kind) {
                    let room = MAX_FRAME_TIMES.saturating_sub(self.written.times.len());
                    let time = |frame: &Frame| FrameTime { arrived: frame.arrived, written: outcome.at_ns };
                    self.written.times.extend(content.frames().take(room).map(time));
                }
            }
            Err(errno) if sync || self.items.iter().any(|item| item.covers(op.offset)) => {
                self.failed(Some(errno), outcome.at_ns);
            }
            Err(_) => {}
        }
    }
}

impl<I: FrameSource> WriterSource<I> {
    /// The writer of what comes by `frame_source`.
    pub fn new(settings: WriterSettings, accounts: Arc<Accounts>, frame_source: I) -> Self {
        Self {
            frame_source,
            accounts,
            ended: false,
            filling: BatchContent::new(settings.geometry.block_bytes),
            open: None,
            next_segment: settings.next_segment,
            next_batch: settings.next_batch,
            acknowledged: settings.next_batch,
            items: VecDeque::with_capacity(1024),
            handed: 0,
            unacknowledged_bytes: 0,
            full: VecDeque::new(),
            flush: None,
            flushes: 0,
            moves: 0,
            current: (0, 0),
            parts: Vec::new(),
            written: WriterOutcome::default(),
            settings,
        }
    }

    /// The loop has ended: what is not acknowledged is lost.
    pub fn finish(mut self) -> WriterOutcome {
        let loss = self.written.ended_by.unwrap_or(Loss::Storage);
        self.give_up(loss);
        loop {
            match self.frame_source.poll(Ns::MAX) {
                Polled::Arrival(Arrival::Frame(frame)) => frame.account.add_lost(loss, 1),
                Polled::Arrival(Arrival::Lost { .. }) => {}
                Polled::Until(_) | Polled::Nothing | Polled::Ended => return self.written,
            }
        }
    }

    /// What is filled; an empty one takes its place.
    fn take_filling(&mut self) -> BatchContent {
        std::mem::replace(&mut self.filling, BatchContent::new(self.settings.geometry.block_bytes))
    }

    /// Takes what has come, and closes the batch where that is due. When there is more, if that is known.
    fn receive(&mut self, now: Ns) -> Option<Ns> {
        let mut wake = None;
        while !self.ended {
            match self.frame_source.poll(now) {
                Polled::Arrival(arrival) => self.add(arrival, now),
                Polled::Until(moment) => {
                    wake = Some(moment);
                    break;
                }
                Polled::Nothing => break,
                Polled::Ended => self.ended = true,
            }
            // What is handed over is handed over at once; the rest is taken when there is room for more.
            if self.handed < self.items.len() {
                break;
            }
        }
        let waited = now.saturating_sub(self.filling.oldest) >= self.settings.max_latency_ns / 2;
        if !self.filling.arrivals.is_empty() && (waited || self.ended) {
            self.close(now);
        }
        wake
    }

    fn add(&mut self, arrival: Arrival, now: Ns) {
        if let Some(loss) = self.written.ended_by {
            if let Arrival::Frame(frame) = &arrival {
                frame.account.add_lost(loss, 1);
            }
            return;
        }
        let bytes = match &arrival {
            Arrival::Frame(frame) => self.filling.room_for(frame.bytes()),
            Arrival::Lost { .. } => 0,
        };
        let largest = self.settings.geometry.segment_bytes / 2;
        if self.filling.room() + bytes > largest {
            self.close(now);
        }
        if self.filling.arrivals.is_empty() {
            self.filling.oldest = match &arrival {
                Arrival::Frame(frame) => frame.arrived,
                Arrival::Lost { .. } => now,
            };
        }
        self.filling.push(arrival);
        let full = self.filling.room() >= BATCH_BYTES.min(largest / 2);
        if full || self.filling.arrivals.len() >= BATCH_ENTRIES {
            self.close(now);
        }
    }

    /// The batch that is filled becomes an item.
    fn close(&mut self, now: Ns) {
        let mut content = self.take_filling();
        if content.arrivals.is_empty() {
            return;
        }
        content.batch = self.next_batch;
        self.next_batch += 1;
        self.unacknowledged_bytes += content.bytes;
        self.place(content, now, false);
    }

    /// Gives a batch its place, in a new segment where the one that is written to has no room.
    fn place(&mut self, content: BatchContent, now: Ns, rewritten: bool) {
        if let Some(loss) = self.written.ended_by {
            return content.mark_lost(loss);
        }
        let geometry = self.settings.geometry;
        let new = self.open.as_ref().map_or_else(Vec::new, |open| unknown(open, &content));
        let length = Item::batch_bytes(&content, new.len(), geometry.block_bytes);
        let room = |open: &Open| open.end + length <= geometry.segment_bytes - geometry.block_bytes;
        if !self.open.as_ref().is_some_and(room)
            && let Err(loss) = self.begin_segment(content.batch, now)
        {
            return self.end(loss, content);
        }
        let Some(open) = &mut self.open else { return };
        // A new segment introduces those streams in its first block that are known by then.
        let new = unknown(open, &content);
        let about = BatchContext {
            identity: self.settings.identity,
            segment: open.segment,
            acknowledged: self.acknowledged,
            closed_ns: self.settings.clock_start_ns.saturating_add(now),
            rewritten,
            clock_start_ns: self.settings.clock_start_ns,
        };
        open.count(&content, &about, &new);
        let offset = geometry.offset_of(open.segment) + open.end;
        let (item, sum) = Item::batch(content, &new, &about, offset, geometry.block_bytes);
        open.sums = crc32c::crc32c_append(open.sums, &sum.to_le_bytes());
        (open.end, open.batches) = (open.end + item.length, open.batches + 1);
        self.items.push_back(item);
    }

    /// Begins the next segment, where there is room for one.
    fn begin_segment(&mut self, first_batch: u64, now: Ns) -> Result<(), Loss> {
        let geometry = self.settings.geometry;
        if geometry.when_full == WhenFull::Stop && self.next_segment >= geometry.segments {
            return Err(Loss::ContainerFull);
        }
        let pins = self.settings.pins.now();
        let segment = self.settings.next_unpinned(self.next_segment, &pins).ok_or(Loss::ContainerFull)?;
        if self.settings.room.as_ref().is_some_and(|room| !room.ensure(segment + 1)) {
            return Err(Loss::NoRoom);
        }
        self.full.extend(self.open.take());
        self.next_segment = segment + 1;
        let streams = self.accounts.names();
        let header = SegmentHeader {
            identity: self.settings.identity,
            segment,
            first_batch,
            started_ns: self.settings.clock_start_ns.saturating_add(now),
            reach: self.settings.segments_in_flight(),
            pinned: u32::try_from(pins.segments()).unwrap_or(u32::MAX),
            geometry,
            streams,
        };
        let known = vec![true; header.streams.len()];
        let end = geometry.block_bytes;
        self.items.push_back(Item::segment_edge(&header.encode(), geometry.offset_of(segment), geometry.block_bytes));
        self.open = Some(Open { segment, first_batch, batches: 0, end, sums: 0, held: Vec::new(), known });
        self.written.segments += 1;
        Ok(())
    }

    /// The next part of what is to be written.
    fn piece(&mut self) -> Option<BlockOp> {
        let item = self.items.get_mut(self.handed)?;
        let len = (item.length - item.handed).min(self.settings.piece_bytes);
        let offset = item.offset + item.handed;
        self.current = (self.handed, item.handed);
        item.handed += len;
        if item.handed == item.length {
            self.handed += 1;
        }
        self.written.written_bytes += len;
        let priority = self.settings.priority;
        Some(BlockOp { kind: OpKind::Write, offset, len: len as u32, priority, ..BlockOp::default() })
    }

    /// How many items, from the first on, are written.
    fn written_items(&self) -> usize {
        self.items.iter().take_while(|item| item.is_written()).count()
    }

    /// Arrival of the oldest frame that is written and not acknowledged.
    fn oldest_written(&self) -> Option<Ns> {
        let batch = |item: &Item| match &item.kind {
            Kind::Batch(content) => Some(content.oldest),
            Kind::SegmentEdge => None,
        };
        self.items.iter().take_while(|item| item.is_written()).find_map(batch)
    }

    fn flush_is_due(&self, now: Ns) -> bool {
        if self.flush.is_some() || !self.items.front().is_some_and(Item::is_written) {
            return false;
        }
        let age = self.oldest_written().map(|oldest| now.saturating_sub(oldest));
        let much = self.unacknowledged_bytes >= self.settings.ring_bytes / UNFLUSHED_SHARE;
        let all = self.ended && self.written_items() == self.items.len();
        all || age.is_some_and(|age| much || age >= self.settings.max_latency_ns / 2)
    }

    fn begin_flush(&mut self, now: Ns) -> BlockOp {
        self.flushes += 1;
        self.flush = Some(Flush { number: self.flushes, covers: self.written_items(), begun: now });
        // A flush has no place: it carries its number, so that one of before a failure is known when it returns.
        BlockOp { kind: OpKind::Fdatasync, offset: self.flushes, ..BlockOp::default() }
    }

    /// What the flush covers is durable.
    fn flushed(&mut self, now: Ns) {
        let Some(Flush { covers: covered, begun, .. }) = self.flush.take() else { return };
        self.written.slowest_flush_ns = self.written.slowest_flush_ns.max(now.saturating_sub(begun));
        self.written.flushes += 1;
        self.moves = 0;
        for item in self.items.drain(..covered) {
            if let Kind::Batch(content) = item.kind {
                self.acknowledged = content.batch + 1;
                self.unacknowledged_bytes -= content.bytes;
                for frame in content.frames() {
                    let bytes = frame.bytes();
                    frame.account.add_durable(bytes);
                    self.written.durable_bytes += bytes;
                    self.written.ages.record(now.saturating_sub(frame.arrived));
                }
            }
        }
        self.handed -= covered;
        while self.full.front().is_some_and(|full| full.first_batch + full.batches <= self.acknowledged) {
            if let Some(full) = self.full.pop_front() {
                self.seal(&full);
            }
        }
    }

    /// Writes the last block of a segment of which all is durable.
    fn seal(&mut self, full: &Open) {
        let geometry = self.settings.geometry;
        let footer = SegmentFooter {
            identity: self.settings.identity,
            segment: full.segment,
            first_batch: full.first_batch,
            batches: full.batches,
            end: full.end,
            sum: full.sums,
            streams: full.held.clone(),
        };
        let offset = geometry.offset_of(full.segment) + geometry.segment_bytes - geometry.block_bytes;
        self.items.push_back(Item::segment_edge(&footer.encode(), offset, geometry.block_bytes));
    }

    /// Everything is durable: the segment that was written to is sealed, too. `false` where it is already.
    fn seal_last(&mut self) -> bool {
        let Some(open) = self.open.take() else { return false };
        self.seal(&open);
        true
    }

    /// Nothing that is not acknowledged can be believed to be on the storage: all of it is written anew, elsewhere.
    fn failed(&mut self, errno: Option<i32>, now: Ns) {
        self.written.failures += 1;
        self.written.errno = errno.or(self.written.errno);
        self.moves += 1;
        if self.moves > MAX_MOVES {
            return self.give_up(Loss::Storage);
        }
        (self.flush, self.open, self.handed) = (None, None, 0);
        self.full.clear();
        for item in std::mem::take(&mut self.items) {
            if let Kind::Batch(content) = item.kind {
                self.place(content, now, true);
            }
        }
    }

    /// Recording ends: there is no place for this, nor for what comes.
    fn end(&mut self, loss: Loss, content: BatchContent) {
        content.mark_lost(loss);
        self.unacknowledged_bytes = self.unacknowledged_bytes.saturating_sub(content.bytes);
        self.written.ended_by = Some(loss);
        self.ended = true;
        self.frame_source.end();
    }

    /// The same for all that is not acknowledged.
    fn give_up(&mut self, loss: Loss) {
        let filling = self.take_filling();
        let rest = std::mem::take(&mut self.items).into_iter().filter_map(|item| match item.kind {
            Kind::Batch(content) => Some(content),
            Kind::SegmentEdge => None,
        });
        let rest: Vec<BatchContent> = rest.chain([filling]).filter(|c| !c.arrivals.is_empty()).collect();
        (self.flush, self.open, self.handed, self.unacknowledged_bytes) = (None, None, 0, 0);
        self.full.clear();
        if rest.iter().any(|content| content.frames().next().is_some()) {
            rest.into_iter().for_each(|content| self.end(loss, content));
        }
    }
}
