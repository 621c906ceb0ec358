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
    let ended = scratch.run(["check", "null:", "--budget", "3s", "--json"]);
    // A machine that stands still for three seconds leaves no time to measure in; then the answer is 4.
    assert!(ended.code == 0 || ended.code == 4, "{} {}", ended.code, ended.stderr);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["limit"]["layer"], "generator");
    let of_a_path = |m: &&serde_json::Value| {
        !m["id"].as_str().unwrap().split('.').next().is_some_and(|p| matches!(p, "copy" | "layout"))
    };
    let answered = document["metrics"].as_array().unwrap().iter().filter(of_a_path).any(|m| m["value"].is_number());
    assert_eq!(answered, ended.code == 0, "{}", ended.stdout);
}

/// Card, page and document say the same of one run.
#[test]
fn card_page_and_document_agree() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "sim:a2-card-no-queue", "--json", "--seed", "3"], 0);
    let run = document["run_id"].as_str().unwrap();
    let card = scratch.run(["runs", "show", run]).stdout;
    let page = std::fs::read_to_string(document["report"].as_str().unwrap()).unwrap();
    let plain = page.replace("<b>", "").replace("</b>", "");
    for (id, unit, divisor) in [
        ("seq-read.throughput_bytes_per_s", "MB/s", 1e6),
        ("seq-write.throughput_bytes_per_s", "MB/s", 1e6),
        ("buffered-read.throughput_bytes_per_s", "MB/s", 1e6),
        ("buffered-write.throughput_bytes_per_s", "MB/s", 1e6),
        ("rand-read-qd1.iops", "IOPS", 1.0),
        ("rand-read-qd32.iops", "IOPS", 1.0),
        ("rand-write-qd1.iops", "IOPS", 1.0),
        ("rand-write-qd32.iops", "IOPS", 1.0),
        ("sync-write.iops", "IOPS", 1.0),
    ] {
        let value = metric(&document, id)["value"].as_f64().unwrap() / divisor;
        let near = |text: &str| numbers_before(text, unit).iter().any(|n| (n / value - 1.0).abs() < 0.006);
        assert!(near(&card), "{id} is {value}, on the card are {:?}", numbers_before(&card, unit));
        assert!(near(&plain), "{id} is {value}, on the page are {:?}", numbers_before(&plain, unit));
    }
    let statement = document["limit"]["statement"].as_str().unwrap();
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(squeezed(&card).contains(&squeezed(statement)), "{statement}\n{card}");
    assert_eq!(document["causes"][0]["statement"], statement);
    for finding in document["findings"].as_array().unwrap() {
        let id = finding["id"].as_str().unwrap();
        assert!(card.contains(id) && page.contains(id), "{id}");
    }
    for name in ["engine", "direct", "cold", "data"] {
        assert!(document["phases"][4].get(name).is_some(), "{name}");
    }
}

/// The numbers that stand before a unit, thousands joined: `1 772 IOPS` is 1772.
fn numbers_before(text: &str, unit: &str) -> Vec<f64> {
    text.match_indices(&format!(" {unit}"))
        .filter_map(|(at, _)| {
            let before: Vec<char> = text[..at].chars().rev().collect();
            let mut taken = String::new();
            for (i, c) in before.iter().enumerate() {
                let group = *c == ' '
                    && before[..i].iter().take_while(|d| d.is_ascii_digit()).count() > 0
                    && i % 4 == 3
                    && before.get(i + 1).is_some_and(char::is_ascii_digit);
                match c {
                    '0'..='9' | '.' => taken.insert(0, *c),
                    ' ' if group => {}
                    _ => break,
                }
            }
            taken.parse().ok()
        })
        .collect()
}

#[test]
fn what_a_card_is_good_for_is_said_first_and_answered_when_asked() {
    let scratch = Scratch::new();
    let card = scratch.run(["check", "sim:class4-card", "--seed", "1"]);
    let verdict = card.stdout.split("\n\n").nth(1).expect("a sentence before the numbers").replace("\n  ", " ");
    assert!(verdict.contains("Too slow for an operating system") && verdict.contains("A1 asks for 500"), "{verdict}");
    assert!(
        card.stdout.contains("Bottleneck:") && card.stdout.lines().all(|l| l.chars().count() <= 80),
        "{}",
        card.stdout
    );
    for (target, used, code) in [
        ("sim:class4-card", "root-fs", 1),
        ("sim:nvme", "root-fs", 0),
        ("sim:nvme", "etcd", 0),
        // Too slow for the thousand operations of a p99: a lower percentile is above the limit already.
        ("sim:class4-card", "postgres", 1),
        ("sim:class4-card", "video=V90", 1),
        ("sim:nvme", "record=4x16Mbit", 0),
    ] {
        let document = scratch.json(["check", target, "--json", "--seed", "1", "--for", used], code);
        let fit = &document["fit"][0];
        assert_eq!(fit["for"], used);
        assert_eq!(fit["met"], code == 0, "{fit}");
        assert!(document["verdict"].as_str().unwrap().starts_with(if code == 0 { "Yes" } else { "No" }), "{document}");
    }
    let shown = scratch.run(["runs", "show", "latest"]).stdout;
    assert!(shown.contains("Yes, good for"), "the run says what it was made for: {shown}");
    assert_eq!(scratch.run(["check", "sim:nvme", "--for", "nonsense"]).code, 2);
    assert!(scratch.run(["explain", "for-etcd"]).stdout.contains("10.0 ms"));
}

#[test]
fn each_row_has_what_limits_it() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "sim:class4-card", "--json", "--seed", "1"], 0);
    let limits = document["limits"].as_array().unwrap();
    let of = |phase: &str| limits.iter().find(|l| l["phase"] == phase).unwrap_or_else(|| panic!("{phase}: {limits:?}"));
    let write = of("rand-write-qd1");
    assert_eq!(write["layer"], "device");
    assert!(write["statement"].as_str().unwrap().starts_with("each small write takes"), "{write}");
    assert_eq!(document["limit"]["statement"], write["statement"], "what is missed by most is the headline");
    // 64 % of what the link carries is either's: said so, and no layer is named.
    assert!(of("seq-read")["statement"].as_str().unwrap().starts_with("the device, or the link"), "{limits:?}");
    for phase in ["seq-write", "rand-read-qd1", "rand-read-qd32", "sync-write"] {
        assert_ne!(of(phase)["layer"], "unknown", "{phase}");
    }
}

/// What can only slow a measurement makes a bound of it: good enough is good enough, and slow may be the hypervisor's doing.
#[test]
fn a_machine_that_is_taken_away_still_answers_yes_and_never_no() {
    let scratch = Scratch::new();
    let fast = scratch.json(["check", "sim:nvme,steal=10%", "--for", "A1", "--seed", "1", "--json"], 0);
    let writes = metric(&fast, "rand-write-qd1.iops");
    assert_eq!((&writes["status"], &writes["bound"]), (&"refused".into(), &"at-least".into()), "{writes}");
    assert!(writes["value"].is_null() && writes["rejected_value"].as_f64() > Some(500.0), "{writes}");
    assert_eq!(metric(&fast, "rand-write-qd1.latency_ns_mean")["bound"], "at-most");
    assert_eq!((&fast["fit"][0]["met"], &fast["fit"][0]["bound"]), (&true.into(), &"at-least".into()));
    assert!(fast["verdict"].as_str().unwrap().contains(": at least "), "{}", fast["verdict"]);
    // 33 random writes a second are too few, and a tenth of the processors may be why.
    let slow = scratch.json(["check", "sim:class4-card,steal=10%", "--for", "A1", "--seed", "1", "--json"], 4);
    assert!(
        slow["fit"][0]["met"].is_null() && slow["verdict"].as_str().unwrap().contains("hypervisor"),
        "{}",
        slow["fit"]
    );
    // A whole check says what it is good for; its card has the bounds in brackets.
    let card = scratch.run(["check", "sim:nvme,steal=10%", "--seed", "1"]);
    assert_eq!(card.code, 0, "{}", card.stderr);
    assert!(card.stdout.contains("Good for") && card.stdout.contains("(at least "), "{}", card.stdout);
    // None of it is so without.
    let quiet = scratch.json(["check", "sim:nvme", "--for", "A1", "--seed", "1", "--json"], 0);
    assert!(quiet["metrics"].as_array().unwrap().iter().all(|m| m["bound"].is_null()), "{quiet}");
}

/// In pairs and sets both sides are slowed alike; `--strict` has none of it, and a rank puts no slowed run behind another.
#[test]
fn sets_of_slowed_runs_are_compared_with_a_warning() {
    let scratch = Scratch::new();
    let check = |sim: &str, tag: &str, seed: &str| {
        scratch.json(["run", "latency", sim, "--tag", tag, "--seed", seed, "--set", "time=2s", "--json"], 0);
    };
    for seed in ["1", "2", "3", "4", "5"] {
        check("sim:sata-ssd,steal=10%", "before", seed);
        check("sim:nvme,steal=10%", "after", seed);
    }
    let compared = scratch.json(["compare", "before", "after", "--json"], 0);
    let warned = |m: &&serde_json::Value| m["reasons"].as_array().unwrap().iter().any(|r| r["code"] == "slowed");
    let told: Vec<_> = compared["metrics"].as_array().unwrap().iter().filter(warned).collect();
    assert!(told.iter().any(|m| m["verdict"] == "better"), "{compared}");
    let strict = scratch.json(["compare", "before", "after", "--strict", "--json"], 4);
    assert_eq!(strict["overall"], "invalid", "{strict}");
    let ranked = scratch.json(["rank", "before", "after", "--json"], 0);
    let metrics = ranked["targets"][0]["metrics"].as_array().unwrap();
    assert!(metrics.iter().any(|m| m["bound"] == "at-least" && m["value"].is_number()), "{ranked}");
}

#[test]
fn it_waits_for_a_quiet_machine_and_not_longer_than_it_may() {
    let scratch = Scratch::new();
    let run = |sim: &str| {
        let ended = scratch.run(["check", sim, "--wait-quiet", "4s", "--seed", "1", "--json"]);
        assert!(ended.stderr.contains("waiting for a quiet machine, 4"), "{}", ended.stderr);
        serde_json::from_str::<serde_json::Value>(&ended.stdout).unwrap()["remarks"].to_string()
    };
    assert!(run("sim:nvme,steal=10%").contains("was not quiet within 4 s (the hypervisor took 10 %"));
    assert!(!run("sim:nvme").contains("quiet"));
    assert_eq!(scratch.run(["check", "sim:nvme", "--wait-quiet", "soon"]).code, 2);
}

#[test]
fn what_can_be_simulated_is_listed_with_its_defaults() {
    let scratch = Scratch::new();
    for command in [&["check"][..], &["soak"], &["run", "depth"], &["inspect"], &["record", "-o"]] {
        let ended = scratch.run(command.iter().chain(&["sim:help"]));
        assert_eq!(ended.code, 0, "{command:?}: {}", ended.stderr);
        for said in ["class4-card", "  flush = 0 (", "data-fault", "Time of a flush.", "wait = 100ns"] {
            assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
        }
        assert!(ended.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ended.stdout);
    }
    let document = scratch.json(["check", "sim:help", "--json"], 0);
    assert_eq!(document["schema"], "narrows/simulated/1");
    let parameter = |name: &str| {
        let all = document["parameters"].as_array().unwrap();
        all.iter().find(|p| p["name"] == name).unwrap_or_else(|| panic!("{name}: {document}"))
    };
    assert_eq!(
        (&parameter("capacity")["default"], &parameter("capacity")["devices"]["a1-card"]),
        (&"8GiB".into(), &"32GB".into())
    );
    let ended = scratch.run(["check", "sim:nvme,jitters=1"]);
    assert!(ended.code == 2 && ended.stderr.contains("sim:help"), "{}", ended.stderr);
}

#[test]
fn a_fault_that_did_not_come_is_said() {
    let scratch = Scratch::new();
    let said = |fault: &str| scratch.run(["run", "depth", &format!("sim:nvme,{fault}"), "--set", "time=1s"]).stdout;
    for fault in ["eio-at=999999999999", "eio-start=900GB,eio-length=4KiB", "short-every=999999999999"] {
        assert!(said(fault).contains("never came"), "{fault}: {}", said(fault));
    }
    assert!(!said("eio-at=5").contains("never came"));
}
