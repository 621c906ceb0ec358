//! Work that conclusions rest on, by what a phase asks for: findings, the limit, ratings and the card look phases up by this,
//! whatever they are called and whichever workload they are from.

use super::{
    Access, BlockPlan, BlockShare, BlockSize, BlockSizes, BufferPages, Durability, Flush, IoPath, Limits, Operation,
    Order, PhaseKind, PhasePlan, RwFlags, StreamKind, StreamPlan, Sync, Timing,
};
use crate::{Metric, PhaseRun, PhaseStatus, Run, metric_id};

/// Small blocks: those in which operations are counted.
const SMALL_BYTES: u64 = 4096;
/// Blocks from this size on are large: their bytes are counted.
const LARGE_BYTES: u64 = 128 << 10;
/// So much in flight keeps a device busy that is read or written in sequence.
const BUSY_BYTES: u64 = 4 << 20;
/// What the check asks for, in bytes: of several phases of one kind of work, the one that comes nearest counts.
const USUAL_BYTES: u64 = 1 << 20;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    MemoryCopy,
    /// Large blocks in sequence past the page cache, enough of them in flight.
    SequentialRead,
    /// As [`Work::SequentialRead`], into buffers of the machine's ordinary pages.
    SequentialReadPages,
    /// As [`Work::SequentialRead`], written.
    SequentialWrite,
    /// Large blocks in sequence through the page cache, from which they were dropped before.
    BufferedRead,
    /// Large blocks in sequence through the page cache, with an fsync after each round.
    BufferedWrite,
    /// 4 KiB at random offsets past the page cache, one at a time.
    RandomRead,
    /// As [`Work::RandomRead`], written.
    RandomWrite,
    /// 4 KiB at random offsets past the page cache, 32 in flight.
    QueuedRead,
    /// As [`Work::QueuedRead`], written.
    QueuedWrite,
    /// 4 KiB at random offsets through the page cache, each with its own fdatasync.
    DurableWrite,
    /// Small blocks one behind the other at the end of a file, through the page cache, each with its own fdatasync.
    LogAppend,
    /// Small reads, and small writes with their own sync, now and then.
    Responsive,
    /// The same beside a writer through the page cache.
    ResponsiveLoaded,
}

macro_rules! works {
    ($($work:ident $name:literal;)*) => {
        impl Work {
            /// All of them, in the order of the check.
            pub const ALL: &'static [Self] = &[$(Self::$work),*];

            /// The name of its phase in the check: how it is spoken of where no phase does it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$work => $name),* }
            }

            /// The id of its throughput in the check.
            pub const fn throughput(self) -> &'static str {
                match self { $(Self::$work => concat!($name, ".throughput_bytes_per_s")),* }
            }

            /// The id of its longest latency in the check.
            pub const fn latency(self) -> &'static str {
                match self { $(Self::$work => concat!($name, ".latency_ns_max")),* }
            }

            /// The id of its operations per second in the check.
            pub const fn iops(self) -> &'static str {
                match self { $(Self::$work => concat!($name, ".iops")),* }
            }
        }
    };
}

works! {
    MemoryCopy "copy";
    SequentialWrite "seq-write";
    BufferedWrite "buffered-write";
    SequentialRead "seq-read";
    SequentialReadPages "seq-read-pages";
    BufferedRead "buffered-read";
    RandomRead "rand-read-qd1";
    QueuedRead "rand-read-qd32";
    DurableWrite "sync-write";
    LogAppend "log-append";
    RandomWrite "rand-write-qd1";
    QueuedWrite "rand-write-qd32";
    Responsive "responsive-idle";
    ResponsiveLoaded "responsive-loaded";
}

/// What all streams of a phase have in common, where they are plain: nothing about them makes the storage do less, more or
/// other than reads or writes of one size as fast as they go.
struct Plain {
    operation: Operation,
    random: bool,
    block_bytes: u64,
    access: Access,
    /// Bytes of a round, with an fsync at its end.
    round_bytes: Option<u64>,
    each_durable: bool,
    streams: usize,
    depth: u32,
}

impl Plain {
    fn of(phase: &PhasePlan) -> Option<Self> {
        let first = phase.streams.first()?;
        let one = |s: &StreamPlan| {
            let access = s.path.access;
            let block = s.blocks()?.block;
            (is_plain(s) && access == first.path.access).then(|| {
                (
                    block.operation,
                    block.order == Order::Sequential,
                    block.block_size_bytes,
                    s.durability.sync,
                    rounds(s, block),
                )
            })
        };
        let (operation, sequential, block_bytes, sync, round_bytes) = one(first)?;
        phase.streams.iter().all(|s| one(s) == one(first)).then(|| Self {
            operation,
            random: !sequential,
            block_bytes,
            access: first.path.access,
            round_bytes,
            each_durable: sync == Sync::FdatasyncEach,
            streams: phase.streams.len(),
            depth: phase.queue_depth(),
        })
    }
}

/// Bytes between two syncs.
fn rounds(stream: &StreamPlan, block: &BlockPlan) -> Option<u64> {
    match (stream.durability.sync, stream.durability.flush.fsync_every) {
        (Sync::FsyncPerRound, _) => stream.durability.round_bytes,
        (Sync::None, 0) => None,
        (Sync::None, every) => Some(u64::from(every).saturating_mul(block.block_size_bytes)),
        _ => None,
    }
}

/// Whether nothing is said of it but what a plain stream may say: an option that comes makes it another kind of work.
fn is_plain(s: &StreamPlan) -> bool {
    let StreamKind::Block(block) = &s.kind else { return false };
    let one_size = |b: &BlockSize| match b {
        BlockSize::Fixed { bytes } => *bytes == block.block_size_bytes,
        BlockSize::Split(shares) => matches!(shares[..], [BlockShare { bytes, .. }] if bytes == block.block_size_bytes),
        BlockSize::Range { .. } => false,
    };
    let sizes = |all: &BlockSizes| one_size(if block.operation == Operation::Read { &all.read } else { &all.write });
    matches!(block.operation, Operation::Read | Operation::Write)
        && matches!(block.order, Order::Sequential | Order::Random | Order::RandomReplace)
        && block.run_blocks <= 1
        && block.block_sizes.as_ref().is_none_or(sizes)
        && *s
            == StreamPlan {
                kind: BlockPlan {
                    operation: block.operation,
                    order: block.order,
                    block_size_bytes: block.block_size_bytes,
                    region_start_bytes: block.region_start_bytes,
                    region_bytes: block.region_bytes,
                    files: block.files.clone(),
                    file_order: block.file_order,
                    run_blocks: block.run_blocks,
                    block_sizes: block.block_sizes.clone(),
                    align_bytes: block.align_bytes,
                    ..BlockPlan::default()
                }
                .into(),
                path: IoPath {
                    queue_depth: s.path.queue_depth,
                    batch_submit: s.path.batch_submit,
                    batch_complete: s.path.batch_complete,
                    cpus: s.path.cpus.clone(),
                    engine: s.path.engine,
                    access: s.path.access,
                    buffers: s.path.buffers,
                    rw_flags: RwFlags {
                        hipri: s.path.rw_flags.hipri,
                        nowait: s.path.rw_flags.nowait,
                        ..RwFlags::default()
                    },
                    ..IoPath::default()
                },
                durability: Durability {
                    flush: Flush {
                        fsync_every: s.durability.flush.fsync_every,
                        fsync_at_end: s.durability.flush.fsync_at_end,
                        ..Flush::default()
                    },
                    ..s.durability
                },
                timing: Timing { start_delay_ns: s.timing.start_delay_ns, ..Timing::default() },
                limits: Limits { latency_target: None, ..s.limits },
                seed: s.seed,
                name: s.name.clone(),
                group: s.group,
                on_error: s.on_error,
                ..StreamPlan::default()
            }
}

impl Work {
    /// In the words of the rows of a check.
    pub fn words(self) -> &'static str {
        match self {
            Self::MemoryCopy => "memory copy",
            Self::SequentialRead => "sequential read",
            Self::SequentialReadPages => "small pages read",
            Self::SequentialWrite => "sequential write",
            Self::BufferedRead => "buffered read",
            Self::BufferedWrite => "buffered write",
            Self::RandomRead => "random depth 1 read",
            Self::RandomWrite => "random depth 1 write",
            Self::QueuedRead => "random depth 32 read",
            Self::QueuedWrite => "random depth 32 write",
            Self::DurableWrite => "sync write",
            Self::LogAppend => "log append",
            Self::Responsive => "small operations",
            Self::ResponsiveLoaded => "small beside a copy",
        }
    }

    /// A phase of the check in these words; another by its name.
    pub fn words_of(phase: &str) -> &str {
        Self::ALL.iter().find(|work| work.name() == phase).map_or(phase, |work| work.words())
    }

    /// The work that a phase does, if it is one of these.
    pub fn of(phase: &PhasePlan) -> Option<Self> {
        match phase.kind {
            PhaseKind::Measure if phase.copies_memory() => return Some(Self::MemoryCopy),
            PhaseKind::Measure if !phase.moves_data() => return None,
            PhaseKind::Measure => {}
            PhaseKind::Layout | PhaseKind::Precondition => return None,
        }
        if let Some(work) = phase.small_operations() {
            return Some(work);
        }
        let plain = Plain::of(phase)?;
        let read = plain.operation == Operation::Read;
        let pick = |reads, writes| Some(if read { reads } else { writes });
        let small = plain.random && plain.block_bytes == SMALL_BYTES;
        let in_sequence = !plain.random && plain.streams == 1;
        let large = in_sequence && plain.block_bytes >= LARGE_BYTES;
        let syncs = plain.each_durable || plain.round_bytes.is_some();
        match (plain.access, plain.depth) {
            (Access::Direct, 1) if small && !syncs => pick(Self::RandomRead, Self::RandomWrite),
            (Access::Direct, 32) if small && !syncs => pick(Self::QueuedRead, Self::QueuedWrite),
            (Access::Direct, depth)
                if large && !syncs && u64::from(depth).saturating_mul(plain.block_bytes) >= BUSY_BYTES =>
            {
                let ordinary = phase.streams.iter().all(|s| s.path.buffers.pages == BufferPages::Ordinary);
                pick(if ordinary { Self::SequentialReadPages } else { Self::SequentialRead }, Self::SequentialWrite)
            }
            (Access::Buffered, 1) if small && !read && plain.each_durable => Some(Self::DurableWrite),
            (Access::Buffered, 1) if in_sequence && !large && !read && plain.each_durable => Some(Self::LogAppend),
            (Access::Buffered, 1) if large && read && (phase.cold || phase.drop_cache) => Some(Self::BufferedRead),
            (Access::Buffered, 1) if large && !read && plain.round_bytes.is_some_and(|b| b >= USUAL_BYTES) => {
                Some(Self::BufferedWrite)
            }
            _ => None,
        }
    }

    /// How far a phase that does it is from what the check asks for.
    fn distance(self, phase: &PhasePlan) -> (bool, u32) {
        let block = phase.streams.first().and_then(StreamPlan::blocks).map_or(0, |s| s.block.block_size_bytes);
        let large = !matches!(self, Self::RandomRead | Self::RandomWrite | Self::QueuedRead | Self::QueuedWrite);
        (large && block != USUAL_BYTES, phase.queue_depth().abs_diff(if large { 8 } else { phase.queue_depth() }))
    }
}

impl Run {
    /// The phase that does this work: of several, one that stands before one that does not, then the one nearest to what the
    /// check asks for, then the first.
    pub fn phase_of_work(&self, work: Work) -> Option<&PhaseRun> {
        Self::phase_of_work_in(&self.phases, work)
    }

    /// As [`Run::phase_of_work`], among these phases.
    pub fn phase_of_work_in(phases: &[PhaseRun], work: Work) -> Option<&PhaseRun> {
        phases
            .iter()
            .filter(|p| Work::of(&p.plan) == Some(work))
            .min_by_key(|p| (p.status != PhaseStatus::Measured, work.distance(&p.plan)))
    }

    /// Whether it gives an overview of its target: a check, or several kinds of work, each once and nothing else.
    pub fn is_overview(&self) -> bool {
        /// Fewer are none.
        const MIN: usize = 4;
        let measured = self.phases.iter().filter(|p| p.plan.measures_target());
        let works: Option<Vec<Work>> = measured.map(|p| Work::of(&p.plan)).collect();
        let each_once = |w: &Vec<Work>| w.len() >= MIN && (1..w.len()).all(|i| !w[..i].contains(&w[i]));
        self.command == "check" || works.as_ref().is_some_and(each_once)
    }

    /// A metric of the phase that does this work, such as `iops`, whatever it is worth.
    pub fn metric_of_work(&self, work: Work, quantity: &str) -> Option<&Metric> {
        metric_of(self.phase_of_work(work)?, quantity)
    }

    /// The id of a metric of this work: of the phase that does it, or of the check where none does.
    pub fn metric_id_of_work(&self, work: Work, quantity: &str) -> String {
        let name = self.phase_of_work(work).map_or(work.name(), |p| p.plan.name.as_str());
        self.metric_of_work(work, quantity).map_or_else(|| metric_id(name, quantity), |m| m.id.clone())
    }
}

/// A metric of the phase as a whole: those of its jobs and directions have longer ids.
fn metric_of<'a>(phase: &'a PhaseRun, quantity: &str) -> Option<&'a Metric> {
    let own = |m: &&Metric| m.id.strip_suffix(quantity).is_some_and(|rest| rest.ends_with('.'));
    phase.metrics.iter().filter(own).min_by_key(|m| m.id.len())
}
