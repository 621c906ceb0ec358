//! Result files of `elbencho`: CSV (`--csvfile`) with a heading of its own, and JSON (`--jsonfile`), a document a line and a phase.

use super::comma::fields;
use super::elbencho::described;
use super::number::finite;
use super::test_figures::TestFigures;
use super::{Found, ImportedRun, Text};
use serde_json::Value;

const MIB: f64 = 1_048_576.0;

/// Whether a line is the heading of the CSV.
fn is_heading(line: &str) -> bool {
    line.contains("operation") && line.contains("time ms [first]") && line.contains("MiB/s [last]")
}

/// A document of the JSON.
fn document(line: &str) -> Option<Value> {
    let line = line.trim();
    let is_own = line.starts_with('{') && line.contains("\"phase_type\"") && line.contains("\"last_done\"");
    is_own.then(|| serde_json::from_slice(line.as_bytes()).ok()).flatten()
}

/// Whether there is either.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| is_heading(line) || line.contains("\"phase_type\"") && document(line).is_some())
}

/// Reads all records: a run each.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut heading: Vec<String> = Vec::new();
    for (number, line) in text.lines() {
        if found.is_used(number) || line.trim().is_empty() {
            continue;
        }
        if is_heading(line) {
            heading = fields(line, ',');
            found.used(number);
        } else if let Some(document) = document(line) {
            found.used(number);
            let run = of_document(&document, found.file, number);
            finish(run, number, found);
        } else if !heading.is_empty() {
            let cells = fields(line, ',');
            if cells.len() != heading.len() {
                heading.clear();
                continue;
            }
            found.used(number);
            let run = of_record(&heading, &cells, found.file, number);
            finish(run, number, found);
        }
    }
}

fn finish(run: ImportedRun, number: usize, found: &mut Found) {
    if run.groups.is_empty() {
        found.not_understood(number, "this phase of elbencho has no rate");
    } else {
        found.push(run);
    }
}

fn phase(name: &str) -> String {
    name.to_ascii_lowercase().replace(' ', "-")
}

fn of_record(heading: &[String], cells: &[String], file: &str, number: usize) -> ImportedRun {
    let cell = |name: &str| heading.iter().position(|h| h == name).map_or("", |i| cells[i].as_str());
    let mut run = ImportedRun::new("elbencho-csv", file, number);
    run.source_version = Some(cell("version").to_owned()).filter(|v| !v.is_empty());
    run.duration_ns = finite(cell("time ms [last]")).map(|ms| (ms * 1e6) as u64);
    let name = phase(cell("operation"));
    let mixed = !cell("rwmix read MiB/s [last]").is_empty();
    for (part, prefix) in [(if mixed { ".write" } else { "" }, ""), (".read", "rwmix read ")] {
        let of = |label: &str| cell(&format!("{prefix}{label}"));
        let (iops, mib, entries) = (of("IOPS [last]"), of("MiB/s [last]"), of("entries/s [last]"));
        let mut figures = TestFigures::of(format!("{name}{part}"))
            .iops(finite(iops), iops)
            .rate(finite(mib).map(|v| v * MIB), mib, "MiB/s")
            .files_per_s(finite(entries), entries);
        for (label, which) in [("min", "min"), ("avg", "mean"), ("max", "max")] {
            let us = of(&format!("IO lat us [{label}]"));
            figures = figures.latency(which, finite(us).map(|v| v * 1e3), us, "us");
        }
        figures.into_run(&mut run);
    }
    if !cell("command").is_empty() {
        described(&mut run, cell("command"));
    }
    for column in ["label", "hosts", "threads", "file size", "block size", "IO depth", "random"] {
        if !cell(column).is_empty() {
            run.remark(format!("{column}: {}", cell(column)));
        }
    }
    run
}

/// A number that boost writes as a string.
fn number(value: Option<&Value>) -> Option<(f64, String)> {
    match value? {
        Value::String(text) => Some((finite(text)?, text.clone())),
        Value::Number(n) => Some((n.as_f64()?, n.to_string())),
        _ => None,
    }
}

fn of_document(document: &Value, file: &str, line: usize) -> ImportedRun {
    let mut run = ImportedRun::new("elbencho-json", file, line);
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let config = document.get("config").unwrap_or(&Value::Null);
    run.source_version = text(config, "version");
    let name = phase(&text(document, "phase_type").unwrap_or_default());
    let last = document.get("last_done").unwrap_or(&Value::Null);
    run.duration_ns = number(last.get("elapsed_time_ms")).map(|(ms, _)| (ms * 1e6) as u64);
    let mixed = last.get("rwmix_read");
    let latency = last.get("latency").and_then(|l| l.get("IO"));
    let parts = [
        (if mixed.is_some() { ".write" } else { "" }, Some(last), latency),
        (".read", mixed, latency.and_then(|l| l.get("rwmix_read"))),
    ];
    for (part, values, latency) in parts {
        let Some(values) = values else { continue };
        let of = |key: &str| number(values.get(key)).map_or((None, String::new()), |(v, t)| (Some(v), t));
        let (iops, rate, entries) = (of("iops"), of("bytes/s"), of("entries/s"));
        let mut figures = TestFigures::of(format!("{name}{part}"))
            .iops(iops.0, &iops.1)
            .rate(rate.0, &rate.1, "B/s")
            .files_per_s(entries.0, &entries.1);
        for (key, which) in [("min_us", "min"), ("avg_us", "mean"), ("max_us", "max")] {
            if let Some((us, printed)) = number(latency.and_then(|l| l.get(key))) {
                figures = figures.latency(which, Some(us * 1e3), &printed, "us");
            }
        }
        figures.into_run(&mut run);
    }
    if let Some(command) = text(config, "command") {
        described(&mut run, &command);
    }
    for key in ["threads", "hosts", "file_size", "block_size", "io_depth", "direct_io", "random_offsets"] {
        if let Some(value) = text(config, key) {
            run.remark(format!("{key}: {value}"));
        }
    }
    run
}
