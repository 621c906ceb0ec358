//! What the streams of a phase did one by one, and how its rounds went.

use crate::{EngineKind, Histogram, Ns, StopCause, WorkerUsage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

named! {
    /// What an operation counts as.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Direction {
        Read = "read",
        /// Writes, with the fdatasync that belongs to them if one does.
        Write = "write",
        Trim = "trim",
        /// Zeroes that were not sent.
        WriteZeroes = "write-zeroes",
        /// fsync and fdatasync as operations of their own.
        Sync = "sync",
        /// Names and attributes: opens, look-ups, renames.
        Names = "names",
    }
}

/// One direction of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionSummary {
    pub direction: Direction,
    /// Operations that succeeded, warm-up included.
    pub operations: u64,
    /// Their bytes; of trims and zeroes what was taken away.
    pub bytes: u64,
    /// Operations after the warm-up cut: those of the histogram.
    pub counted_operations: u64,
    /// Bytes after the warm-up cut.
    pub counted_bytes: u64,
    /// Latencies after the warm-up cut, from intended start to completion.
    #[serde(skip)]
    pub latency: Histogram,
}

/// One stream of a phase: a job, or one of a job's clones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamSummary {
    /// Its name in the plan; empty where a phase is all one job.
    pub name: String,
    /// Streams with the same number are reported as one.
    pub group: u32,
    /// Who carried it out.
    pub engine: EngineKind,
    /// Start, since the run's start.
    pub started_ns: Ns,
    /// End of its last operation.
    pub ended_ns: Ns,
    /// Time that the warm-up cut took.
    pub cut_ns: Ns,
    /// Why it ended.
    pub stop: StopCause,
    /// Operations that transferred fewer bytes than asked.
    pub short_operations: u64,
    /// Failed operations by errno name.
    pub errors: BTreeMap<String, u64>,
    /// CPU of its worker.
    pub usage: WorkerUsage,
    /// Mean operations in flight.
    pub mean_depth: Option<f64>,
    /// The longest time in which nothing of it completed though something was in flight.
    pub longest_gap_ns: Option<Ns>,
    /// What it did, by direction.
    pub directions: Vec<DirectionSummary>,
    /// How its search for a depth went ([`crate::LatencyTarget`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_search: Option<DepthSearch>,
}

/// A window of a search for a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthStep {
    /// Operations in flight at most.
    pub depth: u32,
    /// Start, since the run's start.
    pub start_ns: Ns,
    pub length_ns: Ns,
    /// Operations handed over in it that completed in it, and those that were overdue at its end.
    pub operations: u64,
    /// Those of them beyond the target.
    pub late: u64,
    /// Whether the target was kept to.
    pub held: bool,
}

/// The search for the most operations in flight whose latencies keep to a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthSearch {
    /// What was found; 0 where not even one operation at a time kept to it, `None` where the stream ended before.
    pub depth: Option<u32>,
    /// Its windows; with a depth above 0 the last one is at that depth, and what counts of the stream. Of a stream that goes
    /// on after its search the first so many.
    pub steps: Vec<DepthStep>,
}

/// One round of a phase that goes by rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteadyRound {
    /// Start, since the run's start.
    pub start_ns: Ns,
    pub length_ns: Ns,
    /// Operations of all streams.
    pub operations: u64,
    /// Bytes of all streams.
    pub bytes: u64,
    /// Mean latency of all streams, where steadiness was one of latencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_mean: Option<u64>,
}

/// Whether a phase that goes by rounds became steady ([`crate::StopRule::SteadyRounds`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// Whether the last window was steady.
    pub reached: bool,
    /// Rounds of the window: the last ones of `rounds`; with steady state they are what counts.
    pub window_rounds: u32,
    /// Largest less smallest rate of the last window, over its mean; `None` before there was a whole window.
    pub range_ratio: Option<f64>,
    /// Change of the fitted line over the last window, over its mean, without sign.
    pub slope_ratio: Option<f64>,
    pub rounds: Vec<SteadyRound>,
}
