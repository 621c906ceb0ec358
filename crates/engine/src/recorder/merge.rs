//! Makes one phase's record of its workers' records.

use super::StreamRecord;
use model::{EngineRecord, Histogram, Interval, PhaseRecord, StopCause, WarmupCut, WorkerUsage};
use std::collections::BTreeMap;

/// How grave a stop cause is: the phase ended for the gravest of its workers' causes.
fn rank(stop: StopCause) -> u8 {
    match stop {
        StopCause::RegionDone => 0,
        StopCause::Steady => 1,
        StopCause::TimeUsed => 2,
        StopCause::Interrupted => 3,
        StopCause::Failed => 4,
    }
}

/// The record of a phase whose streams were run by `records`' workers, all with the same start. `engine` says how they
/// ran; its batch sizes are taken from the records. What the engine cannot know (direct, cold and data proofs, quiet
/// windows) is left `None` for the rig and the caller.
///
/// # Panics
/// Without records: a phase that did not run has none.
pub fn phase_record(records: Vec<StreamRecord>, mut engine: EngineRecord) -> PhaseRecord {
    assert!(!records.is_empty(), "a phase that ran has at least one worker");
    engine.batch_submit = records.iter().map(|r| r.batch_submit).max().unwrap_or(0);
    engine.batch_complete = records.iter().map(|r| r.batch_complete).max().unwrap_or(0);
    let started_ns = records.iter().map(|r| r.started_ns).min().unwrap_or(0);
    let ended_ns = records.iter().map(|r| r.ended_ns).max().unwrap_or(0);
    let mut latency = Histogram::new();
    let mut errors = BTreeMap::new();
    let mut usage = WorkerUsage::NONE;
    let mut warmup = WarmupCut::default();
    let mut stop = StopCause::RegionDone;
    let (mut operations, mut bytes, mut short_operations, mut in_flight_ns) = (0, 0, 0, 0u128);
    let mut longest_gap_ns = None;
    let mut intervals: Vec<Interval> = Vec::new();
    let mut rounds = Vec::new();
    for record in records {
        latency.merge(&record.latency);
        for (name, count) in record.errors {
            *errors.entry(name).or_insert(0) += count;
        }
        usage = usage.plus(&record.usage);
        warmup.cut_ns = warmup.cut_ns.max(record.warmup.cut_ns);
        warmup.operations += record.warmup.operations;
        warmup.bytes += record.warmup.bytes;
        warmup.rule = record.warmup.rule;
        if rank(record.stop) > rank(stop) {
            stop = record.stop;
        }
        operations += record.operations;
        bytes += record.bytes;
        short_operations += record.short_operations;
        in_flight_ns += record.in_flight_ns;
        longest_gap_ns = longest_gap_ns.max(record.longest_gap_ns);
        intervals = side_by_side(intervals, record.intervals);
        rounds.extend(record.rounds);
    }
    rounds.sort_by_key(|r: &model::Round| r.start_ns);
    let duration = ended_ns.saturating_sub(started_ns);
    PhaseRecord {
        started_ns,
        ended_ns,
        operations,
        bytes,
        short_operations,
        errors,
        stop,
        warmup,
        engine,
        direct: None,
        cold: None,
        data: None,
        usage,
        mean_depth: (duration > 0).then(|| in_flight_ns as f64 / duration as f64),
        longest_gap_ns,
        quiet_before: None,
        quiet_after: None,
        latency,
        intervals,
        rounds,
        streams: Vec::new(),
        steady: None,
        verify: None,
    }
}

/// Adds two series that begin together. Where one was thinned more than the other, the finer one is thinned too.
fn side_by_side(mut a: Vec<Interval>, mut b: Vec<Interval>) -> Vec<Interval> {
    if a.is_empty() {
        return b;
    }
    while let (Some(x), Some(y)) = (a.first(), b.first()) {
        // The only interval of a worker that ended at once is short, and needs no thinning of the other.
        if x.length_ns < y.length_ns && a.len() > 1 {
            Interval::halve(&mut a);
        } else if y.length_ns < x.length_ns && b.len() > 1 {
            Interval::halve(&mut b);
        } else {
            break;
        }
    }
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    for (into, other) in a.iter_mut().zip(&b) {
        into.combine(other);
        into.length_ns = into.length_ns.max(other.length_ns);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::super::Recorder;
    use super::*;
    use model::{EngineKind, Warmup};

    const MS: u64 = 1_000_000;

    fn engine() -> EngineRecord {
        EngineRecord {
            kind: EngineKind::Null,
            features: Vec::new(),
            missing: Vec::new(),
            batch_submit: 0,
            batch_complete: 0,
        }
    }

    fn record(every_ms: u64, end_ms: u64, stop: StopCause) -> StreamRecord {
        let mut r = Recorder::new(0, 1_000 * MS, 100 * MS, &Warmup { min_ns: 0, share: 0.0, max_ns: 0 });
        for at in (every_ms..=end_ms).step_by(every_ms as usize) {
            r.transferred(at * MS, (at - every_ms) * MS, (at - every_ms) * MS, 512, 512);
        }
        r.finish(end_ms * MS, stop)
    }

    #[test]
    fn sums_are_kept_and_the_gravest_cause_wins() {
        let (a, b) = (record(10, 1_000, StopCause::TimeUsed), record(20, 500, StopCause::Failed));
        let (ops, bytes) = (a.operations + b.operations, a.bytes + b.bytes);
        let phase = phase_record(vec![a, b], engine());
        assert_eq!((phase.operations, phase.bytes), (ops, bytes));
        assert_eq!(phase.intervals.iter().map(|i| i.operations).sum::<u64>(), ops);
        assert_eq!(phase.latency.count(), ops);
        assert_eq!(phase.stop, StopCause::Failed);
        assert_eq!(phase.duration_ns(), 1_000 * MS);
        // One always busy for 1 s, one for half of it.
        assert!((phase.mean_depth.unwrap() - 1.5).abs() < 1e-9);
    }
}
