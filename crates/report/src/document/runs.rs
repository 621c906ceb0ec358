//! `narrows/runs/1`: what is in the archive.

use model::{Capacity, Metric, RunState};
use serde::{Deserialize, Serialize};

/// One run in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEntry {
    pub run_id: String,
    /// Start, RFC 3339 in UTC; null if unknown.
    pub started: Option<String>,
    /// Which command made it.
    pub command: String,
    /// What was executed.
    pub workload: String,
    /// Kernel name of the device that the target stands on; null where there is none.
    pub device: Option<String>,
    /// The target as the user wrote it.
    pub target: String,
    /// How far it came.
    pub state: RunState,
    /// Wall time.
    pub duration_s: f64,
    /// Bytes written to the target.
    pub bytes_written: u64,
    /// How large the target really is, where that is less than it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fake: Option<Capacity>,
    /// The headline metrics.
    pub metrics: Vec<Metric>,
    /// Tags that people gave it.
    pub tags: Vec<String>,
}

/// What `narrows runs list --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/runs/1")]
pub struct RunsDocument<'a> {
    /// The runs, oldest first.
    pub runs: &'a [RunEntry],
}

impl<'a> RunsDocument<'a> {
    /// The list.
    pub fn new(runs: &'a [RunEntry]) -> Self {
        Self { runs }
    }
}
