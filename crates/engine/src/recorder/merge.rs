//! Makes one phase's record of its workers' records.

use super::StreamRecord;
use crate::Crew;
use model::{
    Direction, DirectionSummary, EngineKind, EngineRecord, Interval, PhaseRecord, StreamPlan, StreamSummary, WarmupCut,
};
use std::collections::BTreeMap;

/// The record of a phase of these streams, which `crew` ran: the streams' records, all with the same start, each with the
/// engine that carried it out. `engine` says how they ran; its batch sizes are taken from the records. What the engine
/// cannot know (direct, cold and data proofs, quiet windows) is left `None` for the rig and the caller.
///
/// # Panics
/// Without records: a phase that did not run has none.
pub(crate) fn phase_record(
    records: Vec<(StreamRecord, EngineKind)>,
    streams: &[StreamPlan],
    engine: EngineRecord,
    crew: &Crew,
) -> PhaseRecord {
    // What a phase of one nameless stream in one direction did is what the stream did.
    let all_said = matches!(&records[..], [(only, _)] if only.directions.is_empty() && only.depth_search.is_none())
        && streams.iter().all(|stream| stream.name.is_empty());
    let summary = |((record, kind), stream): (&(StreamRecord, EngineKind), _)| summary(record, stream, *kind);
    let summaries = if all_said { Vec::new() } else { records.iter().zip(streams).map(summary).collect() };
    let all = records.into_iter().map(|(record, _)| record).reduce(StreamRecord::beside);
    let Some(mut all) = all else { panic!("a phase that ran has at least one worker") };
    all.rounds.sort_by_key(|r| r.start_ns);
    PhaseRecord {
        mean_depth: all.mean_depth(),
        started_ns: all.started_ns,
        ended_ns: all.ended_ns,
        operations: all.operations,
        bytes: all.bytes,
        short_operations: all.short_operations,
        late: streams.iter().any(|s| s.has_moments()).then_some(all.late),
        errors: all.errors,
        stop: all.stop,
        warmup: all.warmup,
        engine: EngineRecord { batch_submit: all.batch_submit, batch_complete: all.batch_complete, ..engine },
        usage: all.usage,
        longest_gap_ns: all.longest_gap_ns,
        latency: all.latency,
        intervals: all.intervals,
        rounds: all.rounds,
        streams: summaries,
        steady: crew.steady(),
        ..PhaseRecord::default()
    }
}

/// Counts more errors, by name.
pub(crate) fn add_errors(errors: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    more.iter().for_each(|(name, count)| *errors.entry(name.clone()).or_default() += count);
}

impl StreamRecord {
    fn mean_depth(&self) -> Option<f64> {
        let duration = self.ended_ns.saturating_sub(self.started_ns);
        (duration > 0).then(|| self.in_flight_ns as f64 / duration as f64)
    }

    /// With what another worker of the phase did.
    fn beside(mut self, other: Self) -> Self {
        self.started_ns = self.started_ns.min(other.started_ns);
        self.ended_ns = self.ended_ns.max(other.ended_ns);
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.short_operations += other.short_operations;
        self.late = self.late.plus(other.late);
        add_errors(&mut self.errors, &other.errors);
        self.stop = self.stop.graver(other.stop);
        self.warmup = WarmupCut {
            rule: other.warmup.rule,
            cut_ns: self.warmup.cut_ns.max(other.warmup.cut_ns),
            operations: self.warmup.operations + other.warmup.operations,
            bytes: self.warmup.bytes + other.warmup.bytes,
        };
        self.in_flight_ns += other.in_flight_ns;
        self.longest_gap_ns = self.longest_gap_ns.max(other.longest_gap_ns);
        self.latency.merge(&other.latency);
        self.intervals = side_by_side(self.intervals, other.intervals);
        self.rounds.extend(other.rounds);
        self.usage = self.usage.plus(&other.usage);
        self.batch_submit = self.batch_submit.max(other.batch_submit);
        self.batch_complete = self.batch_complete.max(other.batch_complete);
        self
    }
}

/// One stream's part of a phase's record.
fn summary(record: &StreamRecord, stream: &StreamPlan, engine: EngineKind) -> StreamSummary {
    let mut directions = record.directions.clone();
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
        mean_depth: record.mean_depth(),
        longest_gap_ns: record.longest_gap_ns,
        directions,
        depth_search: record.depth_search.clone(),
    }
}

/// Adds two series that begin together. Where one was thinned more than the other, the finer one is thinned too.
fn side_by_side(mut a: Vec<Interval>, mut b: Vec<Interval>) -> Vec<Interval> {
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
    use model::{StopCause, StopRule, Warmup};

    const MS: u64 = 1_000_000;

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
        let crew = Crew::new(2, &StopRule::Time);
        let records = vec![(a, EngineKind::Null), (b, EngineKind::Null)];
        let phase = phase_record(records, &[], EngineRecord::default(), &crew);
        assert_eq!((phase.operations, phase.bytes), (ops, bytes));
        assert_eq!(phase.intervals.iter().map(|i| i.operations).sum::<u64>(), ops);
        assert_eq!(phase.latency.count(), ops);
        assert_eq!(phase.stop, StopCause::Failed);
        assert_eq!(phase.duration_ns(), 1_000 * MS);
        // One always busy for 1 s, one for half of it.
        assert!((phase.mean_depth.unwrap() - 1.5).abs() < 1e-9);
    }
}
