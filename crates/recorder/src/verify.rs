//! Reading all of a container: what was acknowledged must be there, as it was.

use crate::container::{Entry, SegmentFooter, WhenFull};
use crate::reader::{Container, ReadError, Segment};
use crate::store::Store;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// What is wrong with a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// One copy of the superblock is not there; the other is.
    Superblock {
        /// Where.
        offset: u64,
    },
    /// Both are gone; the segments said what they said.
    BothSuperblocks,
    /// Batches that were acknowledged are not there, or not whole.
    Batches {
        /// Of which opening.
        epoch: u32,
        /// The first, and the one behind the last.
        from: u64,
        /// The one behind the last.
        until: u64,
    },
    /// A frame that was acknowledged is not what was written.
    Frame {
        /// Its stream's name.
        stream: String,
        /// Its number.
        sequence: u64,
        /// Where it lies.
        offset: u64,
    },
    /// The last block of a segment does not say what the segment holds.
    Footer {
        /// Which.
        segment: u64,
    },
}

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
    pub fn keeps_its_promise(&self) -> bool {
        !self.damage.iter().any(|d| matches!(d, Damage::Batches { .. } | Damage::Frame { .. }))
    }
}

impl<S: Store> Container<S> {
    /// Whether a segment is among the oldest, which the newest may have been written over already.
    fn is_expendable(&self, segment: &Segment) -> bool {
        let Some(newest) = self.segments().last().filter(|_| self.geometry().when_full == WhenFull::Wrap) else {
            return false;
        };
        let reached = newest.header.segment + u64::from(newest.header.reach);
        segment.header.segment + self.geometry().segments <= reached
    }

    /// Batches with lower numbers may be gone: they are in such segments.
    pub(crate) fn expendable_batches(&self) -> u64 {
        let kept = self.segments().iter().find(|segment| !self.is_expendable(segment));
        kept.map_or(0, |segment| if self.is_expendable(&self.segments()[0]) { segment.header.first_batch } else { 0 })
    }

    /// Reads all of it: what is wrong, and what was found whole.
    ///
    /// # Errors
    /// The storage failed.
    pub fn verify(&self, progress: &dyn Fn(u64)) -> Result<Verified, ReadError> {
        let mut found = Verified { damage: self.damage.clone(), ..Verified::default() };
        let acknowledged = self.acknowledged()?;
        let mut whole: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for segment in self.segments() {
            let (mut sum, mut batches) = (0, 0);
            self.each(segment, &mut |batch| {
                sum = crc32c::crc32c_append(sum, &batch.sum.to_le_bytes());
                batches += 1;
                whole.entry(segment.header.identity.epoch).or_default().push(batch.header.batch);
                for entry in &batch.header.entries {
                    if let Entry::Lost { count, loss, .. } = entry {
                        let lost = found.lost.entry(loss.name()).or_default();
                        *lost = lost.saturating_add(*count);
                    }
                }
            })?;
            let says = |f: &SegmentFooter| (f.sum, f.batches) == (sum, batches);
            if segment.footer.as_ref().is_some_and(|f| !says(f)) && !self.is_expendable(segment) {
                found.damage.push(Damage::Footer { segment: segment.header.segment });
            }
        }
        for (epoch, batches) in &mut whole {
            batches.sort_unstable();
            // What the oldest segments hold may have been written over already.
            let expendable = self.expendable_batches();
            batches.retain(|batch| *batch >= expendable);
            let until = acknowledged.get(epoch).copied().unwrap_or(0);
            let last = batches.last().map_or(0, |n| n + 1);
            let behind = batches.iter().copied().skip(1).chain([until.max(last)]);
            for (number, next) in batches.iter().zip(behind) {
                let (from, to) = (number + 1, next.min(until));
                if from < to {
                    found.damage.push(Damage::Batches { epoch: *epoch, from, until: to });
                }
            }
        }
        let expendable = self.expendable_batches();
        self.frames(None, &mut |name, frame, bytes| {
            let length = u64::from(frame.entry.payload.length);
            match bytes {
                Some(_) if frame.acknowledged => found.frames += 1,
                Some(_) => found.unacknowledged += 1,
                None if frame.acknowledged && frame.batch >= expendable => found.damage.push(Damage::Frame {
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
