//! Where in its file the next operation goes.

use crate::Permutation;
use crate::popularity::Popularity;
use crate::random::Random;
use model::{BlockStream, Order};

/// The offsets of one file, counted from the start of the region.
///
/// Offsets are multiples of the unit (the plan's alignment, else its smallest block). In a sequential order the last
/// operation before the end of the region is cut to what is left there; in a random order a block that would reach beyond
/// the end begins earlier instead, so that sizes keep their shares.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    walk: Traversal,
    region: u64,
    unit: u64,
    /// The smallest operation: where less is left, nothing begins.
    least: u64,
    /// Blocks that follow one another in a random or strided order.
    run: u32,
    run_left: u32,
    run_at: u64,
}

#[derive(Clone, Debug)]
enum Traversal {
    /// The next operation begins at this offset.
    Forward(u64),
    /// The next operation ends here.
    Backward(u64),
    Strided {
        stride: u64,
        first: u64,
        at: u64,
        /// What lies between is left out; else later passes come to it.
        leaves_out: bool,
    },
    /// Every start once, by runs.
    Covering {
        permutation: Permutation,
        position: u64,
        starts: u64,
        pass: u64,
        seed: u64,
    },
    Drawn(Popularity),
    /// The listed blocks over and over, from `base` on, which `advance` moves after each time.
    Listed {
        blocks: Vec<u64>,
        at: usize,
        base: u64,
        advance: u64,
        starts: u64,
    },
}

/// Where an operation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpExtent {
    pub offset: u64,
    pub len: u32,
    /// Whether the walk has been everywhere with this operation and starts again.
    pub ends_pass: bool,
}

fn permutation(starts: u64, seed: u64, pass: u64) -> Permutation {
    Permutation::new(starts, seed ^ pass.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl Offsets {
    /// The offsets of a plan's order, with the seed of one file.
    ///
    /// # Panics
    /// If the region holds no block: plans are checked before they get here.
    pub fn new(plan: BlockStream<'_>, seed: u64) -> Self {
        let least = plan.block.min_block_bytes().max(1);
        let region = plan.block.region_bytes;
        assert!(region >= least, "a region of {region} bytes holds no block of {least}");
        let unit = plan.block.align_bytes.unwrap_or(least).max(1);
        let run = plan.block.run_blocks.max(1);
        let starts = (region - least) / unit + 1;
        let walk = match plan.block.order {
            Order::Sequential => Traversal::Forward(0),
            Order::Reverse => Traversal::Backward(region),
            Order::Strided { stride_bytes } => Traversal::Strided {
                stride: stride_bytes.max(1),
                first: 0,
                at: 0,
                leaves_out: plan.block.run_blocks > 0,
            },
            Order::Sequence { advances } => {
                let blocks = plan.block.sequence.clone();
                let advance = if advances { blocks.len() as u64 } else { 0 };
                Traversal::Listed { blocks, at: 0, base: 0, advance, starts }
            }
            order => match Popularity::of(order, &plan.block.zones, starts, seed) {
                Some(popularity) => Traversal::Drawn(popularity),
                None => {
                    let starts = starts.div_ceil(u64::from(run));
                    Traversal::Covering {
                        permutation: permutation(starts, seed, 0),
                        position: 0,
                        starts,
                        pass: 0,
                        seed,
                    }
                }
            },
        };
        Self { walk, region, unit, least, run, run_left: 0, run_at: 0 }
    }

    /// Where an operation of `len` bytes goes.
    #[inline]
    pub fn next(&mut self, len: u32, random: &mut Random) -> OpExtent {
        let (region, unit, least) = (self.region, self.unit, self.least);
        let cut = |room: u64| u64::from(len).min(room) as u32;
        let up = |at: u64| at.checked_next_multiple_of(unit).unwrap_or(u64::MAX);
        match &mut self.walk {
            Traversal::Forward(at) => {
                let offset = *at;
                let len = cut(region - offset);
                // From one block to the next without a division.
                *at = if u64::from(len) == unit { offset + unit } else { up(offset + u64::from(len)) };
                let ends_pass = at.saturating_add(least) > region;
                if ends_pass {
                    *at = 0;
                }
                OpExtent { offset, len, ends_pass }
            }
            Traversal::Backward(at) => {
                let len = cut(*at);
                let offset = (*at - u64::from(len)) / unit * unit;
                let ends_pass = offset < least;
                *at = if ends_pass { region } else { offset };
                OpExtent { offset, len, ends_pass }
            }
            Traversal::Strided { stride, first, at, leaves_out } => {
                let offset = *at;
                let len = cut(region - offset);
                if self.run_left == 0 {
                    (self.run_left, self.run_at) = (self.run, offset);
                }
                self.run_left -= 1;
                let fits = |at: u64| at.saturating_add(least) <= region;
                let next = up(offset + u64::from(len));
                if self.run_left > 0 && fits(next) {
                    *at = next;
                } else {
                    self.run_left = 0;
                    *at = self.run_at.saturating_add(*stride);
                }
                let mut ends_pass = false;
                if !fits(*at) {
                    // From a start that moves on.
                    *first += if *leaves_out { *stride } else { least.max(unit) };
                    ends_pass = *first >= *stride || !fits(*first);
                    if ends_pass {
                        *first = 0;
                    }
                    *at = *first;
                }
                OpExtent { offset, len, ends_pass }
            }
            Traversal::Covering { permutation, position, starts, .. }
                if self.run == 1 && u64::from(len) == least && *position + 1 < *starts =>
            {
                let offset = permutation.at(*position) * unit;
                *position += 1;
                OpExtent { offset, len, ends_pass: false }
            }
            Traversal::Covering { .. } | Traversal::Drawn(_) | Traversal::Listed { .. } => self.jump(len, random),
        }
    }

    fn jump(&mut self, len: u32, random: &mut Random) -> OpExtent {
        let Self { region, unit, least, run, .. } = *self;
        let start = if self.run_left > 0 {
            self.run_at
        } else {
            self.run_left = run;
            match &mut self.walk {
                Traversal::Covering { permutation, position, .. } => {
                    *position += 1;
                    permutation.at(*position - 1) * u64::from(run) * unit
                }
                Traversal::Drawn(popularity) => popularity.draw(random) * unit,
                Traversal::Listed { blocks, at, base, advance, starts } => {
                    let start = (*base + blocks[*at]) % *starts * unit;
                    *at = (*at + 1) % blocks.len();
                    *base = if *at == 0 { (*base + *advance) % *starts } else { *base };
                    start
                }
                Traversal::Forward(_) | Traversal::Backward(_) | Traversal::Strided { .. } => 0,
            }
        };
        let len = u64::from(len).min(region);
        // Each start has room for the smallest block.
        let offset = if len > least { start.min((region - len) / unit * unit) } else { start };
        self.run_left -= 1;
        if self.run_left > 0 {
            self.run_at = (offset + len).checked_next_multiple_of(unit).unwrap_or(u64::MAX);
            if self.run_at.saturating_add(least) > region {
                self.run_left = 0;
            }
        }
        let mut ends_pass = false;
        if let Traversal::Covering { permutation: order, position, starts, pass, seed } = &mut self.walk
            && self.run_left == 0
            && *position == *starts
        {
            ends_pass = true;
            *position = 0;
            *pass += 1;
            *order = permutation(*starts, *seed, *pass);
        }
        OpExtent { offset, len: len as u32, ends_pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{BlockPlan, StreamPlan};

    const BLOCK: u64 = 4096;

    fn plan(order: Order, blocks: u64) -> StreamPlan {
        StreamPlan {
            kind: BlockPlan { order, block_size_bytes: BLOCK, region_bytes: blocks * BLOCK, ..BlockPlan::default() }
                .into(),
            ..StreamPlan::default()
        }
    }

    /// The blocks of one pass, or of `most` operations.
    fn pass(plan: &StreamPlan, most: usize) -> Vec<u64> {
        let mut offsets = Offsets::new(plan.blocks().unwrap(), 3);
        let mut random = Random::new(3, 3);
        let mut blocks = Vec::new();
        while blocks.len() < most {
            let place = offsets.next(BLOCK as u32, &mut random);
            assert!(place.offset + u64::from(place.len) <= plan.blocks().unwrap().block.region_bytes);
            blocks.push(place.offset / BLOCK);
            if place.ends_pass {
                break;
            }
        }
        blocks
    }

    #[test]
    fn orders_that_cover_visit_each_block_once_a_pass() {
        let stride_bytes = 3 * BLOCK;
        for order in [Order::Sequential, Order::Reverse, Order::Strided { stride_bytes }, Order::Random] {
            for blocks in [1, 2, 3, 10, 64, 101] {
                // A strided order with runs leaves out what lies between them.
                for run_blocks in if order.is_sequential() { [0, 0, 0] } else { [0, 1, 4] } {
                    let mut seen = pass(
                        &StreamPlan {
                            kind: BlockPlan { run_blocks, ..plan(order, blocks).blocks().unwrap().block.clone() }
                                .into(),
                            ..plan(order, blocks)
                        },
                        1_000,
                    );
                    seen.sort_unstable();
                    assert_eq!(seen, (0..blocks).collect::<Vec<_>>(), "{order:?} {blocks} {run_blocks}");
                }
            }
        }
    }

    #[test]
    fn each_order_is_what_its_name_says() {
        assert_eq!(pass(&plan(Order::Reverse, 4), 9), [3, 2, 1, 0]);
        assert_eq!(pass(&plan(Order::Strided { stride_bytes: 4 * BLOCK }, 10), 99), [0, 4, 8, 1, 5, 9, 2, 6, 3, 7]);
        let random = pass(&plan(Order::Random, 64), 99);
        assert!(random.windows(2).filter(|w| w[0] + 1 == w[1]).count() < 8, "{random:?}");
        let replace = pass(&plan(Order::RandomReplace, 64), 256);
        assert!((1..64).any(|b| replace[..64].iter().filter(|x| **x == b).count() > 1));
    }

    #[test]
    fn a_sequence_is_its_blocks_over_and_over_or_moves_on() {
        let listed = |advances, blocks| {
            let order = Order::Sequence { advances };
            let block = BlockPlan { sequence: vec![2, 0, 1], ..plan(order, blocks).blocks().unwrap().block.clone() };
            pass(&StreamPlan { kind: block.into(), ..plan(order, blocks) }, 9)
        };
        // As fio does it (examples/sequence-distribution.fio); beyond the end it begins again.
        assert_eq!(listed(false, 12), [2, 0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(listed(true, 12), [2, 0, 1, 5, 3, 4, 8, 6, 7]);
        assert_eq!(listed(true, 5), [2, 0, 1, 0, 3, 4, 3, 1, 2]);
    }

    #[test]
    fn runs_follow_one_another() {
        for order in [Order::Random, Order::RandomReplace] {
            let blocks = pass(
                &StreamPlan {
                    kind: BlockPlan { run_blocks: 8, ..plan(order, 256).blocks().unwrap().block.clone() }.into(),
                    ..plan(order, 256)
                },
                256,
            );
            let follow = blocks.windows(2).filter(|w| w[0] + 1 == w[1]).count();
            // Seven of eight, less the runs of the second that begin near the end.
            assert!((190..=240).contains(&follow), "{order:?}: {follow}");
        }
    }

    #[test]
    fn a_stride_with_runs_reads_zones_and_skips_what_is_between() {
        let zones = |stride: u64, blocks| {
            pass(
                &StreamPlan {
                    kind: BlockPlan {
                        run_blocks: 3,
                        ..plan(Order::Strided { stride_bytes: stride * BLOCK }, blocks).blocks().unwrap().block.clone()
                    }
                    .into(),
                    ..plan(Order::Strided { stride_bytes: stride * BLOCK }, blocks)
                },
                10,
            )
        };
        // As fio 3.33 does it: the next zone begins a zone range and a skip after the last, and the end wraps to the start.
        assert_eq!(zones(5, 13), [0, 1, 2, 5, 6, 7, 10, 11, 12]);
        assert_eq!(zones(5, 12), [0, 1, 2, 5, 6, 7, 10, 11]);
        assert_eq!(zones(5, 2), [0, 1]);
        let single = BlockPlan {
            run_blocks: 1,
            ..plan(Order::Strided { stride_bytes: 2 * BLOCK }, 8).blocks().unwrap().block.clone()
        };
        let single = StreamPlan { kind: single.into(), ..StreamPlan::default() };
        assert_eq!(pass(&single, 9), [0, 2, 4, 6]);
        let plan = StreamPlan {
            kind: BlockPlan {
                run_blocks: 2,
                ..plan(Order::Strided { stride_bytes: 4 * BLOCK }, 8).blocks().unwrap().block.clone()
            }
            .into(),
            ..plan(Order::Strided { stride_bytes: 4 * BLOCK }, 8)
        };
        let mut offsets = Offsets::new(plan.blocks().unwrap(), 3);
        let mut random = Random::new(3, 3);
        let offsets: Vec<u64> = (0..6).map(|_| offsets.next(4096, &mut random).offset / BLOCK).collect();
        assert_eq!(offsets, [0, 1, 4, 5, 0, 1]);
    }

    #[test]
    fn passes_of_the_random_order_differ() {
        let mut offsets = Offsets::new(plan(Order::Random, 32).blocks().unwrap(), 3);
        let mut random = Random::new(3, 3);
        let mut pass = || (0..32).map(|_| offsets.next(4096, &mut random).offset).collect::<Vec<_>>();
        assert_ne!(pass(), pass());
    }

    #[test]
    fn mixed_sizes_stay_inside_and_aligned() {
        for order in [Order::Sequential, Order::Reverse, Order::Random, Order::RandomReplace] {
            let plan = StreamPlan {
                kind: BlockPlan {
                    align_bytes: Some(512),
                    block_sizes: Some(model::BlockSizes {
                        read: model::BlockSize::Range { min_bytes: 512, max_bytes: 4096, step_bytes: 512 },
                        write: model::BlockSize::Fixed { bytes: 512 },
                        trim: model::BlockSize::Fixed { bytes: 512 },
                    }),
                    ..plan(order, 25).blocks().unwrap().block.clone()
                }
                .into(),
                ..plan(order, 25)
            };
            let mut offsets = Offsets::new(plan.blocks().unwrap(), 3);
            let mut random = Random::new(3, 3);
            for i in 0..10_000u64 {
                let asked = 512 * (i * 7 % 8 + 1) as u32;
                let place = offsets.next(asked, &mut random);
                assert!(place.offset.is_multiple_of(512) && place.len > 0 && place.len.is_multiple_of(512));
                assert!(place.offset + u64::from(place.len) <= plan.blocks().unwrap().block.region_bytes);
                assert!(place.len == asked || order.is_sequential(), "{order:?}");
            }
        }
    }

    #[test]
    fn alignment_beyond_the_block_leaves_gaps() {
        let aligned = StreamPlan {
            kind: BlockPlan {
                align_bytes: Some(4 * BLOCK),
                ..plan(Order::Sequential, 16).blocks().unwrap().block.clone()
            }
            .into(),
            ..plan(Order::Sequential, 16)
        };
        assert_eq!(pass(&aligned, 99), [0, 4, 8, 12]);
        let mut random = pass(
            &StreamPlan {
                kind: BlockPlan { order: Order::Random, ..aligned.blocks().unwrap().block.clone() }.into(),
                ..aligned
            },
            99,
        );
        random.sort_unstable();
        assert_eq!(random, [0, 4, 8, 12]);
    }
}
