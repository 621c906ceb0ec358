//! One stream's part of a phase's record.

use super::StreamRecord;
use model::{Direction, DirectionSummary, EngineKind, Operation, StreamPlan, StreamSummary};

/// What a plan's stream did, for [`model::PhaseRecord::streams`].
pub(crate) fn stream_summary(record: &StreamRecord, stream: &StreamPlan, engine: EngineKind) -> StreamSummary {
    let duration = record.ended_ns.saturating_sub(record.started_ns);
    let mut directions: Vec<DirectionSummary> = record
        .directions
        .iter()
        .map(|d| DirectionSummary {
            direction: d.direction,
            operations: d.operations,
            bytes: d.bytes,
            counted_operations: d.latency.count(),
            counted_bytes: d.counted_bytes,
            latency: d.latency.clone(),
        })
        .collect();
    if directions.is_empty() {
        directions.push(DirectionSummary {
            direction: only_direction(stream),
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
        mean_depth: (duration > 0).then(|| record.in_flight_ns as f64 / duration as f64),
        longest_gap_ns: record.longest_gap_ns,
        directions,
    }
}

/// The direction of a stream that has one.
fn only_direction(stream: &StreamPlan) -> Direction {
    match stream.block().operation {
        _ if !stream.changes_data() => Direction::Read,
        Operation::Read => Direction::Read,
        Operation::Write => Direction::Write,
        Operation::Trim => Direction::Trim,
        Operation::WriteZeroes => Direction::WriteZeroes,
    }
}

/// Whether the record of a phase says all of its streams, so that none need be summarised.
pub(crate) fn says_all(records: &[StreamRecord], streams: &[StreamPlan]) -> bool {
    records.len() == 1 && records[0].directions.is_empty() && streams.iter().all(|s| s.name.is_empty())
}
