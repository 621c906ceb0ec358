//! What an import takes is bounded by what it is given: memory while it works, and the archive afterwards.

use crate::program::{BINARY, Ended, Scratch};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Beside four times its input: the program itself, which takes some 6 MB, and the figures that are kept of the smallest
/// input, as a run, as its document and as the text that is printed.
const PROGRAM_BYTES: usize = 32 << 20;
/// In the archive, beside four times its input: what a bundle takes without a figure in it.
const BUNDLE_BYTES: u64 = 32 << 10;
/// What the archive may take in any case: the figures that are kept however small the input is.
const MIN_ARCHIVE_BYTES: u64 = 4 << 20;

/// The same numbers each time, of no meaning.
fn figure(n: usize) -> f64 {
    (n.wrapping_mul(2_654_435_761) % 100_000) as f64 / 100.0
}

fn iostat_text(reports: usize, disks: usize) -> String {
    let columns =
        ["r/s", "rkB/s", "rrqm/s", "r_await", "rareq-sz", "w/s", "wkB/s", "w_await", "wareq-sz", "aqu-sz", "%util"];
    let mut text = String::from("Linux 6.1.0 (host) \t11/21/2026 \t_x86_64_\t(8 CPU)\n\n");
    for report in 0..reports {
        write!(
            text,
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n  1.00 0.00 2.00 3.00 0.00 94.00\n\nDevice"
        )
        .unwrap();
        columns.iter().for_each(|c| write!(text, " {c:>8}").unwrap());
        for disk in 0..disks {
            write!(text, "\nsd{}   ", char::from(b'a' + disk as u8)).unwrap();
            (0..columns.len()).for_each(|c| write!(text, " {:>8.2}", figure(report * 50 + disk * 20 + c)).unwrap());
        }
        text.push_str("\n\n");
    }
    text
}

fn iostat_json(reports: usize) -> String {
    let mut text = String::from("{\"sysstat\": {\"hosts\": [{\"nodename\": \"h\", \"statistics\": [\n");
    for report in 0..reports {
        let comma = if report > 0 { "," } else { "" };
        writeln!(text, "{comma}{{\"avg-cpu\": {{\"user\": 1.0, \"idle\": 99.0}}, \"disk\": [").unwrap();
        write!(
            text,
            "{{\"disk_device\": \"sda\", \"r/s\": {0}, \"w/s\": {0}, \"r_await\": 1.5, \"util\": 7.0}}",
            figure(report)
        )
        .unwrap();
        text.push_str("]}\n");
    }
    text + "]}]}}\n"
}

fn watch_csv(lines: usize) -> String {
    let mut text = String::from(
        "time,since_boot,interval_s,cpu_user_percent,dirty_bytes,layer,kind,reads_per_s,writes_per_s,read_await_ns,queue\n",
    );
    for n in 0..lines {
        let at = format!("2026-11-21T{:02}:{:02}:{:02}.730Z", n / 3600 % 24, n / 60 % 60, n % 60);
        writeln!(text, "{at},,1,42.87,4096,vda,disk,{},{},1200.5,0.5", figure(n), figure(n + 7)).unwrap();
    }
    text
}

fn dool_csv(lines: usize) -> String {
    let mut text = String::from(
        "\"dool 1.3.8 CSV output\"\n\"Host:\",\"h\"\n\"total usage\",,\"dsk/total\",\n\"usr\",\"sys\",\"read\",\"writ\"\n",
    );
    (0..lines)
        .for_each(|n| writeln!(text, "{},{},{},{}", figure(n), figure(n + 1), figure(n + 2), figure(n + 3)).unwrap());
    text
}

fn table(rows: usize, columns: usize) -> String {
    let mut text = String::from("name");
    (0..columns).for_each(|c| write!(text, ",c{c}").unwrap());
    for row in 0..rows {
        write!(text, "\nn{row}").unwrap();
        (0..columns).for_each(|c| write!(text, ",{}", (row * 31 + c * 7) % 100).unwrap());
    }
    text + "\n"
}

fn fio_json(jobs: usize) -> String {
    let latency =
        |key: &str| format!("\"{key}\":{{\"min\":1000,\"max\":90000,\"mean\":2000.5,\"stddev\":10.5,\"N\":1000");
    let mut text = String::from("{\"fio version\":\"fio-3.33\",\"timestamp\":1700000000,\"jobs\":[\n");
    for job in 0..jobs {
        let comma = if job > 0 { "," } else { "" };
        let percentiles = "\"50.000000\":1500,\"99.000000\":8000,\"99.900000\":80000";
        let bins: Vec<String> = (0..200).map(|b| format!("\"{}\":{b}", b * 64)).collect();
        writeln!(
            text,
            "{comma}{{\"jobname\":\"j{job}\",\"error\":0,\"read\":{{\"bw_bytes\":4096000,\"iops\":1000.5,\"runtime\":1000,\
             \"total_ios\":1000,{}}},{},\"percentile\":{{{percentiles}}},\"bins\":{{{}}}}},{}}}}},\"usr_cpu\":1.5,\"sys_cpu\":2.5}}",
            latency("slat_ns"),
            latency("clat_ns"),
            bins.join(","),
            latency("lat_ns"),
        )
        .unwrap();
    }
    text + "]}\n"
}

/// Bytes of all files below a directory; a file with several names counts once.
fn size_of(directory: &Path, known: &mut std::collections::BTreeSet<u64>) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = fs::read_dir(directory).unwrap().map(|e| e.unwrap());
    entries
        .map(|entry| match entry.metadata().unwrap() {
            m if m.is_dir() => size_of(&entry.path(), known),
            m => {
                if known.insert(m.ino()) {
                    m.len()
                } else {
                    0
                }
            }
        })
        .sum()
}

/// Imports a text with so much memory and no more (RLIMIT_DATA: what is not mapped from files), and looks at what it left.
#[track_caller]
fn assert_bounded(name: &str, text: &str) -> Scratch {
    let scratch = Scratch::new();
    fs::write(scratch.path().join(name), text).unwrap();
    let limit_kib = (4 * text.len() + PROGRAM_BYTES).min(256_000_000) >> 10;
    let ended = scratch
        .around("sh")
        .args(["-c", &format!("ulimit -d {limit_kib} && exec \"$0\" import \"$1\" --json > out"), BINARY, name])
        .output()
        .unwrap();
    let ended = Ended::of(ended);
    assert_eq!(ended.code, 0, "{name}, {limit_kib} KiB: {}", ended.stderr);
    let runs = fs::read_dir(scratch.archive().join("runs")).unwrap().count() as u64;
    let kept = size_of(&scratch.archive(), &mut Default::default());
    let most = (4 * text.len() as u64 + runs * BUNDLE_BYTES).max(MIN_ARCHIVE_BYTES);
    assert!(kept <= most, "{name}: {} bytes in, {kept} in the archive, {runs} runs", text.len());
    // Our own reader takes what was kept.
    assert_eq!(scratch.run(["runs", "verify"]).code, 0);
    assert_eq!(scratch.run(["runs", "show", "latest", "--json"]).code, 0, "{name}");
    scratch
}

/// The remarks of the last run.
fn remarks(scratch: &Scratch) -> String {
    let id = fs::read_dir(scratch.archive().join("runs")).unwrap().next().unwrap().unwrap().path();
    let run: serde_json::Value = serde_json::from_slice(&fs::read(id.join("run.json")).unwrap()).unwrap();
    // Of the jobs of fio, which are phases, no more are read.
    assert!(run["phases"].as_array().unwrap().len() <= 2048);
    run["remarks"].to_string()
}

#[test]
fn what_watched_a_machine_for_hours_is_kept_as_means() {
    for (name, text) in [
        ("iostat.txt", iostat_text(4500, 4)),
        ("iostat.json", iostat_json(12_000)),
        ("watch.csv", watch_csv(16_000)),
        ("dool.csv", dool_csv(50_000)),
    ] {
        let scratch = assert_bounded(name, &text);
        let remarks = remarks(&scratch);
        assert!(remarks.contains("that follow one another are one here"), "{name}: {remarks}");
        assert!(remarks.contains("raw/ has them all"), "{name}");
    }
}

#[test]
fn what_watched_a_machine_for_minutes_is_kept_as_it_was() {
    let scratch = assert_bounded("iostat.txt", &iostat_text(300, 1));
    assert!(!remarks(&scratch).contains("one here"));
}

#[test]
fn a_table_of_very_many_cells_is_thinned() {
    let text = table(700, 1000);
    let scratch = assert_bounded("cells.csv", &text);
    let document: serde_json::Value = serde_json::from_slice(&fs::read(scratch.path().join("out")).unwrap()).unwrap();
    let why = document["not_understood"][0]["why"].as_str().unwrap();
    assert!(why.contains("700 rows of 1000 figures, more than are kept"), "{why}");
    assert!(document["runs"].as_array().unwrap().len() >= 8);
}

#[test]
fn very_many_jobs_of_fio_are_cut_and_the_buckets_of_histograms_cost_nothing() {
    let scratch = assert_bounded("fio.json", &fio_json(2300));
    let remarks = remarks(&scratch);
    assert!(remarks.contains("raw/ has them all"), "{remarks}");
}

#[test]
fn runs_of_one_file_share_its_copy() {
    let scratch = assert_bounded("cards.csv", &table(40, 10_000));
    let runs: Vec<_> = fs::read_dir(scratch.archive().join("runs")).unwrap().map(|r| r.unwrap().path()).collect();
    assert!(runs.len() > 8);
    let content = fs::read(scratch.path().join("cards.csv")).unwrap();
    assert!(runs.iter().all(|r| fs::read(r.join("raw/cards.csv")).unwrap() == content));
}

#[test]
fn what_means_nothing_is_refused_without_taking_much() {
    // Tiny objects, on one line and on as many as there are; a line for each byte.
    for (name, text, why) in [
        ("objects.json", "{\"a\":1}".repeat(1_500_000), "no known format"),
        ("jobs.json", format!("{{\"jobs\":[{}{{}}]}}", "{\"jobname\":\"a\"},".repeat(400_000)), "no result"),
        ("lines.txt", "\n".repeat(9_000_000) + "x", "lines; at most"),
    ] {
        let scratch = Scratch::new();
        fs::write(scratch.path().join(name), &text).unwrap();
        let limit_kib = (4 * text.len() + PROGRAM_BYTES) >> 10;
        let ended = scratch
            .around("sh")
            .args(["-c", &format!("ulimit -d {limit_kib} && exec \"$0\" import \"$1\" --json"), BINARY, name])
            .output()
            .unwrap();
        let ended = Ended::of(ended);
        assert_eq!(ended.code, 4, "{name}: {}", ended.stderr);
        assert!(ended.stdout.contains(why), "{name}: {}", ended.stdout.chars().take(2000).collect::<String>());
    }
}
