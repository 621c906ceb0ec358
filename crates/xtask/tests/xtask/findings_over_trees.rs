//! What the catalogue says of whole machines: trees of `crates/observe/tests/trees` as `inspect --root` reads them.
//!
//! `findings_over_trees.toml` lists for each tree exactly the findings that hold, those that nearly do and must not, and
//! those that are unknown with the fact that they lack.

use crate::tree::{TREES, Tree};
use diagnose::Assessment;
use model::{Fact, LayerKind};
use std::collections::BTreeSet;

fn assessed(tree: &Tree, target: &str) -> Assessment {
    let root = tree.root();
    let place = observe::locate(&root, target).unwrap_or_else(|e| panic!("{target}: {e}"));
    let seen = observe::inventory(&root, &place);
    let host = seen.stack.first(LayerKind::Host);
    let log = host.and_then(|h| match h.fact(observe::facts::KERNEL_LOG_STORAGE) {
        Some(Fact::List(lines)) => Some(lines.clone()),
        _ => None,
    });
    diagnose::findings_of_stack(&seen.stack, &observe::environment(&root), log.as_deref())
}

fn strings(entry: &toml::Table, key: &str) -> Vec<String> {
    let of = |v: &toml::Value| v.as_str().map(str::to_owned).unwrap_or_else(|| panic!("{key}: a text is expected"));
    entry.get(key).and_then(toml::Value::as_array).into_iter().flatten().map(of).collect()
}

#[test]
fn machines_have_the_findings_that_they_are_known_for() {
    let expected: toml::Table = include_str!("../findings_over_trees.toml").parse().expect("the expectations are TOML");
    let mut wrong = Vec::new();
    for entry in expected["tree"].as_array().expect("[[tree]]") {
        let entry = entry.as_table().expect("a table");
        let text = |key: &str| entry[key].as_str().unwrap_or_else(|| panic!("{key} is a text"));
        let (name, target) = (text("name"), text("target"));
        let seen = assessed(&Tree::of(name), target);
        let holds: BTreeSet<&str> = seen.findings.iter().map(|f| f.id.as_str()).collect();
        let finds = strings(entry, "finds");
        let finds: BTreeSet<&str> = finds.iter().map(String::as_str).collect();
        for id in finds.iter().copied().chain(strings(entry, "not").iter().map(String::as_str)) {
            assert!(diagnose::page(id).is_some(), "{name}: no finding is called {id}");
        }
        if holds != finds {
            let lacks: Vec<_> = finds.difference(&holds).collect();
            let surplus: Vec<_> = holds.difference(&finds).collect();
            wrong.push(format!("{name} {target}: lacks {lacks:?}, has besides {surplus:?}"));
        }
        for id in strings(entry, "not") {
            let unknown = seen.unknown.iter().find(|u| u.id == id);
            if let Some(u) = unknown {
                wrong.push(format!("{name} {target}: {id} is unknown for want of {}, not decided", u.missing));
            }
            if holds.contains(id.as_str()) {
                wrong.push(format!("{name} {target}: {id} holds"));
            }
        }
        let unknown = entry.get("unknown").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        for (id, missing) in &unknown {
            let found = seen.unknown.iter().find(|u| &u.id == id).map(|u| u.missing.as_str());
            if found != missing.as_str() {
                wrong.push(format!("{name} {target}: {id} lacks {found:?}, expected {missing}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// `findings/ID.tree` triggers ID; `findings/ID.near*.tree` nearly does and must not, and is decided. The target is the
/// first line's `# target: NAME`.
#[test]
fn trees_of_findings_trigger_them_and_near_misses_do_not() {
    let folder = format!("{TREES}/findings");
    let Ok(entries) = std::fs::read_dir(&folder) else { panic!("{folder} is not there") };
    let (mut holds, mut near) = (BTreeSet::new(), BTreeSet::new());
    let mut wrong = Vec::new();
    for entry in entries {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        let Some(tree) = name.strip_suffix(".tree") else { continue };
        let (id, is_near) = match tree.split_once('.') {
            Some((id, rest)) if rest.starts_with("near") => (id, true),
            None => (tree, false),
            Some(_) => panic!("{name} is neither ID.tree nor ID.near*.tree"),
        };
        assert!(diagnose::page(id).is_some(), "{name}: no finding is called {id}");
        let text = std::fs::read_to_string(format!("{folder}/{name}")).expect("a readable tree");
        let target = text.lines().find_map(|l| l.strip_prefix("# target: "));
        let target = target.unwrap_or_else(|| panic!("{name} has no line `# target: NAME`"));
        let seen = assessed(&Tree::of(&format!("findings/{tree}")), target.trim());
        let found = seen.findings.iter().any(|f| f.id == id);
        let missing = seen.unknown.iter().find(|u| u.id == id).map(|u| u.missing.as_str());
        if found == is_near || missing.is_some() {
            wrong.push(format!("{name}: holds {found}, missing {missing:?}"));
        }
        if is_near {
            near.insert(id.to_owned())
        } else {
            holds.insert(id.to_owned())
        };
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert_eq!(holds, near, "a tree without its near miss, or the reverse");
}
