//! What a number may decide: a threshold, a class, a place.
//!
//! A number that stands decides with its interval. One that something can only have made worse (the hypervisor, other users of
//! the disk, throttling) is a bound: above a threshold it answers yes, below it nothing. One that may be the page cache's, or of
//! data that are not real, may be far too good and decides nothing, whether it is refused or not.

use model::{Bound, Metric, MetricStatus, PhaseRun, Reason};

/// A number that may decide something, with the ends between which the true one lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounded {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// On which side of the value the true one is, where it is a bound.
    pub bound: Option<Bound>,
}

impl Bounded {
    pub fn exactly(value: f64) -> Self {
        Self { value, low: value, high: value, bound: None }
    }

    pub fn by(bound: Bound, value: f64) -> Self {
        let (low, high) = bound.range(value);
        Self { value, low, high, bound: Some(bound) }
    }
}

/// The reason of these for which a number may be too good.
pub(crate) fn unproven(reasons: &[Reason]) -> Option<&Reason> {
    reasons.iter().find(|r| r.may_be_too_good())
}

/// What a metric of a phase decides; `None` where it has no number. What may be too good, and what is refused and no bound,
/// gives the reason.
pub(crate) fn bounded_value(phase: &PhaseRun, metric: &Metric) -> Result<Option<Bounded>, Reason> {
    if let Some(reason) = unproven(&phase.reasons) {
        return Err(reason.clone());
    }
    if let Some((bound, ..)) = metric.bounded() {
        return Ok(metric.rejected_value.map(|value| Bounded::by(bound, value)));
    }
    if metric.status != MetricStatus::Measured {
        return Err(missing_reason(metric));
    }
    let of =
        |value| Bounded { value, low: metric.low.unwrap_or(value), high: metric.high.unwrap_or(value), bound: None };
    Ok(metric.value.map(of))
}

/// The first reason for which a metric has no value.
pub(crate) fn missing_reason(metric: &Metric) -> Reason {
    first_reason(&metric.reasons)
}

pub(crate) fn first_reason(reasons: &[Reason]) -> Reason {
    reasons.first().cloned().unwrap_or_else(|| Reason::uncoded("no reason was given"))
}

/// The rate that a phase decides by; a bound where the phase is one.
pub(crate) fn rate_of(phase: &PhaseRun) -> Result<Bounded, Reason> {
    let id = format!("{}.throughput_bytes_per_s", phase.plan.name);
    let why = || first_reason(&phase.reasons);
    let metric = phase.metrics.iter().find(|m| m.id == id).ok_or_else(why)?;
    bounded_value(phase, metric).map_err(|_| why())?.ok_or_else(why)
}
