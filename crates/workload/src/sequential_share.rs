//! A random order of which a share goes on where the last operation of its direction ended.

use crate::offsets::OpExtent;
use crate::random::{RUN_ON, Random};
use model::{BlockStream, Operation};

/// How often, and where, for each side of a stream.
#[derive(Clone, Debug)]
pub(crate) struct SequentialShare {
    percents: [u32; 2],
    /// Where the last operation of each side ended, file by file.
    ends: Vec<[u64; 2]>,
    region: u64,
    least: u64,
    random: Random,
}

impl SequentialShare {
    /// `None` where every operation is drawn.
    pub fn of(plan: BlockStream<'_>) -> Option<Box<Self>> {
        let block = plan.block;
        let percent = |operation| match operation {
            Operation::Read => block.sequential_percents[0],
            Operation::Write | Operation::WriteZeroes => block.sequential_percents[1],
            Operation::Trim => block.sequential_percents[2],
        };
        let percents = [percent(Operation::Read), percent(block.operation)];
        // Nothing has ended yet: there is no room behind it.
        let ends = vec![[block.region_bytes; 2]; block.files.len().max(1)];
        (percents != [0, 0]).then(|| {
            let region = block.region_bytes;
            let least = block.min_block_bytes().max(1);
            Box::new(Self { percents, ends, region, least, random: Random::new(plan.seed, RUN_ON) })
        })
    }

    /// Where this operation goes, if it goes on; at the end of the region none does.
    pub fn next(&mut self, file: usize, side: usize, len: u32) -> Option<OpExtent> {
        let offset = self.ends[file][side];
        let goes_on = self.random.below(100) < u64::from(self.percents[side]);
        let room = self.region.saturating_sub(offset);
        (goes_on && room >= self.least).then(|| OpExtent {
            offset,
            len: u64::from(len).min(room) as u32,
            ends_pass: false,
        })
    }

    /// An operation went there.
    pub fn record(&mut self, file: usize, side: usize, place: OpExtent) {
        self.ends[file][side] = place.offset + u64::from(place.len);
    }
}

#[cfg(test)]
mod tests {
    use crate::{BlockOp, Next, OpKind, OpResult, Pattern, Source};
    use model::{BlockPlan, Mix, Operation, Order, StreamPlan};

    const BLOCK: u64 = 4096;

    fn operations(block: BlockPlan, count: usize) -> Vec<BlockOp> {
        let block = BlockPlan { order: Order::Random, region_bytes: 4096 * BLOCK, ..block };
        let mut source =
            Pattern::new(StreamPlan { kind: block.into(), seed: 7, ..StreamPlan::default() }.blocks().unwrap(), false);
        let next = |_| match source.next(0) {
            Next::Op(op) => {
                source.on_completion(&op, OpResult { at_ns: 0, result: Ok(op.len) });
                op
            }
            other => panic!("{other:?}"),
        };
        (0..count).map(next).collect()
    }

    /// How many per cent of the operations of a kind begin where the last of them ended.
    fn following(ops: &[BlockOp], kind: OpKind) -> usize {
        let ops: Vec<&BlockOp> = ops.iter().filter(|op| op.kind == kind).collect();
        assert!(ops.iter().all(|op| op.offset + u64::from(op.len) <= 4096 * BLOCK));
        let follow = ops.windows(2).filter(|w| w[0].offset + u64::from(w[0].len) == w[1].offset).count();
        follow * 100 / ops.len()
    }

    #[test]
    fn so_much_of_the_order_goes_on() {
        for (percent, from, to) in [(0, 0, 1), (60, 57, 63), (100, 98, 100)] {
            let ops = operations(BlockPlan { sequential_percents: [percent; 3], ..BlockPlan::default() }, 4000);
            let share = following(&ops, OpKind::Read);
            assert!((from..=to).contains(&share), "{percent}: {share}");
        }
    }

    #[test]
    fn each_direction_has_its_own_share_and_place() {
        let mix = Some(Mix { read_percent: 50 });
        let operation = Operation::Write;
        let block = BlockPlan { mix, operation, sequential_percents: [90, 0, 0], ..BlockPlan::default() };
        let ops = operations(block, 8000);
        let (reads, writes) = (following(&ops, OpKind::Read), following(&ops, OpKind::Write));
        assert!((86..=93).contains(&reads) && writes < 2, "{reads} {writes}");
    }
}
