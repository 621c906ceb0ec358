//! What a group of metrics is of, and how its metrics are called.

use crate::quantity::Quantity;
use model::{Direction, Metric, MetricStatus, Reason, metric_id};

/// What a group of metrics is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricOwner {
    Phase,
    /// A job, by its place in [`model::PhasePlan::jobs`].
    Job(usize),
    /// One direction of a job.
    Direction(usize, Direction),
}

/// A group of metrics with what stands before their last part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub of: MetricOwner,
    pub prefix: String,
    pub quantities: Vec<Quantity>,
}

impl Scope {
    pub fn measured(&self, quantity: Quantity, value: f64, n: u64) -> Metric {
        let (name, unit, better) = quantity.row();
        Metric::measured(metric_id(&self.prefix, name), unit, Some(better), value, n)
    }

    pub fn absent(&self, quantity: Quantity, status: MetricStatus, reason: Reason) -> Metric {
        let (name, unit, better) = quantity.row();
        Metric::absent(metric_id(&self.prefix, name), unit, Some(better), status, reason)
    }

    pub fn skipped(&self, quantity: Quantity, reason: Reason) -> Metric {
        self.absent(quantity, MetricStatus::Skipped, reason)
    }
}
