//! What the engine recorded of one phase: raw, before anything is judged.

use crate::{
    ColdProof, DataProof, DirectProof, EngineKind, Histogram, Ns, PhasePlan, SteadyRecord, StopCause, StreamSummary,
    VerifyRecord, WorkerUsage,
};
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

/// Everything recorded of one phase, or of one of its streams before they are put together.
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

    /// With what other streams of the phase did beside these.
    #[must_use]
    pub fn merged_parallel(mut self, other: Self) -> Self {
        let in_flight_ns = |record: &Self| record.mean_depth.unwrap_or(0.0) * record.duration_ns() as f64;
        let in_flight_ns = in_flight_ns(&self) + in_flight_ns(&other);
        self.started_ns = self.started_ns.min(other.started_ns);
        self.ended_ns = self.ended_ns.max(other.ended_ns);
        self.mean_depth = (self.duration_ns() > 0).then(|| in_flight_ns / self.duration_ns() as f64);
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.short_operations += other.short_operations;
        self.late = self.late.zip(other.late).map(|(a, b)| a.plus(b));
        self.add_errors(&other.errors);
        self.stop = self.stop.more_severe(other.stop);
        self.warmup = WarmupCut {
            rule: other.warmup.rule,
            cut_ns: self.warmup.cut_ns.max(other.warmup.cut_ns),
            operations: self.warmup.operations + other.warmup.operations,
            bytes: self.warmup.bytes + other.warmup.bytes,
        };
        self.longest_gap_ns = self.longest_gap_ns.max(other.longest_gap_ns);
        self.latency.merge(&other.latency);
        self.intervals = Interval::side_by_side(self.intervals, other.intervals);
        self.rounds.extend(other.rounds);
        self.usage = self.usage.plus(&other.usage);
        self.engine.batch_submit = self.engine.batch_submit.max(other.engine.batch_submit);
        self.engine.batch_complete = self.engine.batch_complete.max(other.engine.batch_complete);
        self.streams.extend(other.streams);
        self
    }

    /// Counts more errors, by name.
    pub fn add_errors(&mut self, more: &BTreeMap<String, u64>) {
        add_errors(&mut self.errors, more);
    }

    /// Wall time of the phase.
    pub fn duration_ns(&self) -> Ns {
        self.ended_ns.saturating_sub(self.started_ns)
    }

    /// The intervals for a rate over time: a last one that is shorter than the others is part of the one before, since what completes
    /// in a moment at the end is no rate.
    pub fn whole_intervals(&self) -> Vec<Interval> {
        let mut whole = self.intervals.clone();
        let longest = whole.iter().map(|i| i.length_ns).max().unwrap_or(0);
        while let [.., before, last] = &mut whole[..] {
            if last.length_ns >= longest {
                break;
            }
            before.length_ns += last.length_ns;
            before.operations += last.operations;
            before.bytes += last.bytes;
            before.latency_ns_max = before.latency_ns_max.max(last.latency_ns_max);
            whole.pop();
        }
        whole
    }

    /// The intervals after the warm-up cut.
    pub fn counted_intervals(&self) -> &[Interval] {
        let from = self.started_ns + self.warmup.cut_ns;
        let first = self.intervals.partition_point(|i| i.start_ns < from);
        &self.intervals[first..]
    }
}

pub(crate) fn add_errors(errors: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (name, count) in more {
        let sum = errors.entry(name.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A phase in which nothing was done, for the tests of this crate.
    pub(crate) fn empty() -> PhaseRecord {
        let engine = EngineRecord { kind: EngineKind::Psync, batch_submit: 1, batch_complete: 1, ..Default::default() };
        PhaseRecord { engine, ..Default::default() }
    }

    #[test]
    fn what_completes_at_the_very_end_is_no_rate() {
        let interval = |start_ns, length_ns, bytes| Interval { start_ns, length_ns, bytes, ..Interval::default() };
        let of = |intervals: &[Interval]| PhaseRecord { intervals: intervals.to_vec(), ..empty() }.whole_intervals();
        let all = [interval(0, 100, 1000), interval(100, 100, 1000), interval(200, 5, 500)];
        assert_eq!(of(&all), [interval(0, 100, 1000), interval(100, 105, 1500)]);
        assert_eq!(of(&all[..2]), all[..2]);
        assert_eq!(of(&all[2..]), all[2..]);
        assert_eq!(of(&[]), []);
    }
}
