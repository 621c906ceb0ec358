//! When the operations of a stream start, by which calls, and what happens between and after them.

use super::Operation;
use crate::{NS_PER_S, Ns};
use serde::{Deserialize, Serialize};

/// A demanded rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// Bytes per second.
    BytesPerS(u64),
    /// Operations per second.
    OperationsPerS(u64),
}

/// Distances between the intended starts of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// All the same.
    #[default]
    Fixed,
    /// Exponentially distributed: independent arrivals.
    Poisson,
}

/// An open loop: operations have an intended start, whether or not earlier ones have completed, and their latency counts
/// from it. A direction without a rate is not paced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pacing {
    pub read: Option<Rate>,
    /// Of writes and zeroes.
    pub write: Option<Rate>,
    pub trim: Option<Rate>,
    /// How starts are spread.
    pub arrivals: Arrivals,
}

impl Pacing {
    /// Whether it demands a rate of anything.
    pub fn demands(&self) -> bool {
        self.read.is_some() || self.write.is_some() || self.trim.is_some()
    }
}

/// A pause after some operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkTime {
    /// Length of the pause.
    pub pause_ns: Ns,
    /// This much of it is spent computing instead of sleeping.
    pub spin_ns: Ns,
    /// Operations between two pauses.
    pub after_operations: u32,
}

impl Default for ThinkTime {
    fn default() -> Self {
        Self { pause_ns: 0, spin_ns: 0, after_operations: 1 }
    }
}

/// How the target is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenSync {
    /// Without a sync flag.
    #[default]
    None,
    /// O_DSYNC: a write returns when its data are durable.
    Dsync,
    /// O_SYNC: a write returns when its data and all metadata are durable.
    Sync,
}

/// Pages that buffers lie in. What cannot be had is done without, and the record says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum BufferPages {
    /// Transparent huge pages where buffers are large enough for that to matter and there are any.
    #[default]
    Huge,
    /// The machine's ordinary pages, as a program gets them that does not care.
    Ordinary,
    /// Huge pages that the administrator reserved.
    Reserved {
        /// Their size; without it, the machine's default.
        #[serde(default, skip_serializing_if = "super::is_default")]
        page_bytes: Option<u64>,
    },
}

/// The memory of a stream's buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffers {
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub pages: BufferPages,
    /// The first buffer starts on a multiple of this, a power of two; 0: on a page.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub alignment_bytes: u64,
}

/// Flags of each call (`preadv2(2)`, `pwritev2(2)`, `rw_flags` of an io_uring entry).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RwFlags {
    /// RWF_HIPRI: poll for the completion.
    pub hipri: bool,
    /// RWF_DSYNC, on writes.
    pub dsync: bool,
    /// RWF_SYNC, on writes.
    pub sync: bool,
    /// RWF_NOWAIT: fail with EAGAIN instead of waiting; such failures are counted, not repeated.
    pub nowait: bool,
    /// RWF_DONTCACHE: buffered, but dropped from the page cache at once.
    pub dontcache: bool,
    /// RWF_ATOMIC, on writes.
    pub atomic: bool,
}

/// Syncs that are operations of their own, beside [`Sync`](crate::Sync). Neutral: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    /// fsync after this many writes; 0: never. With [`EngineKind::Mmap`](crate::EngineKind::Mmap): msync.
    pub fsync_every: u32,
    /// fdatasync after this many writes; 0: never.
    pub fdatasync_every: u32,
    /// fsync when the stream ends.
    pub fsync_at_end: bool,
}

/// The class of a request's priority (ioprio_set(2)): schedulers that know of it serve the classes in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoClass {
    /// Before all others; needs CAP_SYS_ADMIN or CAP_SYS_NICE.
    RealTime = 1,
    /// What processes have that say nothing.
    BestEffort = 2,
    /// When nobody else wants the disk.
    Idle = 3,
}

/// The priority of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoPriority {
    pub class: IoClass,
    /// Within the class, 0 (first) to 7; 0 for [`IoClass::Idle`].
    pub level: u8,
    /// A hint to the device, 1 to 7 being its command duration limits (Linux 6.5); 0: none.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub hint: u16,
}

impl IoPriority {
    /// The last hint that there is room for.
    pub const LAST_HINT: u16 = 1023;

    /// As the kernel takes it: three bits of class, ten of hint, three of level (`include/uapi/linux/ioprio.h`).
    pub fn bits(self) -> u16 {
        (self.class as u16) << 13 | self.hint << 3 | u16::from(self.level)
    }
}

/// A share of a stream's requests that has a priority of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityShare {
    /// Of its reads, or of its writes.
    pub operation: Operation,
    /// Of those of this size only.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub block_bytes: Option<u64>,
    /// How many of them, drawn one by one; the shares of one request sum to 100 at most.
    pub percent: u32,
    pub priority: IoPriority,
}

/// NUMA nodes by number; all of the machine where none is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumaNodes(pub Vec<u32>);

/// Where a stream's memory is taken (set_mempolicy(2)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumaMemory {
    /// On the node of the processor that asks.
    Local,
    /// On this node where it has room.
    Prefer(u32),
    /// On these nodes only.
    Bind(NumaNodes),
    /// On these nodes in turn, page by page.
    Interleave(NumaNodes),
}

/// NUMA nodes of a stream. Neutral: as the kernel has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numa {
    /// It runs on processors of these.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub cpu_nodes: Option<NumaNodes>,
    /// Where its buffers are.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub memory: Option<NumaMemory>,
}

/// A stream's share of what streams of one phase with the same `id` do together: operations in proportion to weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Which streams belong together.
    pub id: u32,
    /// Its weight, above 0.
    pub weight: u32,
    /// How long it waits when it is ahead, before it looks again.
    pub sleep_ns: Ns,
}

impl Default for Flow {
    fn default() -> Self {
        Self { id: 0, weight: 1, sleep_ns: 0 }
    }
}

/// A search for the most operations in flight whose latencies still keep to a target: in windows, at one depth after the
/// other from 1 to the stream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// The longest latency.
    pub latency_ns: Ns,
    /// Length of a window; it ends with an interval of the series, and has two or more.
    pub window_ns: Ns,
    /// How many operations of a window are to keep to it, thousandths of a per cent: 99,900 are 99.9 %.
    pub percent_milli: u32,
    /// Whether the stream goes on when the depth is found, and looks for another when it does not hold any more.
    pub goes_on: bool,
}

impl LatencyTarget {
    /// [`LatencyTarget::percent_milli`] of all operations.
    pub const ALL_MILLI: u32 = 100_000;

    /// Up to `most` operations in flight; the longest that a search takes, from its start.
    pub fn time_at_most(&self, most: u32) -> Ns {
        let doublings = u64::from(most.max(1).ilog2()) + 1;
        // Up by doubling, back by halving, a window that counts; each may be as much longer as its last interval is.
        let windows = (2 * doublings + 1) * 2;
        self.window_ns.max(self.latency_ns).max(NS_PER_S).saturating_mul(windows)
    }
}

impl Default for LatencyTarget {
    /// No latency yet; all operations of windows of a second.
    fn default() -> Self {
        Self { latency_ns: 0, window_ns: NS_PER_S, percent_milli: Self::ALL_MILLI, goes_on: false }
    }
}

/// What a failed operation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorPolicy {
    /// Ends the phase.
    #[default]
    Stop,
    /// Is counted by its errno; the stream goes on.
    Continue,
}

/// How a stream with several files goes from one to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOrder {
    /// One operation in each, in turn.
    #[default]
    RoundRobin,
    /// Any file each time, drawn by the stream's seed.
    Random,
    /// The next when the region of one has been covered.
    Sequential,
}
