//! What `sysbench --test=fileio run` printed before 1.0: how much was done in all and how long it took; rates by direction
//! follow from both. Kb, Mb and Gb are powers of 1024 of bytes there (sb_fileio.c, sb_print_value_size).
//!
//! `Operations performed:  6000 Read, 4000 Write, 1600 Other = 11600 Total` (0.5: `reads`, `writes`),
//! `Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (31.25Mb/sec)`, ` 2000.00 Requests/sec executed`.

use super::localized::decimal;
use super::{ImportedMetric, Original};
use model::{Better, Unit};

/// How far what is printed twice may differ: each is rounded.
const AGREES: f64 = 0.02;

/// What was done in all, as far as it was read.
#[derive(Default)]
pub(super) struct Totals {
    reads: Option<f64>,
    writes: Option<f64>,
    read_bytes: Option<f64>,
    written_bytes: Option<f64>,
    /// The rate of all bytes, as printed.
    rate: Option<(f64, Original)>,
    requests_per_s: Option<f64>,
}

impl Totals {
    /// Takes a line; whether it is one of these.
    pub fn line(&mut self, line: &str) -> bool {
        let operations = line.strip_prefix("Operations performed:").and_then(operations);
        if let Some((reads, writes)) = operations {
            (self.reads, self.writes) = (Some(reads), Some(writes));
        } else if let Some((read, written, rate)) = volumes(line) {
            (self.read_bytes, self.written_bytes, self.rate) = (Some(read), Some(written), Some(rate));
        } else if let Some(rate) = line.strip_suffix("Requests/sec executed").and_then(|l| decimal(l.trim())) {
            self.requests_per_s = Some(rate);
        } else {
            return false;
        }
        true
    }

    pub fn is_empty(&self) -> bool {
        self.reads.is_none() && self.rate.is_none()
    }

    /// The metrics of a test, or why there are none.
    pub fn metrics(self, test: &str, seconds: Option<f64>) -> Result<Vec<ImportedMetric>, &'static str> {
        let (Some(reads), Some(writes), Some((rate, rate_text))) = (self.reads, self.writes, self.rate) else {
            return Err("of its operations and its bytes one is missing");
        };
        // Where the end was cut off, the rate of requests tells the time.
        let counted = self.requests_per_s.filter(|r| *r > 0.0).map(|r| (reads + writes) / r);
        let seconds = seconds.or(counted).filter(|s| *s > 0.0).ok_or("its total time is missing")?;
        let (read_bytes, written_bytes) = (self.read_bytes.unwrap_or(0.0), self.written_bytes.unwrap_or(0.0));
        let near = |a: f64, b: f64| (a - b).abs() <= AGREES * a.max(b);
        if !near((read_bytes + written_bytes) / seconds, rate) {
            return Err("inconsistent: its bytes in its time are not the rate that it printed");
        }
        if self.requests_per_s.is_some_and(|r| !near((reads + writes) / seconds, r)) {
            return Err("inconsistent: its operations in its time are not the rate that it printed");
        }
        let of = |quantity: &str, unit, value: f64, original| {
            let id = format!("{test}.{quantity}");
            ImportedMetric::new(id, unit, Some(Better::Higher), value, 1, original).filter(|_| value > 0.0)
        };
        let over_time = |count: f64, what: &str| Original::new(format!("{count} / {seconds} s"), what);
        let metrics = [
            of("throughput_bytes_per_s", Unit::BytesPerS, rate, rate_text),
            of("read.iops", Unit::OpsPerS, reads / seconds, over_time(reads, "reads")),
            of("read.throughput_bytes_per_s", Unit::BytesPerS, read_bytes / seconds, over_time(read_bytes, "bytes")),
            of("write.iops", Unit::OpsPerS, writes / seconds, over_time(writes, "writes")),
            of(
                "write.throughput_bytes_per_s",
                Unit::BytesPerS,
                written_bytes / seconds,
                over_time(written_bytes, "bytes"),
            ),
        ];
        Ok(metrics.into_iter().flatten().collect())
    }
}

/// Reads and writes of `  6000 Read, 4000 Write, 1600 Other = 11600 Total`, if their sum is what it says.
fn operations(text: &str) -> Option<(f64, f64)> {
    let (each, total) = text.split_once('=')?;
    let mut counts = each.split(',').map(|part| {
        let (count, what) = part.trim().split_once(' ')?;
        Some((decimal(count)?, what.trim().to_ascii_lowercase()))
    });
    let mut next = |what: &str| counts.next().flatten().filter(|(_, w)| w.starts_with(what)).map(|(n, _)| n);
    let (reads, writes, other) = (next("read")?, next("write")?, next("other")?);
    let total = decimal(total.trim().strip_suffix("Total")?.trim())?;
    (reads + writes + other == total).then_some((reads, writes))
}

/// Of `Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (31.25Mb/sec)` bytes read, bytes written, and the rate.
fn volumes(line: &str) -> Option<(f64, f64, (f64, Original))> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["Read", read, "Written", written, "Total", "transferred", _, rate] = words.as_slice() else { return None };
    let rate = rate.strip_prefix('(')?.strip_suffix("/sec)")?;
    let digits = rate.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    Some((size(read)?, size(written)?, (size(rate)?, Original::new(digits, format!("{}/sec", &rate[digits.len()..])))))
}

fn size(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = ["b", "Kb", "Mb", "Gb", "Tb"].iter().position(|unit| text[digits.len()..] == **unit)?;
    Some(decimal(digits)? * 1024_f64.powi(power as i32))
}
