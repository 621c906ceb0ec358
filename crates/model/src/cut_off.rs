//! A phase in which the program ended.

use crate::{
    EngineRecord, Histogram, Interval, PhasePlan, PhaseRecord, PhaseRun, PhaseStatus, Reason, StopCause, WarmupCut,
};
use std::collections::BTreeMap;

impl PhaseRun {
    /// Of a phase whose series is all that was kept, because the program or the machine ended in it: what the series tells,
    /// and no result. `None` without an interval.
    pub fn cut_off(plan: PhasePlan, intervals: Vec<Interval>) -> Option<Self> {
        let (first, last) = (intervals.first()?, intervals.last()?);
        let started_ns = first.start_ns;
        let ended_ns = last.start_ns.saturating_add(last.length_ns);
        let sum = |of: fn(&Interval) -> u64| intervals.iter().map(of).fold(0, u64::saturating_add);
        let record = PhaseRecord {
            started_ns,
            ended_ns,
            operations: sum(|i| i.operations),
            bytes: sum(|i| i.bytes),
            short_operations: 0,
            errors: BTreeMap::new(),
            stop: StopCause::Interrupted,
            warmup: WarmupCut { rule: "not known: only the series was kept".into(), ..WarmupCut::default() },
            engine: EngineRecord {
                kind: plan.engine,
                features: Vec::new(),
                missing: vec!["how it really ran: the program ended before it said so; this is as planned".into()],
                batch_submit: 0,
                batch_complete: 0,
            },
            direct: None,
            cold: None,
            data: None,
            usage: Default::default(),
            mean_depth: None,
            longest_gap_ns: None,
            late: None,
            quiet_before: None,
            quiet_after: None,
            latency: Histogram::new(),
            intervals,
            rounds: Vec::new(),
            streams: Vec::new(),
            steady: None,
            verify: None,
        };
        let kept_s = record.duration_ns() as f64 / 1e9;
        let reason = format!("the program ended in this phase; the series of its first {kept_s:.1} s was kept");
        let reasons = vec![Reason::of("truncated", reason)];
        Some(Self { status: PhaseStatus::Refused, reasons, ..Self::measured(plan, Vec::new(), Some(record)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_its_series_says_and_no_more() {
        assert_eq!(PhaseRun::cut_off(PhasePlan::default(), Vec::new()), None);
        let interval =
            |start_ns| Interval { start_ns, length_ns: 500_000_000, operations: 3, bytes: 12, ..Interval::default() };
        let phase =
            PhaseRun::cut_off(PhasePlan::default(), vec![interval(1_000_000_000), interval(1_500_000_000)]).unwrap();
        let record = phase.record.unwrap();
        assert_eq!((record.operations, record.bytes, record.duration_ns()), (6, 24, 1_000_000_000));
        assert_eq!(
            phase.reasons,
            [Reason::of("truncated", "the program ended in this phase; the series of its first 1.0 s was kept")]
        );
        assert!(phase.metrics.is_empty() && record.latency.count() == 0);
    }
}
