//! The documents of constructed runs, held against their contracts.

use crate::{contract, fixture};
use model::{Failure, LimitLayer};
use report::document::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    check.is_sound();
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
    check.is_sound();
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
    check.is_sound();
    assert_eq!(check.target["name"], fixture::HOSTILE);
}

#[test]
fn error() {
    let failure = Failure::refused("/dev/sda is mounted").remedy("unmount it");
    let error: contract::Error = holds(&ErrorDocument::new(&failure));
    assert_eq!((error.schema.as_str(), error.kind.as_str()), ("narrows/error/1", "refused"));
    let bare: contract::Error = holds(&ErrorDocument::new(&Failure::usage("no such option")));
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
        fake: None,
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
    insta::assert_snapshot!("explain", report::explain(&page).text(&report::Style::default()));
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
    insta::assert_snapshot!("runs_list", report::runs(&entries).text(&style));
}
