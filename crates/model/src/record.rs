//! What the engine recorded of one phase: raw, before anything is judged.

use crate::{EngineKind, Histogram, Ns, PhasePlan, SteadyRecord, StreamSummary, VerifyRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One interval of the series. Intervals without completions are kept as zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, since the run's start.
    pub start_ns: Ns,
    /// Length; the last one of a phase may be shorter.
    pub length_ns: Ns,
    /// Completed operations.
    pub operations: u64,
    /// Completed bytes.
    pub bytes: u64,
    /// Median latency of the interval's completions; `None` without completions, and where several streams, or intervals of a
    /// phase of hours, were put together: it cannot be had from theirs.
    pub latency_ns_p50: Option<Ns>,
    /// 99th percentile; `None` where there is no median.
    pub latency_ns_p99: Option<Ns>,
    /// Maximum; `None` without completions.
    pub latency_ns_max: Option<Ns>,
}

/// One round of buffered writes and its fsync, or a burst of writes between two pauses, which has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Start, since the run's start.
    pub start_ns: Ns,
    /// Bytes written.
    pub bytes: u64,
    /// Time of the write calls; of a burst from its start to its last completion.
    pub write_ns: Ns,
    /// Time of the fsync.
    pub sync_ns: Ns,
}

/// Why a phase ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopCause {
    /// Its share of time was used.
    #[default]
    TimeUsed,
    /// The early-stop rule was satisfied.
    Steady,
    /// The search for a depth came to its end.
    DepthFound,
    /// The region was covered.
    RegionDone,
    /// Ctrl-C or SIGHUP.
    Interrupted,
    /// An operation failed.
    Failed,
}

impl StopCause {
    /// The graver of two: a phase or a job ended for the gravest of its streams' causes.
    pub fn graver(self, other: Self) -> Self {
        let rank = |stop: Self| match stop {
            Self::RegionDone => 0,
            Self::Steady => 1,
            Self::DepthFound => 2,
            Self::TimeUsed => 3,
            Self::Interrupted => 4,
            Self::Failed => 5,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// The part of the beginning that does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmupCut {
    /// The rule in words.
    pub rule: String,
    /// Time cut.
    pub cut_ns: Ns,
    /// Operations cut.
    pub operations: u64,
    /// Bytes cut.
    pub bytes: u64,
}

/// CPU that a worker used, from getrusage(RUSAGE_THREAD).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerUsage {
    /// User time.
    pub user_ns: Ns,
    /// System time.
    pub system_ns: Ns,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Time that it could have run and waited for a CPU, from /proc/thread-self/schedstat; `None` if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_ns: Option<Ns>,
}

impl WorkerUsage {
    /// Nothing used, of no worker yet.
    pub const NONE: Self =
        Self { user_ns: 0, system_ns: 0, voluntary_switches: 0, involuntary_switches: 0, cpu_wait_ns: Some(0) };

    /// Both together; what is not known of one is not known of the sum.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_add(other.user_ns),
            system_ns: self.system_ns.saturating_add(other.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_add(other.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_add(other.involuntary_switches),
            cpu_wait_ns: self.cpu_wait_ns.zip(other.cpu_wait_ns).map(|(a, b)| a.saturating_add(b)),
        }
    }

    /// What came after `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            cpu_wait_ns: self.cpu_wait_ns.zip(earlier.cpu_wait_ns).map(|(a, b)| a.saturating_sub(b)),
        }
    }
}

/// Whether O_DIRECT was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "basis")]
pub enum DirectProof {
    /// The kernel or the file system says so.
    Proven(String),
    /// Opened with O_DIRECT, nothing proves what happens.
    Unproven(String),
    /// Known to go through the page cache, or O_DIRECT was refused and buffered I/O stands in.
    Fallback(String),
    /// From the page cache because there is nothing else: a file system that lives in memory.
    NoDevice(String),
}

impl DirectProof {
    /// Whether it is known that the page cache served it.
    pub fn is_from_cache(&self) -> bool {
        matches!(self, Self::Fallback(_) | Self::NoDevice(_))
    }
}

/// How late operations were handed over that had a moment of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// All together, ns.
    pub sum_ns: Ns,
    /// The latest.
    pub max_ns: Ns,
    /// How many were later than a millisecond.
    pub over_1_ms: u64,
}

impl Lateness {
    /// One that was so late.
    #[inline]
    pub fn add(&mut self, late_ns: Ns) {
        self.sum_ns += late_ns;
        self.max_ns = self.max_ns.max(late_ns);
        self.over_1_ms += u64::from(late_ns > 1_000_000);
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            sum_ns: self.sum_ns + other.sum_ns,
            max_ns: self.max_ns.max(other.max_ns),
            over_1_ms: self.over_1_ms + other.over_1_ms,
        }
    }
}

/// Whether a read came from the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColdProof {
    /// Pages of the region that were resident before the phase; `None` if it could not be told.
    pub resident_pages_before: Option<u64>,
    /// Bytes that the lowest counting layer read during the phase; `None` where no layer counts.
    pub device_read_bytes: Option<u64>,
    /// Bytes that the phase read.
    pub phase_read_bytes: u64,
    /// What was dropped, in words: `fsync, DONTNEED on the file and on the loop's backing file`.
    pub method: String,
}

/// Whether reads came from extents that were written, or from content that is not constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "basis")]
pub enum DataProof {
    /// Written by this run, or FIEMAP shows written extents, or sampled content varies.
    Real(String),
    /// Holes, unwritten extents or constant content.
    NotReal(String),
    /// Could not be told.
    Unknown(String),
}

/// Device traffic while this program was silent, summed over the lowest counting layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietWindow {
    pub length_ns: Ns,
    /// Bytes read by others.
    pub read_bytes: u64,
    /// Bytes written by others (after our own data were flushed).
    pub write_bytes: u64,
    /// Operations by others.
    pub operations: u64,
    /// Time in which any of them was in flight; `None` where it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_ns: Option<Ns>,
}

/// How the engine actually ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// Who carried the operations out.
    pub kind: EngineKind,
    /// Features in use: `registered-buffers`, `registered-file`, `single-issuer`, `defer-taskrun`.
    pub features: Vec<String>,
    /// What was asked and not had, with the reason: `defer-taskrun: kernel lacks it (EINVAL)`.
    pub missing: Vec<String>,
    /// Most operations submitted in one call.
    pub batch_submit: u32,
    /// Completions waited for in one call.
    pub batch_complete: u32,
}

/// Everything recorded of one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Start, since the run's start.
    pub started_ns: Ns,
    /// End of the last operation, since the run's start.
    pub ended_ns: Ns,
    /// Operations that succeeded, warm-up included.
    pub operations: u64,
    /// Bytes that were transferred, warm-up included.
    pub bytes: u64,
    /// Operations that transferred fewer bytes than asked.
    pub short_operations: u64,
    /// Failed operations by errno name (`EIO`).
    pub errors: BTreeMap<String, u64>,
    /// Why it ended.
    pub stop: StopCause,
    /// What was cut at the beginning.
    pub warmup: WarmupCut,
    /// How the engine ran.
    pub engine: EngineRecord,
    /// Whether O_DIRECT was granted; `None` for buffered phases.
    pub direct: Option<DirectProof>,
    /// Whether reads were cold; `None` for writes and direct phases.
    pub cold: Option<ColdProof>,
    /// Whether the data read were real; `None` for writes.
    pub data: Option<DataProof>,
    /// CPU used by our workers during the phase.
    pub usage: WorkerUsage,
    /// Mean operations in flight over the phase, from the sum of latencies (Little's law).
    pub mean_depth: Option<f64>,
    /// The longest time after the warm-up cut in which no operation of a worker completed though it had some in flight:
    /// how long the device stood still at worst, whatever the queue depth. Syncs that close rounds do not count. `None`
    /// where nothing completed after the cut, and in runs of versions that did not record it.
    #[serde(default)]
    pub longest_gap_ns: Option<Ns>,
    /// How late operations were handed over, where they had moments of their own: of a trace that is done again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Lateness>,
    /// Before the phase; `None` where no layer counts.
    pub quiet_before: Option<QuietWindow>,
    /// After the phase, once our own writes were flushed.
    pub quiet_after: Option<QuietWindow>,
    /// Latencies of operations after the warm-up cut, from intended start to completion.
    #[serde(skip)]
    pub latency: Histogram,
    /// The series, warm-up included.
    #[serde(skip)]
    pub intervals: Vec<Interval>,
    /// Rounds of buffered writes.
    pub rounds: Vec<Round>,
    /// The streams one by one, where there are several, or one with a name or with several directions; else all is said
    /// above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamSummary>,
    /// How the rounds went, of a phase that goes by rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRecord>,
    /// What the verification found, where a stream verifies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyRecord>,
}

impl PhaseRecord {
    /// Threads of ours that did the work of `plan`: one for each stream, or one for each operation in flight.
    pub fn engine_threads(&self, plan: &PhasePlan) -> u32 {
        match self.engine.kind {
            EngineKind::PsyncThreads => plan.queue_depth().max(1),
            _ => u32::try_from(plan.streams.len()).unwrap_or(u32::MAX).max(1),
        }
    }

    /// Wall time of the phase.
    pub fn duration_ns(&self) -> Ns {
        self.ended_ns.saturating_sub(self.started_ns)
    }

    /// The intervals after the warm-up cut.
    pub fn counted_intervals(&self) -> &[Interval] {
        let from = self.started_ns + self.warmup.cut_ns;
        let first = self.intervals.partition_point(|i| i.start_ns < from);
        &self.intervals[first..]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A phase in which nothing was done, for the tests of this room.
    pub(crate) fn empty() -> PhaseRecord {
        PhaseRecord {
            started_ns: 0,
            ended_ns: 0,
            operations: 0,
            bytes: 0,
            short_operations: 0,
            errors: BTreeMap::new(),
            stop: StopCause::TimeUsed,
            warmup: WarmupCut::default(),
            engine: EngineRecord {
                kind: EngineKind::Psync,
                features: Vec::new(),
                missing: Vec::new(),
                batch_submit: 1,
                batch_complete: 1,
            },
            direct: None,
            cold: None,
            data: None,
            usage: WorkerUsage::default(),
            mean_depth: None,
            longest_gap_ns: None,
            late: None,
            quiet_before: None,
            quiet_after: None,
            latency: Histogram::new(),
            intervals: Vec::new(),
            rounds: Vec::new(),
            streams: Vec::new(),
            steady: None,
            verify: None,
        }
    }

    #[test]
    fn the_graver_cause_wins() {
        use StopCause::*;
        let all = [RegionDone, Steady, DepthFound, TimeUsed, Interrupted, Failed];
        for (i, a) in all.into_iter().enumerate() {
            for (j, b) in all.into_iter().enumerate() {
                assert_eq!(a.graver(b), all[i.max(j)]);
            }
        }
    }
}
