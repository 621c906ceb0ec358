//! One phase as a whole: its status, why, and its metrics.

use crate::bounded::unproven;
use crate::changes::changes_of;
use crate::quantity::bound_of;
use crate::rate::{counted_rate, rate_of_slices};
use crate::validity::{RuleInput, judge_validity, slices, steady};
use crate::{Context, metrics};
use model::{Metric, MetricStatus, PhasePlan, PhaseRecord, PhaseStatus, RateChange, Reason};

#[derive(Clone, Debug, PartialEq)]
pub struct JudgedPhase {
    /// Status as a whole.
    pub status: PhaseStatus,
    /// Why it is refused or skipped; where it is measured, what has to be said with it.
    pub reasons: Vec<Reason>,
    /// Whether it was steady (SNIA PTS); `None` where it cannot be told.
    pub steady: Option<bool>,
    /// Where it lastingly left the rate at which it went, in order of time.
    pub changes: Vec<RateChange>,
    /// Its metrics, always the same ids for the same plan ([`crate::metric_ids`]).
    pub metrics: Vec<Metric>,
    /// The rules that fired.
    pub refusals: Vec<Reason>,
    /// What does not make the numbers untrue but has to be known.
    pub remarks: Vec<Reason>,
}

/// Judges one phase. `record` is `None` where it was not executed; the plan's `skip` then says why.
pub fn judge_phase(plan: &PhasePlan, record: Option<&PhaseRecord>, context: &Context<'_>) -> JudgedPhase {
    let Some(record) = record else {
        let reason = plan.skip.clone().unwrap_or_else(|| Reason::of("not-reached", "the run ended before this phase"));
        return JudgedPhase {
            status: PhaseStatus::Skipped,
            metrics: metrics::absent(plan, MetricStatus::Skipped, &reason),
            reasons: vec![reason],
            steady: None,
            changes: Vec::new(),
            refusals: Vec::new(),
            remarks: Vec::new(),
        };
    };
    let whole = counted_rate(plan, record);
    let left = slices::undisturbed(RuleInput { plan, record, rate: whole.as_ref(), context });
    let rate = left.and_then(|left| rate_of_slices(plan, record, &left)).or(whole);
    let case = RuleInput { plan, record, rate: rate.as_ref(), context };
    let mut validity = judge_validity(case);
    let changes = changes_of(case);
    validity.remarks.extend(changes.iter().map(|change| Reason::RateChanged { change: *change }));
    let mut metrics = metrics::of_record(plan, record, rate.as_ref(), context);
    let steady = steady(case);
    let remarks = validity.remarks;
    if validity.refusals.is_empty() {
        // The first metric of a phase is its rate; what has to be said of the phase is said there. What may be too good is
        // said of each number.
        for (place, metric) in metrics.iter_mut().enumerate() {
            let applies = |r: &&Reason| place == 0 || metric.value.is_some() && r.may_be_too_good();
            metric.reasons.extend(remarks.iter().filter(applies).cloned().collect::<Vec<_>>());
        }
        return JudgedPhase {
            status: PhaseStatus::Measured,
            reasons: remarks.clone(),
            steady,
            changes,
            metrics,
            refusals: validity.refusals,
            remarks,
        };
    }
    let mut reasons: Vec<Reason> = Vec::new();
    for refusal in &validity.refusals {
        if !reasons.contains(refusal) {
            reasons.push(refusal.clone());
        }
    }
    // What was over before its warm-up was has no number that could be refused.
    let over_at_once = validity.refusals.iter().any(|r| matches!(r, Reason::TooLittleData { operations: 0, .. }));
    // What may be too good is no bound, however much disturbed it.
    let bounds = validity.refusals.iter().all(Reason::only_worsens) && unproven(&remarks).is_none();
    for metric in &mut metrics {
        if metric.status == MetricStatus::Measured {
            metric.refuse(&reasons);
            metric.bound = bound_of(&metric.id).filter(|_| bounds && metric.rejected_value.is_some());
        } else if rate.is_none() && !over_at_once && metric.status == MetricStatus::Skipped {
            // Where not even a rate came out, the refusal is the reason, not the absence that follows from it.
            metric.status = MetricStatus::Refused;
            metric.reasons.clone_from(&reasons);
        }
    }
    reasons.extend(remarks.iter().cloned());
    JudgedPhase {
        status: PhaseStatus::Refused,
        reasons,
        steady,
        changes,
        metrics,
        refusals: validity.refusals,
        remarks,
    }
}
