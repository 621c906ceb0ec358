//! `narrows workloads`.

use crate::program::Scratch;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workloads {
    schema: String,
    workloads: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    title: String,
    answers: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    schema: String,
    name: String,
    text: String,
}

#[test]
fn they_are_listed_with_their_questions() {
    let scratch = Scratch::new();
    let document = scratch.json(["workloads", "--json"], 0);
    let document: Workloads = serde_json::from_value(document).expect("the contract");
    assert_eq!(document.schema, "narrows/workloads/1");
    let text = scratch.run(["workloads"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for entry in &document.workloads {
        assert!(text.contains(&entry.title) && text.contains(&entry.name), "{}", entry.name);
        assert!(entry.answers.ends_with('?'), "{}", entry.name);
    }
    assert_eq!(document.workloads.len(), 24);
}

#[test]
fn each_is_printed_as_it_is() {
    let scratch = Scratch::new();
    let shown = scratch.run(["workloads", "show", "depth"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    let document: Workload =
        serde_json::from_value(scratch.json(["workloads", "show", "depth", "--json"], 0)).expect("the contract");
    assert_eq!((document.schema.as_str(), document.name.as_str()), ("narrows/workloads/1", "depth"));
    assert_eq!(document.text, shown.stdout);
    assert!(shown.stdout.contains("[[phase]]"));
}

#[test]
fn an_unknown_one_is_answered_with_the_nearest() {
    let ended = Scratch::new().run(["workloads", "show", "depht"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("did you mean 'depth'"), "{}", ended.stderr);
}

#[test]
fn what_a_built_in_workload_writes_to_a_directory_is_bounded_by_bytes() {
    let scratch = Scratch::new();
    let listed = scratch.json(["workloads", "--json"], 0);
    let names: Vec<&str> = listed["workloads"].as_array().unwrap().iter().filter_map(|w| w["name"].as_str()).collect();
    // Copies have no directory; frames and layers are studies with plans of their own, and steady goes on until it is steady, as it announces.
    for name in names
        .iter()
        .filter(|name| !name.starts_with("copy") && !["frames", "layers", "steady", "check"].contains(*name))
    {
        let plan = scratch.json(["run", name, ".", "--plan", "--json"], 0);
        let bytes = plan["bytes_written_at_most"].as_u64();
        assert!(bytes.is_some_and(|bytes| name == &"fill" || bytes < 40 << 30), "{name}: {bytes:?}");
    }
}

#[test]
fn the_name_of_a_workload_alone_says_how_to_see_it() {
    let scratch = Scratch::new();
    let known = scratch.json(["workloads", "packages", "--json"], 2);
    assert!(known["remedy"].as_str().unwrap().starts_with("narrows workloads show packages"), "{known}");
    let unknown = scratch.json(["workloads", "packges", "--json"], 2);
    assert!(unknown["message"].as_str().unwrap().contains("did you mean 'packages'?"), "{unknown}");
}
