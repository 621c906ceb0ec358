//! `narrows copy`: a simulated bus whose truth is known, files in the place of devices, and what is refused.

use crate::program::{Ended, Scratch, wait_until};
use serde::Deserialize;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Copy {
    schema: String,
    run_id: String,
    region: String,
    rows: Vec<Row>,
    costs: Vec<Cost>,
    calls: Option<Calls>,
    findings: Vec<Value>,
    remarks: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    operation: String,
    width_bytes: Option<u32>,
    method: String,
    #[allow(dead_code)]
    set_bytes: Option<u64>,
    copy_bytes: u32,
    bytes_per_s: Option<f64>,
    ratio_to_byte: Option<f64>,
    reasons: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cost {
    operation: String,
    #[allow(dead_code)]
    set_bytes: Option<u64>,
    access_ns: f64,
    burst_bytes_per_s: Option<f64>,
    width_bytes: u32,
    or_wider: bool,
    worst_residual_ratio: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Calls {
    fixed_ns: f64,
    bytes_per_s: f64,
    implied_width_bytes: Option<f64>,
}

fn copy(scratch: &Scratch, region: &str, code: i32) -> Copy {
    let ended = scratch.run(["copy", region, "--json"]);
    assert_eq!(ended.code, code, "{region}: {} {}", ended.stdout, ended.stderr);
    let copy: Copy = serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stdout));
    assert_eq!((copy.schema.as_str(), copy.region.as_str()), ("narrows/copy/1", region));
    copy
}

fn close(found: f64, truth: f64) -> bool {
    (found / truth - 1.0).abs() < 0.02
}

#[test]
fn the_width_and_the_access_time_of_a_simulated_bus_come_out() {
    let scratch = Scratch::new();
    for (width, bytes, wait) in
        [("8", 1, 900.0), ("16", 2, 70.0), ("32", 4, 150.0), ("64", 8, 1000.0), ("128", 16, 40.0)]
    {
        let region = format!("sim:bus,width={width},wait={wait}ns,rate=400MB");
        let seen = copy(&scratch, &region, 0);
        assert_eq!(seen.costs.len(), 2, "reads and writes");
        for cost in &seen.costs {
            assert_eq!((cost.width_bytes, cost.or_wider), (bytes, false), "{region} {}", cost.operation);
            // Over a bus of a byte no width tells the access from its data.
            let truth = if bytes == 1 { wait + 2.5 } else { wait };
            assert!(close(cost.access_ns, truth), "{region}: {} ns", cost.access_ns);
            assert!(cost.worst_residual_ratio < 0.02, "{region}");
            assert!(
                // What is left beside the accesses is known less well than they are; where it is next to nothing, not at all.
                match cost.burst_bytes_per_s {
                    Some(rate) => (rate / 400e6 - 1.0).abs() < 0.05,
                    None => bytes == 1 || 2.5 * f64::from(bytes) < 0.05 * wait,
                },
                "{region}: {:?}",
                cost.burst_bytes_per_s
            );
        }
        let row = |method: &str, width| {
            let of = |r: &&Row| r.operation == "read" && r.method == method && r.width_bytes == width;
            seen.rows.iter().find(of).unwrap_or_else(|| panic!("{region}: no {method} {width:?}"))
        };
        let ratio = (wait + 2.5) / (wait / f64::from(bytes) + 2.5);
        assert!(close(row("plain", Some(bytes)).ratio_to_byte.unwrap(), ratio), "{region}");
        assert!(close(row("plain", Some(1)).bytes_per_s.unwrap(), 1e9 / (wait + 2.5)), "{region}");
    }
}

#[test]
fn a_kernel_that_copies_bytes_is_found_and_one_that_copies_words_is_not() {
    let scratch = Scratch::new();
    let narrow = copy(&scratch, "sim:bus,width=32,wait=150ns,kernel=8,call=2us", 0);
    let calls = narrow.calls.unwrap();
    assert!(
        close(calls.implied_width_bytes.unwrap(), 1.0) && (calls.fixed_ns / 2000.0 - 1.0).abs() < 0.1,
        "{:?}",
        calls.fixed_ns
    );
    assert!(close(calls.bytes_per_s, 1e9 / 150.0));
    assert_eq!(narrow.findings.len(), 1, "{:?}", narrow.findings);
    assert_eq!(narrow.findings[0]["id"], "kernel-copies-narrowly");
    let why: Value = serde_json::from_str(&scratch.run(["why", &narrow.run_id, "--json"]).stdout).unwrap();
    assert_eq!(why["findings"][0]["id"], "kernel-copies-narrowly", "{why}");
    assert!(close(why["findings"][0]["gain"]["at_most_ratio"].as_f64().unwrap(), 4.0), "{why}");
    let limit = &why["limit"];
    assert_eq!((&limit["layer"], &limit["confidence"]), (&"driver".into(), &"probable".into()), "{limit}");
    let said = "the kernel's own copy by 1 byte at a time: 6.67 MB/s; accesses as wide as the bus bring 26.7 MB/s";
    assert_eq!(limit["statement"], said);
    assert_eq!(why["unknown"].as_array().map(Vec::len), Some(0), "{why}");
    let wide = copy(&scratch, "sim:bus,width=32,wait=150ns,kernel=32,call=2us", 0);
    let why: Value = serde_json::from_str(&scratch.run(["why", &wide.run_id, "--json"]).stdout).unwrap();
    let said = "the bus: an access takes 150 ns, and is 32 bit wide: 26.7 MB/s at best";
    assert_eq!((&why["limit"]["layer"], &why["limit"]["statement"]), (&"link".into(), &said.into()), "{why}");
    assert!(wide.findings.is_empty(), "{:?}", wide.findings);
    let text = scratch.run(["copy", "sim:bus,width=32,wait=150ns,kernel=8"]).stdout;
    // Where a line breaks is not what is asked.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["a bus of 32 bit", "An access takes 150 ns", "copies by 1", "kernel-copies-narrowly"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn two_runs_of_a_bus_are_compared_and_ranked_by_their_widths() {
    let scratch = Scratch::new();
    for (tag, kernel) in [("before", "8"), ("after", "32")] {
        let region = format!("sim:bus,width=32,wait=150ns,kernel={kernel}");
        assert_eq!(scratch.run(["copy", region.as_str(), "--tag", tag]).code, 0);
    }
    let compared: Value = serde_json::from_str(&scratch.run(["compare", "before", "after", "--json"]).stdout).unwrap();
    let metrics = compared["metrics"].as_array().unwrap();
    let of = |id: &str| metrics.iter().find(|m| m["id"] == id).unwrap_or_else(|| panic!("no {id}: {compared}"));
    let ratio = of("read-call-64k.throughput_bytes_per_s")["ratio"].as_f64().unwrap();
    assert!((3.9..4.1).contains(&ratio), "{ratio}");
    assert!(close(of("read-4.throughput_bytes_per_s")["ratio"].as_f64().unwrap(), 1.0));
    let ranked = scratch.run(["rank", "before", "after", "--metric", "read-call-64k.throughput_bytes_per_s", "--json"]);
    assert_eq!(ranked.code, 0, "{}", ranked.stderr);
}

#[test]
fn a_file_is_mapped_and_read_and_never_written() {
    let scratch = Scratch::new();
    let file = scratch.path().join("region");
    std::fs::write(&file, vec![7; 64 << 10]).unwrap();
    let name = file.to_str().unwrap();
    let ended = scratch.run(["copy", name, "--time", "20ms", "--json"]);
    let seen: Copy =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {} {}", ended.stdout, ended.stderr));
    let plain =
        seen.rows.iter().find(|r| r.method == "plain" && r.width_bytes == Some(4) && r.operation == "read").unwrap();
    assert!(plain.bytes_per_s.is_some() && plain.copy_bytes == 4096, "{:?}", plain.reasons);
    let writes = seen.rows.iter().filter(|r| r.operation == "write");
    assert!(writes.clone().count() > 5 && writes.clone().all(|r| r.bytes_per_s.is_none() && !r.reasons.is_empty()));
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 64 << 10]);
    assert_eq!(scratch.run(["copy", name, "--allow-writes"]).code, 2);
}

#[test]
fn a_region_that_does_not_answer_says_where() {
    let scratch = Scratch::new();
    let seen = copy(&scratch, "sim:bus,width=32,wait=100ns,size=64KiB,fault=32KiB", 4);
    let reasons: Vec<&String> = seen.rows.iter().flat_map(|r| &r.reasons).collect();
    assert!(reasons.iter().any(|r| r.contains("SIGBUS") && r.contains("0x8000")), "{reasons:?}");
}

#[test]
fn what_is_no_region_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.path().join("region");
    std::fs::write(&file, vec![7; 10_001]).unwrap();
    let name = file.to_str().unwrap().to_owned();
    let empty = scratch.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    let cases = [
        (format!("{name}@3+4096"), 2, "multiple"),
        (format!("{name}@0+0"), 2, "0 bytes"),
        (format!("{name}@0+10002"), 2, "do not lie within its 10001 bytes"),
        (format!("{name}@0+9223372036854775808"), 2, "too large"),
        (format!("{name}@9223372036854775808"), 2, "too large"),
        (format!("{name}@18446744073709551615+18446744073709551615"), 2, "too large"),
        (format!("{name}@4096+x"), 2, "not an offset or length"),
        (format!("{name}-missing"), 2, "no such file"),
        (empty.display().to_string(), 2, "do not lie within"),
        (scratch.path().display().to_string(), 2, "neither a file nor a character device"),
        ("sim:nvme".to_owned(), 2, "only sim:bus"),
        ("sim:bus,width=24".to_owned(), 2, "24"),
        ("sim:bus,wait=0ns".to_owned(), 2, "wait"),
        ("/dev/mem@0x0+4096".to_owned(), 3, "read-registers"),
    ];
    for (region, code, says) in cases {
        if region.starts_with("/dev/mem") && !std::path::Path::new("/dev/mem").exists() {
            println!("SKIPPED: there is no /dev/mem here");
            continue;
        }
        let ended = scratch.run(["copy", region.as_str()]);
        assert_eq!(ended.code, code, "{region}: {} {}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(says), "{region}: {}", ended.stderr);
    }
}

/// A region that ends within a word: its last whole pieces are copied, and nothing beyond.
#[test]
fn a_region_that_ends_mid_word_is_copied_as_far_as_it_goes() {
    let scratch = Scratch::new();
    let file = scratch.path().join("odd");
    std::fs::write(&file, vec![1; 4099]).unwrap();
    let ended = scratch.run(["copy", file.to_str().unwrap(), "--time", "20ms", "--json"]);
    let seen: Copy =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {} {}", ended.stdout, ended.stderr));
    assert!(seen.rows.iter().any(|r| r.method == "plain" && r.width_bytes == Some(8) && r.bytes_per_s.is_some()));
}

/// What is not there any more when it is read: the kernel says so by SIGBUS, and the row says where.
#[test]
fn a_mapping_that_faults_says_where() {
    let scratch = Scratch::new();
    let path = scratch.path().join("shrinks");
    std::fs::write(&path, vec![1; 64 << 10]).unwrap();
    let mut command = scratch.command(["copy", path.to_str().unwrap(), "--time", "100ms", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let maps = format!("/proc/{}/maps", child.id());
    let is_mapped = || std::fs::read_to_string(&maps).is_ok_and(|text| text.contains("/shrinks"));
    wait_until("the region is mapped", is_mapped);
    std::fs::File::options().write(true).open(&path).unwrap().set_len(8 << 10).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 4, "{} {}", ended.stdout, ended.stderr);
    let seen: Copy = serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stdout));
    let says = |row: &Row| row.reasons.iter().any(|r| r.contains("SIGBUS in the page at offset 0x"));
    assert!(seen.rows.iter().any(|row| row.bytes_per_s.is_none() && says(row)), "{}", ended.stdout);
}

/// A device that calls read, and the same memory where it can be mapped: accesses there, calls here.
#[test]
fn a_device_and_its_mapping_are_measured_together() {
    let scratch = Scratch::new();
    let file = scratch.path().join("memory");
    std::fs::write(&file, vec![1; 128 << 10]).unwrap();
    let file = file.to_str().unwrap();
    let ended = scratch.run(["copy", "/dev/zero", "--mapped", file, "--time", "20ms", "--json"]);
    let seen: Copy =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {} {}", ended.stdout, ended.stderr));
    assert_eq!(seen.region, "/dev/zero");
    let has_rate = |method: &str| seen.rows.iter().any(|r| r.method == method && r.bytes_per_s.is_some());
    assert!(has_rate("plain") && has_rate("call"), "{}", ended.stdout);
    assert!(seen.remarks.iter().any(|r| r.contains(file) && r.contains("/dev/zero")), "{:?}", seen.remarks);
    for (args, says) in [
        (["copy", file, "--mapped", file], "is for a device that calls read"),
        (["copy", "/dev/zero", "--mapped", "/dev/zero"], "cannot be mapped"),
        (["copy", "/dev/zero", "--mapped", "/dev/uio4096"], "no such file"),
    ] {
        let ended = scratch.run(args);
        assert!(ended.code == 2 && ended.stderr.contains(says), "{args:?}: {} {}", ended.code, ended.stderr);
    }
    let ended = scratch.run(["copy", "/dev/zero", "--mapped", file, "--allow-writes"]);
    assert!(ended.code == 2 && ended.stderr.contains("--mapped is for reads"), "{}", ended.stderr);
}

#[test]
fn what_this_user_may_not_read_is_said() {
    let scratch = Scratch::new();
    if rustix::process::geteuid().is_root() {
        println!("SKIPPED: root may read everything");
        return;
    }
    let file = scratch.path().join("secret");
    std::fs::write(&file, vec![1; 8 << 10]).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    let ended = scratch.run(["copy", file.to_str().unwrap()]);
    assert!(ended.code == 3 && ended.stderr.contains("EACCES"), "{} {}", ended.code, ended.stderr);
    assert!(ended.stderr.contains("run it as root"), "{}", ended.stderr);
}

#[test]
fn a_region_that_is_smaller_than_a_piece_is_said_to_be() {
    let scratch = Scratch::new();
    let file = scratch.path().join("small");
    std::fs::write(&file, vec![1; 101]).unwrap();
    let ended = scratch.run(["copy", file.to_str().unwrap(), "--time", "20ms"]);
    assert_eq!(ended.code, 3, "{} {}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("of a region of 101 bytes"), "{}", ended.stderr);
}
