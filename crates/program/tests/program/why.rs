//! `narrows why`: contract, text, deciding measurements, and runs that say nothing.

use crate::check::on_a_terminal;
use crate::program::Scratch;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Why {
    schema: String,
    run_id: String,
    #[allow(dead_code)]
    taken: Option<String>,
    answer: String,
    limit: Limit,
    causes: Vec<Cause>,
    findings: Vec<Value>,
    unknown: Vec<Value>,
    target: String,
    command: String,
    state: String,
    #[allow(dead_code)]
    next_step: Value,
    confirmation: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    layer: String,
    statement: String,
    confidence: String,
    evidence: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    layer: String,
    statement: String,
    confidence: String,
    evidence: Vec<Value>,
    decided_by: String,
    #[allow(dead_code)]
    next_step: Value,
}

fn why(scratch: &Scratch, args: &[&str], code: i32) -> Why {
    let all = [&["why", "--json"], args].concat();
    serde_json::from_value(scratch.json(all, code)).expect("narrows/why/1")
}

#[test]
fn a_check_is_attributed_as_its_card_says() {
    let scratch = Scratch::new();
    let check = scratch.json(["check", "sim:a2-card-no-queue", "--json", "--seed", "1"], 0);
    let why = why(&scratch, &[], 0);
    assert_eq!((why.schema.as_str(), why.command.as_str()), ("narrows/why/1", "check"));
    assert!(
        why.answer.starts_with(&format!("Bottleneck: {}", why.limit.statement.trim_end_matches('.'))),
        "{}",
        why.answer
    );
    assert_eq!((why.target.as_str(), why.state.as_str()), ("sim:a2-card-no-queue", "complete"));
    assert_eq!(Value::from(why.run_id.as_str()), check["run_id"]);
    assert_eq!(Value::from(why.limit.statement.as_str()), check["limit"]["statement"]);
    assert_eq!(why.limit.layer, why.causes[0].layer);
    assert_eq!(why.limit.confidence, why.causes[0].confidence);
    assert!(!why.limit.evidence.is_empty() && why.confirmation.is_null());
    assert!(why.findings.iter().any(|f| f["id"] == "sd-a2-without-queue"));
    assert!(why.unknown.iter().all(|u| u["missing"].is_string()));
    for cause in &why.causes {
        assert!(!cause.decided_by.is_empty() && !cause.evidence.is_empty(), "{}", cause.statement);
        assert_ne!(cause.confidence, "high", "nothing was compared: {}", cause.statement);
    }
}

/// What holds it back, and what to do about it, on the last lines of a screen.
#[test]
fn the_last_lines_are_the_bottleneck_and_the_next_step() {
    let scratch = Scratch::new();
    for (device, says) in [
        ("sim:class4-card", "Next step: batch small writes"),
        ("sim:a1-card", "Next step: "),
        ("sim:sata-ssd", "Next step: "),
        ("sim:nvme", "Next step: "),
        ("sim:emmc", "Next step: "),
        ("sim:a2-card-no-queue", "Next step: "),
    ] {
        scratch.json(["check", device, "--json", "--seed", "1"], 0);
        let answer = why(&scratch, &[], 0).answer;
        assert!(answer.starts_with("Bottleneck: ") && answer.contains(says), "{device}: {answer}");
        let Some(shown) = on_a_terminal(&scratch, "why", "") else { continue };
        let last: Vec<&str> = shown.stdout.lines().rev().take(20).collect();
        let last = last.into_iter().rev().flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        assert!(last.trim_end().ends_with(&answer), "{device}: {answer}\n{last}");
    }
}

/// `why` says of the last run the bottleneck that its check said. Where a use that everybody has is missed by far, that is what keeps
/// the target from it.
pub fn says_the_bottleneck_of(check: &Value, scratch: &Scratch, device: &str) {
    let why = scratch.json(["why", "--json"], 0);
    assert_eq!(why["limit"], check["limit"], "{device}");
    assert_eq!(why["next_step"], check["next_step"], "{device}");
    // Where it is none of the causes of the run as a whole, these are the others.
    let limit = &why["limit"];
    let sources =
        |of: &Value| of["evidence"].as_array().unwrap().iter().map(|e| e["source"].clone()).collect::<Vec<_>>();
    // What the row says in a few words is the cause of that layer that rests on all that the row does.
    let is_it = |cause: &Value| {
        let has_all = || !sources(limit).is_empty() && sources(limit).iter().all(|s| sources(cause).contains(s));
        cause["statement"] == limit["statement"] || cause["layer"] == limit["layer"] && has_all()
    };
    let is_other = !why["causes"].as_array().unwrap().iter().any(is_it);
    let text = scratch.run(["why"]).stdout;
    assert_eq!(text.contains("Other causes considered"), is_other && why["causes"] != Value::Array(vec![]), "{text}");
}

#[test]
fn the_text_fits_80_columns() {
    let scratch = Scratch::new();
    scratch.json(["check", "sim:nvme", "--json", "--seed", "1"], 0);
    let text = scratch.run(["why"]).stdout;
    assert!(text.contains("Bottleneck:") && text.contains("Decided by") && text.contains("at most"), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
}

/// Evidence is written with its unit: no number stands alone that only its own key in a program could explain.
#[test]
fn no_evidence_is_a_long_number_without_a_unit() {
    let scratch = Scratch::new();
    for (device, said) in [
        ("nvme,stall-period=5s,stall-duration=500ms", "longest time without a completion: 400 ms"),
        ("a1-card,irq-share=1,cpu-per-command=300us", "interrupt share: 100 %"),
        ("nvme,throttle-start=5s,throttle-ramp=1s,throttle-factor=30%", " deg C"),
        ("nvme,cpu-throttle-start=3s,cpu-throttle-ramp=1s,cpu-throttle-factor=30%", " MHz"),
        ("class4-card", " IOPS"),
    ] {
        let check = scratch.run(["check", &format!("sim:{device}"), "--seed", "3"]);
        assert!(check.code == 0 || check.code == 4, "{}", check.stderr);
        let text = scratch.run(["why"]).stdout;
        assert!(text.contains(said), "{device}: {text}");
        let bare = |line: &&str| {
            let value = line.rsplit(": ").next().unwrap_or_default();
            value.parse::<f64>().is_ok_and(|value| value >= 1_000.0)
        };
        assert_eq!(text.lines().find(bare), None, "{device}: {text}");
    }
}

#[test]
fn a_workload_is_attributed_too() {
    let scratch = Scratch::new();
    scratch.json(["run", "depth", "sim:sata-ssd,host-queue=1,units=16", "--json", "--seed", "1"], 0);
    let why = why(&scratch, &["latest"], 0);
    assert_eq!((why.command.as_str(), why.limit.layer.as_str()), ("run", "driver"), "{}", why.limit.statement);
}

/// The comparison of the remedy itself makes a cause sure, and is a run of its own.
#[test]
fn confirm_measures_what_decides_and_keeps_it() {
    let scratch = Scratch::new();
    scratch.json(["check", "sim:nvme", "--json", "--seed", "1"], 0);
    let confirmed = why(&scratch, &["--confirm"], 0).confirmation;
    assert_eq!((&confirmed["holds"], &confirmed["confidence"]), (&Value::Bool(true), &Value::from("high")));
    let run = confirmed["run_id"].as_str().expect("a run").to_owned();
    assert_eq!(scratch.run(["runs", "verify", &run]).code, 0);

    let scratch = Scratch::new();
    scratch.json(["check", "sim:sata-ssd,host-queue=1,units=16,read-bandwidth=250MB/s", "--json", "--seed", "1"], 0);
    let confirmed = why(&scratch, &["--confirm"], 0).confirmation;
    assert_eq!(confirmed["holds"], true, "{confirmed}");
    assert_ne!(confirmed["confidence"], "high", "no queue was switched on: {confirmed}");
}

#[test]
fn a_run_in_which_nothing_was_measured_is_unknown_with_reasons() {
    let scratch = Scratch::new();
    scratch.json(["check", "sim:sata-ssd,eio-every=1", "--json"], 4);
    let why = why(&scratch, &[], 4);
    assert_eq!((why.limit.layer.as_str(), why.limit.confidence.as_str()), ("unknown", "low"));
    assert!(why.limit.statement.starts_with("not known: "), "{}", why.limit.statement);
    assert!(why.limit.evidence.iter().any(|e| e["kind"] == "absence"));
    assert_eq!(why.state, "failed");
    // Nothing to decide is said, and nothing is measured.
    let runs = || scratch.json(["runs", "list", "--json"], 0)["runs"].as_array().map(Vec::len);
    let before = runs();
    let ended = scratch.run(["why", "--confirm"]);
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    assert_eq!(runs(), before);
}

#[test]
fn no_run_and_no_such_run_are_usage_or_environment_failures() {
    let scratch = Scratch::new();
    for args in [&["why"][..], &["why", "nobody"]] {
        let ended = scratch.run(args);
        assert!([2, 3].contains(&ended.code), "{args:?}: {} {}", ended.code, ended.stderr);
        assert!(ended.stdout.is_empty() && !ended.stderr.is_empty());
    }
}

/// What the card says in a few words of the row that decides is the cause that says it in more.
#[test]
fn the_bottleneck_is_not_another_cause_beside_itself() {
    let scratch = Scratch::new();
    scratch.json(["check", "sim:class4-card", "--seed", "1", "--json"], 0);
    let text = scratch.run(["why", "latest"]).stdout;
    assert!(text.contains("Bottleneck: each small write takes") && text.contains("small random writes"), "{text}");
    let others = text.split_once("Other causes considered").map_or("", |(_, others)| others);
    assert!(!others.contains("small random writes"), "{text}");
}

/// What decides another cause says nothing of the bottleneck: small writes are tried by small writes.
#[test]
fn the_deciding_measurement_tries_the_bottleneck() {
    let scratch = Scratch::new();
    scratch.json(["check", "sim:a1-card,random-write-overhead=30ms", "--json", "--seed", "1"], 0);
    let ended = scratch.run(["why", "--confirm"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("a random write of 4 KiB takes 30") && !text.contains("depth 64 gives"), "{text}");
    // A device that changes meanwhile leaves it open, and that is no answer.
    let scratch = Scratch::new();
    scratch.json(["check", "sim:class4-card", "--json", "--seed", "1"], 0);
    let open = why(&scratch, &["--confirm"], 4).confirmation;
    assert_ne!(open["holds"], true, "{open}");
}

/// Writes of one depth are not decided by reads, and nothing is measured for them.
#[test]
fn writes_are_not_decided_by_reads() {
    let scratch = Scratch::new();
    let args = ["run", "sim:nvme", "--rw", "randwrite", "--bs", "4k", "--iodepth", "1", "--runtime", "2s", "--json"];
    scratch.run(args);
    let runs = || scratch.json(["runs", "list", "--json"], 0)["runs"].as_array().map(Vec::len);
    let before = runs();
    assert_eq!(before, Some(1));
    let ended = scratch.run(["why", "--confirm"]);
    assert_eq!((ended.code, runs()), (4, before), "{} {}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("nothing that can be measured here separates"), "{}", ended.stderr);
}

/// The latest run that has limits is one of what the latest run is of; of another target it is said last whose bottleneck it is.
#[test]
fn latest_is_of_the_target_of_the_latest_run() {
    let scratch = Scratch::new();
    scratch.json(["check", "sim:nvme", "--json", "--seed", "1"], 0);
    scratch.json(["check", "sim:class4-card", "--json", "--seed", "1"], 0);
    let soak = |target: &str| scratch.json(["soak", target, "--size", "16MiB", "--for", "2s", "--json"], 0);
    soak("sim:nvme");
    let document = scratch.json(["why", "latest", "--json"], 0);
    assert_eq!(document["target"], "sim:nvme", "{document}");
    soak("sim:emmc");
    let ended = scratch.run(["why", "latest"]);
    let document = scratch.json(["why", "latest", "--json"], 0);
    let said = document["answer"].as_str().unwrap();
    assert!(
        said.contains("That is of check ") && said.contains(" on sim:class4-card; the newest run, soak "),
        "{said}"
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}
