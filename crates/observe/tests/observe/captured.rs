//! Machines of the lab, captured while stock kernels drove their emulated controllers: what is seen in each tree is a
//! snapshot. `cargo xtask lab capture NAME` makes tree and manifest anew.

use crate::tree::{TREES, Tree, picture};
use observe::{disks, facts, inventory, locate};
use std::collections::BTreeSet;

fn manifest() -> toml::Table {
    let path = format!("{TREES}/lab/manifest.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    text.parse().unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn text<'a>(origin: &'a toml::Value, key: &str) -> &'a str {
    origin.get(key).and_then(toml::Value::as_str).unwrap_or_else(|| panic!("{key} is missing: {origin}"))
}

#[test]
fn every_captured_machine_is_seen_as_it_was() {
    for (name, origin) in manifest() {
        let tree = Tree::of(&format!("lab/{name}"));
        let root = tree.root();
        let list: String = disks(&root).iter().map(|d| format!("{d:?}\n")).collect();
        let targets =
            origin.get("targets").and_then(toml::Value::as_array).unwrap_or_else(|| panic!("{name}: targets"));
        assert!(!targets.is_empty(), "{name}: nothing of it is looked at");
        for target in targets.iter().filter_map(toml::Value::as_str) {
            let place = locate(&root, target).unwrap_or_else(|e| panic!("{name}: {target}: {e}"));
            let seen = inventory(&root, &place);
            let kernel = seen.stack.layers.iter().find_map(|l| l.text(facts::KERNEL_RELEASE));
            assert_eq!(kernel, Some(text(&origin, "kernel")), "{name}: the manifest speaks of another tree");
            insta::assert_snapshot!(format!("lab-{name}-{target}"), format!("{list}\n{}", picture(&seen)));
        }
    }
}

#[test]
fn trees_and_manifest_belong_together() {
    let entered: BTreeSet<String> = manifest().into_iter().map(|(name, _)| name).collect();
    let files = std::fs::read_dir(format!("{TREES}/lab")).expect("the trees of the lab");
    let trees = files.filter_map(|f| Some(f.ok()?.file_name().to_str()?.strip_suffix(".tree")?.to_owned()));
    assert_eq!(trees.collect::<BTreeSet<_>>(), entered);
}

#[test]
fn nothing_that_identifies_a_machine_is_left() {
    for (name, _) in manifest() {
        let path = format!("{TREES}/lab/{name}.tree");
        let tree = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        // The lab's own serial numbers and host names, as lab/machines gives them.
        for serial in ["LAB-", "lab-"] {
            let found = tree.lines().skip(2).find(|l| l.contains(serial));
            assert_eq!(found, None, "{name}: a name that should be hashed");
        }
    }
}
