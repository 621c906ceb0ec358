//! Job files of fio through the whole program: when jobs start, and what each pass finds in the page cache.

use crate::program::Scratch;
use serde_json::Value;

const WILD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/tests/spec/wild");

/// What the archive keeps of a run.
fn kept(scratch: &Scratch, document: &Value) -> Value {
    let id = document["run_id"].as_str().expect("an id");
    let path = scratch.archive().join("runs").join(id).join("run.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("a bundle")).expect("run.json")
}

fn phase<'a>(run: &'a Value, name: &str) -> &'a Value {
    let phases = run["phases"].as_array().expect("phases");
    phases.iter().find(|p| p["plan"]["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_delay_behind_a_stonewall_counts_from_the_start_of_the_run() {
    let scratch = Scratch::new();
    let file = format!("{WILD}/startdelay-after-stonewall.fio");
    let document = scratch.json(["run", &file, "sim:nvme", "--json", "--seed", "1"], 0);
    let run = kept(&scratch, &document);
    let seconds = |phase: &Value, key: &str| phase["record"][key].as_f64().unwrap() / 1e9;
    let (first, second) = (phase(&run, "first"), phase(&run, "second"));
    let begun = seconds(first, "started_ns");
    // In simulated time: 3 s of the first job, then what is left of 4, then a second; the windows are within the delay.
    let end = seconds(second, "ended_ns") - begun;
    assert!((4.9..5.2).contains(&end), "{end}");
    assert!(seconds(second, "started_ns") - begun >= 3.0);
    // The plan says what was asked.
    assert_eq!(second["plan"]["streams"][0]["start_delay_ns"], 4_000_000_000u64);
}

#[test]
fn variables_that_an_included_file_lacks_are_named() {
    let scratch = Scratch::new();
    let ended = scratch.run(["run", &format!("{WILD}/include-no-variable.fio"), "sim:nvme", "--plan"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("the environment has no variable 'NO_SUCH_SIZE'"), "{}", ended.stderr);
}

#[test]
fn two_devices_in_a_directory_are_two_files() {
    let scratch = Scratch::new();
    let (file, target) = (format!("{WILD}/two-devices.fio"), scratch.target());
    let document = scratch.json(["run", &file, target.to_str().unwrap(), "--plan", "--json"], 0);
    let text = document.to_string();
    assert!(text.contains("dev-sdy") && text.contains("dev-sdz"), "{text}");
}
