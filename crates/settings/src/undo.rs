//! How a change of the machine is undone.

use crate::command::shell;
use crate::mount::{mounted_with, remount, same_options};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How one change is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undo {
    /// The value that a file of /sys or /proc/sys had.
    Value {
        /// The file.
        path: String,
        /// Its old value.
        old: String,
    },
    /// A command of the shell.
    Command {
        /// The command.
        undo: String,
    },
    /// The options that a file system was mounted with.
    Mount {
        /// Where it is mounted.
        mount_point: String,
        /// As /proc/mounts showed them.
        options: Vec<String>,
        /// Opposites of the options that were added.
        opposites: Vec<String>,
    },
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { path, old } => write!(f, "{path} is {old} again"),
            Self::Command { undo } => write!(f, "ran '{undo}'"),
            Self::Mount { mount_point, options, .. } => {
                write!(f, "{mount_point} is mounted with {} again", options.join(","))
            }
        }
    }
}

impl Undo {
    /// Whether a reboot undoes it as well.
    pub fn ends_with_boot(&self) -> bool {
        matches!(self, Self::Value { .. } | Self::Mount { .. })
    }

    /// Puts it back.
    ///
    /// # Errors
    /// What could not be put back, and why.
    pub fn execute(&self) -> Result<(), String> {
        match self {
            Self::Value { path, old } => {
                std::fs::write(path, old).map_err(|e| format!("{path} could not be set to {old}: {e}"))
            }
            Self::Command { undo } => match shell(undo, &|| false) {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(format!("'{undo}' ended with {status}")),
                Err(e) => Err(format!("'{undo}' could not be started: {e}")),
            },
            Self::Mount { mount_point, options, opposites } => {
                // Where the arm's options were refused, nothing was changed, and their opposites would be refused too.
                if mounted_with(mount_point).is_some_and(|now| same_options(&now, options)) {
                    return Ok(());
                }
                let all: Vec<&str> = options.iter().chain(opposites).map(String::as_str).collect();
                remount(mount_point, &all.join(","))?;
                let now = mounted_with(mount_point);
                match now {
                    Some(now) if same_options(&now, options) => Ok(()),
                    Some(now) => {
                        Err(format!("{mount_point} is mounted with {}, not with {}", now.join(","), options.join(",")))
                    }
                    None => Err(format!("{mount_point} is no longer mounted")),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_undoes_nothing() {
        assert!(Undo::Command { undo: "exit 3".into() }.execute().unwrap_err().contains("exit 3"));
    }
}
