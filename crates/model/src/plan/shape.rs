//! What phases have in common and in what they differ: by this, tables and curves are found in any workload, whatever
//! its phases are called.

use super::{BlockPlan, BlockStream, IoPath, Limits, Mix, Operation, PhasePlan, Plan, StreamPlan};

/// A phase of equal streams, taken apart into what workloads vary and all the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseShape {
    /// Block size of its streams; the largest where they have several.
    pub block_bytes: u64,
    /// Operations in flight, of all its streams together.
    pub depth: u32,
    /// Streams.
    pub jobs: u32,
    /// Reads of a mix, per cent; `None` without a mix.
    pub read_percent: Option<u32>,
    /// Everything else: equal for two phases that differ only in the above, and in names, seeds and places.
    pub rest: Box<PhasePlan>,
}

/// The stream without its name, seed, place, and what [`PhaseShape`] holds.
fn bare(stream: BlockStream<'_>) -> StreamPlan {
    // Regions are cut to whole blocks: the same region is a little smaller for larger ones.
    let region_bytes = stream.block.region_bytes.checked_next_power_of_two().unwrap_or(u64::MAX);
    StreamPlan {
        kind: BlockPlan {
            block_size_bytes: 0,
            region_start_bytes: 0,
            region_bytes,
            mix: stream.block.mix.map(|_| Mix { read_percent: 0 }),
            files: vec![String::new(); stream.block.files.len()],
            ..stream.block.clone()
        }
        .into(),
        path: IoPath { queue_depth: 0, cpus: Vec::new(), ..stream.path.clone() },
        limits: Limits {
            total_bytes: stream.limits.total_bytes.map(|b| b.checked_next_power_of_two().unwrap_or(u64::MAX)),
            ..stream.limits
        },
        seed: 0,
        name: String::new(),
        group: 0,
        ..stream.stream.clone()
    }
}

impl PhasePlan {
    /// Its shape; `None` where it does not measure, moves no data, or has streams that do different things.
    pub fn shape(&self) -> Option<PhaseShape> {
        let first = self.streams.first().filter(|_| self.measures_target() && self.moves_data())?.blocks()?;
        let same = |s: &StreamPlan| {
            let own = |s: BlockStream<'_>| (s.block.block_size_bytes, s.path.queue_depth, s.block.mix);
            s.blocks().is_some_and(|s| own(s) == own(first) && bare(s) == bare(first))
        };
        if !self.streams[1..].iter().all(same) {
            return None;
        }
        let rest = PhasePlan { name: String::new(), streams: vec![bare(first)], skip: None, ..self.clone() };
        Some(PhaseShape {
            block_bytes: first.block.block_size_bytes,
            depth: self.queue_depth(),
            jobs: u32::try_from(self.streams.len()).unwrap_or(u32::MAX),
            read_percent: first.block.mix.map(|m| m.read_percent),
            rest: Box::new(rest),
        })
    }
}

impl PhaseShape {
    /// Whether one reads what the other writes, and nothing else is different.
    pub fn reads_what_it_writes(&self, other: &Self) -> bool {
        let operation = |s: &Self| s.rest.streams.first().and_then(|s| Some(s.blocks()?.block.operation));
        let neutral = |s: &Self| {
            let mut rest = (*s.rest).clone();
            for stream in &mut rest.streams {
                stream.block_mut().operation = Operation::Read;
            }
            Self { rest: Box::new(rest), ..s.clone() }
        };
        let pair = (operation(self), operation(other));
        matches!(
            pair,
            (Some(Operation::Read), Some(Operation::Write)) | (Some(Operation::Write), Some(Operation::Read))
        ) && neutral(self) == neutral(other)
    }
}

impl Plan {
    /// Phases that differ in nothing but the operations in flight of each stream, at least three in each group, by their
    /// places in [`Plan::phases`] and in the order of their depths.
    pub fn depth_sweeps(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<(PhaseShape, Vec<(u32, usize)>)> = Vec::new();
        for (place, shape) in self.phases.iter().enumerate().filter_map(|(i, p)| Some((i, p.shape()?))) {
            let key = PhaseShape { depth: 0, ..shape.clone() };
            match groups.iter_mut().find(|(k, _)| *k == key) {
                Some((_, places)) => places.push((shape.depth, place)),
                None => groups.push((key, vec![(shape.depth, place)])),
            }
        }
        groups
            .into_iter()
            .filter_map(|(_, mut places)| {
                places.sort_unstable();
                let distinct = places.windows(2).all(|w| w[0].0 != w[1].0);
                (distinct && places.len() >= 3).then(|| places.into_iter().map(|(_, place)| place).collect())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &str, stream: StreamPlan) -> PhasePlan {
        PhasePlan { name: name.into(), streams: vec![stream], ..PhasePlan::default() }
    }

    fn stream(depth: u32, seed: u64) -> StreamPlan {
        StreamPlan {
            kind: BlockPlan { region_bytes: 1 << 30, ..BlockPlan::default() }.into(),
            path: IoPath { queue_depth: depth, ..IoPath::default() },
            seed,
            ..StreamPlan::default()
        }
    }

    #[test]
    fn phases_that_differ_only_in_depth_are_a_sweep_in_order_of_depth() {
        let mut other = stream(4, 9);
        other.block_mut().block_size_bytes = 8192;
        let phases = vec![
            phase("c", stream(16, 3)),
            phase("a", stream(1, 1)),
            phase("other", other),
            phase("b", stream(4, 2)),
            PhasePlan { kind: crate::PhaseKind::Layout, ..phase("layout", stream(8, 4)) },
        ];
        assert_eq!(Plan { phases, ..Plan::default() }.depth_sweeps(), [[1, 3, 0]]);
        let twice = vec![phase("a", stream(1, 1)), phase("b", stream(1, 2)), phase("c", stream(2, 3))];
        assert!(Plan { phases: twice, ..Plan::default() }.depth_sweeps().is_empty(), "the same depth twice");
    }

    #[test]
    fn a_region_cut_to_whole_blocks_is_the_same_region() {
        let of = |block: u64| {
            let region = 1_000_000_000;
            let stream = StreamPlan {
                kind: BlockPlan {
                    block_size_bytes: block,
                    region_bytes: region - region % block,
                    ..stream(1, 0).blocks().unwrap().block.clone()
                }
                .into(),
                ..stream(1, 0)
            };
            phase("p", stream).shape().unwrap()
        };
        let small = of(4096);
        let large = of(16 << 20);
        assert_eq!(small.rest, large.rest);
        assert_ne!(small.block_bytes, large.block_bytes);
    }

    #[test]
    fn streams_that_do_different_things_have_no_shape() {
        let mut two = phase("p", stream(1, 0));
        two.streams.push(StreamPlan {
            kind: BlockPlan { operation: Operation::Write, ..stream(1, 1).blocks().unwrap().block.clone() }.into(),
            ..stream(1, 1)
        });
        assert_eq!(two.shape(), None);
        two.streams[1] = StreamPlan {
            kind: BlockPlan { region_start_bytes: 1 << 30, ..stream(1, 7).blocks().unwrap().block.clone() }.into(),
            ..stream(1, 7)
        };
        let shape = two.shape().unwrap();
        assert_eq!((shape.jobs, shape.depth), (2, 2));
    }

    #[test]
    fn reading_and_writing_the_same_way_are_counterparts() {
        let read = phase("r", stream(8, 1)).shape().unwrap();
        let write = phase(
            "w",
            StreamPlan {
                kind: BlockPlan { operation: Operation::Write, ..stream(8, 2).blocks().unwrap().block.clone() }.into(),
                ..stream(8, 2)
            },
        )
        .shape()
        .unwrap();
        assert!(
            read.reads_what_it_writes(&write) && write.reads_what_it_writes(&read) && !read.reads_what_it_writes(&read)
        );
        let deeper = phase(
            "w",
            StreamPlan {
                kind: BlockPlan { operation: Operation::Write, ..stream(4, 2).blocks().unwrap().block.clone() }.into(),
                ..stream(4, 2)
            },
        )
        .shape()
        .unwrap();
        assert!(!read.reads_what_it_writes(&deeper));
    }
}
