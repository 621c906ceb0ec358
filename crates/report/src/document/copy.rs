//! `narrows/copy/1`.

use model::{AccessCost, CallCost, CopyReport, CopyRow, Evidence, Finding, Run};
use serde::Serialize;

/// What `narrows copy --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct CopyDocument<'a> {
    /// `narrows/copy/1`.
    pub schema: &'static str,
    /// The run that was kept.
    pub run_id: &'a str,
    /// The region, as it was named.
    pub region: &'a str,
    /// A way of copying each.
    pub rows: Vec<CopyEntry<'a>>,
    /// What single accesses cost, by direction and working set.
    pub costs: Vec<CopyCost>,
    /// What calls cost.
    pub calls: Option<CopyCalls>,
    pub findings: Vec<CopyFinding<'a>>,
    /// What the user should know of the region.
    pub remarks: &'a [String],
}

/// A way of copying.
#[derive(Clone, Debug, Serialize)]
pub struct CopyEntry<'a> {
    /// `read` or `write`.
    pub operation: &'static str,
    /// Bytes of an access; `null` where the method does not say.
    pub width_bytes: Option<u32>,
    /// `plain`, `burst`, `streaming`, `repeat`, `memcpy`, `call`.
    pub method: &'static str,
    /// Bytes that are gone round in; `null`: all of the region.
    pub set_bytes: Option<u64>,
    /// Bytes of an operation.
    pub copy_bytes: u32,
    /// The rate; `null` where there is none.
    pub bytes_per_s: Option<f64>,
    /// Times the rate of single bytes.
    pub ratio_to_byte: Option<f64>,
    /// Why there is no rate, and what was noticed.
    #[serde(serialize_with = "model::reason::as_lines::serialize")]
    pub reasons: &'a [model::Reason],
}

/// time = accesses x `access_ns` + bytes / `burst_bytes_per_s`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CopyCost {
    /// `read` or `write`.
    pub operation: &'static str,
    /// As in the rows.
    pub set_bytes: Option<u64>,
    /// Time of an access.
    pub access_ns: f64,
    /// Rate beside; `null` where nothing is left beside.
    pub burst_bytes_per_s: Option<f64>,
    /// The widest access that is one transaction.
    pub width_bytes: u32,
    /// Whether none wider was measured.
    pub or_wider: bool,
    /// The largest deviation of the fit, as a share of the time.
    pub worst_residual_ratio: f64,
}

/// time of a call = `fixed_ns` + bytes / `bytes_per_s`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CopyCalls {
    /// Of a call.
    pub fixed_ns: f64,
    /// Of the copy in it.
    pub bytes_per_s: f64,
    /// The width of the kernel's accesses that the cost of one implies.
    pub implied_width_bytes: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CopyFinding<'a> {
    pub id: &'a str,
    pub title: &'a str,
    /// How sure it is.
    pub confidence: model::Confidence,
    /// What it rests on.
    pub evidence: &'a [Evidence],
    /// What to do.
    pub fix: &'a str,
}

fn operation(writes: bool) -> &'static str {
    if writes { "write" } else { "read" }
}

fn entry(row: &CopyRow) -> CopyEntry<'_> {
    CopyEntry {
        operation: operation(row.plan.copy_writes),
        width_bytes: row.plan.copy_by.width_bytes(),
        method: row.plan.copy_by.name(),
        set_bytes: Some(row.plan.copy_set_bytes).filter(|n| *n > 0),
        copy_bytes: row.plan.copy_bytes,
        bytes_per_s: row.bytes_per_s,
        ratio_to_byte: row.ratio_to_byte,
        reasons: &row.reasons,
    }
}

fn cost(cost: &AccessCost) -> CopyCost {
    CopyCost {
        operation: operation(cost.writes),
        set_bytes: Some(cost.set_bytes).filter(|n| *n > 0),
        access_ns: cost.access_ns,
        burst_bytes_per_s: cost.burst_bytes_per_s,
        width_bytes: cost.width_bytes,
        or_wider: cost.or_wider,
        worst_residual_ratio: cost.worst_residual_ratio,
    }
}

impl<'a> CopyDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/copy/1";

    /// The document of a run of copies.
    pub fn new(run: &'a Run, report: &'a CopyReport, findings: &'a [Finding]) -> Self {
        let calls = |c: CallCost| CopyCalls {
            fixed_ns: c.fixed_ns,
            bytes_per_s: c.bytes_per_s,
            implied_width_bytes: c.implied_width_bytes,
        };
        Self {
            schema: Self::SCHEMA,
            run_id: &run.id,
            region: &run.target.name,
            rows: report.rows.iter().map(entry).collect(),
            costs: report.costs.iter().map(cost).collect(),
            calls: report.calls.map(calls),
            findings: findings
                .iter()
                .map(|f| CopyFinding {
                    id: &f.id,
                    title: &f.title,
                    confidence: f.confidence,
                    evidence: &f.evidence,
                    fix: &f.fix,
                })
                .collect(),
            remarks: &run.remarks,
        }
    }
}
