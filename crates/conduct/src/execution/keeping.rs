//! When a phase is kept while it still runs, and what has to be said of it.

use super::observer::Kept;
use model::PhasePlan;
use observe::Root;
use std::path::Path;
use std::time::Duration;

/// A phase that cannot last for so many periods is kept when it is done: it is soon enough.
const LEAST_PERIODS: u32 = 2;

/// What a file system writes of its own for each time that two small files grow and are synced: the blocks of its journal, and
/// later the same blocks in their places. An upper bound; ext4 writes some 60 kB.
const JOURNAL_BYTES: u64 = 128 << 10;

/// Decides what of a run is kept before its phases end.
pub struct StoragePolicy {
    /// How often; zero: never.
    pub every: Duration,
    /// Whether also during what measures the disks on which the archive lies.
    on_shared: bool,
    /// Disks on which both the target and the archive lie.
    shared: Vec<String>,
}

impl StoragePolicy {
    /// For phases that last longer than a few times `every`; zero: for none.
    pub fn new(every: Duration, on_shared: bool) -> Self {
        Self { every, on_shared, shared: Vec::new() }
    }

    /// Whether this phase is kept while it runs.
    pub fn keeps(&self, phase: &PhasePlan) -> bool {
        let held_back = !self.on_shared && !self.shared.is_empty() && phase.measures_target();
        !self.every.is_zero()
            && !held_back
            && u128::from(phase.time_limit_ns) >= (self.every * LEAST_PERIODS).as_nanos()
    }

    /// Finds out whether the archive lies on the disks that are measured.
    pub fn find_shared(&mut self, archive: &Path, disks: &[String]) {
        let root = Root::new("/");
        let Some(path) = archive.canonicalize().ok().and_then(|p| p.to_str().map(str::to_owned)) else { return };
        // Where its place is not known, nothing is said of it.
        let Ok(place) = observe::locate(&root, &path) else { return };
        let stack = observe::inventory(&root, &place).stack;
        self.shared = stack.lowest_counted().iter().map(|l| l.name.clone()).filter(|n| disks.contains(n)).collect();
    }

    /// Bytes that keeping a phase wrote to the disks that were measured, at most.
    pub fn on_measured_disks(&self, kept: &Kept) -> u64 {
        if self.shared.is_empty() { 0 } else { kept.bytes + u64::from(kept.times) * JOURNAL_BYTES }
    }

    /// What the run must say of what was kept while a phase ran.
    pub fn remarks(&self, phase: &str, kept: &Kept) -> Vec<String> {
        let mut remarks = Vec::new();
        if kept.bytes > 0 && !self.shared.is_empty() {
            let disks = self.shared.join(", ");
            remarks.push(format!(
                "{phase}: the archive lies on what was measured ({disks}), and {} of series and samples were written there \
                 meanwhile; another --archive, or --keep-every 0s, avoids it",
                model::bytes_text(kept.bytes)
            ));
        }
        if let Some(error) = &kept.error {
            remarks.push(format!("{phase}: the archive could not keep up while it ran: {error}"));
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::PhaseKind;

    #[test]
    fn long_phases_are_kept_and_short_ones_wait() {
        let phase = |seconds: u64| PhasePlan { time_limit_ns: seconds * 1_000_000_000, ..PhasePlan::default() };
        let mut keeper = StoragePolicy::new(Duration::from_secs(60), false);
        assert!(keeper.keeps(&phase(120)) && !keeper.keeps(&phase(119)));
        assert!(!StoragePolicy::new(Duration::ZERO, true).keeps(&phase(86_400)));
        keeper.shared = vec!["sda".into()];
        let layout = PhasePlan { kind: PhaseKind::Layout, ..phase(120) };
        assert!(!keeper.keeps(&phase(120)) && keeper.keeps(&layout), "nothing is written to what is measured");
        keeper.on_shared = true;
        assert!(keeper.keeps(&phase(120)), "unless somebody asked for it");
    }

    #[test]
    fn what_was_written_to_the_measured_disk_is_said() {
        let mut keeper = StoragePolicy::new(Duration::from_secs(60), true);
        let kept = Kept { bytes: 4096, times: 2, error: None };
        assert!(keeper.remarks("read", &kept).is_empty() && keeper.on_measured_disks(&kept) == 0);
        keeper.shared = vec!["sda".into()];
        assert_eq!(keeper.on_measured_disks(&kept), 4096 + 2 * JOURNAL_BYTES);
        let said = keeper.remarks("read", &kept).remove(0);
        assert!(said.contains("(sda)") && said.contains("4 KiB"), "{said}");
        assert!(keeper.remarks("read", &Kept::default()).is_empty());
        assert!(
            keeper.remarks("read", &Kept { error: Some("ENOSPC".into()), ..Kept::default() })[0].contains("ENOSPC")
        );
    }
}
