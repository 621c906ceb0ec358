//! Metrics as comma-separated values.

use crate::runs::{Access, Operation, Order, phase, plain, refused, run, stream};
use exchange::{ExchangeError, Options};

/// A reader after RFC 4180, written apart from the writer.
pub fn parse(text: &str) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            c => cell.push(c),
        }
    }
    assert!(!quoted && cell.is_empty() && line.is_empty(), "the last line does not end");
    lines
}

fn cell<'a>(lines: &'a [Vec<String>], row: usize, column: &str) -> &'a str {
    let at = lines[0].iter().position(|c| c == column).unwrap();
    &lines[row][at]
}

#[test]
fn a_line_for_each_metric_of_each_run() {
    let runs = [plain(), plain()];
    let lines = parse(&exchange::csv(&runs, &Options::default()).unwrap());
    assert_eq!(lines.len(), 1 + 2 * 6);
    assert_eq!(cell(&lines, 1, "metric"), "rand-read-qd32.throughput_bytes_per_s");
    assert_eq!(cell(&lines, 1, "unit"), "bytes_per_s");
    assert_eq!(cell(&lines, 1, "value"), "4096000");
    assert_eq!(cell(&lines, 1, "status"), "measured");
}

#[test]
fn jobs_and_directions_have_columns() {
    let metric = |id: &str| model::Metric::measured(id, model::Unit::OpsPerS, None, 1.0, 1);
    let mut one = phase("one", Access::Direct, vec![stream(Operation::Write, Order::Random, 4096, 8)]);
    one.metrics = vec![metric("one.iops"), metric("one.read.iops")];
    let mut two = phase("two", Access::Direct, vec![stream(Operation::Write, Order::Random, 4096, 8); 2]);
    two.plan.streams[0].name = "read".into();
    two.plan.streams[1].name = "db".into();
    two.metrics = vec![metric("two.iops"), metric("two.read.iops"), metric("two.db.write-zeroes.iops")];
    let lines = parse(&exchange::csv(&[run(vec![one, two])], &Options::default()).unwrap());
    let parts: Vec<(&str, &str)> = (1..6).map(|i| (cell(&lines, i, "job"), cell(&lines, i, "direction"))).collect();
    assert_eq!(parts, [("", ""), ("", "read"), ("", ""), ("read", ""), ("db", "write-zeroes")]);
}

#[test]
fn what_was_refused_is_no_value() {
    let mut phases = plain().phases;
    let phase = refused(phases.remove(0));
    let lines = parse(&exchange::csv(&[run(vec![phase])], &Options::default()).unwrap());
    assert_eq!(cell(&lines, 1, "value"), "");
    assert_eq!(cell(&lines, 1, "low"), "");
    assert_eq!(cell(&lines, 1, "status"), "refused");
    assert_eq!(cell(&lines, 1, "rejected_value"), "4096000");
    assert_eq!(cell(&lines, 1, "reasons"), "foreign-traffic: 40 % by others");
}

#[test]
fn a_run_without_metrics_is_an_error() {
    assert!(matches!(exchange::csv(&[run(vec![])], &Options::default()), Err(ExchangeError::NothingRecorded { .. })));
}
