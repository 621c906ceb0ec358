//! Operations that wait for those in flight with which they share bytes.

use crate::BlockOp;
use model::BlockStream;

/// What is in flight of a stream, and the operation that waits.
#[derive(Clone, Debug)]
pub(crate) struct NoOverlap {
    flying: Vec<(u64, u32)>,
    /// Drawn already, and held until nothing overlaps with it.
    pub held: Option<BlockOp>,
}

impl NoOverlap {
    /// `None` where operations do not wait for each other.
    pub fn of(plan: BlockStream<'_>) -> Option<Self> {
        let most = plan.path.queue_depth as usize + 1;
        plan.block.no_overlap.then(|| Self { flying: Vec::with_capacity(most), held: None })
    }

    /// Whether it may go now; if not, it is held.
    pub fn admits(&mut self, op: &BlockOp) -> bool {
        let end = op.offset.saturating_add(op.len.into());
        let shares = |(offset, len): &(u64, u32)| *offset < end && op.offset < offset.saturating_add((*len).into());
        if op.len > 0 && self.flying.iter().any(shares) {
            self.held = Some(*op);
            return false;
        }
        if op.len > 0 {
            self.flying.push((op.offset, op.len));
        }
        true
    }

    pub fn on_completion(&mut self, op: &BlockOp) {
        if let Some(at) = self.flying.iter().position(|flying| *flying == (op.offset, op.len)) {
            self.flying.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Next, OpResult, Pattern, Source};
    use model::{BlockPlan, IoPath, Order, StreamPlan};

    #[test]
    fn an_operation_waits_for_those_that_it_would_overlap_with() {
        let block =
            BlockPlan { order: Order::RandomReplace, region_bytes: 4 * 4096, no_overlap: true, ..BlockPlan::default() };
        let path = IoPath { queue_depth: 8, ..IoPath::default() };
        let mut source = Pattern::new(
            StreamPlan { kind: block.into(), path, seed: 3, ..StreamPlan::default() }.blocks().unwrap(),
            false,
        );
        let (mut flying, mut waited): (Vec<BlockOp>, u32) = (Vec::new(), 0);
        for _ in 0..1000 {
            match source.next(0) {
                Next::Op(op) => {
                    assert!(flying.iter().all(|other| other.offset != op.offset), "{op:?} beside {flying:?}");
                    flying.push(op);
                }
                Next::WaitForCompletion => {
                    waited += 1;
                    let done = flying.remove(0);
                    source.on_completion(&done, OpResult { at_ns: 0, result: Ok(done.len) });
                }
                other => panic!("{other:?}"),
            }
            assert!(flying.len() <= 4);
        }
        assert!(waited > 100, "{waited}");
    }
}
