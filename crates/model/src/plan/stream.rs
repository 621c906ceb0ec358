//! One stream of a plan: an enum of what it does, around parts that all kinds share.

use super::{
    Access, BlockSize, BlockSizes, Buffers, Content, CopyPlan, EngineKind, ErrorPolicy, FileOrder, FilesPlan,
    FillPattern, Flow, Flush, IoPriority, LatencyTarget, MAX_CALL_BYTES, Mix, Numa, OpenSync, Operation, Order, Pacing,
    PriorityShare, Rate, ReplayPlan, RwFlags, Sync, ThinkTime, Trace, Verify, Zone, is_default,
};
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// One stream of operations. Parts are neutral by default and may grow: build one with `..StreamPlan::default()`, which is a
/// plain sequential buffered read of 4 KiB blocks at depth 1 whose region is still empty. In JSON the fields of all parts lie
/// side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamPlan {
    /// What it does.
    #[serde(flatten)]
    pub kind: StreamKind,
    /// How its operations get to the target.
    #[serde(flatten)]
    pub path: IoPath,
    /// When data are made durable.
    #[serde(flatten)]
    pub durability: Durability,
    /// Seed of offsets and data.
    pub seed: u64,
    /// When its operations start.
    #[serde(flatten)]
    pub timing: Timing,
    /// After what it ends.
    #[serde(flatten)]
    pub limits: Limits,
    /// The job that it belongs to, empty where a phase is all one job: `<phase>.<name>` in metrics.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// Streams of one phase with the same number are reported as one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub group: u32,
    /// Whether data are checked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify: Option<Verify>,
    /// What the data written look like.
    #[serde(default, skip_serializing_if = "is_default")]
    pub content: Content,
    /// What they are made of, or with [`Content::compress_percent`] what that share of them is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fill_pattern: FillPattern,
    /// What a failed operation does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_error: ErrorPolicy,
}

/// What a stream does, each kind with only its own fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StreamKind {
    /// Copies memory to memory, the top of the ladder; or from and to the region that is its target.
    Copy(CopyPlan),
    /// Creates, looks up and removes files or directories below the target, a directory.
    Files(FilesPlan),
    /// Makes calls again that a program made on files, below the target, a directory.
    Replay(ReplayPlan),
    /// Reads, writes or trims blocks of the target.
    Block(BlockPlan),
}

impl Default for StreamKind {
    fn default() -> Self {
        Self::Block(BlockPlan::default())
    }
}

impl From<BlockPlan> for StreamKind {
    fn from(plan: BlockPlan) -> Self {
        Self::Block(plan)
    }
}

impl From<FilesPlan> for StreamKind {
    fn from(plan: FilesPlan) -> Self {
        Self::Files(plan)
    }
}

impl From<ReplayPlan> for StreamKind {
    fn from(plan: ReplayPlan) -> Self {
        Self::Replay(plan)
    }
}

/// A stream of blocks, with what it does to them.
#[derive(Clone, Copy, Debug)]
pub struct BlockStream<'a> {
    pub stream: &'a StreamPlan,
    pub block: &'a BlockPlan,
}

impl Deref for BlockStream<'_> {
    type Target = StreamPlan;

    fn deref(&self) -> &StreamPlan {
        self.stream
    }
}

/// What a stream does to blocks of its target. Absent from JSON where neutral, but for the first five.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockPlan {
    /// What its operations do; with [`BlockPlan::mix`] those that are not reads.
    pub operation: Operation,
    /// Order of the offsets.
    pub order: Order,
    /// Bytes of each operation; with [`BlockPlan::block_sizes`] of the largest. Buffers have this size.
    pub block_size_bytes: u64,
    /// First byte of the region, in the target or in each of the files.
    pub region_start_bytes: u64,
    /// Length of the region, in the target or in each of the files; a multiple of the smallest block size.
    pub region_bytes: u64,
    /// Files that it uses, by name relative to the target, a directory; without any, the target itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub files: Vec<String>,
    /// How it goes from one file to the next.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_order: FileOrder,
    /// Reads among its operations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mix: Option<Mix>,
    /// Each block is trimmed before it is written; the two are two operations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trim_before_write: bool,
    /// Each block is read before it is written, with other data; the two are two operations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_before_write: bool,
    /// Zones of [`Order::Zoned`]; each column sums to 100.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zones: Vec<Zone>,
    /// With a random order: so many blocks follow one another before the next offset is drawn; with a strided one: from
    /// the start of each stride, and a pass leaves out what lies between; 0: one, and of a stride what lies between comes
    /// in later passes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub run_blocks: u32,
    /// With a random order: so many per cent of the reads, the writes and the trims go on where the last one of their kind
    /// ended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sequential_percents: [u32; 3],
    /// No operation starts while one is in flight that shares bytes with it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub no_overlap: bool,
    /// Sizes by direction, where they are not all `block_size_bytes`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub block_sizes: Option<BlockSizes>,
    /// Offsets are multiples of this; without it, of the smallest block size.
    #[serde(default, skip_serializing_if = "is_default")]
    pub align_bytes: Option<u64>,
    /// Blocks of [`Order::Sequence`], by their numbers from the start of the region.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sequence: Vec<u64>,
    /// What is done again, of [`Order::Traced`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub trace: Option<Trace>,
    /// Of a stream that verifies: so many blocks are written, then read, and so on; 0: it reads none between.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify_backlog: u32,
}

/// How the operations of a stream get to the target: by which calls, how many at once, from which buffers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IoPath {
    /// Operations in flight.
    pub queue_depth: u32,
    /// Operations handed over in one call at most; without it, a few, or as many as there is room for where they come back at
    /// once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub batch_submit: Option<u32>,
    /// Completions that a full queue waits for; without it, one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub batch_complete: Option<u32>,
    /// Processors that its thread may use; without any, all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cpus: Vec<u32>,
    /// The priority of its requests; without it, that of the process.
    #[serde(default, skip_serializing_if = "is_default")]
    pub io_priority: Option<IoPriority>,
    /// Shares of its requests with a priority of their own: by io_uring, past the page cache.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority_shares: Vec<PriorityShare>,
    /// Who carries it out.
    #[serde(skip)]
    pub engine: EngineKind,
    /// Buffered or direct.
    #[serde(skip)]
    pub access: Access,
    /// The NUMA nodes of its processors and its memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub numa: Numa,
    /// How the target is opened.
    #[serde(default, skip_serializing_if = "is_default")]
    pub open_sync: OpenSync,
    /// Flags of each call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rw_flags: RwFlags,
    /// The memory of its buffers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub buffers: Buffers,
}

/// When the operations of a stream start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// Demanded rates; latency then counts from the intended start. Without it: as fast as possible.
    #[serde(skip_serializing_if = "is_default")]
    pub pacing: Option<Pacing>,
    /// Pauses.
    #[serde(skip_serializing_if = "is_default")]
    pub think: Option<ThinkTime>,
    /// It starts this long after the phase.
    #[serde(skip_serializing_if = "is_default")]
    pub start_delay_ns: u64,
    /// The delay counts from the start of the first phase that is no layout, instead of its own.
    #[serde(skip_serializing_if = "is_default")]
    pub delay_from_run: bool,
    /// Its share of what streams do together.
    #[serde(skip_serializing_if = "is_default")]
    pub flow: Option<Flow>,
}

/// After what a stream ends, where that is before its phase does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// It ends so long after its own start, where that is before the end of the phase.
    #[serde(skip_serializing_if = "is_default")]
    pub time_limit_ns: Option<u64>,
    /// It ends when it has moved so many bytes, all loops included; it covers the region again as needed.
    #[serde(skip_serializing_if = "is_default")]
    pub total_bytes: Option<u64>,
    /// It ends when it has done so many operations, syncs not counted.
    #[serde(skip_serializing_if = "is_default")]
    pub total_operations: Option<u64>,
    /// When it ends, its phase does: the streams beside it end at the end of their interval.
    #[serde(skip_serializing_if = "is_default")]
    pub ends_phase: bool,
    /// When it ends, the streams of the same `exit_group` do.
    #[serde(skip_serializing_if = "is_default")]
    pub ends_group: bool,
    /// Streams that may end together.
    #[serde(skip_serializing_if = "is_default")]
    pub exit_group: u32,
    /// It ends, and that is an error (ETIME), after a second in which it did less.
    #[serde(skip_serializing_if = "is_default")]
    pub least_rate: Option<Rate>,
    /// It ends, and that is an error (ETIMEDOUT), with an operation that took longer.
    #[serde(skip_serializing_if = "is_default")]
    pub max_latency_ns: Option<u64>,
    /// It looks for the depth at which latencies keep to a target, and ends when that is found.
    #[serde(skip_serializing_if = "is_default")]
    pub latency_target: Option<LatencyTarget>,
}

/// When what a stream writes is made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Durability {
    /// When data are made durable.
    pub sync: Sync,
    /// Bytes of one round for [`Sync::FsyncPerRound`].
    pub round_bytes: Option<u64>,
    /// Syncs between the operations and at the end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flush: Flush,
}

impl Default for BlockPlan {
    fn default() -> Self {
        Self {
            operation: Operation::Read,
            order: Order::Sequential,
            block_size_bytes: 4096,
            region_start_bytes: 0,
            region_bytes: 0,
            files: Vec::new(),
            file_order: FileOrder::RoundRobin,
            mix: None,
            trim_before_write: false,
            read_before_write: false,
            zones: Vec::new(),
            run_blocks: 0,
            sequential_percents: [0; 3],
            no_overlap: false,
            block_sizes: None,
            align_bytes: None,
            sequence: Vec::new(),
            trace: None,
            verify_backlog: 0,
        }
    }
}

impl Default for IoPath {
    fn default() -> Self {
        Self {
            queue_depth: 1,
            batch_submit: None,
            batch_complete: None,
            cpus: Vec::new(),
            io_priority: None,
            priority_shares: Vec::new(),
            engine: EngineKind::IoUring,
            access: Access::Buffered,
            numa: Numa::default(),
            open_sync: OpenSync::None,
            rw_flags: RwFlags::default(),
            buffers: Buffers::default(),
        }
    }
}

impl StreamPlan {
    /// The stream with what it does to blocks of the target; `None` where it is of another kind.
    pub fn blocks(&self) -> Option<BlockStream<'_>> {
        match &self.kind {
            StreamKind::Block(block) => Some(BlockStream { stream: self, block }),
            StreamKind::Copy(_) | StreamKind::Files(_) | StreamKind::Replay(_) => None,
        }
    }

    /// Whether each operation that changes data waits until these are durable.
    pub fn waits_until_durable(&self) -> bool {
        self.durability.sync == Sync::FdatasyncEach
            || self.path.open_sync != OpenSync::None
            || self.path.rw_flags.sync
            || self.path.rw_flags.dsync
    }

    /// The same, to be changed; it becomes a stream of blocks if it was of another kind.
    pub fn block_mut(&mut self) -> &mut BlockPlan {
        if !matches!(self.kind, StreamKind::Block(_)) {
            self.kind = StreamKind::default();
        }
        match &mut self.kind {
            StreamKind::Block(block) => block,
            StreamKind::Copy(_) | StreamKind::Files(_) | StreamKind::Replay(_) => {
                unreachable!("it was made one of blocks")
            }
        }
    }

    /// What it copies in memory; `None` where it is of another kind.
    pub fn copied(&self) -> Option<&CopyPlan> {
        match &self.kind {
            StreamKind::Copy(copy) => Some(copy),
            StreamKind::Files(_) | StreamKind::Replay(_) | StreamKind::Block(_) => None,
        }
    }

    /// What it does to files; `None` where it is of another kind.
    pub fn files(&self) -> Option<&FilesPlan> {
        match &self.kind {
            StreamKind::Files(files) => Some(files),
            StreamKind::Copy(_) | StreamKind::Replay(_) | StreamKind::Block(_) => None,
        }
    }

    /// The operations on blocks that it does again; `None` where it does none.
    pub fn trace(&self) -> Option<&Trace> {
        match &self.kind {
            StreamKind::Block(block) => block.trace.as_ref(),
            StreamKind::Copy(_) | StreamKind::Files(_) | StreamKind::Replay(_) => None,
        }
    }

    /// The calls that it makes again; `None` where it is of another kind.
    pub fn replay(&self) -> Option<&ReplayPlan> {
        match &self.kind {
            StreamKind::Replay(replay) => Some(replay),
            StreamKind::Copy(_) | StreamKind::Files(_) | StreamKind::Block(_) => None,
        }
    }

    /// The largest buffer that one of its operations has.
    pub fn buffer_bytes(&self) -> u64 {
        match &self.kind {
            StreamKind::Files(files) => FilesPlan::buffer_bytes(files),
            StreamKind::Replay(replay) if replay.replay_bytes == [0, 0] => 0,
            StreamKind::Replay(_) => MAX_CALL_BYTES,
            // What only takes data away has none.
            StreamKind::Block(block) if !block.reads() && !block.sends_data() => block.block_size_bytes.min(4096),
            StreamKind::Block(block) => block.block_size_bytes,
            StreamKind::Copy(_) => 4096,
        }
    }

    /// Whether its operations carry data: else they only change metadata.
    pub fn moves_data(&self) -> bool {
        self.files().is_none() && !matches!(self.path.engine, EngineKind::Fallocate | EngineKind::Ftruncate)
    }

    /// Whether what it does again has moments of its own.
    pub fn has_moments(&self) -> bool {
        match &self.kind {
            StreamKind::Replay(replay) => replay.has_moments(),
            StreamKind::Block(_) | StreamKind::Copy(_) | StreamKind::Files(_) => {
                self.trace().is_some_and(|trace| trace.trace_speed_milli > 0)
            }
        }
    }

    /// Whether it reads blocks of the target.
    pub fn reads(&self) -> bool {
        matches!(&self.kind, StreamKind::Block(block) if block.reads())
    }

    /// Whether it changes what the target holds.
    pub fn changes_data(&self) -> bool {
        match &self.kind {
            StreamKind::Copy(_) => false,
            StreamKind::Files(files) => files.file_operation.changes_data(),
            StreamKind::Replay(replay) => replay.changes_data(),
            StreamKind::Block(block) => block.changes_data(),
        }
    }
}

impl BlockPlan {
    /// Its files; the target itself has no name.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        let target = self.files.is_empty().then_some("");
        target.into_iter().chain(self.files.iter().map(String::as_str))
    }

    pub fn reads(&self) -> bool {
        match self.mix {
            Some(mix) => mix.read_percent > 0 || self.read_before_write,
            None => self.operation == Operation::Read || self.read_before_write,
        }
    }

    /// Whether data are sent for what it changes.
    pub fn sends_data(&self) -> bool {
        self.operation == Operation::Write && self.changes_data()
    }

    /// Whether all that it does is to write its region from the start to the end.
    pub fn only_writes_in_sequence(&self) -> bool {
        self.only_writes() && self.order == Order::Sequential
    }

    /// Whether all that it does is to write.
    pub fn only_writes(&self) -> bool {
        self.operation == Operation::Write && self.mix.is_none() && !self.read_before_write
    }

    /// From the start of one stride to that of the next, where what lies between is left to others.
    pub fn stride_with_gaps(&self) -> Option<u64> {
        match self.order {
            Order::Strided { stride_bytes } => Some(stride_bytes).filter(|_| self.run_blocks > 0),
            _ => None,
        }
    }

    /// Where its region ends, bytes from the start of the target or of each of its files.
    pub fn region_end(&self) -> u64 {
        self.region_start_bytes.saturating_add(self.region_bytes)
    }

    /// Whether it changes what the target holds.
    pub fn changes_data(&self) -> bool {
        self.operation.changes_data() && self.mix.is_none_or(|m| m.read_percent < 100)
    }

    /// The smallest operation, bytes.
    pub fn min_block_bytes(&self) -> u64 {
        match &self.block_sizes {
            None => self.block_size_bytes,
            Some(sizes) => self.sizes_used(sizes).map(BlockSize::min_bytes).min().unwrap_or(self.block_size_bytes),
        }
    }

    /// Bytes of the region, over all its files.
    pub fn all_region_bytes(&self) -> u64 {
        self.region_bytes.saturating_mul((self.files.len() as u64).max(1))
    }

    /// The sizes of the directions that it has.
    pub fn sizes_used<'a>(&self, sizes: &'a BlockSizes) -> impl Iterator<Item = &'a BlockSize> + use<'a> {
        let read = self.reads().then_some(&sizes.read);
        let other = self.changes_data().then_some(sizes.of(self.operation));
        let trim = self.trim_before_write.then_some(&sizes.trim);
        [read, other, trim].into_iter().flatten()
    }
}
