//! A bell: one thread wakes another that waits for completions of a ring.
//!
//! An eventfd, which a ring waits for together with its operations (eventfd(2), io_uring_enter(2), IORING_OP_POLL_ADD).

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// A bell that any thread may ring. Rung again before it was heard, it is heard once.
#[derive(Debug)]
pub struct EventFd {
    event: OwnedFd,
    /// Whether it was rung and not heard: ringing it again then costs no call.
    rung: AtomicBool,
}

impl EventFd {
    /// A silent one.
    ///
    /// # Errors
    /// What eventfd(2) says.
    pub fn new() -> io::Result<Self> {
        Ok(Self { event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?, rung: AtomicBool::new(false) })
    }

    /// Wakes whoever waits, now or next.
    pub fn signal(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            // A counter that is full is rung already.
            let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
        }
    }

    /// It was heard: what was brought before it rang can be taken now.
    pub fn drain(&self) {
        let mut count = [0; 8];
        // Another may have been quicker.
        let _ = rustix::io::read(&self.event, &mut count);
        // In this order: who rings in between costs no call, and what was brought by then is seen by whoever looks after this.
        self.rung.swap(false, Ordering::AcqRel);
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
    use rustix::event::{PollFd, PollFlags, poll};

    #[test]
    fn it_is_heard_once_however_often_it_was_rung() {
        let event_fd = EventFd::new().unwrap();
        let rings = || poll(&mut [PollFd::new(&event_fd, PollFlags::IN)], Some(&Default::default())).unwrap() > 0;
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
