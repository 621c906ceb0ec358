//! `narrows rank`: contract, the published study, places with ties, and sources that cannot be ranked.

use crate::contract::declared::Reason;
use crate::program::Scratch;
use serde::Deserialize;
use serde_json::Value;
use std::fs;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ranking {
    schema: String,
    answer: Option<String>,
    targets: Vec<Target>,
    prediction: Vec<Prediction>,
    uses: Vec<Value>,
    predicted: Option<String>,
    reasons: Vec<Reason>,
    report: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    name: String,
    metrics: Vec<Metric>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metric {
    id: String,
    #[allow(dead_code)]
    unit: String,
    better: Option<String>,
    value: Option<f64>,
    #[allow(dead_code)]
    bound: Option<String>,
    ratio_to_best: Option<f64>,
    place: Option<u32>,
    n: u32,
    reasons: Vec<Reason>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prediction {
    predictor: String,
    predicted: String,
    tau: Option<f64>,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    work: bool,
    low: Option<f64>,
    high: Option<f64>,
    n: u32,
    agreement: Option<f64>,
    leave_one_out: Option<(f64, f64)>,
    #[allow(dead_code)]
    most_influential: Option<String>,
    as_close_as_best_p: Option<f64>,
    #[allow(dead_code)]
    reasons: Vec<Reason>,
}

const CARDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../judge/fixtures/sd-cards.csv");

fn rank(scratch: &Scratch, args: &[&str], code: i32) -> Ranking {
    let all = [&["rank", "--json"], args].concat();
    serde_json::from_value(scratch.json(all, code)).expect("narrows/rank/1")
}

fn refused(scratch: &Scratch, args: &[&str], code: i32) -> Value {
    let all = [&["rank", "--json"], args].concat();
    let document = scratch.json(all, code);
    assert_eq!(document["schema"], "narrows/error/1", "{document}");
    document
}

#[test]
fn eight_cards_show_what_the_published_text_got_right_and_what_it_overstated() {
    let scratch = Scratch::new();
    let ranking = rank(&scratch, &[CARDS, "--predict", "install_1_s"], 0);
    assert_eq!((ranking.schema.as_str(), ranking.targets.len()), ("narrows/rank/1", 8));
    assert_eq!((ranking.predicted.as_deref(), ranking.report), (Some("install_1_s"), None));
    let of = |id: &str| ranking.prediction.iter().find(|p| p.predictor == id).unwrap_or_else(|| panic!("no {id}"));
    let strength = |id: &str| of(id).tau.expect("a tau").abs();
    // Reads of 1 and 16 KiB follow it as closely as small random writes; 4 KiB reads and sequential writes less so.
    for read in ["read_iops_1k", "read_iops_16k"] {
        assert!(strength(read) >= strength("write_iops_4k") - 1e-9, "{read}");
    }
    for less in ["read_iops_4k", "seq_write_mb_s", "seq_read_mb_s"] {
        assert!(strength(less) < strength("write_iops_16k") && of(less).p_adjusted.expect("a p") > 0.05, "{less}");
    }
    for p in &ranking.prediction {
        assert_eq!((p.n, p.predicted.as_str()), (8, "install_1_s"));
        let (tau, low, high) = (p.tau.expect("tau"), p.low.expect("low"), p.high.expect("high"));
        assert!(low <= tau && tau <= high && p.p.is_some_and(|p| (0.0..=1.0).contains(&p)), "{}", p.predictor);
        assert!((p.agreement.expect("a share") - (tau + 1.0) / 2.0).abs() < 1e-12 && p.leave_one_out.is_some());
        // Eight devices separate none of the synthetic ones from the closest.
        assert!(p.work || p.as_close_as_best_p.is_none_or(|p| p > 0.05), "{}", p.predictor);
    }
    let work: Vec<&str> = ranking.prediction.iter().filter(|p| p.work).map(|p| p.predictor.as_str()).collect();
    assert_eq!(work, ["install_2_s", "removal_s", "boot_s"]);
    assert!(ranking.reasons.iter().any(|r| r.code.as_deref() == Some("not-separated")), "{:?}", ranking.reasons);
    // Nothing says which direction is better: no places are made up, and which to buy is not known.
    let undirected = rank(&scratch, &[CARDS], 0).answer.expect("an answer");
    assert!(undirected.contains("not known") && undirected.contains("--better METRIC=higher"), "{undirected}");
    assert!(ranking.targets.iter().flat_map(|t| &t.metrics).all(|m| m.place.is_none() && m.better.is_none()));
    let chosen = rank(&scratch, &[CARDS, "--predict", "install_1_s", "--predictors", "seq_*"], 0);
    assert_eq!(chosen.prediction.len(), 2);
    // Nothing was kept.
    assert!(scratch.json(["runs", "--json"], 0)["runs"].as_array().is_some_and(Vec::is_empty));
}

#[test]
fn the_text_fits_80_columns_and_the_page_stands_alone() {
    let scratch = Scratch::new();
    let told = ["--better", "install_1_s=lower", "--better", "*iops*=higher"];
    let args = [&["rank", CARDS, "--predict", "install_1_s", "-o", "page.html"], &told[..]].concat();
    for locale in ["C.UTF-8", "C"] {
        let ended = crate::program::Ended::of(scratch.command(&args).env("LANG", locale).output().expect("it runs"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let text = ended.stdout;
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
        assert!(locale != "C" || text.is_ascii(), "{text}");
        for words in ["synthetic\n", "other work\n", "x 1.00 1", "100 % 1", "8 targets are few", "cannot tell which of"]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
    let page = fs::read_to_string(scratch.path().join("page.html")).expect("the page");
    assert!(page.contains("Content-Security-Policy") && page.contains("<circle") && !page.contains("<script"));
    assert!(page.contains("SanDisk Extreme A1 32GB") && page.contains("Target by target"));
    let args = [&["rank", CARDS, "--markdown", "--metric", "boot_s"], &told[..]].concat();
    let markdown = scratch.run(&args).stdout;
    assert!(markdown.contains("| boot\\_s |") && !markdown.contains("iops"), "{markdown}");
}

#[test]
fn runs_are_ranked_by_target_with_ties_by_verdict() {
    let scratch = Scratch::new();
    for (target, seed) in [("sim:class4-card", "1"), ("sim:nvme", "1"), ("sim:nvme", "2"), ("sim:sata-ssd", "1")] {
        scratch.json(["check", target, "--json", "--seed", seed, "--tag", "all"], 0);
    }
    let ranking = rank(&scratch, &["all"], 0);
    let names: Vec<&str> = ranking.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["sim:class4-card", "sim:nvme", "sim:sata-ssd"]);
    let answer = ranking.answer.as_deref().expect("an answer");
    for said in [
        "Which to buy: sim:nvme, for every use that any of them is good for.",
        "For an operating system and application class A1: sim:nvme, then sim:sata-ssd; not sim:class4-card (33.",
        "A1 asks for 500).",
        "For video: sim:nvme (V90), then sim:sata-ssd (V90), then sim:class4-card (V6).",
    ] {
        assert!(answer.contains(said), "{said}: {answer}");
    }
    let root_fs = ranking.uses.iter().find(|of| of["for"] == "root-fs").expect("an operating system");
    let places: Vec<&Value> = root_fs["targets"].as_array().unwrap().iter().map(|t| &t["place"]).collect();
    assert_eq!(places, [&Value::from(1), &2.into(), &Value::Null], "who is not good for it has no place");
    let id = "rand-read-qd32.iops";
    let metric = |i: usize| ranking.targets[i].metrics.iter().find(|m| m.id == id).expect("the metric");
    assert_eq!([0, 1, 2].map(|i| metric(i).place), [Some(3), Some(1), Some(2)]);
    assert_eq!((metric(1).n, metric(1).ratio_to_best, metric(0).n), (2, Some(1.0), 1));
    assert!(metric(0).value < metric(2).value && metric(0).reasons.is_empty());
    // The same target under another seed differs by noise only: it shares the place.
    let twins = rank(&scratch, &["all", "--metric", id], 0);
    assert!(twins.targets.iter().all(|t| t.metrics.len() == 1));
    let text = scratch.run(["rank", "all"]).stdout;
    let markdown = scratch.run(["rank", "all", "--markdown"]).stdout;
    scratch.run(["rank", "all", "-o", "page.html"]);
    let page = fs::read_to_string(scratch.path().join("page.html")).expect("the page");
    for whole in [&text, &markdown, &page] {
        assert!(whole.contains("Which to buy: sim:nvme, for every use that any of them is good for."), "{whole}");
    }
    assert!(text.lines().all(|l| l.chars().count() <= 80) && text.contains("more metrics"), "{text}");
    assert!(text.contains("sim:nvme is best in"), "{text}");
}

/// The one was asked about a use, and has no number of what that does not need.
#[test]
fn what_one_target_alone_was_measured_in_makes_it_best_in_nothing() {
    let scratch = Scratch::new();
    scratch.json(["check", "sim:a1-card", "--for", "root-fs", "--json", "--seed", "1"], 0);
    scratch.json(["check", "sim:class4-card", "--json", "--seed", "1"], 0);
    let said = scratch.run(["rank", "sim:a1-card", "sim:class4-card"]).stdout;
    assert!(said.contains("sim:a1-card is best in") && !said.contains("sim:class4-card is best in"), "{said}");
}

#[test]
fn what_cannot_be_ranked_is_said() {
    let scratch = Scratch::new();
    let unknown = refused(&scratch, &[CARDS, "--predict", "install_3_s"], 2);
    let remedy = unknown["remedy"].as_str().expect("a remedy");
    assert!(remedy.contains("did you mean install_1_s?") && remedy.contains("read_iops_1k"), "{unknown}");
    for option in ["--metric", "--predictors", "--better"] {
        let value = if option == "--better" { "nope=lower" } else { "nope*" };
        let error = refused(&scratch, &[CARDS, "--predict", "boot_s", option, value], 2);
        assert!(error["message"].as_str().is_some_and(|m| m.contains("nope")), "{error}");
    }
    let text = fs::read_to_string(CARDS).expect("the fixture");
    let rows = |n: usize| text.lines().take(n + 1).collect::<Vec<_>>().join("\n") + "\n";
    fs::write(scratch.path().join("one.csv"), rows(1)).expect("a file");
    assert!(refused(&scratch, &["one.csv"], 2)["message"].as_str().is_some_and(|m| m.contains("at least two")));
    fs::write(scratch.path().join("four.csv"), rows(4)).expect("a file");
    let four = rank(&scratch, &["four.csv", "--predict", "boot_s"], 4);
    assert!(four.prediction.iter().all(|p| p.tau.is_none() && p.n == 4), "no tau from four");
    assert!(four.reasons.iter().any(|r| r.code.as_deref() == Some("too-few-targets")), "{:?}", four.reasons);
    // A target without one of the metrics has no value there, with the reason, and is counted out.
    let holes = rows(6).replacen(",1574,", ",,", 1);
    fs::write(scratch.path().join("holes.csv"), holes).expect("a file");
    let six = rank(&scratch, &["holes.csv", "--predict", "boot_s"], 0);
    let first = six.targets[0].metrics.iter().find(|m| m.id == "read_iops_1k").expect("the metric");
    assert!(
        first.value.is_none() && first.n == 0 && first.reasons[0].code.as_deref() == Some("missing"),
        "{:?}",
        first.reasons
    );
    assert_eq!(six.prediction.iter().find(|p| p.predictor == "read_iops_1k").map(|p| p.n), Some(5));
    for (name, content) in
        [("empty", &b""[..]), ("binary", &[0u8, 159, 146, 150, 0, 1, 2][..]), ("words", b"hello\nthere\n")]
    {
        fs::write(scratch.path().join(name), content).expect("a file");
        let error = refused(&scratch, &[&format!("./{name}")], 4);
        assert!(error["message"].as_str().is_some_and(|m| m.contains(name)), "{error}");
    }
    refused(&scratch, &["nobody"], 2);
    refused(&scratch, &[], 2);
    refused(&scratch, &[CARDS, "--predictors", "boot_s"], 2);
}

#[test]
fn a_use_that_is_asked_about_is_answered_alone() {
    let scratch = Scratch::new();
    for target in ["sim:class4-card", "sim:a1-card"] {
        scratch.run(["check", target, "--seed", "1"]);
    }
    let both = ["rank", "sim:class4-card", "sim:a1-card"];
    let asked = |uses: &str, code: i32| scratch.json(both.iter().copied().chain(["--for", uses, "--json"]), code);
    let system = asked("root-fs", 0);
    assert_eq!(system["uses"].as_array().map(Vec::len), Some(1), "{system}");
    let answer = system["answer"].as_str().expect("an answer");
    assert!(answer.contains("For an operating system: sim:a1-card; not sim:class4-card"), "{answer}");
    assert!(!answer.contains("video"), "{answer}");
    let two = asked("os,V30", 0);
    let answer = two["answer"].as_str().expect("an answer");
    assert!(answer.contains("an operating system") && answer.contains("video V30"), "{answer}");
    // What no run of them measured: which check would answer.
    let unknown = asked("etcd", 4);
    assert_eq!(unknown["uses"][0]["targets"][0]["met"], Value::Null, "{unknown}");
    assert_eq!(scratch.run(both.iter().copied().chain(["--for", "nonsense"])).code, 2);
}

#[test]
fn the_name_of_a_target_is_its_latest_run() {
    let scratch = Scratch::new();
    let check = |target: &str, seed: &str| {
        let document =
            scratch.json(["check", target, "--seed", seed, "--for", "A1", "--json"], i32::from(target != "sim:nvme"));
        document["run_id"].as_str().expect("an id").to_owned()
    };
    check("sim:class4-card", "1");
    let latest = check("sim:class4-card", "2");
    let other = check("sim:nvme", "1");
    let by_name = scratch.json(["rank", "sim:class4-card", "sim:nvme", "--json"], 0);
    assert_eq!(by_name["targets"], scratch.json(["rank", &latest, &other, "--json"], 0)["targets"]);
    scratch.target();
    let compared = scratch.json(["compare", "sim:class4-card", "sim:nvme", "--json"], 0);
    assert_eq!(compared["metrics"][0]["basis"], "single", "one run of each: {compared}");
    assert_eq!(scratch.run(["rank", "sim:class4-card", "sim:a1-card"]).code, 2, "nothing was measured on it");
    // Of a directory, however it is written; what others do beside this test decides nothing here.
    scratch.run(["run", "latency", "target", "--set", "time=200ms", "--set", "region=1MiB"]);
    let by_path = scratch.run(["export", "./target/", "--format", "csv"]);
    assert!(by_path.code == 0 && by_path.stdout.contains(",target,"), "{}{}", by_path.stdout, by_path.stderr);
}
