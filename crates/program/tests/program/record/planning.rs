//! `narrows record plan`: how far its answer is known, and how streams are written.

use crate::program::Scratch;
use serde_json::Value;

/// While a write cache may still hide its end, a yes is known as far as it was written; where the end was seen, what comes after it decides.
#[test]
fn a_plan_says_how_far_it_is_known_and_what_comes_after_a_cache() {
    let scratch = Scratch::new();
    let plan = |target: &str, streams: &str, code| {
        scratch.json(["record", "plan", target, "--streams", streams, "--json"], code)
    };
    let hidden = plan("sim:sata-ssd,cache=6GiB", "1x400MB", 0);
    let (answer, written) = (hidden["answer"].as_str().unwrap(), hidden["bytes_written"].as_u64().unwrap());
    assert_eq!((hidden["known_bytes"].as_u64(), &hidden["cache_bytes"]), (Some(written), &Value::Null), "{hidden}");
    assert!((hidden["known_s"].as_f64().unwrap() - written as f64 / 400e6).abs() < 1e-6, "{hidden}");
    assert!(answer.contains("known for the first 2 GB (5.1 s), since no more was written"), "{answer}");
    assert!(!answer.contains("for long"), "{answer}");
    let text = scratch.run(["record", "plan", "sim:sata-ssd,cache=6GiB", "--streams", "1x400MB"]).stdout;
    assert!(text.contains("narrows fill") && !text.contains("for long"), "{text}");
    let ended = plan("sim:sata-ssd,cache=1GiB", "1x400MB", 1);
    assert!((1 << 30..2 << 30).contains(&ended["cache_bytes"].as_u64().unwrap()), "{ended}");
    assert!(ended["known_bytes"].is_null() && ended["known_s"].is_null(), "{ended}");
    let answer = ended["answer"].as_str().unwrap();
    assert!(answer.starts_with("NO: 1 stream of 400 MB/s (3 200 Mbit/s) is too much: it brings 400 MB/s"), "{answer}");
    assert!(
        answer.contains("the storage takes no more than 180 MB/s after the first 1.7 GB, where its rate fell for good"),
        "{answer}"
    );
    let carried = plan("sim:sata-ssd,cache=1GiB", "1x100MB", 0);
    let answer = carried["answer"].as_str().unwrap();
    assert!(answer.contains("are full, also after the first 1.7 GB"), "{carried}");
}

/// A time that is asked for is answered only as far as it was measured and there is room.
#[test]
fn a_time_that_is_asked_for_is_known_or_it_is_no_yes() {
    let scratch = Scratch::new();
    let plan = |time: &str, more: &[&str], code| {
        let target = "sim:a1-card,throttle-start=10s";
        let args = [&["record", "plan", target, "--streams", "40x1080p30", "--for", time, "--json"], more].concat();
        scratch.json(&args, code)
    };
    let short = plan("60s", &[], 4);
    let answer = short["answer"].as_str().unwrap();
    assert!(answer.starts_with("Not known beyond 15 s: 40 streams"), "{answer}");
    assert!(answer.contains("60 s are asked for; --max-write 2640MB") || answer.contains("1 min"), "{answer}");
    assert!(short["carries"].is_null() && short["asked_s"] == 60.0, "{short}");
    assert_eq!(plan("10s", &[], 0)["carries"], true);
    // What is advised decides it: heat leaves less than they bring, and no cache is named.
    let more = plan("60s", &["--max-write", "2640MB"], 1);
    let answer = more["answer"].as_str().unwrap();
    assert!(answer.starts_with("NO: ") && !answer.contains("cache"), "{answer}");
    // The room ends before.
    let args = ["record", "plan", "sim:a1-card", "--streams", "4x1080p30", "--for", "5h", "--json"];
    let full = scratch.json(args, 1);
    assert!(full["answer"].as_str().unwrap().contains("carried, but only for"), "{full}");
}

#[test]
fn streams_are_written_as_people_write_them() {
    let scratch = Scratch::new();
    for (streams, each, assumed) in [
        ("4x1080p30", 1e6, Value::from("4x1080p30")),
        ("4x2MB@30", 60e6, Value::Null),
        ("4x8Mbit", 1e6, Value::Null),
        ("4x8mbit/s", 1e6, Value::Null),
    ] {
        let ended = scratch.run(["record", "plan", "sim:nvme", "--streams", streams, "--json"]);
        let plan: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!((plan["streams"].as_u64(), plan["stream_bytes_per_s"].as_f64()), (Some(4), Some(each)), "{streams}");
        assert_eq!(plan["assumed_rate"], assumed, "{streams}");
    }
    let wrong = scratch.json(["record", "plan", "sim:nvme", "--streams", "4x90fps", "--json"], 2);
    let remedy = wrong["remedy"].as_str().unwrap();
    assert!(["4x16Mbit", "2x40MB", "4x2MB@30", "4x1080p30"].iter().all(|form| remedy.contains(form)), "{wrong}");
    // The same wherever streams are given.
    assert_eq!(scratch.json(["check", "sim:a1-card", "--for", "record=4x1080p30", "--json"], 0)["met"], true);
    let args = ["record", "-o", "sim:nvme", "--generate", "2x720p25", "--for", "4s", "--json"];
    let recorded = scratch.json(args, 0);
    assert_eq!(recorded["streams"][1]["durable"], 100, "{recorded}");
}
