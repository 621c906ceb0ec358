//! Other users of the disk during a recording: control groups that are paused or limited; a watcher process undoes it if this program is
//! killed.

use crate::defer::{Defer, Deferred};
use crate::limits::{Limited, Limits};
use crate::watcher::Watcher;
use crate::{Recording, RingLevel};
use model::{Failure, Stack};
use std::time::Duration;

/// What is done to other users of the disk for a recording: groups that are paused, limits of their I/O.
#[derive(Debug)]
pub(crate) struct OtherUsers {
    defer: Defer,
    limits: Limits,
    // Ends last, when all is put right.
    watcher: Option<Watcher>,
}

impl OtherUsers {
    /// Those that a recording names; nothing is done to them yet.
    ///
    /// # Errors
    /// There is no such one, or nothing may be done to it.
    pub fn of(recording: &Recording<'_>) -> Result<Self, Failure> {
        let defer = Defer::of(&recording.defer, Duration::from_nanos(recording.defer_at_most_ns))?;
        Ok(Self { defer, limits: Limits::of(&recording.limits)?, watcher: None })
    }

    /// Limits them on the disks below the target; from now on they are paused, too.
    ///
    /// # Errors
    /// There is no watcher.
    pub fn begin(&mut self, stack: &Stack) -> Result<(), Failure> {
        self.limits.find(stack);
        let all = [self.defer.restores(), self.limits.restores()].concat();
        self.watcher = Some(Watcher::start(&all)?);
        self.limits.begin();
        Ok(())
    }

    /// Pauses others, or lets them go on, as the ring asks for.
    pub fn look(&mut self, ring: RingLevel) {
        self.defer.look(ring);
    }

    /// Whether the ring is to be looked at.
    pub fn needs_ring_level(&self) -> bool {
        !self.defer.is_empty()
    }

    /// All is as it was, for good.
    pub fn end(mut self) -> (Option<Deferred>, Vec<Limited>) {
        (self.defer.end(), self.limits.end())
    }
}
