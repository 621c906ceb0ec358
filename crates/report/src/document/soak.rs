//! `narrows/soak/1`.

use model::{Amplification, DataFinding, Fact, GroupAnswer, Growth, Scrub};
use serde::Serialize;
use std::collections::BTreeMap;

/// A counter of errors or wear.
#[derive(Clone, Debug, Serialize)]
pub struct CounterChange<'a> {
    /// When the soak was started.
    pub before: &'a Fact,
    /// When its last session ended; null where it is not there any more.
    pub after: &'a Fact,
}

/// What `narrows soak --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/soak/1")]
pub struct SoakDocument<'a> {
    /// `--resume` takes it.
    pub id: &'a str,
    /// The target, as it was named.
    pub target: &'a str,
    /// `done`, `interrupted`, `found`.
    pub state: &'static str,
    /// Whether nothing was wrong in what was verified.
    pub clean: bool,
    /// Time of all sessions, seconds.
    pub duration_s: f64,
    /// How often it was started or went on.
    pub sessions: u32,
    /// How much of the target a pass writes.
    pub region_bytes: u64,
    /// How large the device of the target says it is; null where that is not known.
    pub device_bytes: Option<u64>,
    /// Whether `--resume` can continue it: not one of a simulated device, which goes with the program.
    pub resumable: bool,
    /// What was written, in all.
    pub bytes_written: u64,
    /// What was read and compared, in all.
    pub bytes_verified: u64,
    /// What was read beside the writes (`--busy`), and not compared.
    pub bytes_read_beside: u64,
    /// Whole passes.
    pub passes: u32,
    /// What was wrong, by place; places are sectors of 512 bytes.
    pub findings: &'a [DataFinding],
    /// Findings beyond those that are kept one by one.
    pub findings_dropped: u64,
    /// Failed operations, by the name of the error.
    pub errors: &'a BTreeMap<String, u64>,
    /// What the machine counts of errors and wear, by layer, before and last.
    pub counters: BTreeMap<&'a str, CounterChange<'a>>,
    /// How the median write has grown; null before 8 passes.
    pub median_growth: Option<Growth>,
    /// How the 99th percentile of the writes has grown.
    pub p99_growth: Option<Growth>,
    /// Of devices that count both.
    pub write_amplification: Vec<Amplification>,
    /// The newest warnings of the kernel in that time.
    pub kernel_warnings: &'a [String],
    /// What the file system found in all that it holds; null where it does not look, or did not.
    pub scrub: Option<&'a Scrub>,
    /// What it came to on each rank of its group; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupAnswer>,
    /// What must be said with it.
    pub remarks: Vec<String>,
}
