//! Settings of an arm: applied one by one, each with the way back written down first.

use super::journal::Journal;
use crate::signals::Signals;
use archive::Archive;
use model::{Failure, FailureKind, LayerKind, Stack};
use settings::{Undo, mounted_with, opposite, read_value, remount, shell};
use spec::{Arm, Setting};

/// Settings in force. They are undone when this goes away, on a panic too.
pub struct InForce<'a> {
    archive: &'a Archive,
    journal: Journal,
}

impl<'a> InForce<'a> {
    /// Applies the settings of an arm. Where one cannot be, those before it are undone.
    pub fn apply(
        arm: &Arm,
        experiment: &str,
        stack: &Stack,
        archive: &'a Archive,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let mut in_force = Self { archive, journal: Journal::new(experiment, &arm.name) };
        for setting in &arm.settings {
            if let Err(failure) = in_force.one(setting, stack, signals) {
                let failure = Failure { message: format!("arm '{}': {}", arm.name, failure.message), ..failure };
                return match in_force.undo() {
                    Ok(()) => Err(failure),
                    Err(second) => {
                        Err(Failure { message: format!("{}; {}", failure.message, second.message), ..second })
                    }
                };
            }
        }
        Ok(in_force)
    }

    /// Puts everything back.
    pub fn undo(&mut self) -> Result<(), Failure> {
        if self.journal.undo.is_empty() { Ok(()) } else { self.journal.undo(self.archive) }
    }

    fn remember(&mut self, undo: Undo) -> Result<(), Failure> {
        self.journal.undo.push(undo);
        self.journal.save(self.archive)
    }

    fn one(&mut self, setting: &Setting, stack: &Stack, signals: &Signals) -> Result<(), Failure> {
        let cannot = |message: String| Failure::new(FailureKind::Refused, message);
        match setting {
            Setting::Value { path, value } => {
                for path in paths(path, stack).map_err(cannot)? {
                    let old = read_value(&path).map_err(cannot)?;
                    self.remember(Undo::Value { path: path.clone(), old: old.clone() })?;
                    std::fs::write(&path, value).map_err(|e| cannot(format!("{path} does not take {value}: {e}")))?;
                    let now = read_value(&path).map_err(cannot)?;
                    if now == old && old != value.trim() {
                        return Err(cannot(format!("{path} does not take {value}: it still is {old}")));
                    }
                }
            }
            Setting::Command { run, undo } => {
                self.remember(Undo::Command { undo: undo.clone() })?;
                match shell(run, &|| signals.seen()) {
                    Ok(status) if status.success() => {}
                    Ok(status) => return Err(cannot(format!("'{run}' ended with {status}"))),
                    Err(e) => return Err(cannot(format!("'{run}' could not be started: {e}"))),
                }
            }
            Setting::MountOptions(options) => {
                let point = mount_point(stack).map_err(cannot)?;
                let old = mounted_with(point).ok_or_else(|| cannot(format!("{point} is not mounted")))?;
                let opposites = options.split(',').filter_map(|o| opposite(o, &old)).collect();
                self.remember(Undo::Mount { mount_point: point.to_owned(), options: old, opposites })?;
                remount(point, options).map_err(cannot)?;
            }
        }
        Ok(())
    }
}

impl Drop for InForce<'_> {
    fn drop(&mut self) {
        // Reached with something left only on a panic or an early return; the restore file stays where this fails.
        let _ = self.undo();
    }
}

/// Whether all settings of an arm could be applied, without applying any.
pub fn check(arm: &Arm, stack: &Stack) -> Result<(), String> {
    for setting in &arm.settings {
        match setting {
            Setting::Value { path, .. } => {
                for path in paths(path, stack)? {
                    read_value(&path)?;
                    rustix::fs::access(&path, rustix::fs::Access::WRITE_OK)
                        .map_err(|e| format!("{path} cannot be written: {} (root can)", std::io::Error::from(e)))?;
                }
            }
            Setting::MountOptions(_) => {
                mount_point(stack)?;
                if !rustix::process::geteuid().is_root() {
                    return Err("mount-options: only root can remount a file system".into());
                }
            }
            Setting::Command { .. } => {}
        }
    }
    Ok(())
}

/// The paths that a setting stands for: `{disk}` is the block device that the target stands on (of a partition its disk),
/// `{lowest}` each of the lowest disks below it.
fn paths(path: &str, stack: &Stack) -> Result<Vec<String>, String> {
    let missing = |name: &str| format!("{path}: the target has no {name}");
    if path.contains("{disk}") {
        let block = [LayerKind::Loop, LayerKind::Dm, LayerKind::Md, LayerKind::Zram, LayerKind::Disk];
        let top = stack.layers.iter().find(|l| block.contains(&l.kind)).ok_or_else(|| missing("disk"))?;
        return Ok(vec![path.replace("{disk}", &top.name)]);
    }
    if path.contains("{lowest}") {
        let lowest = stack.lowest_counted();
        if lowest.is_empty() {
            return Err(missing("disk"));
        }
        return Ok(lowest.iter().map(|l| path.replace("{lowest}", &l.name)).collect());
    }
    Ok(vec![path.to_owned()])
}

fn mount_point(stack: &Stack) -> Result<&str, String> {
    stack
        .mount
        .as_ref()
        .map(|m| m.mount_point.as_str())
        .ok_or_else(|| "mount-options: the target is on no file system".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Layer;

    #[test]
    fn names_of_disks_are_filled_in() {
        let layers = vec![
            Layer::new(LayerKind::Filesystem, "ext4"),
            Layer::new(LayerKind::Partition, "sda1"),
            Layer::new(LayerKind::Disk, "sda"),
        ];
        let stack = Stack { mount: None, layers };
        assert_eq!(paths("/sys/block/{disk}/queue/scheduler", &stack).unwrap(), ["/sys/block/sda/queue/scheduler"]);
        assert_eq!(paths("/proc/sys/vm/x", &stack).unwrap(), ["/proc/sys/vm/x"]);
        assert!(paths("/sys/block/{disk}/x", &Stack::default()).unwrap_err().contains("has no disk"));
    }
}
