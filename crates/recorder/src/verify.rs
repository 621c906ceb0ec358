//! Reading all of a container: what was acknowledged must be there, as it was.

use crate::container::{Entry, WhenFull};
use crate::damage::Damage;
use crate::read_error::ReadError;
use crate::reader::{Container, Segment};
use crate::store::Store;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// What came of reading all of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Frames that were acknowledged and are whole.
    pub frames: u64,
    /// Whole frames of which it is not known that they were acknowledged: the recording ended within moments of them.
    pub unacknowledged: u64,
    /// Frames that were not acknowledged and are not whole: they were being written when the recording ended.
    pub torn: u64,
    /// Bytes of frames that were read.
    pub bytes: u64,
    /// Frames that were lost before they were written, by reason.
    pub lost: BTreeMap<&'static str, u64>,
    /// What is wrong.
    pub damage: Vec<Damage>,
}

impl Verified {
    /// Whether no frame that was acknowledged is missing or altered.
    pub fn is_intact(&self) -> bool {
        !self.damage.iter().any(|d| matches!(d, Damage::Batches { .. } | Damage::Frame { .. } | Damage::Pinned { .. }))
    }
}

/// Which batches a container that wraps must still have.
pub(crate) struct RetainedBatches {
    /// Segments with lower numbers may have been overwritten already, but for those that are pinned.
    from_segment: u64,
    /// Batches from this number on.
    pub from: u64,
    /// Batches of older segments that are pinned.
    pinned: Vec<Range<u64>>,
}

impl RetainedBatches {
    /// Whether this batch must be there.
    pub fn has(&self, batch: u64) -> bool {
        batch >= self.from || self.pinned.iter().any(|range| range.contains(&batch))
    }
}

/// What lacks of `wanted` in numbers that ascend, stretch by stretch.
fn missing(there: &[u64], wanted: Range<u64>) -> Vec<Range<u64>> {
    let mut next = wanted.start;
    let mut all = Vec::new();
    for number in there.iter().copied().filter(|n| wanted.contains(n)).chain([wanted.end]) {
        all.extend((next < number).then_some(next..number));
        next = next.max(number + 1);
    }
    all
}

impl<S: Store> Container<S> {
    /// Which batches must be there.
    pub(crate) fn retained(&self) -> RetainedBatches {
        let wraps = self.geometry().when_full == WhenFull::Wrap;
        let pins = &self.superblock.pins;
        let from_segment = self.segments().last().filter(|_| wraps).map_or(0, |newest| {
            // What was pinned, then or since, may have been passed over.
            let passed_over = u64::from(newest.header.pinned).max(pins.segments());
            let reached = newest.header.segment + u64::from(newest.header.reach) + passed_over;
            (reached + 1).saturating_sub(self.geometry().segments)
        });
        let (old, new): (Vec<&Segment>, Vec<&Segment>) =
            self.segments().iter().partition(|segment| segment.header.segment < from_segment);
        let oldest = new.iter().map(|segment| segment.header.first_batch).min();
        let batches = |segment: &Segment| {
            let end = segment.footer.as_ref().map_or(segment.until_batch, |f| f.first_batch + f.batches);
            segment.header.first_batch..end.min(segment.until_batch)
        };
        let pinned =
            old.iter().filter(|segment| pins.is_pinned(segment.header.segment)).map(|segment| batches(segment));
        RetainedBatches {
            from_segment,
            from: oldest.filter(|_| from_segment > 0).unwrap_or(0),
            pinned: pinned.collect(),
        }
    }

    /// Reads all of it: what is wrong, and what was found whole.
    ///
    /// # Errors
    /// The storage failed.
    pub fn verify(&self, progress: &dyn Fn(u64)) -> Result<Verified, ReadError> {
        let mut found = Verified { damage: self.damage.clone(), ..Verified::default() };
        let kept = self.retained();
        let acknowledged = self.acknowledged()?;
        let pins = &self.superblock.pins;
        let numbers: Vec<u64> = self.segments().iter().map(|segment| segment.header.segment).collect();
        let gone = pins.ranges().iter().flat_map(|range| missing(&numbers, range.clone()));
        found.damage.extend(gone.map(|Range { start: from, end: until }| Damage::Pinned { from, until }));
        let mut whole: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for segment in self.segments() {
            let mut sum = 0;
            let mut batches = Vec::new();
            self.each(segment, &mut |batch| {
                sum = crc32c::crc32c_append(sum, &batch.sum.to_le_bytes());
                batches.push(batch.header.batch);
                for entry in &batch.header.entries {
                    if let Entry::Lost { count, loss, .. } = entry {
                        let lost = found.lost.entry(loss.name()).or_default();
                        *lost = lost.saturating_add(*count);
                    }
                }
            })?;
            let number = segment.header.segment;
            let epoch = segment.header.identity.epoch;
            let old = number < kept.from_segment;
            if let Some(footer) = segment.footer.as_ref().filter(|_| !old || pins.is_pinned(number)) {
                if (footer.sum, footer.batches) != (sum, batches.len() as u64) {
                    found.damage.push(Damage::Footer { segment: number });
                }
                if old {
                    batches.sort_unstable();
                    let wanted = footer.first_batch..(footer.first_batch + footer.batches).min(segment.until_batch);
                    let missing = missing(&batches, wanted).into_iter();
                    found.damage.extend(missing.map(|Range { start: from, end: until }| Damage::Batches {
                        epoch,
                        from,
                        until,
                    }));
                }
            }
            whole.entry(epoch).or_default().extend(batches);
        }
        for (epoch, batches) in &mut whole {
            batches.sort_unstable();
            // What the oldest segments hold may have been written over already.
            batches.retain(|batch| *batch >= kept.from);
            let until = acknowledged.get(epoch).copied().unwrap_or(0);
            let missing = batches.first().map_or_else(Vec::new, |first| missing(batches, *first..until));
            let damage = |Range { start: from, end: until }| Damage::Batches { epoch: *epoch, from, until };
            found.damage.extend(missing.into_iter().map(damage));
        }
        self.frames(None, &mut |name, frame, bytes| {
            let length = u64::from(frame.entry.payload.length);
            match bytes {
                Some(_) if frame.acknowledged => found.frames += 1,
                Some(_) => found.unacknowledged += 1,
                None if frame.acknowledged && kept.has(frame.batch) => found.damage.push(Damage::Frame {
                    stream: name.name.clone(),
                    sequence: frame.entry.sequence,
                    offset: frame.entry.payload.offset,
                }),
                None => found.torn += 1,
            }
            found.bytes += length;
            progress(length);
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}
