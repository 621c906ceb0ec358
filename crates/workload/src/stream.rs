//! The source of one stream of a plan: sequential or random, with its sync rule.

use crate::{BlockOp, Next, OpKind, Outcome, Permutation, Source};
use model::{Ns, Operation, Order, StreamPlan, Sync};

/// Gives the operations of a [`StreamPlan`], for ever or once over the region.
#[derive(Clone, Debug)]
pub struct Stream {
    plan: StreamPlan,
    kind: OpKind,
    blocks: u64,
    position: u64,
    pass: u64,
    order: Option<Permutation>,
    once: bool,
    round_left: u64,
    in_flight: u32,
    last_sync_due: bool,
}

impl Stream {
    /// The source of `plan`; with `once` it ends when the region has been covered.
    ///
    /// # Panics
    /// If the region holds no whole block: plans are resolved before they get here.
    pub fn new(plan: &StreamPlan, once: bool) -> Self {
        let blocks = plan.region_bytes / plan.block_size_bytes;
        assert!(blocks > 0, "region of {} bytes holds no block of {}", plan.region_bytes, plan.block_size_bytes);
        let kind = match (plan.operation, plan.sync) {
            (Operation::Read, _) => OpKind::Read,
            (Operation::Write, Sync::FdatasyncEach) => OpKind::WriteSync,
            (Operation::Write, _) => OpKind::Write,
            (other @ (Operation::Trim | Operation::WriteZeroes), _) => panic!("{other:?} is not a block operation yet"),
        };
        Self {
            kind,
            blocks,
            position: 0,
            pass: 0,
            order: Self::order_of(plan, blocks, 0),
            once,
            round_left: plan.round_bytes.unwrap_or(0),
            in_flight: 0,
            last_sync_due: plan.sync == Sync::FsyncAtEnd,
            plan: plan.clone(),
        }
    }

    fn order_of(plan: &StreamPlan, blocks: u64, pass: u64) -> Option<Permutation> {
        (plan.order == Order::Random)
            .then(|| Permutation::new(blocks, plan.seed ^ pass.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    fn sync(&mut self) -> Next<BlockOp> {
        self.in_flight += 1;
        Next::Op(BlockOp { kind: OpKind::Fsync, offset: 0, len: 0, buffer: 0, intended_ns: None })
    }
}

impl Source for Stream {
    type Op = BlockOp;

    #[inline]
    fn next(&mut self, _now: Ns) -> Next<BlockOp> {
        if self.plan.sync == Sync::FsyncPerRound && self.round_left == 0 {
            // The sync closes the round: nothing of the next round may overtake it.
            if self.in_flight > 0 {
                return Next::WaitForCompletion;
            }
            self.round_left = self.plan.round_bytes.unwrap_or(self.plan.block_size_bytes);
            return self.sync();
        }
        if self.position == self.blocks {
            if self.once {
                if self.in_flight > 0 {
                    return Next::WaitForCompletion;
                }
                if self.last_sync_due {
                    self.last_sync_due = false;
                    return self.sync();
                }
                return Next::Done;
            }
            self.position = 0;
            self.pass += 1;
            self.order = Self::order_of(&self.plan, self.blocks, self.pass);
        }
        let block = match &self.order {
            Some(order) => order.at(self.position),
            None => self.position,
        };
        self.position += 1;
        self.in_flight += 1;
        if self.plan.sync == Sync::FsyncPerRound {
            self.round_left = self.round_left.saturating_sub(self.plan.block_size_bytes);
        }
        Next::Op(BlockOp {
            kind: self.kind,
            offset: self.plan.region_start_bytes + block * self.plan.block_size_bytes,
            len: self.plan.block_size_bytes as u32,
            buffer: 0,
            intended_ns: None,
        })
    }

    #[inline]
    fn completed(&mut self, _op: &BlockOp, _outcome: Outcome) {
        self.in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(order: Order, sync: Sync) -> StreamPlan {
        StreamPlan {
            operation: Operation::Write,
            order,
            block_size_bytes: 4096,
            queue_depth: 4,
            region_start_bytes: 8192,
            region_bytes: 4096 * 10,
            sync,
            round_bytes: (sync == Sync::FsyncPerRound).then_some(4096 * 3),
            seed: 9,
            ..StreamPlan::default()
        }
    }

    fn drain(source: &mut Stream, limit: usize) -> Vec<BlockOp> {
        let mut ops = Vec::new();
        let mut flying = Vec::new();
        while ops.len() < limit {
            match source.next(0) {
                Next::Op(op) => {
                    ops.push(op);
                    flying.push(op);
                }
                Next::WaitForCompletion => {
                    let op = flying.remove(0);
                    source.completed(&op, Outcome { at_ns: 0, result: Ok(op.len) });
                }
                Next::WaitUntil(_) | Next::SpinUntil(_) => unreachable!("streams do not pace"),
                Next::Done => break,
            }
        }
        ops
    }

    #[test]
    fn once_covers_the_region_then_syncs() {
        let ops = drain(&mut Stream::new(&plan(Order::Random, Sync::FsyncAtEnd), true), 100);
        let mut offsets: Vec<u64> = ops.iter().filter(|o| o.kind == OpKind::Write).map(|o| o.offset).collect();
        offsets.sort_unstable();
        assert_eq!(offsets, (0..10).map(|i| 8192 + i * 4096).collect::<Vec<_>>());
        assert_eq!(ops.last().unwrap().kind, OpKind::Fsync);
    }

    #[test]
    fn rounds_are_whole_and_nothing_overtakes_the_sync() {
        let ops = drain(&mut Stream::new(&plan(Order::Sequential, Sync::FsyncPerRound), false), 12);
        for (i, op) in ops.iter().enumerate() {
            assert_eq!(op.kind == OpKind::Fsync, i % 4 == 3, "operation {i}");
        }
    }

    #[test]
    fn sequential_wraps_and_random_reorders_each_pass() {
        let ops = drain(&mut Stream::new(&plan(Order::Sequential, Sync::None), false), 21);
        assert_eq!(ops[0].offset, ops[10].offset);
        let ops = drain(&mut Stream::new(&plan(Order::Random, Sync::None), false), 20);
        let offsets = |r: std::ops::Range<usize>| ops[r].iter().map(|o| o.offset).collect::<Vec<_>>();
        assert_ne!(offsets(0..10), offsets(10..20));
    }
}
