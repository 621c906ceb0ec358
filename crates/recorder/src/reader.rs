//! Reading a container: also one that is being written, and one whose writer was killed.
//!
//! Opening reads the superblocks and the first and last block of each segment; only segments that were not sealed are gone
//! through. Nothing is believed that has no right CRC32C of this container.

use crate::container::{
    BatchHeader, Entry, FrameEntry, Geometry, HEADER_BYTES, PayloadLocation, RECORD_BYTES, SegmentFooter,
    SegmentHeader, SegmentStream, StreamName, Superblock, line,
};
use crate::damage::Damage;
use crate::opening::superblock;
use crate::read_error::{ReadError, read};
use crate::store::Store;
use model::CompactSort as _;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// What is looked through at once for the next batch.
const WINDOW_BYTES: usize = 1 << 20;
/// The same where what lies between directories is of no matter.
const DIRECTORY_BYTES: usize = 16 << 10;

/// A segment that was found.
#[derive(Clone, Debug)]
pub struct Segment {
    /// What its first block says.
    pub header: SegmentHeader,
    /// What its last block says, where it is sealed.
    pub footer: Option<SegmentFooter>,
    /// Batches from this number on are in a later segment.
    pub until_batch: u64,
}

/// A batch, where it lies.
#[derive(Clone, Debug)]
pub struct BatchLocation {
    /// From the container's start.
    pub offset: u64,
    /// What it says.
    pub header: BatchHeader,
    /// The CRC32C that vouches for that.
    pub sum: u32,
}

/// A frame, where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLocation {
    /// Which opening of the container it is of.
    pub epoch: u32,
    /// The number of its batch.
    pub batch: u64,
    /// Whether it is known to have been acknowledged: where not, the recording ended before that could be written.
    pub acknowledged: bool,
    /// As the directory says it; its payload's place is from the container's start.
    pub entry: FrameEntry,
}

/// What there is of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamContents {
    /// What it is, and is called.
    pub name: StreamName,
    /// Number and bytes of its frames.
    pub held: SegmentStream,
}

/// From when to when a segment has frames, by their arrival, nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Number of the segment.
    pub segment: u64,
    /// The first frame.
    pub from_ns: u64,
    /// The last one.
    pub to_ns: u64,
}

/// A time of which nothing is there, by the arrival of the frames around it, nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last frame before it.
    pub from_ns: u64,
    /// The first one after it.
    pub to_ns: u64,
    /// Whether it was there; else nothing was recorded.
    pub overwritten: bool,
}

/// Sees a frame of a stream, with its bytes; `None` for bytes that are not what was written. Whether it goes on.
pub type FrameVisitor<'a> = dyn FnMut(&StreamName, &FrameLocation, Option<&[u8]>) -> ControlFlow<()> + 'a;

/// A container that is read.
#[derive(Debug)]
pub struct Container<S> {
    store: S,
    pub superblock: Superblock,
    /// What was wrong with its superblocks.
    pub damage: Vec<Damage>,
    segments: Vec<Segment>,
}

impl<S: Store> Container<S> {
    /// Finds out what it is, and which segments it has.
    ///
    /// # Errors
    /// It is no container, or one of a later version; the storage failed.
    pub fn open(store: S) -> Result<Self, ReadError> {
        let (superblock, damage) = superblock(&store)?;
        let mut container = Self { store, superblock, damage, segments: Vec::new() };
        container.segments = container.find_segments()?;
        Ok(container)
    }

    /// What the container is read from.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Where segments and blocks lie.
    pub fn geometry(&self) -> &Geometry {
        &self.superblock.geometry
    }

    /// Its segments, the oldest first.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The numbers of the segment and the batch that come next: nothing that is there has such, or higher ones.
    ///
    /// # Errors
    /// The storage failed.
    pub fn next_numbers(&self) -> Result<(u64, u64), ReadError> {
        let Some(last) = self.segments.last() else { return Ok((0, 0)) };
        let mut next = last.header.first_batch.max(last.footer.as_ref().map_or(0, |f| f.first_batch + f.batches));
        if last.footer.is_none() {
            self.each(last, &mut |batch| {
                next = next.max(batch.header.batch + 1);
            })?;
        }
        // What was moved may have had higher numbers before.
        for segment in self.segments.iter().rev().skip(1).take_while(|s| s.footer.is_none()) {
            self.each(segment, &mut |batch| {
                next = next.max(batch.header.batch + 1);
            })?;
        }
        Ok((last.header.segment + 1, next))
    }

    fn find_segments(&self) -> Result<Vec<Segment>, ReadError> {
        let geometry = *self.geometry();
        let mut segments = Vec::new();
        let length = self.store.length().map_err(|source| ReadError::Io { offset: 0, source })?;
        for slot in 0..geometry.segments {
            let offset = geometry.offset_of(slot);
            if offset >= length {
                break;
            }
            let Some(header) = SegmentHeader::decode(&read(&self.store, offset, RECORD_BYTES)?) else { continue };
            let belongs = header.identity.uuid == self.superblock.identity.uuid
                && header.geometry == geometry
                && header.segment % geometry.segments == slot;
            if belongs {
                let last = offset + geometry.segment_bytes - geometry.block_bytes;
                let footer = |at| -> Result<Option<SegmentFooter>, ReadError> {
                    let footer = SegmentFooter::decode(&read(&self.store, at, RECORD_BYTES)?);
                    Ok(footer.filter(|f| f.identity == header.identity && f.segment == header.segment))
                };
                // Of the last one of a file that was cut off it stands behind the batches.
                let cut = self.superblock.second_place(length).saturating_sub(geometry.block_bytes);
                let footer = match footer(last)? {
                    None if self.superblock.gives_back && (offset..last).contains(&cut) => footer(cut)?,
                    other => other,
                };
                segments.push(Segment { header, footer, until_batch: u64::MAX });
            }
        }
        segments.compact_sort_by_key(|s| s.header.segment);
        let mut until = u64::MAX;
        for segment in segments.iter_mut().rev() {
            segment.until_batch = until;
            until = until.min(segment.header.first_batch);
        }
        Ok(segments)
    }

    /// Gives the batches of a segment, in the order in which they lie, also those behind a gap; ends at the visitor's first error.
    fn walk(
        &self,
        segment: &Segment,
        window: usize,
        visit: &mut dyn FnMut(BatchLocation) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let geometry = self.geometry();
        let start = geometry.offset_of(segment.header.segment);
        let end = match &segment.footer {
            Some(footer) => footer.end.min(geometry.segment_bytes),
            None => geometry.segment_bytes - geometry.block_bytes,
        };
        let mut window = Window { store: &self.store, least: window, offset: 0, bytes: Vec::new() };
        let mut at = geometry.block_bytes;
        while at < end {
            let found = self.batch_at(&mut window, start + at, &segment.header)?;
            match found.filter(|batch| at + batch.header.length <= end && batch.header.length > 0) {
                Some(batch) => {
                    at += geometry.blocks(batch.header.length);
                    if batch.header.batch < segment.until_batch && visit(batch)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                None => at += geometry.block_bytes,
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The same, of all of them.
    pub(crate) fn each(&self, segment: &Segment, visit: &mut dyn FnMut(BatchLocation)) -> Result<(), ReadError> {
        let visit = &mut |batch| {
            visit(batch);
            Ok(ControlFlow::Continue(()))
        };
        self.walk(segment, WINDOW_BYTES, visit).map(drop)
    }

    /// Gives the directory's line of each frame of the streams of this name, the oldest first: little is read beside directories.
    ///
    /// # Errors
    /// The storage failed.
    pub fn directory(&self, stream: Option<&str>, visit: &mut dyn FnMut(&FrameEntry)) -> Result<(), ReadError> {
        let names = self.names()?;
        for segment in &self.segments {
            let epoch = segment.header.identity.epoch;
            let named = |number| names.get(&(epoch, number)).map_or("", |name| name.name.as_str());
            let _ = self.walk(segment, DIRECTORY_BYTES, &mut |batch| {
                for entry in &batch.header.entries {
                    match entry {
                        Entry::Frame(frame) if stream.is_none_or(|s| s == named(frame.stream)) => visit(frame),
                        _ => {}
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(())
    }

    fn batch_at(
        &self,
        window: &mut Window<'_, S>,
        offset: u64,
        segment: &SegmentHeader,
    ) -> Result<Option<BatchLocation>, ReadError> {
        let Some(length) = BatchHeader::measure(window.at(offset, HEADER_BYTES)?) else { return Ok(None) };
        if length as u64 > self.geometry().segment_bytes {
            return Ok(None);
        }
        let Some((header, sum)) = BatchHeader::decode(window.at(offset, length)?) else { return Ok(None) };
        let belongs = header.identity == segment.identity && header.segment == segment.segment;
        Ok(belongs.then_some(BatchLocation { offset, header, sum }))
    }

    /// Batches with lower numbers were acknowledged, by opening, as far as that was written.
    ///
    /// # Errors
    /// The storage failed.
    pub fn acknowledged(&self) -> Result<BTreeMap<u32, u64>, ReadError> {
        let mut all: BTreeMap<u32, u64> = BTreeMap::new();
        for segment in &self.segments {
            let known = all.entry(segment.header.identity.epoch).or_default();
            match &segment.footer {
                Some(footer) => *known = (*known).max(footer.first_batch + footer.batches),
                None => {
                    self.each(segment, &mut |batch| {
                        *known = (*known).max(batch.header.acknowledged);
                    })?;
                }
            }
        }
        Ok(all)
    }

    /// The names of the streams of each opening.
    fn names(&self) -> Result<BTreeMap<(u32, u16), StreamName>, ReadError> {
        let mut names = BTreeMap::new();
        for segment in &self.segments {
            let epoch = segment.header.identity.epoch;
            for stream in &segment.header.streams {
                names.insert((epoch, stream.stream), stream.clone());
            }
            let named = segment.header.streams.len();
            if segment.footer.as_ref().is_none_or(|f| f.streams.len() > named) {
                let _ = self.walk(segment, WINDOW_BYTES, &mut |batch| {
                    for entry in &batch.header.entries {
                        let Entry::Stream { stream, payload } = entry else { continue };
                        let line =
                            self.payload(&PayloadLocation { offset: batch.offset + payload.offset, ..*payload })?;
                        let name = line.and_then(|line| StreamName::introduced(&line));
                        names.extend(name.map(|name| ((epoch, *stream), name)));
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            }
        }
        Ok(names)
    }

    /// A payload, by its place from the container's start; `None` where it is not what was written.
    ///
    /// # Errors
    /// The storage failed.
    pub fn payload(&self, payload: &PayloadLocation) -> Result<Option<Vec<u8>>, ReadError> {
        let bytes = read(&self.store, payload.offset, payload.length as usize)?;
        Ok((crc32c::crc32c(&bytes) == payload.sum).then_some(bytes))
    }

    /// From when to when each segment that has frames has them.
    ///
    /// # Errors
    /// The storage failed.
    pub fn spans(&self) -> Result<Vec<Span>, ReadError> {
        let mut spans = Vec::new();
        for segment in &self.segments {
            let held = self.held_by(segment)?;
            let lines = || held.iter().filter(|line| line.frames > 0);
            let span = lines().map(|line| line.first_ns).min().zip(lines().map(|line| line.last_ns).max());
            spans.extend(span.map(|(from_ns, to_ns)| Span { segment: segment.header.segment, from_ns, to_ns }));
        }
        Ok(spans)
    }

    /// From when to when nothing is there, though something is from before and after it: what was overwritten, since batches are numbered
    /// without gaps and segments are not where some are pinned; and what lies between two recordings.
    ///
    /// # Errors
    /// The storage failed.
    pub fn gaps(&self) -> Result<Vec<Gap>, ReadError> {
        let spans = self.spans()?;
        let span = |segment: &Segment| spans.iter().find(|span| span.segment == segment.header.segment);
        let gap = |pair: &[Segment]| {
            let overwritten =
                pair[0].footer.as_ref().is_some_and(|f| pair[1].header.first_batch > f.first_batch + f.batches);
            let apart = pair[0].header.identity.epoch != pair[1].header.identity.epoch;
            let (from_ns, to_ns) = (span(&pair[0])?.to_ns, span(&pair[1])?.from_ns);
            (overwritten || apart && to_ns > from_ns).then_some(Gap { from_ns, to_ns, overwritten })
        };
        Ok(self.segments.windows(2).filter_map(gap).collect())
    }

    /// The arrival of the oldest frame that is there, where older ones were overwritten.
    ///
    /// # Errors
    /// The storage failed.
    pub fn overwritten_before(&self) -> Result<Option<u64>, ReadError> {
        let older = self.segments.first().is_some_and(|segment| segment.header.first_batch > 0);
        Ok(if older { self.spans()?.iter().map(|span| span.from_ns).min() } else { None })
    }

    /// What a segment holds: of a sealed one as its last block says it.
    fn held_by(&self, segment: &Segment) -> Result<Vec<SegmentStream>, ReadError> {
        match &segment.footer {
            Some(footer) if footer.first_batch + footer.batches <= segment.until_batch => Ok(footer.streams.clone()),
            _ => self.segment_streams(segment),
        }
    }

    /// What there is, by stream: of sealed segments as their last block says it.
    ///
    /// # Errors
    /// The storage failed.
    pub fn streams(&self) -> Result<Vec<StreamContents>, ReadError> {
        let names = self.names()?;
        let mut streams: Vec<StreamContents> = Vec::new();
        for segment in &self.segments {
            for (stream, held) in self.held_by(segment)?.into_iter().enumerate() {
                let number = stream as u16;
                if held == SegmentStream::default() {
                    continue;
                }
                let name = names.get(&(segment.header.identity.epoch, number)).cloned();
                let name = name.unwrap_or_else(|| StreamName { stream: number, ..StreamName::default() });
                match streams.iter_mut().find(|s| s.name.name == name.name) {
                    Some(known) => known.held = known.held.plus(held),
                    None => streams.push(StreamContents { name, held }),
                }
            }
        }
        Ok(streams)
    }

    /// What a segment holds, gone through.
    fn segment_streams(&self, segment: &Segment) -> Result<Vec<SegmentStream>, ReadError> {
        let mut all: Vec<SegmentStream> = Vec::new();
        self.each(segment, &mut |batch| {
            for entry in &batch.header.entries {
                match *entry {
                    Entry::Frame(frame) => {
                        line(&mut all, frame.stream).add(u64::from(frame.payload.length), frame.arrival_ns);
                    }
                    Entry::Lost { stream, count, .. } => line(&mut all, stream).lose(count),
                    Entry::Stream { .. } => {}
                }
            }
        })?;
        Ok(all)
    }

    /// Gives each frame of the streams of this name (of all, without one), the oldest first, with its bytes; `None` for bytes
    /// that are not what was written. Ends when told to.
    ///
    /// # Errors
    /// The storage failed.
    pub fn frames(&self, stream: Option<&str>, visit: &mut FrameVisitor<'_>) -> Result<(), ReadError> {
        let names = self.names()?;
        let acknowledged = self.acknowledged()?;
        for segment in &self.segments {
            let epoch = segment.header.identity.epoch;
            let until = acknowledged.get(&epoch).copied().unwrap_or(0);
            let end = self.walk(segment, WINDOW_BYTES, &mut |batch| {
                for entry in &batch.header.entries {
                    let Entry::Frame(mut frame) = *entry else { continue };
                    let unnamed = StreamName { stream: frame.stream, ..StreamName::default() };
                    let name = names.get(&(epoch, frame.stream)).unwrap_or(&unnamed);
                    if stream.is_some_and(|wanted| wanted != name.name) {
                        continue;
                    }
                    frame.payload.offset += batch.offset;
                    let bytes = self.payload(&frame.payload)?;
                    let number = batch.header.batch;
                    let at = FrameLocation { epoch, batch: number, acknowledged: number < until, entry: frame };
                    if visit(name, &at, bytes.as_deref()).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            if end.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A stretch of the storage in memory.
struct Window<'a, S> {
    store: &'a S,
    /// So much is read at once.
    least: usize,
    offset: u64,
    bytes: Vec<u8>,
}

impl<S: Store> Window<'_, S> {
    /// Bytes at a place; what lies behind the end is zero.
    fn at(&mut self, offset: u64, length: usize) -> Result<&[u8], ReadError> {
        let inside = offset >= self.offset && offset + length as u64 <= self.offset + self.bytes.len() as u64;
        if !inside {
            self.bytes = read(self.store, offset, length.max(self.least))?;
            self.offset = offset;
        }
        let start = (offset - self.offset) as usize;
        Ok(&self.bytes[start..start + length])
    }
}
