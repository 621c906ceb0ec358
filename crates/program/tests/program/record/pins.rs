//! What a recording that wraps does not overwrite.

use super::{exported, text};
use crate::program::{Scratch, wait_until};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

const WRAPS: [&str; 6] = ["--size", "20MiB", "--segment", "1MiB", "--when-full", "wrap"];

fn records(scratch: &Scratch, target: &Path, cameras: &str, frames: &str) -> Value {
    let new: &[&str] = if target.exists() { &[] } else { &WRAPS };
    let args = ["record", "-o", text(target), "--generate", cameras, "--frames", frames, "--ring", "16MiB", "--json"];
    scratch.json([&args[..], new].concat(), 0)
}

fn listed(scratch: &Scratch, target: &Path) -> Value {
    scratch.json(["record", "--list", "-o", text(target), "--json"], 0)
}

/// What is pinned outlives any number of rounds, byte by byte; what is let go does not.
#[test]
fn the_ring_goes_round_what_is_pinned_until_it_is_let_go() {
    let scratch = Scratch::new();
    let target = scratch.path().join("cam.nrec");
    records(&scratch, &target, "1x100KB@200", "120");
    let whole = exported(&scratch, text(&target), "camera-1", "raw");
    let pin = ["record", "--pin", "-o", text(&target), "--from", "100ms", "--to", "250ms", "--json"];
    let document = scratch.json(pin, 0);
    let pinned = &document["pinned"][0];
    let segments = pinned["segments"].as_u64().unwrap();
    assert!((2..=7).contains(&segments) && document["pinned"].as_array().unwrap().len() == 1, "{document}");
    for _ in 0..2 {
        records(&scratch, &target, "1x100KB@max", "400");
        let checked = scratch.json(["record", "--verify", "-o", text(&target), "--json"], 0);
        assert_eq!((&checked["checked"]["damage"], &checked["pinned"][0]), (&Value::Array(vec![]), pinned));
    }
    let (first, last) = (pinned["first"].as_str().unwrap(), pinned["last"].as_str().unwrap());
    let part = |to: &str| {
        let args =
            ["record", "--export", "raw", "-o", text(&target), "--stream", "camera-1", "--from", first, "--to", to];
        scratch.command(args).output().expect("it runs").stdout
    };
    let kept = part(last);
    let at = whole.windows(64).position(|bytes| bytes == &kept[..64]).expect("where they were");
    assert!(kept.len() as u64 >= (segments - 1) * 900_000, "{} bytes", kept.len());
    assert!(whole[at..at + kept.len()] == kept, "they are what they were");
    let freed = scratch.json(["record", "--unpin", "-o", text(&target), "--json"], 0);
    assert_eq!(freed["pinned"], Value::Array(vec![]));
    records(&scratch, &target, "1x100KB@max", "400");
    assert!(part(last).is_empty() && listed(&scratch, &target)["segments_used"] == freed["segments_used"]);
}

/// While it is recorded to, by another process: the recorder hears of it.
#[test]
fn what_is_pinned_while_it_is_recorded_to_stays() {
    let scratch = Scratch::new();
    let target = scratch.path().join("cam.nrec");
    let args = ["record", "-o", text(&target), "--generate", "1x100KB@80", "--for", "8s", "--ring", "16MiB", "--json"];
    let recorder = scratch.command([&args[..], &WRAPS].concat()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let recorder = recorder.expect("it starts");
    let frames = |document: &Value| document["streams"][0]["frames"].as_u64().unwrap_or(0);
    let has_some = || {
        let output = scratch.command(["record", "--list", "-o", text(&target), "--json"]).output().expect("it runs");
        serde_json::from_slice(&output.stdout).is_ok_and(|document| frames(&document) >= 80)
    };
    wait_until("a second is recorded", has_some);
    let document = scratch.json(["record", "--pin", "-o", text(&target), "--last", "400ms", "--json"], 0);
    let pinned = document["pinned"].clone();
    assert!(pinned[0]["segments"].as_u64().is_some_and(|n| (2..=8).contains(&n)), "{document}");
    let output = recorder.wait_with_output().expect("it ends");
    let recorded: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(recorded["streams"][0]["dropped"], Value::Object(Default::default()), "{recorded}");
    // 8 s of 8 MB/s are three times as much as it has room for.
    let checked = scratch.json(["record", "--verify", "-o", text(&target), "--json"], 0);
    assert_eq!(checked["checked"]["damage"], Value::Array(vec![]), "{checked}");
    assert_eq!(checked["pinned"][0]["segments"], pinned[0]["segments"], "{pinned}");
    let last = |document: &Value| document["streams"][0]["last"].as_str().unwrap_or_default().to_owned();
    assert!(last(&checked) > last(&document) && frames(&checked) < 250, "it went round: {checked}");
}

#[test]
fn what_cannot_be_pinned_is_refused_with_its_reason() {
    let scratch = Scratch::new();
    let (target, stops) = (scratch.path().join("cam.nrec"), scratch.path().join("stops.nrec"));
    records(&scratch, &target, "1x100KB@max", "400");
    scratch.json(
        ["record", "-o", text(&stops), "--size", "20MiB", "--generate", "1x10KB@100", "--frames", "5", "--json"],
        0,
    );
    for (target, args, code, said) in [
        (&target, &["--pin"][..], 2, "which time"),
        (&target, &["--pin", "--from", "0s"], 3, "would be pinned"),
        (
            &target,
            &["--pin", "--from", "2020-01-01T00:00:00Z", "--to", "2020-01-02T00:00:00Z"],
            2,
            "no frames of that time",
        ),
        (&target, &["--pin", "--last", "soon"], 2, "--last"),
        (&stops, &["--pin", "--last", "1s"], 3, "stops when it is full"),
    ] {
        let refused = scratch.json([&["record", "-o", text(target), "--json"], args].concat(), code);
        assert!(refused["message"].as_str().unwrap().contains(said), "{refused}");
        assert!(refused["remedy"].is_string() || said.contains("stops") || said == "--last", "{refused}");
    }
    assert_eq!(listed(&scratch, &target)["pinned"], Value::Array(vec![]));
    // Its pins cannot be known where both superblocks are gone: they may not be lost in silence.
    scratch.json(["record", "--pin", "-o", text(&target), "--last", "1ms", "--json"], 0);
    let bytes = std::fs::read(&target).unwrap();
    let mut damaged = bytes.clone();
    // Something else stands in the place of one superblock: it is not written over without a word.
    damaged[..512].fill(0x55);
    std::fs::write(&target, &damaged).unwrap();
    let refused = scratch.json(["record", "--pin", "-o", text(&target), "--last", "1ms", "--json"], 3);
    assert!(refused["message"].as_str().unwrap().contains("a superblock of it is damaged"), "{refused}");
    assert!(std::fs::read(&target).unwrap() == damaged, "nothing was written");
    let end = damaged.len() / 4096 * 4096;
    (0..end).step_by(4096).filter(|at| bytes[*at..].starts_with(b"NARRWREC")).for_each(|at| damaged[at + 60] ^= 1);
    std::fs::write(&target, damaged).unwrap();
    let args = ["record", "-o", text(&target), "--generate", "1x10KB@100", "--frames", "5", "--json"];
    let refused = scratch.json(args, 3);
    assert!(refused["message"].as_str().unwrap().contains("what must not be overwritten is not known"), "{refused}");
    scratch.json(["record", "--recover", "-o", text(&target), "--json"], 0);
    scratch.json(args, 0);
}
