//! A fully resolved workload: every default, size and seed explicit, nothing left to decide.

use serde::{Deserialize, Serialize};

/// What a phase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// Copies memory to memory: the top of the ladder.
    MemoryCopy,
    /// Writes the extents that later phases read and overwrite.
    Layout,
    /// Measures.
    Measure,
}

/// Who carries the operations out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// io_uring, one ring a worker.
    IoUring,
    /// pread, pwrite and fdatasync in the worker's own thread; depth 1.
    Psync,
    /// pread and pwrite in a pool of threads, one a slot of the depth; where io_uring is missing.
    PsyncThreads,
    /// Nothing is done; our own overhead.
    Null,
    /// A simulated device in simulated time.
    Sim,
    /// memcpy in the worker's own thread.
    Memory,
}

/// Direction of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// Through the page cache or past it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Through the page cache.
    Buffered,
    /// O_DIRECT.
    Direct,
}

/// Order of the offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One block after the other, wrapping at the end of the region.
    Sequential,
    /// Every block of the region once, in a seeded order, then again in another order.
    Random,
}

/// When data are made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sync {
    /// Never during the phase.
    None,
    /// fdatasync after each write; the pair is one operation.
    FdatasyncEach,
    /// fsync at the end of each round of `round_bytes`; the round is one sample.
    FsyncPerRound,
    /// fsync once, when the region has been written (layout).
    FsyncAtEnd,
}

/// When a phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum StopRule {
    /// Uses its whole share of time (writes: caches run out).
    Time,
    /// May stop early when the mean is known well enough: at least 2 s, 1,000 operations and 20 batches, small lag-1
    /// correlation, looked at only when the sample has doubled (reads only).
    EarlyWhenSteady {
        /// Stop when the half-width of the 95 % interval is below this share of the mean.
        half_width_ratio: f64,
    },
    /// Ends when the region has been covered once (layout).
    RegionOnce,
}

/// Which part of the beginning does not count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warmup {
    /// The cut is at least this long.
    pub min_ns: u64,
    /// The cut is at least this share of the phase's time.
    pub share: f64,
    /// The cut is never longer than this.
    pub max_ns: u64,
}

/// One stream of operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamPlan {
    /// Direction.
    pub operation: Operation,
    /// Order of the offsets.
    pub order: Order,
    /// Bytes of each operation.
    pub block_size_bytes: u64,
    /// Operations in flight.
    pub queue_depth: u32,
    /// First byte of the region.
    pub region_start_bytes: u64,
    /// Length of the region; a multiple of the block size.
    pub region_bytes: u64,
    /// When data are made durable.
    pub sync: Sync,
    /// Bytes of one round for [`Sync::FsyncPerRound`].
    pub round_bytes: Option<u64>,
    /// Seed of offsets and data.
    pub seed: u64,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasePlan {
    /// `seq-write`, `rand-read-qd32`.
    pub name: String,
    /// What it is for.
    pub kind: PhaseKind,
    /// Who carries it out.
    pub engine: EngineKind,
    /// Buffered or direct.
    pub access: Access,
    /// Whether the data must not be in the page cache when the phase starts.
    pub cold: bool,
    /// The streams, one worker each.
    pub streams: Vec<StreamPlan>,
    /// Its share of time.
    pub time_limit_ns: u64,
    /// When it ends.
    pub stop: StopRule,
    /// Which part of the beginning does not count.
    pub warmup: Warmup,
    /// Why it is not executed, if it is not.
    pub skip: Option<String>,
}

impl PhasePlan {
    /// Bytes this phase writes at most, where its rule says so (`None`: bounded by time only).
    pub fn is_write(&self) -> bool {
        self.streams.iter().any(|s| s.operation == Operation::Write)
    }

    /// Sum of the streams' depths.
    pub fn queue_depth(&self) -> u32 {
        self.streams.iter().map(|s| s.queue_depth).sum()
    }

    /// Buffer memory the phase needs: depth times block size, over all streams.
    pub fn buffer_bytes(&self) -> u64 {
        self.streams.iter().map(|s| u64::from(s.queue_depth) * s.block_size_bytes).sum()
    }
}

/// How large the measured region is, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetSize {
    /// Bytes; for a directory a rung of the ladder 64 MiB, 256 MiB, 1 GiB, 4 GiB (or less on a small target).
    pub bytes: u64,
    /// Why this size: `256 MiB rung: 1 GiB would take more than its share of the budget`.
    pub reason: String,
}

/// All that is executed, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// `check`, or the workload's name.
    pub name: String,
    /// Seed of all that is random.
    pub seed: u64,
    /// Time the plan may take, quiet windows and layout included.
    pub budget_ns: u64,
    /// Size of the measured region.
    pub size: TargetSize,
    /// Length of the intervals of the series.
    pub interval_ns: u64,
    /// Length of the quiet window before and after each measured phase.
    pub quiet_ns: u64,
    /// The phases.
    pub phases: Vec<PhasePlan>,
}

impl Plan {
    /// A phase by name.
    pub fn phase(&self, name: &str) -> Option<&PhasePlan> {
        self.phases.iter().find(|p| p.name == name)
    }

    /// The most buffer memory that any phase needs.
    pub fn buffer_bytes(&self) -> u64 {
        self.phases.iter().filter(|p| p.skip.is_none()).map(PhasePlan::buffer_bytes).max().unwrap_or(0)
    }
}
