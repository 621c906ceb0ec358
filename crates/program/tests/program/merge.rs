//! `runs merge`: archives by path and by ssh, with duplicates, conflicts and damaged bundles.

use crate::program::{Ended, Scratch};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// An archive of its own with so many runs, each with a tag.
fn other(scratch: &Scratch, name: &str, runs: u32) -> PathBuf {
    let archive = scratch.path().join(name);
    let tag = name.rsplit('/').next().unwrap_or(name);
    for seed in 0..runs {
        let job =
            ["run", "--rw", "randread", "--bs", "4k", "--runtime", "1", "--size", "16m", "--tag", tag, "--archive"];
        let target = format!("sim:nvme,seed={seed}");
        let ended = Ended::of(scratch.command(job).arg(&archive).arg(&target).output().unwrap());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    archive
}

fn ids(archive: &Path) -> Vec<String> {
    let entries = fs::read_dir(archive.join("runs")).map(|e| e.flatten().collect::<Vec<_>>()).unwrap_or_default();
    let mut ids: Vec<String> = entries.iter().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    ids.retain(|id| !id.starts_with('.'));
    ids.sort();
    ids
}

fn total(document: &Value) -> String {
    let results = document["results"].as_array().unwrap();
    results.iter().find(|r| r["subject"] == "merged").expect("the sum")["result"].as_str().unwrap().to_owned()
}

#[test]
fn archives_come_together_once_and_what_is_wrong_is_left_and_said() {
    let scratch = Scratch::new();
    let (a, b) = (other(&scratch, "a", 3), other(&scratch, "b", 2));
    let merged = scratch.json([Path::new("runs"), Path::new("merge"), &a, &b, Path::new("--json")], 0);
    assert_eq!(total(&merged), "5 added, 0 already here, 0 not taken");
    assert_eq!(scratch.json(["runs", "list", "--tag", "b", "--json"], 0)["runs"].as_array().unwrap().len(), 2);
    assert_eq!(scratch.json(["runs", "verify", "--json"], 0)["results"].as_array().unwrap().len(), 5);
    let again = scratch.json([Path::new("runs"), Path::new("merge"), &a, Path::new("--json")], 0);
    assert_eq!(total(&again), "0 added, 3 already here, 0 not taken");
    // One of A was made anew, one of B is damaged, and one is new.
    let (of_a, of_b) = (ids(&a), ids(&b));
    fs::write(a.join("runs").join(&of_a[0]).join("SHA256SUMS"), "").unwrap();
    let own = scratch.archive();
    fs::remove_dir_all(own.join("runs").join(&of_b[0])).unwrap();
    fs::write(b.join("runs").join(&of_b[0]).join("system.csv"), "altered").unwrap();
    let odd = scratch.json([Path::new("runs"), Path::new("merge"), &a, &b, Path::new("--json")], 1);
    assert_eq!(total(&odd), "0 added, 3 already here, 2 not taken");
    let why = |id: &String| {
        odd["results"].as_array().unwrap().iter().find(|r| r["subject"] == **id).unwrap()["result"].to_string()
    };
    assert!(why(&of_a[0]).contains("another run of this id is here, and stays"), "{odd}");
    assert!(why(&of_b[0]).contains("system.csv"), "{odd}");
    assert_eq!(ids(&own).len(), 4);
    for (from, says) in [
        (own.as_path(), "into"),
        (Path::new("/nonexistent"), "check the spelling"),
        (scratch.path().join("target").as_path(), "no run in"),
    ] {
        scratch.target();
        let ended = scratch.run([Path::new("runs"), Path::new("merge"), from]);
        assert!(ended.code > 1 && ended.stderr.contains(says), "{from:?}: {}", ended.stderr);
    }
}

/// Programs in the place of ssh and scp that do on this machine what these do on another.
fn of_ssh(scratch: &Scratch) -> std::ffi::OsString {
    let bin = scratch.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let host = scratch.path().join("host");
    let ssh = format!(
        "#!/bin/sh\nset -e\n[ \"$1 $2 $3\" = '-o BatchMode=yes --' ]\n[ \"$4\" = board ] || {{ echo \"ssh: no host $4\" >&2; exit 255; }}\nshift 4\ncd '{}'\nexec sh -c \"$*\"\n",
        host.display()
    );
    let scp = format!(
        "#!/bin/sh\nset -e\nshift 4\nfor last; do :; done\ncd '{}'\nwhile [ $# -gt 1 ]; do cp -rp \"${{1#board:}}\" \"$last\"; shift; done\n",
        host.display()
    );
    for (name, text) in [("ssh", ssh), ("scp", scp)] {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap()
}

#[test]
fn an_archive_of_another_machine_comes_by_ssh_and_only_what_is_new_of_it() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path().join("host")).unwrap();
    let there = other(&scratch, "host/narrows", 3);
    let path = of_ssh(&scratch);
    let merge =
        |from: &str| Ended::of(scratch.command(["runs", "merge", from, "--json"]).env("PATH", &path).output().unwrap());
    let first = merge("board:narrows");
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    assert_eq!(total(&serde_json::from_str(&first.stdout).unwrap()), "3 added, 0 already here, 0 not taken");
    assert!(!scratch.archive().join("incoming").exists());
    let made = ids(&there);
    fs::remove_dir_all(scratch.archive().join("runs").join(&made[0])).unwrap();
    fs::write(there.join("runs").join(&made[1]).join("SHA256SUMS"), "other\n").unwrap();
    let second = merge("board:narrows/");
    assert_eq!(second.code, 1, "{}", second.stderr);
    assert_eq!(total(&serde_json::from_str(&second.stdout).unwrap()), "1 added, 1 already here, 1 not taken");
    for (from, says) in
        [("elsewhere:x", "no host elsewhere"), ("board:$(reboot)", "letters, digits"), ("-oProxyCommand=x:y", "")]
    {
        let ended = merge(from);
        assert!(
            ended.code > 1 && format!("{}{}", ended.stdout, ended.stderr).contains(says),
            "{from}: {}",
            ended.stdout
        );
    }
}

#[test]
fn what_people_acknowledged_and_the_tags_of_each_archive_below_a_directory_come_along() {
    let scratch = Scratch::new();
    let fleet = scratch.path().join("fleet");
    let (a, b) = (other(&scratch, "fleet/a", 1), other(&scratch, "fleet/b", 1));
    let said = |why: &str, within: &[String]| {
        let within = within.iter().map(|id| format!("{id:?}")).collect::<Vec<_>>().join(",");
        format!(
            r#"{{"event":"{why}0000","machine":"m","device":"d","workload":"w","plan":"p","within":[{within}],"why":"{why}","at":"2026-01-01T00:00:00Z"}}"#
        )
    };
    let file = |archive: &Path| archive.join("acknowledged.json");
    fs::write(file(&a), format!("[{},{}]", said("first", &ids(&a)), said("foreign", &["x".to_owned()]))).unwrap();
    fs::write(file(&b), format!("[{}]", said("second", &[ids(&a), ids(&b)].concat()))).unwrap();
    let merged = scratch.json([Path::new("runs"), Path::new("merge"), &fleet, Path::new("--json")], 0);
    assert_eq!(total(&merged), "2 added, 0 already here, 0 not taken");
    for tag in ["a", "b"] {
        let listed = scratch.json(["runs", "list", "--tag", tag, "--json"], 0);
        assert_eq!(listed["runs"].as_array().unwrap().len(), 1, "{tag}");
    }
    // Of runs that are not here nothing is kept, and of two that speak of one event the first.
    let kept: Value = serde_json::from_slice(&fs::read(file(&scratch.archive())).unwrap()).unwrap();
    assert_eq!(kept.as_array().unwrap().iter().map(|k| k["why"].as_str().unwrap()).collect::<Vec<_>>(), ["first"]);
    fs::write(file(&a), "[{]").unwrap();
    let damaged = scratch.json([Path::new("runs"), Path::new("merge"), &fleet, Path::new("--json")], 1);
    assert!(damaged.to_string().contains("acknowledged.json is damaged"), "{damaged}");
}

#[test]
fn another_machine_that_sends_without_end_is_not_believed() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path().join("host")).unwrap();
    let path = of_ssh(&scratch);
    let ssh = scratch.path().join("bin/ssh");
    fs::write(&ssh, "#!/bin/sh\nexec yes 20260101T000000Z-0000abcd\n").unwrap();
    let ended = Ended::of(scratch.command(["runs", "merge", "board:x"]).env("PATH", &path).output().unwrap());
    assert!(ended.code > 1 && ended.stderr.contains("sends more than"), "{}", ended.stderr);
    // More than there is room for is not fetched.
    fs::write(&ssh, "#!/bin/sh\ncase $5 in ls) echo 20260101T000000Z-0000abcd;; du) echo 9000000000000 x;; esac\n")
        .unwrap();
    let ended = Ended::of(scratch.command(["runs", "merge", "board:x"]).env("PATH", &path).output().unwrap());
    assert!(ended.code > 1 && ended.stderr.contains("has room for"), "{}", ended.stderr);
}
