//! Several processes that measure together.

use crate::program::{Ended, Scratch};
use serde_json::Value;
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const TOKEN: &str = "a-token-of-tests";

/// A port that is free now.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port()
}

/// A rank of a group, begun; `more` is said beside the workload and the target.
fn rank(scratch: &Scratch, place: &str, port: u16, command: &[&str], more: &[&str]) -> Child {
    let meet = format!("127.0.0.1:{port}");
    let group = ["--group", "--rank", place, "--meet", &meet, "--json"];
    let mut command = scratch.command(command.iter().chain(&group).chain(more));
    command.env("NARROWS_GROUP_TOKEN", TOKEN).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

fn ended(child: Child) -> Ended {
    Ended::of(child.wait_with_output().expect("it ends"))
}

fn document(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", ended.stdout, ended.stderr))
}

fn metric<'a>(document: &'a Value, id: &str) -> &'a Value {
    let all =
        document["phases"].as_array().expect("phases").iter().flat_map(|p| p["metrics"].as_array().expect("metrics"));
    all.into_iter().find(|m| m["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

const MIX: [&str; 3] = ["run", "latency", "sim:a1-card"];

#[test]
fn the_sum_of_three_simulated_ranks_is_that_of_each_of_them() {
    let (scratch, port) = (Scratch::new(), port());
    let ranks = ["2/3", "1/3", "0/3"].map(|place| rank(&scratch, place, port, &MIX, &["--seed", "1"]));
    let documents = ranks.map(|child| {
        let ended = ended(child);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        document(&ended)
    });
    let [two, one, zero] = &documents;
    let own: f64 = documents.iter().map(|d| metric(d, "read.iops")["value"].as_f64().expect("a value")).sum();
    let sum = metric(zero, "read.group.iops")["value"].as_f64().expect("a sum");
    assert!((sum / own - 1.0).abs() < 0.03, "{sum} of {own}");
    let group = &zero["group"];
    assert_eq!((&group["rank"], &group["size"], &group["ended"]), (&0.into(), &3.into(), &Value::Null));
    let phase = group["phases"].as_array().expect("phases").iter().find(|p| p["name"] == "read").expect("read");
    assert_eq!(phase["shares"].as_array().map(Vec::len), Some(3));
    assert!(phase["overlap_percent"].as_f64() > Some(95.0), "{phase}");
    for (document, number) in [(one, 1), (two, 2)] {
        assert_eq!((&document["group"]["rank"], &document["group"]["id"]), (&number.into(), &group["id"]));
        assert!(!document.to_string().contains("read.group.iops"), "the sums are those of rank 0");
    }
    // Data and places are of each rank's own.
    assert_ne!(zero["plan"]["seed"], one["plan"]["seed"]);
    // All are kept, and shown again.
    let shown = scratch.run(["runs", "show", zero["run_id"].as_str().expect("an id")]);
    assert!(shown.stdout.contains("All ranks together"), "{}", shown.stdout);
    assert!(shown.stdout.contains("rank 0 of 3, group "), "{}", shown.stdout);
}

/// Runs a workload as a group in a directory; the documents by rank. Whether its numbers are valid is up to the machine.
fn in_a_directory<const N: usize>(scratch: &Scratch, workload: &[&str], more: &[&str]) -> [Value; N] {
    let (target, port) = (scratch.target(), port());
    let command = [&["run"], workload, &[target.to_str().expect("a path")]].concat();
    let places = std::array::from_fn(|rank| format!("{rank}/{N}"));
    let ranks: [Child; N] = places.map(|place| rank(scratch, &place, port, &command, more));
    let documents = ranks.map(|child| {
        let ended = ended(child);
        assert!(matches!(ended.code, 0 | 4), "{}", ended.stderr);
        document(&ended)
    });
    let left: Vec<_> = std::fs::read_dir(&target).expect("the target").collect();
    assert!(left.is_empty(), "something is left in the target: {left:?}");
    documents
}

#[test]
fn ranks_share_one_file_each_in_its_own_region_and_find_their_own_data_there() {
    let scratch = Scratch::new();
    let text = scratch.path().join("shared.toml");
    let written = std::fs::write(
        &text,
        "name = \"shared\"\ntitle = \"t\"\nanswers = \"a\"\n[defaults]\nblock-size = \"64KiB\"\nregion = \"3MiB\"\nverify = \"crc32c\"\n\
         access = \"buffered\"\n[[phase]]\nname = \"w\"\noperation = \"write\"\nfsync-at-end = true\n\
         [[phase]]\nname = \"r\"\noperation = \"read\"\namount = \"100%\"\n",
    );
    written.expect("a text");
    let documents = in_a_directory::<3>(&scratch, &[text.to_str().expect("a path")], &["--shared-file"]);
    for (document, rank) in documents.iter().zip(0u64..) {
        for phase in document["plan"]["phases"].as_array().expect("phases") {
            assert_eq!(phase["streams"][0]["region_start_bytes"], rank * (3 << 20), "{phase}");
        }
        for phase in document["phases"].as_array().expect("phases") {
            let verify = &phase["verify"];
            assert_eq!((&verify["mismatches"], &verify["bytes_verified"]), (&serde_json::json!({}), &(3 << 20).into()));
        }
    }
    assert!(metric(&documents[0], "r.group.throughput_bytes_per_s")["unit"].is_string());
}

#[test]
fn ranks_that_would_overwrite_one_file_are_named_and_what_they_read_together_is_said() {
    let scratch = Scratch::new();
    let file = scratch.path().join("one");
    let before = vec![7u8; 8 << 20];
    std::fs::write(&file, &before).expect("a file");
    let all = |operation: &str, more: &[&str]| {
        let text = scratch.path().join("one.toml");
        let written = std::fs::write(
            &text,
            format!(
                "name = \"one\"\ntitle = \"t\"\nanswers = \"a\"\n[[phase]]\nname = \"p\"\noperation = \"{operation}\"\n\
                 block-size = \"64KiB\"\nregion = \"4MiB\"\naccess = \"buffered\"\namount = \"100%\"\n"
            ),
        );
        written.expect("a text");
        let command = ["run", text.to_str().expect("a path"), file.to_str().expect("a path")];
        let port = port();
        ["1/3", "2/3", "0/3"].map(|place| rank(&scratch, place, port, &command, more)).map(ended)
    };
    let [one, _, zero] = all("write", &["--overwrite"]);
    assert_eq!((zero.code, one.code), (3, 3), "{}{}", zero.stderr, one.stderr);
    assert!(zero.stdout.contains("ranks 0, 1 and 2 would overwrite one file or device"), "{}", zero.stdout);
    assert_eq!(std::fs::read(&file).expect("the file"), before, "nothing was written");
    for read in all("read", &[]) {
        assert!(matches!(read.code, 0 | 4), "{}{}", read.stdout, read.stderr);
        let said = document(&read)["remarks"].to_string();
        assert!(said.contains("read one file or device: what one has read, a cache"), "{said}");
    }
}

#[test]
fn the_hard_patterns_of_io500_are_of_all_ranks_in_one_file_and_one_directory() {
    let scratch = Scratch::new();
    let documents = in_a_directory::<2>(&scratch, &["ior-hard"], &["--set", "region=2MiB", "--set", "jobs=2"]);
    for (document, rank) in documents.iter().zip(0u64..) {
        for stream in
            document["plan"]["phases"].as_array().expect("phases").iter().flat_map(|p| p["streams"].as_array())
        {
            assert_eq!(stream[1]["order"]["strided"]["stride_bytes"], 4 * 47_008, "{stream:?}");
            assert_eq!(stream[1]["region_start_bytes"], (2 * rank + 1) * 47_008);
        }
        let read = document["phases"].as_array().expect("phases").iter().find(|p| p["name"] == "ior-hard-read");
        assert_eq!(read.expect("it read")["errors"], serde_json::json!({}));
    }
    let documents =
        in_a_directory::<2>(&scratch, &["mdtest-hard"], &["--set", "file-count=100", "--set", "cold=false"]);
    for phase in documents.iter().flat_map(|d| d["phases"].as_array().expect("phases")) {
        assert_eq!(phase["errors"], serde_json::json!({}), "{phase}");
    }
}

#[test]
fn a_file_is_shared_in_a_directory_alone() {
    let (scratch, port) = (Scratch::new(), port());
    for ended in ["0/2", "1/2"].map(|place| rank(&scratch, place, port, &MIX, &["--shared-file"])).map(ended) {
        let said = document(&ended);
        let message = said["message"].as_str().unwrap_or_default();
        assert!(message.contains("only in a directory can the ranks of a group share a file"), "{said}");
    }
    assert_eq!(scratch.run(MIX.iter().chain(&["--shared-file"])).code, 2, "--shared-file is of a group");
}

#[test]
fn ranks_of_different_commands_end_at_the_meeting() {
    let (scratch, port) = (Scratch::new(), port());
    let other = ["run", "depth", "sim:a1-card"];
    for ended in [rank(&scratch, "0/2", port, &MIX, &[]), rank(&scratch, "1/2", port, &other, &[])].map(ended) {
        let said = document(&ended);
        assert!(said["message"].as_str().is_some_and(|m| m.contains("was asked something else")), "{said}");
        assert_eq!(ended.code, 3, "nothing was measured: {said}");
        // Rank 0 is no guest of its own group.
        assert!(!said.to_string().contains("does not take rank 0"), "{said}");
    }
}

#[test]
fn a_rank_that_cannot_open_its_target_ends_the_others_with_its_reason() {
    let (scratch, port) = (Scratch::new(), port());
    let lost = ["run", "mix", "/no/such/place"];
    let target = scratch.target();
    let there = ["run", "mix", target.to_str().expect("a path")];
    let began = Instant::now();
    let (zero, one) = (rank(&scratch, "0/2", port, &there, &[]), rank(&scratch, "1/2", port, &lost, &[]));
    let said = document(&ended(zero));
    assert!(said["message"].as_str().is_some_and(|m| m.contains("rank 1 (") && m.contains("/no/such/place")), "{said}");
    assert_eq!(ended(one).code, 3);
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_is_missing_for_a_group_is_said_with_what_to_do() {
    let scratch = Scratch::new();
    let cases: [(&[&str], &str, &str); 8] = [
        (&["--group"], "no launcher says which rank this is", "--rank 2/8"),
        (&["--group", "--rank", "0/2"], "does not say where rank 0 runs", "--meet HOST:PORT"),
        (&["--group", "--rank", "2/2", "--meet", "h:1"], "counted from 0 on", ""),
        (&["--group", "--rank", "0/2", "--meet", "h"], "is not HOST:PORT", ""),
        (
            &["--group", "--rank", "0/2", "--meet", "h:1"],
            "without a token anybody could take part",
            "NARROWS_GROUP_TOKEN=",
        ),
        (&["--group", "--rank", "0/2", "--meet", "h:1", "--token", "short"], "8 to 256 characters", ""),
        (&["--group", "--repeat", "3"], "several runs", ""),
        (
            &["--group", "--rank", "0/2", "--meet", "h:1", "--token", "a-token-of-tests", "--meet-timeout", "0s"],
            "in no time nobody comes",
            "--meet-timeout 60s",
        ),
    ];
    for (args, message, remedy) in cases {
        let said = scratch.run(MIX.iter().chain(args));
        assert_eq!(said.code, 2, "{args:?}: {}", said.stderr);
        assert!(said.stderr.contains(message) && said.stderr.contains(remedy), "{args:?}: {}", said.stderr);
    }
    assert_eq!(scratch.run(MIX.iter().chain(&["--meet", "h:1"])).code, 2, "--meet is of a group");
}

#[test]
fn one_that_never_comes_is_named_and_an_interrupted_one_does_not_wait() {
    let scratch = Scratch::new();
    let alone = ended(rank(&scratch, "0/3", port(), &MIX, &["--meet-timeout", "1s"]));
    let said = document(&alone);
    assert_eq!(alone.code, 3, "nothing was measured: {said}");
    assert!(said["message"].as_str().is_some_and(|m| m.contains("ranks 1 and 2 never came")), "{said}");
    let nobody = ended(rank(&scratch, "1/3", port(), &MIX, &["--meet-timeout", "1s"]));
    assert_eq!(nobody.code, 3, "{}", nobody.stdout);
    assert!(nobody.stdout.contains("rank 0 was not met"), "{}", nobody.stdout);
}

#[test]
fn a_rate_by_one_two_and_three_ranks_is_one_experiment() {
    let (scratch, port) = (Scratch::new(), port());
    let ranks = ["0/3", "1/3", "2/3"].map(|place| rank(&scratch, place, port, &MIX, &["--seed", "1", "--scale"]));
    let [zero, one, two] = ranks.map(|child| {
        let ended = ended(child);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        document(&ended)
    });
    let curve = &zero["scale"].as_array().expect("curves")[0];
    let points = curve["points"].as_array().expect("points");
    let numbers: Vec<u64> = points.iter().filter_map(|p| p["ranks"].as_u64()).collect();
    assert_eq!((numbers, &curve["phase"]), (vec![1, 2, 3], &"read".into()));
    // Each has a simulated device of its own.
    let value = |point: usize| points[point]["value"].as_f64().expect("a sum");
    assert!((value(2) / value(0) - 3.0).abs() < 0.1, "{points:?}");
    assert_eq!(curve["knee"]["not-reached"]["ranks"], 3);
    assert!(zero["answer"].as_str().is_some_and(|a| a.contains("3 ranks are not enough to find the limit")), "{zero}");
    for (document, waits) in [(&one, vec!["read-by-1"]), (&two, vec!["read-by-1", "read-by-2"])] {
        let phases = document["phases"].as_array().expect("phases").iter();
        let left: Vec<&str> = phases
            .filter(|p| p["status"] == "skipped")
            .filter_map(|p| p["name"].as_str())
            .filter(|n| n.starts_with("read"))
            .collect();
        assert_eq!(left, waits);
        assert!(document["scale"].is_null());
    }
    let shown = scratch.run(["runs", "show", zero["run_id"].as_str().expect("an id"), "--markdown"]);
    assert!(shown.stdout.contains("read by ranks"), "{}{}", shown.stdout, shown.stderr);
    let page = format!("reports/{}.html", zero["run_id"].as_str().expect("an id"));
    let page = std::fs::read_to_string(scratch.archive().join(page)).expect("the page");
    assert!(page.contains("Rate of read by ranks") && page.contains("All ranks together"), "the page has no group");
    // What has a budget, and what is no group.
    let alone =
        scratch.run(MIX.iter().chain(&["--group", "--rank", "0/1", "--meet", "h:1", "--token", TOKEN, "--scale"]));
    assert!(alone.code == 2 && alone.stderr.contains("one rank alone shows nothing"), "{}", alone.stderr);
    let check = ["check", "sim:a1-card", "--group", "--rank", "0/2", "--meet", "h:1", "--token", TOKEN, "--scale"];
    assert!(scratch.run(check).stderr.contains("--scale is for workloads, and this is a check"));
}

#[test]
fn a_soak_of_several_ranks_has_one_answer() {
    let (scratch, port) = (Scratch::new(), port());
    let target = scratch.target();
    let soak = ["soak", target.to_str().expect("a path"), "--size", "2MiB"];
    let [zero, one] = ["0/2", "1/2"].map(|place| rank(&scratch, place, port, &soak, &[])).map(|child| {
        let ended = ended(child);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        document(&ended)
    });
    assert_eq!(zero["answer"], "All 2 ranks: nothing was wrong.");
    assert_eq!((zero["group"]["ranks"].as_array().map(Vec::len), &one["group"]["rank"]), (Some(2), &1.into()));
    assert!(one["answer"].as_str().is_some_and(|a| a.starts_with("Nothing was wrong")), "{one}");
    let several = ["soak", "sim:a1-card", "sim:nvme", "--group", "--rank", "0/2", "--meet", "h:1", "--token", TOKEN];
    assert!(scratch.run(several).stderr.contains("a soak of several targets"));
}

#[test]
fn recorders_that_write_at_one_time_have_one_answer() {
    let (scratch, port) = (Scratch::new(), port());
    let plan = ["record", "plan", "sim:nvme", "--for", "3s", "--streams", "2x1Mbit"];
    let documents =
        ["0/2", "1/2"].map(|place| rank(&scratch, place, port, &plan, &[])).map(|child| document(&ended(child)));
    let group = &documents[0]["group"];
    assert_eq!(
        (group["ranks"].as_array().map(Vec::len), &group["ranks"][1]["met"]),
        (Some(2), &true.into()),
        "{group}"
    );
    assert!(group["overlap_percent"].is_number() && documents[1]["group"]["overlap_percent"].is_null(), "{group}");
}

#[test]
fn a_checkpoint_is_so_many_bytes_within_a_time() {
    let scratch = Scratch::new();
    let met = |amount: &str, more: &[&str], code: i32| {
        let used = format!("checkpoint={amount}");
        let document =
            scratch.json(["check", "sim:nvme", "--for", &used, "--seed", "1", "--json"].iter().chain(more), code);
        let fit =
            document["fit"].as_array().expect("uses").iter().find(|f| f["for"] == used.as_str()).expect("it").clone();
        (fit["met"].as_bool(), fit["reasons"].to_string())
    };
    assert_eq!(met("1GB/10s", &[], 0).0, Some(true));
    assert_eq!(met("5TB/10s", &[], 1).0, Some(false));
    let (unknown, why) = met("10GB/60s", &["--max-write", "2GB"], 4);
    assert!(unknown.is_none() && why.contains("too-little-written"), "{why}");
    let said = scratch.run(["check", "sim:nvme", "--for", "checkpoint=1GB"]);
    assert!(said.code == 2 && said.stderr.contains("checkpoint=20GB/60s is 20 GB"), "{}", said.stderr);
    // Of two ranks each has its part, and rank 0 the answer of both.
    let port = port();
    let check = ["check", "sim:nvme", "--for", "checkpoint=1GB/10s", "--seed", "1"];
    let [zero, one] =
        ["0/2", "1/2"].map(|place| rank(&scratch, place, port, &check, &[])).map(|child| document(&ended(child)));
    let title = |d: &Value| d["fit"][0]["title"].as_str().unwrap_or_default().to_owned();
    assert_eq!((title(&zero), &zero["fit"][0]["met"]), ("a checkpoint of 1GB in 10s by 2 ranks".into(), &true.into()));
    assert!(title(&one).ends_with("of 2 ranks: the part of rank 1"), "{}", title(&one));
}
