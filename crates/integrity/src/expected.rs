//! What one place must hold, as far as it is known.

use crate::block::AllowedGenerations;

/// What one written unit must hold at the moment of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The generations that may be there. `min` 0: nothing of this run need be.
    pub allowed: AllowedGenerations,
    /// No write to it is in flight. Otherwise nothing can be said about it but that it is not newer than what was issued:
    /// reads and writes that overlap are not atomic to each other.
    pub settled: bool,
    /// What failed operations leave of the promise.
    pub standing: FailureDoubt,
    /// Whether the power was cut since the last acknowledged write. Then `allowed.min` is what an acknowledged flush covers.
    pub after_cut: bool,
    /// Flushes acknowledged when `allowed.min` was issued; `None` where that is not known.
    pub epoch: Option<u32>,
    /// Sectors that the device promises to write as one, in place: 1 if it promises nothing. Writes in flight at a power
    /// cut may be torn between these, not inside.
    pub atomic_sectors: u32,
    /// Whether places may have been trimmed before they were written: then what was there before may be one byte repeated.
    pub trims: bool,
}

/// What ended whoever wrote the data, before they are looked at again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// Nothing: all that was issued has ended.
    #[default]
    None,
    /// The process: what it had handed to the kernel may have been written, or not.
    Killed,
    /// The machine: what no acknowledged flush covers may be gone.
    Power,
}

/// What failed operations leave of the promise of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureDoubt {
    /// All that was asked succeeded.
    #[default]
    Sound,
    /// The writes succeeded and a flush after them failed. ext4, XFS and btrfs then mark the pages clean, so that a later
    /// flush which succeeds promises nothing; only writing the place again does.
    FlushFailed,
    /// A write failed: old, new, a mixture and garbage are all right until the place is written again.
    WriteFailed,
}

impl Expected {
    /// An acknowledged version and no doubt.
    pub fn only(generation: u32) -> Self {
        Self::between(generation, generation)
    }

    /// One of several versions, nothing in flight.
    pub fn between(min: u32, max: u32) -> Self {
        Self {
            allowed: AllowedGenerations { min, max },
            settled: true,
            standing: FailureDoubt::Sound,
            after_cut: false,
            epoch: None,
            atomic_sectors: 1,
            trims: false,
        }
    }

    /// Whether there is anything to check.
    #[inline]
    pub fn must_hold(&self) -> bool {
        self.allowed.min > 0 && self.settled && self.standing != FailureDoubt::WriteFailed
    }
}
