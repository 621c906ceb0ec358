//! Others that stand still while the ring fills up: processes, or all of a control group.
//!
//! They stop when a quarter of the ring holds frames, and go on when hardly any of it does, or when they have stood still for as long
//! as they may at a time; then they have as long to themselves. What they had handed to the kernel before goes on meanwhile, and
//! locks that they hold stay held (k:Documentation/admin-guide/cgroup-v2.rst, "cgroup.freeze"; freezer-subsystem.rst).
//!
//! Nobody is left standing: the watcher lets them go on when this program is gone, whatever ended it.

use crate::RingLevel;
use crate::watcher::Restore;
use model::{Failure, Ns};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use sys::Pausable;

/// Frames in so much of the ring stop the others, and in so much let them go on: percent.
const HIGH_PERCENT: u64 = 25;
const LOW_PERCENT: u64 = 2;

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
pub(crate) struct Defer {
    others: Vec<Pausable>,
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
        let others = names.iter().map(|name| pausable(name)).collect::<Result<Vec<_>, _>>()?;
        let done = Deferred { who: names.to_vec(), still_ns: 0, times: 0, failed: None };
        Ok(Self { others, longest, still_since: None, free_until: None, done })
    }

    /// What lets them go on.
    pub fn restores(&self) -> Vec<Restore> {
        self.others.iter().map(restore).collect()
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

/// Somebody who can be made to stand still, and is not this program.
fn pausable(name: &str) -> Result<Pausable, Failure> {
    let cannot = |e: io::Error| refused(name, &e.to_string());
    if let Ok(pid) = name.parse::<i32>() {
        match pid {
            1 => return Err(refused(name, "the first process is never paused")),
            ..1 => return Err(refused(name, "no such process")),
            _ => {}
        }
        if sys::ancestors().contains(&pid) {
            return Err(refused(name, "that is this program, or what started it"));
        }
        return Pausable::process(pid).map_err(cannot);
    }
    let directory = Path::new(name).canonicalize().map_err(cannot)?;
    let own = sys::ancestors();
    if sys::group_members(&directory).iter().any(|pid| own.contains(pid)) {
        return Err(refused(name, "this program, or what started it, is in it"));
    }
    Pausable::group(&directory).map_err(cannot)?.ok_or_else(|| {
        refused(name, "neither a process nor a control group that can be frozen")
            .remedy("a number of a process, or a directory below /sys/fs/cgroup, not the root of it")
    })
}

/// What lets it go on.
fn restore(other: &Pausable) -> Restore {
    match other {
        Pausable::Process { pid, .. } => Restore::Continue(*pid),
        Pausable::Group { file, words } => Restore::Write(file.clone(), words[0].into()),
    }
}
