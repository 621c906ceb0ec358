//! Formats for others' databases, alerts and services: OpenMetrics, the table of a history, Bencher's JSON.

use crate::csv::parse;
use crate::runs::{Access, Operation, Order, phase, plain, refused, run, stream};
use exchange::{ExchangeError, HistoryRow, Options, ScrapedRun, history_csv, openmetrics};
use model::{Confidence, Finding, Layer, LayerKind, LimitLayer, Metric, Run, Unit, facts};
use std::collections::HashSet;

fn scraped<'a>(run: &'a Run, findings: &'a [Finding]) -> ScrapedRun<'a> {
    ScrapedRun { run, findings, began_s: Some(1_700_000_000.5), wear: vec![("S\"1\\".to_owned(), 0.25)] }
}

/// A run on a disk whose names are made to break out of a label.
fn hostile() -> Run {
    let mut run = plain();
    run.target.name = "/mnt/\"x\"\\\n# TYPE fake counter\u{202e}".into();
    let mut disk = Layer::new(LayerKind::Disk, "sda");
    disk.set(facts::SERIAL, "S\"1\\");
    disk.set(facts::WRITTEN_BYTES, 5_000_000_000_u64);
    run.target.stack.layers = vec![disk].into();
    run
}

#[test]
fn samples_are_in_base_units_with_their_place_as_labels() {
    let finding = Finding {
        id: "read-ahead-small".into(),
        title: String::new(),
        layer: LimitLayer::BlockLayer,
        confidence: Confidence::High,
        evidence: Vec::new(),
        gain: None,
        fix: String::new(),
        source: String::new(),
    };
    let mut run = hostile();
    run.phases[0].metrics.push(Metric::measured("rand-read-qd32.latency_ns_p99", Unit::Ns, None, 2_500_000.0, 1));
    let text = openmetrics(&[scraped(&run, &[finding])]);
    let has = |part: &str| assert!(text.contains(part), "{part}\n{text}");
    let of = r#"target="/mnt/\"x\"\\\\x0a# TYPE fake counter\\u{202e}",device="sda",workload="check""#;
    let of = of.replace("x0a", "n");
    has("phase=\"rand-read-qd32\"} 4096000\n");
    has("phase=\"rand-read-qd32\",statistic=\"p99\"} 0.0025\n");
    has("narrows_finding{");
    has("finding=\"read-ahead-small\",layer=\"block-layer\",confidence=\"high\"} 1\n");
    has("narrows_disk_wear_ratio{device=\"sda\",model=\"\",serial=\"S\\\"1\\\\\"} 0.25\n");
    has("narrows_disk_written_bytes{device=\"sda\",model=\"\",serial=\"S\\\"1\\\\\"} 5000000000\n");
    has("validity=\"valid\"} 1\n");
    has("validity=\"partial\"} 0\n");
    has("} 1700000000.5\n");
    assert!(text.ends_with("# EOF\n") && text.contains(&of), "{of}\n{text}");
    // Each line is a comment or a sample, each sample once, and each family has its type before it.
    let (mut seen, mut typed) = (HashSet::new(), HashSet::new());
    for line in text.lines() {
        match line.strip_prefix("# TYPE ") {
            Some(of) => assert!(typed.insert(of.trim_end_matches(" gauge").to_owned()), "{line}"),
            None if line.starts_with('#') => {}
            None => {
                let (name, rest) = line.split_once('{').expect("labels");
                let (labels, value) = rest.rsplit_once("} ").expect("a value");
                assert!(typed.contains(name) && value.parse::<f64>().is_ok(), "{line}");
                assert!(seen.insert((name.to_owned(), labels.to_owned())), "twice: {line}");
            }
        }
    }
}

#[test]
fn a_refused_number_is_counted_and_not_there_and_the_later_run_counts() {
    let good = phase("a", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 1)]);
    let bad = run(vec![
        good.clone(),
        refused(phase("b", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 1)])),
    ]);
    let text = openmetrics(&[scraped(&bad, &[])]);
    assert!(text.contains("phase=\"a\"") && !text.contains("phase=\"b\""), "{text}");
    let count = text.lines().find(|l| l.starts_with("narrows_metrics_refused{")).expect("the count");
    assert!(!count.ends_with(" 0"), "{count}");
    let mut later = run(vec![good]);
    later.id = "later".into();
    let text = openmetrics(&[scraped(&bad, &[]), scraped(&later, &[])]);
    assert!(text.contains("run=\"later\"") && text.matches("narrows_run_info{").count() == 1, "{text}");
}

fn row(run: &Run) -> HistoryRow<'_> {
    HistoryRow { run, machine: "=cmd()", device: "SSD, 1 TB", plan: "00ff" }
}

#[test]
fn a_row_a_run_and_a_column_a_metric_that_the_schema_has_too() {
    let mut other = plain();
    (other.id, other.plan.name) = ("second".into(), "mix".into());
    let long = format!("phase.{}.iops", "x".repeat(80));
    other.phases[0].metrics = vec![
        Metric::measured(long.clone(), Unit::OpsPerS, None, 1.5, 1),
        Metric::measured(long.replace(".iops", ".latency_ns_p99"), Unit::Ns, None, 2.0, 1),
        Metric::measured("\"; DROP TABLE x;.iops", Unit::OpsPerS, None, 3.0, 1),
    ];
    let runs = [plain(), other];
    let table = history_csv(&[row(&runs[0]), row(&runs[1])], &Options::default()).unwrap();
    let lines = parse(&table.csv);
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "a rectangle");
    let column =
        |name: &str| lines[0].iter().position(|c| c == name).unwrap_or_else(|| panic!("no {name}: {:?}", lines[0]));
    assert_eq!(lines[1][column("rand-read-qd32.throughput_bytes_per_s")], "4096000");
    assert_eq!(lines[2][column("rand-read-qd32.throughput_bytes_per_s")], "", "what a run does not have");
    assert_eq!((lines[2][column("run")].as_str(), lines[1][column("machine")].as_str()), ("second", "'=cmd()"));
    assert_eq!(lines[1][column("device")], "SSD, 1 TB");
    // The same columns in the same order; names that PostgreSQL would cut to the same one are two.
    let names: Vec<String> = table
        .schema
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .map(|line| line.trim_start_matches('"').split(['"', ' ']).next().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), lines[0].len(), "{}", table.schema);
    assert!(
        names.iter().all(|n| n.len() <= 63) && names.iter().collect::<HashSet<_>>().len() == names.len(),
        "{names:?}"
    );
    assert!(!table.schema.contains("DROP TABLE x;"), "{}", table.schema);
    let none = history_csv(&[row(&run(Vec::new()))], &Options::default());
    assert!(matches!(none, Err(ExchangeError::NothingRecorded { .. })));
}

#[test]
fn bencher_has_a_benchmark_for_each_part_and_a_measure_for_each_quantity() {
    let text = exchange::bencher(&plain(), &Options::default()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let measure = &json["rand-read-qd32"]["throughput-bytes-per-s"];
    assert_eq!(measure["value"], 4_096_000.0);
    assert!(measure["lower_value"].as_f64() < measure["value"].as_f64() && measure["upper_value"].is_f64(), "{text}");
    let refused = run(vec![refused(phase("b", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 1)]))]);
    assert!(matches!(exchange::bencher(&refused, &Options::default()), Err(ExchangeError::NothingRecorded { .. })));
    let kept = Options { keep_refused: true, ..Options::default() };
    assert!(exchange::bencher(&refused, &kept).is_ok());
}
