//! `narrows/soak/1`.

use model::{DataFinding, Fact};
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

/// By how much the time of a write has grown from the first to the last pass, as a share of it: 0.1 is a tenth longer. By the trend of
/// all passes, each compared with those of its kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct GrowthDocument {
    pub first_pass: u32,
    pub last_pass: u32,
    /// Passes that were compared.
    pub passes: usize,
    pub share: f64,
    /// The interval of 95 %: its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// What a device wrote to its flash for what it was given, by its own counters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AmplificationDocument {
    /// Which device.
    pub layer: String,
    /// Written by hosts meanwhile.
    pub host_bytes: u64,
    /// Written to the flash meanwhile.
    pub flash_bytes: u64,
    /// The second for each of the first.
    pub amplification: f64,
}

/// What a file system with checksums found when it read all that it holds.
#[derive(Clone, Debug, Serialize)]
pub struct ScrubDocument<'a> {
    /// Bytes of data and metadata that were read.
    pub bytes: u64,
    /// Blocks whose checksum was wrong.
    pub checksum_errors: u64,
    /// Reads that failed.
    pub read_errors: u64,
    /// Blocks of metadata that were not what they must be.
    pub metadata_errors: u64,
    /// Sectors of 512 bytes that could not be read or were wrong, of a file system that does not tell which (bcachefs).
    pub wrong_sectors: u64,
    /// Of all these: blocks (of bcachefs: sectors) of which no good copy is there.
    pub uncorrectable_errors: u64,
    /// Why it is not whole, where it is not.
    pub failed: Option<&'a str>,
}

impl ScrubDocument<'_> {
    /// What was wrong, in all.
    pub fn errors(&self) -> u64 {
        self.checksum_errors + self.read_errors + self.metadata_errors + self.wrong_sectors
    }
}

/// What `narrows soak --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct SoakDocument<'a> {
    /// `narrows/soak/1`.
    pub schema: &'static str,
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
    pub median_growth: Option<GrowthDocument>,
    /// How the 99th percentile of the writes has grown.
    pub p99_growth: Option<GrowthDocument>,
    /// Of devices that count both.
    pub write_amplification: Vec<AmplificationDocument>,
    /// The newest warnings of the kernel in that time.
    pub kernel_warnings: &'a [String],
    /// What the file system found in all that it holds; null where it does not look, or did not.
    pub scrub: Option<ScrubDocument<'a>>,
    /// What must be said with it.
    pub remarks: Vec<String>,
}

impl SoakDocument<'_> {
    /// Its name and version.
    pub const SCHEMA: &'static str = "narrows/soak/1";
}
