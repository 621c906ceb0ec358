//! What a soak found beside the data: how writes became slower, what a device wrote for them, what the file system says of itself.

use serde::{Deserialize, Serialize};

/// By how much a time has grown from the first to the last pass, as a share of it. By the trend of all passes, each compared with those
/// of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Growth {
    pub first_pass: u32,
    pub last_pass: u32,
    /// Passes that were compared.
    pub passes: usize,
    /// 0.1: a tenth longer.
    pub share: f64,
    /// The interval of 95 %: its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Growth {
    /// Whether it is not 0.
    pub fn is_certain(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// What a device wrote to its flash for what it was given, by its own counters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Amplification {
    /// Name of the device's layer.
    pub layer: String,
    /// Written by hosts meanwhile.
    pub host_bytes: u64,
    /// Written to the flash meanwhile.
    pub flash_bytes: u64,
    /// The second for each of the first.
    pub amplification: f64,
}

/// What a file system with checksums found when it read all that it holds, of all its devices together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scrub {
    /// Bytes of data and metadata that were read.
    pub bytes: u64,
    /// Blocks whose checksum was wrong.
    pub checksum_errors: u64,
    /// Reads that failed.
    pub read_errors: u64,
    /// Blocks of metadata, superblocks among them, that were not what they must be.
    pub metadata_errors: u64,
    /// Sectors of 512 bytes that could not be read or were wrong, of a file system that does not tell which (bcachefs).
    #[serde(default)]
    pub wrong_sectors: u64,
    /// Of all these: blocks (of bcachefs: sectors) of which no good copy is there.
    pub uncorrectable_errors: u64,
    /// Why it is not whole, where it is not.
    pub failed: Option<String>,
}

impl Scrub {
    /// What was wrong, in all.
    pub fn errors(&self) -> u64 {
        self.checksum_errors + self.read_errors + self.metadata_errors + self.wrong_sectors
    }

    /// Whether it found nothing.
    pub fn is_clean(&self) -> bool {
        self.errors() + self.uncorrectable_errors == 0
    }
}
