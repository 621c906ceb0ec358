//! The record itself: errors, short transfers, an end before its time, too little of it.

use super::{RuleInput, Validity};
use model::{ErrorPolicy, Reason, StopCause, StopRule, StreamPlan, Sync};
use std::collections::BTreeMap;

/// Fewest operations after the warm-up cut: with fewer, one stall decides the number. A slow card at 30 operations a
/// second reaches it in a third of a second.
pub const MIN_OPERATIONS: u64 = 10;
/// The same of a phase that ended with what it may write before [`MIN_SECONDS`]: a limiter that grants a tenth of a second at
/// once made 32 operations at 385 a second of a true 300.
const MIN_OPERATIONS_WHEN_CUT: u64 = 100;

/// Least time after the warm-up cut, seconds: the plan's least share of half a second, less its warm-up, is 0.3 s. Phases
/// that cover their region once (layout, the cold read), and the memory copy, are complete however short they are; they
/// get a remark instead.
pub const MIN_SECONDS: f64 = 0.25;

pub(super) fn record_complete(case: RuleInput<'_>, out: &mut Validity) {
    let record = case.record;
    match failed_operations(&record.errors, record.operations) {
        Some(failed) if goes_on(case) => out.remarks.push(failed),
        Some(_) => out.refusals.push(Reason::Errors { errors: by_name(&record.errors) }),
        None if record.stop == StopCause::Failed => {
            out.refusals.push(Reason::Errors { errors: "the engine could not go on".to_owned() });
        }
        None => {}
    }
    if record.short_operations > 0 {
        out.refusals.push(Reason::ShortTransfers { operations: record.short_operations });
    }
    if record.stop == StopCause::Interrupted {
        out.refusals.push(Reason::Interrupted {});
    }
    if case.context.process_stopped {
        out.refusals.push(Reason::ProcessStopped {});
    }
    let counted = record.operations.saturating_sub(record.warmup.operations);
    // What other programs do is timed as a whole.
    let alone = case.plan.copies_memory() || case.plan.runs_dpkg();
    if counted > 0 && !alone {
        if record.latency.count() == 0 {
            out.refusals.push(Reason::Truncated { what: "operations without latencies".into() });
        }
        if record.intervals.is_empty() {
            out.refusals.push(Reason::Truncated { what: "operations without a series".into() });
        }
    }
    let (operations, seconds) = case.rate.map_or((0, 0.0), |r| (r.operations.max(r.n), r.seconds));
    // One that was to go on for a time, and ended with the bytes that it may write, has not done all that there is to do: with few
    // operations it is a burst. A fast device does hundreds of them in that time.
    let to_go_on = matches!(case.plan.stop, StopRule::Time | StopRule::EarlyWhenSteady { .. });
    let cut = to_go_on && operations < MIN_OPERATIONS_WHEN_CUT;
    let complete = record.stop == StopCause::RegionDone && !cut || case.plan.copies_memory();
    // Two whole rounds are hundreds of pages and two syncs, however few writes handed them over.
    let rounds =
        case.rate.map_or(0, |r| r.n) >= 2 && case.plan.streams.iter().any(|s| s.durability.sync == Sync::FsyncPerRound);
    let enough = operations >= MIN_OPERATIONS || rounds || complete && operations > 0;
    if case.plan.runs_dpkg() {
        return;
    }
    let failed = record.stop == StopCause::Failed && !record.errors.is_empty();
    if failed {
        // That it ended early is no reason of its own, and more time would not help.
    } else if !enough || seconds < MIN_SECONDS && !complete {
        let by_bytes = to_go_on && record.stop == StopCause::RegionDone && case.plan.is_write();
        let least_seconds = (operations >= MIN_OPERATIONS && !by_bytes).then_some(MIN_SECONDS);
        out.refusals.push(Reason::TooLittleData { operations, seconds: Some(seconds), least_seconds, by_bytes });
    } else if seconds < MIN_SECONDS && !case.plan.copies_memory() {
        out.remarks.push(Reason::ShortPhase { seconds });
    }
}

fn by_name(errors: &BTreeMap<String, u64>) -> String {
    let all: Vec<String> = errors.iter().map(|(name, count)| format!("{name} {count}")).collect();
    all.join(", ")
}

/// What has to be said where operations failed beside `succeeded` that did not; `None` where none failed.
pub(crate) fn failed_operations(errors: &BTreeMap<String, u64>, succeeded: u64) -> Option<Reason> {
    if errors.is_empty() {
        return None;
    }
    let failed = errors.values().fold(0u64, |sum, n| sum.saturating_add(*n));
    Some(Reason::Partial { failed, operations: succeeded.saturating_add(failed), errors: by_name(errors) })
}

/// Whether the streams in which operations failed were asked to go on, and did. With RWF_NOWAIT, "would block" is an
/// answer that was asked for.
fn goes_on(case: RuleInput<'_>) -> bool {
    let would_block = |errors: &BTreeMap<String, u64>| errors.keys().all(|name| name == "EAGAIN");
    let allowed = |plan: &StreamPlan, errors: &BTreeMap<String, u64>| {
        errors.is_empty() || plan.on_error == ErrorPolicy::Continue || plan.path.rw_flags.nowait && would_block(errors)
    };
    let plan = &case.plan.streams;
    let record = case.record;
    let told_apart = record.streams.len() == plan.len() && !plan.is_empty();
    record.stop != StopCause::Failed
        && if told_apart {
            plan.iter().zip(&record.streams).all(|(p, s)| allowed(p, &s.errors))
        } else {
            plan.iter().all(|p| allowed(p, &record.errors))
        }
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::{StopCause, StopRule};

    #[test]
    fn errors_fire_and_a_clean_record_does_not() {
        let mut f = Fixture::random_read();
        assert_eq!(f.codes(), NONE);
        f.record.errors.insert("EIO".into(), 1);
        f.record.stop = StopCause::Failed;
        assert_eq!(f.codes(), ["errors"]);
        assert!(f.judge().reasons[0].to_string().contains("EIO 1"));
    }

    #[test]
    fn errors_that_the_streams_were_to_survive_make_it_partial() {
        let mut f = Fixture::random_read();
        f.record.errors.insert("EIO".into(), 12);
        f.plan.streams[0].on_error = model::ErrorPolicy::Continue;
        let judged = f.judge();
        assert_eq!((judged.status, judged.refusals.len()), (model::PhaseStatus::Measured, 0));
        assert_eq!(lines(&judged.reasons), ["partial: 12 of 4012 operations failed (EIO 12)"]);
        assert_eq!(judged.metrics[0].reasons, judged.reasons);
        // The engine itself could not go on.
        f.record.stop = StopCause::Failed;
        assert_eq!(f.codes(), ["errors"]);
        // Without being asked for, only "would block" of RWF_NOWAIT is no failure.
        f.record.stop = StopCause::TimeUsed;
        f.plan.streams[0].on_error = model::ErrorPolicy::Stop;
        assert_eq!(f.codes(), ["errors"]);
        f.plan.streams[0].path.rw_flags.nowait = true;
        assert_eq!(f.codes(), ["errors"]);
        f.record.errors = [("EAGAIN".to_owned(), 7)].into();
        assert_eq!(f.codes(), NONE);
    }

    #[test]
    fn a_phase_that_failed_at_once_says_so_and_not_that_data_are_missing() {
        let mut f = Fixture::random_read().at_rate(0, 0.1);
        f.record.errors.insert("EIO".into(), 1);
        f.record.stop = StopCause::Failed;
        let judged = f.judge();
        let rate = &judged.metrics[0];
        assert_eq!((rate.status, rate.value, rate.rejected_value), (model::MetricStatus::Refused, None, None));
        assert!(rate.reasons[0].is("errors") && rate.reasons[0].to_string().contains("EIO 1"), "{:?}", rate.reasons);
    }

    #[test]
    fn short_transfers_and_interruptions() {
        let mut f = Fixture::random_read();
        f.record.short_operations = 1;
        assert_eq!(f.codes(), ["short-transfers"]);
        let mut f = Fixture::random_read();
        f.record.stop = StopCause::Interrupted;
        assert_eq!(f.codes(), ["interrupted"]);
        f.record.stop = StopCause::Steady;
        assert_eq!(f.codes(), NONE);
    }

    #[test]
    fn a_process_that_was_stopped_says_so_before_it_says_that_data_are_missing() {
        let mut f = Fixture::random_read();
        f.process_stopped = true;
        assert_eq!(f.codes(), ["process-stopped"]);
        f = f.at_rate(2, 4.0);
        assert_eq!(f.codes(), ["process-stopped", "too-little-data"]);
    }

    #[test]
    fn a_record_without_its_histogram_or_series_is_truncated() {
        let mut f = Fixture::random_read();
        f.record.latency.clear();
        assert_eq!(f.codes(), ["truncated"]);
        let mut f = Fixture::random_read();
        f.record.intervals.clear();
        assert_eq!(f.codes(), ["truncated"]);
    }

    #[test]
    fn a_few_small_rounds_are_enough() {
        // Three rounds of one write each, 2 s long: a cap of 300 operations of 4 KiB.
        let mut f = Fixture::buffered_write(&[2.0, 2.0, 2.0]);
        f.plan.streams[0].durability.round_bytes = Some(1 << 20);
        f.record.rounds.iter_mut().for_each(|r| r.bytes = 1 << 20);
        f.record.operations = 3;
        f.record.bytes = 3 << 20;
        assert_eq!(f.codes(), NONE);
        f.record.rounds.truncate(1);
        assert_eq!(f.codes(), ["too-little-data"]);
    }

    #[test]
    fn what_was_over_before_its_warm_up_has_no_number_that_could_be_refused() {
        let judged = Fixture::random_read().at_rate(0, 0.1).judge();
        assert_eq!(judged.status, model::PhaseStatus::Refused);
        assert!(judged.reasons.iter().any(|r| r.is("too-little-data")), "{:?}", judged.reasons);
        let rate = &judged.metrics[0];
        assert_eq!((rate.status, rate.value, rate.rejected_value), (model::MetricStatus::Skipped, None, None));
        assert!(!rate.reasons.is_empty(), "{rate:?}");
    }

    #[test]
    fn a_slow_card_is_enough_and_nine_operations_are_not() {
        // 30 operations a second for 4 s.
        let mut f = Fixture::random_read().at_rate(30, 4.0);
        assert_eq!(f.codes(), NONE);
        f = Fixture::random_read().at_rate(2, 4.0);
        assert_eq!(f.codes(), ["too-little-data"]);
        f = Fixture::random_read().at_rate(3, 4.0);
        assert_eq!(f.codes(), NONE);
        f = Fixture::random_read().at_rate(1_000, 0.3);
        assert_eq!(f.codes(), NONE);
        f = Fixture::random_read().at_rate(1_000, 0.2);
        assert_eq!(f.codes(), ["too-little-data"]);
        // The same where it ended with the few operations that it may write; a fast device does more in that time.
        f.record.stop = StopCause::RegionDone;
        assert_eq!(f.codes(), NONE);
        let mut few = Fixture::random_read().at_rate(400, 0.2);
        few.record.stop = StopCause::RegionDone;
        assert_eq!(few.codes(), ["too-little-data"]);
        assert!(few.judge().reasons[0].to_string().contains("more time"), "{:?}", few.judge().reasons);
        // More time would not help one that ended with what it may write.
        few.plan.streams[0].block_mut().operation = model::Operation::Write;
        let said = few.judge().reasons.remove(0).text();
        assert!(said.contains("(--max-write)") && !said.contains("--budget"), "{said}");
        // Where the region was covered: a remark.
        f.plan.stop = StopRule::RegionOnce;
        assert_eq!(f.codes(), NONE);
        assert!(f.judge().reasons.iter().any(|r| r.is("short-phase")));
    }
}
