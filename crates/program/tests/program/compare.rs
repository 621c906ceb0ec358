//! `narrows compare`: sides that are odd, and answers that are honest.

use crate::contract::declared::Reason;
use crate::program::Scratch;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The keys that scripts rely on.
#[derive(Deserialize)]
struct Compare {
    schema: String,
    question: Question,
    metrics: Vec<Metric>,
    environment_differences: Vec<Difference>,
    overall: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    margin_percent: BTreeMap<String, f64>,
    alpha: f64,
    pairs: u32,
    seed: Option<u64>,
}

#[derive(Deserialize)]
struct Metric {
    id: String,
    unit: String,
    better: Option<String>,
    a: Option<f64>,
    b: Option<f64>,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    p: Option<f64>,
    verdict: String,
    basis: String,
    beyond_noise: Option<bool>,
    reasons: Vec<Reason>,
}

#[derive(Deserialize)]
struct Difference {
    what: String,
}

fn run(scratch: &Scratch, workload: &str, target: &str, tag: &str) -> String {
    let document = scratch.json(["run", workload, target, "--tag", tag, "--json", "--set", "time=3s"], 0);
    document["run_id"].as_str().expect("an id").to_owned()
}

#[test]
fn single_runs_are_unclear_and_say_whether_they_are_beyond_noise() {
    let scratch = Scratch::new();
    let a = run(&scratch, "latency", "sim:class4-card", "slow");
    run(&scratch, "latency", "sim:a1-card", "fast");
    let document: Compare =
        serde_json::from_value(scratch.json(["compare", "slow", "fast", "--json"], 0)).expect("the contract");
    assert_eq!((document.schema.as_str(), document.overall.as_str()), ("narrows/compare/1", "unclear"));
    assert_eq!((document.question.pairs, document.question.seed, document.question.alpha), (0, None, 0.05));
    assert!(document.environment_differences.iter().any(|d| d.what == "target"));
    let latency = document.metrics.iter().find(|m| m.id == "read.latency_ns_p50").expect("the median");
    assert_eq!((latency.basis.as_str(), latency.verdict.as_str()), ("single", "unclear"));
    assert_eq!(
        (latency.unit.as_str(), latency.better.as_deref(), latency.beyond_noise),
        ("ns", Some("lower"), Some(true))
    );
    assert!(latency.ratio.is_some_and(|r| r < 1.0) && latency.a > latency.b);
    assert!(latency.low.is_none() && latency.high.is_none() && latency.p.is_none(), "no interval exists");
    assert!(latency.reasons.iter().any(|r| r.code.as_deref() == Some("single")));
    assert_eq!(document.question.margin_percent["read.latency_ns_p50"], 5.0);
    assert!(document.metrics.iter().all(|m| !matches!(m.verdict.as_str(), "better" | "worse")));
    // First what the answer is, then the difference of the environments, then the numbers.
    let text = scratch.run(["compare", "slow", "fast"]);
    let at = |what: &str| text.stdout.find(what).unwrap_or_else(|| panic!("{what}: {}", text.stdout));
    assert!(
        at("Cannot tell from one run of a side whether it helped: ") < at("sim:class4-card -> sim:a1-card"),
        "{}",
        text.stdout
    );
    assert!(at("sim:class4-card -> sim:a1-card") < at("One run of a side"), "{}", text.stdout);
    assert!(text.stdout.lines().all(|l| l.chars().count() <= 80), "{}", text.stdout);
    let markdown = scratch.run(["compare", "slow", "fast", "--markdown"]);
    assert!(markdown.stdout.contains("| metric | A | B | change | verdict |"), "{}", markdown.stdout);
    let page = scratch.path().join("page.html");
    let written = scratch.run(["compare", &a, "fast", "-o", page.to_str().expect("a path")]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    assert!(std::fs::read_to_string(&page).expect("a page").contains("In what else the sides differ"));
}

#[test]
fn sets_that_were_not_randomised_have_a_verdict_and_one_run_against_many_has_none() {
    let scratch = Scratch::new();
    run(&scratch, "latency", "sim:class4-card", "one");
    // With five of each the exact test can decide about three metrics; with four it cannot.
    for _ in 0..5 {
        run(&scratch, "latency", "sim:a1-card", "many");
        run(&scratch, "latency", "sim:class4-card", "others");
    }
    let document = scratch.json(["compare", "one", "many", "--json"], 0);
    assert_eq!((&document["metrics"][0]["basis"], &document["overall"]), (&"single".into(), &"unclear".into()));
    assert_eq!(document["cause"], "not-shown");
    let document = scratch.json(["compare", "others", "many", "--json", "--fail-on", "worse"], 0);
    assert_eq!((&document["metrics"][0]["basis"], &document["overall"]), (&"unpaired".into(), &"better".into()));
    assert_eq!((&document["cause"], &document["counts"]["worse"]), (&"not-shown".into(), &0.into()));
    assert!(document["cause_reasons"].to_string().contains("not-randomised"), "{document}");
    let worse = scratch.run(["compare", "many", "others", "--fail-on", "worse"]);
    assert_eq!(worse.code, 1, "{}", worse.stderr);
    assert!(worse.stdout.contains("Cause: not shown") && worse.stdout.contains("3 worse"), "{}", worse.stdout);
}

#[test]
fn what_cannot_be_compared_says_why() {
    let scratch = Scratch::new();
    let id = run(&scratch, "latency", "sim:a1-card", "a");
    run(&scratch, "stream", "sim:a1-card", "b");
    let nothing = scratch.json(["compare", "a", "b", "--json"], 4);
    assert_eq!(nothing["overall"], "invalid");
    assert!(nothing["reasons"].to_string().contains("nothing-in-common"), "{nothing}");
    for (args, code, said) in [
        (vec!["compare", "a", "a"], 2, "the same run"),
        (vec!["compare", "a", id.as_str()], 2, "the same run"),
        (vec!["compare", "a", "nothing-of-this-name"], 2, "nothing-of-this-name"),
        (vec!["compare", "a", "b", "--margin", "x"], 2, "--margin x"),
        (vec!["compare", "a", "b", "--alpha", "2"], 2, "--alpha 2"),
        (vec!["compare", "a", "b", "--primary", "no.such"], 2, "no.such"),
        (vec!["compare", "a", "b", "--json", "--markdown"], 2, "two texts"),
        (vec!["compare", "a", "b", "-o", "/no/such/directory/x.html"], 3, "/no/such/directory"),
    ] {
        let ended = scratch.run(&args);
        assert_eq!(ended.code, code, "{args:?}: {}{}", ended.stdout, ended.stderr);
        assert!(
            ended.stderr.contains(said) || ended.stdout.contains(said),
            "{args:?}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn files_of_other_tools_are_sides() {
    let scratch = Scratch::new();
    for (name, rate) in [("old.json", "a"), ("new.json", "b")] {
        let target = if rate == "a" { "sim:class4-card" } else { "sim:a1-card" };
        let id = run(&scratch, "stream", target, rate);
        let exported = scratch.run(["export", &id, "--format", "fio-json", "-o", name]);
        assert_eq!(exported.code, 0, "{}", exported.stderr);
    }
    let document: Value = scratch.json(["compare", "old.json", "new.json", "--json"], 0);
    assert_eq!(document["metrics"][0]["basis"], "single");
    assert!(document["metrics"].as_array().is_some_and(|m| m.iter().any(|m| m["beyond_noise"] == true)));
    std::fs::write(scratch.path().join("junk"), "no result of anything\n").expect("a file");
    assert_eq!(scratch.run(["compare", "old.json", "junk"]).code, 4);
}

#[test]
fn own_runs_of_other_work_are_told_first_and_give_a_script_no_verdict() {
    let scratch = Scratch::new();
    for (depth, tag) in [("1", "one"), ("32", "many"), ("1", "again")] {
        let set = format!("depth={depth}");
        let args = ["run", "latency", "sim:a1-card", "--tag", tag, "--set", "time=3s", "--set", &set];
        assert_eq!(scratch.run(args).code, 0);
    }
    let document = scratch.json(["compare", "one", "many", "--json"], 0);
    let first = &document["environment_differences"][0];
    assert_eq!(first["what"], "job options");
    assert!(first["a"].to_string().contains("depth=1") && first["b"].to_string().contains("depth=32"), "{first}");
    let text = scratch.run(["compare", "one", "many"]).stdout;
    assert!(text.find("depth=32").expect("the option") < text.find("whether it helped").expect("the answer"), "{text}");
    let refused = scratch.json(["compare", "one", "many", "--fail-on", "worse", "--json"], 3);
    assert!(refused["remedy"].as_str().is_some_and(|r| r.contains("--anyway")), "{refused}");
    assert_eq!(scratch.run(["compare", "one", "many", "--fail-on", "worse", "--anyway"]).code, 4, "one run of a side");
    assert_eq!(scratch.run(["compare", "one", "again", "--fail-on", "worse"]).code, 4);
}

/// Jobs of fio's JSON, all of the same work.
fn fio(scratch: &Scratch, file: &str, jobs: &[(&str, &str)]) -> String {
    let job = |(name, options): &(&str, &str)| {
        format!(
            r#"{{"jobname": "{name}", "error": 0, "job options": {{"rw": "randread", {options}}},
            "read": {{"io_bytes": 40960000, "bw_bytes": 4096000, "iops": 1000, "runtime": 10000, "total_ios": 10000}}}}"#
        )
    };
    let jobs: Vec<String> = jobs.iter().map(job).collect();
    let version = if file.starts_with("ours") { "fio-3.33-narrows-1.0" } else { "fio-3.33" };
    let text = format!(r#"{{"fio version": "{version}", "timestamp": 1700000000, "jobs": [{}]}}"#, jobs.join(","));
    std::fs::write(scratch.path().join(file), text).expect("a file");
    file.to_owned()
}

#[test]
fn a_verdict_for_a_script_is_of_all_that_a_has() {
    let scratch = Scratch::new();
    let options = r#""bs": "4k", "iodepth": "8""#;
    let whole = fio(&scratch, "whole.json", &[("j", options), ("k", options)]);
    let half = fio(&scratch, "half.json", &[("j", options)]);
    let ended = scratch.run(["compare", &whole, &half, "--fail-on", "worse", "--anyway"]);
    assert!(ended.code == 4 && ended.stdout.contains("B does not have 1 of the results"), "{}", ended.stdout);
    let more = scratch.run(["compare", &half, &whole, "--fail-on", "worse"]);
    assert!(more.code == 4 && !more.stdout.contains("B does not have"), "one run of a side: {}", more.stdout);
}

#[test]
fn the_same_options_written_otherwise_are_the_same_work() {
    let scratch = Scratch::new();
    let theirs = r#""bs": "4k", "runtime": "5", "size": "256m", "ioengine": "libaio""#;
    let own = r#""bs": "4096", "runtime": "5000ms", "size": "268435456", "ioengine": "io_uring""#;
    let (a, b) = (fio(&scratch, "theirs.json", &[("j", theirs)]), fio(&scratch, "ours.json", &[("j", own)]));
    let document = scratch.json(["compare", &a, &b, "--json"], 0);
    assert!(!document["environment_differences"].to_string().contains("job options"), "{document}");
    let other = fio(&scratch, "other.json", &[("j", own)]);
    let document = scratch.json(["compare", &a, &other, "--json"], 0);
    assert_eq!(document["environment_differences"][0]["a"][0], "ioengine=libaio", "that of fio is fio's");
}

/// One run of a side never decides, and no word of the answer says better or worse.
#[test]
fn single_runs_decide_nothing() {
    let scratch = Scratch::new();
    for target in ["sim:class4-card", "sim:a1-card"] {
        scratch.run(["check", target, "--seed", "1"]);
    }
    let text = scratch.run(["compare", "sim:class4-card", "sim:a1-card"]).stdout;
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("Cannot tell from one run of a side whether it helped: ") && flat.contains("(largest: "),
        "{text}"
    );
    assert!(!flat.contains("better") && !flat.contains("worse"), "{text}");
}
