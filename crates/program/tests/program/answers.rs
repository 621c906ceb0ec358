//! The answer is one sentence, wherever a run is shown; and what was imported is shown as it was printed.

use crate::program::Scratch;
use std::path::Path;

/// The text without line breaks, indents and the escapes of Markdown.
fn flat(text: &str) -> String {
    let text = text.replace('\\', "").replace("&#35;", "#");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a command says of the run that it kept: on the terminal, in its document, and wherever the run is shown after that.
fn one_answer(args: &[&str], codes: &[i32]) -> String {
    let scratch = Scratch::new();
    let ended = scratch.run(args.iter().copied().chain(["--json"]));
    assert!(codes.contains(&ended.code), "{args:?}: {} {}", ended.code, ended.stderr);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let answer = document["answer"].as_str().unwrap_or_else(|| panic!("{args:?}: no answer in {document}")).to_owned();
    let kept = scratch.json(["runs", "show", "latest", "--json"], 0);
    assert_eq!(kept["answer"], answer.as_str(), "{args:?}: runs show --json");
    for shown in [&["runs", "show", "latest"][..], &["runs", "show", "latest", "--markdown"]] {
        let text = flat(&scratch.run(shown).stdout);
        assert!(text.contains(&answer), "{args:?}: {shown:?}\n{answer}\n{text}");
    }
    let page = scratch.path().join("page.html");
    let made = scratch.run(["report", "latest", "-o", page.to_str().unwrap()]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert!(std::fs::read_to_string(&page).unwrap().contains(&format!("<strong>{answer}</strong>")), "{args:?}: page");
    // The same seed is the same simulated run.
    let text = flat(&scratch.run(args).stdout);
    assert!(text.contains(&answer), "{args:?}: terminal\n{answer}\n{text}");
    answer
}

#[test]
fn the_answer_is_one_sentence_wherever_a_run_is_shown() {
    let check = one_answer(&["check", "sim:class4-card", "--budget", "20s", "--seed", "1"], &[0, 1, 4]);
    assert!(check.contains("too slow for"), "{check}");
    let fill = one_answer(&["fill", "sim:sata-ssd,capacity=60GB", "--seed", "1"], &[0]);
    assert!(fill.starts_with("530 MB/s for the first"), "{fill}");
    let fake = "sim:a1-card,capacity=64MiB,wraps-at=16MiB";
    let fake = one_answer(&["fill", fake, "--verify", "--rest", "0s", "--seed", "1"], &[1]);
    assert!(fake.starts_with("FAKE: at most 17 MB are there."), "{fake}");
    let sweep = one_answer(&["run", "sweep", "sim:a1-card", "--set", "time=200ms", "--seed", "1"], &[0]);
    assert!(sweep.starts_with("The best is") && sweep.contains("is slowest"), "{sweep}");
    let few = ["--set", "package-count=12", "--set", "packages-removed=5", "--seed", "1"];
    let packages = one_answer(&[&["run", "packages", "sim:a1-card"][..], &few].concat(), &[0]);
    assert!(packages.contains("install") && packages.contains("pauses"), "{packages}");
    let rate = one_answer(&["rate", "sim:a1-card", "--seed", "1"], &[0]);
    assert!(rate.contains("A1"), "{rate}");
    let class = one_answer(&["rate", "sim:a1-card", "--class", "A1", "--seed", "1"], &[0, 1]);
    assert!(class == "Above A1." || class == "Below A1.", "{class}");
    // A run of which nothing else was asked says what it measured.
    let mix = one_answer(&["run", "mix", "sim:a1-card", "--set", "time=1s", "--seed", "1"], &[0]);
    assert!(mix.contains("9 phases, from ") && mix.contains(" IOPS (read"), "{mix}");
    let short = one_answer(&["run", "mix", "sim:a1-card", "--set", "time=200ms", "--seed", "1"], &[4]);
    assert!(short.starts_with("No number is known: 0.21 s after the warm-up cut are too short"), "{short}");
    let latency = one_answer(&["run", "latency", "sim:a1-card", "--set", "time=5s", "--seed", "1"], &[0]);
    assert!(latency.contains(" us") && !latency.contains("MB/s"), "held back, its latency is the answer: {latency}");
}

#[test]
fn a_soak_and_a_recording_are_runs_with_a_card_and_a_page() {
    let scratch = Scratch::new();
    let faulty = "sim:a1-card,data-fault=lost-write,data-fault-at=20";
    let soak = scratch.json(["soak", faulty, "--size", "16MiB", "--passes", "4", "--json"], 1);
    let answer = soak["answer"].as_str().unwrap();
    assert!(answer.starts_with("Data are wrong in 1 place: 101 MB written"), "{answer}");
    let id = soak["run_id"].as_str().unwrap();
    let page = std::fs::read_to_string(soak["report"].as_str().unwrap()).unwrap();
    assert!(page.contains(&format!("<strong>{answer}</strong>")));
    for part in ["Rate of the writes", "Time of a write", "Where it was wrong", "lost-write", "pass-4"] {
        assert!(page.contains(part), "{part}");
    }
    let card = scratch.run(["runs", "show", id]).stdout;
    let sector = soak["findings"][0]["lba"].as_u64().unwrap();
    assert!(flat(&card).contains(answer) && card.contains("pass-1") && card.contains("MB/s"), "{card}");
    assert!(flat(&card).replace(' ', "").contains(&format!("sector{sector}:lost-write")), "{card}");
    let args = ["record", "-o", "sim:a1-card", "--generate", "2x80kB@25", "--for", "4s", "--ring", "32MiB", "--json"];
    let record = scratch.json(args, 0);
    let answer = record["answer"].as_str().unwrap();
    assert!(answer.starts_with("No frame was lost: 200 frames"), "{answer}");
    let card = scratch.run(["runs", "show", record["run_id"].as_str().unwrap()]).stdout;
    assert!(flat(&card).contains(answer) && card.contains("camera-2"), "{card}");
    let page = std::fs::read_to_string(record["report"].as_str().unwrap()).unwrap();
    assert!(page.contains(&format!("<strong>{answer}</strong>")));
    let list = scratch.run(["runs", "list"]).stdout;
    assert!(list.contains("soak sim:a1-card") && list.contains("record sim:a1-card"), "{list}");
    assert_eq!(scratch.run(["runs", "verify"]).code, 0);
    // What is only measured for a plan is no recording.
    let plan =
        scratch.json(["record", "--plan", "-o", "sim:a1-card", "--streams", "1x1MB", "--for", "5s", "--json"], 0);
    assert!(plan["answer"].as_str().unwrap().starts_with("Yes: 1 stream of 1.00 MB/s (8 Mbit/s) is carried"), "{plan}");
    assert_eq!(scratch.json(["runs", "list", "--json"], 0)["runs"].as_array().unwrap().len(), 2);
}

/// The rate falls where the cache ends: that limits, and no advice on something else is given.
#[test]
fn the_bottleneck_of_a_fill_is_what_comes_after_its_cache() {
    let scratch = Scratch::new();
    let text = scratch.run(["fill", "sim:sata-ssd,capacity=60GB", "--seed", "1"]).stdout;
    let shown = scratch.run(["runs", "show", "latest"]).stdout;
    for text in [&text, &shown] {
        assert!(flat(text).contains("Bottleneck: the device takes what follows the end of its cache"), "{text}");
        assert!(text.contains("rate after: 180 MB/s") && text.contains("to 60 GB"), "{text}");
        assert!(!text.contains("Next step") && !text.contains("bytes\n"), "{text}");
    }
}

/// A grid stays one when each phase gets a time of its own, and writing and rewriting ask for the same.
#[test]
fn a_sweep_with_another_time_keeps_its_heat_map() {
    let scratch = Scratch::new();
    let text = scratch.run(["run", "sweep", "sim:a1-card", "--set", "time=200ms", "--seed", "1"]).stdout;
    assert!(text.contains("MB/s by block size"), "{text}");
    for row in ["write", "rewrite", "random read", "backward read", "stride read"] {
        assert!(text.lines().any(|l| l.trim_start().starts_with(row)), "{row}: {text}");
    }
    let page = scratch.path().join("page.html");
    assert_eq!(scratch.run(["report", "latest", "-o", page.to_str().unwrap()]).code, 0);
    assert!(std::fs::read_to_string(page).unwrap().contains("<table class=\"heat\">"));
}

/// Of each format a file, and what must be seen of it, in its units.
const PRINTED: [(&str, &[&str]); 15] = [
    ("blkparse/1.3.0-summary.txt", &["47.5 MB/s", "1 240 000", "4,970 MiB"]),
    ("bonnie/2.00a-lines.csv", &["546 files/s", "270 files/s", "52.1 ms", "30.0 %"]),
    ("crystaldiskmark/6.0.0.txt", &["95.1 MB/s", "9.50 MB/s", "2 320 IOPS"]),
    ("dd/busybox.txt", &["MB/s"]),
    ("dstat/dool-1.3.8.csv", &["205 MB/s", "1 360 /s", "2 390 IOPS", "88.2 %"]),
    ("f3/8.0-read.txt", &["78.3 MB/s", "2097152 sectors"]),
    ("fio/mixed.txt", &["IOPS", "MB/s"]),
    ("hdparm/9.65.txt", &["5 190 MB/s", "663 MB/s"]),
    ("ioping/1.3-read.txt", &["IOPS", "MB/s", "us"]),
    ("iostat/12.6-x.json", &["16.3 MB/s", "2 240 IOPS", "6.03 %", "242 /s"]),
    ("iozone/ops.txt", &["IOPS", "MB/s"]),
    ("kdiskmark/3.0.0.txt", &["MB/s", "IOPS"]),
    ("pg_test_fsync/15.txt", &["312 IOPS", "3.20 ms"]),
    ("sd-card-bench/report.txt", &["IOPS", "MB/s"]),
    ("sysbench/1.0.20-rndrw.txt", &["IOPS", "MB/s"]),
];

#[test]
fn what_was_imported_is_shown_in_its_own_units() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exchange/tests/exchange/foreign");
    let mut formats: Vec<String> = std::fs::read_dir(&all)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        // Inputs of all formats, as people hand them over.
        .filter(|name| name != "wild")
        .collect();
    formats.sort_unstable();
    let named: Vec<&str> = PRINTED.iter().map(|(file, _)| file.split('/').next().unwrap()).collect();
    assert_eq!(formats, named, "each format has its file here");
    for (file, wanted) in PRINTED {
        let scratch = Scratch::new();
        let imported = scratch.json(["import", all.join(file).to_str().unwrap(), "--json"], 0);
        let (mut text, mut html) = (String::new(), String::new());
        let answer = imported["answer"].as_str().unwrap_or_else(|| panic!("{file}: no answer"));
        assert!(answer.starts_with("Imported ") && answer.chars().any(|c| c.is_ascii_digit()), "{file}: {answer}");
        assert!(!answer.contains("no number"), "{file}: {answer}");
        for run in imported["runs"].as_array().unwrap() {
            let id = run["run_id"].as_str().unwrap();
            let page = scratch.path().join("page.html");
            let shown = scratch.run(["runs", "show", id]).stdout;
            assert!(flat(&shown).contains(run["answer"].as_str().unwrap()), "{file}: {}\n{shown}", run["answer"]);
            text.push_str(&shown);
            assert_eq!(scratch.run(["report", id, "-o", page.to_str().unwrap()]).code, 0);
            let page = std::fs::read_to_string(page).unwrap();
            // What stands before what is folded.
            html.push_str(page.split("id=\"metrics\"").next().unwrap());
        }
        let html = html.replace("<b>", "").replace("</b>", "");
        for part in wanted {
            assert!(text.contains(part), "{file}: {part} on the terminal\n{text}");
            assert!(html.contains(part), "{file}: {part} on the page");
        }
    }
}

/// Means over three reports, a row each device and direction, instead of all that was printed.
#[test]
fn reports_of_a_watching_tool_are_told_device_by_device() {
    let scratch = Scratch::new();
    let header = "Linux 6.1.0 (vm) \t11/21/26 \t_x86_64_\t(4 CPU)\n";
    let report = |rates: [f64; 2]| {
        let mut text = String::from("\nDevice             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n");
        for (device, rate) in ["sda", "sdb"].iter().zip(rates) {
            text.push_str(&format!(
                "{device}          {rate:.2}      {:.2}         0.00       1000          0\n",
                rate * 4.0
            ));
        }
        text
    };
    let text = format!("{header}{}{}{}", report([900.0, 900.0]), report([100.0, 10.0]), report([300.0, 30.0]));
    std::fs::write(scratch.path().join("iostat.txt"), text).unwrap();
    let ended = scratch.run(["import", "iostat.txt"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("Means over 2 reports"), "{}", ended.stdout);
    let row = |name: &str| ended.stdout.lines().find(|l| l.trim_start().starts_with(name)).unwrap_or_default();
    assert!(row("sda").contains("200 IOPS") && row("sdb").contains("20.0 IOPS"), "{}", ended.stdout);
    assert!(ended.stdout.lines().count() < 16, "{}", ended.stdout);
}

/// What eight runs say alike is said once, and their table is one of two that fit.
#[test]
fn a_page_of_many_runs_says_once_what_is_the_same() {
    let scratch = Scratch::new();
    for _ in 0..2 {
        let args = ["check", "sim:class4-card", "--budget", "20s", "--seed", "1", "--tag", "all", "--json"];
        assert!(matches!(scratch.run(args).code, 0 | 1 | 4));
    }
    let dd = "1048576000 bytes (1.0 GB, 1000 MiB) copied, 10.0 s, 105 MB/s\n";
    for i in 0..6 {
        let name = format!("dd-{i}.txt");
        std::fs::write(scratch.path().join(&name), format!("1000+0 records in\n1000+0 records out\n{dd}")).unwrap();
        assert_eq!(scratch.run(["import", &name, "--tag", "all"]).code, 0);
    }
    let page = scratch.path().join("page.html");
    assert_eq!(scratch.run(["report", "all", "-o", page.to_str().unwrap()]).code, 0);
    let html = std::fs::read_to_string(page).unwrap();
    let list = html.split("id=\"rates\"").next().unwrap();
    assert_eq!(list.matches("too slow for").count(), 1, "{list}");
    assert!(list.contains("says the same as run 1"), "{list}");
    for part in ["Rates of runs 1 to 4", "Rates of runs 5 to 8", "105 MB/s"] {
        assert!(html.contains(part), "{part}");
    }
}
