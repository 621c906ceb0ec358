//! What disks say of their life.

use serde::Serialize;

/// What a disk said of its life at a moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WearReading {
    /// When, RFC 3339.
    pub at: String,
    /// The same in seconds of Unix time.
    #[serde(skip)]
    pub at_s: Option<i64>,
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

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WearOfDisk {
    /// Its serial number.
    pub serial: String,
    /// Its model, where that is known.
    pub model: Option<String>,
    /// What this machine's kernel calls it, where it is there now.
    pub name: Option<String>,
    pub medium: WearMedium,
    /// How much it holds, where that is known.
    pub size_bytes: Option<u64>,
    /// In the order of time.
    pub readings: Vec<WearReading>,
    /// Percent of its life for each terabyte (10^12 bytes) that was written from the first to the last reading that know both: the
    /// least and the most, for it tells whole steps only. Null where nothing was written between.
    pub percent_per_terabyte: Option<(f64, f64)>,
    /// Bytes written to the flash for each byte that it was given between those readings, by its own counters.
    pub write_amplification: Option<f64>,
    /// How fast it is written to; null where that was not seen.
    pub writing: Option<WritingRate>,
    /// Years that it lasts at that rate, at least and at most: an estimate. Null where something of that is not known; no most where it
    /// used less than a step.
    pub years_left: Option<(f64, Option<f64>)>,
    /// How often all of a new one can be written, at least and at most, where the years are by this assumption; else they are by what it
    /// tells of its life, in whole steps.
    pub assumed_writes: Option<(u64, u64)>,
}

/// What a disk keeps its data in, as far as it wears by writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WearMedium {
    /// An SD card: it has no counter of its wear.
    Card,
    /// Flash memory of another kind.
    #[default]
    Flash,
    /// A hard disk, which writing does not wear.
    Rotating,
    /// A hypervisor's or a network's: what lies below it wears, and does not tell.
    Virtual,
}

/// How fast a disk was written to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WritingRate {
    pub bytes_per_s: f64,
    /// For how long that was seen.
    pub over_s: f64,
    pub seen: WritingSeen,
}

/// Where that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritingSeen {
    /// By the disk's own counter, from the first to the last of its runs.
    Runs,
    /// By the kernel's, since the machine was started.
    Boot,
    /// What this program wrote in its runs, which is the least that was written.
    OwnRuns,
    /// Nowhere: it was said what is written in a day.
    Said,
}
