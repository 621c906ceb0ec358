//! Keeps what a worker sees, in memory that was taken beforehand.
//!
//! Rules: every completion's latency goes into a histogram; intervals without completions are kept as zeros; nothing
//! allocates after construction. Each interval has a histogram of its own, from which its percentiles come, and which
//! is added to the phase's when the interval ends: to the one before the warm-up cut, or to the one that counts.

mod errors;
mod merge;
mod parts;
mod rounds;

pub(crate) use merge::phase_record;

use crate::feed::SeriesSender;
use crate::stream_config::StreamConfig;
use errors::ErrorTable;
use model::{
    Direction, Histogram, Interval, IntervalSeries, Lateness, Ns, PhaseRecord, StopCause, StreamSummary, Warmup,
    WarmupCut,
};
use parts::{Parts, interval};
use rounds::Rounds;
use workload::Request;

/// What has been completed up to a moment, or between two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub operations: u64,
    pub bytes: u64,
    /// Beyond 2^64 it wraps; differences are right.
    pub latency_sum_ns: u64,
}

impl Tally {
    /// What was done since.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            operations: self.operations.wrapping_sub(earlier.operations),
            bytes: self.bytes.wrapping_sub(earlier.bytes),
            latency_sum_ns: self.latency_sum_ns.wrapping_sub(earlier.latency_sum_ns),
        }
    }
}

/// An operation in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlightOp<Op> {
    pub op: Op,
    /// When the device got it.
    pub handed_ns: Ns,
    /// Where its latency counts from.
    pub start_ns: Ns,
}

impl<Op: Request> InFlightOp<Op> {
    /// Handed over at this moment.
    #[inline]
    pub fn new(op: Op, handed_ns: Ns) -> Self {
        Self { op, handed_ns, start_ns: op.intended_ns().unwrap_or(handed_ns) }
    }
}

/// The recorder of one stream: of a worker, or of one of several streams of a simulated phase.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// As far as it is known; it ends with the last completion.
    record: PhaseRecord,
    /// Sum of the times that operations spent in flight, syncs included: over the duration it is the mean depth.
    in_flight_ns: u128,
    late: Lateness,
    series: IntervalSeries,
    /// Where intervals also go as they end.
    sender: Option<SeriesSender>,
    interval_ns: Ns,
    /// Where the interval that runs began, and what it has.
    interval_start_ns: Ns,
    interval: Histogram,
    interval_bytes: u64,
    /// All of the ended intervals.
    whole: Parts,
    /// The directions that are told apart, if any.
    directions: Vec<(Direction, Parts)>,
    closes_rounds: bool,
    /// So long without operations in flight ends a burst of writes.
    pause_ns: Ns,
    errors: ErrorTable,
    rounds: Rounds,
    /// The last completion, or the end of the last time without operations in flight, or the cut, whichever came last.
    quiet_since_ns: Ns,
    longest_gap_ns: Ns,
    warmup_gap_ns: Ns,
}

/// The length of the cut: the rule's, in whole intervals, so that the histogram and the series cut at the same moment.
fn warmup_cut_ns(warmup: &Warmup, time_limit_ns: Ns, interval_ns: Ns) -> Ns {
    let share = (warmup.share.clamp(0.0, 1.0) * time_limit_ns as f64) as u64;
    let wanted = warmup.min_ns.max(share).min(warmup.max_ns);
    let up = wanted.next_multiple_of(interval_ns);
    if up <= warmup.max_ns { up } else { warmup.max_ns / interval_ns * interval_ns }
}

impl Recorder {
    pub fn new(started_ns: Ns, time_limit_ns: Ns, interval_ns: Ns, warmup: &Warmup) -> Self {
        let interval_ns = interval_ns.max(1);
        let expected = usize::try_from(time_limit_ns / interval_ns).unwrap_or(IntervalSeries::MAX);
        let rule = format!(
            "at least {:.1} s and {:.0} % of the phase's time, at most {:.1} s, in whole intervals",
            warmup.min_ns as f64 / 1e9,
            warmup.share * 100.0,
            warmup.max_ns as f64 / 1e9
        );
        let warmup =
            WarmupCut { rule, cut_ns: warmup_cut_ns(warmup, time_limit_ns, interval_ns), ..WarmupCut::default() };
        Self {
            record: PhaseRecord { started_ns, ended_ns: started_ns, warmup, ..PhaseRecord::default() },
            // Room for a drain of some seconds.
            series: IntervalSeries::with_room(expected.saturating_add(64)),
            interval_ns,
            interval_start_ns: started_ns,
            interval: Histogram::new(),
            whole: Parts::new(),
            closes_rounds: true,
            pause_ns: Ns::MAX,
            rounds: Rounds::new(),
            quiet_since_ns: started_ns,
            ..Self::default()
        }
    }

    /// Of a stream that is run so.
    pub fn of(started_ns: Ns, config: &StreamConfig) -> Self {
        Self {
            directions: config.directions.iter().map(|d| (*d, Parts::new())).collect(),
            closes_rounds: config.closes_rounds,
            pause_ns: config.pause_ns,
            ..Self::new(started_ns, config.time_limit_ns, config.interval_ns, &config.warmup)
        }
    }

    /// Has intervals handed on as they end; before the first operation.
    pub fn with_feed(mut self, sender: Option<SeriesSender>) -> Self {
        self.sender = sender;
        self
    }

    /// It succeeded at `at` with so many bytes.
    #[inline]
    pub fn record_success<Op: Request>(&mut self, flight: &InFlightOp<Op>, at: Ns, bytes: u32) {
        let op = &flight.op;
        let handed = flight.handed_ns;
        let direction = op.direction();
        if direction == Direction::Sync {
            if self.closes_rounds && op.closes_round() {
                self.record_round_end(at, handed);
            } else {
                self.record_sync(at, handed);
            }
            return;
        }
        self.record_transfer(at, flight.start_ns, handed, bytes, op.len());
        if !self.directions.is_empty() {
            self.record_direction(direction, at, flight.start_ns, bytes);
        }
        if direction != Direction::Read {
            self.rounds.wrote(handed, bytes);
        }
    }

    /// Which way it went, where that is told apart.
    #[inline]
    fn record_direction(&mut self, direction: Direction, at: Ns, start: Ns, bytes: u32) {
        let warm = self.in_warmup();
        if let Some((_, parts)) = self.directions.iter_mut().find(|(d, _)| *d == direction) {
            parts.add(u64::from(bytes), warm).record(at.saturating_sub(start));
        }
    }

    /// A sync that closes no round completed: an operation of its own, but no transfer.
    fn record_sync(&mut self, at: Ns, handed: Ns) {
        self.roll(at);
        self.in_flight_ns += u128::from(at.saturating_sub(handed));
        self.note_completion(at);
        self.record_direction(Direction::Sync, at, handed, 0);
    }

    /// Operations are in flight again at `handed`, after a time with none: that time is no stall.
    #[inline]
    pub fn end_idle(&mut self, handed: Ns) {
        if handed.saturating_sub(self.record.ended_ns) >= self.pause_ns {
            self.rounds.pause(self.record.ended_ns);
        }
        self.quiet_since_ns = self.quiet_since_ns.max(handed);
    }

    /// Something completed at `at`.
    #[inline]
    fn note_completion(&mut self, at: Ns) {
        self.longest_gap_ns = self.longest_gap_ns.max(at.saturating_sub(self.quiet_since_ns));
        self.quiet_since_ns = self.quiet_since_ns.max(at);
        self.record.ended_ns = self.record.ended_ns.max(at);
    }

    /// The last completion, or the start.
    pub fn last_ns(&self) -> Ns {
        self.record.ended_ns
    }

    /// When the current interval ends.
    #[inline]
    pub fn interval_end(&self) -> Ns {
        self.interval_start_ns.saturating_add(self.interval_ns)
    }

    #[inline]
    fn cut_at(&self) -> Ns {
        self.record.started_ns + self.record.warmup.cut_ns
    }

    /// Whether the current interval is before the cut.
    #[inline]
    fn in_warmup(&self) -> bool {
        self.interval_start_ns < self.cut_at()
    }

    /// A transfer of `bytes` out of `asked` completed at `at`; `start` is where its latency counts from, `handed` when
    /// the device got it.
    #[inline]
    pub fn record_transfer(&mut self, at: Ns, start: Ns, handed: Ns, bytes: u32, asked: u32) {
        if at >= self.interval_end() {
            self.roll(at);
        }
        self.interval.record(at.saturating_sub(start));
        self.in_flight_ns += u128::from(at.saturating_sub(handed));
        self.interval_bytes += u64::from(bytes);
        if handed > start {
            self.late.add(handed - start);
        }
        self.record.short_operations += u64::from(bytes < asked);
        self.note_completion(at);
    }

    /// A sync completed that closes the round.
    fn record_round_end(&mut self, at: Ns, handed: Ns) {
        self.roll(at);
        self.in_flight_ns += u128::from(at.saturating_sub(handed));
        self.rounds.close(handed, at);
        self.end_idle(at);
        self.record.ended_ns = self.record.ended_ns.max(at);
    }

    /// An operation failed.
    #[cold]
    pub fn record_failure(&mut self, at: Ns, handed: Ns, errno: i32) {
        self.in_flight_ns += u128::from(at.saturating_sub(handed));
        self.errors.count(errno);
        self.roll(at);
        self.note_completion(at);
    }

    /// Ends the intervals that are over at `now`: of a stall there are several, all but the first without completions.
    #[inline]
    pub fn roll(&mut self, now: Ns) {
        if now < self.interval_end() {
            return;
        }
        while now >= self.interval_end() {
            self.end_interval(self.interval_ns);
        }
        // Of a gap across the cut only the part behind it counts.
        if !self.in_warmup() {
            self.end_idle(self.cut_at());
        }
    }

    #[cold]
    fn end_interval(&mut self, length_ns: Ns) {
        let interval = interval(self.interval_start_ns, length_ns, &self.interval, self.interval_bytes);
        if let Some(sender) = &self.sender {
            sender.put(&interval);
        }
        self.series.push(interval);
        let warm = self.in_warmup();
        self.interval_start_ns = self.interval_start_ns.saturating_add(length_ns);
        if interval.operations > 0 {
            self.whole.add(self.interval_bytes, warm).merge(&self.interval);
            self.interval.clear();
            self.interval_bytes = 0;
        }
        if warm {
            self.warmup_gap_ns = self.warmup_gap_ns.max(std::mem::take(&mut self.longest_gap_ns));
        }
    }

    /// What counts begins when the current interval ends: a longer cut.
    pub fn restart(&mut self) {
        self.record.warmup.cut_ns = self.interval_end().saturating_sub(self.record.started_ns);
        self.directions.iter_mut().map(|(_, parts)| parts).chain([&mut self.whole]).for_each(Parts::restart);
    }

    /// What completed so far.
    pub fn tally(&self) -> Tally {
        Tally {
            operations: self.whole.operations() + self.interval.count(),
            bytes: self.whole.bytes() + self.interval_bytes,
            latency_sum_ns: (self.whole.latency_sum_ns() + self.interval.sum_ns()) as u64,
        }
    }

    /// Completed operations after the cut, in intervals that have ended.
    pub fn counted_operations(&self) -> u64 {
        self.whole.counted_operations()
    }

    /// The ended intervals after the cut.
    pub fn counted_intervals(&self) -> &[Interval] {
        let from = self.cut_at();
        let intervals = self.series.items();
        &intervals[intervals.partition_point(|i| i.start_ns < from)..]
    }

    /// Most intervals that are ever kept.
    pub fn interval_capacity(&self) -> usize {
        self.series.most()
    }

    /// Ends the phase at `now`: a record of this stream alone, its directions in `streams`, empty where it is all one.
    pub fn finish(mut self, now: Ns, stop: StopCause) -> PhaseRecord {
        let ended_ns = now.max(self.record.ended_ns);
        self.roll(ended_ns);
        let rest_ns = ended_ns.saturating_sub(self.interval_start_ns);
        if rest_ns > 0 || self.interval.count() > 0 {
            self.end_interval(rest_ns);
        }
        let uncut = ended_ns <= self.cut_at();
        let whole = self.whole.finish(Direction::Read, uncut);
        let mut record = self.record;
        record.warmup.operations = whole.operations - whole.counted_operations;
        record.warmup.bytes = whole.bytes - whole.counted_bytes;
        if self.pause_ns < Ns::MAX {
            self.rounds.pause(record.ended_ns);
        }
        let mut gap_ns = self.longest_gap_ns;
        if uncut {
            // All of it would be cut: a short phase is worth more than none, and the rule says what was done.
            record.warmup.rule.push_str("; the phase ended before the cut, so nothing was cut");
            record.warmup.cut_ns = 0;
            gap_ns = gap_ns.max(self.warmup_gap_ns);
        }
        let duration_ns = ended_ns.saturating_sub(record.started_ns);
        let directions = self.directions.into_iter().map(|(direction, d)| d.finish(direction, uncut)).collect();
        PhaseRecord {
            ended_ns,
            operations: whole.operations,
            bytes: whole.bytes,
            errors: self.errors.by_name(),
            stop,
            longest_gap_ns: (whole.counted_operations > 0 || gap_ns > 0).then_some(gap_ns),
            latency: whole.latency,
            intervals: self.series.into_items(),
            rounds: self.rounds.into_rounds(),
            late: Some(self.late),
            mean_depth: (duration_ns > 0).then(|| self.in_flight_ns as f64 / duration_ns as f64),
            streams: vec![StreamSummary { directions, ..StreamSummary::default() }],
            ..record
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const MS: u64 = 1_000_000;
    const NO_WARMUP: Warmup = Warmup { min_ns: 0, share: 0.0, max_ns: 0 };

    fn recorder(warmup: &Warmup) -> Recorder {
        Recorder::new(1_000 * MS, 10_000 * MS, 100 * MS, warmup)
    }

    #[test]
    fn a_stall_of_three_seconds_is_thirty_zeros() {
        let mut r = recorder(&NO_WARMUP);
        r.record_transfer(1_050 * MS, 1_049 * MS, 1_049 * MS, 512, 512);
        r.record_transfer(4_150 * MS, 1_051 * MS, 1_051 * MS, 512, 512);
        let record = r.finish(4_160 * MS, StopCause::TimeUsed);
        let zeros = record.intervals.iter().filter(|i| i.operations == 0).count();
        assert_eq!(zeros, 30);
        assert_eq!(record.intervals.len(), 32);
        assert!(record.intervals[1..31].iter().all(|i| i.latency_ns_p50.is_none() && i.length_ns == 100 * MS));
        assert_eq!(record.intervals[31].latency_ns_max, Some(3_099 * MS));
        assert_eq!(record.intervals[31].length_ns, 60 * MS);
        assert_eq!((record.operations, record.bytes), (2, 1024));
        // Each interval begins where the one before ended.
        assert!(record.intervals.windows(2).all(|w| w[0].start_ns + w[0].length_ns == w[1].start_ns));
    }

    #[test]
    fn the_longest_gap_is_a_stall_and_not_a_queue() {
        // Depth 32, one completion a millisecond: latencies of 32 ms, but nothing ever stood still for more than 1 ms.
        let mut r = recorder(&NO_WARMUP);
        r.end_idle(1_000 * MS);
        for i in 1..=500u64 {
            let at = 1_000 * MS + i * MS;
            r.record_transfer(at, at - i.min(32) * MS, at - i.min(32) * MS, 512, 512);
        }
        // A time without operations in flight, as between the arrivals of a paced source, is none.
        r.end_idle(1_700 * MS);
        r.record_transfer(1_704 * MS, 1_700 * MS, 1_700 * MS, 512, 512);
        // Nor is the sync of a round.
        r.record_round_end(1_804 * MS, 1_704 * MS);
        r.record_transfer(1_807 * MS, 1_804 * MS, 1_804 * MS, 512, 512);
        let record = r.finish(1_900 * MS, StopCause::TimeUsed);
        assert_eq!((record.longest_gap_ns, record.latency.max()), (Some(4 * MS), Some(32 * MS)));
    }

    #[test]
    fn a_gap_counts_from_the_cut_on() {
        let warmup = Warmup { min_ns: 300 * MS, share: 0.0, max_ns: 1_000 * MS };
        let gap = |completions: &[u64], end: u64| {
            let mut r = recorder(&warmup);
            for at in completions {
                r.record_transfer(at * MS, 1_000 * MS, 1_000 * MS, 512, 512);
            }
            r.finish(end * MS, StopCause::TimeUsed).longest_gap_ns
        };
        assert_eq!(gap(&[1_250, 1_290, 1_310, 1_330, 1_340], 1_400), Some(20 * MS));
        // The first completion after the cut ends a gap that began before: 60 ms of it lie behind the cut.
        assert_eq!(gap(&[1_010, 1_360, 1_370], 1_400), Some(60 * MS));
        assert_eq!(gap(&[1_010, 1_020], 1_400), None);
        // Nothing was cut: the gaps of the warm-up are all there are.
        assert_eq!(gap(&[1_010, 1_050], 1_100), Some(40 * MS));
        // What never came back stood still until it was given up.
        let mut r = recorder(&warmup);
        r.record_transfer(1_400 * MS, 1_000 * MS, 1_000 * MS, 512, 512);
        r.record_failure(61_400 * MS, 61_400 * MS, 110);
        assert_eq!(r.finish(61_400 * MS, StopCause::Failed).longest_gap_ns, Some(60_000 * MS));
    }

    #[test]
    fn the_warm_up_is_cut_in_whole_intervals() {
        let warmup = Warmup { min_ns: 250 * MS, share: 0.01, max_ns: 1_000 * MS };
        let mut r = recorder(&warmup);
        for i in 0..100u64 {
            let at = 1_000 * MS + i * 10 * MS;
            r.record_transfer(at, at - 1_000, at - 1_000, 4096, 4096);
        }
        let record = r.finish(2_000 * MS, StopCause::TimeUsed);
        assert_eq!(record.warmup.cut_ns, 300 * MS);
        assert_eq!((record.warmup.operations, record.warmup.bytes), (30, 30 * 4096));
        assert_eq!(record.latency.count(), 70);
        assert_eq!(record.operations, 100);
        assert_eq!(warmup_cut_ns(&Warmup { min_ns: 0, share: 0.5, max_ns: 250 * MS }, 10_000 * MS, 100 * MS), 200 * MS);
    }

    #[test]
    fn a_phase_shorter_than_its_cut_is_kept() {
        let mut r = recorder(&Warmup { min_ns: 500 * MS, share: 0.0, max_ns: 500 * MS });
        r.record_transfer(1_010 * MS, 1_000 * MS, 1_000 * MS, 1, 1);
        let record = r.finish(1_020 * MS, StopCause::RegionDone);
        assert_eq!((record.latency.count(), record.warmup.cut_ns), (1, 0));
        assert!(record.warmup.rule.contains("nothing was cut"));
    }

    #[test]
    fn failures_and_short_transfers_are_counted() {
        let mut r = recorder(&NO_WARMUP);
        r.record_transfer(1_001 * MS, 1_000 * MS, 1_000 * MS, 100, 512);
        r.record_failure(1_002 * MS, 1_000 * MS, 5);
        r.record_failure(1_003 * MS, 1_000 * MS, 5);
        r.record_failure(1_003 * MS, 1_000 * MS, 28);
        let record = r.finish(1_004 * MS, StopCause::Failed);
        assert_eq!(record.short_operations, 1);
        assert_eq!(record.errors, BTreeMap::from([("EIO".to_owned(), 2), ("ENOSPC".to_owned(), 1)]));
        assert_eq!((record.operations, record.latency.count()), (1, 1));
        // In flight for 1, 2, 3 and 3 ms, of 4.
        assert_eq!(record.mean_depth, Some(9.0 / 4.0));
    }

    #[test]
    fn no_percentile_is_made_of_percentiles() {
        let seen = |latencies: &[Ns]| {
            let mut histogram = Histogram::new();
            latencies.iter().for_each(|l| histogram.record(*l));
            interval(0, 100, &histogram, 1)
        };
        let (one, none) = (seen(&[10, 20, 30]), seen(&[]));
        let mut alone = none;
        alone.combine(&one);
        alone.combine(&none);
        assert_eq!(alone.latency_ns_p50, one.latency_ns_p50, "of one stream, it is known");
        let mut three = one;
        three.combine(&seen(&[1000]));
        three.combine(&one);
        assert_eq!((three.latency_ns_p50, three.latency_ns_p99, three.latency_ns_max), (None, None, Some(1000)));
        assert_eq!((three.operations, three.bytes), (7, 3));
    }
}
