//! The same work under other names: limit, findings, ratings and card go by what phases ask for.

use crate::program::Scratch;
use serde_json::Value;

/// The phases of the check, and what they are called here.
const NAMES: [(&str, &str); 11] = [
    ("copy", "ram"),
    ("layout", "prepare"),
    ("seq-write", "pour"),
    ("buffered-write", "save"),
    ("seq-read", "drink"),
    ("buffered-read", "load"),
    ("rand-read-qd1", "pick"),
    ("rand-read-qd32", "many-picks"),
    ("sync-write", "commit"),
    ("rand-write-qd1", "drop"),
    ("rand-write-qd32", "many-drops"),
];

/// The text of a document with the names of the check in the place of ours, and without what differs from run to run.
fn as_of_check(mut document: Value, fields: &[&str]) -> String {
    let kept: serde_json::Map<String, Value> = fields.iter().map(|f| ((*f).to_owned(), document[*f].take())).collect();
    // The longest first: one is the end of another.
    let mut text = Value::Object(kept).to_string();
    let mut names = NAMES;
    names.sort_by_key(|(_, ours)| std::cmp::Reverse(ours.len()));
    for (theirs, ours) in names {
        for (before, after) in
            [("\"", "."), ("\"", " "), (" ", " "), ("\"", ":"), (" ", "."), (" ", ":"), (" ", ","), ("\"", ",")]
        {
            text = text.replace(&format!("{before}{ours}{after}"), &format!("{before}{theirs}{after}"));
        }
    }
    text
}

fn file(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The text of the check with other names.
fn renamed(scratch: &Scratch) -> String {
    let mut text = scratch.run(["workloads", "show", "check"]).stdout;
    text = text.replace("name = \"check\"", "name = \"mine\"");
    for (theirs, ours) in NAMES {
        text = text.replace(&format!("name = \"{theirs}\"\n"), &format!("name = \"{ours}\"\n"));
    }
    text
}

#[test]
fn limit_findings_ratings_and_card_are_those_of_the_check() {
    for (target, seed) in [("sim:a2-card-no-queue", "3"), ("sim:class4-card", "4"), ("sim:sata-ssd", "5")] {
        let scratch = Scratch::new();
        let text = file(&scratch, "mine.toml", &renamed(&scratch));
        let check = scratch.json(["check", target, "--budget", "60s", "--seed", seed, "--json"], 0);
        let check_why = scratch.json(["why", "--json"], 0);
        let own = scratch.json(["run", &text, target, "--seed", seed, "--json"], 0);
        assert_ne!(own["run_id"], check["run_id"]);
        let own_why = scratch.json(["why", "--json"], 0);
        assert_eq!(own_why["run_id"], own["run_id"]);
        let fields = ["limit", "findings", "causes", "next_step"];
        assert!(!check_why["causes"].as_array().unwrap().is_empty(), "{target}");
        assert_eq!(as_of_check(own_why, &fields), as_of_check(check_why, &fields), "{target}");
        let card = |id: &Value| {
            let text = scratch.run(["runs", "show", id.as_str().unwrap()]).stdout;
            let shown = ["4K", "  sequential ", "  buffered ", "memory copy", "ratings", "Next step"];
            text.lines().filter(|l| shown.iter().any(|s| l.contains(s))).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(card(&own["run_id"]), card(&check["run_id"]), "{target}");
        assert!(card(&own["run_id"]).len() >= 5, "{:?}", card(&own["run_id"]));
    }
}

#[test]
fn a_fio_job_file_with_the_same_parameters_is_rated() {
    let scratch = Scratch::new();
    let job = "[global]\nioengine=io_uring\ndirect=1\nsize=256m\nruntime=4\ntime_based\nstonewall\n\
               [fill]\nrw=write\nbs=1m\niodepth=8\n[r]\nrw=randread\nbs=4k\n[w]\nrw=randwrite\nbs=4k\n\
               [r32]\nrw=randread\nbs=4k\niodepth=32\n[w32]\nrw=randwrite\nbs=4k\nnumjobs=4\niodepth=8\ngroup_reporting\n";
    let file = file(&scratch, "same.fio", job);
    let run = scratch.json(["run", &file, "sim:a1-card", "--seed", "1", "--json"], 0);
    let card = scratch.run(["runs", "show", run["run_id"].as_str().unwrap()]).stdout;
    let ratings = card.lines().find(|l| l.contains("Short-test ratings")).unwrap_or_else(|| panic!("{card}"));
    assert!(ratings.contains("above A1") && ratings.contains("below"), "{ratings}");
    assert!(!card.contains("missing"), "{card}");
    let why = scratch.json(["why", "--json"], 0);
    assert_ne!(why["limit"]["layer"], "unknown", "{}", why["limit"]);
}
