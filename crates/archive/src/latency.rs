//! latency.csv: the full histograms of each phase, one line per bucket that holds operations.
//!
//! Lines with a blank `stream` are of the phase as a whole. Where a phase told its streams apart, the lines of each of
//! their directions follow, with the stream's place in the phase (from 0) and the direction. Tables of versions that did
//! not tell streams apart have no such column.
//!
//! The lowest bucket is narrowed to the exact minimum and the highest one to the exact maximum, so the table says
//! nothing less than the histograms did. The exact sum of all latencies stands in `sum_ns` of a histogram's first line
//! and is blank in its others.

use crate::csv::{Dropped, Row, Tolerance, Writer, columns, each_row};
use crate::{ArchiveError, Result};
use model::{Bucket, Direction, Histogram, Ns, PhasePlan, PhaseRun, StreamPlan};
use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

const COLUMNS: [&str; 7] = ["phase", "stream", "direction", "bucket_low_ns", "bucket_high_ns", "count", "sum_ns"];

/// More than a thousand phases with every bucket in use.
const ROW_LIMIT: usize = 8_000_000;

/// Histograms of one run at most; each takes tens of kilobytes, and a line is enough to ask for one.
const HISTOGRAM_LIMIT: usize = 65_536;

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
        histogram(&mut w, &phase.plan.name, None, direction(&phase.plan), &record.latency);
        for (place, stream) in record.streams.iter().enumerate() {
            for one in &stream.directions {
                histogram(&mut w, &phase.plan.name, Some(place as u64), one.direction.name(), &one.latency);
            }
        }
    }
    w.into_text()
}

fn histogram(w: &mut Writer, phase: &str, stream: Option<u64>, direction: &str, latency: &Histogram) {
    let buckets: Vec<Bucket> = latency.buckets().collect();
    for (i, bucket) in buckets.iter().enumerate() {
        let low = if i == 0 { latency.min() } else { None }.unwrap_or(bucket.low_ns);
        let high = if i + 1 == buckets.len() { latency.max() } else { None }.unwrap_or(bucket.high_ns);
        w.text(phase).optional(stream).text(direction).number(low).number(high).number(bucket.count);
        if i == 0 { w.number(latency.sum_ns()) } else { w.text("") }.end();
    }
}

#[derive(Default)]
struct StoredRows {
    buckets: Vec<Bucket>,
    count: u64,
    sum_ns: u128,
}

impl StoredRows {
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
            (true, sum) => self.sum_ns = sum.parse().map_err(|_| "the first line of a histogram lacks its sum")?,
            (false, "") => {}
            (false, _) => return Err("a second sum for one histogram".into()),
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

/// Whose latencies lines are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    /// Name of the phase.
    pub phase: String,
    /// One stream of it by its place, and one of its directions; `None`: all of the phase.
    pub side: Option<(usize, Direction)>,
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.side {
            None => f.write_str(&self.phase),
            Some((stream, direction)) => write!(f, "{}, stream {stream}, {}", self.phase, direction.name()),
        }
    }
}

/// Where the columns are; tables of earlier versions have no streams.
struct ColumnIndexes {
    phase: usize,
    stream: Option<usize>,
    direction: usize,
    rest: [usize; 4],
}

fn places(header: &Row<'_>) -> std::result::Result<ColumnIndexes, String> {
    let [phase, stream, direction, rest @ ..] = COLUMNS;
    let [phase, direction] = columns(header, [phase, direction])?;
    let stream = columns(header, [stream]).ok().map(|[place]| place);
    Ok(ColumnIndexes { phase, stream, direction, rest: columns(header, rest)? })
}

fn side(places: &ColumnIndexes, row: &Row<'_>) -> std::result::Result<Option<(usize, Direction)>, String> {
    let Some(stream) = places.stream.map(|c| row.optional(c)).transpose()?.flatten() else { return Ok(None) };
    let stream = usize::try_from(stream).map_err(|_| format!("there is no stream {stream}"))?;
    let name = row.cell(places.direction);
    let direction =
        Direction::ALL.into_iter().find(|d| d.name() == name).ok_or("the direction of a stream is unknown")?;
    Ok(Some((stream, direction)))
}

/// The histograms that `wanted` holds for, and who else the table speaks of. Each takes tens of kilobytes, and the names
/// come from a file.
pub(crate) fn read(
    path: &Path,
    source: impl BufRead,
    tolerance: Tolerance,
    wanted: impl Fn(&Owner) -> bool,
) -> Result<(HashMap<Owner, Histogram>, Vec<Owner>, Dropped)> {
    let mut owners: HashMap<Owner, StoredRows> = HashMap::new();
    // Lines of one owner follow one another, so that it need not be looked up by name each time.
    let mut current: Option<(Owner, StoredRows)> = None;
    let mut rows = 0;
    let dropped = each_row(path, source, tolerance, places, |c, row| {
        rows += 1;
        if rows > ROW_LIMIT {
            return Err(format!("it has more than {ROW_LIMIT} rows"));
        }
        let [low, high, count, sum] = c.rest;
        let bucket = Bucket { low_ns: row.u64(low)?, high_ns: row.u64(high)?, count: row.u64(count)? };
        let side = side(c, row)?;
        let same = current.as_ref().is_some_and(|(o, _)| o.phase == row.cell(c.phase) && o.side == side);
        if !same {
            if let Some((owner, stored)) = current.take() {
                owners.insert(owner, stored);
            }
            let owner = Owner { phase: row.cell(c.phase).to_owned(), side };
            let stored = owners.remove(&owner).unwrap_or_default();
            current = Some((owner, stored));
        }
        match &mut current {
            Some((_, stored)) => stored.push(bucket, row.cell(sum)),
            None => Ok(()),
        }
    })?;
    owners.extend(current.filter(|(_, stored)| !stored.buckets.is_empty()));
    let (known, unknown): (Vec<_>, Vec<_>) = owners.into_iter().partition(|(owner, _)| wanted(owner));
    if known.len() > HISTOGRAM_LIMIT {
        let reason = format!("it has more than {HISTOGRAM_LIMIT} histograms");
        return Err(ArchiveError::corrupt(path, None, reason));
    }
    let histograms = known.into_iter().map(|(owner, stored)| (owner, stored.histogram())).collect();
    Ok((histograms, unknown.into_iter().map(|(owner, _)| owner).collect(), dropped))
}
