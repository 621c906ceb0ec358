//! What copies of a region cost, by the width of their accesses.

use crate::{CopyMethod, CopyPlan, PhaseRun, Reason, StreamKind};
use serde::{Serialize, Serializer};

/// One way of copying, as a run measured it.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyRow {
    /// The phase that measured it.
    pub phase: String,
    /// What was copied how.
    pub plan: CopyPlan,
    /// The rate, where it is valid.
    pub bytes_per_s: Option<f64>,
    /// How many times the rate of single bytes it is, on the same bytes in the same direction.
    pub ratio_to_byte: Option<f64>,
    /// Why there is no rate.
    pub reasons: Vec<Reason>,
}

impl CopyRow {
    /// Of a phase that copies.
    pub fn of(phase: &PhaseRun) -> Option<Self> {
        let StreamKind::Copy(plan) = &phase.plan.streams.first()?.kind else { return None };
        let metric = phase.metrics.iter().find(|m| m.key().quantity == "throughput_bytes_per_s");
        let reasons = phase.reasons.iter().cloned();
        let reasons = reasons.chain(phase.plan.skip.clone()).collect();
        let bytes_per_s = metric.and_then(|m| m.value);
        Some(Self { phase: phase.plan.name.clone(), plan: plan.clone(), bytes_per_s, ratio_to_byte: None, reasons })
    }

    /// Time of a byte, nanoseconds.
    pub fn ns_per_byte(&self) -> Option<f64> {
        self.bytes_per_s.filter(|rate| *rate > 0.0).map(|rate| 1e9 / rate)
    }

    /// Whether it is one width's single accesses.
    pub fn plain_bytes(&self) -> Option<u32> {
        match self.plan.copy_by {
            CopyMethod::Plain(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// What single accesses cost: time = accesses x `access_ns` + bytes / `burst_bytes_per_s`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AccessCost {
    /// In JSON `operation`, `read` or `write`.
    #[serde(rename = "operation", serialize_with = "operation")]
    pub writes: bool,
    /// The bytes that it goes round in; 0, in JSON null: all of the region.
    #[serde(serialize_with = "unless_all")]
    pub set_bytes: u64,
    /// Time of one access.
    pub access_ns: f64,
    /// Rate beside that; `None` where nothing is left beside it.
    pub burst_bytes_per_s: Option<f64>,
    /// The widest access that is one transaction: wider ones cost as many as they have of these.
    pub width_bytes: u32,
    /// Whether none of the widths measured was wider: then the bus may be.
    pub or_wider: bool,
    /// The largest deviation of a measured time, as a share of it.
    pub worst_residual_ratio: f64,
}

fn operation<S: Serializer>(writes: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *writes { "write" } else { "read" })
}

fn unless_all<S: Serializer>(set_bytes: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    Some(set_bytes).filter(|n| **n > 0).serialize(serializer)
}

/// What calls cost, in which the kernel copies: time = `fixed_ns` + bytes / `bytes_per_s`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CallCost {
    /// Time of a call before the first byte.
    pub fixed_ns: f64,
    /// Once it copies.
    pub bytes_per_s: f64,
    /// The width of the kernel's accesses, by the cost of one that was measured beside.
    pub implied_width_bytes: Option<f64>,
}

/// All that a run says of copies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopyReport {
    /// A row each, in the order of the plan.
    pub rows: Vec<CopyRow>,
    /// For each direction and working set of which enough widths were measured.
    pub costs: Vec<AccessCost>,
    /// Where calls were measured by their size.
    pub calls: Option<CallCost>,
}
