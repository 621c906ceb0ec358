//! Whether paced streams had their pace.
//!
//! A device that cannot keep up is a result: the rate is what it can do, and latencies, which count from the intended start,
//! say how far it fell behind. So it is said and not refused.

use super::{RuleInput, Validity};
use model::{Direction, MissedPace, NS_PER_S, Pacing, Rate, Reason};

/// Share of the demanded rate below which a stream fell behind. Poisson arrivals of 2,000 operations scatter by 2.2 %.
pub const PACE_TOLERANCE: f64 = 0.05;

/// What a stream did one way, per second.
#[derive(Clone, Copy)]
struct Pace {
    direction: Direction,
    operations: f64,
    bytes: f64,
}

pub(super) fn pace_kept(case: RuleInput<'_>, out: &mut Validity) {
    let plan = &case.plan.streams;
    let record = case.record;
    if let Some(late) = record.late.filter(|_| record.operations > 0 && case.plan.pauses_ns().is_none()) {
        let mean = late.sum_ns as f64 / record.operations as f64;
        out.remarks.push(Reason::Lateness {
            mean_ns: mean,
            max_ns: late.max_ns,
            over_1_ms: late.over_1_ms,
            operations: record.operations,
        });
    }
    for (place, stream) in plan.iter().enumerate() {
        let Some(pacing) = stream.timing.pacing else { continue };
        let paces: Vec<Pace> = if record.streams.len() == plan.len() {
            let one = &record.streams[place];
            let time = one.ended_ns.saturating_sub(one.started_ns).saturating_sub(one.cut_ns);
            let pace = |d: &model::DirectionSummary| pace(d.direction, d.counted_operations, d.counted_bytes, time);
            one.directions.iter().filter_map(pace).collect()
        } else if let (Some(rate), [direction]) = (case.rate, stream.directions().as_slice()) {
            vec![Pace { direction: *direction, operations: rate.operations_per_s, bytes: rate.bytes_per_s }]
        } else {
            continue;
        };
        let behind: Vec<MissedPace> = paces.iter().filter_map(|p| missed_pace(&pacing, *p)).collect();
        // Of a mix one direction holds back the other: it fell behind only if none has its pace.
        if !behind.is_empty() && behind.iter().all(|p| p.done < p.asked * (1.0 - PACE_TOLERANCE)) {
            out.remarks.push(Reason::PaceMissed { job: stream.name.clone(), paces: behind });
        }
    }
}

fn pace(direction: Direction, operations: u64, bytes: u64, time_ns: u64) -> Option<Pace> {
    let per_second = |n: u64| n as f64 * NS_PER_S as f64 / time_ns as f64;
    (time_ns > 0).then(|| Pace { direction, operations: per_second(operations), bytes: per_second(bytes) })
}

/// What was done and what was asked, in the unit in which it was asked; `None` for a direction that is not paced.
fn missed_pace(pacing: &Pacing, pace: Pace) -> Option<MissedPace> {
    let rate = match pace.direction {
        Direction::Read => pacing.read,
        Direction::Write | Direction::WriteZeroes => pacing.write,
        Direction::Trim => pacing.trim,
        Direction::Sync | Direction::Names => None,
    }?;
    Some(match rate {
        Rate::OperationsPerS(n) => MissedPace { done: pace.operations, asked: n as f64, in_bytes: false },
        Rate::BytesPerS(n) => MissedPace { done: pace.bytes, asked: n as f64, in_bytes: true },
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::{Direction, Mix, Operation, Pacing, Rate};

    fn paced(read: Option<Rate>, write: Option<Rate>) -> Fixture {
        let mut f = Fixture::random_read();
        f.plan.streams[0].timing.pacing = Some(Pacing { read, write, ..Pacing::default() });
        f
    }

    #[test]
    fn a_device_that_falls_behind_is_said_to() {
        // 1,000 operations a second are done.
        let said = |rate| paced(Some(rate), None).judge();
        assert_eq!(said(Rate::OperationsPerS(1_000)).reasons, []);
        assert_eq!(said(Rate::OperationsPerS(1_040)).reasons, []);
        let judged = said(Rate::OperationsPerS(2_000));
        assert_eq!(
            lines(&judged.reasons),
            ["pace-missed: 1000 instead of 2000 operations a second; latencies count from the intended start"]
        );
        assert!(judged.metrics[0].value.is_some());
        assert!(
            said(Rate::BytesPerS(8_192_000)).reasons[0]
                .to_string()
                .contains("4096000 instead of 8192000 bytes a second")
        );
        // The writes of a stream that only reads are not paced.
        assert_eq!(paced(None, Some(Rate::OperationsPerS(9_000))).judge().reasons, []);
    }

    #[test]
    fn of_a_mix_one_direction_may_hold_back_the_other() {
        let mut f = paced(Some(Rate::OperationsPerS(500)), Some(Rate::OperationsPerS(9_000)));
        let stream = &mut f.plan.streams[0];
        stream.block_mut().operation = Operation::Write;
        stream.block_mut().mix = Some(Mix { read_percent: 50 });
        f.split_directions(&[(Direction::Read, 0.5), (Direction::Write, 0.5)]);
        assert_eq!(f.judge().reasons, []);
        f.plan.streams[0].timing.pacing = Some(Pacing {
            read: Some(Rate::OperationsPerS(700)),
            write: Some(Rate::OperationsPerS(700)),
            ..Pacing::default()
        });
        assert!(
            f.judge().reasons[0]
                .to_string()
                .starts_with("pace-missed: 500 instead of 700 operations a second, 500 instead of")
        );
    }
}
