//! The room that a recording takes: as it needs it, and given back where it did not.

use super::{exported, frame, piped, text};
use crate::program::{BINARY, Scratch, wait_until};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const MIB: u64 = 1 << 20;

/// Length and blocks of a file, bytes.
fn takes(path: &Path) -> (u64, u64) {
    path.metadata().map_or((0, 0), |m| (m.len(), m.blocks() * 512))
}

fn recording_in(directory: &Path) -> Option<PathBuf> {
    let is_one = |path: &PathBuf| path.extension().is_some_and(|e| e == "nrec");
    std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path()).find(is_one)
}

fn verified(scratch: &Scratch, target: &Path) -> Value {
    let checked = scratch.json(["record", "--verify", "-o", text(target), "--json"], 0);
    assert_eq!(checked["checked"]["damage"], Value::Array(vec![]), "{checked}");
    checked
}

#[test]
fn a_file_grows_ahead_of_need_and_is_cut_to_what_it_holds() {
    let scratch = Scratch::new();
    let directory = scratch.target();
    let args =
        ["record", "-o", text(&directory), "--generate", "1x100KB@50", "--segment", "1MiB", "--for", "4s", "--json"];
    let child = scratch.command(args).stdout(Stdio::piped()).spawn().expect("it starts");
    wait_until("it has some", || recording_in(&directory).is_some_and(|path| takes(&path).0 >= 6 * MIB));
    let target = recording_in(&directory).unwrap();
    // It has 20 MB when it ends: what is there of it by now, and little more.
    assert!(takes(&target).1 < 40 * MIB, "{:?}", takes(&target));
    let document: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    let durable = document["streams"][0]["durable_bytes"].as_u64().unwrap();
    let (length, blocks) = takes(&target);
    assert!(durable > 15_000_000 && length < durable + durable / 4 + 2 * MIB, "{length}: {document}");
    assert!(blocks < length + MIB, "{blocks} of {length}");
    let frames = verified(&scratch, &target)["checked"]["frames"].as_u64().unwrap();
    let before = exported(&scratch, text(&target), "camera-1", "raw");
    // It goes on where it was cut off, and is cut off again.
    let args = ["record", "-o", text(&target), "--generate", "1x100KB@50", "--frames", "30", "--json"];
    assert_eq!(scratch.json(args, 0)["epoch"], 2);
    let more = verified(&scratch, &target);
    assert_eq!((&more["checked"]["frames"], &more["recordings"]), (&(frames + 30).into(), &2.into()));
    assert!(exported(&scratch, text(&target), "camera-1", "raw").starts_with(&before));
    assert!(takes(&target).1 < length + 6 * MIB, "{:?}", takes(&target));
}

/// What a recorder that was killed had taken is given back by recovery, and nothing of what was acknowledged goes with it.
#[test]
fn recovery_cuts_what_a_killed_recorder_left() {
    let scratch = Scratch::new();
    for more in [&["--segment", "8MiB"][..], &["--size", "120MB", "--segment", "8MiB"]] {
        let target = scratch.path().join("killed.nrec");
        let args = ["record", "-o", text(&target), "--generate", "1x50KB@100", "--json"];
        let mut child = scratch.command([&args[..], more].concat()).stdout(Stdio::null()).spawn().expect("it starts");
        let listed = || {
            let output =
                scratch.command(["record", "--list", "-o", text(&target), "--json"]).output().expect("it runs");
            serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()
        };
        wait_until("a second is recorded", || listed()["streams"][0]["frames"].as_u64().is_some_and(|n| n >= 100));
        child.kill().unwrap();
        child.wait().unwrap();
        let (before, checked) = (takes(&target), verified(&scratch, &target));
        let recovered = scratch.json(["record", "--recover", "-o", text(&target), "--json"], 0);
        let given_back = recovered["checked"]["given_back_bytes"].as_u64().unwrap();
        assert!(given_back > MIB && takes(&target).0 == before.0 - given_back, "{recovered}");
        let after = verified(&scratch, &target);
        assert_eq!(after["checked"]["frames"], checked["checked"]["frames"]);
        assert!(takes(&target).0 < after["streams"][0]["bytes"].as_u64().unwrap() + 9 * MIB, "{after}");
        std::fs::remove_file(&target).unwrap();
    }
}

#[test]
fn what_was_reserved_is_given_back_unless_it_is_to_stay_or_went_round() {
    let scratch = Scratch::new();
    let target = scratch.path().join("x.nrec");
    let record = |more: &[&str], frames: &str| {
        let args = [
            "record",
            "-o",
            text(&target),
            "--generate",
            "1x100KB@max",
            "--frames",
            frames,
            "--ring",
            "4MiB",
            "--json",
        ];
        scratch.json([&args[..], more].concat(), 0);
        verified(&scratch, &target);
        takes(&target)
    };
    let size = ["--size", "40MB", "--segment", "1MiB"];
    let wraps = [&size[..], &["--when-full", "wrap"]].concat();
    let (all, little) = (38_000_000, 4_500_000);
    assert!(record(&size, "20").0 < little);
    std::fs::remove_file(&target).unwrap();
    assert!(record(&wraps, "20").0 < little);
    // It has all of its room again, wraps, and keeps what it has written.
    assert!(record(&[], "800").0 > all);
    assert!(record(&[], "20").0 > all, "it went round");
    let kept = record(&[&["--new"], &wraps[..], &["--keep-size"]].concat(), "20");
    assert!(kept.0 > all && kept.1 > all, "{kept:?}");
}

/// A file system of its own that has no more room: it ends with a reason, keeps what it had, and leaves some free.
#[test]
fn without_more_room_it_ends_with_a_reason_and_what_was_recorded_is_there() {
    let scratch = Scratch::new();
    let target = scratch.path().join("limited.nrec");
    // The limit of a process on the length of files is a file system that has no more.
    let script = format!(
        "ulimit -f 20480; exec '{}' record -o '{}' --generate 1x100KB@max --frames 1000 --segment 1MiB --json",
        BINARY,
        target.display()
    );
    let output = scratch.around("sh").args(["-c", &script]).output().expect("a shell");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!((output.status.code(), &document["ended_by"]), (Some(1), &"no-room".into()), "{document}");
    let stream = &document["streams"][0];
    let sum = stream["durable"].as_u64().unwrap() + stream["dropped"]["no-room"].as_u64().unwrap();
    assert_eq!((sum, &stream["in_flight"]), (stream["received"].as_u64().unwrap(), &0.into()), "{stream}");
    assert!(stream["durable_bytes"].as_u64().unwrap() > 5_000_000, "{stream}");
    assert!(document["remarks"].to_string().contains("no more room"), "{document}");
    assert_eq!(verified(&scratch, &target)["checked"]["frames"], stream["durable"]);
}

/// Far more than the storage takes costs the processors nothing: what has no room is counted, and not made.
#[test]
fn made_up_frames_that_have_no_room_are_counted_and_take_no_processor() {
    let scratch = Scratch::new();
    let target = scratch.path().join("x.nrec");
    let args = ["record", "-o", text(&target), "--size", "64MB", "--when-full", "wrap", "--ring", "8MiB", "--json"];
    let document = scratch.json([&args[..], &["--generate", "4x200KB@100000", "--for", "2s"]].concat(), 1);
    let (mut received, mut made) = (0, 0);
    for stream in document["streams"].as_array().unwrap() {
        let [all, durable] = ["received", "durable"].map(|key| stream[key].as_u64().unwrap());
        assert_eq!(all, durable + stream["dropped"]["ring-full"].as_u64().unwrap(), "{stream}");
        assert_eq!(stream["in_flight"], 0);
        (received, made) = (received + all, made + durable);
    }
    assert!(received > 400_000 && made > 20, "as many as were due: {document}");
    // A loss is no entry of its own: runs of them are.
    let list = scratch.json(["record", "--list", "-o", text(&target), "--json"], 0);
    assert!(list["streams"].as_array().unwrap().len() == 4, "{list}");
}

/// The film's own header, read as RFC 9559 says it.
fn film_header(film: &[u8]) -> (f64, u64) {
    let after = |id: &[u8]| film.windows(id.len()).position(|w| w == id).expect("an element") + id.len() + 8;
    let bytes = |at: usize| -> [u8; 8] { film[at..at + 8].try_into().unwrap() };
    (f64::from_be_bytes(bytes(after(&[0x44, 0x89]))), u64::from_be_bytes(bytes(after(&[0x23, 0xe3, 0x83]))))
}

/// Of cameras that give times of their own, those count; also of a part, and of a single picture.
#[test]
fn films_say_how_long_they_are_and_their_rate() {
    let scratch = Scratch::new();
    let target = scratch.path().join("cam.nrec");
    let cameras = ["--generate", "1x20KB@50", "--frames", "60", "--json"];
    scratch.json([&["record", "-o", text(&target), "--size", "32MB"][..], &cameras].concat(), 0);
    let film = |more: &[&str]| {
        let args = ["record", "--export", "mkv", "-o", text(&target)];
        let output = scratch.command([&args[..], more].concat()).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        film_header(&output.stdout)
    };
    let (all_ms, picture_ns) = film(&[]);
    assert!(
        (1150.0..1500.0).contains(&all_ms) && (18_000_000..23_000_000).contains(&picture_ns),
        "{all_ms} {picture_ns}"
    );
    let (part_ms, _) = film(&["--to", "500ms"]);
    assert!((400.0..=560.0).contains(&part_ms), "{part_ms}");
    let (alone_ms, alone_ns) = film(&["--to", "1ms"]);
    assert_eq!((alone_ms, alone_ns), (1000.0, 1_000_000_000));
}

/// What was overwritten between what is pinned and what came after it is listed.
#[test]
fn gaps_of_a_recording_that_went_round_what_is_pinned_are_listed() {
    let scratch = Scratch::new();
    let target = scratch.path().join("cam.nrec");
    let record = |more: &[&str]| {
        let args = ["record", "-o", text(&target), "--generate", "1x100KB@200", "--ring", "16MiB", "--json"];
        scratch.json([&args[..], more].concat(), 0)
    };
    record(&["--size", "20MiB", "--segment", "1MiB", "--when-full", "wrap", "--frames", "100"]);
    let listed = || scratch.json(["record", "--list", "-o", text(&target), "--json"], 0);
    assert_eq!(listed()["gaps"], Value::Array(vec![]));
    let pinned = scratch.json(["record", "--pin", "-o", text(&target), "--to", "100ms", "--json"], 0);
    assert_eq!(pinned["gaps"], Value::Array(vec![]));
    record(&["--frames", "400"]);
    let list = listed();
    let gaps = list["gaps"].as_array().unwrap();
    assert_eq!(gaps.len(), 1, "{list}");
    let moment = |value: &Value| value.as_str().unwrap().to_owned();
    assert_eq!(moment(&gaps[0]["from"]), moment(&list["pinned"][0]["last"]));
    assert!(
        moment(&gaps[0]["to"]) > moment(&gaps[0]["from"])
            && moment(&gaps[0]["to"]) < moment(&list["streams"][0]["last"])
    );
    let told = scratch.command(["record", "--list", "-o", text(&target)]).output().unwrap();
    assert!(String::from_utf8_lossy(&told.stdout).contains("overwritten, between what is there"));
}

/// A plan announces what it writes, in bytes of the device, and keeps to it.
#[test]
fn a_plan_announces_what_it_writes_and_keeps_to_it() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let args = ["record", "--plan", "-o", text(&target), "--size", "64MB", "--max-write", "40MB", "--for", "30s"];
    let output = scratch.command(args).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("at most 40 MB"), "{output:?}");
    // Whether so little is enough for an answer, and for which, depends on how fast the disk is.
    let ended = scratch.run([&args[..], &["--json"]].concat());
    assert!([0, 1, 4].contains(&ended.code), "{} {}", ended.code, ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let written = document["bytes_written"].as_u64().unwrap();
    // With others on the disk half of it is ours.
    assert!((18_000_000..=40_000_000).contains(&written), "{document}");
}

/// Frames that come by a pipe, too.
#[test]
fn what_comes_by_a_pipe_takes_no_more_than_it_is() {
    let scratch = Scratch::new();
    let target = scratch.path().join("pipe.nrec");
    let input: Vec<u8> = (0..20).flat_map(|n| frame(n, 50_000)).collect();
    let (code, document) = piped(&scratch, &["record", "-o", text(&target), "front=-", "--json"], &input);
    assert_eq!((code, &document["streams"][0]["durable"]), (0, &20.into()), "{document}");
    assert!(takes(&target).0 < 3 * MIB && takes(&target).1 < 3 * MIB, "{:?}", takes(&target));
}

/// A frame that never has room is no surprise after ten seconds.
#[test]
fn frames_larger_than_the_room_are_refused_before_the_start() {
    let scratch = Scratch::new();
    let out = scratch.target();
    let record = |size: &str, more: &[&str]| {
        let out = out.to_str().unwrap().to_owned();
        scratch.run(
            [&["record", "-o", out.as_str(), "--generate", "2x4MB@5", "--frames", "2", "--size", size], more].concat(),
        )
    };
    let small = record("16MB", &[]);
    assert_eq!(small.code, 2, "{}", small.stderr);
    let said = small.stderr.split("--size ").nth(1).and_then(|rest| rest.split(' ').next()).expect("what is enough");
    assert_eq!(record(said, &[]).code, 0, "{said} is enough");
    // What is there already takes no larger frames, and `--max-frame` says so, too.
    let smaller = record(said, &["--max-frame", "1MB", "--new"]);
    assert_eq!(smaller.code, 2, "{} {}", smaller.stdout, smaller.stderr);
    assert!(smaller.stderr.contains("those that are generated have up to 4000000"), "{}", smaller.stderr);
}
