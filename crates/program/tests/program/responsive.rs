//! `narrows run responsive`: how long small operations take beside a writer, where the queue that they wait in is known.

use crate::program::{Scratch, metric};
use serde_json::Value;

/// A device of 200 MB/s behind one queue, into which write-back puts so many bytes before a writer waits.
fn target(queued_bytes: u64) -> String {
    let limit = (16 << 20) + queued_bytes;
    let device = "cache=0,jitter=0,flush=0us,write-overhead=0us,write-bandwidth=200MB/s,link=600MB/s,writeback=256KiB";
    format!("sim:sata-ssd,{device},dirty-background=16MiB,dirty-limit={limit}")
}

fn run(scratch: &Scratch, target: &str, seed: &str) -> Value {
    scratch.json(["run", "responsive", target, "--seed", seed, "--json"], 0)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_planted_queue_is_what_small_operations_take() {
    let scratch = Scratch::new();
    for wait_ms in [50.0, 100.0, 200.0, 500.0] {
        let document = run(&scratch, &target((wait_ms * 200e3) as u64), "1");
        let responsiveness = &document["responsiveness"];
        for of in ["read", "append"] {
            let small = &responsiveness[of];
            assert_eq!(small["percentile"], "p90", "the copy takes 21 s: {responsiveness}");
            let longer_ms = (number(&small["loaded_ns"]) - number(&small["idle_ns"])) / 1e6;
            assert!((longer_ms / wait_ms - 1.0).abs() < 0.1, "{of}: {longer_ms} ms instead of {wait_ms}");
            let p50 = metric(&flat(&document), &format!("responsive-loaded.{of}.latency_ns_p50"))["value"].clone();
            assert!((number(&p50) / 1e6 / wait_ms - 1.0).abs() < 0.1, "{of}: p50 {p50} instead of {wait_ms} ms");
        }
        let answer = document["answer"].as_str().unwrap();
        assert!(answer.starts_with("While something copies, a small read takes "), "{answer}");
    }
}

/// The metrics of all phases in one list.
fn flat(document: &Value) -> Value {
    let phases = document["phases"].as_array().unwrap().iter();
    let metrics: Vec<Value> = phases.flat_map(|p| p["metrics"].as_array().unwrap()).cloned().collect();
    serde_json::json!({ "metrics": metrics })
}

#[test]
fn why_names_the_queue_with_what_was_seen_of_it() {
    let scratch = Scratch::new();
    run(&scratch, &target(40_000_000), "2");
    let ended = scratch.run(["why", "--json"]);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stdout));
    let causes = document["causes"].as_array().unwrap();
    let queue = causes.iter().find(|c| c["statement"].as_str().unwrap().starts_with("one queue for all"));
    let queue = queue.unwrap_or_else(|| panic!("{document}"));
    assert_eq!(queue["layer"], "block-layer", "{queue}");
    let evidence = |what: &str| {
        let found =
            queue["evidence"].as_array().unwrap().iter().find(|e| e["what"].as_str().unwrap().starts_with(what));
        found.unwrap_or_else(|| panic!("{what}: {queue}"))["value"].clone()
    };
    let writeback = number(&evidence("Writeback"));
    assert!((writeback / 40e6 - 1.0).abs() < 0.2, "{writeback}");
    assert!(number(&evidence("Dirty")) > writeback && number(&evidence("requests in flight")) > 2.0, "{queue}");
    evidence("scheduler");
    // A cache of the device that is full: little waits in front of it, and a flush is long.
    let cache = "cache=256MiB,cache-volatile=true,cache-drain=50MB/s,dirty-background=1MiB,dirty-limit=3MiB";
    run(&scratch, &format!("sim:sata-ssd,{cache}"), "2");
    let ended = scratch.run(["why", "--json"]);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stdout));
    assert!(document["causes"][0]["statement"].as_str().unwrap().starts_with("the device itself"), "{document}");
    assert_eq!(document["causes"][0]["layer"], "device");
    // Where writers wait before anything queues there is nothing to name.
    run(&scratch, &target(1 << 20), "2");
    let ended = scratch.run(["why", "--json"]);
    assert!(!ended.stdout.contains("one queue for all"), "{}", ended.stdout);
}

#[test]
fn the_same_twice_is_never_decided() {
    let scratch = Scratch::new();
    let queued = format!("{},jitter=0.3", target(20_000_000)).replace("jitter=0,", "");
    for seed in 0..12 {
        let tag = if seed % 2 == 0 { "a" } else { "b" };
        let seed = seed.to_string();
        scratch.json(["run", "responsive", &queued, "--seed", &seed, "--tag", tag, "--set", "time=20s", "--json"], 0);
    }
    let ended = scratch.run(["compare", "a", "b", "--json"]);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stdout));
    let metrics = document["metrics"].as_array().unwrap();
    let of_small = metrics.iter().filter(|m| m["id"].as_str().unwrap().starts_with("responsive-"));
    let decided: Vec<_> = of_small.clone().filter(|m| m["verdict"] == "better" || m["verdict"] == "worse").collect();
    assert!(of_small.count() > 0 && decided.is_empty(), "{decided:?}");
}

#[test]
fn a_check_for_it_says_yes_or_no_with_the_sentence() {
    let scratch = Scratch::new();
    let check =
        |target: &str, code| scratch.json(["check", target, "--for", "responsive", "--seed", "1", "--json"], code);
    let good = check(&target(4_000_000), 0);
    assert!(good["answer"].as_str().unwrap().starts_with("While something copies, a small read takes "), "{good}");
    let bad = check(&target(60_000_000), 1);
    let answer = bad["answer"].as_str().unwrap();
    assert!(
        answer.contains("No, not good for work while something copies: p90 of a small read beside a writer"),
        "{answer}"
    );
    let text = scratch.run(["runs", "show", "latest"]).stdout;
    assert!(text.contains("read p90") && text.contains("copying"), "{text}");
}

#[test]
fn a_directory_is_measured_by_files_that_go_away() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let name = target.to_str().unwrap();
    let plan = scratch.json(["run", "responsive", name, "--plan", "--json"], 0);
    assert!(plan["bytes_written_at_most"].as_u64().is_some_and(|bytes| bytes < 5 << 30), "{plan}");
    let small = ["--set", "region=16MiB", "--set", "time=1s"];
    let ended = scratch.run(["run", "responsive", name, "--json"].iter().chain(&small));
    // On a busy machine so few operations may be no number.
    assert!(matches!(ended.code, 0 | 4), "{}{}", ended.stdout, ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let names: Vec<&str> = document["phases"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["layout", "responsive-idle", "responsive-loaded"]);
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "nothing is left");
    // Of a file each sync would be one of all that is dirty in it.
    std::fs::File::create(scratch.path().join("file")).and_then(|file| file.set_len(6 << 30)).unwrap();
    let refused = scratch.run(["run", "responsive", "file", "--overwrite"]);
    assert!(refused.code == 3 && refused.stderr.contains("name a directory"), "{} {}", refused.code, refused.stderr);
}
