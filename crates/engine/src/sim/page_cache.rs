//! What the simulated page cache holds.

use model::{Ns, SimHost};
use std::collections::VecDeque;

/// What the page cache holds.
#[derive(Debug, Default)]
pub(super) struct PageCache {
    /// Bytes written and not yet on the device, those under writeback included.
    pub(super) dirty: u64,
    /// Dirty bytes that no writeback was started for, oldest first: offset and length.
    pub(super) waiting: VecDeque<(u64, u64)>,
    pub(super) waiting_bytes: u64,
    /// Writeback under way: when it ends, and how much it is.
    pub(super) under_way: VecDeque<(Ns, u64)>,
    /// One range of resident pages: start and end.
    pub(super) resident: (u64, u64),
    /// Read-ahead windows that were asked for and not yet read: end, and when it is there.
    pub(super) windows: VecDeque<(u64, Ns)>,
    /// Where a sequential read goes on, and how far windows were asked for.
    pub(super) expected: u64,
    pub(super) asked: u64,
}

impl PageCache {
    pub(super) fn new(host: &SimHost) -> Self {
        Self { resident: (0, host.resident_bytes), ..Self::default() }
    }

    /// Bytes resident, dirty ones included.
    pub(super) fn resident_bytes(&self) -> u64 {
        self.resident.1 - self.resident.0
    }

    pub(super) fn under_way_bytes(&self) -> u64 {
        self.under_way.iter().map(|(_, bytes)| bytes).sum()
    }

    pub(super) fn now_resident(&mut self, start: u64, end: u64) {
        let (a, b) = self.resident;
        // What lies apart replaces the range: one stream at a time is what a phase reads or writes.
        self.resident = if start <= b && end >= a { (a.min(start), b.max(end)) } else { (start, end) };
    }
}
