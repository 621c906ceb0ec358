//! A search for settings: its document against its contract, and what a person reads first and last.

use crate::documents::holds;
use model::{
    Better, KeepLine, NotKept, NotTried, SettingRisk, TuneCandidate, TuneGain, TuneGuard, TuneMeasurement, TunePlan,
    TuneProof, TuneRejected, TuneSetting, TuneStep, TuneTried, TuneValue, Tuning, Unit,
};
use report::Style;
use report::document::{TuneDocument, TunePlanDocument};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Candidate {
    name: String,
    path: String,
    files: usize,
    now: String,
    values: Vec<String>,
    risk: String,
    about: String,
    not_tried: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    name: String,
    path: String,
    from: String,
    to: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gain {
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    p: f64,
    pairs: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Guard {
    metric: String,
    ratio: f64,
    low: Option<f64>,
    margin_percent: f64,
    pairs: usize,
    in_reach: bool,
    passes: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keep {
    mechanism: String,
    file: String,
    text: String,
    undo: String,
    note: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Proof {
    /// Why it is not kept; of a winner not a key of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    settings: Vec<Setting>,
    gain: Gain,
    pairs: Vec<(f64, f64)>,
    guards: Vec<Guard>,
    keep: Vec<Keep>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tried {
    settings: Vec<Named>,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    measurements: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measurement {
    step: String,
    settings: Vec<Named>,
    value: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    value: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    answer: String,
    id: String,
    target: String,
    #[serde(rename = "for")]
    asked: String,
    metric: String,
    unit: String,
    better: Option<String>,
    seed: u64,
    margin_percent: f64,
    candidates: Vec<Candidate>,
    suggested: Vec<String>,
    cells: usize,
    noise_percent: Option<f64>,
    tried: Vec<Tried>,
    measurements: Vec<Measurement>,
    winner: Option<Proof>,
    rejected: Option<Proof>,
    rejected_next: Option<Proof>,
    bytes_written: u64,
    duration_ns: u64,
    tags: Vec<String>,
    report: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanDocument {
    schema: String,
    answer: String,
    target: String,
    #[serde(rename = "for")]
    asked: String,
    metric: Option<String>,
    candidates: Vec<Candidate>,
    cells: usize,
    changes: usize,
    screened: bool,
    pairs: u32,
    guards: Vec<String>,
    budget_ns: u64,
    bytes_at_most: Option<u64>,
    provable: Vec<(f64, Option<f64>)>,
}

fn candidates() -> Vec<TuneCandidate> {
    let read_ahead = TuneCandidate {
        name: "read-ahead",
        path: "/sys/block/sda/queue/read_ahead_kb".into(),
        files: 1,
        now: "4".into(),
        values: vec!["0".into(), "512".into(), "8192".into()],
        risk: SettingRisk::CostsMemory,
        about: "read ahead of buffered reads, KiB",
        not_tried: None,
    };
    let cache = TuneCandidate {
        name: "cache",
        values: Vec::new(),
        risk: SettingRisk::LosesData,
        not_tried: Some(NotTried::Unsafe),
        ..read_ahead.clone()
    };
    vec![read_ahead, cache]
}

fn proof(ratio: f64, passes: bool) -> TuneProof {
    TuneProof {
        settings: vec![TuneSetting {
            name: "read-ahead",
            path: "/sys/block/sda/queue/read_ahead_kb".into(),
            from: "4".into(),
            to: "512".into(),
        }],
        gain: TuneGain { ratio, low: Some(ratio * 0.9), high: Some(ratio * 1.1), p: 0.0078, pairs: 8 },
        pairs: (0..8).map(|i| (100e6, (100.0 * ratio + f64::from(i)) * 1e6)).collect(),
        guards: vec![TuneGuard {
            in_reach: true,
            metric: "seq-read.throughput_bytes_per_s".into(),
            ratio: 1.01,
            low: Some(0.97),
            margin_percent: 10.0,
            pairs: 8,
            passes,
        }],
        keep: vec![KeepLine {
            mechanism: "udev",
            file: "/etc/udev/rules.d/99-narrows-tune.rules".into(),
            text: "ACTION==\"add|change\", ATTR{queue/read_ahead_kb}=\"512\"".into(),
            undo: "rm /etc/udev/rules.d/99-narrows-tune.rules\necho 4 > /sys/block/sda/queue/read_ahead_kb".into(),
            note: None,
        }],
    }
}

fn tuning(winner: Option<TuneProof>, rejected: Option<TuneRejected>) -> Tuning {
    let tried = |value: &str, ratio: Option<f64>| TuneTried {
        settings: vec![TuneValue { name: "read-ahead", value: value.into() }],
        ratio,
        low: None,
        high: None,
        measurements: usize::from(ratio.is_some()) * 3,
    };
    Tuning {
        id: "tune-20261127T230000Z-0001".into(),
        target: "/dev/sda".into(),
        asked: "buffered-read".into(),
        metric: "buffered-read.throughput_bytes_per_s".into(),
        unit: Unit::BytesPerS,
        better: Some(Better::Higher),
        seed: 1,
        margin_percent: 3.0,
        candidates: candidates(),
        suggested: vec!["read-ahead".into()],
        cells: 31,
        noise_percent: Some(4.2),
        measurements: measurements(),
        tried: vec![tried("512", Some(3.1)), tried("8192", Some(3.0)), tried("0", None)],
        winner,
        rejected,
        rejected_next: None,
        bytes_written: 0,
        duration_ns: 171_000_000_000,
        tags: ["present", "guards-present", "changed", "guards-changed"].map(|t| format!("tune-1-{t}")).to_vec(),
    }
}

fn measurements() -> Vec<TuneMeasurement> {
    let steps = [TuneStep::Singles, TuneStep::Singles, TuneStep::Screen, TuneStep::Halving, TuneStep::Halving];
    let settings = ["", "8192", "512", "512", ""];
    let of = |(at, (step, value)): (usize, (TuneStep, &str))| TuneMeasurement {
        step,
        settings: (!value.is_empty())
            .then(|| TuneValue { name: "read-ahead", value: value.into() })
            .into_iter()
            .collect(),
        value: (at != 1).then_some(if value == "512" { 310e6 } else { 100e6 }),
    };
    steps.into_iter().zip(settings).enumerate().map(of).collect()
}

#[test]
fn a_page_has_the_path_the_pairs_what_was_rejected_and_the_lines_to_keep() {
    let other = TuneRejected { why: NotKept::Guard, proof: TuneProof { keep: Vec::new(), ..proof(1.3, false) } };
    let mut tuning = tuning(Some(proof(3.1, true)), Some(other));
    tuning.target = "/mnt/<b>".into();
    tuning.tried[0].low = Some(2.9);
    tuning.tried[0].high = Some(3.3);
    let page = report::tune_page(&tuning, "0.1.0");
    assert!(!page.contains("<b>x") && page.contains("buffered-read on /mnt/&lt;b&gt;"), "escaped");
    let drawn = page.split("<svg class=\"curves").skip(1).map(|svg| svg.split("</svg>").next().unwrap_or_default());
    let path = drawn.clone().find(|svg| svg.contains("of each measurement of the search")).expect("a path");
    assert_eq!(path.matches("<circle").count(), 4, "one value is missing: {path}");
    assert_eq!(path.matches("class=\"present\"").count(), 2, "{path}");
    assert_eq!(path.matches("class=\"winner\"").count(), 2, "{path}");
    assert_eq!(drawn.filter(|svg| svg.contains("present and changed run by run")).count(), 2, "both finalists");
    let text = report::tuning(&tuning).text(&Style::default());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rejected = "read-ahead 4 -> 512 KiB: 1.30 times as fast (95 % interval 1.17 to 1.43), by 8 pairs: seq-read is not shown to be as \
                    good as before";
    assert!(words.contains(rejected) && page.contains(&rejected.replace('>', "&gt;")), "{text}");
    assert!(words.contains("read-ahead 512: 3.1 times as good (2.9 to 3.3), 3 measurements"), "{text}");
    for part in [
        "not set, or not valid",
        "99-narrows-tune.rules",
        "cache: can lose data",
        "31 measurements, noise of one 4.2 %",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let nothing = report::tune_page(
        &Tuning { measurements: Vec::new(), tried: Vec::new(), winner: None, rejected: None, ..tuning },
        "1",
    );
    assert!(!nothing.contains("<svg") && nothing.contains("Nothing helps"), "{nothing}");
}

#[test]
fn a_winner_is_the_first_and_the_last_word() {
    let tuning = tuning(Some(proof(3.1, true)), None);
    let document: Document = holds(&TuneDocument::new(&tuning, None));
    assert_eq!((document.schema.as_str(), document.asked.as_str()), ("narrows/tune/1", "buffered-read"));
    let winner = document.winner.unwrap();
    assert_eq!((winner.settings[0].name.as_str(), winner.why), ("read-ahead", None));
    let answer = "read-ahead 4 -> 512 KiB makes buffered-read 3.1 times as fast (95 % interval 2.8 to 3.4), confirmed by 8 \
                  pairs; 2 combinations were tried.";
    assert_eq!(document.answer, answer);
    let text = report::tuning(&tuning).text(&Style::default());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with(answer) && words.ends_with(answer), "{text}");
    for part in [
        "What it gains and costs: how many times as good as before",
        "buffered-read 3.1 2.8 to 3.4 better (p 0.0078)",
        "seq-read 1.01 at least 0.97 not worse (margin 10 %)",
        "read-ahead: costs memory",
        "read-ahead 512: 3.1 times as good, 3 measurements",
        "read-ahead 0: not set, or no valid number, 0 measurements",
        "cache: can lose data: --allow-unsafe tries it",
        "ACTION==\"add|change\", ATTR{queue/read_ahead_kb}=\"512\"",
        "echo 4 > /sys/block/sda/queue/read_ahead_kb",
        "narrows compare tune-1-present tune-1-changed",
        "31 measurements, noise of one 4.2 %; 0 B written; 2 min 51 s. All settings are as they were before.",
    ] {
        assert!(words.contains(part), "{part}\n{text}");
    }
}

#[test]
fn lines_to_keep_are_whole_in_every_form() {
    let mut tuning = tuning(Some(proof(3.1, true)), None);
    let rule =
        format!("ACTION==\"add|change\", KERNEL==\"sd*\", ENV{{ID_SERIAL}}==\"{}\", ATTR{{a}}=\"1\"", "s ".repeat(40));
    let keep = &mut tuning.winner.as_mut().unwrap().keep[0];
    keep.text.push_str(&format!("\n{rule}"));
    keep.note = Some("udev reads it at the next start".into());
    let presentation = report::tuning(&tuning);
    let text = presentation.text(&Style { width: 40, ..Style::default() });
    assert!(text.lines().any(|line| line == format!("    {rule}")), "{text}");
    let markdown = presentation.markdown();
    let (_, block) = markdown.split_once("**To keep it (udev), in /etc/udev/rules.d/99-narrows-tune.rules:**").unwrap();
    let first = "ACTION==\"add|change\", ATTR{queue/read_ahead_kb}=\"512\"";
    let below = format!(
        "\n```text\n{first}\n{rule}\n```\n\nudev reads it at the next start\n\n**To take it back:**\n```text\n\
         rm /etc/udev/rules.d/99-narrows-tune.rules\necho 4 > /sys/block/sda/queue/read_ahead_kb\n```\n"
    );
    assert!(block.starts_with(&below), "{markdown}");
    assert!(markdown.starts_with("**read-ahead 4 -&gt; 512 KiB makes buffered-read 3.1 times as fast"), "{markdown}");
    for part in [
        "| metric | times | interval | verdict |",
        "| seq-read | 1.01 | at least 0.97 | not worse (margin 10 %) |",
        "- read-ahead 8192: 3.0 times as good, 3 measurements",
        "**Not tried**\n\n- cache: can lose data: --allow-unsafe tries it",
        "2 min 51 s. All settings are as they were before.\n```text\nnarrows compare tune-1-present tune-1-changed\n```",
    ] {
        assert!(markdown.contains(part), "{part}\n{markdown}");
    }
}

#[test]
fn what_is_not_shown_is_not_recommended() {
    let rejected = |why, proof| Some(TuneRejected { why, proof });
    let none = tuning(None, rejected(NotKept::NoGain, proof(1.02, true)));
    let document: Document = holds(&TuneDocument::new(&none, None));
    assert!(document.winner.is_none() && document.rejected.unwrap().why.unwrap() == "no-gain");
    assert!(document.answer.starts_with("Nothing helps: read-ahead 4 -> 512 KiB looked best"), "{}", document.answer);
    let harms = tuning(None, rejected(NotKept::Guard, proof(1.3, false)));
    let document: Document = holds(&TuneDocument::new(&harms, None));
    assert!(document.answer.contains("but seq-read is not shown to be as good"), "{}", document.answer);
    let text = report::tuning(&harms).text(&Style::default());
    assert!(!text.contains("To keep it") && text.contains("not shown (margin 10 %)"), "{text}");
    assert_eq!(text.matches("Nothing is recommended").count(), 1, "the first line is still seen: {text}");
    let document: Document = holds(&TuneDocument::new(&tuning(None, None), None));
    assert_eq!(document.answer, "Nothing helps: nothing looked better for buffered-read; 2 combinations were tried.");
}

#[test]
fn a_plan_says_what_can_be_proven() {
    let plan = TunePlan {
        target: "/dev/sda".into(),
        asked: "buffered-read".into(),
        metric: Some("buffered-read.throughput_bytes_per_s".into()),
        candidates: candidates(),
        cells: 31,
        changes: 3,
        screened: false,
        pairs: 8,
        guards: vec!["seq-read".into(), "rand-read-qd1".into()],
        budget_ns: 180_000_000_000,
        bytes_at_most: Some(0),
        provable: vec![(5.0, Some(9.6)), (10.0, None)],
    };
    let document: PlanDocument = holds(&TunePlanDocument::new(&plan));
    assert_eq!(document.schema, "narrows/tune/1");
    let text = report::tune_plan(&plan).text(&Style::default());
    assert!(text.starts_with("  Tries 3 values on /dev/sda for buffered-read"), "{text}");
    let markdown = report::tune_plan(&plan).markdown();
    assert!(markdown.starts_with("**Tries 3 values on /dev/sda for buffered-read"), "{markdown}");
    assert!(markdown.contains("- read-ahead: 4 -&gt; 0 \\| 512 \\| 8192; costs memory"), "{markdown}");
    for part in [
        "Tries 3 values on /dev/sda for buffered-read",
        "nothing is written",
        "read-ahead  4 -> 0 | 512 | 8192; costs memory",
        "Not to become worse: seq-read, rand-read-qd1.",
        "with noise of 5 % of a measurement: gains of 9.6 %",
        "with noise of 10 % of a measurement: nothing",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
