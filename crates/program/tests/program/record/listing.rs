//! What is said of a recording that was made, and of what is not there any more.

use super::text;
use crate::program::Scratch;
use serde_json::Value;
use std::path::Path;

fn record(scratch: &Scratch, target: &Path, more: &[&str]) -> Value {
    let args = ["record", "-o", text(target), "--generate", "1x100KB@max", "--json"];
    scratch.json([&args[..], more].concat(), 0)
}

#[test]
fn what_was_overwritten_is_said_when_it_is_recorded_and_when_it_is_listed() {
    let scratch = Scratch::new();
    let target = scratch.path().join("cam.nrec");
    let wraps = ["--size", "20MiB", "--segment", "1MiB", "--when-full", "wrap", "--frames", "400"];
    let recorded = record(&scratch, &target, &wraps);
    assert!(recorded["remarks"].to_string().contains("it went round"), "{recorded}");
    let listed = scratch.json(["record", "--list", "-o", text(&target), "--json"], 0);
    let first = listed["streams"][0]["first"].as_str().expect("a frame");
    assert_eq!(listed["overwritten_before"].as_str(), Some(first), "{listed}");
    let said = scratch.run(["record", "--list", "-o", text(&target)]).stdout;
    assert!(said.contains("overwritten: all that came before"), "{said}");
    let small = scratch.path().join("small.nrec");
    let recorded = record(&scratch, &small, &["--size", "20MiB", "--frames", "5"]);
    assert!(!recorded["remarks"].to_string().contains("it went round"), "{recorded}");
    assert!(scratch.json(["record", "--list", "-o", text(&small), "--json"], 0)["overwritten_before"].is_null());
}

#[test]
fn a_directory_of_several_says_which_it_is_and_what_lies_between_recordings() {
    let scratch = Scratch::new();
    let directory = scratch.target();
    let (old, new) = (directory.join("old.nrec"), directory.join("new.nrec"));
    record(&scratch, &old, &["--size", "20MiB", "--frames", "5"]);
    let only = scratch.json(["record", "--list", "-o", text(&directory), "--json"], 0);
    assert_eq!(only["others"], Value::Array(vec![]), "{only}");
    record(&scratch, &new, &["--size", "20MiB", "--frames", "5"]);
    record(&scratch, &new, &["--frames", "5"]);
    let listed = scratch.json(["record", "--verify", "-o", text(&directory), "--json"], 0);
    assert!(listed["target"].as_str().is_some_and(|t| t.ends_with("new.nrec")), "{listed}");
    assert!(listed["others"][0].as_str().is_some_and(|t| t.ends_with("old.nrec")), "{listed}");
    let gaps = listed["gaps"].as_array().expect("a list");
    assert!(gaps.len() == 1 && gaps[0]["why"] == "not-recorded", "{listed}");
    let said = scratch.run(["record", "--list", "-o", text(&directory)]).stdout;
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the newest of 2 recordings in its directory") && words.contains("old.nrec"), "{said}");
    assert!(words.contains("not recorded, between what is there"), "{said}");
}

/// The page of what has no plan says nothing of one.
#[test]
fn the_pages_of_a_recording_and_a_soak_say_what_is_known() {
    let scratch = Scratch::new();
    let page = || {
        let report = scratch.json(["runs", "show", "latest", "--json"], 0);
        let id = report["run_id"].as_str().expect("an id").to_owned();
        std::fs::read_to_string(scratch.archive().join(format!("reports/{id}.html"))).expect("a page")
    };
    record(&scratch, &scratch.path().join("cam.nrec"), &["--size", "80MiB", "--frames", "300"]);
    let recorded = page();
    for wrong in ["buffered</span>", " 0 operations", "measured region", "area read"] {
        assert!(!recorded.contains(wrong), "{wrong}");
    }
    scratch.json(["soak", "sim:a1-card", "--size", "64MiB", "--json"], 0);
    let soaked = page();
    for wrong in ["0 ns of CPU", "0 B ()", "measured region", "0 operations", "buffered</span>"] {
        assert!(!soaked.contains(wrong), "{wrong}");
    }
}
