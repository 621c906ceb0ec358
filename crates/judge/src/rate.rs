//! The rate of a phase after the warm-up cut, how well it is known, and whether it was steady.

use crate::drain::{UNKNOWN_SHARE, drain, share_before};
use crate::validity::slices::Undisturbed;
use model::{Interval, Ns, PhasePlan, PhaseRecord, Reason, Round, SteadyRound, Sync};
use stats::{Steadiness, autocorrelated_interval, mean_interval, series_steadiness};

/// Fewest intervals or rounds from which an interval is given.
const MIN_VALUES: usize = 5;
/// Fewest rounds: with two, Student's factor is 12.7.
const MIN_ROUNDS: usize = 3;
/// Fewest intervals and operations from which steadiness is told: below, the grain of single operations shows.
const MIN_STEADY_INTERVALS: usize = 10;
const MIN_STEADY_OPERATIONS: u64 = 100;
/// Share of a phase that must be left after the warm-up cut; a region that is covered, or a memory copy that ends, just
/// after the cut would otherwise be judged by a handful of operations.
const MIN_COUNTED_SHARE: f64 = 0.25;

/// What counts of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CountedRate {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Operations per second.
    pub operations_per_s: f64,
    /// The rate that was looked at over time: in bytes, or in operations where the phase moves no data.
    pub main_rate: f64,
    /// 95 % interval within the run, of that rate.
    pub interval: Option<(f64, f64)>,
    /// Operations, or rounds where the phase has them.
    pub n: u64,
    /// Operations after the cut, with one that counts in part.
    pub operations: u64,
    /// Time after the cut, seconds.
    pub seconds: f64,
    /// Whether the warm-up counts as well, since too little would have been left without it.
    pub uncut: bool,
    /// Whether more than the warm-up is left out: what was in flight at the end, rounds before steady state.
    pub partly: bool,
    /// What is left out where others used the device in between.
    pub sliced: Option<Reason>,
    /// Where the part that counts ends, since the run's start.
    pub ended_ns: Ns,
    /// Steadiness where it can be told.
    pub steadiness: Option<Steadiness>,
    /// What has to be said with it.
    pub remark: Option<Reason>,
}

/// The counted rate; `None` where nothing is left after the cut.
pub(crate) fn counted_rate(plan: &PhasePlan, record: &PhaseRecord) -> Option<CountedRate> {
    if plan.measures_target() && plan.streams.iter().any(|s| s.durability.sync == Sync::FsyncPerRound) {
        return rate_of_rounds(record);
    }
    if let Some(rate) = rate_of_steady_window(plan, record) {
        return Some(rate);
    }
    let mut operations = record.operations.saturating_sub(record.warmup.operations);
    let mut bytes = record.bytes.saturating_sub(record.warmup.bytes);
    let mut time_ns = record.duration_ns().saturating_sub(record.warmup.cut_ns);
    let mut intervals = record.counted_intervals();
    let mut remark = None;
    let mut ended_ns = record.ended_ns;
    let (mut uncut, mut partly) = (false, false);
    if (time_ns as f64) < MIN_COUNTED_SHARE * record.duration_ns() as f64 {
        (operations, bytes, time_ns) = (record.operations, record.bytes, record.duration_ns());
        intervals = &record.intervals;
        uncut = true;
        remark = Some(Reason::of("warm-up-counted", "the warm-up cut would have left too little, so all of it counts"));
    }
    // Operations of which a part lies within what counts.
    let mut in_part = 0.0;
    let cut = !uncut && record.warmup.cut_ns > 0;
    if let Some(first) = drain(plan, record, intervals, cut).filter(|first| *first >= MIN_VALUES) {
        let (counted, drained) = intervals.split_at(first);
        let after_ns: Ns = drained.iter().map(|i| i.length_ns).sum();
        operations = drained.iter().fold(operations, |sum, i| sum.saturating_sub(i.operations));
        bytes = drained.iter().fold(bytes, |sum, i| sum.saturating_sub(i.bytes));
        time_ns = time_ns.saturating_sub(after_ns);
        ended_ns = drained.first().map_or(ended_ns, |i| i.start_ns);
        partly = true;
        intervals = counted;
        if plan.queue_depth() == 1 {
            in_part = share_before(drained, after_ns) - UNKNOWN_SHARE;
        }
    }
    let seconds = time_ns as f64 / 1e9;
    if operations == 0 || seconds <= 0.0 {
        return None;
    }
    let whole = operations as f64;
    let operations_per_s = (whole + in_part).max(0.0) / seconds;
    // The operations of a phase are equally long, or a constant mix.
    let bytes_per_s = operations_per_s * (bytes as f64 / whole);
    operations += u64::from(in_part > 0.0);
    let amount = amount_of(plan);
    let main_rate = if plan.moves_data() { bytes_per_s } else { operations_per_s };
    let (rates, interval, no_interval) = interval_around(main_rate, intervals, amount);
    if plan.measures_target() {
        remark = remark.or(no_interval);
    }
    let steadiness = (rates.len() >= MIN_STEADY_INTERVALS && operations >= MIN_STEADY_OPERATIONS)
        .then(|| series_steadiness(&rates))
        .flatten();
    Some(CountedRate {
        bytes_per_s,
        operations_per_s,
        main_rate,
        interval,
        n: operations,
        operations,
        seconds,
        uncut,
        partly,
        ended_ns,
        steadiness,
        remark,
        ..CountedRate::default()
    })
}

/// What an interval of a phase had, in the unit of its rate.
type Amount = fn(&Interval) -> u64;

fn amount_of(plan: &PhasePlan) -> Amount {
    if plan.moves_data() { |i| i.bytes } else { |i| i.operations }
}

/// Rates of the intervals, a 95 % interval around the rate, and why there is none.
fn interval_around(
    main_rate: f64,
    intervals: &[Interval],
    amount: Amount,
) -> (Vec<f64>, Option<(f64, f64)>, Option<Reason>) {
    let rates = full_interval_rates(intervals, amount);
    // The interval is one for the mean of the series; it is laid around the exact rate, which also holds the last,
    // shorter interval and a closing sync.
    let known = (rates.len() >= MIN_VALUES).then(|| autocorrelated_interval(&rates, 0.95)).flatten();
    // One that reaches down to nothing says nothing of a rate that is not nothing.
    let half = known.filter(|i| i.low > 0.0).map(|i| (i.high - i.low) / 2.0);
    let interval = half.filter(|half| *half < main_rate).map(|half| (main_rate - half, main_rate + half));
    let none = interval.is_none().then(|| match known {
        Some(_) => Reason::of("no-interval", "too uneven for one, it would reach down to zero"),
        None => Reason::of("no-interval", format!("{} of whole length, fewer than {MIN_VALUES}", rates.len())),
    });
    (rates, interval, none)
}

/// Where steady state was reached, the rounds of the last window are what counts (SNIA PTS: the measurement window).
fn rate_of_steady_window(plan: &PhasePlan, record: &PhaseRecord) -> Option<CountedRate> {
    let steady = record.steady.as_ref().filter(|s| s.reached)?;
    let first = steady.rounds.len().checked_sub(steady.window_rounds as usize)?;
    let window = &steady.rounds[first..];
    let (start, last) = (window.first()?, window.last()?);
    let ended_ns = last.start_ns.saturating_add(last.length_ns);
    let sum = |of: fn(&SteadyRound) -> u64| window.iter().fold(0u64, |sum, r| sum.saturating_add(of(r)));
    let (operations, bytes) = (sum(|r| r.operations), sum(|r| r.bytes));
    let from = record.intervals.partition_point(|i| i.start_ns < start.start_ns);
    let to = record.intervals.partition_point(|i| i.start_ns.saturating_add(i.length_ns) <= ended_ns);
    let intervals = record.intervals.get(from..to).unwrap_or_default();
    let (rate, remark) = rate_of_sums(plan, (operations, bytes, sum(|r| r.length_ns)), intervals)?;
    Some(CountedRate { ended_ns, remark, ..rate })
}

/// A rate of so many operations, bytes and nanoseconds, with what its intervals say of how well it is known, or why they do not.
fn rate_of_sums(
    plan: &PhasePlan,
    (operations, bytes, ns): (u64, u64, Ns),
    intervals: &[Interval],
) -> Option<(CountedRate, Option<Reason>)> {
    let seconds = ns as f64 / 1e9;
    if operations == 0 || seconds <= 0.0 {
        return None;
    }
    let (bytes_per_s, operations_per_s) = (bytes as f64 / seconds, operations as f64 / seconds);
    let main_rate = if plan.moves_data() { bytes_per_s } else { operations_per_s };
    let (_, interval, no_interval) = interval_around(main_rate, intervals, amount_of(plan));
    let rate = CountedRate {
        bytes_per_s,
        operations_per_s,
        main_rate,
        interval,
        n: operations,
        operations,
        seconds,
        partly: true,
        ..CountedRate::default()
    };
    Some((rate, no_interval))
}

/// The rate of what others left undisturbed of a phase.
pub(crate) fn rate_of_slices(plan: &PhasePlan, record: &PhaseRecord, left: &Undisturbed) -> Option<CountedRate> {
    let sum = |of: fn(&Interval) -> u64| left.intervals.iter().map(of).fold(0, u64::saturating_add);
    let sums = (sum(|i| i.operations), sum(|i| i.bytes), sum(|i| i.length_ns));
    let (rate, _) = rate_of_sums(plan, sums, &left.intervals)?;
    let sliced = Reason::SlicesLeftOut { out_ns: left.out_ns, all_ns: left.all_ns, others_bytes: left.others_bytes };
    Some(CountedRate { sliced: Some(sliced), ended_ns: record.ended_ns, ..rate })
}

/// Rates of the intervals of full length; stalls are zeros among them.
fn full_interval_rates(intervals: &[Interval], amount: Amount) -> Vec<f64> {
    let full = intervals.iter().map(|i| i.length_ns).max().unwrap_or(0);
    intervals
        .iter()
        .filter(|i| i.length_ns > 0 && i.length_ns >= full - full / 100)
        .map(|i| amount(i) as f64 * 1e9 / i.length_ns as f64)
        .collect()
}

/// Whole rounds of writes and their sync: what an application waits for. A round that began inside the warm-up cut does
/// not count, unless all did: one round of a slow card outlasts any cut.
fn rate_of_rounds(record: &PhaseRecord) -> Option<CountedRate> {
    let from = record.started_ns + record.warmup.cut_ns;
    let time = |r: &Round| (r.write_ns + r.sync_ns) as f64 / 1e9;
    let whole: Vec<&Round> = record.rounds.iter().filter(|r| r.bytes > 0 && time(r) > 0.0).collect();
    let mut counted: Vec<&Round> = whole.iter().copied().filter(|r| r.start_ns >= from).collect();
    let mut operations = record.operations.saturating_sub(record.warmup.operations);
    let mut remark = None;
    if counted.is_empty() {
        counted = whole;
        operations = record.operations;
        remark = Some(Reason::of("warm-up-counted", "every round began within the warm-up cut, so all of them count"));
    }
    let bytes: u64 = counted.iter().map(|r| r.bytes).sum();
    let seconds: f64 = counted.iter().map(|r| time(r)).sum();
    if bytes == 0 {
        return None;
    }
    // Rounds are equal in bytes, so that the mean time of a byte is the mean over rounds; its interval is turned round.
    let costs: Vec<f64> = counted.iter().map(|r| time(r) / r.bytes as f64).collect();
    let interval = if costs.len() >= 2 * MIN_VALUES {
        autocorrelated_interval(&costs, 0.95)
    } else if costs.len() >= MIN_ROUNDS {
        mean_interval(&costs, 0.95)
    } else {
        None
    };
    let bytes_per_s = bytes as f64 / seconds;
    let interval = interval.filter(|i| i.low > 0.0).map(|i| (1.0 / i.high, 1.0 / i.low));
    // Wider than the rate itself to each side, it says nothing.
    let interval = interval.filter(|(low, high)| (high - low) / 2.0 < bytes_per_s);
    if interval.is_none() && remark.is_none() {
        remark = Some(match costs.len() {
            1 => Reason::of("no-interval", "there was one round"),
            n => Reason::of("no-interval", format!("{n} rounds are too few or too different for an interval")),
        });
    }
    let rates: Vec<f64> = costs.iter().map(|c| 1.0 / c).collect();
    let n = counted.len() as u64;
    Some(CountedRate {
        bytes_per_s,
        operations_per_s: operations as f64 / seconds,
        main_rate: bytes_per_s,
        interval,
        n,
        operations,
        seconds,
        ended_ns: record.ended_ns,
        steadiness: series_steadiness(&rates),
        remark,
        ..CountedRate::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use model::WarmupCut;

    #[test]
    fn the_cut_counts_neither_in_bytes_nor_in_time() {
        let mut f = Fixture::random_read();
        // The first second ran from a cache, ten times as fast.
        f.record.intervals[..10].iter_mut().for_each(|i| (i.operations, i.bytes) = (1_000, 4_096_000));
        f.record.operations += 9_000;
        f.record.bytes += 9_000 * 4096;
        f.record.warmup =
            WarmupCut { rule: "1 s".into(), cut_ns: 1_000_000_000, operations: 10_000, bytes: 40_960_000 };
        let rate = counted_rate(&f.plan, &f.record).unwrap();
        assert_eq!((rate.bytes_per_s, rate.operations, rate.seconds), (4_096_000.0, 3_000, 3.0));
        let (low, high) = rate.interval.unwrap();
        assert!(low <= 4_096_000.0 && high >= 4_096_000.0 && high - low < 1.0);
    }

    #[test]
    fn a_phase_that_ends_just_after_the_cut_counts_as_a_whole() {
        let mut f = Fixture::random_read();
        f.record.warmup =
            WarmupCut { cut_ns: 3_900_000_000, operations: 3_999, bytes: 3_999 * 4096, ..Default::default() };
        let rate = counted_rate(&f.plan, &f.record).unwrap();
        assert_eq!((rate.bytes_per_s, rate.operations), (4_096_000.0, 4_000));
        assert!(rate.remark.unwrap().to_string().starts_with("warm-up-counted: "));
    }

    #[test]
    fn stalls_count_as_zeros_and_widen_the_interval() {
        let steady = counted_rate(&Fixture::random_read().plan, &Fixture::random_read().record).unwrap();
        let mut f = Fixture::random_read();
        for at in [5, 11, 14, 15, 20, 23, 28, 29, 33, 38] {
            (f.record.intervals[at].operations, f.record.intervals[at].bytes) = (0, 0);
        }
        f.record.operations -= 1_000;
        f.record.bytes -= 4_096_000;
        let stalled = counted_rate(&f.plan, &f.record).unwrap();
        assert!((stalled.bytes_per_s / steady.bytes_per_s - 0.75).abs() < 1e-9);
        let width = |r: &CountedRate| r.interval.map(|(l, h)| h - l).unwrap();
        assert!(width(&stalled) > 0.2 * steady.bytes_per_s);
        assert!(!stalled.steadiness.unwrap().is_steady());
        assert!(steady.steadiness.unwrap().is_steady());
    }

    #[test]
    fn an_interval_wider_than_its_value_is_not_shown() {
        // One level, then another: forty intervals that know little more than two values would (17.9 MB/s, 95 % within 0
        // to 41).
        let mut f = Fixture::random_read();
        f.record.intervals[..20].iter_mut().for_each(|i| (i.operations, i.bytes) = (10, 40_960));
        f.record.operations -= 20 * 90;
        f.record.bytes -= 20 * 90 * 4096;
        let rate = counted_rate(&f.plan, &f.record).unwrap();
        assert_eq!(rate.interval, None);
        assert!(rate.remark.unwrap().to_string().starts_with("no-interval: too uneven"));
        let judged = f.judge();
        assert_eq!((judged.metrics[0].low, judged.metrics[0].high), (None, None));
        assert!(judged.metrics[0].value.is_some() && judged.metrics[0].reasons.iter().any(|r| r.is("no-interval")));
        // Few intervals are said to be few.
        let few = Fixture::random_read().at_rate(1_000, 0.4);
        let rate = counted_rate(&few.plan, &few.record).unwrap();
        assert_eq!(
            (rate.interval, rate.remark.map(|r| r.to_string()).as_deref()),
            (None, Some("no-interval: 4 of whole length, fewer than 5"))
        );
    }

    #[test]
    fn rounds_are_bytes_over_write_and_sync() {
        let f = Fixture::buffered_write(&[1.0, 1.0, 2.0]);
        let rate = counted_rate(&f.plan, &f.record).unwrap();
        // 48 MiB in 4 s, not the mean of three rates.
        assert!((rate.bytes_per_s - 48.0 * 1_048_576.0 / 4.0).abs() < 1.0);
        assert_eq!(rate.n, 3);
        let f = Fixture::buffered_write(&[1.0, 1.1, 0.9, 1.0, 1.05]);
        let (low, high) = counted_rate(&f.plan, &f.record).unwrap().interval.unwrap();
        let mean = 5.0 * 16.0 * 1_048_576.0 / 5.05;
        assert!(low < mean && mean < high && high / low < 1.3);
    }

    #[test]
    fn one_long_round_of_a_slow_card_counts_without_an_interval() {
        let mut f = Fixture::buffered_write(&[13.0]);
        // All but one of its writes went into the page cache before the cut; the rest of the time is the sync.
        let operations = f.record.operations;
        f.record.warmup =
            WarmupCut { cut_ns: 500_000_000, operations: operations - 1, bytes: 15 << 20, ..Default::default() };
        let rate = counted_rate(&f.plan, &f.record).unwrap();
        assert_eq!((rate.n, rate.interval), (1, None));
        assert!(rate.remark.unwrap().to_string().starts_with("warm-up-counted: "));
        let judged = f.judge();
        assert_eq!(judged.refusals, []);
        assert!(judged.metrics[0].value.is_some());
    }

    #[test]
    fn the_interval_of_a_wandering_rate_covers_the_truth() {
        // AR(1), phi .7 between intervals of 100 ms, 60 intervals; the true mean is 1,000 operations a second.
        let mut state = 77u64;
        let mut normal = || {
            // Sum of twelve uniform numbers: normal enough for a coverage within a percent.
            (0..12)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 11) as f64 / (1u64 << 53) as f64
                })
                .sum::<f64>()
                - 6.0
        };
        let (mut held, mut given, rounds) = (0, 0, 500);
        for _ in 0..rounds {
            let mut f = Fixture::random_read().at_rate(1_000, 6.0);
            let mut level = normal();
            f.record.operations = 0;
            for interval in &mut f.record.intervals {
                interval.operations = (100.0 + 10.0 * level).round() as u64;
                interval.bytes = interval.operations * 4096;
                f.record.operations += interval.operations;
                level = 0.7 * level + (1.0f64 - 0.49).sqrt() * normal();
            }
            f.record.bytes = f.record.operations * 4096;
            // None where the series happens to look like a drift: nothing is claimed then.
            let Some((low, high)) = counted_rate(&f.plan, &f.record).unwrap().interval else { continue };
            given += 1;
            held += u32::from(low <= 4_096_000.0 && 4_096_000.0 <= high);
        }
        let coverage = f64::from(held) / f64::from(given);
        assert!(given > rounds * 9 / 10, "{given} of {rounds}");
        println!("coverage of the 95 % interval of a phase, AR(1) phi .7, 60 intervals: {coverage:.3}");
        assert!((0.92..=0.98).contains(&coverage), "{coverage}");
    }
}
