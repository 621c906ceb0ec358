//! No circle of files: where two files need each other, what both need is a third. A module's file and those below it are one
//! idea and may know each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module's path below its crate, and its file.
type Modules = BTreeMap<Vec<String>, PathBuf>;

fn modules(directory: &Path, module: &[String], found: &mut Modules) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let below = |name: &str| module.iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>();
        if path.is_dir() {
            modules(&path, &below(&stem), found);
        } else if path.extension().is_some_and(|e| e == "rs") && !stem.ends_with("tests") {
            let is_own = matches!(stem.as_str(), "mod" | "lib" | "main");
            found.insert(if is_own { module.to_vec() } else { below(&stem) }, path);
        }
    }
}

/// The text of a file without its tests and comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// All paths that a tree of names stands for: `a::{b, c::d}` is a::b and a::c::d.
fn leaves(tree: &str) -> Vec<Vec<String>> {
    let names =
        |text: &str| text.split("::").map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()).collect::<Vec<_>>();
    let Some((head, rest)) = tree.split_once('{') else {
        return vec![names(tree.split(" as ").next().unwrap_or_default())];
    };
    let inner = &rest[..rest.rfind('}').unwrap_or(rest.len())];
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in inner.chars() {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                parts.last_mut().expect("a part").push(c);
            }
        }
    }
    let head = names(head);
    let whole = |tail: Vec<String>| head.iter().cloned().chain(tail).collect();
    parts.iter().filter(|p| !p.trim().is_empty()).flat_map(|p| leaves(p)).map(whole).collect()
}

/// Paths that begin with `crate`, `super` or `self` in a file, and what it hands on under its own name.
fn paths(text: &str) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let (mut used, mut handed_on) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find("use ") {
        let starts = rest[..at].rsplit('\n').next().unwrap_or_default().trim();
        let end = rest[at..].find(';').map_or(rest.len(), |e| at + e);
        if starts.is_empty() || starts.starts_with("pub") {
            let all = leaves(&rest[at + 4..end]);
            if starts.starts_with("pub") {
                handed_on.extend(all.clone());
            }
            used.extend(all);
        }
        rest = &rest[end..];
    }
    for start in ["crate::", "super::"] {
        for (at, _) in text.match_indices(start) {
            let path: String =
                text[at..].chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
            used.extend(leaves(&path));
        }
    }
    (used, handed_on)
}

/// The module that a path of a module leads to, through what others hand on; `None` where it leaves the crate.
fn target(
    module: &[String],
    path: &[String],
    all: &Modules,
    handed_on: &BTreeMap<(Vec<String>, String), Vec<String>>,
) -> Option<Vec<String>> {
    let mut at = match path.first().map(String::as_str) {
        Some("crate") => Vec::new(),
        Some("super" | "self") => module.to_vec(),
        Some(name) if all.contains_key(&[module, &[name.to_owned()]].concat()) => module.to_vec(),
        _ => return None,
    };
    for name in path {
        match name.as_str() {
            "crate" | "self" => {}
            "super" => drop(at.pop()),
            name => {
                let below = [&at[..], &[name.to_owned()]].concat();
                if all.contains_key(&below) {
                    at = below;
                } else {
                    return handed_on.get(&(at.clone(), name.to_owned())).cloned().or(Some(at));
                }
            }
        }
    }
    Some(at)
}

fn edges(source: &Path) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let mut all = Modules::new();
    modules(source, &[], &mut all);
    let found: BTreeMap<_, _> = all.iter().map(|(m, file)| (m.clone(), paths(&code(file)))).collect();
    let mut handed_on = BTreeMap::new();
    for (module, (_, pubs)) in &found {
        for path in pubs {
            if let (Some(to), Some(name)) = (target(module, path, &all, &BTreeMap::new()), path.last()) {
                handed_on.insert((module.clone(), name.clone()), to);
            }
        }
    }
    let is_above = |a: &[String], b: &[String]| b.starts_with(a) || a.starts_with(b);
    let of = |(module, (used, _)): (&Vec<String>, &(Vec<Vec<String>>, _))| {
        let to = used.iter().filter_map(|path| target(module, path, &all, &handed_on));
        (module.clone(), to.filter(|to| !is_above(module, to)).collect())
    };
    found.iter().map(of).collect()
}

/// What can be reached from a module.
fn reached<'a>(
    start: &Vec<String>,
    edges: &'a BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
) -> BTreeSet<&'a Vec<String>> {
    let mut open = vec![start];
    let mut seen = BTreeSet::new();
    while let Some(module) = open.pop() {
        for next in edges.get(module).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

#[test]
fn no_files_of_a_crate_need_each_other_in_a_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut circles = BTreeSet::new();
    let mut files = 0;
    let mut arrows = 0;
    for room in fs::read_dir(&crates).expect("the crates").flatten() {
        let edges = edges(&room.path().join("src"));
        files += edges.len();
        arrows += edges.values().map(BTreeSet::len).sum::<usize>();
        let reach: BTreeMap<_, _> = edges.keys().map(|module| (module, reached(module, &edges))).collect();
        for module in edges.keys().filter(|module| reach[module].contains(module)) {
            let both = reach[module].iter().filter(|other| reach[**other].contains(module));
            let names: Vec<String> = both.map(|m| m.join("::")).collect();
            circles.insert(format!("{}: {}", room.file_name().to_string_lossy(), names.join(", ")));
        }
    }
    assert!(files > 500 && arrows > 1_000, "{files} files with {arrows} arrows were read");
    let circles: Vec<String> = circles.into_iter().collect();
    assert!(circles.is_empty(), "circles of files:\n{}", circles.join("\n"));
}

#[test]
fn names_are_followed_to_their_files() {
    let one = |tree: &str| leaves(tree).iter().map(|p| p.join("::")).collect::<Vec<_>>();
    assert_eq!(
        one("crate::a::{self, b, c::{D, e}}"),
        ["crate::a::self", "crate::a::b", "crate::a::c::D", "crate::a::c::e"]
    );
    assert_eq!(one("super::x as y"), ["super::x"]);
    let directory = std::env::temp_dir().join(format!("narrows-circles-{}", std::process::id()));
    fs::create_dir_all(directory.join("b")).expect("a directory");
    for (name, text) in [
        ("lib.rs", "mod a;\nmod b;\npub use b::B;\n"),
        ("a.rs", "use crate::B;\npub struct A(B);\n"),
        ("b.rs", "mod c;\npub struct B;\n"),
        ("b/c.rs", "use super::B;\nfn f(_: &crate::a::A) {}\n"),
    ] {
        fs::write(directory.join(name), text).expect("a file");
    }
    let edges = edges(&directory);
    let to = |from: &[&str]| edges[&from.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()].clone();
    assert_eq!(to(&["a"]).into_iter().collect::<Vec<_>>(), [["b"]], "through what the crate hands on");
    assert_eq!(to(&["b", "c"]).into_iter().collect::<Vec<_>>(), [["a"]], "and not what is above");
    fs::remove_dir_all(directory).expect("it goes");
}
