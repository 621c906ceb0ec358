//! What the plan of a workload depends on, beside its text.

use model::{PackageModel, Reason, TargetKind};

/// What may be done to the target.
#[derive(Clone, Debug, PartialEq)]
pub enum Readiness {
    /// Data may be written; layout comes first (a temporary file, or a target that was given up).
    Writable,
    /// Only reads; why, and how to change it.
    ReadOnly(Reason),
}

/// What the plan of a workload depends on.
#[derive(Clone, Debug)]
pub struct RunInputs {
    pub kind: TargetKind,
    /// What may be done to it.
    pub readiness: Readiness,
    /// The most that it offers.
    pub max_bytes: u64,
    /// Unit of direct I/O.
    pub sector_bytes: u64,
    /// Memory that may be used, if known.
    pub memory_bytes: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
    /// What a probe told; only workloads with a budget ask for one.
    pub probe: Probe,
    /// What knows the calls of packages; `None` in a build without recordings of file operations.
    pub packages: Option<PackageModel>,
}

/// What happened before the plan was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe {
    /// How much of a budget is already used (inventory, probe).
    pub used_ns: u64,
    /// Sequential write rate of a short probe.
    pub bytes_per_s: Option<f64>,
    /// Rate of the probe's small rounds through the page cache, write and sync.
    pub round_bytes_per_s: Option<f64>,
    /// What was written to find that out.
    pub written_bytes: u64,
    /// The largest request that the disks take of ordinary pages, where that is less than what they take of contiguous
    /// memory.
    pub page_request_bytes: Option<u64>,
    /// Which operations are quicker as plain calls than by a ring, where one at a time is asked for (docs/history/performance.md).
    pub plain_calls: PlainCalls,
}

/// Operations that are quicker as plain calls than by a ring, one at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlainCalls {
    /// None is known to be.
    #[default]
    None,
    /// Direct writes to files.
    Writes,
    /// All: nothing is waited for where the data lie in memory.
    All,
}
