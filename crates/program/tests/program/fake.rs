//! A fake is a fake wherever its runs are used, and a target's name means the run that can answer.

use crate::program::Scratch;

const FAKE: &str = "sim:a1-card,capacity=128MiB,wraps-at=32MiB";
const GOOD: &str = "sim:a1-card";

/// The text without line breaks and indents.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_rate_finds_is_kept_and_read_back() {
    let scratch = Scratch::new();
    let rated = scratch.json(["rate", FAKE, "--capacity", "full", "--seed", "1", "--json"], 1);
    let id = rated["run_id"].as_str().unwrap();
    let bundle = scratch.archive().join("runs").join(id);
    let text = std::fs::read_to_string(bundle.join("run.json")).unwrap();
    let mut kept: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&kept["capacity"]["kind"], &kept["capacity"]["real_bytes"]),
        (&"wraparound".into(), &(32 << 20).into())
    );
    let again = scratch.json(["rate", id, "--json"], 1);
    assert_eq!((&again["capacity"], &again["answer"]), (&rated["capacity"], &rated["answer"]));
    let shown = flat(&scratch.run(["runs", "show", id]).stdout);
    assert!(shown.contains("A fake: it says 134 MB"), "{shown}");
    let list = scratch.json(["runs", "list", "--json"], 0);
    assert_eq!(list["runs"][0]["fake"]["real_bytes"], 32 << 20);
    let list = flat(&scratch.run(["runs", "list"]).stdout);
    assert!(list.contains("FAKE: at most 34 MB of 134 MB are real"), "{list}");
    let why = scratch.json(["why", id, "--json"], 0);
    let said = "Not for anything: it is a fake, at most 34 MB of 134 MB are real. Bottleneck: ";
    let answer = why["answer"].as_str().unwrap();
    assert!(
        answer.starts_with(said) && answer.ends_with("Next step: send it back: no setting makes a fake larger"),
        "{why}"
    );
    // A bundle of a version that kept it as a text.
    kept.as_object_mut().unwrap().remove("capacity");
    kept["remarks"] = serde_json::json!(["capacity: A fake: it says 134 MB, and keeps nothing beyond 34 MB."]);
    std::fs::write(bundle.join("run.json"), kept.to_string()).unwrap();
    let old = flat(&scratch.run(["runs", "show", id]).stdout);
    assert!(old.contains("keeps nothing beyond 34 MB. No class is worth anything on it"), "{old}");
}

/// Whichever command found it, and whatever was measured after that.
#[test]
fn a_fake_is_never_recommended() {
    let scratch = Scratch::new();
    scratch.run(["check", GOOD, "--seed", "1"]);
    for found in [
        &["rate", FAKE, "--capacity", "quick", "--seed", "1"][..],
        &["fill", FAKE, "--verify", "--rest", "0s", "--seed", "1"],
        &["soak", FAKE, "--passes", "1"],
    ] {
        let ended = scratch.run(found);
        assert_eq!(ended.code, 1, "{found:?}: {}{}", ended.stdout, ended.stderr);
        let ranked = scratch.json(["rank", FAKE, GOOD, "--json"], 0);
        let answer = ranked["answer"].as_str().unwrap();
        let first = format!("Not for anything: {FAKE} is a fake, at most ");
        assert!(
            answer.starts_with(&first)
                && answer.contains("For an operating system, a database and application class A1: sim:a1-card."),
            "{answer}"
        );
        for of in ranked["uses"].as_array().unwrap() {
            let fits = of["targets"].as_array().unwrap();
            let fake = fits.iter().find(|fit| fit["target"] == FAKE).unwrap();
            assert_eq!((&fake["met"], &fake["reasons"][0]["code"]), (&false.into(), &"fake".into()), "{of}");
        }
        let fake = ranked["targets"].as_array().unwrap().iter().find(|t| t["name"] == FAKE).unwrap();
        assert!(fake["metrics"].as_array().unwrap().iter().all(|m| m["place"].is_null()), "{fake}");
        // A fill and a soak have no number in common with a check.
        let compared: serde_json::Value =
            serde_json::from_str(&scratch.run(["compare", GOOD, FAKE, "--json"]).stdout).unwrap();
        assert_eq!(
            (&compared["a"]["fake"], &compared["b"]["fake"]["kind"]),
            (&serde_json::Value::Null, &"wraparound".into())
        );
        let text = flat(&scratch.run(["compare", GOOD, FAKE]).stdout);
        assert!(text.contains(&first), "{text}");
        let why = flat(&scratch.run(["why", FAKE]).stdout);
        assert!(why.contains("Not for anything: it is a fake, at most"), "{found:?}: {why}");
        let all = scratch.json(["runs", "list", "--json"], 0);
        let ids: Vec<_> = all["runs"].as_array().unwrap().iter().filter(|run| run["target"] == FAKE).collect();
        for run in ids {
            scratch.run(["runs", "delete", run["run_id"].as_str().unwrap(), "--yes"]);
        }
    }
}

/// What was asked about a soak is how large it is, too.
#[test]
fn a_soak_says_how_large_a_fake_is() {
    let scratch = Scratch::new();
    let ended = scratch.run(["soak", FAKE, "--passes", "1"]);
    assert!(flat(&ended.stdout).contains(" FAKE: at most 34 MB are there. Data are wrong in"), "{}", ended.stdout);
    let shown = flat(&scratch.run(["runs", "show", "latest"]).stdout);
    assert!(shown.contains("FAKE: at most 34 MB are there."), "{shown}");
    // A lap that was right may have been overwritten by the next.
    let said: Vec<&str> = ended.stderr.lines().collect();
    assert!(said.iter().any(|line| line.ends_with("nothing wrong so far")), "{}", ended.stderr);
    assert!(!said.iter().any(|line| line.ends_with("nothing wrong")), "{}", ended.stderr);
    assert!(ended.stderr.contains("a fake, of which at most 34 MB are there"), "{}", ended.stderr);
    assert!(said.iter().take(2).all(|line| line.chars().count() <= 80), "{}", ended.stderr);
}

/// A simulated device has a time of its own: what a soak of it says of rates is of that.
#[test]
fn a_simulated_soak_tells_simulated_time() {
    let scratch = Scratch::new();
    let soak = scratch.json(["soak", "sim:class4-card", "--size", "64MiB", "--passes", "1", "--json"], 0);
    let run = scratch.json(["runs", "show", soak["run_id"].as_str().unwrap(), "--json"], 0);
    let seconds = soak["duration_s"].as_f64().unwrap();
    // It writes 10.2 MB/s and reads 43, each byte twice.
    assert!((8.0..20.0).contains(&seconds), "{seconds}: {run}");
}

#[test]
fn a_targets_name_is_the_newest_run_that_can_answer() {
    let scratch = Scratch::new();
    let run = |args: &[&str], code| scratch.json(args.iter().copied().chain(["--json"]), code)["run_id"].clone();
    let check = run(&["check", GOOD, "--seed", "1"], 0);
    scratch.run(["check", "sim:class4-card", "--seed", "1"]);
    let few = ["--set", "package-count=12", "--set", "packages-removed=5", "--seed", "1"];
    let packages = run(&[&["run", "packages", GOOD][..], &few].concat(), 0);
    run(&["fill", "sim:a1-card", "--size", "64MiB", "--rest", "0s", "--seed", "1"], 0);
    let (check, packages) = (check.as_str().unwrap(), packages.as_str().unwrap());
    let ranked = scratch.json(["rank", GOOD, "sim:class4-card", "--json"], 0);
    let taken = format!("{GOOD}: of its runs the newest check {check} and the newest packages {packages}");
    assert_eq!(
        (&ranked["reasons"][0]["code"], &ranked["reasons"][0]["text"]),
        (&"taken".into(), &taken.as_str().into())
    );
    assert!(ranked["answer"].as_str().unwrap().starts_with("Which to buy: sim:a1-card, for every use"), "{ranked}");
    let compared = scratch.json(["compare", GOOD, "sim:class4-card", "--json"], 0);
    assert_eq!(compared["a"]["runs"], serde_json::json!([check]));
    let text = flat(&scratch.run(["compare", GOOD, "sim:class4-card"]).stdout);
    assert!(text.contains(&format!("{GOOD}: of its runs the newest check {check}")), "{text}");
    assert_eq!(scratch.json(["why", GOOD, "--json"], 0)["run_id"], check);
    // What a name means to those who show runs is what was done last.
    assert_eq!(scratch.json(["runs", "show", GOOD, "--json"], 0)["plan"]["name"], "fill");
}

/// What is advised for a fault that cannot show can be done.
#[test]
fn the_command_that_shows_a_fault_works() {
    let scratch = Scratch::new();
    for (target, code) in [("sim:a1-card,wraps-at=8GiB", 1), ("sim:a1-card,capacity=128MiB,wraps-at=32MiB", 1)] {
        let refused = scratch.run(["check", target]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        let advice = refused.stderr.split("narrows rate ").nth(1).and_then(|rest| rest.split([';', ',']).next());
        assert!(advice.is_some(), "{}", refused.stderr);
        assert_eq!(refused.stderr.contains("narrows fill"), target.contains("32MiB"), "{}", refused.stderr);
        let ended = scratch.run(["rate", target, "--capacity", "quick"]);
        assert_eq!(ended.code, code, "{target}: {} {}", ended.stdout, ended.stderr);
    }
}
