//! `narrows/wear/1`.

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

/// A disk.
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

impl WearOfDisk {
    /// Of which nothing is known yet.
    pub fn new(serial: &str) -> Self {
        let serial = serial.to_owned();
        Self { serial, model: None, readings: Vec::new(), percent_per_terabyte: None, write_amplification: None }
    }

    /// All readings are there: what they mean together.
    pub fn conclude(&mut self) {
        self.readings.sort_by(|a, b| a.at.cmp(&b.at));
        self.readings.dedup_by(|b, a| {
            let said = |r: &WearReading| (r.used_percent, r.written_bytes, r.flash_written_bytes);
            a.from == b.from && said(a) == said(b)
        });
        let both = |r: &&WearReading| r.used_percent.is_some() && r.written_bytes.is_some();
        let ends = (self.readings.iter().find(both), self.readings.iter().rfind(both));
        if let (Some(first), Some(last)) = ends {
            let percent = last.used_percent.unwrap_or(0.0) - first.used_percent.unwrap_or(0.0);
            let bytes = last.written_bytes.zip(first.written_bytes).and_then(|(now, then)| now.checked_sub(then));
            let terabytes = bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64 / 1e12);
            let (least, most) = ((percent - last.step_percent).max(0.0), percent + last.step_percent);
            self.percent_per_terabyte = terabytes.map(|terabytes| (least / terabytes, most / terabytes));
        }
        let counted = |r: &&WearReading| r.flash_written_bytes.is_some() && r.written_bytes.is_some();
        let ends = (self.readings.iter().find(counted), self.readings.iter().rfind(counted));
        if let (Some(first), Some(last)) = ends {
            let grown =
                |of: fn(&WearReading) -> Option<u64>| of(last)?.checked_sub(of(first)?).filter(|bytes| *bytes > 0);
            let (flash, host) = (grown(|r| r.flash_written_bytes), grown(|r| r.written_bytes));
            self.write_amplification = flash.zip(host).map(|(flash, host)| flash as f64 / host as f64);
        }
    }
}

/// What `narrows runs wear --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WearDocument {
    /// `narrows/wear/1`.
    pub schema: &'static str,
    /// By their serial numbers.
    pub disks: Vec<WearOfDisk>,
}

impl WearDocument {
    /// Of these disks.
    pub fn new(disks: Vec<WearOfDisk>) -> Self {
        Self { schema: "narrows/wear/1", disks }
    }
}
