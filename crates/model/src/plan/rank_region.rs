//! Where a rank of a group works in a file that all of them share.

use super::{BlockPlan, Order, PhaseKind, Plan, StreamKind, StreamPlan};

/// Regions of ranks begin at multiples of this.
const UNIT_BYTES: u64 = 1 << 20;

impl Plan {
    /// The same plan for one rank of several in one file: its streams on the target itself work in a region of the rank's own,
    /// one after the other by rank. Streams that leave gaps between their strides go on side by side with those of the other
    /// ranks, so that all together leave none.
    ///
    /// # Errors
    /// It has both: what one rank lays out another would work on.
    pub fn in_rank_region(&mut self, rank: u32, ranks: u32) -> Result<(), String> {
        let of_target = |s: &StreamPlan| matches!(&s.kind, StreamKind::Block(block) if block.files.is_empty());
        let blocks = self.phases.iter().flat_map(|p| &p.streams).filter_map(|s| Some(s.blocks()?.block));
        let all = blocks.filter(|block| block.files.is_empty());
        let end = all.clone().map(BlockPlan::region_end).max().unwrap_or(0);
        let interleaves = all.clone().any(|block| block.stride_with_gaps().is_some());
        let apart = |block: &BlockPlan| block.region_bytes > 0 && block.stride_with_gaps().is_none();
        if interleaves && all.clone().any(apart) {
            let laid_out = self.phases.iter().any(|p| p.kind == PhaseKind::Layout);
            let what = if laid_out { "must be prefilled" } else { "lie beside regions of each rank's own" };
            return Err(format!(
                "strides of several ranks in one file {what}: let a phase of strides write what others read"
            ));
        }
        let own = end.next_multiple_of(UNIT_BYTES).saturating_mul(u64::from(rank));
        for stream in self.phases.iter_mut().flat_map(|p| &mut p.streams).filter(|s| of_target(s)) {
            let block = stream.block_mut();
            match block.stride_with_gaps() {
                None => block.region_start_bytes = block.region_start_bytes.saturating_add(own),
                Some(stride) => {
                    let run = block.block_size_bytes.saturating_mul(u64::from(block.run_blocks.max(1)));
                    let strides = block.region_bytes.saturating_sub(run) / stride.max(1);
                    let of_all = stride.saturating_mul(u64::from(ranks));
                    block.order = Order::Strided { stride_bytes: of_all };
                    block.region_start_bytes += stride.saturating_mul(u64::from(rank));
                    block.region_bytes = strides.saturating_mul(of_all).saturating_add(run);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockPlan, Operation, PhasePlan};

    fn plan(blocks: Vec<BlockPlan>) -> Plan {
        let streams = blocks.into_iter().map(|b| StreamPlan { kind: b.into(), ..StreamPlan::default() }).collect();
        Plan { phases: vec![PhasePlan { streams, ..PhasePlan::default() }], ..Plan::default() }
    }

    #[test]
    fn regions_of_ranks_follow_one_another() {
        let block = BlockPlan { region_start_bytes: 4096, region_bytes: 1 << 20, ..BlockPlan::default() };
        let named = BlockPlan { files: vec!["own".into()], ..block.clone() };
        let mut third = plan(vec![block, named]);
        third.in_rank_region(2, 4).unwrap();
        let starts: Vec<u64> =
            third.phases[0].streams.iter().map(|s| s.blocks().unwrap().block.region_start_bytes).collect();
        assert_eq!(starts, [(2 << 21) + 4096, 4096], "a file of its own stays as it is");
    }

    #[test]
    fn strides_of_ranks_lie_between_each_other_and_leave_no_gap() {
        // Two streams of blocks of 10 bytes, three strides each: 60 bytes a rank.
        let block = |start| BlockPlan {
            operation: Operation::Write,
            order: Order::Strided { stride_bytes: 20 },
            run_blocks: 1,
            block_size_bytes: 10,
            region_start_bytes: start,
            region_bytes: 60 - start,
            ..BlockPlan::default()
        };
        let mut covered = vec![0; 180];
        for rank in 0..3 {
            let mut own = plan(vec![block(0), block(10)]);
            own.in_rank_region(rank, 3).unwrap();
            for stream in &own.phases[0].streams {
                let (block, stride) =
                    (stream.blocks().unwrap().block, stream.blocks().unwrap().block.stride_with_gaps().unwrap());
                let blocks = (block.region_bytes - block.block_size_bytes) / stride + 1;
                assert_eq!((stride, blocks), (60, 3));
                for number in 0..blocks {
                    let at = (block.region_start_bytes + number * stride) as usize;
                    covered[at..at + 10].iter_mut().for_each(|c| *c += 1);
                }
            }
        }
        assert_eq!(covered, vec![1; 180]);
        let mut both = plan(vec![block(0), BlockPlan { region_bytes: 60, ..BlockPlan::default() }]);
        assert!(both.in_rank_region(0, 3).unwrap_err().contains("strides of several ranks"));
    }
}
