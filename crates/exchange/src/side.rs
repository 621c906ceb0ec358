//! What went one way, or all of a job: counts, rates and latencies after the warm-up.

use model::{Histogram, Ns};

/// One direction of a job, or all of them together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Side {
    pub operations: u64,
    pub bytes: u64,
    pub time_ns: Ns,
    pub bytes_per_s: f64,
    pub iops: f64,
    pub latency: Histogram,
}
