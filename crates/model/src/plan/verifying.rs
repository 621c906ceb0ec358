//! What verification demands of a plan.
//!
//! What each place must hold is known by units: the smallest pieces that a stream writes or reads. A unit is one stream's
//! at a time, so that what it must hold is never a race between two jobs: of streams that run side by side, one that
//! verifies shares no byte with another that changes data, nor one that changes what another verifies.

use super::{BlockPlan, BlockSize, BlockStream, EngineKind, IoPath, Order, PhasePlan, StreamPlan};
use crate::CompactSort as _;
use std::collections::BTreeMap;

/// Every sector of 512 bytes carries its stamp.
const SECTOR_BYTES: u64 = 512;
/// Sectors of a write are counted in 16 bits: 32 MiB less one sector.
const MAX_WRITE_BYTES: u64 = 65_535 * SECTOR_BYTES;
/// Memory of one unit.
const UNIT_STATE_BYTES: u64 = 8;
/// What the state of a stream takes whatever its size: operations in flight, writes since the last flush, and the buffers
/// of the read-back.
const STREAM_STATE_BYTES: u64 = 1 << 20;
/// Tables grow by so much.
const TABLE_STEP_BYTES: u64 = 512 << 10;

/// Operations in flight while data are read back.
const READ_BACK_DEPTH: u32 = 8;
/// Bytes of each, if the stream's blocks are not larger.
const READ_BACK_BYTES: u64 = 256 << 10;

/// The largest number that divides both; of a number and 0, the number.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl BlockStream<'_> {
    /// The largest piece that divides all its offsets and lengths, bytes: what verified data are told apart by.
    pub fn verify_unit_bytes(&self) -> u64 {
        let size = |sizes: &BlockSize| match sizes {
            BlockSize::Fixed { bytes } => *bytes,
            BlockSize::Range { min_bytes, step_bytes, .. } => gcd(*min_bytes, *step_bytes),
            BlockSize::Split(shares) => shares.iter().fold(0, |unit, share| gcd(unit, share.bytes)),
        };
        let blocks = match &self.block.block_sizes {
            None => self.block.block_size_bytes,
            Some(sizes) => self.block.sizes_used(sizes).map(size).fold(0, gcd),
        };
        let stride = if let Order::Strided { stride_bytes } = self.block.order { stride_bytes } else { 0 };
        let places =
            [self.block.align_bytes.unwrap_or(0), self.block.region_start_bytes, self.block.region_bytes, stride];
        places.into_iter().fold(blocks, gcd)
    }

    pub(super) fn verify_can_be(&self, phase: &PhasePlan) -> Result<(), String> {
        if self.verify.is_none() {
            return Ok(());
        }
        match self.path.engine {
            EngineKind::Null => {
                return Err("null: keeps nothing, so there is nothing to verify; use a real target".into());
            }
            EngineKind::Sim if phase.streams.len() > 1 || !self.block.files.is_empty() => {
                return Err(
                    "a simulated device keeps data in memory: of one stream, of no files; use a real target".into()
                );
            }
            EngineKind::Memory => return Err("copies of memory are not verified".into()),
            EngineKind::Fallocate | EngineKind::Ftruncate => {
                return Err("no data are written that could be verified".into());
            }
            _ => {}
        }
        if !self.verify_unit_bytes().is_multiple_of(SECTOR_BYTES) {
            return Err(format!(
                "verify stamps every sector of {SECTOR_BYTES} bytes; use block sizes, offsets and a region that are \
                 multiples of it"
            ));
        }
        if self.block.block_size_bytes > MAX_WRITE_BYTES {
            return Err(format!(
                "verify has blocks of at most {MAX_WRITE_BYTES} bytes, not {}",
                self.block.block_size_bytes
            ));
        }
        let mut names: Vec<&String> = self.block.files.iter().collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|n| n[0] == n[1]) {
            return Err(format!("the file '{}' is named twice, and verify asks for each place once", twice[0]));
        }
        if self.content.zero || self.content.dedupe_percent > 0 || !self.fill_pattern.bytes().is_empty() {
            return Err(
                "data that are verified differ from place to place: they cannot be zeroes, duplicates or a pattern; leave \
                        out one of the two"
                    .into(),
            );
        }
        Ok(())
    }
}

impl StreamPlan {
    /// How what it wrote is read back when its operations are over: the same region in large blocks, whatever its own
    /// pattern. `None` if it is not to be.
    pub fn read_back(&self) -> Option<Self> {
        if !self.verify.is_some_and(|v| v.read_back) || !self.changes_data() {
            return None;
        }
        // What is mapped stays in the page cache.
        let engine = match self.path.engine {
            EngineKind::Mmap => EngineKind::Psync,
            other => other,
        };
        let blocks = self.blocks()?;
        let (unit, asked) = (blocks.verify_unit_bytes().max(1), blocks.block);
        let block = READ_BACK_BYTES.max(asked.block_size_bytes) / unit * unit;
        Some(Self {
            kind: BlockPlan {
                block_size_bytes: block.max(unit).min(asked.region_bytes.max(unit)),
                region_start_bytes: asked.region_start_bytes,
                region_bytes: asked.region_bytes,
                files: asked.files.clone(),
                ..BlockPlan::default()
            }
            .into(),
            path: IoPath {
                queue_depth: if engine == EngineKind::Psync { 1 } else { READ_BACK_DEPTH },
                cpus: self.path.cpus.clone(),
                engine,
                access: self.path.access,
                ..IoPath::default()
            },
            seed: self.seed,
            name: self.name.clone(),
            verify: self.verify,
            on_error: self.on_error,
            ..Self::default()
        })
    }

    /// Memory that the knowledge of what its region must hold takes, bytes.
    pub(super) fn verify_state_bytes(&self) -> u64 {
        let Some(blocks) = self.blocks().filter(|_| self.verify.is_some()) else { return 0 };
        let (unit, block) = (blocks.verify_unit_bytes().max(1), blocks.block);
        let in_flight = u64::from(self.path.queue_depth).saturating_mul(block.block_size_bytes / unit);
        let units = (block.all_region_bytes() / unit).saturating_add(in_flight);
        let of_read_back =
            |back: Self| Some(u64::from(back.path.queue_depth).saturating_mul(back.blocks()?.block.block_size_bytes));
        let read_back = self.read_back().and_then(of_read_back).unwrap_or(0);
        units
            .saturating_mul(UNIT_STATE_BYTES)
            .saturating_add((block.files.len() as u64).max(1).saturating_mul(2 * TABLE_STEP_BYTES))
            .saturating_add(STREAM_STATE_BYTES)
            .saturating_add(read_back)
    }
}

/// Part of a file that a stream uses.
struct Use<'a> {
    start: u64,
    end: u64,
    stream: usize,
    plan: &'a StreamPlan,
}

impl PhasePlan {
    /// The streams that must not run side by side, with the reason; the first two that are found.
    pub(super) fn verify_contradiction(&self) -> Option<String> {
        if self.streams.iter().all(|s| s.verify.is_none()) {
            return None;
        }
        let mut by_file: BTreeMap<&str, Vec<Use<'_>>> = BTreeMap::new();
        let blocks =
            self.streams.iter().enumerate().filter_map(|(index, plan)| Some((index, plan, plan.blocks()?.block)));
        for (stream, plan, block) in blocks {
            let (start, end) = (block.region_start_bytes, block.region_start_bytes.saturating_add(block.region_bytes));
            for name in block.file_names() {
                by_file.entry(name).or_default().push(Use { start, end, stream, plan });
            }
        }
        by_file.into_values().find_map(first_clash)
    }
}

/// By their starts; at each, of those before it only the one that reaches farthest matters, of each kind.
fn first_clash(mut uses: Vec<Use<'_>>) -> Option<String> {
    uses.compact_sort_by_key(|u| u.start);
    type Test = fn(&StreamPlan) -> bool;
    let (verifies, changes): (Test, Test) = (|s| s.verify.is_some(), StreamPlan::changes_data);
    for (one, other) in [(verifies, changes), (changes, verifies)] {
        let mut farthest: Option<&Use<'_>> = None;
        for next in &uses {
            if let Some(before) = farthest.filter(|b| b.end > next.start && other(next.plan) && b.stream != next.stream)
            {
                let name = |u: &Use<'_>| match u.plan.name.as_str() {
                    "" => format!("stream {}", u.stream + 1),
                    name => format!("job '{name}'"),
                };
                return Some(format!(
                    "{} and {} use the same bytes at the same time, one of them verifies and one changes data: what must \
                     be there would be chance; give each a region or files of its own (job-offset or offset_increment, files), or let one \
                     run after the other",
                    name(before),
                    name(next)
                ));
            }
            if one(next.plan) && farthest.is_none_or(|f| next.end > f.end) {
                farthest = Some(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::{BlockShare, BlockSizes, Operation, Verify, VerifyKind};
    use super::*;

    const VERIFY: Option<Verify> = Some(Verify { kind: VerifyKind::Stamp, read_back: true, stop_at_first: false });

    fn write(start: u64, bytes: u64) -> StreamPlan {
        StreamPlan {
            kind: BlockPlan {
                operation: Operation::Write,
                region_start_bytes: start,
                region_bytes: bytes,
                ..BlockPlan::default()
            }
            .into(),
            verify: VERIFY,
            ..StreamPlan::default()
        }
    }

    fn said(streams: Vec<StreamPlan>) -> String {
        PhasePlan { streams, ..PhasePlan::default() }.verify_contradiction().unwrap_or_default()
    }

    #[test]
    fn the_unit_divides_everything() {
        assert_eq!(write(0, 1 << 20).blocks().unwrap().verify_unit_bytes(), 4096);
        assert_eq!(write(512, 1 << 20).blocks().unwrap().verify_unit_bytes(), 512);
        let sizes = BlockSize::Range { min_bytes: 4096, max_bytes: 65536, step_bytes: 4096 };
        let split =
            BlockSize::Split(vec![BlockShare { bytes: 8192, weight: 1 }, BlockShare { bytes: 12288, weight: 1 }]);
        let both = |write: BlockSize| BlockSizes { read: sizes.clone(), write, trim: sizes.clone() };
        let mixed = |write_sizes| StreamPlan {
            kind: BlockPlan {
                block_sizes: Some(both(write_sizes)),
                block_size_bytes: 65536,
                mix: Some(super::super::Mix { read_percent: 50 }),
                ..write(0, 1 << 20).blocks().unwrap().block.clone()
            }
            .into(),
            ..write(0, 1 << 20)
        };
        assert_eq!(mixed(sizes.clone()).blocks().unwrap().verify_unit_bytes(), 4096);
        assert_eq!(mixed(split).blocks().unwrap().verify_unit_bytes(), 4096);
        let strided = StreamPlan {
            kind: BlockPlan {
                order: Order::Strided { stride_bytes: 6144 },
                ..write(0, 1 << 20).blocks().unwrap().block.clone()
            }
            .into(),
            ..write(0, 1 << 20)
        };
        assert_eq!(strided.blocks().unwrap().verify_unit_bytes(), 2048);
    }

    #[test]
    fn jobs_on_the_same_bytes_are_refused_with_their_names() {
        let name = |name: &str, s: StreamPlan| StreamPlan { name: name.into(), ..s };
        let message = said(vec![name("a", write(0, 8192)), name("b", write(4096, 8192))]);
        assert!(message.contains("job 'a' and job 'b'"), "{message}");
        assert_eq!(said(vec![write(0, 8192), write(8192, 8192)]), "");
        let read = |s: StreamPlan| StreamPlan {
            kind: BlockPlan { operation: Operation::Read, ..s.blocks().unwrap().block.clone() }.into(),
            ..s
        };
        let blind = |s: StreamPlan| StreamPlan { verify: None, ..s };
        assert_eq!(said(vec![read(write(0, 8192)), read(write(0, 8192))]), "");
        assert_eq!(said(vec![write(0, 8192), blind(read(write(0, 8192)))]), "");
        assert_ne!(said(vec![read(write(0, 8192)), blind(write(4096, 8192))]), "");
        assert_ne!(said(vec![blind(write(4096, 8192)), read(write(0, 8192))]), "");
        assert_ne!(said(vec![write(0, 1 << 20), blind(read(write(0, 4096))), write(1 << 19, 4096)]), "");
        let file = |f: &str, s: StreamPlan| StreamPlan {
            kind: BlockPlan { files: vec![f.into()], ..s.blocks().unwrap().block.clone() }.into(),
            ..s
        };
        assert_eq!(said(vec![file("a", write(0, 8192)), file("b", write(0, 8192))]), "");
        assert_ne!(said(vec![file("a", write(0, 8192)), file("a", write(0, 8192))]), "");
    }

    #[test]
    fn what_cannot_be_verified_is_said() {
        let can = |s: &StreamPlan, engine| {
            let mut s = s.clone();
            s.path.engine = engine;
            s.blocks().unwrap().verify_can_be(&PhasePlan { engine, ..PhasePlan::default() })
        };
        assert_eq!(can(&write(0, 1 << 20), EngineKind::IoUring), Ok(()));
        assert!(can(&write(0, 1 << 20), EngineKind::Null).unwrap_err().contains("keeps nothing"));
        assert_eq!(can(&write(0, 1 << 20), EngineKind::Sim), Ok(()));
        // How much the memory of a simulated device holds is known where it is opened.
        assert_eq!(can(&write(0, 4 << 30), EngineKind::Sim), Ok(()));
        assert!(can(&write(100, 1 << 20), EngineKind::Psync).unwrap_err().contains("multiples"));
        let large = StreamPlan {
            kind: BlockPlan { block_size_bytes: 32 << 20, ..write(0, 1 << 30).blocks().unwrap().block.clone() }.into(),
            ..write(0, 1 << 30)
        };
        assert!(can(&large, EngineKind::IoUring).unwrap_err().contains("33553920"));
        let zero =
            StreamPlan { content: super::super::Content { zero: true, ..Default::default() }, ..write(0, 1 << 20) };
        assert!(can(&zero, EngineKind::IoUring).unwrap_err().contains("zeroes"));
    }

    #[test]
    fn what_it_takes_is_eight_bytes_a_unit_and_a_little() {
        let bytes = write(0, 1 << 40).verify_state_bytes();
        assert!(bytes > 2 << 30 && bytes < (2 << 30) + (16 << 20), "{bytes}");
        assert_eq!(StreamPlan { verify: None, ..write(0, 1 << 40) }.verify_state_bytes(), 0);
    }

    #[test]
    fn the_read_back_has_large_blocks_of_whole_units() {
        let mut stream = StreamPlan {
            kind: BlockPlan { block_size_bytes: 12288, ..write(0, 12288 * 1000).blocks().unwrap().block.clone() }
                .into(),
            ..write(0, 12288 * 1000)
        };
        stream.path.engine = EngineKind::Mmap;
        let back = stream.read_back().unwrap();
        assert!(
            back.blocks().unwrap().block.block_size_bytes.is_multiple_of(12288)
                && back.blocks().unwrap().block.block_size_bytes > 200_000
        );
        assert_eq!(
            (back.blocks().unwrap().block.operation, back.blocks().unwrap().block.region_bytes),
            (Operation::Read, stream.blocks().unwrap().block.region_bytes)
        );
        assert_eq!((back.path.engine, back.path.queue_depth), (EngineKind::Psync, 1));
        assert!(
            StreamPlan {
                kind: BlockPlan { operation: Operation::Read, ..stream.blocks().unwrap().block.clone() }.into(),
                ..stream
            }
            .read_back()
            .is_none()
        );
    }
}
