//! An experiment that version 0.1.0 began and did not end (killed after three of ten runs) goes on: the same order, the runs
//! that were made, and an answer over all of them.

use crate::program::Scratch;
use std::path::Path;

const ID: &str = "cards-20261122T113002Z-53b2";

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap().path(), to.join(entry.as_ref().unwrap().file_name()));
        if entry.is_dir() { copy(&entry, &to) } else { std::fs::copy(&entry, &to).map(drop).unwrap() }
    }
}

#[test]
fn an_old_state_goes_on_in_its_order_with_the_runs_that_were_made() {
    let scratch = Scratch::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments/tests/states/cards");
    copy(&from.join("experiments"), &scratch.archive().join("experiments"));
    copy(&from.join("runs"), &scratch.archive().join("runs"));
    std::fs::copy(from.join("cards.toml"), scratch.path().join("cards.toml")).unwrap();
    let old = std::fs::read_to_string(from.join(format!("experiments/{ID}.json"))).unwrap();
    let old: serde_json::Value = serde_json::from_str(&old).unwrap();

    // Nobody here started it, and nobody is there to agree to what only its state says.
    let refused = scratch.run(["run", "--resume", ID]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    let ended = scratch.run(["run", "cards.toml", "--resume", ID, "--json"]);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    // It is done, and its five pairs do not decide.
    let answer = document["comparison"]["overall"].as_str().unwrap_or_else(|| panic!("{document}"));
    assert!(ended.code == 4 && answer == "unclear", "{}: {answer}{}", ended.code, ended.stderr);
    let experiment = &document["experiment"];
    assert_eq!((&experiment["id"], &experiment["complete"]), (&ID.into(), &true.into()));
    let (steps, order) = (old["steps"].as_array().unwrap(), experiment["order"].as_array().unwrap());
    assert_eq!((steps.len(), order.len()), (10, 10));
    for (old, new) in steps.iter().zip(order) {
        assert_eq!((&old["pair"], &old["arm_name"]), (&new["pair"], &new["arm"]));
        assert!(new["run_id"].is_string() && (old["run_id"].is_null() || old["run_id"] == new["run_id"]), "{new}");
    }
    assert_eq!(document["comparison"]["question"]["pairs"], 5);
}
