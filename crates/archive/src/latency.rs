//! latency.csv: the full histogram of each phase, one line per bucket that holds operations.
//!
//! The lowest bucket is narrowed to the exact minimum and the highest one to the exact maximum, so the table says
//! nothing less than the histogram did. The exact sum of all latencies stands in `sum_ns` of a phase's first line and
//! is blank in its others.

use crate::Result;
use crate::csv::{Outcome, Tolerance, Writer, columns, each_row};
use model::{Bucket, Histogram, Ns, PhasePlan, PhaseRun, StreamPlan};
use std::collections::HashMap;
use std::path::Path;

const COLUMNS: [&str; 6] = ["phase", "direction", "bucket_low_ns", "bucket_high_ns", "count", "sum_ns"];

/// More than a thousand phases with every bucket in use.
const ROW_LIMIT: usize = 8_000_000;

/// The header line.
pub(crate) fn header() -> String {
    let mut w = Writer::default();
    w.line(COLUMNS);
    w.into_text()
}

fn direction(plan: &PhasePlan) -> &'static str {
    match (plan.streams.iter().any(StreamPlan::reads), plan.is_write()) {
        (true, false) => "read",
        (false, true) => "write",
        (true, true) => "mixed",
        (false, false) => "none",
    }
}

/// The lines of these phases.
pub(crate) fn lines(phases: &[PhaseRun]) -> String {
    let mut w = Writer::default();
    for phase in phases {
        let Some(record) = &phase.record else { continue };
        let buckets: Vec<Bucket> = record.latency.buckets().collect();
        for (i, bucket) in buckets.iter().enumerate() {
            let low = if i == 0 { record.latency.min() } else { None }.unwrap_or(bucket.low_ns);
            let high = if i + 1 == buckets.len() { record.latency.max() } else { None }.unwrap_or(bucket.high_ns);
            w.text(&phase.plan.name).text(direction(&phase.plan)).number(low).number(high).number(bucket.count);
            if i == 0 { w.number(record.latency.sum_ns()) } else { w.text("") }.end();
        }
    }
    w.into_text()
}

#[derive(Default)]
struct Stored {
    buckets: Vec<Bucket>,
    count: u64,
    sum_ns: u128,
}

impl Stored {
    fn push(&mut self, bucket: Bucket, sum_ns: &str) -> std::result::Result<(), String> {
        if bucket.low_ns > bucket.high_ns {
            return Err("the bucket ends before it begins".into());
        }
        if self.buckets.last().is_some_and(|last| last.high_ns >= bucket.low_ns) {
            return Err("the buckets are not in ascending order".into());
        }
        if bucket.count == 0 {
            return Err("the bucket is empty".into());
        }
        self.count = self.count.checked_add(bucket.count).ok_or("the counts exceed 2^64")?;
        match (self.buckets.is_empty(), sum_ns) {
            (true, sum) => self.sum_ns = sum.parse().map_err(|_| "the first line of a phase lacks its sum")?,
            (false, "") => {}
            (false, _) => return Err("a second sum for one phase".into()),
        }
        self.buckets.push(bucket);
        Ok(())
    }

    fn histogram(self) -> Histogram {
        let min: Ns = self.buckets.first().map_or(Ns::MAX, |b| b.low_ns);
        let max: Ns = self.buckets.last().map_or(0, |b| b.high_ns);
        Histogram::from_buckets(self.buckets, min, max, self.sum_ns)
    }
}

/// Histograms by phase, only of phases for which `wanted` holds; each takes tens of kilobytes, and the names come from
/// a file.
pub(crate) fn read(
    path: &Path,
    text: &str,
    tolerance: Tolerance,
    wanted: impl Fn(&str) -> bool,
) -> Result<(HashMap<String, Histogram>, Vec<String>, Outcome)> {
    let mut phases: HashMap<String, Stored> = HashMap::new();
    let outcome = each_row(
        path,
        text,
        tolerance,
        ROW_LIMIT,
        |header| columns(header, COLUMNS),
        |c, row| {
            let bucket = Bucket { low_ns: row.u64(c[2])?, high_ns: row.u64(c[3])?, count: row.u64(c[4])? };
            match phases.get_mut(row.cell(c[0])) {
                Some(stored) => stored.push(bucket, row.cell(c[5])),
                None => phases.entry(row.cell(c[0]).to_owned()).or_default().push(bucket, row.cell(c[5])),
            }
        },
    )?;
    let (known, unknown): (Vec<_>, Vec<_>) = phases.into_iter().partition(|(name, _)| wanted(name));
    let histograms = known.into_iter().map(|(name, stored)| (name, stored.histogram())).collect();
    Ok((histograms, unknown.into_iter().map(|(name, _)| name).collect(), outcome))
}
