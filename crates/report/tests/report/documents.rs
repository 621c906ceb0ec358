//! The JSON contracts, redeclared with unknown fields denied: a key that is added, renamed or lost fails here.

use crate::fixture;
use model::{Failure, FailureKind, LimitLayer};
use report::document::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub mod contract {
    use super::*;

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
}

/// Reads the document as its contract, writes it again: nothing unknown, nothing lost, no key that may be missing.
pub fn holds<C: Serialize + for<'de> Deserialize<'de>>(document: &impl Serialize) -> C {
    let text = to_json(document).expect("documents serialize");
    let read: C = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let ours: Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(serde_json::to_value(&read).expect("contracts serialize"), ours);
    read
}

#[test]
fn check_of_a_whole_run() {
    let s = fixture::sd_card();
    let check: contract::Check = holds(&CheckDocument::new(&s.check()));
    assert_eq!(check.schema, "narrows/check/1");
    assert_eq!(check.run_id, "20261120T213000Z-7f3a9c21");
    let m = check.metrics.iter().find(|m| m.id == "seq-write.throughput_bytes_per_s").expect("metric");
    assert_eq!((m.unit.as_str(), m.better.as_deref(), m.status.as_str()), ("bytes_per_s", Some("higher"), "measured"));
    assert_eq!(m.interval.as_deref(), Some("within-run"));
    assert_eq!(check.limit.layer, "driver");
    assert_eq!(check.limit.confidence, "probable");
    assert_eq!(check.limit.evidence[2].kind, "absence");
    assert_eq!(check.limit.evidence[2].value, Value::Null);
}

#[test]
fn check_with_refusals_has_null_values() {
    let s = fixture::troubled();
    let check: contract::Check = holds(&CheckDocument::new(&s.check()));
    let refused = check.metrics.iter().find(|m| m.id == "seq-read.throughput_bytes_per_s").expect("metric");
    assert_eq!((refused.status.as_str(), refused.value, refused.low), ("refused", None, None));
    assert!(refused.rejected_value.is_some() && !refused.reasons.is_empty());
    let skipped = check.metrics.iter().find(|m| m.id == "sync-write.iops").expect("metric");
    assert_eq!((skipped.status.as_str(), skipped.value, skipped.n), ("skipped", None, 0));
    assert_eq!(check.state, "interrupted");
    assert!(check.next_step.is_none());
}

#[test]
fn check_of_hostile_names_is_valid_json() {
    let s = fixture::hostile();
    let check: contract::Check = holds(&CheckDocument::new(&s.check()));
    assert_eq!(check.target["name"], fixture::HOSTILE);
}

#[test]
fn error() {
    let failure = Failure::new(FailureKind::Refused, "/dev/sda is mounted").remedy("unmount it");
    let error: contract::Error = holds(&ErrorDocument::new(&failure));
    assert_eq!((error.schema.as_str(), error.kind.as_str()), ("narrows/error/1", "refused"));
    let bare: contract::Error = holds(&ErrorDocument::new(&Failure::new(FailureKind::Usage, "no such option")));
    assert_eq!(bare.remedy, None);
}

fn entry(run: &model::Run, tags: Vec<String>) -> RunEntry {
    RunEntry {
        run_id: run.id.clone(),
        started: run.sessions.first().map(|s| s.started.clone()),
        command: run.command.clone(),
        workload: run.plan.name.clone(),
        device: run.target.stack.device_layer().map(|l| l.name.clone()),
        target: run.target.name.clone(),
        state: run.state,
        duration_s: run.duration_ns as f64 / 1e9,
        bytes_written: run.bytes_written,
        metrics: run.headlines(),
        tags,
    }
}

#[test]
fn run_and_runs() {
    let s = fixture::troubled();
    let tags = vec!["before".to_owned()];
    let run: contract::Run = holds(&RunDocument::new(&s.run, &tags, &s.depth_curves));
    assert_eq!((run.schema.as_str(), run.phases.len()), ("narrows/run/1", 11));
    assert_eq!((run.validity.as_str(), run.workload.as_str()), ("partial", "check"));
    assert!(run.verify.is_none() && run.depth_curves.is_empty());
    let entries = [entry(&s.run, tags)];
    let runs: contract::Runs = holds(&RunsDocument::new(&entries));
    assert_eq!(runs.schema, "narrows/runs/1");
    assert_eq!(runs.runs[0].metrics.len(), model::Run::HEADLINES.len());
    let of_depth = entry(&fixture::depth().run, vec![]);
    let ids: Vec<&str> = of_depth.metrics.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(ids, ["qd1.iops", "qd2.iops", "qd4.iops", "qd8.iops", "qd16.iops"]);
    let none: contract::Runs = holds(&RunsDocument::new(&[]));
    assert!(none.runs.is_empty());
}

#[test]
fn a_run_says_what_went_wrong_in_it() {
    let s = fixture::jobs_and_changes();
    let run: contract::Run = holds(&RunDocument::new(&s.run, &[], &s.depth_curves));
    let verify = run.verify.expect("it verified");
    assert_eq!((verify.clean, verify.bytes_verified, verify.mismatches["lost"]), (false, 1 << 30, 2));
    assert_eq!((run.errors["EIO"], run.errors["ENOSPC"]), (3, 1_200));
    assert_eq!((run.validity.as_str(), run.notes.len()), ("invalid", 1));
    let phase = run.phases.iter().find(|p| p.name == "db-and-log").expect("the phase");
    assert_eq!(phase.changes[0]["bytes_before"], 137_800_000);
    let s = fixture::depth();
    let run: contract::Run = holds(&RunDocument::new(&s.run, &[], &s.depth_curves));
    assert_eq!(run.depth_curves[0]["knee"]["state"], "at");
    assert_eq!(run.depth_curves[0]["knee"]["depth"], 32);
}

#[test]
fn explain() {
    let page = model::FindingText {
        id: "sd-a2-without-queue".into(),
        title: "An A2 card in a host without command queue".into(),
        layer: LimitLayer::Driver,
        status: model::CatalogueStatus::Probable,
        meaning: "An A2 card reaches its class only with its command queue.\nWithout one it is slower than an A1 card."
            .into(),
        evidence: vec!["application class A2 in ssr".into(), "no command queue in the host".into()],
        gain_basis: "None is predicted: no ceiling is known.".into(),
        fix: "Use a host with SD command queueing, or an A1 card.\ndtparam=sd_cqe=2".into(),
        undo: "dtparam=sd_cqe=0".into(),
        sources: vec!["SD card study".into()],
        links: vec![],
    };
    insta::assert_snapshot!("explain", report::explain_text(&page, &report::Style::default()));
    let explain: contract::Explain = holds(&ExplainDocument::new(&page));
    assert_eq!((explain.schema.as_str(), explain.layer.as_str()), ("narrows/explain/1", "driver"));
}

#[test]
fn actions_and_pages() {
    let lines = [("20261120T213000Z-7f3a9c21".to_owned(), "whole".to_owned())];
    let action: contract::Action = holds(&ActionDocument::new("verify", &lines));
    assert_eq!((action.schema.as_str(), action.results[0].result.as_str()), ("narrows/action/1", "whole"));
    assert!(action.results[0].ok);
    let failed = [lines[0].0.clone()];
    let action: contract::Action = holds(&ActionDocument::new("verify", &lines).except(&failed));
    assert!(!action.results[0].ok);
    let s = fixture::sd_card();
    let runs = [s.run, fixture::troubled().run];
    let page: contract::Page = holds(&PageDocument::new(&runs, "/tmp/page.html").expect("two runs"));
    assert_eq!((page.schema.as_str(), page.report.as_str()), ("narrows/report/1", "/tmp/page.html"));
    assert_eq!((&page.run_id, page.run_ids), (&runs[0].id, runs.iter().map(|r| r.id.clone()).collect()));
    assert!(PageDocument::new(&[], "/tmp/page.html").is_none());
}

#[test]
fn lists_as_text() {
    let s = fixture::troubled();
    let style = report::Style::default();
    let entries = [entry(&fixture::sd_card().run, vec!["before".into()]), entry(&s.run, vec![])];
    insta::assert_snapshot!("runs_list", report::runs_table(&entries, &style));
    insta::assert_snapshot!("runs_show", report::run_text(&s.run, &["before".to_owned()], &style));
}
