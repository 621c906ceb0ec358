//! The runs of contiguous data that a card follows at once: the newest first, the one that rested longest is given up.
//!
//! A run is judged by where data lie, never by the size of a request: an emulated SD card hands its backend pieces of 512
//! bytes, and they must cost what the whole costs.

use super::curve::Curve;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
struct Run {
    /// Where it goes on.
    next: u64,
    /// Length of the run so far, bytes.
    len: u64,
    /// What ending it here costs beyond what has been charged, nanoseconds.
    owed_ns: u64,
    /// What a flush made it pay ahead, nanoseconds.
    prepaid_ns: u64,
}

/// The runs that are followed.
#[derive(Clone, Debug)]
pub struct Runs {
    runs: VecDeque<Run>,
    limit: usize,
    /// A run elsewhere in the same block takes the place of the run there.
    block: u64,
}

/// What a piece of data cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Time, nanoseconds.
    pub ns: u64,
    /// Whether the operation continued a run.
    pub continued: bool,
    /// It opened a block that no run was in.
    pub opened: bool,
}

impl Runs {
    /// At most `limit` runs, over blocks of `block` bytes.
    pub fn new(limit: usize, block: u64) -> Self {
        Self { runs: VecDeque::with_capacity(limit), limit, block }
    }

    /// Whether data at `offset` would continue a run.
    pub fn continues(&self, offset: u64) -> bool {
        self.runs.iter().any(|run| run.next == offset)
    }

    /// Takes `len` bytes at `offset`, more than 0.
    pub fn take(&mut self, offset: u64, len: u64, curve: &Curve) -> Cost {
        let end = offset + len;
        if let Some(at) = self.runs.iter().position(|run| run.next == offset) {
            let mut run = self.runs.remove(at).unwrap_or_else(|| unreachable!("a position just found"));
            let whole = run.len + len;
            let due = curve.certain_ns(whole).saturating_sub(curve.certain_ns(run.len));
            let paid = due.min(run.prepaid_ns);
            run.prepaid_ns -= paid;
            run.owed_ns = (curve.total_ns(whole) - curve.certain_ns(whole)).saturating_sub(run.prepaid_ns);
            (run.next, run.len) = (end, whole);
            self.runs.push_front(run);
            return Cost { ns: due - paid, continued: true, opened: false };
        }
        // The byte before `next` is in the block that a run has open.
        let block = offset / self.block;
        let (ended, opened) = match self.runs.iter().position(|run| (run.next - 1) / self.block == block) {
            Some(at) => (self.runs.remove(at), false),
            None if self.runs.len() >= self.limit => (self.runs.pop_back(), true),
            None => (None, true),
        };
        let certain = curve.certain_ns(len);
        self.runs.push_front(Run { next: end, len, owed_ns: curve.total_ns(len) - certain, prepaid_ns: 0 });
        Cost { ns: ended.map_or(0, |run| run.owed_ns) + certain, continued: false, opened }
    }

    /// Pays what all runs owe; they stay open.
    pub fn settle(&mut self) -> u64 {
        self.runs.iter_mut().fold(0, |sum, run| {
            run.prepaid_ns += run.owed_ns;
            sum + std::mem::take(&mut run.owed_ns)
        })
    }
}
