//! Processes and control groups that can be made to stand still: pidfd_send_signal(2), `cgroup.freeze` of version 2 and `freezer.state` of
//! version 1 of control groups (k:Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/freezer-subsystem.rst).

use crate::control_group::write_line;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, test_kill_process};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Files that freeze a group, and what they hold while it runs and while it stands still.
const FREEZERS: [(&str, [&str; 2]); 2] = [("cgroup.freeze", ["0", "1"]), ("freezer.state", ["THAWED", "FROZEN"])];

/// Somebody who can be paused.
#[derive(Debug)]
pub enum Pausable {
    Process {
        pid: i32,
        handle: OwnedFd,
    },
    /// A file of a control group, with what lets it run and what stops it.
    Group {
        file: PathBuf,
        words: [&'static str; 2],
    },
}

impl Pausable {
    /// A process that this one may stop, which is tried without any signal.
    ///
    /// # Errors
    /// ESRCH, EPERM; those of pidfd_open(2).
    pub fn process(pid: i32) -> io::Result<Self> {
        let id = Pid::from_raw(pid).filter(|_| pid > 1).ok_or(io::Error::from(rustix::io::Errno::SRCH))?;
        let handle = pidfd_open(id, PidfdFlags::empty())?;
        test_kill_process(id)?;
        Ok(Self::Process { pid, handle })
    }

    /// All of a control group; `None` where that cannot be frozen.
    ///
    /// # Errors
    /// It may not be written to.
    pub fn group(directory: &Path) -> io::Result<Option<Self>> {
        let found = FREEZERS.into_iter().map(|(name, words)| (directory.join(name), words));
        let Some((file, words)) = found.into_iter().find(|(file, _)| file.is_file()) else { return Ok(None) };
        OpenOptions::new().write(true).open(&file)?;
        Ok(Some(Self::Group { file, words }))
    }

    /// Stops it, or lets it go on. A process that has ended does neither.
    ///
    /// # Errors
    /// Those of pidfd_send_signal(2) and of writing.
    pub fn set_paused(&self, still: bool) -> io::Result<()> {
        match self {
            Self::Process { handle, .. } => {
                match pidfd_send_signal(handle, if still { Signal::STOP } else { Signal::CONT }) {
                    Err(rustix::io::Errno::SRCH) => Ok(()),
                    other => Ok(other?),
                }
            }
            Self::Group { file, words } => write_line(file, words[usize::from(still)]),
        }
    }
}

/// This process and all above it.
pub fn ancestors() -> Vec<i32> {
    let parent = |pid: i32| -> Option<i32> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok().filter(|pid| *pid > 0)
    };
    std::iter::successors(i32::try_from(std::process::id()).ok(), |pid| parent(*pid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_either_version_is_frozen_by_its_file() {
        for (name, [runs, stands]) in FREEZERS {
            let group = tempfile::tempdir().unwrap();
            assert!(Pausable::group(group.path()).unwrap().is_none());
            let file = group.path().join(name);
            std::fs::write(&file, "").unwrap();
            let pausable = Pausable::group(group.path()).unwrap().unwrap();
            for (still, word) in [(true, stands), (false, runs)] {
                pausable.set_paused(still).unwrap();
                assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{word}\n"));
            }
        }
    }

    #[test]
    fn processes_that_are_not_there_or_never_pause_are_refused() {
        assert_eq!(ancestors()[0] as u32, std::process::id());
        for pid in [-1, 0, 1, i32::MAX] {
            assert!(Pausable::process(pid).is_err(), "{pid}");
        }
    }
}
