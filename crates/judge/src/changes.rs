//! Leaving steady state: where the rate of a phase changed for good, because a cache ran out or heat throttled the device.
//!
//! Only phases whose rate is the device's are looked at, and only their own series. What counts as a change, and how seldom
//! noise is taken for one, is in [`stats::level_changes`] and docs/judging.md.

use crate::validity::RuleInput;
use model::{Access, DirectProof, EngineKind, Interval, Ns, PhasePlan, RateChange, StreamPlan, Sync, TargetKind};
use stats::{LevelRule, level_changes};

/// Fewest intervals, after neighbours were joined.
pub(crate) const MIN_INTERVALS: usize = 20;
/// Most intervals that are compared; longer series are joined to fewer.
const MAX_INTERVALS: usize = 512;
/// A level lasts at least so many intervals, and this share of the phase: what is shorter is a stall or a burst.
const MIN_LEVEL: usize = 5;
const MIN_LEVEL_SHARE: usize = 30;
/// Operations that an interval holds on average, or neighbours are joined: single ones make steps of their own.
const MIN_OPERATIONS_AN_INTERVAL: f64 = 8.0;
/// The higher rate over the lower one: the 20 % that SNIA PTS allows within steady state, up or down.
const MIN_RATIO: f64 = 1.25;
/// See [`LevelRule::confidence`].
const CONFIDENCE: f64 = 1.0 - 1e-6;
/// Changes that are told of one phase.
const MAX_CHANGES: usize = 4;

/// The lasting changes of the phase's rate after the warm-up cut, in order of time.
pub(crate) fn changes_of(case: RuleInput<'_>) -> Vec<RateChange> {
    if !is_of_device(case) {
        return Vec::new();
    }
    let record = case.record;
    lasting_changes(record.counted_intervals(), &record.intervals, record.started_ns)
}

/// The lasting changes of the rate of these intervals; `all` are those since the start, of which bytes are counted.
pub(crate) fn lasting_changes(counted: &[Interval], all: &[Interval], started_ns: Ns) -> Vec<RateChange> {
    let joined = joined(counted);
    if joined.len() < MIN_INTERVALS {
        return Vec::new();
    }
    let rates: Vec<f64> = joined.iter().map(|i| i.bytes as f64 * 1e9 / i.length_ns as f64).collect();
    let rule = LevelRule {
        least_values: (joined.len() / MIN_LEVEL_SHARE).max(MIN_LEVEL),
        most_changes: MAX_CHANGES,
        least_ratio: MIN_RATIO,
        confidence: CONFIDENCE,
    };
    let change = |c: stats::LevelChange| {
        let at = joined[c.at].start_ns;
        let before = all.iter().take_while(|i| i.start_ns < at);
        RateChange {
            at_ns: at.saturating_sub(started_ns),
            before_bytes_per_s: c.before,
            after_bytes_per_s: c.after,
            bytes_before: before.fold(0, |sum, i| sum.saturating_add(i.bytes)),
        }
    };
    level_changes(&rates, &rule).into_iter().map(change).collect()
}

/// Whether the rate is that of a device which was asked for the same all along.
fn is_of_device(case: RuleInput<'_>) -> bool {
    let (plan, record) = (case.plan, case.record);
    let storage =
        case.context.target != TargetKind::Null && record.engine.kind != EngineKind::Null && !plan.copies_memory();
    let fallback = record.direct.as_ref().is_some_and(DirectProof::is_from_cache);
    storage
        && plan.moves_data()
        && !fallback
        && !plan.streams.is_empty()
        && plan.streams.iter().all(|s| at_the_device(plan, s))
        && constant(case)
}

/// Whether a stream's operations wait for the device, and not for the page cache.
fn at_the_device(plan: &PhasePlan, stream: &StreamPlan) -> bool {
    let direct = stream.path.access == Access::Direct;
    direct || if stream.changes_data() { stream.waits_until_durable() && !stream.reads() } else { plan.cold }
}

/// Whether the same was asked from beginning to end: no pauses, no stream that comes later or leaves before the others.
fn constant(case: RuleInput<'_>) -> bool {
    let pauses = |s: &StreamPlan| s.timing.think.is_some() || s.durability.sync == Sync::FsyncPerRound;
    let record = case.record;
    let interval = record.intervals.iter().map(|i| i.length_ns).max().unwrap_or(0);
    let whole = |from: Ns, to: Ns| {
        from <= record.started_ns.saturating_add(interval) && to.saturating_add(interval) >= record.ended_ns
    };
    !case.plan.streams.iter().any(pauses)
        && case.plan.streams.iter().all(|s| s.timing.start_delay_ns <= interval)
        && record.streams.iter().all(|s| whole(s.started_ns, s.ended_ns))
}

/// The intervals of full length, neighbours joined until they hold enough operations and are few enough. What does not
/// fill a joined one is left out at the end.
fn joined(intervals: &[Interval]) -> Vec<Interval> {
    let full = intervals.iter().map(|i| i.length_ns).max().unwrap_or(0);
    let whole: Vec<&Interval> = intervals.iter().filter(|i| full > 0 && i.length_ns >= full - full / 100).collect();
    let operations: f64 = whole.iter().map(|i| i.operations as f64).sum();
    if operations == 0.0 {
        return Vec::new();
    }
    let for_operations = (MIN_OPERATIONS_AN_INTERVAL * whole.len() as f64 / operations).ceil() as usize;
    let together = for_operations.max(whole.len().div_ceil(MAX_INTERVALS)).max(1);
    let join = |part: &[&Interval]| Interval {
        start_ns: part[0].start_ns,
        length_ns: part.iter().map(|i| i.length_ns).sum(),
        operations: part.iter().map(|i| i.operations).sum(),
        bytes: part.iter().map(|i| i.bytes).sum(),
        ..Interval::default()
    };
    whole.chunks_exact(together).map(join).collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::{Direction, NS_PER_S, PhaseStatus};

    /// A write of 30 s at 95 MB/s, and from `at` on at `rate` bytes per second, with some noise.
    fn write(at: usize, rate: f64) -> Fixture {
        let mut f = Fixture::sequential_write().at_rate(90, 30.0);
        let mut state = 5u64;
        let (mut operations, mut bytes) = (0, 0);
        for (i, interval) in f.record.intervals.iter_mut().enumerate() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = 0.95 + 0.1 * (state >> 11) as f64 / (1u64 << 53) as f64;
            let level = if i < at { 95e6 } else { rate };
            interval.bytes = (level * noise / 10.0) as u64;
            interval.operations = interval.bytes >> 20;
            operations += interval.operations;
            bytes += interval.bytes;
        }
        (f.record.operations, f.record.bytes) = (operations, bytes);
        f
    }

    #[test]
    fn a_cache_that_runs_out_is_told_with_its_size() {
        let judged = write(123, 11.2e6).judge();
        assert_eq!((judged.status, judged.changes.len()), (PhaseStatus::Measured, 1));
        let change = judged.changes[0];
        assert!(change.at_ns.abs_diff(12_300_000_000) <= NS_PER_S / 2, "{change:?}");
        assert!((change.before_bytes_per_s / 95e6 - 1.0).abs() < 0.02, "{change:?}");
        assert!((change.after_bytes_per_s / 11.2e6 - 1.0).abs() < 0.1, "{change:?}");
        assert!((change.bytes_before as f64 / (12.3 * 95e6) - 1.0).abs() < 0.05, "{change:?}");
        assert!((change.ratio().unwrap() - 0.118).abs() < 0.02);
        let reason = judged.reasons.iter().find(|r| r.is("rate-changed")).unwrap().text();
        assert!(
            reason.starts_with("after 12.") && reason.contains(" s (1.2 GB) from 9") && reason.ends_with("MB/s"),
            "{reason}"
        );
    }

    #[test]
    fn a_steady_phase_has_no_change() {
        assert_eq!(write(300, 0.0).judge().changes, []);
        assert_eq!(write(150, 85e6).judge().changes, [], "less than 20 %");
        assert_eq!(Fixture::random_read().judge().changes, []);
    }

    #[test]
    fn only_where_the_device_was_asked_for_the_same_all_along() {
        assert_eq!(write(123, 11.2e6).judge().changes.len(), 1);
        let mut buffered = write(123, 11.2e6);
        buffered.plan.set_access(model::Access::Buffered);
        assert_eq!(buffered.judge().changes, []);
        buffered.plan.streams[0].durability.sync = model::Sync::FdatasyncEach;
        assert_eq!(buffered.judge().changes.len(), 1);
        let mut pauses = write(123, 11.2e6);
        pauses.plan.streams[0].timing.think = Some(model::ThinkTime { pause_ns: 1, spin_ns: 0, after_operations: 64 });
        assert_eq!(pauses.judge().changes, []);
        let mut null = write(123, 11.2e6);
        null.target = model::TargetKind::Null;
        assert_eq!(null.judge().changes, []);
        // Another stream ended when the rate fell.
        let mut two = write(123, 11.2e6);
        two.split_directions(&[(Direction::Write, 1.0)]);
        assert_eq!(two.judge().changes.len(), 1);
        two.record.streams[0].ended_ns -= 18 * NS_PER_S;
        assert_eq!(two.judge().changes, []);
    }

    #[test]
    fn few_operations_an_interval_are_joined() {
        // 12 operations a second of 1 MiB, then 3: one or none in each interval of 100 ms.
        let mut f = Fixture::sequential_write().at_rate(12, 60.0);
        let mut bytes = 0;
        for (i, interval) in f.record.intervals.iter_mut().enumerate() {
            if i >= 300 {
                interval.operations = u64::from(i % 3 == 0);
                interval.bytes = interval.operations << 20;
            }
            bytes += interval.bytes;
        }
        f.record.bytes = bytes;
        f.record.operations = bytes >> 20;
        let changes = f.judge().changes;
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert!(changes[0].at_ns.abs_diff(30 * NS_PER_S) <= 3 * NS_PER_S, "{changes:?}");
    }
}
