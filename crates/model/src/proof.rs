//! What proves that operations went where they should: past the page cache, to the device, on data that are real.

use serde::{Deserialize, Serialize};

/// Whether O_DIRECT was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "basis")]
pub enum DirectProof {
    /// The kernel or the file system says so.
    Proven(String),
    /// Opened with O_DIRECT, nothing proves what happens.
    Unproven(String),
    /// Known to go through the page cache, or O_DIRECT was refused and buffered I/O stands in.
    Fallback(String),
    /// From the page cache because there is nothing else: a file system that lives in memory.
    NoDevice(String),
}

impl DirectProof {
    /// Whether it is known that the page cache served it.
    pub fn is_from_cache(&self) -> bool {
        matches!(self, Self::Fallback(_) | Self::NoDevice(_))
    }
}

/// Whether a read came from the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColdProof {
    /// Pages of the region that were resident before the phase; `None` if it could not be told.
    pub resident_pages_before: Option<u64>,
    /// Bytes that the lowest counting layer read during the phase; `None` where no layer counts.
    pub device_read_bytes: Option<u64>,
    pub phase_read_bytes: u64,
    /// What was dropped, in words: `fsync, DONTNEED on the file and on the loop's backing file`.
    pub method: String,
}

/// Whether reads came from extents that were written, or from content that is not constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "basis")]
pub enum DataProof {
    /// Written by this run, or FIEMAP shows written extents, or sampled content varies.
    Real(String),
    /// Holes, unwritten extents or constant content.
    NotReal(String),
    /// Could not be told.
    Unknown(String),
}
