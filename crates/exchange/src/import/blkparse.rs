//! The counts at the end of what `blkparse` prints: requests and bytes by stage, for each device and all together. Above a
//! million a number is divided by 1000 and has the next letter, KiB likewise (blkparse.c, size_cnv). The events above are left to
//! tools for events.

use super::localized::decimal;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};

/// The labels, in the order of a row: reads, then writes.
const ROWS: [(&str, &str, &str); 12] = [
    ("Reads Queued", "read", "queued"),
    ("Writes Queued", "write", "queued"),
    ("Read Dispatches", "read", "dispatched"),
    ("Write Dispatches", "write", "dispatched"),
    ("Reads Requeued", "read", "requeued"),
    ("Writes Requeued", "write", "requeued"),
    ("Reads Completed", "read", "completed"),
    ("Writes Completed", "write", "completed"),
    ("Read Merges", "read", "merged"),
    ("Write Merges", "write", "merged"),
    ("Read depth", "read", "depth_max"),
    ("Write depth", "write", "depth_max"),
];

/// `sda` of `Total (sda):`, `CPU0 (sda):`; with whether it is a total.
fn title(line: &str) -> Option<(&str, bool)> {
    let (head, device) = line.trim().strip_suffix("):")?.split_once(" (")?;
    let is_cpu = head.strip_prefix("CPU").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    (head == "Total" || is_cpu).then_some((device, head == "Total"))
}

/// Whether any line is such a title, and the next one a row of counts.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(number, line)| title(line).is_some() && text.line(number + 1).contains("Reads Queued:"))
}

/// Reads all totals: a run each. Where there is one processor only, its counts are the total.
pub(super) fn read(text: &Text, found: &mut Found) {
    let titles: Vec<(usize, String, bool)> =
        text.lines().filter_map(|(n, l)| title(l).map(|(device, total)| (n, device.to_owned(), total))).collect();
    for (number, device, is_total) in &titles {
        let alone = titles.iter().filter(|(_, other, _)| other == device).count() == 1;
        let mut metrics = Vec::new();
        let mut last = *number;
        for (row, line) in text.lines_from(number + 1) {
            if line.trim().is_empty() && last > *number {
                // The throughput follows the blank line after a total.
                if throughput(text.line(row + 1), &mut metrics) {
                    found.used_range(row, row + 1);
                }
                break;
            }
            if title(line).is_some() || !(line.contains(':') && counts(line, &mut metrics)) {
                break;
            }
            last = row;
        }
        if last == *number {
            continue;
        }
        found.used_range(*number, last);
        if *is_total || alone {
            let mut run = ImportedRun::new("blkparse", device, *number);
            run.target = Some(device.clone());
            run.push("blkparse", metrics);
            run.remark("counts of requests at the block layer, while the trace was on");
            found.push(run);
        }
    }
}

/// Takes the figures of a row; whether it is one.
fn counts(line: &str, metrics: &mut Vec<ImportedMetric>) -> bool {
    let mut known = line.contains("unplugs:");
    for (label, side, stage) in ROWS {
        let Some((_, rest)) = line.split_once(&format!("{label}:")) else { continue };
        known = true;
        // A thousand is grouped by a comma without a blank; the bytes follow a comma with blanks.
        let rest = rest.split("Write").next().unwrap_or(rest);
        let mut parts = rest.trim().splitn(2, ", ");
        if let Some((value, original)) = parts.next().and_then(|t| scaled(t.trim(), "")) {
            let id = format!("blkparse.{side}.{stage}");
            metrics.extend(ImportedMetric::new(id, Unit::Ratio, None, value, 1, original));
        }
        if let Some((value, original)) = parts.next().and_then(|t| scaled(t.trim(), "iB")) {
            let id = format!("blkparse.{side}.{stage}_bytes");
            metrics.extend(ImportedMetric::new(id, Unit::Bytes, None, value * 1024.0 / 1000.0, 1, original));
        }
    }
    known
}

/// `Throughput (R/W): 2KiB/s / 46,340KiB/s`.
fn throughput(line: &str, metrics: &mut Vec<ImportedMetric>) -> bool {
    let Some((read, write)) = line.trim().strip_prefix("Throughput (R/W):").and_then(|r| r.split_once(" / ")) else {
        return false;
    };
    for (side, text) in [("read", read), ("write", write)] {
        if let Some((value, original)) = scaled(text.trim(), "iB/s").filter(|(v, _)| *v > 0.0) {
            let id = format!("blkparse.{side}.throughput_bytes_per_s");
            let bytes = value * 1024.0 / 1000.0;
            metrics.extend(ImportedMetric::new(id, Unit::BytesPerS, Some(Better::Higher), bytes, 1, original));
        }
    }
    true
}

/// `1,257K`, `5,030MiB`, `46,340KiB/s`: thousands of what stands before `ending`.
fn scaled(text: &str, ending: &str) -> Option<(f64, Original)> {
    let number = text.strip_suffix(ending)?;
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = ["", "K", "M", "G"].iter().position(|p| *p == &number[digits.len()..])?;
    let value = decimal(&digits.replace(',', ""))? * 1000f64.powi(i32::try_from(power).ok()?);
    Some((value, Original::new(digits, format!("{}{ending}", &number[digits.len()..]))))
}
