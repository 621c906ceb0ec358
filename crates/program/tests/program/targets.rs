//! Real directories and files. What a number is depends on the machine and its other users; that each is there, with a
//! status and a reason, does not.

use crate::program::{Scratch, metric};
use serde_json::Value;
use std::io::Write;

const PHASES: [&str; 11] = [
    "copy",
    "layout",
    "seq-write",
    "buffered-write",
    "seq-read",
    "buffered-read",
    "rand-read-qd1",
    "rand-read-qd32",
    "sync-write",
    "rand-write-qd1",
    "rand-write-qd32",
];

fn statuses_are_explained(document: &Value) {
    for metric in document["metrics"].as_array().unwrap() {
        match metric["status"].as_str().unwrap() {
            "measured" => assert!(metric["value"].is_number(), "{metric}"),
            "refused" => {
                assert!(metric["value"].is_null() && metric["rejected_value"].is_number(), "{metric}");
                assert!(!metric["reasons"].as_array().unwrap().is_empty(), "{metric}");
            }
            _ => {
                assert!(metric["value"].is_null(), "{metric}");
                assert!(!metric["reasons"].as_array().unwrap().is_empty(), "{metric}");
            }
        }
    }
}

#[test]
fn a_directory_is_measured_along_every_path_and_left_empty() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let ended = scratch.run(["check", target.to_str().unwrap(), "--budget", "8s", "--json"]);
    // On a busy machine every number may be refused as foreign traffic; then the answer is 4.
    assert!(ended.code == 0 || ended.code == 4, "{} {}", ended.code, ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let phases: Vec<&str> =
        document["plan"]["phases"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    // Where the queue splits requests of ordinary pages, these are measured as well, after what they are compared with.
    let pages = phases.iter().position(|p| *p == "seq-read-pages");
    assert!(pages.is_none_or(|at| phases[at - 1] == "seq-read"), "{phases:?}");
    let everywhere: Vec<&str> = phases.into_iter().filter(|p| *p != "seq-read-pages").collect();
    assert_eq!(everywhere, PHASES);
    statuses_are_explained(&document);
    // It needs no storage; a machine whose time is stolen may refuse it.
    let copy = metric(&document, "copy.throughput_bytes_per_s")["status"].clone();
    assert!(copy == "measured" || copy == "refused", "{copy}");
    assert!(document["bytes_written"].as_u64().unwrap() > 0);
    // No test of speed: it does not take the minute that the default would.
    assert!(document["duration_s"].as_f64().unwrap() < 60.0, "{}", document["duration_s"]);
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "nothing is left behind");
}

/// File names are bytes: newlines, terminal escapes and bytes that are no UTF-8 included.
#[test]
fn any_name_is_a_name() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    let target = scratch.path().join(std::ffi::OsStr::from_bytes(b"new\nline \x1b[31m\xff"));
    if std::fs::create_dir(&target).is_err() {
        println!("SKIPPED: this file system takes only text as names");
        return;
    }
    let ended = scratch.run([std::ffi::OsStr::new("check"), target.as_os_str(), "--budget=2s".as_ref()]);
    assert!(ended.code == 0 || ended.code == 4, "{} {}", ended.code, ended.stderr);
    let head = ended.stdout.lines().next().unwrap();
    assert!(head.contains("\\n") || head.contains('…'), "{head}");
    assert!(!ended.stdout.contains('\x1b'), "nothing of the name acts on the terminal");
    let list = scratch.json(["runs", "--json"], 0);
    assert!(list["runs"][0]["target"].as_str().unwrap().contains("new\nline"), "{list}");
}

#[test]
fn a_file_is_only_read() {
    let scratch = Scratch::new();
    let path = scratch.path().join("data");
    let block: Vec<u8> = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut file = std::fs::File::create(&path).unwrap();
    for _ in 0..8 {
        file.write_all(&block).unwrap();
    }
    file.sync_all().unwrap();
    let before = std::fs::read(&path).unwrap();
    let ended = scratch.run(["check", path.to_str().unwrap(), "--budget", "4s", "--json"]);
    assert!(ended.code == 0 || ended.code == 4, "{} {}", ended.code, ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    statuses_are_explained(&document);
    assert_eq!(document["bytes_written"], 0);
    let write = metric(&document, "seq-write.throughput_bytes_per_s");
    assert_eq!(write["status"], "skipped");
    assert!(write["reasons"][0]["text"].as_str().unwrap().contains("--overwrite"), "{write}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_sparse_file_has_no_speed() {
    let scratch = Scratch::new();
    let path = scratch.path().join("sparse");
    std::fs::File::create(&path).unwrap().set_len(64 << 20).unwrap();
    let ended = scratch.run(["check", path.to_str().unwrap(), "--budget", "4s", "--json"]);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stderr));
    for id in ["seq-read.throughput_bytes_per_s", "rand-read-qd1.iops", "buffered-read.throughput_bytes_per_s"] {
        assert_ne!(metric(&document, id)["status"], "measured", "{id}: holes were read");
    }
    assert_eq!(ended.code, 4, "nothing was answered");
}

#[test]
fn two_checks_of_one_target_do_not_meet() {
    let scratch = Scratch::new();
    let target = scratch.target();
    // It is killed long before.
    let mut first = scratch.command(["check", target.to_str().unwrap(), "--budget", "2m"]);
    let mut first = first.stdout(std::process::Stdio::null()).spawn().unwrap();
    crate::endings::wait_for_partial(&scratch, 1);
    let document = scratch.json(["check", target.to_str().unwrap(), "--budget", "8s", "--json"], 3);
    assert_eq!(document["kind"], "refused", "{document}");
    assert!(document["remedy"].is_string(), "{document}");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_check_says_before_it_starts_what_it_writes_and_keeps_to_it() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().unwrap();
    let most = 32u64 << 20;
    let check = ["check", target, "--max-write", "32MiB", "--budget", "10s"];
    let plan = scratch.json(check.iter().chain(&["--plan", "--json"]), 0);
    assert!(plan["bytes_written_at_most"].as_u64().unwrap() <= most, "{plan}");
    let said = scratch.run(check);
    assert!(said.stderr.contains("writes at most") && said.stderr.contains("takes 10"), "{}", said.stderr);
    let document = scratch.json(["runs", "show", "latest", "--json"], 0);
    assert!(document["bytes_written"].as_u64().unwrap() <= most, "{}", document["bytes_written"]);
    for (wrong, code) in [
        (&["--max-write", "0"][..], 2),
        (&["--max-write", "nonsense"], 2),
        (&["--max-write", "1MiB", "--exhaust"], 2),
        (&["--read-only", "--exhaust"], 2),
        // A new file has nothing that could be read.
        (&["--read-only"], 3),
    ] {
        let ended = scratch.run(["check", target].iter().chain(wrong));
        assert_eq!(ended.code, code, "{wrong:?}: {}", ended.stderr);
    }
    // A log grows in a file of its own, by entries of its own size; nothing else is laid out or measured.
    let etcd = ["check", target, "--for", "etcd", "--budget", "10s", "--max-write", "8MiB"];
    let plan = scratch.json(etcd.iter().chain(&["--plan", "--json"]), 0);
    let phases = plan["plan"]["phases"].as_array().unwrap();
    let names: Vec<_> = phases.iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["copy", "log-append"]);
    let log = &phases[1]["streams"][0];
    assert_eq!((&log["block_size_bytes"], &log["files"][0]), (&2300.into(), &"log-append.0.0".into()), "{log}");
    let ended = scratch.run(etcd);
    assert!(matches!(ended.code, 0 | 1 | 4) && ended.stdout.contains("log append"), "{} {}", ended.code, ended.stderr);
    std::fs::write(scratch.path().join("existing"), vec![7u8; 80 << 20]).unwrap();
    let ended = scratch.run(["check", "existing", "--overwrite", "--for", "sqlite", "--budget", "10s"]);
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    let said = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Not known whether it is good for SQLite") && said.contains("name a directory"), "{said}");
    // Reading an existing file is possible; whether it is good for a database is then not known, and never yes.
    std::fs::write(scratch.path().join("file"), vec![7u8; 8 << 20]).unwrap();
    let ended = scratch.run(["check", "file", "--read-only", "--for", "postgres", "--budget", "10s"]);
    assert!(matches!(ended.code, 3 | 4), "{} {}", ended.code, ended.stderr);
}
