//! What a shell offers, asked as it asks.

use crate::program::{BINARY, Ended, Scratch};
use std::fs;
use std::process::Command;

/// What the program answers a shell for these words, of which the last one is completed.
fn answered(scratch: &Scratch, shell: &str, words: &[&str]) -> Vec<String> {
    let ended = Ended::of(asking(scratch, shell, words).output().expect("the binary runs"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{shell}: {words:?}");
    ended.stdout.lines().map(str::to_owned).collect()
}

fn asking(scratch: &Scratch, shell: &str, words: &[&str]) -> Command {
    let mut command = scratch.command(["--", "narrows"].iter().chain(words));
    command.env("COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command
}

fn has(offered: &[String], wanted: &[&str]) {
    for name in wanted {
        assert!(offered.iter().any(|o| o == name), "{name}: {offered:?}");
    }
}

/// An archive of one run with the tag `before`, and its id.
fn with_a_run() -> (Scratch, String) {
    let scratch = Scratch::with_its_archive_inside();
    let run = scratch.json(["run", "latency", "sim:nvme", "--set", "time=1s", "--tag", "before", "--json"], 0);
    let id = run["run_id"].as_str().expect("an id").to_owned();
    (scratch, id)
}

#[test]
fn completions_are_one_document_too() {
    let scratch = Scratch::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = scratch.run(["completions", shell]).stdout;
        assert!(script.contains("COMPLETE") && script.contains(BINARY), "{script}");
        assert_eq!(scratch.json(["completions", shell, "--json"], 0)["script"], script.as_str(), "{shell}");
    }
}

/// What is special to a shell is not asserted of the others.
#[test]
fn every_shell_is_answered_with_names() {
    let (scratch, id) = with_a_run();
    for shell in ["bash", "elvish", "zsh"] {
        has(&answered(&scratch, shell, &["runs", "show", ""]), &[&id, "before", "latest"]);
    }
    for shell in ["fish", "powershell"] {
        let offered = answered(&scratch, shell, &["runs", "show", "bef"]);
        assert!(offered[0].starts_with("before"), "{shell}: {offered:?}");
    }
}

#[test]
fn names_are_those_of_the_argument() {
    let (scratch, id) = with_a_run();
    fs::write(scratch.path().join("my run.json"), "{}").unwrap();
    let offered = |words: &[&str]| answered(&scratch, "bash", words);
    has(&offered(&["ch"]), &["check"]);
    has(&offered(&[""]), &["check", "runs", "explain", "workloads", "--json"]);
    assert_eq!(offered(&["run", "dep"]), ["depth"]);
    assert_eq!(offered(&["run", "--repeat", "3", "burs"]), ["bursts"], "a value of an option is no name");
    assert_eq!(offered(&["workloads", "show", "stea"]), ["steady"]);
    assert_eq!(offered(&["why", &id[..8]]), [id.as_str()]);
    for words in
        [&["compare", "latest", ""][..], &["rank", "latest", ""], &["report", ""], &["export", ""], &["rate", ""]]
    {
        has(&offered(words), &["before", "latest", &id]);
    }
    for words in [&["runs", "verify", ""][..], &["runs", "delete", "x", ""], &["runs", "tag", ""]] {
        has(&offered(words), &["before", "latest", &id]);
    }
    assert_eq!(offered(&["runs", "list", "--tag", "b"]), ["before"]);
    assert_eq!(offered(&["runs", "tag", &id, "b"]), ["before"]);
    assert_eq!(offered(&["check", "--tag", "b"]), ["before"]);
    assert_eq!(offered(&["runs", "list", "--workload", "dep"]), ["depth"]);
    has(&offered(&["explain", "write-c"]), &["write-cache-exhausted"]);
    has(&offered(&["explain", "for-"]), &["for-etcd"]);
    assert_eq!(offered(&["check", "--for", "vid"]), ["video=V30"]);
    assert_eq!(offered(&["check", "--for", "etcd,root"]), ["etcd,root-fs"], "each of a list");
    assert_eq!(offered(&["rate", "x", "--class", "V3"]), ["V30"]);
    assert_eq!(offered(&["export", "latest", "--format", "fio-l"]), ["fio-logs"]);
    assert_eq!(offered(&["compare", "--repeat", "2", "a", "--with", "read-a"]), ["read-ahead="]);
    has(&offered(&["run", "mix", "--set", "block"]), &["block-size="]);
    has(&offered(&["check", "--max"]), &["--max-write"]);
    assert_eq!(offered(&["check", "sim:class4"]), ["sim:class4-card"]);
    has(&offered(&["run", "mix", "sim:nv"]), &["sim:nvme"]);
    assert_eq!(offered(&["import", "my"]), ["my\\ run.json"], "quoted, since bash does not");
    assert_eq!(offered(&["runs", "show", "./my\\ r"]), ["./my\\ run.json"]);
    let program = scratch.path().join("a-program-of-ours");
    fs::write(&program, "").unwrap();
    let mut command = asking(&scratch, "zsh", &["trace", "-o", "x", "--", "a-program"]);
    let ended = Ended::of(command.env("PATH", scratch.path()).output().unwrap());
    assert!(ended.stdout.lines().any(|line| line == "a-program-of-ours"), "{}", ended.stdout);
}

/// Bash takes words apart at `:` and `=`, and has the last part replaced.
#[test]
fn parts_of_words_are_completed_as_bash_hands_them_over() {
    let (scratch, id) = with_a_run();
    let offered = |words: &[&str]| answered(&scratch, "bash", words);
    assert_eq!(offered(&["check", "sim", ":", "class4"]), ["class4-card"]);
    has(&offered(&["check", "sim", ""]), &["nvme", "class4-card"]);
    assert_eq!(offered(&["run", "mix", "sim", ":", "class4"]), ["class4-card"]);
    has(&offered(&["check", "null", ":", "--max"]), &["--max-write"]);
    assert_eq!(offered(&["runs", "list", "--tag", "=", "b"]), ["before"]);
    assert_eq!(offered(&["check", "--for", "video", "=", "V"]), ["V30"]);
    assert_eq!(offered(&["run", "mix", "--set", "block-size", "=", "4k", "sim", ":", "class4"]), ["class4-card"]);
    assert_eq!(offered(&["--archive", "=", "archive", "why", &id[..8]]), [id.as_str()]);
}

#[test]
fn names_are_of_the_archive_that_is_named() {
    let (scratch, id) = with_a_run();
    let elsewhere = |words: &[&str]| {
        let mut command = asking(&scratch, "zsh", words);
        Ended::of(command.env("NARROWS_ARCHIVE", "elsewhere").output().unwrap()).stdout
    };
    assert!(!elsewhere(&["why", ""]).contains(&id));
    assert!(elsewhere(&["--archive", "archive", "why", ""]).contains(&id));
    assert!(elsewhere(&["why", "--archive=archive", ""]).contains(&id));
}

#[test]
fn what_cannot_be_read_has_no_names_and_says_nothing() {
    let (scratch, id) = with_a_run();
    let silent = |command: &mut Command| {
        let ended = Ended::of(command.output().expect("the binary runs"));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
        let names = ["before", "latest", &id];
        assert!(!ended.stdout.lines().any(|line| names.contains(&line)), "{}", ended.stdout);
        assert!(ended.stdout.contains("--markdown"), "options are there all the same: {}", ended.stdout);
    };
    let asked = || asking(&scratch, "bash", &["runs", "show", ""]);
    silent(asked().env_remove("NARROWS_ARCHIVE").env_remove("XDG_DATA_HOME").env_remove("HOME"));
    silent(asked().env("NARROWS_ARCHIVE", "/dev/null"));
    let [runs, tags] = ["runs", "tags.toml"].map(|name| scratch.archive().join(name));
    fs::write(&tags, "before = {{{ \0 \u{1b}[31m").unwrap();
    fs::rename(&runs, scratch.archive().join("moved")).unwrap();
    fs::write(&runs, "no directory").unwrap();
    silent(&mut asked());
    // Variables of others ask for nothing.
    for (name, value) in [("_CLAP_COMPLETE_INDEX", "1"), ("COMPLETE", "1"), ("COMPLETE", "")] {
        let ended = Ended::of(scratch.command(["--version"]).env(name, value).output().unwrap());
        assert!(ended.code == 0 && ended.stdout.starts_with("narrows "), "{name}={value}: {}", ended.stderr);
    }
}

/// What a real bash offers, as its completion calls what the script has registered.
fn offered_by_bash(scratch: &Scratch, words: &[&str]) -> Vec<String> {
    let text = format!(
        "eval \"$(\"$PROGRAM\" completions bash)\"
        registered=$(complete -p narrows); registered=${{registered##*-F }}
        COMP_WORDS=(narrows {}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        ${{registered%% *}} narrows \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"
        printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.iter().map(|w| format!("'{w}'")).collect::<Vec<_>>().join(" ")
    );
    let mut bash = scratch.around("bash");
    bash.args(["--norc", "-c", &text]).env("PROGRAM", BINARY);
    let ended = Ended::of(bash.output().expect("bash runs"));
    assert_eq!(ended.stderr, "", "{words:?}");
    ended.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a_real_bash_completes_names() {
    if Command::new("bash").arg("--version").output().is_err() {
        println!("SKIPPED: there is no bash");
        return;
    }
    let (scratch, id) = with_a_run();
    assert_eq!(offered_by_bash(&scratch, &["run", "dep"]), ["depth"]);
    assert_eq!(offered_by_bash(&scratch, &["why", &id[..8]]), [id.as_str()]);
    has(&offered_by_bash(&scratch, &["runs", "show", ""]), &["before", "latest", &id]);
    assert_eq!(offered_by_bash(&scratch, &["check", "sim", ":", "class4"]), ["class4-card"]);
    has(&offered_by_bash(&scratch, &["check", "--max"]), &["--max-write"]);
}
