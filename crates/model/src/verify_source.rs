//! Where the data came from that were verified: from the device, or only from memory.
//!
//! A page cache gives back what was written to it, whatever the device has made of it. Nothing is said to be right on the
//! device unless it is shown that it was read from there.

use crate::DirectProof;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the engine knows of the reads of verified data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReads {
    /// File system without a device below it (`tmpfs`), if the target lies in one.
    pub without_device: Option<String>,
    /// Whether O_DIRECT was granted for all of them; `None` where some went through the page cache.
    pub direct: Option<DirectProof>,
    /// Whether a loop device lies below the target: the file behind it has a page cache of its own, which O_DIRECT on the
    /// target does not go past.
    pub through_loop: bool,
    /// Pages of what was read, and of files behind loop devices, that were left in the page cache when the reads began;
    /// `None` if it cannot be told.
    pub resident_pages: Option<u64>,
    /// Bytes that were read.
    pub bytes: u64,
    /// Bytes that the lowest layers that count read meanwhile; `None` where none counts.
    pub device_read_bytes: Option<u64>,
}

/// Where verified data were read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "because")]
pub enum VerifySource {
    Device(FromDevice),
    /// From memory, or nothing shows otherwise.
    Memory(FromMemory),
}

/// What shows that data came from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromDevice {
    /// O_DIRECT was granted, and no cache of this machine lies below.
    Direct,
    /// No page was in any cache when the reads began, and the device delivered every byte.
    Cold,
}

/// Why data are taken to have come from memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromMemory {
    /// The file system keeps files in memory: there is no device.
    NoDevice {
        /// `tmpfs`.
        file_system: String,
    },
    /// Pages were left in the page cache when the reads began.
    Resident {
        /// How many; `None` if it cannot be told.
        pages: Option<u64>,
    },
    /// The device delivered less than was read.
    NotDelivered {
        /// What it delivered.
        device_read_bytes: u64,
        /// What was read.
        bytes: u64,
    },
    /// No layer below the target counts what it reads.
    NotCounted,
}

/// Share of bytes read past the page cache that the device must show where it counts: members of an array may not count.
const DIRECT_LEAST_RATIO: f64 = 0.5;

impl VerifySource {
    /// What these reads show.
    pub fn of(reads: &VerifyReads) -> Self {
        let VerifyReads { without_device, direct, through_loop, resident_pages, bytes, device_read_bytes } = reads;
        if let Some(file_system) = without_device {
            return Self::Memory(FromMemory::NoDevice { file_system: file_system.clone() });
        }
        let delivered = |least: f64| device_read_bytes.is_none_or(|device| device as f64 >= *bytes as f64 * least);
        let less = || {
            let device_read_bytes = device_read_bytes.unwrap_or(0);
            Self::Memory(FromMemory::NotDelivered { device_read_bytes, bytes: *bytes })
        };
        if matches!(direct, Some(DirectProof::Proven(_))) && !through_loop {
            return if delivered(DIRECT_LEAST_RATIO) { Self::Device(FromDevice::Direct) } else { less() };
        }
        // Nothing of it may be missing at the device: what it delivered beside (read-ahead, metadata) is more, not less.
        match (*resident_pages, device_read_bytes) {
            (Some(0), Some(_)) if delivered(1.0) => Self::Device(FromDevice::Cold),
            (Some(0), Some(_)) => less(),
            (Some(0), None) => Self::Memory(FromMemory::NotCounted),
            (pages, _) => Self::Memory(FromMemory::Resident { pages }),
        }
    }

    pub fn is_device(&self) -> bool {
        matches!(self, Self::Device(_))
    }

    /// Of two: the one that shows less.
    pub fn weaker(self, other: Self) -> Self {
        if self.is_device() { other } else { self }
    }
}

impl fmt::Display for FromMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice { file_system } => write!(f, "{file_system} has no device"),
            Self::Resident { pages: Some(1) } => f.write_str("1 page was still in the page cache"),
            Self::Resident { pages: Some(pages) } => write!(f, "{pages} pages were still in the page cache"),
            Self::Resident { pages: None } => f.write_str("whether the page cache was empty cannot be told"),
            Self::NotDelivered { device_read_bytes, bytes } => {
                // Rounded down: what is not all of it must not look so.
                let percent = u128::from(*device_read_bytes) * 100 / u128::from(*bytes).max(1);
                write!(f, "the device delivered {percent} % of what was read")
            }
            Self::NotCounted => f.write_str("no layer below the target counts what it reads"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cold() -> VerifyReads {
        VerifyReads {
            without_device: None,
            direct: None,
            through_loop: false,
            resident_pages: Some(0),
            bytes: 1000,
            device_read_bytes: Some(1000),
        }
    }

    fn direct() -> VerifyReads {
        VerifyReads { direct: Some(DirectProof::Proven(String::new())), resident_pages: None, ..cold() }
    }

    fn name(reads: &VerifyReads) -> String {
        match VerifySource::of(reads) {
            VerifySource::Device(by) => format!("{by:?}"),
            VerifySource::Memory(because) => because.to_string(),
        }
    }

    #[test]
    fn through_the_page_cache_every_byte_must_have_come_from_the_device() {
        assert_eq!(name(&cold()), "Cold");
        let short = VerifyReads { device_read_bytes: Some(999), ..cold() };
        assert_eq!(name(&short), "the device delivered 99 % of what was read");
        assert_eq!(name(&VerifyReads { resident_pages: Some(1), ..cold() }), "1 page was still in the page cache");
        let unknown = VerifyReads { resident_pages: None, ..cold() };
        assert_eq!(name(&unknown), "whether the page cache was empty cannot be told");
        let uncounted = VerifyReads { device_read_bytes: None, ..cold() };
        assert_eq!(name(&uncounted), "no layer below the target counts what it reads");
    }

    #[test]
    fn direct_is_enough_where_it_is_granted_and_nothing_caches_below() {
        assert_eq!(name(&direct()), "Direct");
        assert_eq!(name(&VerifyReads { device_read_bytes: None, ..direct() }), "Direct");
        // The host's cache of a virtual disk, a cache device: the counters know better.
        assert!(
            name(&VerifyReads { device_read_bytes: Some(400), ..direct() }).starts_with("the device delivered 40 %")
        );
        for doubtful in [DirectProof::Unproven(String::new()), DirectProof::Fallback(String::new())] {
            let reads = VerifyReads { direct: Some(doubtful), ..direct() };
            assert!(name(&reads).contains("cannot be told"), "{reads:?}");
            assert_eq!(name(&VerifyReads { resident_pages: Some(0), ..reads }), "Cold");
        }
    }

    #[test]
    fn a_loop_needs_its_file_to_be_cold() {
        let reads = VerifyReads { through_loop: true, resident_pages: Some(20), ..direct() };
        assert_eq!(name(&reads), "20 pages were still in the page cache");
        assert_eq!(name(&VerifyReads { resident_pages: Some(0), ..reads }), "Cold");
    }

    #[test]
    fn tmpfs_has_no_device_whatever_else_is_said() {
        let reads = VerifyReads { without_device: Some("tmpfs".into()), ..direct() };
        assert_eq!(name(&reads), "tmpfs has no device");
    }

    #[test]
    fn the_weaker_counts_and_json_keeps_it() {
        let memory = VerifySource::Memory(FromMemory::NotCounted);
        let device = VerifySource::Device(FromDevice::Direct);
        assert_eq!(device.clone().weaker(memory.clone()), memory);
        assert_eq!(memory.clone().weaker(device.clone()), memory);
        let resident = VerifySource::Memory(FromMemory::Resident { pages: Some(3) });
        let json = serde_json::to_value(&resident).unwrap();
        assert_eq!(json, serde_json::json!({"state": "memory", "because": {"resident": {"pages": 3}}}));
        assert_eq!(serde_json::from_value::<VerifySource>(json).unwrap(), resident);
        assert_eq!(serde_json::to_value(&device).unwrap(), serde_json::json!({"state": "device", "because": "direct"}));
    }
}
