//! What a file system with checksums finds when it reads all that it holds.

use engine::Control;
use model::Scrub;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;
use sys::{BcachefsScrub, BcachefsScrubbed};

/// A file system that can check all that it holds.
pub(crate) enum Scrubs {
    /// And the highest number of its devices. Nothing is mended.
    Btrfs(File, u64),
    /// And the numbers of its devices. What has a good copy is mended.
    Bcachefs(File, Vec<u32>),
}

impl Scrubs {
    /// The one in which this is; `None` where it has no such thing. dm-integrity keeps counters of its own.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        if let Ok(last) = sys::btrfs_last_device(&file) {
            return Some(Self::Btrfs(file, last));
        }
        let devices = sys::bcachefs_devices(&file)?;
        Some(Self::Bcachefs(file, devices))
    }
}

/// Lets it check all that it holds until that is done, or the end is asked for.
pub(crate) fn scrub(scrubs: &Scrubs, control: &Control) -> Scrub {
    let mut found = Scrub::default();
    match scrubs {
        Scrubs::Btrfs(file, last) => (1..=*last).for_each(|device| btrfs(&mut found, file, device, control)),
        Scrubs::Bcachefs(file, devices) => {
            for device in devices {
                let ended = BcachefsScrub::start(file, *device)
                    .and_then(|mut runs| follow(&mut found, || runs.state(), control));
                if let Err(e) = ended {
                    found.failed.get_or_insert(e.to_string());
                }
            }
        }
    }
    found
}

/// One device of a btrfs (BTRFS_IOC_SCRUB, read only).
fn btrfs(found: &mut Scrub, file: &File, device: u64, control: &Control) {
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
        Ok(Ok(Some(of))) => {
            found.bytes += of.bytes.iter().sum::<u64>();
            found.checksum_errors += of.csum_errors;
            found.read_errors += of.read_errors;
            found.metadata_errors += of.verify_errors + of.super_errors;
            found.uncorrectable_errors += of.uncorrectable_errors;
        }
        Ok(Ok(None)) => {}
        Ok(Err(e)) => {
            let why = if control.stopped() { INTERRUPTED.to_owned() } else { e.to_string() };
            found.failed.get_or_insert(why);
        }
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// One device of a bcachefs, until it has ended or must not go on.
fn follow(
    found: &mut Scrub,
    mut state: impl FnMut() -> io::Result<BcachefsScrubbed>,
    control: &Control,
) -> io::Result<()> {
    let last = loop {
        let now = state()?;
        if now.ended || control.stopped() {
            break now;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    found.bytes += last.done * 512;
    found.wrong_sectors += last.corrected + last.uncorrected;
    found.uncorrectable_errors += last.uncorrected;
    match last {
        BcachefsScrubbed { offline: true, .. } => Err(io::Error::other("one of its devices is offline")),
        BcachefsScrubbed { ended: false, .. } => Err(io::Error::other(INTERRUPTED)),
        _ => Ok(()),
    }
}

const INTERRUPTED: &str = "it was interrupted";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scrub_of_bcachefs_is_followed_to_its_end() {
        let mut found = Scrub::default();
        let at = |ended, done| BcachefsScrubbed {
            ended,
            done,
            corrected: 8,
            uncorrected: 16,
            ..BcachefsScrubbed::default()
        };
        let mut states = [at(false, 100), at(false, 200), at(true, 300)].into_iter();
        follow(&mut found, || Ok(states.next().unwrap()), &Control::default()).unwrap();
        assert_eq!((found.bytes, found.wrong_sectors, found.uncorrectable_errors), (300 * 512, 24, 16));
        assert!(!found.is_clean());

        // Of a device that goes offline, what was found counts, and it is not whole; nor is what was broken off.
        let gone = || Ok(BcachefsScrubbed { offline: true, ..at(true, 50) });
        assert!(follow(&mut found, gone, &Control::default()).unwrap_err().to_string().contains("offline"));
        assert_eq!((found.bytes, found.wrong_sectors), (350 * 512, 48));
        let control = Control::default();
        control.stop();
        assert_eq!(follow(&mut found, || Ok(at(false, 1)), &control).unwrap_err().to_string(), INTERRUPTED);
    }
}
