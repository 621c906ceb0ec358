//! Others that stand still while the ring fills up: processes, or all of a control group.
//!
//! They stop when a quarter of the ring holds frames, and go on when hardly any of it does, or when they have stood still for as long
//! as they may at a time; then they have as long to themselves. What they had handed to the kernel before goes on meanwhile, and
//! locks that they hold stay held (k:Documentation/admin-guide/cgroup-v2.rst, "cgroup.freeze"; freezer-subsystem.rst).
//!
//! Nobody is left standing: the watcher lets them go on when this program is gone, whatever ended it.

use super::RingLevel;
use super::watcher::Restore;
use model::{Failure, Ns};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, test_kill_process};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Frames in so much of the ring stop the others, and in so much let them go on: percent.
const HIGH_PERCENT: u64 = 25;
const LOW_PERCENT: u64 = 2;

/// Somebody who can be made to stand still.
#[derive(Debug)]
enum PausableGroup {
    Process {
        pid: i32,
        handle: OwnedFd,
    },
    /// Version 2: `cgroup.freeze`.
    Group(PathBuf),
    /// Version 1: `freezer.state`.
    OldGroup(PathBuf),
}

/// For how long others stood still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// Who, as they were named.
    pub who: Vec<String>,
    /// In all, nanoseconds.
    pub still_ns: Ns,
    /// How often.
    pub times: u64,
    /// Why somebody did not stand still, or does not go on.
    pub failed: Option<String>,
}

/// Who stands still, and since when.
#[derive(Debug)]
pub(super) struct Defer {
    others: Vec<PausableGroup>,
    longest: Duration,
    still_since: Option<Instant>,
    /// Not before this moment again.
    free_until: Option<Instant>,
    done: Deferred,
}

fn refused(who: &str, why: &str) -> Failure {
    Failure::refused(format!("--defer {who}: {why}"))
}

impl Defer {
    /// Those that were named: numbers of processes, directories of control groups. Each stands still for so long at a time.
    ///
    /// # Errors
    /// There is no such one, it is this program itself or what started it, or it may not be stopped.
    pub fn of(names: &[String], longest: Duration) -> Result<Self, Failure> {
        let others = names.iter().map(|name| PausableGroup::of(name)).collect::<Result<Vec<_>, _>>()?;
        let done = Deferred { who: names.to_vec(), still_ns: 0, times: 0, failed: None };
        Ok(Self { others, longest, still_since: None, free_until: None, done })
    }

    /// What lets them go on.
    pub fn restores(&self) -> Vec<Restore> {
        self.others.iter().map(PausableGroup::restores).collect()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// Pauses others, or lets them go on, as the ring asks for.
    pub fn look(&mut self, ring: RingLevel) {
        if self.others.is_empty() {
            return;
        }
        let now = Instant::now();
        let percent = ring.percent();
        match self.still_since {
            None if percent >= HIGH_PERCENT && self.free_until.is_none_or(|until| now >= until) => {
                self.all(true);
                self.done.times += 1;
                self.still_since = Some(now);
            }
            Some(since) if percent <= LOW_PERCENT || now - since >= self.longest => {
                self.resume();
                self.free_until = Some(now + (now - since).min(self.longest));
            }
            _ => {}
        }
    }

    fn resume(&mut self) {
        if let Some(since) = self.still_since.take() {
            self.all(false);
            self.done.still_ns += u64::try_from(since.elapsed().as_nanos()).unwrap_or(0);
        }
    }

    fn all(&mut self, still: bool) {
        for other in &self.others {
            if let Err(e) = other.set_paused(still) {
                self.done.failed.get_or_insert(e.to_string());
            }
        }
    }

    /// All go on, for good.
    pub fn end(mut self) -> Option<Deferred> {
        self.resume();
        (!self.others.is_empty()).then(|| self.done.clone())
    }
}

impl Drop for Defer {
    fn drop(&mut self) {
        self.resume();
    }
}

impl PausableGroup {
    fn of(name: &str) -> Result<Self, Failure> {
        if let Ok(pid) = name.parse::<i32>() {
            let own = ancestors();
            let id = Pid::from_raw(pid).filter(|_| pid > 1).ok_or_else(|| refused(name, "no such process"))?;
            if own.contains(&pid) {
                return Err(refused(name, "that is this program, or what started it"));
            }
            let handle =
                pidfd_open(id, PidfdFlags::empty()).map_err(|e| refused(name, &io::Error::from(e).to_string()))?;
            // Whether it may be stopped, without any signal.
            test_kill_process(id).map_err(|e| refused(name, &io::Error::from(e).to_string()))?;
            return Ok(Self::Process { pid, handle });
        }
        let directory = Path::new(name).canonicalize().map_err(|e| refused(name, &e.to_string()))?;
        let kinds = [("cgroup.freeze", Self::Group as fn(PathBuf) -> Self), ("freezer.state", Self::OldGroup)];
        let file = kinds.into_iter().find(|(file, _)| directory.join(file).is_file());
        let Some((file, kind)) = file else {
            return Err(refused(name, "neither a process nor a control group that can be frozen")
                .remedy("a number of a process, or a directory below /sys/fs/cgroup, not the root of it"));
        };
        if members(&directory).iter().any(|pid| ancestors().contains(pid)) {
            return Err(refused(name, "this program, or what started it, is in it"));
        }
        let path = directory.join(file);
        OpenOptions::new().write(true).open(&path).map_err(|e| refused(name, &e.to_string()))?;
        Ok(kind(path))
    }

    fn set_paused(&self, still: bool) -> io::Result<()> {
        let write = |path: &Path, word: &str| OpenOptions::new().write(true).open(path)?.write_all(word.as_bytes());
        match self {
            Self::Process { handle, .. } => {
                let signal = if still { Signal::STOP } else { Signal::CONT };
                match pidfd_send_signal(handle, signal) {
                    // It has ended.
                    Err(rustix::io::Errno::SRCH) => Ok(()),
                    other => Ok(other?),
                }
            }
            Self::Group(path) => write(path, if still { "1" } else { "0" }),
            Self::OldGroup(path) => write(path, if still { "FROZEN" } else { "THAWED" }),
        }
    }

    fn restores(&self) -> Restore {
        match self {
            Self::Process { pid, .. } => Restore::Continue(*pid),
            Self::Group(path) => Restore::Write(path.clone(), "0".into()),
            Self::OldGroup(path) => Restore::Write(path.clone(), "THAWED".into()),
        }
    }
}

/// This process and all above it.
fn ancestors() -> Vec<i32> {
    let parent = |pid: i32| -> Option<i32> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok().filter(|pid| *pid > 0)
    };
    std::iter::successors(i32::try_from(std::process::id()).ok(), |pid| parent(*pid)).collect()
}

/// The processes of a control group, and of those below it.
fn members(directory: &Path) -> Vec<i32> {
    let own = std::fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    let mut all: Vec<i32> = own.lines().filter_map(|line| line.parse().ok()).collect();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.extend(members(&entry.path()));
        }
    }
    all
}
