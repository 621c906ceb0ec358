//! A bundle of the version before phases were found by what they ask for, and before the check was a workload like others:
//! it reads, and says what it said.

use crate::program::Scratch;
use serde_json::Value;
use std::path::Path;

const ID: &str = "20261122T090257Z-02bd8714";

fn strings(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|f| f[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn it_reads_and_says_what_it_said() {
    let scratch = Scratch::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bundles").join(ID);
    let to = scratch.archive().join("runs").join(ID);
    std::fs::create_dir_all(&to).unwrap();
    for file in std::fs::read_dir(&from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
    let stored: Value = serde_json::from_slice(&std::fs::read(from.join("run.json")).unwrap()).unwrap();
    assert_eq!(scratch.run(["runs", "verify", ID]).code, 0);
    let shown = scratch.json(["runs", "show", ID, "--json"], 0);
    // The plan comes back key by key, and so do the metrics of each phase. Copies of memory were a kind of phase then.
    let mut plan = stored["plan"].clone();
    let copy = &mut plan["phases"][0];
    assert_eq!(copy["kind"].take(), "memory-copy");
    (copy["kind"], copy["engine"]) = ("measure".into(), "memory".into());
    assert_eq!(shown["plan"], plan);
    let metrics = |document: &Value| -> Vec<Value> {
        document["phases"].as_array().unwrap().iter().map(|p| p["metrics"].clone()).collect()
    };
    // Reasons were texts with their code before them then, and nothing was a bound.
    let mut before = metrics(&stored);
    for metric in before.iter_mut().flat_map(|m| m.as_array_mut().unwrap()) {
        metric["bound"] = Value::Null;
    }
    for reason in
        before.iter_mut().flat_map(|m| m.as_array_mut().unwrap()).flat_map(|m| m["reasons"].as_array_mut().unwrap())
    {
        let (code, text) = reason.as_str().unwrap().split_once(": ").unwrap();
        *reason = serde_json::json!({ "code": code, "text": text });
    }
    assert_eq!(metrics(&shown), before);
    let why = scratch.json(["why", ID, "--json"], 0);
    assert_eq!((&why["limit"]["layer"], &why["limit"]["confidence"]), (&"controller".into(), &"probable".into()));
    assert_eq!(strings(&why["findings"], "id"), ["sdr104-derated", "sd-a2-without-queue"]);
    let card = scratch.run(["runs", "show", ID]).stdout;
    let ratings = card.lines().find(|l| l.contains("Short-test ratings")).unwrap_or_else(|| panic!("{card}"));
    assert!(ratings.contains("above A1, C2, C4, C6, C10, U1, U3, V6, V10, V30; below A2"), "{ratings}");
}
