//! What a phase brings while it runs, on its way to whoever keeps it: intervals from the loops, and the samples of a simulated
//! machine.
//!
//! Each worker has a ring of its own in memory that was taken before its ramp. It puts an interval there when it ends,
//! with relaxed stores and one release: no allocation, no lock, no waiting. Where nobody takes them out the ring is full
//! after a while, and what comes then is not handed over; the record of the phase has it all the same. In simulated time
//! weeks pass in seconds and waiting costs nothing: there a full ring is waited for.

use model::{Interval, Ns, SystemSample};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Intervals that a ring holds: a hundred seconds of 100 ms, a tenth of a second of the shortest.
const PLACES: u64 = 1024;
/// Samples of a simulated machine on their way.
const SAMPLES: usize = 1024;
/// A full ring of which nobody takes anything for so long is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Stands for "no completions" in a latency; no latency is as long.
const NONE: u64 = u64::MAX;

/// Where workers leave their intervals.
#[derive(Debug, Default)]
pub struct SeriesFeed {
    open: AtomicBool,
    waits: AtomicBool,
    rings: Mutex<Vec<Arc<Ring>>>,
}

#[derive(Debug)]
struct Ring {
    places: Box<[[AtomicU64; 7]]>,
    /// Intervals put in, and taken out, so far.
    put: AtomicU64,
    taken: AtomicU64,
    /// No more come.
    ended: AtomicBool,
    /// Whether its worker waits where it is full.
    waits: bool,
}

/// A worker's end of its ring.
#[derive(Debug)]
pub(crate) struct Feeder(Arc<Ring>);

impl Feeder {
    /// An interval has ended.
    pub fn put(&self, interval: &Interval) {
        let Interval { start_ns, length_ns, operations, bytes, latency_ns_p50, latency_ns_p99, latency_ns_max } =
            *interval;
        let ring = &*self.0;
        let put = ring.put.load(Ordering::Relaxed);
        if ring.is_full(put) && !(ring.waits && ring.waited_for(put)) {
            return;
        }
        let latencies = [latency_ns_p50, latency_ns_p99, latency_ns_max].map(|l| l.unwrap_or(NONE));
        let [p50, p99, max] = latencies;
        let place = &ring.places[(put % PLACES) as usize];
        for (cell, value) in place.iter().zip([start_ns, length_ns, operations, bytes, p50, p99, max]) {
            cell.store(value, Ordering::Relaxed);
        }
        ring.put.store(put + 1, Ordering::Release);
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
    }
}

impl Ring {
    fn new(waits: bool) -> Self {
        let places = (0..PLACES).map(|_| std::array::from_fn(|_| AtomicU64::new(0))).collect();
        Self { places, put: AtomicU64::new(0), taken: AtomicU64::new(0), ended: AtomicBool::new(false), waits }
    }

    fn is_full(&self, put: u64) -> bool {
        put - self.taken.load(Ordering::Acquire) >= PLACES
    }

    /// Whether there is room after a while.
    fn waited_for(&self, put: u64) -> bool {
        let until = Instant::now() + PATIENCE;
        while self.is_full(put) && Instant::now() < until {
            std::thread::sleep(Duration::from_micros(100));
        }
        !self.is_full(put)
    }

    fn take(&self) -> Option<Interval> {
        let taken = self.taken.load(Ordering::Relaxed);
        if taken == self.put.load(Ordering::Acquire) {
            return None;
        }
        let [start_ns, length_ns, operations, bytes, p50, p99, max] =
            std::array::from_fn(|i| self.places[(taken % PLACES) as usize][i].load(Ordering::Relaxed));
        self.taken.store(taken + 1, Ordering::Release);
        let latency = |ns: u64| (ns != NONE).then_some(ns);
        Some(Interval {
            start_ns,
            length_ns,
            operations,
            bytes,
            latency_ns_p50: latency(p50),
            latency_ns_p99: latency(p99),
            latency_ns_max: latency(max),
        })
    }
}

impl SeriesFeed {
    /// A phase is about to run whose series is wanted as it comes. `simulated`: its time may stand still meanwhile.
    pub fn open(&self, simulated: bool) {
        self.waits.store(simulated, Ordering::Relaxed);
        self.rings.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.open.store(true, Ordering::Relaxed);
    }

    /// No more workers take part: what follows is none of the phase's series.
    pub fn close(&self) {
        self.open.store(false, Ordering::Relaxed);
    }

    /// A ring for a worker, before its ramp; `None` where nobody wants its series.
    pub(crate) fn join(&self) -> Option<Feeder> {
        if !self.open.load(Ordering::Relaxed) {
            return None;
        }
        let ring = Arc::new(Ring::new(self.waits.load(Ordering::Relaxed)));
        self.rings.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&ring));
        Some(Feeder(ring))
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
    /// Takes out what is there, so often that no ring is full. Returns whether there was anything.
    pub fn look(&mut self, feed: &SeriesFeed) -> bool {
        let mut any = false;
        let rings = feed.rings.lock().unwrap_or_else(PoisonError::into_inner);
        self.reached.resize(rings.len(), 0);
        for (ring, reached) in rings.iter().zip(&mut self.reached) {
            while let Some(interval) = ring.take() {
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
            }
            if ring.ended.load(Ordering::Acquire)
                && ring.put.load(Ordering::Acquire) == ring.taken.load(Ordering::Relaxed)
            {
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
    fn a_full_ring_takes_no_more_and_loses_nothing_that_it_took() {
        let feed = SeriesFeed::default();
        feed.open(false);
        let worker = feed.join().unwrap();
        (0..PLACES + 5).for_each(|i| worker.put(&interval(i * 10, i)));
        let mut reader = SeriesReader::default();
        reader.look(&feed);
        assert_eq!(reader.take().len() as u64, PLACES);
        worker.put(&interval(20_000, 3));
        reader.look(&feed);
        assert_eq!(starts(&reader.take()), [(20_000, 3)]);
    }

    #[test]
    fn in_simulated_time_a_full_ring_is_waited_for() {
        let feed = SeriesFeed::default();
        feed.open(true);
        let worker = feed.join().unwrap();
        let (mut reader, mut taken) = (SeriesReader::default(), Vec::new());
        let all = PLACES * 20;
        std::thread::scope(|scope| {
            scope.spawn(move || (0..all).for_each(|i| worker.put(&interval(i * 10, i))));
            while (taken.len() as u64) < all {
                reader.look(&feed);
                taken.extend(reader.take());
            }
        });
        assert!(taken.iter().enumerate().all(|(i, t)| t.operations == i as u64));
    }

    #[test]
    fn what_one_thread_puts_another_takes() {
        let feed = SeriesFeed::default();
        feed.open(false);
        let worker = feed.join().unwrap();
        let mut reader = SeriesReader::default();
        let mut taken = Vec::new();
        const ALL: u64 = 200_000;
        std::thread::scope(|scope| {
            let feed = &feed;
            scope.spawn(move || {
                for i in 0..ALL {
                    // A worker never waits; this test does, so that it may count.
                    while worker.0.put.load(Ordering::Relaxed) - worker.0.taken.load(Ordering::Acquire) >= PLACES {
                        std::thread::yield_now();
                    }
                    worker.put(&interval(i * 10, i));
                }
            });
            while (taken.len() as u64) < ALL {
                reader.look(feed);
                taken.extend(reader.take());
            }
        });
        assert!(taken.iter().enumerate().all(|(i, t)| t.operations == i as u64 && t.start_ns == i as u64 * 10));
    }
}
