//! Waiting for the next interval, which a signal, a key or a reader that went away ends at once.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// The longest wait at once: a signal that came just before it is noticed after this.
const LONGEST: Duration = Duration::from_millis(200);

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The time is up.
    Time,
    /// Nobody reads what is written any more.
    ReaderGone,
    /// `stop` says so.
    Stopped,
}

/// Waits until a moment.
pub fn until(moment: Instant, output: BorrowedFd<'_>, stop: impl Fn() -> bool) -> Ended {
    loop {
        if stop() {
            return Ended::Stopped;
        }
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ended::Time;
        }
        // A pipe without a reader, and a terminal that hung up, report this although nothing is asked for.
        let mut ends = [PollFd::from_borrowed_fd(output, PollFlags::empty())];
        match poll(&mut ends, Some(&timespec(left.min(LONGEST)))) {
            Ok(_) if ends[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => return Ended::ReaderGone,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // Cannot happen with one open file; then the time is all that counts.
            Err(_) => std::thread::sleep(left.min(LONGEST)),
        }
    }
}

/// Waits until a moment or until a key was pressed; the key. `None` where the time is up, or something else happened
/// that the caller looks for itself.
pub fn key(moment: Instant, input: Option<BorrowedFd<'_>>) -> Option<u8> {
    let left = moment.saturating_duration_since(Instant::now()).min(LONGEST);
    let Some(input) = input else {
        std::thread::sleep(left);
        return None;
    };
    let mut ends = [PollFd::from_borrowed_fd(input, PollFlags::IN)];
    if poll(&mut ends, Some(&timespec(left))).unwrap_or(0) == 0 {
        return None;
    }
    let mut byte = [0];
    match rustix::io::read(input, &mut byte) {
        Ok(1) => Some(byte[0]),
        // The end of the terminal: without a pause this would spin.
        _ => {
            std::thread::sleep(left);
            None
        }
    }
}

fn timespec(time: Duration) -> Timespec {
    // The longest wait is far below any limit of these types.
    Timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos() as _ }
}

/// Whether writing failed because nobody reads any more, which is no error of ours.
pub fn is_reader_gone(error: &io::Error) -> bool {
    // A terminal that hung up gives EIO.
    error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}
