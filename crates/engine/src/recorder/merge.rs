//! Makes one phase's record of its workers' records.

use crate::PhaseShared;
use model::{
    CompactSort as _, Direction, DirectionSummary, EngineKind, EngineRecord, PhaseRecord, StreamPlan, StreamSummary,
};

/// The record of a phase of these streams, which `barrier` ran: the streams' records, all with the same start, each with the
/// engine that carried it out. `engine` says how they ran; its batch sizes are taken from the records. What the engine
/// cannot know (direct, cold and data proofs, quiet windows) is left `None` for the rig and the caller.
///
/// # Panics
/// Without records: a phase that did not run has none.
pub(crate) fn phase_record(
    records: Vec<(PhaseRecord, EngineKind)>,
    streams: &[StreamPlan],
    engine: EngineRecord,
    barrier: &PhaseShared,
) -> PhaseRecord {
    // What a phase of one nameless stream in one direction did is what the stream did.
    let is_one = |own: &StreamSummary| own.directions.is_empty() && own.depth_search.is_none();
    let all_said = matches!(&records[..], [(only, _)] if only.streams.iter().all(is_one))
        && streams.iter().all(|stream| stream.name.is_empty());
    let mut plans = streams.iter().filter(|_| !all_said);
    let with_plan = |(mut record, kind): (PhaseRecord, EngineKind)| {
        let own = record.streams.pop().unwrap_or_default();
        record.streams = plans.next().map(|plan| summary(own, &record, plan, kind)).into_iter().collect();
        record
    };
    let Some(mut all) = records.into_iter().map(with_plan).reduce(PhaseRecord::merged_parallel) else {
        panic!("a phase that ran has at least one worker")
    };
    all.rounds.compact_sort_by_key(|r| r.start_ns);
    all.late = all.late.filter(|_| streams.iter().any(|s| s.has_moments()));
    let EngineRecord { batch_submit, batch_complete, .. } = all.engine;
    all.engine = EngineRecord { batch_submit, batch_complete, ..engine };
    all.steady = barrier.steady();
    all
}

/// One stream's part of a phase's record: what it has of its own, and what the record of it alone says.
fn summary(own: StreamSummary, record: &PhaseRecord, stream: &StreamPlan, engine: EngineKind) -> StreamSummary {
    let mut directions = own.directions;
    if directions.is_empty() {
        directions.push(DirectionSummary {
            direction: stream.directions().first().copied().unwrap_or(Direction::Read),
            operations: record.operations,
            bytes: record.bytes,
            counted_operations: record.latency.count(),
            counted_bytes: record.bytes - record.warmup.bytes,
            latency: record.latency.clone(),
        });
    }
    StreamSummary {
        name: stream.name.clone(),
        group: stream.group,
        engine,
        started_ns: record.started_ns,
        ended_ns: record.ended_ns,
        cut_ns: record.warmup.cut_ns,
        stop: record.stop,
        short_operations: record.short_operations,
        errors: record.errors.clone(),
        usage: record.usage,
        mean_depth: record.mean_depth,
        longest_gap_ns: record.longest_gap_ns,
        directions,
        depth_search: own.depth_search,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Recorder;
    use super::*;
    use model::{StopCause, StopRule, Warmup};

    const MS: u64 = 1_000_000;

    fn record(every_ms: u64, end_ms: u64, stop: StopCause) -> PhaseRecord {
        let mut r = Recorder::new(0, 1_000 * MS, 100 * MS, &Warmup { min_ns: 0, share: 0.0, max_ns: 0 });
        for at in (every_ms..=end_ms).step_by(every_ms as usize) {
            r.record_transfer(at * MS, (at - every_ms) * MS, (at - every_ms) * MS, 512, 512);
        }
        r.finish(end_ms * MS, stop)
    }

    #[test]
    fn sums_are_kept_and_the_gravest_cause_wins() {
        let (a, b) = (record(10, 1_000, StopCause::TimeUsed), record(20, 500, StopCause::Failed));
        let (ops, bytes) = (a.operations + b.operations, a.bytes + b.bytes);
        let barrier = PhaseShared::new(2, &StopRule::Time);
        let records = vec![(a, EngineKind::Null), (b, EngineKind::Null)];
        let phase = phase_record(records, &[], EngineRecord::default(), &barrier);
        assert_eq!((phase.operations, phase.bytes), (ops, bytes));
        assert_eq!(phase.intervals.iter().map(|i| i.operations).sum::<u64>(), ops);
        assert_eq!(phase.latency.count(), ops);
        assert_eq!(phase.stop, StopCause::Failed);
        assert_eq!(phase.duration_ns(), 1_000 * MS);
        // One always busy for 1 s, one for half of it.
        assert!((phase.mean_depth.unwrap() - 1.5).abs() < 1e-9);
    }
}
