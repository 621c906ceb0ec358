//! Simulated devices: known truth through the whole program.

use crate::program::{Scratch, metric};

/// Published by the SD card study (cnx-software/Armbian forum, 2018): sequential MB/s and 4 KiB IOPS at depth 1.
const CARDS: [(&str, [f64; 4]); 4] = [
    ("sim:class4-card", [43.0, 10.0, 1926.0, 33.0]),
    ("sim:a1-card", [66.0, 59.0, 3201.0, 1480.0]),
    ("sim:a2-card-no-queue", [65.0, 50.0, 1766.0, 732.0]),
    ("sim:emmc", [128.0, 32.0, 5083.0, 1943.0]),
];

#[test]
fn the_published_cards_come_out_as_published() {
    let scratch = Scratch::new();
    for (name, [read, write, read_iops, write_iops]) in CARDS {
        let document = scratch.json(["check", name, "--json", "--seed", "1"], 0);
        for (id, expected, tolerance) in [
            ("seq-read.throughput_bytes_per_s", read * 1e6, 0.03),
            ("seq-write.throughput_bytes_per_s", write * 1e6, 0.05),
            ("rand-read-qd1.iops", read_iops, 0.02),
            // 33 a second for a few seconds: the count itself is known to a few percent only.
            ("rand-write-qd1.iops", write_iops, if write_iops < 100.0 { 0.08 } else { 0.02 }),
        ] {
            let value = metric(&document, id)["value"].as_f64().unwrap_or_else(|| panic!("{name} {id}"));
            assert!((value / expected - 1.0).abs() < tolerance, "{name} {id}: {value}, published {expected}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let scratch = Scratch::new();
    let check = || scratch.json(["check", "sim:a1-card", "--json", "--seed", "7"], 0);
    assert_eq!(check()["metrics"], check()["metrics"]);
}

#[test]
fn an_a2_card_without_a_queue_is_recognised() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "sim:a2-card-no-queue", "--json"], 0);
    let findings: Vec<&str> =
        document["findings"].as_array().unwrap().iter().filter_map(|f| f["id"].as_str()).collect();
    assert!(findings.contains(&"sd-a2-without-queue"), "{findings:?}");
    assert_eq!(document["limit"]["layer"], "controller", "{}", document["limit"]);
    assert_ne!(document["limit"]["confidence"], "high", "nothing was compared, so nothing is proven");
}

#[test]
fn buffered_writes_far_below_direct_with_a_busy_cpu_are_said_by_themselves() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "sim:nvme", "--json"], 0);
    assert_eq!(document["limit"]["layer"], "page-cache", "{}", document["limit"]);
}

#[test]
fn a_fault_ends_the_run_as_failed_and_keeps_what_was_measured() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "sim:sata-ssd,eio-at=40000", "--json"], 4);
    assert_eq!(document["state"], "failed");
    assert!(document["metrics"].as_array().unwrap().iter().any(|m| m["status"] == "measured"));
    let run = document["run_id"].as_str().unwrap();
    assert_eq!(scratch.run(["runs", "verify", run]).code, 0);
}

#[test]
fn null_names_the_generator() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "null:", "--budget", "3s", "--json"], 0);
    assert_eq!(document["limit"]["layer"], "generator");
}
