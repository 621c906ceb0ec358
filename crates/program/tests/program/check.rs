//! `narrows check` on a terminal, of several targets and for several uses; and what may stand in the place of a command.

use crate::program::{BINARY, Ended, Scratch};
use std::process::Command;

/// Runs it on a terminal of `script` (util-linux), whose size is not known: 80 columns. `None` where there is no such program.
pub fn on_a_terminal(scratch: &Scratch, line: &str, answer: &str) -> Option<Ended> {
    if Command::new("script").arg("--version").output().is_err() {
        println!("SKIPPED: no program script to make a terminal with");
        return None;
    }
    let typed = scratch.path().join("typed");
    std::fs::write(&typed, answer).unwrap();
    let typed = std::fs::File::open(typed).unwrap();
    let command = format!("{BINARY} {line} 2>/dev/null");
    let mut script = scratch.around("script");
    script.args(["-qec", &command, "/dev/null"]).stdin(typed);
    let mut ended = Ended::of(script.env("NO_COLOR", "1").output().expect("script runs"));
    ended.stdout = ended.stdout.replace('\r', "");
    Some(ended)
}

#[test]
fn a_terminal_gets_a_screen_with_the_answer_last_and_a_pipe_gets_all() {
    let scratch = Scratch::new();
    let Some(short) = on_a_terminal(&scratch, "check sim:class4-card --seed 1", "") else { return };
    let rows: usize = short.stdout.lines().map(|l| l.chars().count().div_ceil(80).max(1)).sum();
    assert!(rows <= 23, "{rows} rows beside the prompt:\n{}", short.stdout);
    let at = |text: &str, what: &str| text.find(what).unwrap_or_else(|| panic!("no {what}: {text}"));
    let order =
        ["sequential", "Run   ", "Too slow for", "Bottleneck:", "Next step:"].map(|what| at(&short.stdout, what));
    assert!(order.is_sorted(), "{}", short.stdout);
    let all = on_a_terminal(&scratch, "check sim:class4-card --seed 1 --details", "").expect("script").stdout;
    let piped = scratch.run(["check", "sim:class4-card", "--seed", "1"]).stdout;
    for whole in [&all, &piped] {
        assert!(whole.contains("What limits each number") && whole.contains("memory copy"), "{whole}");
    }
}

#[test]
fn several_targets_stand_side_by_side() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "sim:class4-card", "sim:nvme", "--seed", "1", "--json"], 0);
    assert_eq!(document["schema"], "narrows/checks/1");
    let names: Vec<_> = document["checks"].as_array().unwrap().iter().map(|c| c["target"]["name"].clone()).collect();
    assert_eq!(names, ["sim:class4-card", "sim:nvme"]);
    let uses = document["uses"].as_array().unwrap();
    let root = uses.iter().find(|u| u["for"] == "root-fs").expect("an operating system");
    let order: Vec<_> =
        root["targets"].as_array().unwrap().iter().map(|t| (t["target"].clone(), t["met"].clone())).collect();
    assert_eq!(order, [("sim:nvme".into(), true.into()), ("sim:class4-card".into(), false.into())]);
    let text = scratch.run(["check", "sim:class4-card", "sim:nvme", "--seed", "1"]).stdout;
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Which to buy: sim:nvme, for every use"), "{text}");
    assert!(
        said.contains("For an operating system and application class A1: sim:nvme; not sim:class4-card (33."),
        "{text}"
    );
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert!(said.ends_with(document["answer"].as_str().unwrap()), "{document}");
    let asked = scratch.json(["check", "sim:class4-card", "sim:nvme", "--for", "root-fs", "--json"], 1);
    let answer = asked["answer"].as_str().unwrap();
    assert!(answer.contains("sim:class4-card: no, 33.") && answer.contains("sim:nvme: yes, "), "{answer}");
    // What cannot be checked does not keep the others from it, and is not forgotten.
    let one = scratch.run(["check", "sim:nvme", "/no/such/place"]);
    assert!(
        one.code == 3 && one.stdout.contains("sim:nvme") && one.stderr.contains("/no/such/place"),
        "{}",
        one.stderr
    );
    // The same in words from the archive.
    let ranked = scratch.run([
        "rank",
        document["checks"][0]["run_id"].as_str().unwrap(),
        document["checks"][1]["run_id"].as_str().unwrap(),
    ]);
    assert!(ranked.stdout.contains("For video: sim:nvme (V90), then sim:class4-card (V6)."), "{}", ranked.stdout);
    assert!(
        ranked.stdout.contains("sequential write") && !ranked.stdout.contains("throughput_bytes_per_s"),
        "{}",
        ranked.stdout
    );
}

#[test]
fn several_uses_are_answered_each_and_one_no_is_a_no() {
    let scratch = Scratch::new();
    let both = scratch.json(["check", "sim:class4-card", "--for", "root-fs,video=V6", "--json"], 1);
    let met: Vec<_> = both["fit"].as_array().unwrap().iter().take(2).map(|f| f["met"].clone()).collect();
    assert_eq!((met, &both["met"]), (vec![false.into(), true.into()], &false.into()));
    let verdict = both["verdict"].as_str().unwrap();
    assert!(
        verdict.contains("No, not good for an operating system") && verdict.contains("Yes, good for video V6"),
        "{verdict}"
    );
    let good = scratch.json(["check", "sim:nvme", "--for", "root-fs,A1", "--json"], 0);
    assert_eq!((&good["fit"][1]["for"], &good["met"]), (&"A1".into(), &true.into()));
    let refused = scratch.json(["check", "sim:nvme", "--for", "etcd,sqlite", "--json"], 2);
    assert!(refused["message"].as_str().unwrap().contains("different sizes"), "{refused}");
}

#[test]
fn a_target_alone_is_checked_help_helps_and_nothing_is_a_few_lines() {
    let scratch = Scratch::new();
    assert_eq!(scratch.json(["sim:nvme", "--json", "--for", "A1"], 0)["target"]["name"], "sim:nvme");
    let plan = scratch.run([scratch.target().to_str().unwrap(), "--plan"]);
    assert!(plan.code == 0 && plan.stdout.contains("seq-write"), "{}", plan.stderr);
    let nothing = scratch.run([""; 0]);
    assert!(nothing.code == 2 && (5..=15).contains(&nothing.stderr.lines().count()), "{}", nothing.stderr);
    let help = scratch.run(["help"]);
    assert!(help.code == 0 && help.stdout.starts_with("Find where your storage narrows"), "{}", help.stdout);
    // All that there is to be said of a command; its --help is two screens or three.
    let (whole, options) = (scratch.run(["help", "check"]).stdout, scratch.run(["check", "--help"]).stdout);
    assert!(whole.lines().count() > 100 && options.lines().count() <= 70, "{options}");
    assert!(whole.contains("--keep-every") && options.contains("--for <WHAT>"), "{whole}{options}");
    assert!(options.trim_end().ends_with("on each option, and all examples."), "{options}");
    let typo = scratch.run(["chekc"]);
    assert!(typo.code == 2 && typo.stderr.contains("check"), "{}", typo.stderr);
}

/// What is longer than the screen ends with its answer, and what fits does not repeat it.
#[test]
fn the_answer_closes_what_is_longer_than_the_screen() {
    let scratch = Scratch::new();
    let fake = "rate sim:a1-card,capacity=64MiB,wraps-at=16MiB --capacity full";
    let Some(long) = on_a_terminal(&scratch, fake, "") else { return };
    let last = |ended: &Ended| {
        let lines: Vec<&str> = ended.stdout.lines().rev().take(22).collect();
        lines.into_iter().rev().flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    };
    assert!(last(&long).contains("A fake: it says 67 MB"), "{}", long.stdout);
    assert!(long.stdout.lines().all(|l| l.chars().count() <= 80), "{}", long.stdout);
    // Colours stand within a sentence that is broken into lines.
    let check = on_a_terminal(&scratch, "check sim:class4-card --seed 1 --color always", "").expect("script");
    assert!(check.stdout.contains('\u{1b}') && check.stdout.matches("Too slow for").count() == 1, "{}", check.stdout);
    let why = on_a_terminal(&scratch, "why", "").expect("script");
    assert!(last(&why).contains("Bottleneck: "), "{}", why.stdout);
    let short = on_a_terminal(&scratch, "record plan sim:a1-card --streams 4x16Mbit --for 5s", "").expect("script");
    assert_eq!(short.stdout.matches("are carried").count(), 1, "{}", short.stdout);
}

/// A check for a use measures what decides that: what holds it back then is said to be of that use.
#[test]
fn the_bottleneck_of_a_use_says_so() {
    let scratch = Scratch::new();
    let said = |args: &[&str]| scratch.run([&["check", "sim:a1-card", "--seed", "1"][..], args].concat()).stdout;
    assert!(said(&["--for", "root-fs"]).contains("Bottleneck for root-fs: "), "{}", said(&["--for", "root-fs"]));
    assert!(said(&[]).contains("Bottleneck: "), "{}", said(&[]));
    let Some(brief) = on_a_terminal(&scratch, "check sim:a1-card --for root-fs --seed 1", "") else { return };
    assert!(brief.stdout.contains("Bottleneck for root-fs"), "{}", brief.stdout);
}

/// 10.2 MB/s in the mean is below a class that asks for 10 in each second: why is said beside it.
#[test]
fn a_class_that_the_slowest_second_is_below_says_so() {
    let scratch = Scratch::new();
    let text = scratch.run(["check", "sim:class4-card", "--seed", "1"]).stdout;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ratings = words.split_once("Short-test ratings").expect("ratings").1;
    let below = ratings.split_once("below ").expect("classes").1.split(';').next().expect("a group");
    assert!(below.contains("C10") && below.contains("(slowest second 9.99 MB/s)"), "{text}");
}

#[test]
fn an_error_fits_the_terminal() {
    let scratch = Scratch::new();
    let long = "x".repeat(40);
    let Some(error) = on_a_terminal(&scratch, &format!("check /no/such/place/{long} 2>&1 #"), "") else { return };
    let said: Vec<&str> = error.stdout.lines().filter(|l| !l.trim().is_empty()).collect();
    assert!(said.len() > 1 && said.iter().all(|l| l.trim_end().chars().count() <= 80), "{}", error.stdout);
}

#[test]
fn deleting_is_asked_on_a_terminal_and_counted_by_workload() {
    let scratch = Scratch::new();
    for workload in ["latency", "depth", "latency"] {
        assert_eq!(scratch.run(["run", workload, "sim:nvme", "--set", "time=1s"]).code, 0);
    }
    // One of each workload stays.
    let plan = scratch.json(["runs", "prune", "--keep", "1", "--dry-run", "--json"], 0);
    assert_eq!(plan["results"].as_array().map_or(0, Vec::len), 1, "{plan}");
    let Some(no) = on_a_terminal(&scratch, "runs delete latest", "n\n") else { return };
    assert!(no.stdout.contains("Delete it, ") && no.stdout.contains("kB"), "{}", no.stdout);
    let count = || scratch.json(["runs", "--json"], 0)["runs"].as_array().unwrap().len();
    assert_eq!(count(), 3);
    on_a_terminal(&scratch, "runs delete latest", "y\n");
    assert_eq!(count(), 2);
    on_a_terminal(&scratch, "runs delete latest --yes", "");
    assert_eq!(count(), 1, "a script, and who says --yes, is not asked");
    let verified = scratch.run(["runs", "verify"]);
    assert!(verified.stdout.ends_with("1 run, all as they were written\n"), "{}", verified.stdout);
}

fn fio(scratch: &Scratch, depth: u32, iops: f64) -> String {
    let path = scratch.path().join(format!("fio-{depth}.json"));
    let direction = format!(
        r#"{{"io_bytes": 40960000, "bw_bytes": {}, "iops": {iops}, "runtime": 10000, "total_ios": 10000}}"#,
        iops * 4096.0
    );
    let text = format!(
        r#"{{"fio version": "fio-3.33", "timestamp": 1700000000, "jobs": [{{"jobname": "j", "error": 0,
        "job options": {{"rw": "randread", "bs": "4k", "iodepth": "{depth}"}}, "read": {direction}}}]}}"#
    );
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn other_jobs_of_fio_are_told_before_anything_and_no_verdict_for_a_script() {
    let scratch = Scratch::new();
    let (a, b) = (fio(&scratch, 8, 90_000.0), fio(&scratch, 1, 11_000.0));
    let document = scratch.json(["compare", &a, &b, "--json"], 0);
    let first = &document["environment_differences"][0];
    assert_eq!(
        (first["what"].as_str(), &first["a"][0], &first["b"][0]),
        (Some("job options"), &"iodepth=8".into(), &"iodepth=1".into())
    );
    let text = scratch.run(["compare", &a, &b]).stdout;
    assert!(
        text.find("iodepth=8").expect("the option") < text.find("whether it helped").expect("the answer"),
        "{text}"
    );
    let refused = scratch.json(["compare", &a, &b, "--fail-on", "worse", "--json"], 3);
    assert!(
        refused["message"].as_str().unwrap().contains("iodepth=8")
            && refused["remedy"].as_str().unwrap().contains("--anyway")
    );
    assert_eq!(scratch.run(["compare", &a, &b, "--fail-on", "worse", "--anyway"]).code, 4, "one run of a side");
    let same = scratch.run(["compare", &a, &fio(&scratch, 8, 91_000.0), "--fail-on", "worse"]);
    assert_eq!(same.code, 2, "the same file twice: {}", same.stderr);
}

#[test]
fn a_setting_that_nothing_passes_is_told_before_it_starts() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let line = format!("depth {}", target.display());
    let ended = scratch.run(["compare", "--repeat", "6", &line, "--with", "dirty-ratio=10,20", "--plan"]);
    assert!(ended.stderr.contains("cannot make a difference"), "{}\n{}", ended.stdout, ended.stderr);
    let line = format!("latency {}", target.display());
    let ended = scratch.run(["compare", "--repeat", "6", &line, "--with", "dirty-ratio=10,20", "--plan"]);
    assert!(!ended.stderr.contains("cannot make a difference"), "it writes through the page cache: {}", ended.stderr);
}

#[test]
fn an_unknown_metric_of_a_ranking_is_a_short_error() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "sim:class4-card", "sim:nvme", "--seed", "1", "--json"], 0);
    let ids: Vec<&str> = document["checks"].as_array().unwrap().iter().map(|c| c["run_id"].as_str().unwrap()).collect();
    let error = scratch.run(["rank", ids[0], ids[1], "--metric", "seq-wirte.throughput_bytes_per_s"]);
    assert!(error.code == 2 && error.stderr.len() < 500, "{}", error.stderr);
    assert!(error.stderr.contains("did you mean seq-write.throughput_bytes_per_s?"), "{}", error.stderr);
}

#[test]
fn watch_takes_an_interval_and_a_count_without_a_target() {
    let scratch = Scratch::new();
    let ended = scratch.run(["watch", "0.05", "2", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), 2, "{}", ended.stdout);
}
