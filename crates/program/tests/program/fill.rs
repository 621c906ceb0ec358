//! `narrows fill`: where the rate falls, on devices of which that is known, and on a real file.

use crate::program::Scratch;

#[test]
fn the_cache_of_a_simulated_disk_is_found_and_comes_back() {
    let scratch = Scratch::new();
    let document = scratch.json(["fill", "sim:nvme", "--seed", "1", "--json"], 0);
    assert_eq!(document["schema"], "narrows/fill/1");
    let cliff = |of: &str, key: &str| document[of]["cliff"][key].as_f64().unwrap_or_else(|| panic!("{document}"));
    let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 0.05, "{found} is not {wanted}");
    near(cliff("fill", "before_bytes_per_s"), 3e9);
    near(cliff("fill", "after_bytes_per_s"), 1.2e9);
    near(cliff("after_rest", "before_bytes_per_s"), 3e9);
    assert!(cliff("after_rest", "bytes") < cliff("fill", "bytes"), "a rest of 20 s empties a part of it: {document}");
    assert_eq!(document["fill"]["parts"].as_array().map(Vec::len), Some(10));
    let even = scratch.json(["fill", "sim:class4-card", "--seed", "1", "--json"], 0);
    assert!(even["fill"]["cliff"].is_null(), "{even}");
    let text = scratch.run(["fill", "sim:sata-ssd", "--seed", "1"]);
    assert!(text.stdout.contains("530 MB/s for the first"), "{}", text.stdout);
    assert!(text.stdout.lines().all(|l| l.chars().count() <= 80), "{}", text.stdout);
}

#[test]
fn a_directory_is_filled_in_a_file_that_goes_away() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let name = target.to_str().unwrap();
    let plan = scratch.run(["fill", name, "--plan"]);
    assert!(plan.stdout.contains("at most"), "{}", plan.stdout);
    let ended = scratch.run(["fill", name, "--size", "32MiB", "--rest", "10ms", "--json"]);
    // So short a write may be no number on a busy machine: then it says so by its code.
    assert!(matches!(ended.code, 0 | 4), "{}{}", ended.stdout, ended.stderr);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(document["fill"].is_null() || document["fill"]["bytes"] == 32 << 20, "{document}");
    let id = document["run_id"].as_str().expect("it is kept");
    let shown = scratch.run(["runs", "show", id]).stdout;
    let (answered, partial) = (shown.contains("written at one rate"), shown.contains("Partial:"));
    assert_eq!(answered, !document["fill"].is_null(), "however short it was: {shown}");
    assert!(!(answered && partial), "all of it was written: {shown}");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "nothing is left");
    let data = scratch.path().join("data");
    std::fs::write(&data, vec![1; 1 << 20]).unwrap();
    let refused = scratch.run(["fill", data.to_str().unwrap()]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert_eq!(std::fs::read(&data).unwrap(), vec![1; 1 << 20]);
    assert_eq!(scratch.run(["fill", name, "--rest", "soon"]).code, 2);
}

/// One pass tells the rates, whether the data come back, and how large the device really is.
#[test]
fn what_was_filled_is_read_back_where_that_is_asked_for() {
    let scratch = Scratch::new();
    let fill = |target: &str, code| scratch.json(["fill", target, "--verify", "--rest", "0s", "--json"], code);
    let sound = fill("sim:a1-card,capacity=64MiB", 0);
    assert_eq!(sound["verify"]["bytes_verified"], 64 << 20);
    assert!(sound["fill"]["bytes_per_s"].as_f64().unwrap() > 1e6);
    let fake = fill("sim:a1-card,capacity=64MiB,wraps-at=16MiB", 1);
    let found = &fake["verify"]["findings"][0];
    assert_eq!((&found["class"], &found["lba"]), (&"wrap-around".into(), &((16 << 20) / 512).into()));
    let ended = scratch.run(["fill", "sim:a1-card,capacity=64MiB,limbo-from=16MiB", "--verify", "--rest", "0s"]);
    assert!(ended.code == 1 && ended.stdout.contains("FAKE: at most 17 MB are there"), "{}", ended.stdout);
}
