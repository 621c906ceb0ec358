//! `narrows soak`: passes over real files, kills, and what others did to the data meanwhile.

use crate::program::{Ended, Scratch, wait_until};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const MIB: u64 = 1 << 20;
/// Three laps: two of 16 MiB, and one of 8.
const BYTES: u64 = 40 * MIB;

fn file_of(scratch: &Scratch) -> PathBuf {
    let path = scratch.path().join("data");
    std::fs::File::create(&path).and_then(|f| f.set_len(BYTES)).expect("a file to soak");
    path
}

/// Starts a soak and ends it with SIGKILL after so many lines that hold this.
fn killed(scratch: &Scratch, args: &[&str], line: &str, times: usize) {
    let mut child = scratch.command(args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let seen = lines.map_while(Result::ok).filter(|l| l.contains(line)).take(times).count();
    child.kill().expect("SIGKILL");
    child.wait().expect("it ends");
    assert_eq!(seen, times, "{args:?} ended before it was killed");
}

/// Goes on with the soak and ends it by a signal in the first lap of a pass, if the signal comes in time: the lap that it met.
fn lap_broken_off(scratch: &Scratch) -> Value {
    let args = ["soak", "--resume", "--overwrite"];
    let mut child = scratch.command(args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("lap 1 of 3")), "it ended before");
    std::thread::sleep(std::time::Duration::from_millis(60));
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    lines.for_each(drop);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let state = std::fs::read_to_string(&state_files(&scratch.archive())[0]).unwrap();
    let state: Value = serde_json::from_str(state.split_once('\n').expect("a checksum before it").1).unwrap();
    state["flight"]["lap"].clone()
}

fn places(document: &Value) -> Vec<(String, u64)> {
    let findings = document["findings"].as_array().expect("findings");
    findings.iter().map(|f| (f["class"].as_str().unwrap().to_owned(), f["lba"].as_u64().unwrap())).collect()
}

fn state_files(directory: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(directory.join("soaks")).into_iter().flatten();
    // A kill may leave what was being written beside it.
    all.map(|e| e.expect("an entry").path()).filter(|p| p.extension().is_some_and(|e| e == "json")).collect()
}

#[test]
fn a_directory_is_soaked_in_a_file_of_its_own_that_goes_away() {
    let scratch = Scratch::new();
    let target = scratch.target();
    std::fs::write(target.join("mine"), "mine").unwrap();
    let document = scratch.json(["soak", target.to_str().unwrap(), "--size", "40MiB", "--passes", "4", "--json"], 0);
    assert_eq!((&document["schema"], &document["clean"]), (&"narrows/soak/1".into(), &true.into()));
    assert_eq!((&document["passes"], &document["state"]), (&4.into(), &"done".into()));
    // The fourth pass overwrites each place three times.
    assert_eq!(document["bytes_written"], 6 * BYTES);
    // Each lap when it was written, and all of it at the end of each pass.
    assert_eq!(document["bytes_verified"], 8 * BYTES);
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 1, "only what was there before");
    assert_eq!(std::fs::read(target.join("mine")).unwrap(), b"mine");
    let again = scratch.run(["soak", "--resume", document["id"].as_str().unwrap()]);
    assert_eq!(again.code, 2, "it is done: {}", again.stderr);
}

#[test]
fn a_soak_whose_file_was_deleted_says_how_it_is_given_up() {
    let scratch = Scratch::new();
    let target = scratch.target();
    killed(&scratch, &["soak", target.to_str().unwrap(), "--size", "40MiB", "--passes", "50"], "lap 1 of 3", 2);
    for entry in std::fs::read_dir(&target).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let list = scratch.json(["runs", "list", "--json"], 0);
    assert_eq!((&list["runs"][0]["command"], &list["runs"][0]["state"]), (&"soak".into(), &"truncated".into()));
    let shown = scratch.run(["runs", "show", "latest"]).stdout;
    assert!(shown.contains("Cut off") && shown.contains("soak --resume"), "{shown}");
    let gone = scratch.run(["soak", "--resume"]);
    assert_eq!(gone.code, 3, "{}{}", gone.stdout, gone.stderr);
    assert!(gone.stderr.contains("is not there any more") && gone.stderr.contains("starts another"), "{}", gone.stderr);
}

#[test]
fn what_was_promised_before_a_kill_must_be_there_and_nothing_else() {
    let scratch = Scratch::new();
    let data = file_of(&scratch);
    let name = data.to_str().unwrap();
    killed(&scratch, &["soak", name, "--overwrite", "--passes", "9", "--rate", "80MB"], "lap 2 of 3", 1);
    // A lap is in flight, others stand: nothing is wrong.
    killed(&scratch, &["soak", "--resume", "--overwrite", "--passes", "9"], "pass 2, lap 1 of 3", 1);
    let file = std::fs::File::options().read(true).write(true).open(&data).unwrap();
    let read = |at: u64, bytes: usize| {
        let mut buffer = vec![0; bytes];
        file.read_exact_at(&mut buffer, at).unwrap();
        buffer
    };
    // The third lap holds its first version, the first lap its second.
    let written = read(512, 512);
    let mut sector = written.clone();
    sector[200] ^= 4;
    file.write_all_at(&sector, 512).unwrap();
    file.write_all_at(&vec![0; 65_536], 34 * MIB).unwrap();
    file.write_all_at(&read(36 * MIB, 65_536), 35 * MIB).unwrap();
    drop(file);
    let heard = scratch.path().join("heard");
    let hook = format!("cat >> {}; echo >> {}", heard.display(), heard.display());
    killed(&scratch, &["soak", "--resume", "--overwrite", "--passes", "9", "--hook", &hook], "pass 2, lap 2 of 3", 1);
    let heard = std::fs::read_to_string(&heard).expect("the hook was called");
    let heard: Vec<Value> = heard.lines().map(|l| serde_json::from_str(l).expect("a finding")).collect();
    assert!(heard.len() == 3 && heard.iter().any(|f| f["class"] == "bit-rot" && f["lba"] == 1), "{heard:?}");
    let kept = heard
        .iter()
        .find(|f| f["class"] == "bit-rot")
        .and_then(|f| f["evidence"].as_array()?.last()?["value"].as_str());
    let kept = PathBuf::from(kept.expect("where the bytes are"));
    assert_eq!(std::fs::read(&kept).unwrap()[..512], sector);
    assert_eq!(std::fs::read(kept.with_extension("expected")).unwrap()[..512], written);
    let document = scratch.json(["soak", "--resume", "--overwrite", "--passes", "2", "--json"], 1);
    let lba = |bytes: u64| bytes / 512;
    let found = places(&document);
    let class_at = |at: u64| found.iter().find(|(_, here)| *here == lba(at)).map(|(class, _)| class.as_str());
    assert_eq!(class_at(512), Some("bit-rot"), "{found:?}");
    assert!(class_at(34 * MIB).is_some(), "{found:?}");
    assert_eq!(class_at(35 * MIB), Some("misdirected-write"), "{found:?}");
    assert_eq!(found.len(), 3, "each is told once, though two sessions saw it: {found:?}");
    assert_eq!((&document["clean"], &document["passes"]), (&false.into(), &2.into()));
    assert!(data.exists(), "a file of the user's stays");
    // A version that was overwritten comes back: the write is lost.
    let scratch = Scratch::new();
    let data = file_of(&scratch);
    let name = data.to_str().unwrap();
    killed(&scratch, &["soak", name, "--overwrite", "--passes", "9"], "pass 1 is whole", 1);
    let file = std::fs::File::options().read(true).write(true).open(&data).unwrap();
    let mut before = vec![0; 2 * MIB as usize];
    file.read_exact_at(&mut before, MIB).unwrap();
    drop(file);
    killed(&scratch, &["soak", "--resume", "--overwrite", "--passes", "9"], "lap 2 of 3", 2);
    let file = std::fs::File::options().write(true).open(&data).unwrap();
    file.write_all_at(&before, MIB).unwrap();
    drop(file);
    let document =
        scratch.json(["soak", "--resume", "--overwrite", "--on-finding", "stop", "--passes", "9", "--json"], 1);
    let found = places(&document);
    assert!(found.iter().all(|(class, _)| class == "lost-write"), "{found:?}");
    let sectors: u64 = document["findings"].as_array().unwrap().iter().map(|f| f["sectors"].as_u64().unwrap()).sum();
    assert_eq!((found.len(), sectors), (1, 2 * MIB / 512), "one stretch is one finding: {found:?}");
}

#[test]
fn several_targets_are_soaked_at_once_beside_reads() {
    let scratch = Scratch::new();
    let (target, data) = (scratch.target(), file_of(&scratch));
    let (target, data) = (target.to_str().unwrap(), data.to_str().unwrap());
    let how = ["--size", "24MiB", "--passes", "2", "--overwrite", "--busy", "--json"];
    let ended = scratch.run(["soak", target, data].iter().chain(&how));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let documents: Vec<Value> =
        ended.stdout.lines().map(|l| serde_json::from_str(l).expect("a document a line")).collect();
    assert_eq!(documents.len(), 2);
    for (document, place) in documents.iter().zip([target, data]) {
        assert_eq!((&document["target"], &document["clean"]), (&place.into(), &true.into()));
        assert_eq!((&document["bytes_written"], &document["bytes_verified"]), (&(48 * MIB).into(), &(96 * MIB).into()));
    }
    assert!(documents.iter().any(|d| d["bytes_read_beside"].as_u64() > Some(0)), "{documents:?}");
    let before = std::fs::read(data).unwrap();
    let refused = scratch.run(["soak", data, "not-there", "--overwrite"]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("none of the others was begun"), "{}", refused.stderr);
    assert_eq!(std::fs::read(data).unwrap(), before);
    let said = scratch.run(["soak", data, target, "--overwrite", "--destroy", "X"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
}

#[test]
fn an_end_that_was_asked_for_goes_on_too() {
    let scratch = Scratch::new();
    let data = file_of(&scratch);
    let name = data.to_str().unwrap();
    let child = scratch
        .command(["soak", name, "--overwrite", "--for", "1h", "--rate", "40MB", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // Its state is there before the first byte.
    wait_until("it is begun", || !state_files(&scratch.archive()).is_empty());
    let second = scratch.run(["soak", name, "--overwrite"]);
    assert_eq!(second.code, 3, "two soaks on one target: {}", second.stderr);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 130, "{}{}", ended.stdout, ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&document["state"], &document["clean"]), (&"interrupted".into(), &true.into()));
    // It goes on until what was asked is done, the hour, unless it is asked otherwise.
    killed(&scratch, &["soak", "--resume", "--overwrite"], "pass 1 is whole", 1);
    let document = scratch.json(["soak", "--resume", "--overwrite", "--passes", "2", "--json"], 0);
    assert_eq!((&document["sessions"], &document["passes"]), (&3.into(), &2.into()));
}

/// What a simulated device held went with the program: it is written again, silently, and the soak continues from there.
#[test]
fn a_simulated_soak_is_resumed_where_it_was() {
    let scratch = Scratch::new();
    let faulty = "sim:a1-card,data-fault=lost-write,data-fault-at=200";
    let args = |rest: &[&'static str]| [&["soak", faulty, "--size", "16MiB"][..], rest].concat();
    killed(&scratch, &args(&["--passes", "500"]), "pass 4 is whole", 1);
    let resumed = scratch.run(["soak", "--resume", "--passes", "40", "--json"]);
    assert_eq!(resumed.code, 1, "the fault is found again: {}{}", resumed.stdout, resumed.stderr);
    let resumed: Value = serde_json::from_str(&resumed.stdout).expect("JSON");
    assert_eq!((&resumed["sessions"], &resumed["passes"]), (&2.into(), &40.into()), "{resumed}");
    // As one that nothing interrupted, but for what was read once more in between.
    let scratch = Scratch::new();
    let whole = scratch.json(args(&["--passes", "40", "--json"]), 1);
    assert_eq!(resumed["bytes_written"], whole["bytes_written"]);
    // Where it is lies with the seed of each.
    let classes = |document: &Value| places(document).into_iter().map(|(class, _)| class).collect::<Vec<_>>();
    assert_eq!(classes(&resumed), classes(&whole));
    let (again, once) = (resumed["bytes_verified"].as_u64().unwrap(), whole["bytes_verified"].as_u64().unwrap());
    assert!(again >= once && again <= once + (16 << 20), "{again} {once}");
}

/// A lap that a signal broke off holds the version before or the new one, and nothing else.
#[test]
fn what_is_wrong_in_a_lap_that_was_broken_off_is_found() {
    let scratch = Scratch::new();
    let data = file_of(&scratch);
    killed(
        &scratch,
        &["soak", data.to_str().unwrap(), "--overwrite", "--passes", "9", "--rate", "30MB"],
        "pass 1 is whole",
        1,
    );
    // A machine that stands still between the line and the signal misses the lap; there is one in every pass.
    let lap = (0..5).map(|_| lap_broken_off(&scratch)).find(|lap| *lap == 1);
    assert!(lap.is_some(), "the first lap of a pass is never met");
    let file = std::fs::File::options().read(true).write(true).open(&data).unwrap();
    for at in [16 * MIB + 100, 31 * MIB + 100] {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    }
    drop(file);
    let document = scratch.json(["soak", "--resume", "--overwrite", "--on-finding", "stop", "--json"], 1);
    let rot = |at: u64| ("bit-rot".to_owned(), at / 512);
    assert_eq!(places(&document), [rot(16 * MIB), rot(31 * MIB)], "{document}");
}

/// `sim:` has disks that do wrong what they are told to do wrong.
#[test]
fn simulated_disks_are_found_out() {
    let scratch = Scratch::new();
    let soak = |target: &str, code| scratch.json(["soak", target, "--size", "4MiB", "--passes", "4", "--json"], code);
    assert_eq!(soak("sim:nvme", 0)["clean"], true);
    for (fault, class) in [
        ("data-fault=torn-write,data-fault-at=6", "torn-write"),
        ("data-fault=late-error,data-fault-at=1", "late-error"),
        ("capacity=8MiB,wraps-at=2MiB", "wrap-around"),
        ("capacity=8MiB,limbo-from=2MiB", "limbo-capacity"),
    ] {
        let document = soak(&format!("sim:a1-card,{fault}"), 1);
        let found = places(&document);
        assert!(!found.is_empty() && found.iter().all(|(found, _)| found == class), "{fault}: {found:?}");
    }
    let ended = scratch.run(["soak", "sim:nvme,data-fault=power-cut"]);
    assert!(ended.code == 2 && ended.stderr.contains("bit-rot, corrupt"), "{}", ended.stderr);
}

/// A demonstration goes on until it has shown something, and reaches beyond where the device ends.
#[test]
fn a_demonstration_shows_what_it_is_to_show() {
    let scratch = Scratch::new();
    for (target, class) in [
        // Of the README and of docs/soak.md: the first pass has 64 writes.
        ("sim:a1-card,data-fault=lost-write,data-fault-at=300", "lost-write"),
        ("sim:nvme,data-fault=lost-write,data-fault-at=300", "lost-write"),
        // An older version, which the first pass has none of.
        ("sim:emmc,data-fault=stale-read", "stale-read"),
        ("sim:a1-card,wraps-at=96MiB", "wrap-around"),
        ("sim:a1-card,limbo-from=80MiB", "limbo-capacity"),
    ] {
        let document = scratch.json(["soak", target, "--json"], 1);
        let found = places(&document);
        assert!(!found.is_empty() && found.iter().all(|(found, _)| found == class), "{target}: {found:?}");
    }
    let ended = scratch.run(["soak", "sim:a1-card,eio-at=3000"]);
    assert_eq!(ended.code, 1, "it fails in a later pass: {}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_fault_that_never_comes_is_an_error() {
    let scratch = Scratch::new();
    for (args, code, said) in [
        (&["soak", "sim:a1-card,data-fault=lost-write,data-fault-at=300", "--passes", "1"][..], 4, "--passes"),
        (&["soak", "sim:a1-card,data-fault=bit-rot,data-fault-at=9000000", "--size", "4MiB"], 4, "after 8 passes"),
        (&["soak", "sim:a1-card,eio-at=9000000", "--size", "4MiB"], 4, "eio-at"),
        (&["soak", "sim:a1-card,wraps-at=96MiB", "--size", "64MiB"], 2, "--size 112MiB"),
        (&["soak", "sim:a1-card,wraps-at=16GB"], 2, "--capacity quick"),
        (&["soak", "sim:a1-card,wraps-at=40GB"], 2, "the device ends before it"),
        (&["check", "sim:a1-card,wraps-at=1GiB"], 2, "narrows soak"),
        (&["run", "depth", "sim:nvme,data-fault=bit-rot"], 2, "no data are verified"),
        (&["fill", "sim:a1-card,capacity=64MiB,limbo-from=16MiB"], 2, "--verify"),
        (&["rate", "sim:a1-card,wraps-at=1GiB"], 2, "--capacity quick"),
        (&["record", "-o", "sim:a1-card,wraps-at=1GiB", "--generate", "1x1MB@1", "--for", "1s"], 2, "narrows soak"),
    ] {
        let ended = scratch.run(args);
        assert_eq!(ended.code, code, "{args:?}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(said), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let scratch = Scratch::new();
    let data = file_of(&scratch);
    let name = data.to_str().unwrap();
    for (args, code, said) in [
        (&["soak", "sim:nvme", "--size", "2GiB"][..], 2, "at most 1 GiB"),
        (&["soak", name], 3, "--overwrite"),
        (&["soak", "/nowhere"], 3, "/nowhere"),
        (&["soak", "--resume"], 2, "no soak"),
        (&["soak", "--resume", "../x"], 2, "no soak"),
        (&["soak", name, "--overwrite", "--for", "soon"], 2, "--for"),
        (&["soak", name, "--overwrite", "--size", "x"], 2, "--size"),
        (&["soak", name, "--overwrite", "--size", "1000"], 2, "1 MiB"),
        (&["soak", ".", "--size", "9000TiB"], 3, "free"),
    ] {
        let ended = scratch.run(args);
        assert_eq!(ended.code, code, "{args:?}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(said), "{args:?}: {}", ended.stderr);
    }
    assert_eq!(state_files(&scratch.archive()).len(), 0, "nothing that could not begin is kept");
    // A state that was changed, and a target that is another file by now.
    killed(&scratch, &["soak", name, "--overwrite", "--passes", "9"], "lap 1 of 3", 1);
    let state = state_files(&scratch.archive()).remove(0);
    let text = std::fs::read_to_string(&state).unwrap();
    std::fs::write(&state, text.replace("\"passes\": ", "\"passes\":  ")).unwrap();
    let id = state.file_stem().unwrap().to_str().unwrap().to_owned();
    let damaged = scratch.run(["soak", "--resume", &id, "--overwrite"]);
    assert_eq!(damaged.code, 3, "{}", damaged.stderr);
    assert!(damaged.stderr.contains("checksum"), "{}", damaged.stderr);
    std::fs::write(&state, text).unwrap();
    std::fs::rename(&data, scratch.path().join("moved")).unwrap();
    file_of(&scratch);
    let other = scratch.run(["soak", "--resume", &id, "--overwrite"]);
    assert_eq!(other.code, 3, "{}", other.stderr);
    assert!(other.stderr.contains("was started on"), "{}", other.stderr);
}
