//! `narrows/soak/1`.

use model::DataFinding;
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// Whole passes.
    pub passes: u32,
    /// What was wrong, by place; places are sectors of 512 bytes.
    pub findings: &'a [DataFinding],
    /// Findings beyond those that are kept one by one.
    pub findings_dropped: u64,
    /// Failed operations, by the name of the error.
    pub errors: &'a BTreeMap<String, u64>,
    /// What must be said with it.
    pub remarks: Vec<String>,
}

impl SoakDocument<'_> {
    /// Its name and version.
    pub const SCHEMA: &'static str = "narrows/soak/1";
}
