//! What an addition costs, as CONTRIBUTING.md has it: the files are there, and there are as many as it says and as may be.

use std::path::Path;

/// Files that an addition may cost at most.
const MOST: [(&str, usize); 7] = [
    ("A setting", 1),
    ("A finding", 4),
    ("A column of samples", 3),
    ("A metric", 2),
    ("An option of a workload", 3),
    ("An import format", 2),
    ("A command", 5),
];

#[test]
fn each_walk_names_files_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/xtask is two below the root");
    let text = std::fs::read_to_string(root.join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let walks = text.split_once("## Seven walks").expect("the walks").1;
    let mut seen = Vec::new();
    for section in walks.split("\n### ").skip(1) {
        let (heading, body) = section.split_once('\n').expect("a heading is a line");
        let (name, count) = heading.split_once(": ").expect("NAME: N files");
        let count: usize = count.split(' ').next().and_then(|n| n.parse().ok()).expect("a number of files");
        let files: Vec<&str> =
            body.lines().filter_map(|l| l.strip_prefix("- `")).filter_map(|l| l.split('`').next()).collect();
        for file in &files {
            assert!(root.join(file).is_file(), "{name}: there is no {file}");
        }
        assert_eq!(files.len(), count, "{name}");
        assert!(body.contains("adds `") || body.contains("adds "), "{name}: which commit adds one?");
        seen.push((name, count));
    }
    assert_eq!(seen, MOST);
}
