//! An eventfd by which one thread wakes another that waits for completions of a ring.
//!
//! A ring waits for it together with its operations (eventfd(2), io_uring_enter(2), IORING_OP_POLL_ADD).

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::time::Timespec;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Any thread may signal it. Signals before it is drained count as one.
#[derive(Debug)]
pub struct EventFd {
    event: OwnedFd,
    /// Whether it was signalled and not drained: signalling again then takes no system call.
    signalled: AtomicBool,
}

impl EventFd {
    /// One that is not signalled.
    ///
    /// # Errors
    /// What eventfd(2) says.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            signalled: AtomicBool::new(false),
        })
    }

    /// Wakes whoever waits, now or next.
    pub fn signal(&self) {
        if !self.signalled.swap(true, Ordering::AcqRel) {
            // A counter that is full is signalled already.
            let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
        }
    }

    /// Waits until it is signalled, or so long: whether it was. A signal to the process ends the wait.
    pub fn wait(&self, at_most: Duration) -> bool {
        // A time that is too long for the kernel is none.
        let at_most = Timespec::try_from(at_most).ok();
        poll(&mut [PollFd::new(&self.event, PollFlags::IN)], at_most.as_ref()).is_ok_and(|n| n > 0)
    }

    /// Resets it: what was handed over before it was signalled can be taken now.
    pub fn drain(&self) {
        let mut count = [0; 8];
        // Another may have been quicker.
        let _ = rustix::io::read(&self.event, &mut count);
        // In this order: a signal in between takes no system call, and what was brought by then is seen by whoever looks after this.
        self.signalled.swap(false, Ordering::AcqRel);
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_before_a_drain_count_as_one() {
        let event_fd = EventFd::new().unwrap();
        let rings = || event_fd.wait(Duration::ZERO);
        assert!(!rings());
        event_fd.signal();
        event_fd.signal();
        assert!(rings());
        event_fd.drain();
        assert!(!rings());
        event_fd.signal();
        assert!(rings());
    }
}
