//! `narrows inspect --capture` as JSON.

use serde::Serialize;

/// A capture that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureEntry {
    pub path: String,
    /// Files, links and directories in it.
    pub entries: u64,
    /// Size of the archive.
    pub bytes: u64,
    /// Whether serial numbers stand in it as they are; otherwise as hashes.
    pub keeps_serials: bool,
}
