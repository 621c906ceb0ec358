//! What disks say of their life.

use serde::Serialize;

/// What a disk said of its life at a moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WearReading {
    /// When, RFC 3339.
    pub at: String,
    /// The run or the soak that asked.
    pub from: String,
    /// Part of its life that is used; can pass 100. Of an eMMC the upper end of its tenth.
    pub used_percent: Option<f64>,
    /// The step in which it tells that.
    pub step_percent: f64,
    /// Written by hosts in its life.
    pub written_bytes: Option<u64>,
    /// Written to its flash in its life.
    pub flash_written_bytes: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WearOfDisk {
    /// Its serial number.
    pub serial: String,
    /// Its model, where that is known.
    pub model: Option<String>,
    /// In the order of time.
    pub readings: Vec<WearReading>,
    /// Percent of its life for each terabyte (10^12 bytes) that was written from the first to the last reading that know both: the
    /// least and the most, for it tells whole steps only. Null where nothing was written between.
    pub percent_per_terabyte: Option<(f64, f64)>,
    /// Bytes written to the flash for each byte that it was given between those readings, by its own counters.
    pub write_amplification: Option<f64>,
}
