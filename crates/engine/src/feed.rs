//! What a phase brings while it runs, on its way to whoever keeps it: intervals from the loops, and the samples of a simulated
//! machine.
//!
//! Each worker has a bounded channel of its own, whose memory was taken before its ramp. It puts an interval there when it
//! ends: no allocation, no lock, no waiting, since nobody sleeps at the other end. Where nobody takes them out the channel
//! is full after a while, and what comes then is not handed over; the record of the phase has it all the same. In simulated
//! time weeks pass in seconds and waiting costs nothing: there a full channel is waited for.

use model::{Interval, Ns, SystemSample};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Intervals that a channel holds: a hundred seconds of 100 ms, a tenth of a second of the shortest.
const PLACES: usize = 1024;
/// Samples of a simulated machine on their way.
const SAMPLES: usize = 1024;
/// A full channel of which nobody takes anything for so long is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where workers leave their intervals.
#[derive(Debug, Default)]
pub struct SeriesFeed {
    open: AtomicBool,
    waits: AtomicBool,
    workers: Mutex<Vec<Receiver<Interval>>>,
}

/// A worker's end of its channel.
#[derive(Debug)]
pub(crate) struct Feeder {
    intervals: SyncSender<Interval>,
    /// Whether it waits where the channel is full.
    waits: bool,
}

impl Feeder {
    /// An interval has ended.
    pub fn put(&self, interval: &Interval) {
        let full = || matches!(self.intervals.try_send(*interval), Err(TrySendError::Full(_)));
        if full() && self.waits {
            let until = Instant::now() + PATIENCE;
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
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.open.store(true, Ordering::Relaxed);
    }

    /// No more workers take part: what follows is none of the phase's series.
    pub fn close(&self) {
        self.open.store(false, Ordering::Relaxed);
    }

    /// A channel for a worker, before its ramp; `None` where nobody wants its series.
    pub(crate) fn join(&self) -> Option<Feeder> {
        if !self.open.load(Ordering::Relaxed) {
            return None;
        }
        let (intervals, worker) = sync_channel(PLACES);
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        Some(Feeder { intervals, waits: self.waits.load(Ordering::Relaxed) })
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

/// Takes intervals out and makes one series of those of all workers.
#[derive(Debug, Default)]
pub struct SeriesReader {
    /// By their starts, which the workers of a phase have in common.
    pending: BTreeMap<Ns, Interval>,
    /// Up to where each worker has come, by the order in which they joined.
    reached: Vec<Ns>,
    /// Up to where intervals were given away.
    given: Ns,
}

impl SeriesReader {
    /// Takes out what is there, so often that no channel is full. Returns whether there was anything.
    pub fn look(&mut self, feed: &SeriesFeed) -> bool {
        let mut any = false;
        let workers = feed.workers.lock().unwrap_or_else(PoisonError::into_inner);
        self.reached.resize(workers.len(), 0);
        for (worker, reached) in workers.iter().zip(&mut self.reached) {
            let ended = loop {
                let interval = match worker.try_recv() {
                    Ok(interval) => interval,
                    Err(end) => break end == TryRecvError::Disconnected,
                };
                any = true;
                *reached = interval.start_ns.saturating_add(interval.length_ns);
                if interval.start_ns >= self.given {
                    let add = |all: &mut Interval| {
                        all.combine(&interval);
                        // The last one of a worker may be shorter.
                        all.length_ns = all.length_ns.max(interval.length_ns);
                    };
                    self.pending.entry(interval.start_ns).and_modify(add).or_insert(interval);
                }
            };
            if ended {
                *reached = Ns::MAX;
            }
        }
        any
    }

    /// How many have not been given away.
    pub fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// The intervals that all workers have left behind, each once. Where one worker stands still and the others have gone
    /// on, theirs: what it brings of that time later is in the phase's record only.
    pub fn take(&mut self) -> Vec<Interval> {
        let all = self.reached.iter().copied().min().unwrap_or(0);
        let first = self.pending.first_key_value().map_or(Ns::MAX, |(start, _)| *start);
        let until = if all > first { all } else { self.reached.iter().copied().max().unwrap_or(0) };
        let later = self.pending.split_off(&until);
        let taken: Vec<Interval> = std::mem::replace(&mut self.pending, later).into_values().collect();
        self.given = taken.last().map_or(self.given, |last| last.start_ns + 1);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start_ns: Ns, operations: u64) -> Interval {
        let latency = (operations > 0).then_some(7);
        Interval {
            start_ns,
            length_ns: 10,
            operations,
            bytes: operations * 512,
            latency_ns_p50: latency,
            latency_ns_p99: latency,
            latency_ns_max: latency,
        }
    }

    fn starts(intervals: &[Interval]) -> Vec<(Ns, u64)> {
        intervals.iter().map(|i| (i.start_ns, i.operations)).collect()
    }

    #[test]
    fn workers_are_added_and_the_slowest_is_waited_for() {
        let feed = SeriesFeed::default();
        assert!(feed.join().is_none(), "nobody asked");
        feed.open(false);
        let (a, b) = (feed.join().unwrap(), feed.join().unwrap());
        let mut reader = SeriesReader::default();
        (0..4).for_each(|i| a.put(&interval(i * 10, 1)));
        (0..2).for_each(|i| b.put(&interval(i * 10, 0)));
        reader.look(&feed);
        let taken = reader.take();
        assert_eq!(starts(&taken), [(0, 1), (10, 1)]);
        assert_eq!((taken[0].latency_ns_max, taken[0].bytes), (Some(7), 512));
        // It stands still for longer than is waited for, and comes back.
        a.put(&interval(40, 1));
        reader.look(&feed);
        assert_eq!(starts(&reader.take()), [(20, 1), (30, 1), (40, 1)]);
        (2..6).for_each(|i| b.put(&interval(i * 10, 5)));
        a.put(&interval(50, 1));
        drop(b);
        reader.look(&feed);
        assert_eq!(starts(&reader.take()), [(50, 6)]);
        // Who has ended is not waited for.
        a.put(&interval(60, 2));
        reader.look(&feed);
        assert_eq!(starts(&reader.take()), [(60, 2)]);
        assert_eq!(reader.take(), []);
        feed.close();
        assert!(feed.join().is_none());
    }

    #[test]
    fn a_full_channel_takes_no_more_and_loses_nothing_that_it_took() {
        let feed = SeriesFeed::default();
        feed.open(false);
        let worker = feed.join().unwrap();
        (0..PLACES as u64 + 5).for_each(|i| worker.put(&interval(i * 10, i)));
        let mut reader = SeriesReader::default();
        reader.look(&feed);
        assert_eq!(reader.take().len(), PLACES);
        worker.put(&interval(20_000, 3));
        reader.look(&feed);
        assert_eq!(starts(&reader.take()), [(20_000, 3)]);
    }

    #[test]
    fn in_simulated_time_a_full_channel_is_waited_for() {
        let feed = SeriesFeed::default();
        feed.open(true);
        let worker = feed.join().unwrap();
        let (mut reader, mut taken) = (SeriesReader::default(), Vec::new());
        let all = PLACES as u64 * 20;
        std::thread::scope(|scope| {
            scope.spawn(move || (0..all).for_each(|i| worker.put(&interval(i * 10, i))));
            while (taken.len() as u64) < all {
                reader.look(&feed);
                taken.extend(reader.take());
            }
        });
        assert!(taken.iter().enumerate().all(|(i, t)| t.operations == i as u64));
    }
}
