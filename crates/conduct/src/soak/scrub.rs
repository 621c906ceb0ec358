//! What a file system with checksums finds when it reads all that it holds.

use engine::Control;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use sys::BtrfsScrub;

/// What a scrub found, of all devices of the file system together.
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
    /// Of all these: blocks of which no good copy is there.
    pub uncorrectable_errors: u64,
    /// Why it is not whole, where it is not.
    pub failed: Option<String>,
}

impl Scrub {
    /// Whether it found anything.
    pub fn is_clean(&self) -> bool {
        self.checksum_errors + self.read_errors + self.metadata_errors + self.uncorrectable_errors == 0
    }

    fn add(&mut self, of: &BtrfsScrub) {
        self.bytes += of.bytes.iter().sum::<u64>();
        self.checksum_errors += of.csum_errors;
        self.read_errors += of.read_errors;
        self.metadata_errors += of.verify_errors + of.super_errors;
        self.uncorrectable_errors += of.uncorrectable_errors;
    }
}

/// A file system that can check all that it holds, and the highest number of its devices.
pub(super) struct Scrubs(File, u64);

impl Scrubs {
    /// The one in which this is; `None` where it has no such thing. bcachefs and dm-integrity keep counters of their own.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let last = sys::btrfs_last_device(&file).ok()?;
        Some(Self(file, last))
    }
}

/// Lets it check all that it holds (BTRFS_IOC_SCRUB, read only: nothing is mended) until that is done, or the end is asked for.
pub(super) fn scrub(Scrubs(file, last): &Scrubs, control: &Control) -> Scrub {
    let mut found = Scrub::default();
    for device in 1..=*last {
        let one = std::thread::scope(|scope| {
            let runs = scope.spawn(|| sys::btrfs_scrub(file, device));
            while !runs.is_finished() {
                std::thread::sleep(Duration::from_millis(50));
                if control.stopped() {
                    // One that has just ended cannot be ended any more.
                    let _ = sys::btrfs_scrub_cancel(file);
                }
            }
            runs.join()
        });
        match one {
            Ok(Ok(Some(of))) => found.add(&of),
            Ok(Ok(None)) => {}
            Ok(Err(e)) => {
                let why = if control.stopped() { "it was interrupted".to_owned() } else { e.to_string() };
                found.failed.get_or_insert(why);
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    found
}
