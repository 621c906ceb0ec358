//! A fully resolved workload: every default, size and seed explicit, nothing left to decide.

mod call;
mod calls;
mod copying;
mod course;
mod demands;
mod files;
mod jobs;
mod needs;
mod options;
mod package_calls;
mod packages;
mod pattern;
mod purpose;
mod rank_region;
mod replay;
mod scale;
mod shape;
mod small_operations;
mod stream;
mod stream_demands;
mod trace;
mod verify_kind;
mod verifying;
mod work;
mod written;

pub use call::{CallFlag, CallKind, FileCall, MAX_CALL_BYTES, NO_NUMBER};
pub use calls::{CallCursor, PackedCalls};
pub use copying::{CopyMethod, CopyPlan};
pub use course::{
    Arrivals, BufferPages, Buffers, ErrorPolicy, FileOrder, Flow, Flush, IoClass, IoPriority, LatencyTarget, Numa,
    NumaMemory, NumaNodes, OpenSync, Pacing, PriorityShare, Rate, RwFlags, ThinkTime,
};
pub use demands::PlanError;
pub use files::{FileKind, FileOperation, FilesPlan};
pub use jobs::PlannedJob;
pub use needs::MemoryNeed;
pub use options::JobOptions;
pub use package_calls::{PackageCalls, PackageModel, PackageSet};
pub use packages::{MadePackage, MadePackages, PackageEntry, PackagePart, RealPackages};
pub use pattern::{BlockShare, BlockSize, BlockSizes, Content, FillPattern, Mix, Operation, Order, Verify, Zone};
pub use purpose::Purpose;
pub use replay::{Before, FileTrace, PathNode, ReplayPlan, SharedFileTrace};
pub use shape::PhaseShape;
pub use stream::{BlockPlan, BlockStream, Durability, IoPath, Limits, StreamKind, StreamPlan, Timing};
pub use trace::{Trace, TraceKind, TraceOp, TraceOps};
pub use verify_kind::{UnknownVerify, VerifyKind};
pub use verifying::gcd;
pub use work::Work;

use crate::Ns;
use serde::{Deserialize, Serialize};
use written::WrittenPhase;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a phase is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// Writes the extents that later phases read and overwrite.
    Layout,
    /// Brings the device into the state in which it is to be measured; its numbers are kept but are no result.
    Precondition,
    #[default]
    Measure,
}

/// Who carries the operations out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// io_uring, one ring a worker.
    #[default]
    IoUring,
    /// pread, pwrite and fdatasync in the worker's own thread; depth 1.
    Psync,
    /// pread and pwrite in a pool of threads, one a slot of the depth; where io_uring is missing.
    PsyncThreads,
    /// Loads and stores in a shared mapping of the target, in the worker's own thread; depth 1, buffered.
    Mmap,
    /// Nothing is done; our own overhead.
    Null,
    /// A simulated device in simulated time.
    Sim,
    /// memcpy in the worker's own thread.
    Memory,
    /// System calls that create, look up and remove files, in the worker's own thread; depth 1.
    Files,
    /// As [`EngineKind::Psync`], but a write is fallocate(2): its blocks are reserved, no data are sent.
    Fallocate,
    /// As [`EngineKind::Psync`], but a write is ftruncate(2): the file gets the length of its offset.
    Ftruncate,
}

/// Through the page cache or past it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Through the page cache.
    #[default]
    Buffered,
    /// O_DIRECT.
    Direct,
}

/// When data are made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sync {
    /// Never during the phase.
    #[default]
    None,
    /// fdatasync after each write; the pair is one operation.
    FdatasyncEach,
    /// fsync at the end of each round of `round_bytes`; the round is one sample.
    FsyncPerRound,
    /// fsync once, when the region has been written (layout).
    FsyncAtEnd,
}

/// When a phase ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule")]
pub enum StopRule {
    /// Uses its whole share of time (writes: caches run out).
    #[default]
    Time,
    /// May stop early when the mean is known well enough: at least 2 s, 1,000 operations and 20 batches, small lag-1
    /// correlation, looked at only when the sample has doubled (reads only).
    EarlyWhenSteady {
        /// Stop when the half-width of the 95 % interval is below this share of the mean.
        half_width_ratio: f64,
    },
    /// Ends after `time_ns`, its beginning that does not count included, if a stream has then done so many operations that
    /// count; else when it has, and at the phase's time limit at the latest. Looked at when an interval of the series ends.
    LeastOperations {
        /// The time that is enough where operations are fast.
        time_ns: u64,
        /// Operations of each stream.
        operations: u64,
    },
    /// Ends when the region has been covered once (layout).
    RegionOnce,
    /// Each stream ends when it has moved its `total_bytes` or done its `total_operations`; the time limit still holds.
    Amount,
    /// Rounds until the last `window_rounds` of them are steady in the sense of SNIA's Solid State Storage Performance
    /// Test Specification (2.0.2, "steady state"): the range of their means within `range_permille` of their average, and
    /// the rise of a line through them within `slope_permille`. Not steady after `most_rounds`: ends, and says so.
    SteadyRounds(SteadyState),
}

/// When rounds are steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteadyState {
    /// Length of a round, if it is a time.
    pub round_ns: Option<u64>,
    /// Length of a round, if it is an amount written and read (slow cards: a round is one pass).
    pub round_bytes: Option<u64>,
    /// Rounds that are looked at.
    pub window_rounds: u32,
    /// Largest minus smallest, thousandths of their average; `u32::MAX`: not looked at.
    pub range_permille: u32,
    /// Rise of the fitted line over the window, thousandths of their average; `u32::MAX`: not looked at.
    pub slope_permille: u32,
    /// Rounds after which it is given up.
    pub most_rounds: u32,
    /// Whether the mean latency is looked at, instead of the rate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by_latency: bool,
}

impl SteadyState {
    /// The longest that it takes; `None` where rounds are no times.
    pub fn most_ns(self) -> Option<u64> {
        Some(self.round_ns?.saturating_mul(u64::from(self.most_rounds)))
    }
}

impl Default for SteadyState {
    /// SNIA PTS 2.0.2: rounds of a minute, a window of five, a range of 20 %, a slope of 10 %, 25 rounds at most.
    fn default() -> Self {
        Self {
            round_ns: Some(60_000_000_000),
            round_bytes: None,
            window_rounds: 5,
            range_permille: 200,
            slope_permille: 100,
            most_rounds: 25,
            by_latency: false,
        }
    }
}

/// Which part of the beginning does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Warmup {
    /// The cut is at least this long.
    pub min_ns: u64,
    /// The cut is at least this share of the phase's time.
    pub share: f64,
    /// The cut is never longer than this.
    pub max_ns: u64,
}

/// One step of a plan. In JSON the engine and the access of a stream are said only where they are not the phase's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenPhase", into = "WrittenPhase")]
pub struct PhasePlan {
    /// `seq-write`, `rand-read-qd32`.
    pub name: String,
    /// What it is for.
    pub kind: PhaseKind,
    /// Who carries it out; with streams of several engines, the first of them.
    pub engine: EngineKind,
    /// Buffered or direct; with streams of both, as the first.
    pub access: Access,
    /// Whether the data must not be in the page cache when the phase starts.
    pub cold: bool,
    /// Whether the data are dropped from the page cache before, without a claim that all comes from the device then.
    pub drop_cache: bool,
    /// The streams, one worker each.
    pub streams: Vec<StreamPlan>,
    /// How long the phase may take.
    pub time_limit_ns: u64,
    /// When it ends.
    pub stop: StopRule,
    /// Which part of the beginning does not count.
    pub warmup: Warmup,
    /// Of a group the first so many ranks do it, and the others wait; `None`: all do.
    pub ranks: Option<u32>,
    /// Why it is not executed, if it is not.
    pub skip: Option<crate::Reason>,
}

impl PhasePlan {
    /// The phase whose streams all have its engine and its access.
    #[must_use]
    pub fn alike(mut self) -> Self {
        self.set_engine(self.engine);
        self.set_access(self.access);
        self
    }

    /// Has it, and all its streams, carried out so.
    pub fn set_engine(&mut self, engine: EngineKind) {
        self.engine = engine;
        self.streams.iter_mut().for_each(|stream| stream.path.engine = engine);
    }

    /// The same through the page cache, or past it.
    pub fn set_access(&mut self, access: Access) {
        self.access = access;
        self.streams.iter_mut().for_each(|stream| stream.path.access = access);
    }

    /// Whether any of its streams changes what the target holds: writes, trims, zeroes.
    pub fn is_write(&self) -> bool {
        self.streams.iter().any(StreamPlan::changes_data)
    }

    /// Whether it writes in bursts, with pauses between them: their [`crate::Round`]s are what it measures.
    pub fn has_bursts(&self) -> bool {
        let pauses = |s: &StreamPlan| s.timing.think.is_some_and(|t| t.pause_ns > 0 && t.after_operations > 1);
        self.measures_target() && self.is_write() && self.streams.iter().all(pauses)
    }

    /// Whether it copies memory to memory, with the target having no part in it: the top of the ladder.
    pub fn copies_memory(&self) -> bool {
        self.engine == EngineKind::Memory
    }

    /// Whether what it measures is the target.
    pub fn measures_target(&self) -> bool {
        self.kind == PhaseKind::Measure && !self.copies_memory()
    }

    /// Whether its operations carry data, so that it has a rate in bytes: not those that only change metadata.
    pub fn moves_data(&self) -> bool {
        self.streams.iter().all(|s| s.moves_data())
    }

    /// Sum of the streams' depths.
    pub fn queue_depth(&self) -> u32 {
        self.streams.iter().fold(0, |sum, s| sum.saturating_add(s.path.queue_depth))
    }

    /// Its share of time where nothing is slower than foreseen; [`PhasePlan::time_limit_ns`] is the most that it takes.
    pub fn usual_time_ns(&self) -> u64 {
        match self.stop {
            StopRule::LeastOperations { time_ns, .. } => time_ns.min(self.time_limit_ns),
            _ => self.time_limit_ns,
        }
    }

    /// Whether its operations are on files, and not on their blocks.
    pub fn operates_on_files(&self) -> bool {
        !self.streams.is_empty() && self.streams.iter().all(|s| s.files().is_some())
    }

    /// How long it pauses between its calls, one after the other; `None` where it keeps no pauses, or several threads do.
    pub fn pauses_ns(&self) -> Option<Ns> {
        let [stream] = &self.streams[..] else { return None };
        if let Some(trace) = stream.trace().filter(|trace| trace.trace_pauses && trace.trace_speed_milli > 0) {
            return Some(trace.trace_span_ns * 1000 / u64::from(trace.trace_speed_milli));
        }
        let keeps = |replay: &&ReplayPlan| replay.replay_pauses && replay.replay_real.is_none();
        let replay = stream.replay().filter(keeps).filter(|replay| replay.replay_pauses_ns > 0)?;
        let pauses = u128::from(replay.replay_pauses_ns) * 1000 / u128::from(replay.replay_speed_milli.max(1));
        u64::try_from(pauses).ok().filter(|_| replay.replay_speed_milli > 0)
    }

    /// Whether what it does is a recording, all of it, so that how long it takes is its result.
    pub fn is_replay(&self) -> bool {
        self.replays_calls() || matches!(&self.streams[..], [stream] if stream.trace().is_some())
    }

    /// Whether dpkg does it, and makes calls of its own.
    pub fn runs_dpkg(&self) -> bool {
        self.streams.iter().any(|s| s.replay().is_some_and(|replay| replay.replay_real.is_some()))
    }

    /// Whether it makes calls on files again.
    pub fn replays_calls(&self) -> bool {
        !self.streams.is_empty() && self.streams.iter().all(|s| s.replay().is_some())
    }

    /// The phase where so much of its run has passed: delays that count from the start of that are so much shorter.
    #[must_use]
    pub fn resumed_after(&self, passed: Ns) -> Self {
        let cut = |s: &StreamPlan| if s.timing.delay_from_run { s.timing.start_delay_ns.min(passed) } else { 0 };
        let mut phase = self.clone();
        if self.streams.iter().all(|s| cut(s) == 0) {
            return phase;
        }
        let all = self.streams.iter().map(cut).min().unwrap_or(0);
        // From the start of the phase.
        let end = |s: &StreamPlan| {
            let own = s.limits.time_limit_ns.map(|own| own.saturating_add(s.timing.start_delay_ns));
            own.unwrap_or(self.time_limit_ns).saturating_sub(cut(s))
        };
        match &mut phase.stop {
            StopRule::Time | StopRule::Amount => {
                phase.time_limit_ns = self.streams.iter().map(end).max().unwrap_or(self.time_limit_ns);
            }
            StopRule::LeastOperations { time_ns, .. } => {
                *time_ns = time_ns.saturating_sub(all);
                phase.time_limit_ns = self.time_limit_ns.saturating_sub(all);
            }
            _ => phase.time_limit_ns = self.time_limit_ns.saturating_sub(all),
        }
        for (stream, was) in phase.streams.iter_mut().zip(&self.streams) {
            stream.timing.start_delay_ns -= cut(was);
            let own = end(was).saturating_sub(stream.timing.start_delay_ns);
            stream.limits.time_limit_ns = Some(own).filter(|_| end(was) < phase.time_limit_ns);
        }
        phase
    }

    /// Buffer memory the phase needs: depth times block size, over all streams.
    pub fn buffer_bytes(&self) -> u64 {
        let of = |s: &StreamPlan| u64::from(s.path.queue_depth).saturating_mul(s.buffer_bytes());
        self.streams.iter().fold(0, |sum, s| sum.saturating_add(of(s)))
    }
}

/// How large the measured region is, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetSize {
    /// Bytes; for a directory a rung of the ladder 64 MiB, 256 MiB, 1 GiB, 4 GiB (or less on a small target).
    pub bytes: u64,
    /// Why this size: `256 MiB rung: 1 GiB would take more than its share of the budget`.
    pub reason: String,
}

/// All that is executed, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    pub phases: Vec<PhasePlan>,
    /// What the text asked for and this plan does otherwise, or leaves out, with the reason.
    #[serde(default, skip_serializing_if = "is_default")]
    pub notes: Vec<String>,
}

impl Plan {
    pub fn phase(&self, name: &str) -> Option<&PhasePlan> {
        self.phases.iter().find(|p| p.name == name)
    }

    /// The most buffer memory that any phase needs.
    pub fn buffer_bytes(&self) -> u64 {
        self.phases.iter().filter(|p| p.skip.is_none()).map(PhasePlan::buffer_bytes).max().unwrap_or(0)
    }
}
