//! The end of a phase: what was still in flight when its time was over, and how much of it counts.

use model::{Interval, Ns, PhasePlan, PhaseRecord, StopCause};

/// Where the drain begins: the intervals that hold only what was still in flight when the phase's time was over. They begin
/// where the time was up and end when the device pleases, so they do not count: a limiter that releases operations in
/// bursts would put a whole queue's worth there in no time (measured: 412 IOPS at a cap of 400), or at depth 1 a whole pause
/// with a single operation at its end (396 at the same cap). But where a phase at depth 1 counts from its first operation on
/// (not `cut`), it begins where an operation does and ends where one does, and a burst that counts has its pause.
pub(crate) fn drain(plan: &PhasePlan, record: &PhaseRecord, intervals: &[Interval], cut: bool) -> Option<usize> {
    let timed = matches!(record.stop, StopCause::TimeUsed | StopCause::Steady | StopCause::DepthFound);
    let (last, before) = intervals.split_last()?;
    let full = before.first()?.length_ns;
    let alone = plan.queue_depth() == 1;
    if !plan.measures_target() || !timed || last.length_ns >= full || last.operations <= u64::from(!alone) {
        return None;
    }
    if !alone {
        return Some(before.len());
    }
    if !cut {
        return None;
    }
    let mut first = before.len();
    if last.operations == 1 {
        // It may have been under way for long. The time was up no later than where it is the only one.
        let planned = record.started_ns.saturating_add(plan.usual_time_ns());
        while first > 0 && before[first - 1].operations == 0 && before[first - 1].start_ns >= planned {
            first -= 1;
        }
    }
    Some(first)
}

/// Share of an operation at depth 1 that lies on one side of a moment within it, where only that much is known.
pub(crate) const UNKNOWN_SHARE: f64 = 0.5;

/// How much of the operation that was under way when the drain began lies before it. So slow operations count to the
/// exact end, and not by the grain of whole ones.
pub(crate) fn share_before(drained: &[Interval], after_ns: Ns) -> f64 {
    let latency_ns = drained.last().and_then(|i| i.latency_ns_max).unwrap_or(0);
    let one = drained.iter().map(|i| i.operations).sum::<u64>() == 1;
    if !one || latency_ns < after_ns || latency_ns == 0 {
        return UNKNOWN_SHARE;
    }
    (latency_ns - after_ns) as f64 / latency_ns as f64
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;
    use crate::rate::counted_rate;
    use model::{Interval, StopCause, WarmupCut};

    #[test]
    fn what_a_limiter_releases_after_the_end_is_no_speed() {
        // 400 a second in bursts of 40 at the end of each 100 ms; the phase ends 4 ms after a burst boundary.
        let burst = |f: &mut Fixture| {
            let end = f.record.ended_ns;
            let last = Interval {
                start_ns: end,
                length_ns: 4_000_000,
                operations: 32,
                bytes: 32 * 4096,
                ..Default::default()
            };
            f.record.intervals.push(last);
            f.record.ended_ns += 4_000_000;
            f.record.operations += 32;
            f.record.bytes += 32 * 4096;
        };
        let mut f = Fixture::random_read().at_rate(400, 2.5);
        f.record.stop = StopCause::Steady;
        burst(&mut f);
        let rate = counted_rate(&f.plan, &f.record).unwrap();
        assert_eq!((rate.bytes_per_s, rate.operations), (400.0 * 4096.0, 1_000));
        // A region that is covered ends with its last operation.
        f.record.stop = StopCause::RegionDone;
        assert_eq!(counted_rate(&f.plan, &f.record).unwrap().operations, 1_032);
    }

    /// A phase at depth 1 whose last operation ends `after_ns` behind its time and took `latency_ns`.
    fn with_last_operation(mut f: Fixture, after_ns: u64, latency_ns: u64) -> Fixture {
        let length_ns = f.record.intervals[0].length_ns;
        let bytes = f.record.bytes / f.record.operations;
        f.plan.streams[0].path.queue_depth = 1;
        f.plan.time_limit_ns = f.record.ended_ns - f.record.started_ns;
        let mut left_ns = after_ns;
        while left_ns > 0 {
            let start_ns = f.record.ended_ns;
            let mut interval = Interval { start_ns, length_ns: left_ns.min(length_ns), ..Default::default() };
            left_ns -= interval.length_ns;
            if left_ns == 0 {
                (interval.operations, interval.bytes, interval.latency_ns_max) = (1, bytes, Some(latency_ns));
            }
            f.record.ended_ns += interval.length_ns;
            f.record.intervals.push(interval);
        }
        f.record.operations += 1;
        f.record.bytes += bytes;
        f
    }

    #[test]
    fn a_pause_at_the_end_of_depth_one_is_no_slowness() {
        // 400 a second in bursts of 40; the next burst begins 95 ms after the end.
        let mut f = with_last_operation(Fixture::random_read().at_rate(400, 2.5), 95_000_000, 97_000_000);
        f.record.warmup = WarmupCut { cut_ns: 500_000_000, operations: 200, bytes: 200 * 4096, ..Default::default() };
        let rate = counted_rate(&f.plan, &f.record).unwrap();
        assert!((rate.operations_per_s / 400.0 - 1.0).abs() < 1e-3, "{rate:?}");
        assert_eq!((rate.operations, rate.seconds), (800, 2.0));
    }

    #[test]
    fn slow_operations_count_to_the_exact_end() {
        // One takes 0.35 s: seven are over after 2.45 s, the eighth is under way at the end of the interval at 2.5 s.
        let mut f = Fixture::random_read().at_rate(400, 2.5);
        for (i, interval) in f.record.intervals.iter_mut().enumerate() {
            let ends = |ms: u64| u64::from(ms.is_multiple_of(350) && ms > 0);
            let at = i as u64 * 100;
            (interval.operations, interval.bytes) = ((at..at + 100).map(ends).sum(), 0);
            interval.bytes = interval.operations * 4096;
        }
        f.record.operations = 7;
        f.record.bytes = 7 * 4096;
        let f = with_last_operation(f, 300_000_000, 350_000_000);
        let rate = counted_rate(&f.plan, &f.record).unwrap();
        assert!((rate.operations_per_s * 0.35 - 1.0).abs() < 1e-9, "{rate:?}");
        assert!((rate.bytes_per_s * 0.35 / 4096.0 - 1.0).abs() < 1e-9, "{rate:?}");
    }

    /// The mean over phases that are cut and end anywhere within bursts, pauses and operations, or begin with the first
    /// burst and end anywhere, is the truth; within 2 % where the phase holds as few as three pauses.
    #[test]
    fn rates_at_depth_one_are_right_on_average() {
        // Operations of one period in ms: a burst of short ones and a pause, and long ones one by one.
        for period in [vec![2, 2, 6, 90], vec![130], vec![10, 10, 20, 350]] {
            for cut_ns in [0, 1_000_000_000] {
                let mean = mean_of_rates(&period, cut_ns);
                assert!((mean - 1.0).abs() < 0.02, "{period:?}, cut at {cut_ns}: {mean} of the truth");
            }
        }
    }

    /// Mean of rate / truth over phases of 2 s whose periods are up to twice as long.
    fn mean_of_rates(period: &[u64], cut_ns: u64) -> f64 {
        let rounds = 977;
        let ratios = (0..rounds).map(|round| {
            let latencies: Vec<u64> = period.iter().map(|ms| ms * 1_000_000 * (rounds + round) / rounds).collect();
            let period_ns = latencies.iter().sum::<u64>();
            let truth = latencies.len() as f64 * 1e9 / period_ns as f64;
            let mut f = Fixture::random_read().at_rate(400, 2.0);
            f.record.intervals.iter_mut().for_each(|i| (i.operations, i.bytes) = (0, 0));
            f.record.operations = 0;
            f.record.warmup.cut_ns = cut_ns;
            // Long before the cut something else delays the first operation, so that the cut is anywhere within a period.
            let mut now = if cut_ns == 0 { 0 } else { period_ns * (round * 383 % rounds) / rounds };
            let last = 'phase: loop {
                for latency in &latencies {
                    now += latency;
                    if now > 2_000_000_000 {
                        break 'phase (now - 2_000_000_000, *latency);
                    }
                    let interval = &mut f.record.intervals[((now - 1) / 100_000_000) as usize];
                    interval.operations += 1;
                    interval.bytes += 4096;
                    f.record.operations += 1;
                    if now <= cut_ns {
                        f.record.warmup.operations += 1;
                        f.record.warmup.bytes += 4096;
                    }
                }
            };
            f.record.bytes = f.record.operations * 4096;
            let f = with_last_operation(f, last.0, last.1);
            counted_rate(&f.plan, &f.record).unwrap().operations_per_s / truth
        });
        ratios.sum::<f64>() / rounds as f64
    }
}
