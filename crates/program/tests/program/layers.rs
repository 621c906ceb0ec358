//! `narrows run layers`: what each layer of a path costs.

use crate::program::Scratch;
use serde_json::Value;

const SMALL: [&str; 8] = ["--set", "time=200ms", "--set", "rest=20ms", "--set", "region=32MiB", "--set", "rounds=2"];

fn left(scratch: &Scratch) -> usize {
    std::fs::read_dir(scratch.target()).unwrap().count()
}

#[test]
fn a_simulated_device_has_the_cost_of_its_page_cache() {
    let scratch = Scratch::new();
    let page = scratch.path().join("page.html");
    let args = ["run", "layers", "sim:class4-card", "--report", page.to_str().unwrap(), "--seed", "7", "--json"];
    let document = scratch.json([&args[..], &["--set", "rounds=4", "--set", "time=2s"]].concat(), 0);
    assert_eq!((&document["schema"], &document["seed"]), (&"narrows/layers/1".into(), &7.into()));
    let [buffered, direct] = document["levels"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!((&buffered["name"], &direct["name"]), (&"device buffered".into(), &"device direct".into()));
    assert_eq!((&buffered["access"], direct["rounds"].as_array().unwrap().len()), (&"buffered".into(), 4));
    // A copy for each byte costs CPU, and one request at a time costs rate; both are in the one layer there is.
    let [cost] = document["layers"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!(cost["layer"], "the page cache");
    assert!(cost["cost"]["read_rate"]["high"].as_f64().unwrap() < 1.0, "{cost}");
    assert!(cost["cost"]["read_cpu_s_per_gb"]["low"].as_f64().unwrap() > 0.0, "{cost}");
    let difference = |level: &Value| level["figures"]["read_ns"]["value"].as_f64().unwrap();
    let added = cost["cost"]["read_ns"]["value"].as_f64().unwrap();
    assert!((added - (difference(buffered) - difference(direct))).abs() < 1.0, "{document}");
    assert_eq!(document["dearest"], "the page cache");
    assert!(document["answer"].as_str().unwrap().starts_with("The page cache "), "{}", document["answer"]);
    assert!(document["answer"].as_str().unwrap().contains("s of CPU a GB"), "{}", document["answer"]);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("A read, from the disk up") && html.contains("Waterfall of the rate"));
    assert!(html.contains("default-src 'none'"));
    let markdown = scratch.run(["run", "layers", "sim:class4-card", "--markdown", "--seed", "7"]);
    assert!(markdown.stdout.contains("| the page cache |"), "{}", markdown.stdout);
}

#[test]
fn a_directory_is_measured_in_a_file_of_ours_and_a_file_is_only_read() {
    let scratch = Scratch::new();
    let here = scratch.target().to_str().unwrap().to_owned();
    let document = scratch.json([&["run", "layers", &here, "--json"][..], &SMALL].concat(), 0);
    let names: Vec<&str> = document["levels"].as_array().unwrap().iter().map(|l| l["name"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["file buffered", "file direct"]);
    assert!(document["bytes_written"].as_u64().unwrap() >= document["region_bytes"].as_u64().unwrap());
    assert_eq!(left(&scratch), 0, "nothing is left");
    // What cannot be read below it is named, or it is there.
    let below = names.len() - 2 + document["left_out"].as_array().unwrap().len();
    assert!(below > 0, "{document}");

    let file = scratch.target().join("mine");
    std::fs::write(&file, vec![0x5a; 32 << 20]).unwrap();
    let before = std::fs::metadata(&file).unwrap().modified().unwrap();
    let document = scratch.json([&["run", "layers", file.to_str().unwrap(), "--json"][..], &SMALL].concat(), 0);
    assert_eq!(document["bytes_written"], 0);
    assert_eq!(document["levels"][0]["figures"]["write_ns"], Value::Null);
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), before);
    assert!(std::fs::read(&file).unwrap().iter().all(|byte| *byte == 0x5a));
}

#[test]
fn what_cannot_be_asked_is_told_before_anything_is_written() {
    let scratch = Scratch::new();
    let here = scratch.target().to_str().unwrap().to_owned();
    let refused = |more: &[&str], code: i32| {
        scratch.json([&["run", "layers", "--json"][..], more].concat(), code)["message"].as_str().unwrap().to_owned()
    };
    assert!(refused(&[&here, "--set", "dept=1"], 2).contains("nearest supported: depth"));
    for (set, expected) in [
        ("rounds=0", "--set: rounds: '0' is out of range; expected: 1 to 100"),
        ("region=900TB", "--set: region: '900TB' is out of range; expected: 8MiB to 1TiB"),
        ("time=50ms", "--set: time: '50ms' is out of range; expected: 200ms or more"),
    ] {
        assert_eq!(refused(&[&here, "--set", set], 2), expected);
    }
    for option in [&["--repeat", "3"][..], &["--strict"], &["--on-error", "stop"], &["--tag", "t"]] {
        let said = refused(&[&[here.as_str()], option].concat(), 2);
        assert!(said.contains(&format!("{} is not for layers", option[0])), "{said}");
    }
    let group = ["--group", "--rank", "0/1", "--meet", "127.0.0.1:1", "--token", "a-token-of-tests"];
    let said = refused(&[&[here.as_str()], &group[..]].concat(), 2);
    assert!(said.contains("--group is for a workload or a check, and this is a comparison of layers"), "{said}");
    assert!(refused(&[&here, "--destroy", "x"], 2).contains("reading"));
    assert!(refused(&[], 2).contains("which path"));
    assert!(refused(&["null:"], 2).contains("no layers"));
    assert!(refused(&[&here, "--max-write", "10MB"], 3).contains("--max-write allows"));
    let small = scratch.target().join("small");
    std::fs::write(&small, b"x".repeat(4 << 20)).unwrap();
    assert!(refused(&[small.to_str().unwrap()], 3).contains("less than"));
    std::fs::remove_file(small).unwrap();
    let plan = scratch.json(["run", "layers", &here, "--plan", "--json", "--set", "writes=false"], 0);
    assert_eq!((&plan["schema"], &plan["bytes_at_most"]), (&"narrows/layers-plan/1".into(), &(256 << 20).into()));
    assert_eq!(left(&scratch), 0);
}
