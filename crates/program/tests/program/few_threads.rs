//! Where the system gives no second thread, one is enough to measure with; what needs more is refused with its remedy.

use crate::program::{BINARY, Ended, Scratch};
use rustix::fs::{CWD, Mode, chmodat, chownat};
use serde_json::Value;
use std::os::unix::process::CommandExt;

/// `nobody`: the limit does not hold for root.
const NOBODY: u32 = 65534;

/// Runs the program with one thread, as a user for whom RLIMIT_NPROC holds.
fn alone(scratch: &Scratch, args: &[&str]) -> Ended {
    let program = scratch.path().join("narrows");
    std::fs::copy(BINARY, &program).unwrap();
    let mut command = scratch.around("/bin/sh");
    // dash calls the limit -p, bash -u.
    command
        .args(["-c", "ulimit -u 1 2>/dev/null || ulimit -p 1 || exit 99; exec \"$@\"", "sh"])
        .arg(&program)
        .args(args);
    if rustix::process::geteuid().is_root() {
        let (user, group) = (rustix::fs::Uid::from_raw(NOBODY), rustix::fs::Gid::from_raw(NOBODY));
        let flags = rustix::fs::AtFlags::empty();
        for path in [scratch.path().to_owned(), scratch.target()] {
            chownat(CWD, &path, Some(user), Some(group), flags).unwrap();
        }
        chmodat(CWD, &program, Mode::from_raw_mode(0o755), flags).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    Ended::of(command.output().unwrap())
}

fn write(scratch: &Scratch, text: &str) -> String {
    let path = scratch.path().join("workload.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn one_thread_is_enough_to_measure_with() {
    let scratch = Scratch::with_its_archive_inside();
    let target = scratch.target();
    let ended = alone(&scratch, &["check", target.to_str().unwrap(), "--budget", "8s", "--json"]);
    assert!(ended.code == 0 || ended.code == 4, "{}: {}", ended.code, ended.stderr);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["state"], "complete", "{}", ended.stdout);
    let missing = document["environment"]["missing"].to_string();
    assert!(missing.contains("only before and after each phase") && missing.contains("ulimit -u"), "{missing}");
    // On a slow machine some phases do not fit into the time; none may have failed.
    let failed = |m: &&Value| ["failed", "thread"].iter().any(|word| m["reasons"].to_string().contains(word));
    let failed: Vec<&Value> = document["metrics"].as_array().unwrap().iter().filter(failed).take(1).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn jobs_side_by_side_are_refused_with_the_remedy() {
    let scratch = Scratch::with_its_archive_inside();
    let target = scratch.target();
    let job = "name = \"two\"\n[[phase]]\nname = \"two\"\naccess = \"direct\"\noperation = \"write\"\nregion = \"1MiB\"\n\
               block-size = \"4KiB\"\njobs = 2\njob-offset = \"1MiB\"\n";
    let workload = write(&scratch, job);
    let ended = alone(&scratch, &["run", &workload, target.to_str().unwrap(), "--json"]);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    assert_eq!(ended.code, 3, "{} {}", ended.stdout, ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(document["message"].as_str().unwrap().contains("no thread for each of 2 jobs"), "{document}");
    assert!(document["remedy"].as_str().unwrap().contains("ulimit -u"), "{document}");
}

#[test]
fn threads_for_depth_are_refused_with_the_remedy_and_depth_1_needs_none() {
    let scratch = Scratch::with_its_archive_inside();
    let target = scratch.target();
    let job = |depth: u32| {
        format!(
            "name = \"calls\"\n[[phase]]\nname = \"calls\"\noperation = \"write\"\nregion = \"1MiB\"\n\
             block-size = \"4KiB\"\nengine = \"psync-threads\"\ndepth = {depth}\n"
        )
    };
    let workload = write(&scratch, &job(8));
    let ended = alone(&scratch, &["run", &workload, target.to_str().unwrap(), "--json"]);
    assert_eq!(ended.code, 3, "{} {}", ended.stdout, ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(document["message"].as_str().unwrap().contains("no thread for I/O at depth 8 (EAGAIN)"), "{document}");
    assert!(document["remedy"].as_str().unwrap().contains("ulimit -u"), "{document}");
    let workload = write(&scratch, &job(1));
    let ended = alone(&scratch, &["run", &workload, target.to_str().unwrap(), "--json"]);
    assert!(ended.code == 0 || ended.code == 4, "{} {}", ended.stdout, ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["state"], "complete", "{document}");
}
