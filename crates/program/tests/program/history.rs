//! `narrows history`: its contract, an event that is seen, said and acknowledged, its page, and archives that are not in order.

use crate::program::Scratch;
use serde::Deserialize;
use serde_json::Value;
use std::fs;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    schema: String,
    series: Vec<Series>,
    events: Vec<Event>,
    notes: Vec<String>,
    unreadable: Vec<String>,
    runs: usize,
    answer: String,
    met: bool,
    report: Option<String>,
}

#[derive(Deserialize, PartialEq, Clone)]
#[serde(deny_unknown_fields)]
struct Key {
    machine: String,
    device: String,
    workload: String,
    plan: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Series {
    key: Key,
    metric: String,
    unit: String,
    better: Option<String>,
    points: Vec<Point>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    run_id: String,
    time: Option<String>,
    value: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    id: String,
    key: Key,
    before: String,
    after: String,
    time: Option<String>,
    metrics: Vec<Changed>,
    environment_differences: Vec<Value>,
    notes: Vec<String>,
    acknowledged: Option<Said>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changed {
    id: String,
    ratio: f64,
    low: f64,
    high: f64,
    direction: Option<String>,
    from: f64,
    to: f64,
    #[allow(dead_code)]
    unit: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    why: String,
    at: String,
}

/// Runs of a simulated device whose reads take `us` each, some more and some less.
fn runs(scratch: &Scratch, tag: &str, numbers: std::ops::Range<u32>, us: f64, more: &[&str]) {
    for i in numbers {
        // Within 3 % of it, never twice the same.
        let noise = 1.0 + 0.03 * (f64::from(i * 37 % 21) / 10.0 - 1.0);
        let target = format!("sim:nvme,seed={i},read-overhead={:.2}us", us * noise);
        let job = ["run", "--rw", "randread", "--bs", "4k", "--runtime", "1", "--size", "64m", "--tag", tag];
        let ended = scratch.run(job.iter().chain(more).copied().chain([target.as_str()]));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
}

fn history(scratch: &Scratch, args: &[&str], code: i32) -> History {
    let all = ["history"].iter().chain(args).chain(&["--json"]).copied();
    serde_json::from_value(scratch.json(all, code)).expect("narrows/history/1")
}

#[test]
fn an_event_is_seen_said_acknowledged_and_drawn() {
    let scratch = Scratch::new();
    let none = history(&scratch, &[], 0);
    assert_eq!((none.schema.as_str(), none.runs, none.met), ("narrows/history/1", 0, true));
    runs(&scratch, "nightly", 0..12, 70.0, &[]);
    let still = history(&scratch, &[], 0);
    assert!(still.events.is_empty() && still.met && still.answer.starts_with("No change in 2 series of 12 runs"));
    runs(&scratch, "nightly", 12..22, 80.0, &[]);

    let changed = history(&scratch, &[], 1);
    assert_eq!((changed.runs, changed.series.len(), changed.events.len(), changed.met), (22, 2, 1, false));
    let of = &changed.series[0];
    assert_eq!(
        (of.key.machine.as_str(), of.key.workload.as_str(), of.key.plan.len()),
        ("simulated", "command line", 16)
    );
    assert!(of.key.device.starts_with("NVMe solid-state drive") && of.points.len() == 22 && of.points[0].value > 0.0);
    assert!(of.points.iter().all(|p| p.time.is_some()) && !of.unit.is_empty() && of.better.is_some());
    let event = &changed.events[0];
    assert!(event.key == of.key && event.acknowledged.is_none() && event.notes.is_empty() && event.time.is_some());
    let place = |run: &String| of.points.iter().position(|p| p.run_id == *run).expect("a run of the series");
    assert_eq!((place(&event.before), place(&event.after)), (11, 12));
    assert_eq!(event.metrics.len(), 2, "rate and p99");
    for m in &event.metrics {
        assert_eq!(m.direction.as_deref(), Some("worse"), "{}", m.id);
        assert!(m.low < m.ratio && m.ratio < m.high && (m.to / m.from - m.ratio).abs() < 1e-9, "{}", m.id);
    }
    assert!(event.environment_differences.iter().any(|d| d["what"] == "target"), "what else changed");

    // A person who asks, and a page whose points lead to the runs.
    let page = scratch.archive().join("history.html");
    let said = scratch.run(["history", "nightly", "--report", page.to_str().unwrap()]);
    assert_eq!(said.code, 1);
    assert!(said.stdout.contains(&event.id) && said.stdout.contains("history ack") && said.stdout.contains('▇'));
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains(&format!("href=\"reports/{}.html\"", event.after)), "a point leads to its run");
    assert!(html.contains("class=\"event\""));

    // The same runs for others: a table with its schema, the last one for Prometheus and for Bencher.
    let table = scratch.path().join("table");
    assert_eq!(scratch.run(["export", "nightly", "--format", "history-csv", "-o", "table/"]).code, 0);
    let (csv, schema) =
        (fs::read_to_string(table.join("history.csv")).unwrap(), fs::read_to_string(table.join("schema.sql")).unwrap());
    assert!(
        csv.lines().count() == 23 && csv.contains(&of.key.plan) && schema.contains("\"job.iops\" double precision")
    );
    let metrics = scratch.run(["export", "nightly", "--format", "openmetrics"]).stdout;
    // Whoever serves it is another user.
    let served = scratch.path().join("narrows.prom");
    let to_file = ["export", "nightly", "--format", "openmetrics", "-o", served.to_str().unwrap()];
    assert_eq!(scratch.run(to_file).code, 0);
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&served).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o644);
    assert!(metrics.contains("narrows_operations_per_second{") && metrics.ends_with("# EOF\n"), "{metrics}");
    let bencher: Value =
        serde_json::from_str(&scratch.run(["export", "latest", "--format", "bencher"]).stdout).unwrap();
    assert!(bencher["job"]["iops"]["value"].is_f64(), "{bencher}");

    // Known from now on, also with further runs.
    let refused = scratch.run(["history", "ack", &event.id, "  "]);
    assert!(refused.code == 2 && refused.stderr.contains("the reason"), "{}", refused.stderr);
    let unknown = scratch.run(["history", "ack", "ffffffff", "why"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("no event"), "{}", unknown.stderr);
    let acknowledged = scratch.json(["history", "ack", &event.id[..6], "firmware 1.3", "--json"], 0);
    assert_eq!(acknowledged["schema"], "narrows/history-ack/1");
    assert_eq!(acknowledged["event"]["acknowledged"]["why"], "firmware 1.3");
    runs(&scratch, "nightly", 22..24, 80.0, &[]);
    let known = history(&scratch, &[], 0);
    let said = known.events[0].acknowledged.as_ref().expect("said before");
    assert!(known.met && said.why == "firmware 1.3" && said.at.ends_with('Z'));
}

#[test]
fn what_is_asked_for_is_a_tag_a_target_metrics_or_the_latest_runs() {
    let scratch = Scratch::new();
    runs(&scratch, "a", 0..5, 70.0, &[]);
    runs(&scratch, "b", 5..9, 70.0, &["--iodepth", "4"]);
    let all = history(&scratch, &[], 0);
    assert_eq!((all.runs, all.series.len()), (9, 4), "two plans are never mixed");
    assert_ne!(all.series[0].key.plan, all.series[2].key.plan);
    assert_eq!(history(&scratch, &["b"], 0).runs, 4);
    assert_eq!(history(&scratch, &["sim:nvme,seed=3,read-overhead=69.16us"], 0).runs, 1);
    assert_eq!(history(&scratch, &["sim:nvme"], 0).runs, 9);
    let one = history(&scratch, &["a", "--metric", "*.latency_ns_p50"], 0);
    assert_eq!(one.series.iter().map(|s| s.metric.as_str()).collect::<Vec<_>>(), ["job.latency_ns_p50"]);
    let latest = history(&scratch, &["--since", "3"], 0);
    assert!(latest.series.iter().all(|s| s.points.len() == 3));
    assert_eq!(history(&scratch, &["--since", "1h"], 0).runs, 9);
    for (wrong, says) in [
        (vec!["nothing"], "no run of the archive is of 'nothing'"),
        (vec!["--metric", "nothing"], "no run that is looked at has such a metric"),
        (vec!["--since", "0"], "--since 0 leaves no run to look at"),
        (vec!["--since", "soon"], "--since"),
    ] {
        let ended = scratch.run(["history"].iter().chain(&wrong));
        assert!(ended.code == 2 && ended.stderr.contains(says), "{wrong:?}: {}", ended.stderr);
    }
}

#[test]
fn damaged_runs_and_those_of_a_newer_version_are_said_and_left_out() {
    let scratch = Scratch::new();
    runs(&scratch, "a", 0..4, 70.0, &[]);
    let mut bundles: Vec<_> =
        fs::read_dir(scratch.archive().join("runs")).unwrap().map(|e| e.unwrap().path()).collect();
    bundles.sort();
    fs::write(bundles[0].join("run.json"), "{").unwrap();
    let newer =
        fs::read_to_string(bundles[1].join("run.json")).unwrap().replace("narrows/bundle/1", "narrows/bundle/9");
    fs::write(bundles[1].join("run.json"), newer).unwrap();
    fs::remove_file(scratch.archive().join("index.jsonl")).unwrap();
    let history = history(&scratch, &[], 0);
    assert_eq!((history.runs, history.unreadable.len()), (2, 2));
    assert!(history.unreadable.iter().any(|u| u.contains("narrows/bundle/9")), "{:?}", history.unreadable);
    assert!(history.notes.is_empty() && history.report.is_none());
    fs::write(scratch.archive().join("acknowledged.json"), "[{]").unwrap();
    let ended = scratch.run(["history"]);
    assert!(ended.code == 4 && ended.stderr.contains("acknowledged.json is damaged"), "{}", ended.stderr);
}
