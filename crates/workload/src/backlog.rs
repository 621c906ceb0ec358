//! Blocks that were written and are soon to be read and verified.

use crate::{BlockOp, OpKind};
use model::BlockStream;
use std::collections::VecDeque;

/// Writes that have completed; when there are enough, all that wait are read, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Backlog {
    every: usize,
    waiting: VecDeque<BlockOp>,
    reading: usize,
}

impl Backlog {
    pub fn of(plan: BlockStream<'_>) -> Option<Self> {
        let every = plan.block.verify_backlog as usize;
        // No more can have completed while the last ones were read.
        let room = every.saturating_add(plan.path.queue_depth as usize);
        (every > 0).then(|| Self { every, waiting: VecDeque::with_capacity(room), reading: 0 })
    }

    /// The next block to be read, if it is time.
    pub fn next(&mut self) -> Option<BlockOp> {
        if self.reading == 0 && self.waiting.len() >= self.every {
            self.reading = self.waiting.len();
        }
        self.reading = self.reading.checked_sub(1)?;
        self.waiting.pop_front()
    }

    /// A write has completed.
    pub fn on_write(&mut self, op: &BlockOp) {
        self.waiting.push_back(BlockOp { kind: OpKind::Read, buffer: 0, intended_ns: None, ..*op });
    }
}
