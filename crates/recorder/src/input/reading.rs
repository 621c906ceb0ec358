//! Reading from a producer that may say nothing for long, or for ever.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// Whoever waits looks at its reason to stop that often.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A descriptor that frames come by.
pub struct Reading<'a, F> {
    file: F,
    stops: &'a dyn Fn() -> bool,
}

impl<'a, F: AsFd> Reading<'a, F> {
    /// Until it is at its end, or `is_stopping` says so.
    pub fn new(file: F, stops: &'a dyn Fn() -> bool) -> Self {
        Self { file, stops }
    }

    /// Reads what is there; 0 at the end.
    ///
    /// # Errors
    /// What read(2) says.
    pub fn read_some(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wait = rustix::time::Timespec { tv_sec: 0, tv_nsec: POLL_INTERVAL.subsec_nanos() as _ };
        loop {
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&wait)) {
                Ok(0) if (self.stops)() => return Ok(0),
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(e) => return Err(e.into()),
            }
            match rustix::io::read(&self.file, &mut *into) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                other => return Ok(other?),
            }
        }
    }

    /// Fills all of it; how much came before the end.
    ///
    /// # Errors
    /// What read(2) says.
    pub fn read_all(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.read_some(&mut into[done..])? {
                0 => break,
                n => done += n,
            }
        }
        Ok(done)
    }

    /// Whether it is to end.
    pub fn is_stopping(&self) -> bool {
        (self.stops)()
    }
}
