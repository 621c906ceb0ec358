//! A change of the machine with all that undoing it takes: what a journal keeps.

use crate::command::{CommandLimits, CommandLine};
use crate::error::{Result, SettingError};
use crate::group::Group;
use crate::journal_directories::Persistence;
use crate::mount::{Mounted, mount_at, remount, same_options};
use crate::register::RegisterBits;
use crate::value::{Tree, ValuePath};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A change, as it is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A value was written.
    Value {
        path: ValuePath,
        /// What tells its file from one of a device that took the same name later.
        identity: Option<u64>,
        /// What it and those that follow it held.
        was: Group,
    },
    /// A file system was remounted.
    Mount {
        /// Where, what and how it was mounted.
        was: Mounted,
        /// Opposites of the options that were added.
        opposites: Vec<String>,
    },
    /// Bits of a register were set.
    Register {
        register: RegisterBits,
        /// What they were.
        was: u32,
    },
    /// A command was run.
    Command { run: CommandLine, undo: CommandLine },
}

/// What undoing it does.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { was, .. } => {
                let all: Vec<String> = was.saved.iter().map(|s| format!("{} = {}", s.path, s.value)).collect();
                f.write_str(&all.join(", "))
            }
            Self::Mount { was, .. } => write!(f, "{} mounted with {}", was.mount_point, was.options.join(",")),
            Self::Register { register, was } => write!(f, "{register} = {was:#x}"),
            Self::Command { undo, .. } => write!(f, "'{undo}'"),
        }
    }
}

impl Change {
    /// How long it lasts by itself.
    pub fn persistence(&self) -> Persistence {
        match self {
            Self::Value { .. } | Self::Mount { .. } | Self::Register { .. } => Persistence::UntilReboot,
            Self::Command { .. } => Persistence::Always,
        }
    }

    /// Undoes it, looks whether that took, and says what was done.
    ///
    /// # Errors
    /// What is still changed, and why.
    pub fn undo(&self, tree: &Tree, mark: &str, limits: &CommandLimits<'_>) -> Result<String> {
        match self {
            Self::Value { path, identity, was } => {
                let replaced = identity.is_some() && tree.identity(path).is_some_and(|now| Some(now) != *identity);
                match was.restore_unless(replaced, tree) {
                    Ok(()) => {
                        let value = was.saved.iter().find(|s| s.path == *path).map_or("", |s| s.value.as_str());
                        Ok(format!("{path} is {value} again"))
                    }
                    Err(SettingError::Missing(_)) => Ok(format!("{path} has gone, and its value with it")),
                    Err(error) => Err(error),
                }
            }
            Self::Register { register, was } => match register.write(tree, *was) {
                Ok(()) => Ok(format!("{register} is {was:#x} again")),
                // A driver that is bound anew sets it anew.
                Err(SettingError::Missing(what)) => Ok(format!("{what} is gone, and the value with it")),
                Err(error) => Err(error),
            },
            Self::Mount { was, opposites } => unmounted_or_as_it_was(was, opposites, mark, limits),
            Self::Command { undo, .. } => {
                undo.run(mark, limits, &mut |_| Ok(()))?;
                Ok(format!("ran '{undo}'"))
            }
        }
    }
}

impl Group {
    /// Restores it, unless its files are those of another device by now.
    fn restore_unless(&self, replaced: bool, tree: &Tree) -> Result<()> {
        match self.saved.first() {
            Some(first) if replaced => Err(SettingError::Missing(first.path.to_string())),
            _ => self.restore(tree),
        }
    }
}

fn unmounted_or_as_it_was(
    was: &Mounted,
    opposites: &[String],
    mark: &str,
    limits: &CommandLimits<'_>,
) -> Result<String> {
    let point = &was.mount_point;
    let again = || format!("{point} is mounted with {} again", was.options.join(","));
    // The device may hold another file system by now.
    let is_it = |now: &Mounted| now.source == was.source && (was.fstype.is_empty() || now.fstype == was.fstype);
    let now = mount_at(point).filter(is_it);
    let Some(now) = now else { return Ok(format!("{point} is no longer mounted, and its options are gone")) };
    // Where the arm's options were refused, nothing was changed, and their opposites would be refused too.
    if same_options(&now.options, &was.options) {
        return Ok(again());
    }
    let all: Vec<&str> = was.options.iter().chain(opposites).map(String::as_str).collect();
    remount(point, &all.join(","), mark, limits)?;
    match mount_at(point) {
        Some(now) if !same_options(&now.options, &was.options) => Err(SettingError::Mount(format!(
            "{point} is mounted with {}, not with {}",
            now.options.join(","),
            was.options.join(",")
        ))),
        _ => Ok(again()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn shell(text: &str) -> CommandLine {
        CommandLine::new(["/bin/sh", "-c", text].map(str::to_owned).to_vec()).unwrap()
    }

    #[test]
    fn a_command_that_fails_undoes_nothing() {
        let change = Change::Command { run: shell("true"), undo: shell("exit 3") };
        let limits = CommandLimits { over: &|| false, at_least: Duration::ZERO };
        let error = change.undo(&Tree::machine(), "test", &limits).unwrap_err().to_string();
        assert!(error.contains("'exit 3'") && error.contains("status: 3"), "{error}");
        assert_eq!(change.persistence(), Persistence::Always);
    }

    #[test]
    fn a_device_that_took_the_name_of_another_one_keeps_its_values() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("sys/block/sdx/queue/rq_affinity");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "1").unwrap();
        let tree = Tree::below(directory.path()).unwrap();
        let path = ValuePath::new("/sys/block/sdx/queue/rq_affinity").unwrap();
        let was = Group::read(&tree, &path).unwrap();
        let change = |identity| Change::Value { path: path.clone(), identity, was: was.clone() };
        let limits = CommandLimits { over: &|| false, at_least: Duration::ZERO };
        std::fs::write(&file, "2").unwrap();
        let another = tree.identity(&path).map(|number| number + 1);
        assert!(another.is_some());
        assert!(change(another).undo(&tree, "test", &limits).unwrap().contains("has gone"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "2");
        let said = change(tree.identity(&path)).undo(&tree, "test", &limits).unwrap();
        assert_eq!(said, "/sys/block/sdx/queue/rq_affinity is 1 again");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "1");
    }
}
