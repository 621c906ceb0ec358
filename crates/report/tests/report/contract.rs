//! The JSON contracts, redeclared with unknown fields denied: a key that is added, renamed or lost fails where one is read. Documents of
//! constructed runs are held against them here, those of the program in its own tests.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub code: Option<String>,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    pub id: String,
    pub unit: String,
    pub better: Option<String>,
    pub status: String,
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub interval: Option<String>,
    pub n: u64,
    pub reasons: Vec<Reason>,
    pub rejected_value: Option<f64>,
    pub bound: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub kind: String,
    pub what: String,
    pub value: Value,
    pub source: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub layer: String,
    pub statement: String,
    pub confidence: String,
    pub evidence: Vec<Evidence>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowLimit {
    pub phase: String,
    pub layer: String,
    pub statement: String,
    pub confidence: String,
    pub evidence: Vec<Evidence>,
    pub next_step: Option<NextStep>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    pub r#for: String,
    pub title: String,
    pub met: Option<bool>,
    pub threshold: f64,
    pub value: Option<f64>,
    pub bound: Option<String>,
    pub unit: String,
    pub better: String,
    pub metric: String,
    pub quantity: String,
    pub by: String,
    pub margin_ratio: Option<f64>,
    pub ring_bytes: Option<u64>,
    pub source: String,
    pub reasons: Vec<Reason>,
    /// Of a use with more than one need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeedFit>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedFit {
    pub metric: String,
    pub quantity: String,
    pub by: String,
    pub unit: String,
    pub threshold: f64,
    pub value: Option<f64>,
    pub bound: Option<String>,
    pub met: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gain {
    pub metric: String,
    pub at_most_ratio: Option<f64>,
    pub basis: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    pub id: String,
    pub title: String,
    pub layer: String,
    pub confidence: String,
    pub evidence: Vec<Evidence>,
    pub gain: Option<Gain>,
    pub fix: String,
    pub source: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rating {
    pub class: String,
    pub met: Option<bool>,
    pub indication: Option<String>,
    pub approximation: bool,
    pub reasons: Vec<Reason>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextStep {
    pub text: String,
    pub predicted_ratio: Option<f64>,
    pub basis: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warmup {
    pub rule: String,
    pub cut_ns: u64,
    pub operations: u64,
    pub bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSummary {
    pub name: String,
    pub status: String,
    pub reasons: Vec<Reason>,
    pub steady: Option<bool>,
    pub duration_s: Option<f64>,
    pub operations: Option<u64>,
    pub bytes: Option<u64>,
    pub stop: Option<String>,
    pub warmup: Option<Warmup>,
    pub engine: Option<Engine>,
    pub direct: Option<Value>,
    pub cold: Option<Value>,
    pub data: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    pub kind: String,
    pub features: Vec<String>,
    pub missing: Vec<String>,
    pub batch_submit: u32,
    pub batch_complete: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    pub layer: String,
    pub statement: String,
    pub confidence: String,
    pub evidence: Vec<Evidence>,
    pub decided_by: String,
}

/// Target, environment and plan are the model's own values; the archive room holds their form.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub schema: String,
    pub answer: Option<String>,
    pub run_id: String,
    pub target: Value,
    pub environment: Value,
    pub plan: Value,
    pub duration_s: f64,
    pub bytes_written: u64,
    pub metrics: Vec<Metric>,
    pub limit: Limit,
    pub limits: Vec<RowLimit>,
    pub fit: Vec<Fit>,
    pub verdict: Option<String>,
    pub met: Option<bool>,
    pub causes: Vec<Cause>,
    pub findings: Vec<Finding>,
    pub ratings: Vec<Rating>,
    pub report: Option<String>,
    pub state: String,
    pub started: Option<String>,
    pub program_version: String,
    pub remarks: Vec<String>,
    pub next_step: Option<NextStep>,
    pub phases: Vec<PhaseSummary>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Error {
    pub schema: String,
    pub kind: String,
    pub message: String,
    pub remedy: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPhase {
    pub name: String,
    pub metrics: Vec<Metric>,
    pub steady: Option<bool>,
    pub status: String,
    pub reasons: Vec<Reason>,
    pub changes: Vec<Value>,
    pub errors: Option<std::collections::BTreeMap<String, u64>>,
    pub verify: Option<Value>,
    pub rounds: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub schema: String,
    pub answer: Option<String>,
    pub run_id: String,
    pub target: Value,
    pub plan: Value,
    pub phases: Vec<RunPhase>,
    pub command: String,
    pub state: String,
    pub program_version: String,
    pub environment: Value,
    pub sessions: Vec<Value>,
    pub duration_s: f64,
    pub bytes_written: u64,
    pub remarks: Vec<String>,
    pub tags: Vec<String>,
    pub validity: String,
    pub workload: String,
    pub notes: Vec<String>,
    pub verify: Option<RunVerify>,
    pub errors: std::collections::BTreeMap<String, u64>,
    pub depth_curves: Vec<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunVerify {
    pub clean: bool,
    pub bytes_verified: u64,
    pub mismatches: std::collections::BTreeMap<String, u64>,
    pub read_from: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunsEntry {
    pub run_id: String,
    pub started: Option<String>,
    pub command: String,
    pub workload: String,
    pub device: Option<String>,
    pub target: String,
    pub state: String,
    pub duration_s: f64,
    pub bytes_written: u64,
    pub metrics: Vec<Metric>,
    pub tags: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    pub schema: String,
    pub runs: Vec<RunsEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionResult {
    pub subject: String,
    pub ok: bool,
    pub result: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    pub schema: String,
    pub action: String,
    pub results: Vec<ActionResult>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub schema: String,
    pub run_id: String,
    pub run_ids: Vec<String>,
    pub report: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    pub schema: String,
    pub id: String,
    pub title: String,
    pub layer: String,
    pub status: String,
    pub meaning: String,
    pub evidence: Vec<String>,
    pub gain_basis: String,
    pub fix: String,
    pub undo: String,
    pub sources: Vec<String>,
    pub links: Vec<String>,
}

const LAYERS: [&str; 14] = [
    "memory",
    "cpu",
    "page-cache",
    "filesystem",
    "block-layer",
    "stacking",
    "driver",
    "link",
    "controller",
    "device",
    "thermal-power",
    "throttle",
    "generator",
    "unknown",
];

fn evidence_is_sound(evidence: &[Evidence]) {
    for e in evidence {
        assert!(["fact", "measurement", "absence"].contains(&e.kind.as_str()), "{}", e.kind);
        assert!(!e.what.is_empty() && !e.source.is_empty(), "{}", e.what);
    }
}

impl Metric {
    fn is_sound(&self) {
        let Self { id, status, value, reasons, .. } = self;
        assert!(id.contains('.'), "{id}");
        assert!(["measured", "refused", "skipped", "not-applicable"].contains(&status.as_str()), "{id}");
        assert_eq!(status == "measured", value.is_some(), "{id}");
        assert!(self.rejected_value.is_none() || status == "refused", "{id}");
        assert!(self.bound.is_none() || self.rejected_value.is_some(), "{id}");
        assert!(self.bound.as_deref().is_none_or(|b| ["at-least", "at-most"].contains(&b)), "{id}");
        assert!(self.better.as_deref().is_none_or(|b| b == "higher" || b == "lower"), "{id}");
        if let (Some(low), Some(high), Some(value)) = (self.low, self.high, *value) {
            assert!(low <= value && value <= high, "{id}: {low} {value} {high}");
            assert_eq!(self.interval.as_deref(), Some("within-run"));
        }
        assert!(status != "measured" || self.n > 0, "{id}");
        assert!(status == "measured" || !reasons.is_empty(), "{id}");
        for reason in reasons {
            assert!(!reason.text.is_empty() && reason.code.as_deref() != Some(""), "{id}: {reason:?}");
        }
    }
}

impl Check {
    /// What holds of the values, whatever was checked.
    pub fn is_sound(&self) {
        assert_eq!(self.schema, "narrows/check/1");
        assert!(self.target.is_object() && self.environment.is_object() && self.plan.is_object());
        assert!(!self.run_id.is_empty());
        self.metrics.iter().for_each(Metric::is_sound);
        let one = |layer: &str, statement: &str, confidence: &str, evidence: &[Evidence]| {
            assert!(LAYERS.contains(&layer) && !statement.is_empty(), "{layer}: {statement}");
            assert!(["high", "probable", "low"].contains(&confidence), "{confidence}: {statement}");
            evidence_is_sound(evidence);
        };
        one(&self.limit.layer, &self.limit.statement, &self.limit.confidence, &self.limit.evidence);
        for limit in &self.limits {
            one(&limit.layer, &limit.statement, &limit.confidence, &limit.evidence);
            let known = |m: &Metric| m.id.split('.').next() == Some(limit.phase.as_str());
            assert!(self.metrics.iter().any(known), "{} is a phase of the run", limit.phase);
        }
        for fit in &self.fit {
            assert!(!fit.r#for.is_empty() && !fit.source.is_empty());
            assert!(fit.met.is_none() || fit.value.is_some(), "{}: an answer has its number", fit.r#for);
            assert!(fit.met.is_some() || !fit.reasons.is_empty(), "{}: no answer has its reason", fit.r#for);
            // A use is met where all its needs are, and not where one is not.
            let met = |which: Option<bool>| fit.needs.iter().any(|need| need.met == which);
            assert!(fit.met != Some(true) || !met(Some(false)) && !met(None), "{}: {:?}", fit.r#for, fit.needs);
            assert!(fit.needs.is_empty() || (fit.met == Some(false)) == met(Some(false)), "{}", fit.r#for);
        }
        for f in &self.findings {
            one(&f.layer, &f.title, &f.confidence, &f.evidence);
            assert!(!f.fix.is_empty() && !f.source.is_empty(), "{}", f.id);
        }
        for r in &self.ratings {
            assert_eq!(r.met, None, "a short test certifies nothing: {}", r.class);
            assert!(r.approximation && !r.reasons.is_empty(), "{}", r.class);
            assert!(r.indication.as_deref().is_none_or(|i| i == "above" || i == "below"), "{}", r.class);
        }
    }
}
