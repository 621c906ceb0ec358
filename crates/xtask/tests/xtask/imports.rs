//! The structure of the workspace, held by a test: who may import whom, where `unsafe` may stand, how long a file may
//! get, and what nothing is called. The table here, the one in docs/architecture.md and the Cargo.toml files must agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each room and what it may import. Nobody imports xtask.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("stats", &[]),
    ("sys", &[]),
    ("iomem", &[]),
    ("spec", &["model"]),
    ("integrity", &["model"]),
    ("workload", &["integrity", "model"]),
    ("observe", &["model", "sys"]),
    ("settings", &["model", "sys"]),
    ("file-trace", &["model", "sys", "workload"]),
    ("engine", &["file-trace", "iomem", "model", "stats", "sys", "workload"]),
    ("recorder", &["engine", "model", "sys", "workload"]),
    ("archive", &["model"]),
    ("exchange", &["model"]),
    ("judge", &["integrity", "model", "stats"]),
    ("diagnose", &["model", "stats"]),
    ("conduct", &["archive", "diagnose", "engine", "file-trace", "judge", "model", "observe", "spec", "sys"]),
    ("record", &["conduct", "engine", "model", "observe", "recorder", "spec", "stats", "sys"]),
    ("experiments", &["archive", "conduct", "diagnose", "judge", "model", "observe", "settings", "spec", "sys"]),
    ("soak", &["archive", "conduct", "engine", "model", "observe", "spec", "stats", "sys", "workload"]),
    ("conclusions", &["archive", "diagnose", "judge", "model", "sys"]),
    ("report", &["model"]),
    ("lab", &["all but cli"]),
    ("cli", &["all but lab"]),
    ("program", &["cli"]),
    ("xtask", &["all", "test-runs"]),
    ("test-runs", &["model"]),
];

/// What the tests of a room may import beyond that, each with its reason.
const ONLY_IN_TESTS: &[(&str, &str, &str)] = &[
    ("engine", "spec", "the named simulated devices that the truth tests drive are TOML files of spec"),
    ("spec", "file-trace", "the built-in workload packages is planned with the calls of its model"),
    ("stats", "model", "the seeded generator; the statistics themselves need nothing"),
    ("program", "observe", "captured trees are made and read by the code of its tests"),
    ("archive", "test-runs", RUNS),
    ("diagnose", "test-runs", RUNS),
    ("exchange", "test-runs", RUNS),
    ("judge", "test-runs", RUNS),
    ("report", "test-runs", RUNS),
];

const RUNS: &str = "runs of known truth, or drawn from a seed";

/// Where `unsafe` may stand.
const UNSAFE_ROOMS: &[&str] = &["sys", "iomem"];

/// A file is one idea; beyond this it is two.
const LONGEST_FILE_LINES: usize = 500;

/// Names that say nothing.
const BANNED_NAMES: &[&str] = &["utils", "util", "common", "helpers", "helper", "misc"];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace's directory")
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display())) {
        let path = entry.expect("a directory entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_symlink() || matches!(name.as_str(), "target" | ".git") {
            continue;
        }
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}

/// All files of the workspace, relative to its root; `target` and `.git` left out.
fn files() -> Vec<PathBuf> {
    let root = root();
    let mut files = Vec::new();
    walk(&root, &mut files);
    assert!(files.len() > 50, "only {} files were found below {}", files.len(), root.display());
    files.into_iter().map(|f| f.strip_prefix(&root).expect("below the root").to_owned()).collect()
}

fn read(file: &Path) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn rust_files() -> impl Iterator<Item = (PathBuf, String)> {
    files().into_iter().filter(|f| f.extension().is_some_and(|e| e == "rs")).map(|f| {
        let text = read(&f);
        (f, text)
    })
}

fn assert_none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

/// The rooms that a Cargo.toml's sections name: entries with a path, here or in the workspace's own table.
fn imports(manifest: &toml::Table, sections: &[&str], rooms: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = std::iter::once(manifest).chain(targets.into_iter().flatten().filter_map(|(_, t)| t.as_table()));
    for table in tables {
        for section in sections {
            let entries = table.get(*section).and_then(toml::Value::as_table);
            for (name, entry) in entries.into_iter().flatten() {
                let renamed = entry.get("package").and_then(toml::Value::as_str).unwrap_or(name);
                if let Some(room) = rooms.get(name).or_else(|| rooms.get(renamed)) {
                    found.insert(room.clone());
                }
                if let Some(path) = entry.get("path").and_then(toml::Value::as_str) {
                    let room = Path::new(path).file_name().expect("a path to a room").to_string_lossy();
                    found.insert(room.into_owned());
                }
            }
        }
    }
    found
}

fn manifest(file: &Path) -> toml::Table {
    read(file).parse().unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// From every name that a dependency on a room may have to the room.
fn names_of_rooms() -> BTreeMap<String, String> {
    let workspace = manifest(Path::new("Cargo.toml"));
    let shared = workspace["workspace"]["dependencies"].as_table().expect("workspace.dependencies");
    let mut names = BTreeMap::new();
    for (name, entry) in shared {
        if let Some(path) = entry.get("path").and_then(toml::Value::as_str) {
            let room = Path::new(path).file_name().expect("a path to a room").to_string_lossy().into_owned();
            names.insert(name.clone(), room.clone());
            names.insert(entry["package"].as_str().unwrap_or(name).to_owned(), room);
        }
    }
    for (room, _) in ROOMS {
        let package = manifest(&Path::new("crates").join(room).join("Cargo.toml"));
        names.insert(package["package"]["name"].as_str().expect("package.name").to_owned(), (*room).to_owned());
    }
    names
}

#[test]
fn every_room_is_in_the_table() {
    let mut found: Vec<String> = fs::read_dir(root().join("crates"))
        .expect("crates")
        .map(|e| e.expect("a directory entry").file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let mut listed: Vec<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    listed.sort_unstable();
    assert_eq!(found, listed);
}

/// The rooms that an entry of the table stands for.
fn allowed(may: &[&'static str]) -> Vec<&'static str> {
    let Some(but) = may.first().and_then(|first| first.strip_prefix("all")) else { return may.to_vec() };
    let but = but.trim_start_matches(" but ");
    ROOMS
        .iter()
        .map(|(room, _)| *room)
        .filter(|room| *room != but && !matches!(*room, "xtask" | "program" | "test-runs"))
        .chain(may.iter().skip(1).copied())
        .collect()
}

#[test]
fn rooms_import_only_what_the_table_allows() {
    let names = names_of_rooms();
    let mut forbidden = Vec::new();
    for (room, may) in ROOMS {
        let may = allowed(may);
        let manifest = manifest(&Path::new("crates").join(room).join("Cargo.toml"));
        let used = imports(&manifest, &["dependencies", "build-dependencies"], &names);
        forbidden.extend(used.iter().filter(|u| !may.contains(&u.as_str())).map(|u| format!("{room} imports {u}")));
        for used in imports(&manifest, &["dev-dependencies"], &names) {
            let listed = ONLY_IN_TESTS.iter().any(|(r, u, _)| r == room && *u == used);
            if !may.contains(&used.as_str()) && !listed && used != *room {
                forbidden.push(format!("the tests of {room} import {used}"));
            }
        }
    }
    assert_none("edges that the table of rooms does not have", &forbidden);
}

#[test]
fn the_table_of_the_documents_is_this_one() {
    let text = read(Path::new("docs/architecture.md"));
    let mut documented = BTreeMap::new();
    for line in text.lines().filter(|l| l.starts_with("| `")) {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let room = cells.next().unwrap_or_default().trim_matches('`');
        let imports: BTreeSet<&str> =
            cells.next().unwrap_or_default().split(", ").filter(|i| !matches!(*i, "–" | "-" | "")).collect();
        if ROOMS.iter().any(|(r, _)| *r == room) {
            documented.insert(room, imports);
        }
    }
    let here: BTreeMap<&str, BTreeSet<&str>> =
        ROOMS.iter().map(|(room, may)| (*room, may.iter().copied().collect())).collect();
    assert_eq!(documented, here);
}

#[test]
fn unsafe_stands_only_where_it_may() {
    let mut found = Vec::new();
    for (file, text) in rust_files() {
        if UNSAFE_ROOMS.iter().any(|room| file.starts_with(Path::new("crates").join(room))) {
            continue;
        }
        for (i, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let allows = ["allow(unsafe_code", "expect(unsafe_code"].iter().any(|a| code.contains(a));
            let uses = ["unsafe {", "unsafe fn ", "unsafe impl ", "unsafe trait ", "unsafe extern "]
                .iter()
                .any(|keyword| code.contains(keyword) && !code.contains(&format!("\"{keyword}")));
            if (allows || uses) && !file.ends_with("tests/xtask/imports.rs") {
                found.push(format!("{}:{}: {}", file.display(), i + 1, line.trim()));
            }
        }
    }
    assert_none("`unsafe` outside the rooms that may", &found);
}

#[test]
fn a_file_is_one_idea() {
    let long: Vec<String> = rust_files()
        .map(|(file, text)| (file, text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST_FILE_LINES)
        .map(|(file, lines)| format!("{}: {lines} lines", file.display()))
        .collect();
    assert_none("files that are more than one idea", &long);
}

#[test]
fn names_mean_something() {
    let nameless: Vec<String> = files()
        .into_iter()
        .filter(|f| f.starts_with("crates") && f.extension().is_some_and(|e| e == "rs" || e == "toml"))
        .filter(|f| {
            f.components().any(|c| {
                let part = Path::new(&c).file_stem().unwrap_or_default().to_string_lossy().into_owned();
                BANNED_NAMES.contains(&part.as_str())
            })
        })
        .map(|f| f.display().to_string())
        .collect();
    assert_none("names that say nothing", &nameless);
}

#[test]
fn every_room_says_what_it_is_for() {
    let mut silent = Vec::new();
    for (room, _) in ROOMS {
        for start in ["lib.rs", "main.rs"] {
            let file = Path::new("crates").join(room).join("src").join(start);
            if root().join(&file).exists() && !read(&file).starts_with("//!") {
                silent.push(file.display().to_string());
            }
        }
    }
    assert_none("rooms that do not open with what they are for", &silent);
}

#[test]
fn nothing_knows_the_machine_it_was_written_on() {
    // Put together here, so that this file does not contain what it looks for.
    let banned = ["work", "root"].map(|name| format!("/{name}/"));
    let is_text = |f: &PathBuf| {
        let extension = f.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
        matches!(extension.as_str(), "rs" | "toml" | "sh" | "md" | "lock") || f.starts_with(".ci")
    };
    let mut found = Vec::new();
    for file in files().into_iter().filter(is_text) {
        for (i, line) in read(&file).lines().enumerate() {
            for name in &banned {
                let absolute = line.match_indices(name.as_str()).any(|(at, _)| {
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '}' | '.' | ')'))
                });
                if absolute {
                    found.push(format!("{}:{}: {}", file.display(), i + 1, line.trim()));
                }
            }
        }
    }
    assert_none("paths of one machine", &found);
}

#[test]
fn nothing_is_left_to_do() {
    let unfinished = ["todo", "unimplemented"].map(|name| format!("{name}!("));
    let mut found = Vec::new();
    for (file, text) in rust_files() {
        for (i, line) in text.lines().enumerate() {
            if unfinished.iter().any(|u| line.contains(u.as_str())) {
                found.push(format!("{}:{}: {}", file.display(), i + 1, line.trim()));
            }
        }
    }
    assert_none("work that was put off", &found);
}
