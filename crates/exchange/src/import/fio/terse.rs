//! fio's terse lines, versions 2 to 5: fields between semicolons, a line a job (`--output-format=terse`, `--minimal`).
//!
//! Version 3 and later begin `3;fio-3.33;job;group;error`, version 2 has no fio version. Each direction is KiB, KiB/s,
//! IOPS, ms, submission and completion latencies (4 fields each, microseconds), twenty percentiles, total latencies, and
//! five fields of bandwidth; version 5 adds six. Versions 3 print read and write, the others trim as well; percentages of
//! the CPU follow (fio stat.c, show_ddir_status_terse and show_thread_status_terse_all).

use super::super::number::finite;
use super::job::{Direction, FioJob, Latencies, MAX_PERCENTILES, Quantity};
use super::report::{MAX_JOBS, Report};
use crate::import::{Found, Text, found};

/// Fields of the shortest line with one whole direction.
const MIN_FIELDS: usize = 30;
/// Fields that are looked at; those of many disks stand behind.
const MAX_FIELDS: usize = 400;

/// Reads every terse line; neighbours of one version are one run.
pub(super) fn read(text: &Text, found: &mut Found) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    let mut numbers: Vec<(&str, String)> = Vec::new();
    let mut jobs = 0;
    for (number, content) in text.lines() {
        let content = content.trim();
        if found.is_used(number) || content.is_empty() {
            continue;
        }
        if content.starts_with("terse_version") {
            found.used(number);
            continue;
        }
        if !matches!(content.as_bytes(), [b'2'..=b'5', b';', ..]) {
            continue;
        }
        let fields: Vec<&str> = content.splitn(MAX_FIELDS, ';').collect();
        let Some(head) = head(&fields) else { continue };
        found.used(number);
        let (job, fault) = job(&fields, &head);
        if let Some(fault) = fault {
            found.not_understood(number, fault);
        }
        jobs += 1;
        if jobs > MAX_JOBS {
            found.leave_out(number);
            continue;
        }
        let truncated = fault.is_some();
        let key = (head.terse, head.version.to_owned());
        match reports.last_mut() {
            Some(last) if numbers.last() == Some(&key) && last.last_line + 1 == number => {
                last.last_line = number;
                last.truncated |= truncated;
                last.jobs.push(job);
            }
            _ => {
                let version = (!head.version.is_empty()).then(|| head.version.to_owned());
                reports.push(Report {
                    version,
                    truncated,
                    jobs: vec![job],
                    ..Report::new("fio-terse", number, number)
                });
                numbers.push(key);
            }
        }
    }
    reports
}

struct Head<'a> {
    terse: &'a str,
    version: &'a str,
    name: String,
    error: &'a str,
    /// The first field of the first direction.
    next: usize,
}

/// Fields of a direction before its percentiles: KiB, KiB/s, IOPS, ms, and two times four latencies.
const BEFORE_PERCENTILES: usize = 12;
/// Semicolons that a job's name may hold.
const MAX_SEMICOLONS: usize = 32;

/// The fields before the directions. fio prints a job's name as it is, so semicolons in it are told by where the
/// percentiles of the first direction stand, which are the only fields with an equals sign.
fn head<'a>(fields: &[&'a str]) -> Option<Head<'a>> {
    if fields.len() < MIN_FIELDS {
        return None;
    }
    let terse = fields[0];
    let (version, name) = match terse {
        "2" if !fields[1].starts_with("fio") => ("", 1),
        "3" | "4" | "5" if fields[1].starts_with("fio") => (fields[1], 2),
        _ => return None,
    };
    let numeric = |i: usize| fields.get(i).is_some_and(|f| finite(f).is_some());
    (0..=MAX_SEMICOLONS).find_map(|extra| {
        // Name, group, error, then the first direction.
        let next = name + extra + 3;
        let percentiles = fields.get(next + BEFORE_PERCENTILES).is_some_and(|f| f.contains("%="));
        (percentiles && numeric(next - 1) && numeric(next) && numeric(next + 1)).then(|| Head {
            terse,
            version,
            name: found::name(&fields[name..=name + extra].join(";")).to_owned(),
            error: fields[next - 1],
            next,
        })
    })
}

/// Goes over the fields; the last one of a line that is cut off may have lost digits and does not count.
struct Fields<'f, 'a> {
    fields: &'f [&'a str],
    next: usize,
    /// Whether a number was asked for and something else stood there.
    strange: bool,
}

impl<'a> Fields<'_, 'a> {
    fn take(&mut self) -> Option<&'a str> {
        let field = self.fields.get(self.next).copied()?;
        self.next += 1;
        (self.next < self.fields.len()).then_some(field)
    }

    fn peek(&self) -> Option<&'a str> {
        self.fields.get(self.next).copied()
    }

    fn number(&mut self) -> Option<f64> {
        let value = finite(self.take()?.trim_end_matches('%'));
        self.strange |= value.is_none();
        Some(value.unwrap_or(f64::NAN))
    }

    fn quantity(&mut self, factor: f64, unit: &str) -> Option<Quantity> {
        let field = self.peek()?;
        Some(Quantity::new(self.number()? * factor, field.trim_end_matches('%'), unit))
    }

    fn latencies(&mut self) -> Option<Latencies> {
        let (min, max) = (self.quantity(1e3, "us")?, self.quantity(1e3, "us")?);
        let (mean, deviation) = (self.quantity(1e3, "us")?, self.quantity(1e3, "us")?);
        let some = |q: Quantity| q.value.is_finite().then_some(q);
        Some(Latencies {
            min: some(min),
            max: some(max),
            mean: some(mean),
            deviation: some(deviation),
            percentiles: vec![],
        })
    }

    /// `None` if the line ends within it.
    fn direction(&mut self, name: &'static str, terse: &str) -> Option<Direction> {
        let mut d = Direction::new(name);
        let _kib = self.number()?;
        d.throughput = self.quantity(1024.0, "KiB/s").filter(|q| q.value.is_finite());
        d.iops = self.quantity(1.0, "1/s").filter(|q| q.value.is_finite());
        d.runtime_ns = self.number().filter(|n| n.is_finite()).map(|ms| ms * 1e6);
        d.submission = self.latencies()?;
        d.completion = self.latencies()?;
        while self.peek().is_some_and(|f| f.contains('=')) {
            let (percent, value) = self.take()?.split_once('=')?;
            if let (Some(p), Some(v)) = (finite(percent.trim_end_matches('%')), finite(value))
                && p > 0.0
                && d.completion.percentiles.len() < MAX_PERCENTILES
            {
                d.completion.percentiles.push((p, Quantity::new(v * 1e3, value, "us")));
            }
        }
        d.total = self.latencies()?;
        for _ in 0..if terse == "5" { 11 } else { 5 } {
            self.number()?;
        }
        Some(d)
    }
}

fn job(fields: &[&str], head: &Head<'_>) -> (FioJob, Option<&'static str>) {
    let error = finite(head.error).filter(|e| *e != 0.0).map(|e| format!("error {e}"));
    let mut job = FioJob { name: head.name.clone(), error, ..FioJob::default() };
    let mut rest = Fields { fields, next: head.next, strange: false };
    for name in ["read", "write", "trim"] {
        // The CPU's shares are the first field in percent that no direction begins with.
        if rest.peek().is_some_and(|f| f.ends_with('%')) {
            break;
        }
        match rest.direction(name, head.terse) {
            Some(direction) => job.directions.push(direction),
            None => return (job, Some("the line is cut off; the directions before that were read")),
        }
    }
    let percent = |q: Option<Quantity>| q.filter(|q| q.value.is_finite());
    job.cpu_user = percent(rest.quantity(1.0, "%"));
    job.cpu_system = percent(rest.quantity(1.0, "%"));
    let fault = if rest.next >= fields.len() {
        Some("the line is cut off after the directions")
    } else {
        rest.strange.then_some("a field that should be a number is none; the others were read")
    };
    (job, fault)
}
