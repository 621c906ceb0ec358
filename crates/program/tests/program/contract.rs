//! The JSON contract of real checks: other people's scripts rely on these keys. It is declared with the tests of `report`.

#[allow(dead_code, reason = "of the contracts this test binary uses that of a check")]
#[path = "../../../report/tests/report/contract.rs"]
pub mod declared;

use crate::program::Scratch;
use crate::why::says_the_bottleneck_of;
use std::collections::BTreeSet;

#[test]
fn every_simulated_device_gives_a_document_of_the_contract() {
    let scratch = Scratch::new();
    let mut findings = BTreeSet::new();
    let slow_in_sight = "nvme,cap-iops=400,cap-visible=true";
    for name in ["class4-card", "a1-card", "a2-card-no-queue", "emmc", "sata-ssd", "nvme", slow_in_sight] {
        let document = scratch.json(["check", &format!("sim:{name}"), "--json", "--seed", "1"], 0);
        says_the_bottleneck_of(&document, &scratch, name);
        let check: declared::Check = serde_json::from_value(document).unwrap_or_else(|e| panic!("{name}: {e}"));
        check.is_sound();
        assert!(check.duration_s > 1.0 && check.bytes_written > 0, "{name}");
        let report = check.report.expect("a page was written");
        assert!(std::path::Path::new(&report).exists(), "{report}");
        for id in [
            "copy.throughput_bytes_per_s",
            "layout.throughput_bytes_per_s",
            "seq-write.throughput_bytes_per_s",
            "buffered-write.throughput_bytes_per_s",
            "seq-read.throughput_bytes_per_s",
            "buffered-read.throughput_bytes_per_s",
            "rand-read-qd1.iops",
            "rand-read-qd32.iops",
            "rand-read-qd32.latency_ns_p99",
            "sync-write.iops",
            "sync-write.latency_ns_p99",
            "sync-write.latency_ns_max",
            "rand-write-qd1.iops",
            "rand-write-qd32.iops",
        ] {
            assert!(check.metrics.iter().any(|m| m.id == id), "{name}: {id}");
        }
        findings.extend(check.findings.into_iter().map(|finding| finding.id));
    }
    for id in findings {
        assert_eq!(scratch.run(["explain", &id]).code, 0, "{id}");
    }
}

#[test]
fn the_card_fits_a_forum_post() {
    let scratch = Scratch::new();
    for (args, lang, ascii) in
        [(&["check", "sim:a2-card-no-queue"][..], "C.UTF-8", false), (&["runs", "show", "latest"], "C", true)]
    {
        let output = scratch.command(args).env("LANG", lang).output().unwrap();
        let card = String::from_utf8(output.stdout).unwrap();
        for line in card.lines() {
            assert!(line.chars().count() <= 80 || line.contains(".html"), "{line}");
        }
        assert_eq!(card.is_ascii(), ascii, "LANG={lang}");
        assert!(card.trim_end().ends_with(".html"), "the page's path is the last thing: {card}");
    }
}
