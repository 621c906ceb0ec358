//! What a phase brings while it runs, on its way to whoever keeps it: intervals from the loops, and the samples of a simulated
//! machine.
//!
//! Each worker has a bounded channel of its own, whose memory was taken before its ramp. It puts an interval there when it
//! ends: no allocation, no lock, no waiting, since nobody sleeps at the other end. Where nobody takes them out the channel
//! is full after a while, and what comes then is not handed over; the record of the phase has it all the same. In simulated
//! time weeks pass in seconds and waiting costs nothing: there a full channel is waited for.

use model::{Interval, SystemSample};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Intervals that a channel holds: a hundred seconds of 100 ms, a tenth of a second of the shortest.
pub const CAPACITY: usize = 1024;
/// Samples of a simulated machine on their way.
const SAMPLES: usize = 1024;
/// A full channel of which nobody takes anything for so long is not waited for.
const FULL_TIMEOUT: Duration = Duration::from_secs(10);

/// Where workers leave their intervals.
#[derive(Debug, Default)]
pub struct SeriesFeed {
    open: AtomicBool,
    waits: AtomicBool,
    workers: Mutex<Vec<Receiver<Interval>>>,
}

/// A worker's end of its channel.
#[derive(Debug)]
pub struct SeriesSender {
    intervals: SyncSender<Interval>,
    /// Whether it waits where the channel is full.
    waits: bool,
}

impl SeriesSender {
    /// An interval has ended.
    pub fn put(&self, interval: &Interval) {
        let full = || matches!(self.intervals.try_send(*interval), Err(TrySendError::Full(_)));
        if full() && self.waits {
            let until = Instant::now() + FULL_TIMEOUT;
            while Instant::now() < until && full() {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }
}

impl SeriesFeed {
    /// A phase is about to run whose series is wanted as it comes. `simulated`: its time may stand still meanwhile.
    pub fn open(&self, simulated: bool) {
        self.waits.store(simulated, Ordering::Relaxed);
        self.workers().clear();
        self.open.store(true, Ordering::Relaxed);
    }

    /// No more workers take part: what follows is none of the phase's series.
    pub fn close(&self) {
        self.open.store(false, Ordering::Relaxed);
    }

    /// The other ends of the channels, in the order in which the workers joined: what has come is taken out there, so often
    /// that none is full.
    pub fn workers(&self) -> MutexGuard<'_, Vec<Receiver<Interval>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A channel for a worker, before its ramp; `None` where nobody wants its series.
    pub fn join(&self) -> Option<SeriesSender> {
        if !self.open.load(Ordering::Relaxed) {
            return None;
        }
        let (intervals, worker) = sync_channel(CAPACITY);
        self.workers().push(worker);
        Some(SeriesSender { intervals, waits: self.waits.load(Ordering::Relaxed) })
    }
}

/// Where a simulated machine leaves its samples.
#[derive(Debug, Default)]
pub struct SampleFeed(Mutex<Option<SyncSender<SystemSample>>>);

impl SampleFeed {
    /// The samples of the phase that is about to run, as they come; the simulation waits until they are taken.
    pub fn open(&self) -> Receiver<SystemSample> {
        let (sender, receiver) = sync_channel(SAMPLES);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// The simulation's end of it; `None` where nobody wants its samples.
    pub(crate) fn join(&self) -> Option<SyncSender<SystemSample>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
