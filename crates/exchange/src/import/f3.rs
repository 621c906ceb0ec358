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

const SPEEDS: [(&str, &str); 2] = [("Average writing speed:", "f3.write"), ("Average reading speed:", "f3.read")];
const COUNTS: [(&str, &str); 5] = [
    ("Data OK:", "ok_bytes"),
    ("Data LOST:", "lost_bytes"),
    ("Corrupted:", "corrupted_bytes"),
    ("Slightly changed:", "changed_bytes"),
    ("Overwritten:", "overwritten_bytes"),
];

/// Whether any line is one of f3's.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| title(line).is_some() || SPEEDS.iter().any(|(start, _)| line.starts_with(start)))
}

/// Reads all outputs: a run for each title; a speed without one is a run of its own.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut run: Option<(ImportedRun, Vec<ImportedMetric>)> = None;
    let mut test = "f3.read";
    for (number, line) in text.lines() {
        if found.is_used(number) {
            continue;
        }
        // While it writes, a line is drawn over and over.
        let line = line.rsplit(['\r', '\u{8}']).next().unwrap_or(line);
        if let Some((of, version)) = title(line) {
            finish(run.take(), test, found);
            test = of;
            let mut new = ImportedRun::new("f3", found.file, number);
            new.source_version = Some(version.to_owned());
            run = Some((new, Vec::new()));
            found.used(number);
            continue;
        }
        if let Some((rest, of)) = SPEEDS.iter().find_map(|(start, of)| Some((line.trim().strip_prefix(start)?, *of))) {
            let Some((value, original)) = speed(rest) else {
                found.not_understood(number, "there is no rate in it");
                continue;
            };
            let (_, metrics) = run.get_or_insert_with(|| (ImportedRun::new("f3", found.file, number), Vec::new()));
            test = of;
            let id = format!("{of}.throughput_bytes_per_s");
            metrics.extend(ImportedMetric::new(id, Unit::BytesPerS, Some(Better::Higher), value, 1, original));
            found.used(number);
            continue;
        }
        let Some((own, metrics)) = run.as_mut() else { continue };
        if let Some((rest, quantity)) =
            COUNTS.iter().find_map(|(start, q)| Some((line.trim().strip_prefix(start)?, *q)))
        {
            let Some(sectors) = sectors(rest) else {
                found.not_understood(number, "there is no number of sectors in it");
                continue;
            };
            found.used(number);
            let better = if quantity == "ok_bytes" { Better::Higher } else { Better::Lower };
            let id = format!("f3.read.{quantity}");
            let original = Original::new(sectors.to_string(), "sectors");
            metrics.extend(ImportedMetric::new(id, Unit::Bytes, Some(better), sectors * 512.0, 1, original));
            if quantity == "lost_bytes" && sectors > 0.0 {
                own.remark(format!("data were lost: {}", rest.trim()));
            }
        } else if is_frame(line.trim()) {
            found.used(number);
        }
    }
    finish(run, test, found);
}

fn finish(run: Option<(ImportedRun, Vec<ImportedMetric>)>, test: &str, found: &mut Found) {
    let Some((mut run, metrics)) = run else { return };
    run.push(test, metrics);
    run.remark("MB of f3 are 2^20 bytes");
    found.push(run);
}

fn is_frame(line: &str) -> bool {
    let starts = [
        "Copyright (C)",
        "This is free software",
        "Free space:",
        "Creating file ",
        "Validating file ",
        "Removing old file",
        "SECTORS",
        "WARNING",
    ];
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
