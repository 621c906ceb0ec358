//! `narrows rate`: classes of a target and of kept runs.

use crate::program::Scratch;
use serde_json::Value;

fn class<'a>(document: &'a Value, name: &str) -> &'a Value {
    let ratings = document["ratings"].as_array().unwrap();
    ratings.iter().find(|r| r["class"] == name).unwrap_or_else(|| panic!("{name}: {document}"))
}

#[test]
fn every_threshold_stands_beside_what_was_measured_and_nothing_is_certified() {
    let scratch = Scratch::new();
    let document = scratch.json(["rate", "sim:class4-card", "--json", "--seed", "1"], 0);
    assert_eq!(document["schema"], "narrows/rate/1");
    let ratings = document["ratings"].as_array().unwrap();
    assert_eq!(ratings.len(), 13);
    for rating in ratings {
        assert!(rating["met"].is_null() && rating["approximation"] == true, "{rating}");
        assert!(!rating["reasons"].as_array().unwrap().is_empty(), "the conditions that were not met: {rating}");
        let needs = rating["needs"].as_array().unwrap();
        let all = needs.iter().all(|n| n["holds"] == true);
        assert_eq!(rating["indication"] == "above", all, "{rating}");
        for need in needs {
            let (value, threshold) = (need["value"].as_f64().unwrap(), need["threshold"].as_f64().unwrap());
            assert_eq!(need["holds"], value >= threshold, "{need}");
        }
    }
    // Some 33 random writes a second and 10 MB/s in sequence; it calls itself class 4.
    assert_eq!(
        (&class(&document, "A1")["indication"], &class(&document, "A1")["claimed"]),
        (&"below".into(), &false.into())
    );
    assert_eq!(
        (&class(&document, "C4")["indication"], &class(&document, "C4")["claimed"]),
        (&"above".into(), &true.into())
    );
    assert_eq!(class(&document, "V30")["indication"], "below");
    assert_eq!(document["capacity"]["claimed_bytes"], 4_000_000_000_u64);
    assert_eq!((&document["capacity"]["kind"], &document["capacity"]["real_bytes"]), (&"unknown".into(), &Value::Null));
}

#[test]
fn a_run_is_rated_as_it_was_measured_and_one_class_is_a_question() {
    let scratch = Scratch::new();
    let check = scratch.json(["check", "sim:class4-card", "--json", "--seed", "1", "--tag", "card"], 0);
    for source in ["latest", "card", check["run_id"].as_str().unwrap()] {
        let rated = scratch.json(["rate", source, "--json"], 0);
        assert_eq!(rated["run_id"], check["run_id"]);
        for of_check in check["ratings"].as_array().unwrap() {
            let name = of_check["class"].as_str().unwrap();
            assert_eq!(class(&rated, name)["indication"], of_check["indication"], "{source} {name}");
        }
    }
    for (name, code) in [("v6", 0), ("V30", 1), ("a2", 1), ("nonsense", 2)] {
        let ended = scratch.run(["rate", "card", "--class", name]);
        assert_eq!(ended.code, code, "{name}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.lines().all(|l| l.chars().count() <= 80), "{}", ended.stdout);
    }
    // A run without the numbers decides nothing, and never above.
    scratch.run(["run", "depth", "sim:class4-card", "--set", "time=1s", "--tag", "reads"]);
    let ended = scratch.run(["rate", "reads", "--class", "V6"]);
    assert_eq!(ended.code, 4, "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("no number is valid") && ended.stdout.contains("not known"), "{}", ended.stdout);
    assert_eq!(scratch.run(["rate", "no-such-run"]).code, 2);
    assert_eq!(scratch.run(["rate", "./not/there"]).code, 3);
    assert_eq!(scratch.run(["rate", "null:", "--budget", "2s"]).code, 4);
}

#[test]
fn one_class_is_measured_by_what_decides_it() {
    let scratch = Scratch::new();
    scratch.json(["rate", "sim:nvme", "--class", "V30", "--json"], 0);
    let run = scratch.json(["runs", "show", "latest", "--json"], 0);
    let phases: Vec<&str> = run["phases"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert!(phases.contains(&"seq-write") && phases.iter().all(|p| !p.starts_with("rand-")), "{phases:?}");
}

#[test]
fn a_simulated_fake_is_found_out() {
    let scratch = Scratch::new();
    for (target, how, kind, real, code) in [
        ("sim:a1-card,wraps-at=8GiB", "quick", "wraparound", Some(8u64 << 30), 1),
        ("sim:class4-card,limbo-from=1GiB", "quick", "limbo", Some(1 << 30), 1),
        ("sim:a1-card,capacity=128MiB,wraps-at=32MiB", "full", "wraparound", Some(32 << 20), 1),
        ("sim:a1-card,capacity=64MiB", "full", "genuine", Some(64 << 20), 0),
    ] {
        let document = scratch.json(["rate", target, "--capacity", how, "--json", "--seed", "1"], code);
        let capacity = &document["capacity"];
        assert_eq!(capacity["kind"], kind, "{target}: {capacity}");
        let found = capacity["real_bytes"].as_u64();
        // A look at some places finds the end as far as places lie near it.
        let near = found.zip(real).is_some_and(|(found, real)| found.abs_diff(real) <= real / 4);
        assert!(near && (how == "quick" || found == real), "{target}: {capacity}");
        assert!(document["ratings"].as_array().is_some_and(|all| !all.is_empty()), "{document}");
    }
    // What was asked is how large it is, and rates that are not known leave nothing of that open; of a class they do.
    let genuine =
        ["rate", "sim:a1-card,capacity=64MiB", "--capacity", "full", "--budget", "2s", "--seed", "1", "--json"];
    let document = scratch.json(genuine, 0);
    assert_eq!(document["capacity"]["kind"], "genuine", "{document}");
    assert!(document["ratings"].as_array().unwrap().iter().any(|class| class["indication"].is_null()), "{document}");
    scratch.json([&genuine[..], &["--class", "A2"]].concat(), 4);
    let ended = scratch.run(["rate", "sim:nvme,capacity=900TB", "--capacity", "full"]);
    assert!(ended.code == 3 && ended.stderr.contains("in memory"), "{} {}", ended.code, ended.stderr);
}

/// What is refused is not announced before.
#[test]
fn a_capacity_that_may_not_be_found_out_is_not_announced() {
    let scratch = Scratch::new();
    let file = scratch.path().join("mine.img");
    std::fs::write(&file, vec![7; 16 << 20]).unwrap();
    let ended = scratch.run(["rate", file.to_str().unwrap(), "--capacity", "quick"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("nothing may be written") && ended.stderr.contains("--overwrite"),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("all over"), "{}", ended.stderr);
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 16 << 20]);
}

/// A minute of reading would end with "not known".
#[test]
fn classes_of_what_may_only_be_read_are_refused_at_once() {
    let scratch = Scratch::new();
    let file = scratch.path().join("mine.img");
    // Not text, which might be what a tool printed.
    std::fs::write(&file, vec![0; 64 << 20]).unwrap();
    let ended = scratch.run(["rate", file.to_str().unwrap(), "--class", "A1"]);
    assert_eq!(ended.code, 3, "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stderr.contains("its classes show only by writing") && ended.stderr.contains("--overwrite"),
        "{}",
        ended.stderr
    );
    assert!(scratch.json(["runs", "--json"], 0)["runs"].as_array().is_some_and(Vec::is_empty), "nothing was measured");
}
