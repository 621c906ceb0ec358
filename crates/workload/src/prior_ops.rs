//! What is done to each block before it is written: it is trimmed, or read.

use crate::{BlockOp, OpKind, OpResult};
use model::BlockStream;

/// Blocks whose first operation is under way or has ended; never more than are in flight.
#[derive(Clone, Debug)]
pub(crate) struct PriorOps {
    /// The first operation of a block.
    pub kind: OpKind,
    /// Places where it is under way: other blocks may be read only.
    under_way: Vec<u64>,
    ended: Vec<BlockOp>,
}

impl PriorOps {
    pub fn of(plan: BlockStream<'_>) -> Option<Self> {
        let block = plan.block;
        let kind = match (block.trim_before_write, block.read_before_write) {
            (true, _) => OpKind::Trim,
            (false, true) => OpKind::Read,
            (false, false) => return None,
        };
        let room = plan.path.queue_depth as usize;
        Some(Self { kind, under_way: Vec::with_capacity(room), ended: Vec::with_capacity(room) })
    }

    /// The first operation of a block there begins.
    pub fn starts(&mut self, offset: u64) {
        self.under_way.push(offset);
    }

    /// An operation has ended. What could not be read whole is not written over.
    pub fn on_completion(&mut self, op: &BlockOp, outcome: OpResult) {
        if op.kind == self.kind
            && let Some(at) = self.under_way.iter().position(|offset| *offset == op.offset)
        {
            self.under_way.swap_remove(at);
            if self.kind == OpKind::Trim || outcome.result == Ok(op.len) {
                self.ended.push(*op);
            }
        }
    }

    /// A block that is to be written now.
    pub fn next(&mut self, kind: OpKind) -> Option<BlockOp> {
        self.ended.pop().map(|op| BlockOp { kind, intended_ns: None, buffer: 0, ..op })
    }
}
