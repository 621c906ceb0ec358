//! `narrows record`: real producers, real files, kills, and what comes that is no frame.

mod listing;
mod pins;
mod planning;
mod producers;
mod room;

use crate::program::{Scratch, wait_until};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;

/// A frame with its length before it, of content that says which it is.
fn frame(number: u64, length: usize) -> Vec<u8> {
    let mut bytes = b"NFR1".to_vec();
    bytes.extend((length as u32).to_le_bytes());
    bytes.extend((1_700_000_000_000_000_000 + number * 1_000_000).to_le_bytes());
    bytes.extend(content(number, length));
    bytes
}

fn content(number: u64, length: usize) -> Vec<u8> {
    let word =
        |i: u64| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i.wrapping_mul(0xbf58_476d_1ce4_e5b9)).to_le_bytes();
    (0..length.div_ceil(8) as u64).flat_map(word).take(length).collect()
}

/// A picture as small as its segments allow, with a thumbnail in its Exif data, and noise to tell it by.
fn picture(number: u8) -> Vec<u8> {
    let thumbnail = [0xff, 0xd8, 0xff, 0xda, 0, 2, 7, 0xff, 0xd9];
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xe1, 0, 2 + thumbnail.len() as u8];
    bytes.extend(thumbnail);
    bytes.extend([0xff, 0xfe, 0, 6, number, 0xff, 0xd8, number, 0xff, 0xda, 0, 3, 9]);
    bytes.extend([1, 2, 0xff, 0, 3, 0xff, 0xd0, number & 0x7f, 0xff, 0xd9]);
    bytes
}

fn piped(scratch: &Scratch, args: &[&str], input: &[u8]) -> (i32, Value) {
    let mut child = scratch.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let bytes = input.to_vec();
    // It may end before it has read all.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&bytes)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    (output.status.code().unwrap_or(-1), serde_json::from_slice(&output.stdout).expect("a document"))
}

fn exported(scratch: &Scratch, target: &str, stream: &str, format: &str) -> Vec<u8> {
    let args = ["record", "--export", format, "-o", target, "--stream", stream];
    let output = scratch.command(args).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

#[test]
fn what_comes_by_a_pipe_is_there_and_what_has_no_place_is_counted() {
    let scratch = Scratch::new();
    let target = scratch.path().join("cam.nrec");
    let lengths = [1000, 0, 70_000, 3_000_000, 5, 250_000];
    let input: Vec<u8> = lengths.iter().enumerate().flat_map(|(n, length)| frame(n as u64, *length)).collect();
    let args = ["record", "-o", text(&target), "--size", "32MB", "--max-frame", "300KB", "front=-", "--json"];
    let (code, document) = piped(&scratch, &args, &input);
    assert_eq!((code, &document["schema"]), (1, &"narrows/record/1".into()), "{document}");
    let stream = &document["streams"][0];
    assert_eq!((&stream["name"], &stream["received"]), (&"front".into(), &6.into()));
    assert_eq!((&stream["durable"], &stream["dropped"]["too-large"]), (&5.into(), &1.into()), "{stream}");
    let there = exported(&scratch, text(&target), "front", "raw");
    let kept: Vec<u8> =
        lengths.iter().enumerate().filter(|(n, _)| *n != 3).flat_map(|(n, l)| content(n as u64, *l)).collect();
    assert!(there == kept);
    // A second recording goes behind the first; one that is cut off says so.
    let cut = frame(9, 5000);
    let (code, document) = piped(&scratch, &["record", "-o", text(&target), "front=-", "--json"], &cut[..4000]);
    assert_eq!((code, &document["epoch"]), (1, &2.into()));
    assert_eq!(document["streams"][0]["dropped"]["cut-off"], 1);
    let list = scratch.json(["record", "list", text(&target), "--json"], 0);
    assert_eq!(scratch.json(["record", "--list", "-o", text(&target), "--json"], 0), list, "as it was called before");
    assert_eq!(
        (&list["recordings"], &list["streams"][0]["frames"], &list["streams"][0]["lost"]),
        (&2.into(), &5.into(), &2.into())
    );
    assert!(list["streams"][0]["first"].as_str().unwrap().starts_with("20"));
}

#[test]
fn pictures_are_told_apart_and_what_is_none_is_counted() {
    let scratch = Scratch::new();
    let target = scratch.path().join("cam.nrec");
    let many: Vec<u8> = (0..200).flat_map(picture).collect();
    let (code, document) = piped(&scratch, &["record", "-o", text(&target), "--size", "32MB", "--json"], &many);
    assert_eq!((code, &document["streams"][0]["durable"]), (0, &200.into()), "{document}");
    assert!(exported(&scratch, text(&target), "stdin", "mjpeg") == many);
    let cut: Vec<u8> = [&picture(1)[..], &b"noise"[..], &picture(2), &picture(3)[..20]].concat();
    let (code, document) = piped(&scratch, &["record", "-o", text(&target), "--json"], &cut);
    let stream = &document["streams"][0];
    assert_eq!((code, &stream["durable"], &stream["dropped"]["cut-off"]), (1, &2.into(), &1.into()), "{stream}");
    assert!(stream["dropped"]["damaged"].as_u64().unwrap() >= 1);
    let (code, document) = piped(&scratch, &["record", "-o", text(&target), "--json"], b"GIF89a and more");
    assert_eq!((code, &document["kind"]), (4, &"invalid".into()), "{document}");
    assert!(document["message"].as_str().unwrap().contains("neither JPEG"));
    let (code, document) = piped(&scratch, &["record", "-o", text(&target), "--json"], b"");
    assert_eq!((code, &document["streams"]), (4, &Value::Array(vec![])), "nobody came");
}

#[test]
fn made_up_cameras_are_recorded_listed_verified_and_the_same_seed_is_the_same() {
    let scratch = Scratch::new();
    let record = |name: &str| {
        let target = scratch.path().join(name);
        let args = ["--generate", "3x40KB@100", "--jitter", "30", "--burst", "4", "--frames", "30", "--json"];
        let document = scratch.json([&["record", "-o", text(&target), "--size", "64MB"][..], &args].concat(), 0);
        assert_eq!(document["streams"].as_array().unwrap().len(), 3);
        let priority = &document["priority_effective"];
        assert!(priority.is_null() || priority == "normal" || priority == "real-time", "{priority}");
        for stream in document["streams"].as_array().unwrap() {
            assert_eq!(
                (&stream["received"], &stream["durable"], &stream["in_flight"]),
                (&30.into(), &30.into(), &0.into())
            );
        }
        target
    };
    let (one, two) = (record("one.nrec"), record("two.nrec"));
    let checked = scratch.json(["record", "verify", text(&one), "--json"], 0);
    assert_eq!((&checked["checked"]["whole"], &checked["checked"]["frames"]), (&true.into(), &90.into()));
    assert!(exported(&scratch, text(&one), "camera-2", "mjpeg") == exported(&scratch, text(&two), "camera-2", "mjpeg"));
    let pictures = scratch.path().join("pictures");
    let args =
        ["record", "export", text(&one), "--format", "jpeg", "--to", "100ms", "--into", text(&pictures), "--json"];
    let part = scratch.json(args, 0)["exported"]["frames"].as_u64().unwrap();
    assert!((3..=60).contains(&part), "{part} frames of the first tenth of a second");
    assert_eq!(std::fs::read_dir(&pictures).unwrap().count() as u64, part);
    let film = exported(&scratch, text(&one), "camera-1", "mkv");
    assert!(film.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) && film.len() > 30 * 28_000);
    let wrong = scratch.command(["record", "--export", "mkv", "-o", text(&one)]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("camera-1, camera-2, camera-3"));
}

#[test]
fn a_full_recording_stops_or_wraps_as_told_and_is_gone_on_with_or_given_up() {
    let scratch = Scratch::new();
    let target = scratch.path().join("x.nrec");
    let record = |more: &[&str]| {
        let args = ["record", "-o", text(&target), "--generate", "1x100KB@max", "--frames", "100", "--json"];
        let output = scratch.command([&args[..], more].concat()).output().unwrap();
        (output.status.code().unwrap(), serde_json::from_slice::<Value>(&output.stdout).unwrap())
    };
    let (code, document) = record(&["--size", "6MB", "--segment", "512KiB"]);
    assert_eq!((code, &document["ended_by"]), (1, &"container-full".into()), "{document}");
    let stream = &document["streams"][0];
    let sum = stream["durable"].as_u64().unwrap() + stream["dropped"]["container-full"].as_u64().unwrap();
    assert_eq!((sum, &stream["in_flight"]), (stream["received"].as_u64().unwrap(), &0.into()));
    let (code, document) = record(&[]);
    assert_eq!((code, document["message"].as_str().unwrap().contains("full")), (3, true), "{document}");
    let (code, document) = record(&["--new", "--when-full", "wrap", "--segment", "512KiB"]);
    assert_eq!((code, &document["streams"][0]["durable"]), (0, &100.into()), "{document}");
    let checked = scratch.json(["record", "--verify", "-o", text(&target), "--json"], 0);
    let there = checked["checked"]["frames"].as_u64().unwrap();
    assert!((20..60).contains(&there), "{checked}");
    let (code, document) = record(&["--when-full", "stop"]);
    assert_eq!(code, 3, "{document}");
}

#[test]
fn other_data_missing_devices_and_later_versions_are_refused() {
    let scratch = Scratch::new();
    let refused = |args: &[&str], code: i32, says: &str| {
        let output = scratch.command([&["record", "--json"][..], args].concat()).stdin(Stdio::null()).output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {document}");
        assert!(document["message"].as_str().unwrap().contains(says), "{document}");
    };
    let cameras = ["--generate", "1x1KB@10", "--frames", "3"];
    let with = |target: &Path, more: &[&str]| -> Vec<String> {
        ["-o", text(target)].iter().chain(&cameras).chain(more).map(|s| (*s).to_owned()).collect()
    };
    let call =
        |args: Vec<String>, code, says: &str| refused(&args.iter().map(String::as_str).collect::<Vec<_>>(), code, says);
    let mine = scratch.path().join("letters.txt");
    std::fs::write(&mine, vec![b'x'; 8 << 20]).unwrap();
    call(with(&mine, &[]), 3, "holds other data");
    assert_eq!(std::fs::read(&mine).unwrap(), vec![b'x'; 8 << 20]);
    call(with(Path::new("/dev/narrows-no-such-disk"), &[]), 3, "no such device");
    call(with(&scratch.path().join("small"), &["--size", "100KB"]), 2, "too few for a recording");
    assert!(!scratch.path().join("small").exists(), "nothing is left of what failed");
    call(with(&scratch.path().join("much"), &["--size", "900TB"]), 3, "free");
    refused(&["--list", "-o", text(&mine)], 2, "no recording");
    refused(&["--list", "-o", text(&scratch.target())], 2, "no recording");
    refused(&["-o", text(&mine), "--generate", "2MB"], 2, "COUNTxSIZE@FRAMES");
    refused(&["-o", text(&mine), "gone=/no/such/pipe"], 3, "/no/such/pipe");
    let target = scratch.path().join("x.nrec");
    let made = scratch.json([&["record", "--json"][..], &["-o", text(&target), "--size", "8MB"], &cameras].concat(), 0);
    assert_eq!(made["streams"][0]["durable"], 3);
    // A later version: the byte is changed, and both sums with it.
    let file = || std::fs::OpenOptions::new().read(true).write(true).open(&target).unwrap();
    let mut block = vec![0; 4096];
    file().read_exact_at(&mut block, 0).unwrap();
    let whole = block.clone();
    block[8] = 9;
    let sum = crc32c(&block[..4092]).to_le_bytes();
    block[4092..].copy_from_slice(&sum);
    file().write_all_at(&block, 0).unwrap();
    refused(&["--list", "-o", text(&target)], 3, "version 9");
    call(with(&target, &[]), 3, "version 9");
    // One superblock that is gone is had from the other, and mended.
    file().write_all_at(&[0; 4096], 0).unwrap();
    let mended = scratch.json(["record", "recover", text(&target), "--json"], 0);
    assert_eq!((&mended["checked"]["mended"], &mended["checked"]["frames"]), (&true.into(), &3.into()));
    file().read_exact_at(&mut block, 0).unwrap();
    assert_eq!((&block[..32], &block[48..4000]), (&whole[..32], &whole[48..4000]));
    // A bit of a frame that was acknowledged.
    let container = std::fs::read(&target).unwrap();
    let batch = container.windows(8).position(|w| w == b"NARRWBAT").unwrap() as u64;
    let mut byte = [0];
    file().read_exact_at(&mut byte, batch + 700).unwrap();
    file().write_all_at(&[byte[0] ^ 4], batch + 700).unwrap();
    let damaged = scratch.json(["record", "--verify", "-o", text(&target), "--json"], 1);
    assert_eq!(
        (&damaged["checked"]["whole"], damaged["checked"]["damage"].as_array().unwrap().len()),
        (&false.into(), 1)
    );
}

/// Bit by bit, and not by the program's own code.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 })
    })
}

#[test]
fn on_a_simulated_card_that_is_too_slow_every_frame_is_accounted_for() {
    let scratch = Scratch::new();
    let record = |cameras: &str, code| {
        let args = ["record", "-o", "sim:a1-card", "--generate", cameras, "--for", "20s", "--ring", "32MiB", "--json"];
        scratch.json(args, code)
    };
    let slow = record("2x1MB@1", 0);
    assert_eq!(slow["streams"][0]["dropped"], serde_json::json!({}));
    assert_eq!(slow["streams"][0]["durable"], 20, "{slow}");
    let fast = record("4x2MB@30", 1);
    for stream in fast["streams"].as_array().unwrap() {
        let (received, durable) = (stream["received"].as_u64().unwrap(), stream["durable"].as_u64().unwrap());
        assert_eq!((received, durable + stream["dropped"]["ring-full"].as_u64().unwrap()), (600, 600), "{stream}");
    }
}

#[test]
fn a_storage_says_how_many_streams_it_carries() {
    let scratch = Scratch::new();
    let plan = |streams: &str, code| {
        scratch.json(["record", "plan", "sim:a1-card", "--streams", streams, "--for", "10s", "--json"], code)
    };
    let few = plan("4x16Mbit", 0);
    let sustained = few["sustained_bytes_per_s"].as_f64().unwrap();
    assert_eq!((&few["carries"], few["stream_bytes_per_s"].as_f64()), (&true.into(), Some(2e6)), "{few}");
    let most = few["most_streams"].as_u64().unwrap();
    assert!(most > 4 && most as f64 * 2e6 <= sustained, "{few}");
    let many = plan(&format!("{}x16Mbit", most + 1), if (most + 1) as f64 * 2e6 <= 0.95 * sustained { 0 } else { 1 });
    assert_eq!(many["most_streams"], most);
    // What it says it carries it carries, with the ring that it says.
    let ring = few["ring_bytes"].as_u64().unwrap().max(2 << 20).to_string();
    let args = ["record", "-o", "sim:a1-card", "--generate", "4x80kB@25", "--for", "60s", "--ring", &ring, "--json"];
    let recorded = scratch.json(args, 0);
    assert_eq!(recorded["streams"][3]["durable"], 1500, "{recorded}");
    let target = scratch.target();
    let real = ["record", "--plan", "-o", target.to_str().unwrap(), "--size", "32MB", "--max-write", "64MB"];
    let args = [&real[..], &["--for", "5s", "--json"]].concat();
    // Whether so little is enough for an answer, and for which, depends on how fast the disk is.
    let ended = scratch.run(args);
    assert!([0, 1, 4].contains(&ended.code), "{} {}", ended.code, ended.stderr);
    let real: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!((30_000_000..=64_000_000).contains(&real["bytes_written"].as_u64().unwrap()), "{real}");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_recording_that_was_killed_is_in_the_list_of_runs() {
    let scratch = Scratch::new();
    let target = scratch.path().join("killed.nrec");
    let args = ["record", "-o", text(&target), "--size", "16MB", "--max-frame", "100KB", "--generate", "1x10KB@30"];
    let mut child = scratch.command(args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("records to"), "{line}");
    wait_until("its run is begun", || std::fs::read_dir(scratch.archive().join("runs")).is_ok_and(|d| d.count() > 0));
    assert_eq!(scratch.json(["runs", "list", "--json"], 0)["runs"], serde_json::json!([]), "it goes on");
    child.kill().unwrap();
    child.wait().unwrap();
    let list = scratch.json(["runs", "list", "--json"], 0);
    assert_eq!((&list["runs"][0]["command"], &list["runs"][0]["state"]), (&"record".into(), &"truncated".into()));
    let shown = scratch.run(["runs", "show", "latest"]).stdout;
    assert!(shown.contains("Cut off while it recorded: narrows record list"), "{shown}");
    // One that ends is there once.
    let again = ["--frames", "5", "--json"].iter().copied();
    scratch.json(args.into_iter().chain(again).collect::<Vec<_>>(), 0);
    let list = scratch.json(["runs", "list", "--json"], 0);
    assert_eq!(list["runs"].as_array().unwrap().len(), 2, "{list}");
    assert_eq!(list["runs"][1]["state"], "complete");
}

fn state_of(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().unwrap_or_default().chars().take(1).collect()
}

/// Others stand still while the ring fills up, not for ever, and go on when the recorder ends, even if it is killed.
#[test]
fn others_stand_still_and_are_never_left_standing() {
    let scratch = Scratch::new();
    let target = scratch.path().join("x.nrec");
    let mut other = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = other.id().to_string();
    let args =
        ["record", "-o", text(&target), "--size", "64MB", "--ring", "4MiB", "--max-frame", "1MB", "--new", "--json"];
    let cameras = ["--generate", "1x900KB@20", "--max-latency", "200ms", "--defer", &pid, "--defer-at-most", "100ms"];
    let start = |more: &[&str]| {
        let all = [&args[..], &cameras, more].concat();
        scratch.command(all).stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut child = start(&["--frames", "1000", "--when-full", "wrap"]);
    wait_until("it pauses", || state_of(other.id()) == "T");
    wait_until("it goes on, as it may not pause for longer", || state_of(other.id()) == "S");
    wait_until("it pauses again", || state_of(other.id()) == "T");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("it is not left standing", || state_of(other.id()) == "S");
    let output = start(&["--frames", "20"]).wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(state_of(other.id()), "S", "{document}");
    assert!(
        document["deferred"]["times"].as_u64().unwrap() > 0 && document["deferred"]["still_s"].as_f64().unwrap() > 0.0
    );
    other.kill().unwrap();
    other.wait().unwrap();
    let own = std::process::id().to_string();
    for (who, says) in [
        (own.as_str(), "what started it"),
        ("1", "the first process"),
        ("0", "no such"),
        ("/proc", "neither"),
        ("/no/such", "No such"),
    ] {
        let refused =
            scratch.command([&args[..], &["--generate", "1x1KB@1", "--defer", who]].concat()).output().unwrap();
        assert_eq!(refused.status.code(), Some(3));
        assert!(
            String::from_utf8_lossy(&refused.stdout).contains(says),
            "{}",
            String::from_utf8_lossy(&refused.stdout)
        );
    }
}

/// What the kernel says of a thread of this name: nice value (proc_pid_stat(5), field 19) and permitted CPUs.
fn scheduling_of(pid: u32, thread: &str) -> Option<(i32, String)> {
    let task = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten().map(|entry| entry.path());
    let named = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim().starts_with(thread))
    };
    let path = task.into_iter().find(named)?;
    let stat = std::fs::read_to_string(path.join("stat")).ok()?;
    let status = std::fs::read_to_string(path.join("status")).ok()?;
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned();
    Some((stat.rsplit(") ").next()?.split(' ').nth(16)?.parse().ok()?, cpus))
}

#[test]
fn nice_and_cpus_hold_for_all_threads_and_are_read_back() {
    let scratch = Scratch::new();
    let target = scratch.path().join("x.nrec");
    let (_, cpus) = scheduling_of(std::process::id(), "").unwrap();
    let cpu = cpus.split([',', '-']).next().unwrap();
    let args = ["record", "-o", text(&target), "--size", "32MB", "--generate", "1x10KB@20", "--json"];
    let child = scratch
        .command([&args[..], &["--nice", "7", "--cpus", cpu, "--frames", "60"]].concat())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    for thread in ["narrows", "camera"] {
        let expected = Some((7, cpu.to_owned()));
        wait_until(&format!("{thread} on {cpu}"), || scheduling_of(child.id(), thread) == expected);
    }
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["nice_asked"], &document["nice_effective"]), (&7.into(), &7.into()), "{document}");
    let list = serde_json::json!([cpu.parse::<u32>().unwrap()]);
    assert_eq!((&document["cpus_asked"], &document["cpus_effective"]), (&list, &list));
    for (more, code, says) in [
        (["--nice", "20"], 2, "-20..=19"),
        (["--cpus", "1-0"], 2, "not a range"),
        (["--cpus", "x"], 2, "--cpus"),
        (["--cpus", "1023"], 3, "no CPU 1023"),
    ] {
        let output = scratch.command([&args[..], &more].concat()).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!((output.status.code(), said.contains(says)), (Some(code), true), "{more:?}: {said}");
    }
}

/// An answer needs time: a cache makes little of it look better than much, and one flush worse.
#[test]
fn what_was_written_for_too_short_is_no_answer() {
    let scratch = Scratch::new();
    let plan = |streams: &str, more: &[&str], code| {
        let args = ["record", "plan", "sim:a1-card", "--streams", streams, "--json"];
        scratch.json([&args[..], more].concat(), code)
    };
    let short = plan("4x16Mbit", &["--max-write", "20MB"], 4);
    let answer = short["answer"].as_str().unwrap();
    assert!(answer.contains("only, and at least 2.0 s are needed, so --max-write "), "{answer}");
    assert_eq!((&short["carries"], short["needed_s"].as_f64()), (&Value::Null, Some(2.0)), "{short}");
    // What it advises is enough.
    let advised = answer.split("--max-write ").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(plan("4x16Mbit", &["--max-write", advised], 0)["carries"], true);
    assert_eq!(plan("40x16Mbit", &["--max-write", "20MB"], 4)["carries"], Value::Null);
    assert_eq!(plan("40x16Mbit", &["--max-write", advised], 1)["carries"], false);
    // As much as a check writes, of a simulated device, too.
    let usual = plan("4x16Mbit", &[], 0);
    assert!(usual["bytes_written"].as_u64().unwrap() <= 32_000_000_000 / 50, "{usual}");
    let said = scratch.run(["record", "plan", "sim:a1-card", "--streams", "4x16Mbit"]).stderr;
    assert!(said.contains("(as much as a check; --max-write SIZE)"), "{said}");
}
