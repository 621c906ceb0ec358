//! What is left of a stream when its worker has ended.

use model::{
    DepthSearch, DirectionSummary, Histogram, Interval, Lateness, Ns, Round, StopCause, WarmupCut, WorkerUsage,
};
use std::collections::BTreeMap;

/// What one worker recorded of one stream.
#[derive(Clone, Debug, Default)]
pub struct StreamRecord {
    /// Start, by the device's clock.
    pub started_ns: Ns,
    /// The last completion, or the end of the phase's time if that came later.
    pub ended_ns: Ns,
    /// Operations that succeeded, warm-up included, syncs of rounds not.
    pub operations: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Operations that transferred fewer bytes than asked.
    pub short_operations: u64,
    /// How late operations were handed over that had a moment of their own.
    pub late: Lateness,
    /// Failed operations by errno name. What did not complete within the drain limit counts as ETIMEDOUT.
    pub errors: BTreeMap<String, u64>,
    /// Why it ended.
    pub stop: StopCause,
    pub warmup: WarmupCut,
    /// Sum of the times that operations spent in flight, syncs included: over the duration it is the mean depth.
    pub in_flight_ns: u128,
    /// The longest time after the cut in which nothing completed while operations were in flight; syncs of rounds do not
    /// count. `None` where nothing completed after the cut.
    pub longest_gap_ns: Option<Ns>,
    /// Latencies after the cut.
    pub latency: Histogram,
    /// The series, warm-up included.
    pub intervals: Vec<Interval>,
    /// Rounds of writes and their sync.
    pub rounds: Vec<Round>,
    /// CPU of the worker's thread and the device's helpers.
    pub usage: WorkerUsage,
    /// Most operations submitted at once.
    pub batch_submit: u32,
    /// Completions waited for at once.
    pub batch_complete: u32,
    /// Its directions, where it has several; else it is all one.
    pub directions: Vec<DirectionSummary>,
    /// How the search for its depth went.
    pub depth_search: Option<DepthSearch>,
}
