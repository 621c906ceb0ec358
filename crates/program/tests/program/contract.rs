//! The JSON contract, redeclared: other people's scripts rely on these keys. Unknown keys are allowed only where the
//! contract is open ("more may be added").

use crate::program::{Reason, Scratch};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Check {
    schema: String,
    run_id: String,
    target: Value,
    environment: Value,
    plan: Value,
    duration_s: f64,
    bytes_written: u64,
    metrics: Vec<Metric>,
    limit: Limit,
    limits: Vec<RowLimit>,
    fit: Vec<Fit>,
    findings: Vec<Finding>,
    ratings: Vec<Rating>,
    report: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metric {
    id: String,
    #[allow(dead_code)]
    unit: String,
    better: Option<String>,
    status: String,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    interval: Option<String>,
    n: u64,
    reasons: Vec<Reason>,
    rejected_value: Option<f64>,
    bound: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Evidence {
    kind: String,
    what: String,
    #[allow(dead_code)]
    value: Value,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    layer: String,
    statement: String,
    confidence: String,
    evidence: Vec<Evidence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowLimit {
    phase: String,
    layer: String,
    statement: String,
    confidence: String,
    evidence: Vec<Evidence>,
    #[allow(dead_code)]
    next_step: Option<Value>,
}

#[derive(Deserialize)]
struct Fit {
    r#for: String,
    met: Option<bool>,
    threshold: Option<f64>,
    value: Option<f64>,
    source: String,
    reasons: Vec<Reason>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    id: String,
    title: String,
    layer: String,
    confidence: String,
    evidence: Vec<Evidence>,
    #[allow(dead_code)]
    gain: Option<Value>,
    fix: String,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rating {
    class: String,
    met: Option<bool>,
    indication: Option<String>,
    approximation: bool,
    reasons: Vec<Reason>,
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

#[test]
fn every_simulated_device_gives_a_document_of_the_contract() {
    let scratch = Scratch::new();
    for name in ["class4-card", "a1-card", "a2-card-no-queue", "emmc", "sata-ssd", "nvme"] {
        let text = scratch.run(["check", &format!("sim:{name}"), "--json"]).stdout;
        let check: Check = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(check.schema, "narrows/check/1");
        assert!(check.target.is_object() && check.environment.is_object() && check.plan.is_object());
        assert!(check.duration_s > 1.0 && check.bytes_written > 0 && !check.run_id.is_empty());
        let report = check.report.expect("a page was written");
        assert!(std::path::Path::new(&report).exists(), "{report}");
        for m in &check.metrics {
            assert!(m.id.contains('.'), "{}", m.id);
            assert!(["measured", "refused", "skipped", "not-applicable"].contains(&m.status.as_str()), "{}", m.id);
            assert_eq!(m.status == "measured", m.value.is_some(), "{}", m.id);
            assert!(m.rejected_value.is_none() || m.status == "refused", "{}", m.id);
            assert!(m.bound.is_none() || m.rejected_value.is_some(), "{}", m.id);
            assert!(m.bound.as_deref().is_none_or(|b| ["at-least", "at-most"].contains(&b)), "{}", m.id);
            assert!(m.better.as_deref().is_none_or(|b| b == "higher" || b == "lower"), "{}", m.id);
            if let (Some(low), Some(high), Some(value)) = (m.low, m.high, m.value) {
                assert!(low <= value && value <= high, "{}: {low} {value} {high}", m.id);
                assert_eq!(m.interval.as_deref(), Some("within-run"));
            }
            assert!(m.status != "measured" || m.n > 0, "{}", m.id);
            assert!(m.status == "measured" || !m.reasons.is_empty(), "{}", m.id);
            for reason in &m.reasons {
                assert!(!reason.text.is_empty() && reason.code.as_deref() != Some(""), "{}: {reason:?}", m.id);
                assert!(reason.data.as_ref().is_none_or(|d| d.is_object()), "{}: {reason:?}", m.id);
            }
        }
        assert!(LAYERS.contains(&check.limit.layer.as_str()), "{}", check.limit.layer);
        assert!(["high", "probable", "low"].contains(&check.limit.confidence.as_str()));
        assert!(!check.limit.statement.is_empty());
        evidence_is_sound(&check.limit.evidence);
        for limit in &check.limits {
            assert!(LAYERS.contains(&limit.layer.as_str()) && !limit.statement.is_empty(), "{}", limit.phase);
            assert!(["high", "probable", "low"].contains(&limit.confidence.as_str()), "{}", limit.phase);
            let known = |m: &&Metric| m.id.split('.').next() == Some(limit.phase.as_str());
            assert!(check.metrics.iter().any(|m| known(&m)), "{} is a phase of the run", limit.phase);
            evidence_is_sound(&limit.evidence);
        }
        for fit in &check.fit {
            assert!(!fit.r#for.is_empty() && !fit.source.is_empty() && fit.threshold.is_some());
            assert!(fit.met.is_none() || fit.value.is_some(), "{}: an answer has its number", fit.r#for);
            assert!(fit.met.is_some() || !fit.reasons.is_empty(), "{}: no answer has its reason", fit.r#for);
        }
        for f in &check.findings {
            assert!(LAYERS.contains(&f.layer.as_str()) && !f.title.is_empty() && !f.fix.is_empty());
            assert!(!f.source.is_empty() && !f.confidence.is_empty());
            evidence_is_sound(&f.evidence);
            assert_eq!(scratch.run(["explain", &f.id]).code, 0, "{}", f.id);
        }
        for r in &check.ratings {
            assert_eq!(r.met, None, "a short test certifies nothing: {}", r.class);
            assert!(r.approximation && !r.reasons.is_empty(), "{}", r.class);
            assert!(r.indication.as_deref().is_none_or(|i| i == "above" || i == "below"), "{}", r.class);
        }
    }
}

#[test]
fn the_ids_are_those_of_the_contract() {
    let scratch = Scratch::new();
    let text = scratch.run(["check", "sim:sata-ssd", "--json"]).stdout;
    let check: Check = serde_json::from_str(&text).unwrap();
    for id in [
        "copy.throughput_bytes_per_s",
        "layout.throughput_bytes_per_s",
        "seq-write.throughput_bytes_per_s",
        "buffered-write.throughput_bytes_per_s",
        "seq-read.throughput_bytes_per_s",
        "buffered-read.throughput_bytes_per_s",
        "rand-read-qd1.iops",
        "rand-read-qd32.iops",
        "rand-read-qd32.latency_ns_p99",
        "sync-write.iops",
        "sync-write.latency_ns_p99",
        "sync-write.latency_ns_max",
        "rand-write-qd1.iops",
        "rand-write-qd32.iops",
    ] {
        assert!(check.metrics.iter().any(|m| m.id == id), "{id}");
    }
}

#[test]
fn the_card_fits_a_forum_post() {
    let scratch = Scratch::new();
    for (lang, ascii) in [("C.UTF-8", false), ("C", true)] {
        let output = scratch.command(["check", "sim:a2-card-no-queue"]).env("LANG", lang).output().unwrap();
        let card = String::from_utf8(output.stdout).unwrap();
        for line in card.lines() {
            assert!(line.chars().count() <= 80 || line.contains(".html"), "{line}");
        }
        assert_eq!(card.is_ascii(), ascii, "LANG={lang}");
        assert!(card.trim_end().ends_with(".html"), "the page's path is the last thing: {card}");
    }
}
