//! What the workers of a phase bring while it runs, as one series.

use engine::SeriesFeed;
use model::{Interval, Ns};
use std::collections::BTreeMap;
use std::sync::mpsc::TryRecvError;

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
        let workers = feed.workers();
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
    use engine::SERIES_CAPACITY as PLACES;

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
