//! An archive that somebody else wrote: it is data. Nothing in it is executed, and it does not decide what is written.

use crate::experiment::{WORKLOAD, file, flag, in_force, journal, marked, resumed};
use crate::program::{Ended, Scratch};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::path::Path;

/// A restore file as versions before kept it in the archive, for this machine and this boot.
fn plant(scratch: &Scratch, marker: &Path, victim: &Path) -> std::path::PathBuf {
    let line = |path: &str| std::fs::read_to_string(path).expect("a file of /proc").trim().to_owned();
    let directory = scratch.archive().join("experiments");
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("gift-1.restore.json");
    let asks = json!({
        "experiment": "gift-1", "arm": "a",
        "boot_id": line("/proc/sys/kernel/random/boot_id"), "host": line("/proc/sys/kernel/hostname"),
        "undo": [
            {"value": {"path": victim, "old": "overwritten"}},
            {"command": {"undo": format!("touch '{}'", marker.display())}},
        ],
    });
    std::fs::write(&path, asks.to_string()).expect("written");
    path
}

#[test]
fn restore_files_of_an_archive_are_never_obeyed() {
    let scratch = Scratch::new();
    let (marker, victim) = (scratch.path().join("marker"), scratch.path().join("victim"));
    std::fs::write(&victim, "precious").expect("written");
    scratch.json(["run", "latency", "sim:a1-card", "--tag", "one", "--json"], 0);
    scratch.json(["run", "latency", "sim:a1-card", "--tag", "two", "--json"], 0);
    let planted = plant(&scratch, &marker, &victim);
    let text = std::fs::read(&planted).expect("the file");
    let page = scratch.path().join("page.html");
    let page = page.to_str().expect("a path");
    for args in [
        &["runs", "list"][..],
        &["runs"],
        &["runs", "show", "latest"],
        &["runs", "verify"],
        &["runs", "reindex"],
        &["runs", "tag", "latest", "kept"],
        &["report", "latest", "-o", page],
        &["compare", "one", "two"],
        &["rank", "one", "two"],
        &["why", "latest"],
        &["inspect", "."],
        &["check", "sim:a1-card"],
        &["export", "latest", "--format", "csv"],
        &["run", "latency", "sim:a1-card", "--plan"],
        &["run", "latency", "sim:a1-card"],
        &["run", "--resume"],
        &["run", "--restore"],
        &["tune", "--restore"],
        &["runs", "recover"],
    ] {
        let ended = scratch.run(args);
        assert!(!marker.exists(), "{args:?} ran a command of the archive: {}", ended.stderr);
        assert_eq!(std::fs::read_to_string(&victim).expect("the file"), "precious", "{args:?}");
        assert_eq!(std::fs::read(&planted).expect("it stays"), text, "{args:?}");
    }
    let said = scratch.run(["run", "latency", "sim:a1-card"]);
    assert_eq!(said.stderr.matches("nothing of an archive is obeyed").count(), 1, "{}", said.stderr);
    assert!(!scratch.run(["runs", "list"]).stderr.contains("gift-1"));
    let shown = scratch.run(["runs", "recover"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    for part in ["gift-1.restore.json", "undo by hand", "touch '", "= overwritten"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
}

#[test]
fn commands_of_a_text_run_only_where_somebody_agreed() {
    let scratch = Scratch::new();
    let text = marked(&scratch, &scratch.target());
    let refused = scratch.run(["run", &text]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    for part in ["has commands, which would run as", "echo on >", "echo off >", "--allow-commands"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert_eq!(flag(&scratch), "off");
    assert!(!scratch.archive().join("experiments").exists(), "nothing was begun");
    let plan = scratch.run(["run", &text, "--plan"]);
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    assert!(plan.stdout.contains("echo on >") && plan.stdout.contains("runs commands"), "{}", plan.stdout);
    // A value that names a program is a command by another name.
    let pattern = format!(
        "[experiment]\nname = \"core\"\npairs = 1\ntarget = \"sim:a1-card\"\n{WORKLOAD}\n[[arm]]\nname = \"a\"\n\
         [[arm]]\nname = \"b\"\nsysctl = {{ \"kernel.core_pattern\" = \"|/tmp/x\" }}\n"
    );
    let before = std::fs::read_to_string("/proc/sys/kernel/core_pattern").expect("a pattern");
    let refused = scratch.run(["run", &file(&scratch, "core.toml", &pattern)]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string("/proc/sys/kernel/core_pattern").expect("a pattern"), before);
}

/// An execution that was interrupted in its marked arm; its text.
fn interrupted(scratch: &Scratch) -> String {
    let text = marked(scratch, &scratch.target());
    let child = in_force(scratch, &["run", &text, "--allow-commands"]);
    kill_process(Pid::from_child(&child), Signal::INT).expect("a signal");
    let ended = Ended::of(child.wait_with_output().expect("it ends"));
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    assert_eq!(flag(scratch), "off");
    text
}

/// Changes the state of the one execution in an archive.
fn tamper(scratch: &Scratch, change: impl FnOnce(&mut Value)) {
    let entries = std::fs::read_dir(scratch.archive().join("experiments")).expect("states").flatten();
    let path = entries.map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "json")).expect("a state");
    let mut state: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("text")).expect("JSON");
    change(&mut state);
    std::fs::write(&path, state.to_string()).expect("written");
}

#[test]
fn a_state_of_somebody_else_goes_on_only_with_what_the_command_line_says() {
    let scratch = Scratch::new();
    let text = interrupted(&scratch);
    // What this user started is known to this user.
    let marked = std::fs::read_to_string(&text).expect("the text");
    std::fs::remove_dir_all(scratch.journal()).expect("another user's or machine's");
    let log = scratch.path().join("log");
    std::fs::remove_file(&log).expect("the log of the commands");
    for args in [&["run", "--resume", "--allow-commands"][..], &["run", "--resume"], &["run", &text, "--resume"]] {
        let refused = scratch.run(args);
        assert_eq!(refused.code, 3, "{args:?}: {}", refused.stderr);
        assert!(!log.exists(), "{args:?} ran a command");
    }
    let refused = scratch.run(["run", "--resume", "--allow-commands"]);
    for part in ["was not started by this user", "echo on >", "narrows run EXPERIMENT.toml"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    // With its text on the command line it goes on, and is this user's from then on.
    assert!(marked.contains("target = "), "the text names the target itself");
    resumed(&scratch, &["run", &text, "--resume", "--allow-commands", "--json"]);
}

#[test]
fn a_state_does_not_choose_the_target_or_the_workload() {
    let scratch = Scratch::new();
    let text = interrupted(&scratch);
    let other = scratch.path().join("other");
    std::fs::create_dir(&other).expect("a directory");
    std::fs::write(other.join("data"), "precious").expect("written");
    let data = other.join("data");
    tamper(&scratch, |state| state["target"] = json!(data));
    for args in [
        &["run", "--resume", "--allow-commands"][..],
        &["run", &text, "--resume", "--allow-commands"],
        &["run", &text, "--resume", "--allow-commands", "--overwrite"],
    ] {
        let refused = scratch.run(args);
        assert_eq!(refused.code, 3, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("was not started by this user"), "{args:?}: {}", refused.stderr);
        assert_eq!(std::fs::read_to_string(&data).expect("the file"), "precious");
    }
    let target = scratch.target();
    let target = target.to_str().expect("a path");
    tamper(&scratch, |state| state["workload"]["text"] = json!("[workload]\nname = \"another\"\n"));
    let refused = scratch.run(["run", &text, target, "--resume", "--allow-commands"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("workload"), "{}", refused.stderr);
}

#[test]
fn a_link_for_a_lock_makes_no_file_elsewhere() {
    let scratch = Scratch::new();
    let text = interrupted(&scratch);
    let outside = scratch.path().join("outside");
    let entries = std::fs::read_dir(scratch.archive().join("experiments")).expect("states").flatten();
    let lock = entries.map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "json")).expect("a state");
    let lock = lock.with_extension("lock");
    let _ = std::fs::remove_file(&lock);
    std::os::unix::fs::symlink(&outside, &lock).expect("a link");
    let refused = scratch.run(["run", &text, "--resume", "--allow-commands"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(!outside.exists());
}

#[test]
fn what_only_reads_says_that_something_is_left_and_leaves_it() {
    let scratch = Scratch::new();
    scratch.json(["run", "latency", "sim:a1-card", "--json"], 0);
    let text = marked(&scratch, &scratch.target());
    let mut child = in_force(&scratch, &["run", &text, "--allow-commands"]);
    child.kill().expect("SIGKILL");
    child.wait().expect("it ends");
    for args in [
        &["runs", "list"][..],
        &["runs", "show", "latest"],
        &["report", "latest"],
        &["compare", "latest", "latest"],
        &["why", "latest"],
        &["inspect", "."],
        &["run", &text, "--plan"],
        &["check", "sim:a1-card"],
    ] {
        let ended = scratch.run(args);
        assert_eq!(
            ended.stderr.matches("left this machine changed; narrows experiment restore").count(),
            1,
            "{args:?}: {}",
            ended.stderr
        );
        assert_eq!(flag(&scratch), "on", "{args:?} undid it");
        assert!(journal(&scratch).is_some(), "{args:?}");
    }
    let recovered = scratch.run(["runs", "recover"]);
    assert!(recovered.stderr.contains("runs what undoes its command: 'echo off >"), "{}", recovered.stderr);
    assert!(recovered.stdout.contains("restored the settings of its arm 'marked'"), "{}", recovered.stdout);
    assert_eq!((flag(&scratch).as_str(), journal(&scratch)), ("off", None));
    let nothing = scratch.run(["tune", "--restore"]);
    assert!(nothing.code == 0 && nothing.stdout.contains("no experiment left anything changed"), "{}", nothing.stdout);
    assert_eq!(scratch.run(["tune"]).code, 2);
}
