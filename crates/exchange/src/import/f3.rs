//! What `f3write` and `f3read` print: the average speed, and whether what was written came back. 1 MB is 2^20
//! bytes there (utils.c, later libutils.c: adjust_unit divides by 1024).

use super::localized::decimal;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};

/// `f3write` or `f3read` by the first line of each; `F3 write 8.0`.
fn title(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_end();
    let (test, version) = match (line.strip_prefix("F3 write "), line.strip_prefix("F3 read ")) {
        (Some(version), _) => ("f3.write", version),
        (_, Some(version)) => ("f3.read", version),
        _ => return None,
    };
    version.starts_with(|c: char| c.is_ascii_digit()).then_some((test, version))
}

/// Before 4.0 `Average Writing speed:`.
const SPEEDS: [(&str, &str); 2] = [("average writing speed:", "f3.write"), ("average reading speed:", "f3.read")];
const COUNTS: [(&str, &str); 5] = [
    ("Data OK:", "ok_bytes"),
    ("Data LOST:", "lost_bytes"),
    ("Corrupted:", "corrupted_bytes"),
    ("Slightly changed:", "changed_bytes"),
    ("Overwritten:", "overwritten_bytes"),
];

/// The test and the rate of a line that gives the average speed.
fn average(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim();
    SPEEDS.iter().find_map(|(start, of)| {
        let (label, rest) = line.split_at_checked(start.len())?;
        label.eq_ignore_ascii_case(start).then_some((*of, rest))
    })
}

/// The quantity and the rest of a line that counts sectors.
fn count(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim();
    COUNTS.iter().find_map(|(start, quantity)| Some((*quantity, line.strip_prefix(start)?)))
}

/// The test that a line opens which comes before all results of it: people copy from there on, without the title.
fn opening(line: &str) -> Option<&'static str> {
    let line = line.trim();
    if line.starts_with("SECTORS") && line.contains("ok/corrupted/changed/overwritten") {
        return Some("f3.read");
    }
    let is_file = |rest: &str| rest.split_once(".h2w ...").is_some_and(|(n, _)| n.bytes().all(|b| b.is_ascii_digit()));
    let of = |start: &str| line.strip_prefix(start).is_some_and(is_file);
    if of("Validating file ") { Some("f3.read") } else { of("Creating file ").then_some("f3.write") }
}

/// Whether any line is one of f3's.
pub(super) fn detect(text: &Text) -> bool {
    let is_result = |line: &str| {
        average(line).is_some_and(|(_, rest)| speed(rest).is_some())
            || count(line).is_some_and(|(_, rest)| sectors(rest).is_some())
    };
    text.lines().any(|(_, line)| title(line.trim_start()).is_some() || opening(line).is_some() || is_result(last(line)))
}

/// While it writes, a line is drawn over and over.
fn last(line: &str) -> &str {
    line.rsplit(['\r', '\u{8}']).next().unwrap_or(line)
}

/// An output that is being read.
struct Output {
    run: ImportedRun,
    test: &'static str,
    metrics: Vec<ImportedMetric>,
}

impl Output {
    fn new(found: &Found, line: usize, test: &'static str) -> Self {
        Self { run: ImportedRun::new("f3", found.file, line), test, metrics: Vec::new() }
    }

    fn has(&self, id: &str) -> bool {
        self.metrics.iter().any(|m| m.metric.id == id)
    }

    fn finish(mut self, found: &mut Found) {
        self.run.push(self.test, self.metrics);
        self.run.remark("MB of f3 are 2^20 bytes");
        if !self.run.groups.is_empty() {
            found.push(self.run);
        }
    }
}

/// The output that a figure belongs to: the open one, unless it is of another test or has the figure already.
fn of_figure<'o>(
    open: &'o mut Option<Output>,
    found: &mut Found,
    line: usize,
    (test, id): (&'static str, &str),
) -> &'o mut Output {
    if open.as_ref().is_some_and(|o| o.has(id) || o.test != test) {
        open.take().into_iter().for_each(|o| o.finish(found));
    }
    open.get_or_insert_with(|| Output::new(found, line, test))
}

/// Reads all outputs: a run for each title; without one a run begins where the first lines of a test stand, and where a
/// figure comes that the last one has already.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut open: Option<Output> = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        let line = last(line);
        if let Some((test, version)) = title(line.trim_start()) {
            open.take().into_iter().for_each(|o| o.finish(found));
            let mut new = Output::new(found, number, test);
            new.run.source_version = Some(version.to_owned());
            open = Some(new);
            found.used(number);
        } else if let Some((test, rest)) = average(line) {
            let Some((value, original)) = speed(rest) else {
                found.not_understood(number, "there is no rate in it");
                continue;
            };
            let id = format!("{test}.throughput_bytes_per_s");
            let output = of_figure(&mut open, found, number, (test, &id));
            output.metrics.extend(ImportedMetric::new(id, Unit::BytesPerS, Some(Better::Higher), value, 1, original));
            found.used(number);
        } else if let Some((quantity, rest)) = count(line) {
            let Some(sectors) = sectors(rest) else {
                found.not_understood(number, "there is no number of sectors in it");
                continue;
            };
            let better = if quantity == "ok_bytes" { Better::Higher } else { Better::Lower };
            let id = format!("f3.read.{quantity}");
            let output = of_figure(&mut open, found, number, ("f3.read", &id));
            let original = Original::new(sectors.to_string(), "sectors");
            output.metrics.extend(ImportedMetric::new(id, Unit::Bytes, Some(better), sectors * 512.0, 1, original));
            if quantity == "lost_bytes" && sectors > 0.0 {
                output.run.remark(format!("data were lost: {}", rest.trim()));
            }
            found.used(number);
        } else if let Some(test) = opening(line) {
            if open.as_ref().is_some_and(|o| o.test != test || !o.metrics.is_empty()) {
                open.take().into_iter().for_each(|o| o.finish(found));
            }
            open.get_or_insert_with(|| Output::new(found, number, test));
            found.used(number);
        } else if is_frame(line.trim()) {
            found.used(number);
        }
    }
    open.into_iter().for_each(|o| o.finish(found));
}

fn is_frame(line: &str) -> bool {
    let starts = ["Copyright (C)", "This is free software", "Free space:", "Removing old file", "SECTORS", "WARNING"];
    starts.iter().any(|start| line.starts_with(start))
}

/// ` 68.15 MB/s`.
fn speed(text: &str) -> Option<(f64, Original)> {
    let mut words = text.split_whitespace();
    let (digits, unit) = (words.next()?, words.next()?);
    let prefix = unit.strip_suffix("B/s").or_else(|| (unit == "Byte/s").then_some(""))?;
    let power = ["", "K", "M", "G", "T"].iter().position(|p| p.eq_ignore_ascii_case(prefix))?;
    let value = decimal(digits).filter(|v| *v > 0.0)? * 1024f64.powi(i32::try_from(power).ok()?);
    Some((value, Original::new(digits, unit)))
}

/// Of ` 1.00 GB (2097152 sectors)` the sectors.
fn sectors(text: &str) -> Option<f64> {
    let (_, inside) = text.split_once('(')?;
    decimal(inside.split_once(" sector")?.0.trim())
}
