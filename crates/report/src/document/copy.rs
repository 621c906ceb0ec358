//! `narrows/copy/1`.

use model::{AccessCost, CallCost, CopyReport, CopyRow, Evidence, Finding, Run};
use serde::Serialize;

/// What `narrows copy --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/copy/1")]
pub struct CopyDocument<'a> {
    /// The run that was kept.
    pub run_id: &'a str,
    /// The region, as it was named.
    pub region: &'a str,
    /// A way of copying each.
    pub rows: Vec<CopyEntry<'a>>,
    /// What single accesses cost, by direction and working set.
    pub costs: &'a [AccessCost],
    /// What calls cost.
    pub calls: Option<CallCost>,
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

fn entry(row: &CopyRow) -> CopyEntry<'_> {
    CopyEntry {
        operation: if row.plan.copy_writes { "write" } else { "read" },
        width_bytes: row.plan.copy_by.width_bytes(),
        method: row.plan.copy_by.name(),
        set_bytes: Some(row.plan.copy_set_bytes).filter(|n| *n > 0),
        copy_bytes: row.plan.copy_bytes,
        bytes_per_s: row.bytes_per_s,
        ratio_to_byte: row.ratio_to_byte,
        reasons: &row.reasons,
    }
}

impl<'a> CopyDocument<'a> {
    /// The document of a run of copies.
    pub fn new(run: &'a Run, report: &'a CopyReport, findings: &'a [Finding]) -> Self {
        Self {
            run_id: &run.id,
            region: &run.target.name,
            rows: report.rows.iter().map(entry).collect(),
            costs: &report.costs,
            calls: report.calls,
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
