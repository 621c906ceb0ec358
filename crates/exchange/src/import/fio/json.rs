//! fio's JSON and JSON+, of one machine (`jobs`) or of clients (`client_stats`), anywhere in a text.
//!
//! Up to the 2.x series latencies are microseconds under `lat`, `clat`, `slat`, `io_bytes` is KiB and there is no
//! `bw_bytes`; since 3.0 they are nanoseconds under `lat_ns`.. (fio stat.c, add_ddir_status_json). `bw` is KiB/s in both.

use super::job::{Direction, FioJob, Latencies, MAX_PERCENTILES, Quantity};
use super::report::{MAX_JOBS, Printed, Report};
use super::snapshots;
use super::tree::{self, Tree};
use crate::import::{Found, Text, found};
use std::collections::BTreeSet;

/// Levels of foreign JSON around fio's document that are searched.
const WRAPPING_LIMIT: usize = 6;
/// Options that tell what a job did.
const TELLING: [&str; 16] = [
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "bssplit",
    "iodepth",
    "numjobs",
    "ioengine",
    "direct",
    "sync",
    "fsync",
    "fdatasync",
    "rate",
    "rate_iops",
    "size",
    "runtime",
];
/// Keys that are read of a document, beside the options and the percentiles.
const KEYS: [&str; 37] = [
    "fio version",
    "timestamp",
    "timestamp_ms",
    "global options",
    "job options",
    "jobs",
    "client_stats",
    "jobname",
    "hostname",
    "error",
    "job_start",
    "usr_cpu",
    "sys_cpu",
    "read",
    "write",
    "trim",
    "mixed",
    "sync",
    "total_ios",
    "runtime",
    "iops",
    "bw_bytes",
    "bw",
    "lat",
    "lat_ns",
    "clat",
    "clat_ns",
    "slat",
    "slat_ns",
    "percentile",
    "min",
    "max",
    "mean",
    "stddev",
    "N",
    "filename",
    "directory",
];

/// Whether a member of a document is read.
fn wanted(within: &str, key: &str) -> bool {
    match within {
        "percentile" => true,
        _ => !key.is_empty() && (KEYS.contains(&key) || TELLING.contains(&key)),
    }
}

/// What fio calls the sum over its clients.
pub(super) const ALL_CLIENTS: &str = "All clients";

/// What a reader of that sum must know.
pub(super) fn sum_remark() -> String {
    format!("'{ALL_CLIENTS}' is fio's sum over the other jobs")
}

/// Reads every document in the text.
pub(super) fn read(text: &Text, found: &mut Found) -> Vec<Report> {
    let all = text.all();
    let forced: Vec<usize> = all
        .match_indices("\"fio version\"")
        .filter_map(|(i, _)| all[..i].trim_end().strip_suffix('{').map(str::len))
        .collect();
    let mut reports: Vec<Report> = Vec::new();
    let (mut position, mut jobs) = (0, 0);
    while let Some(start) = next_object(all, position) {
        // A document that is cut off must not swallow the next one.
        let limit = forced.get(forced.partition_point(|f| *f <= start)).copied().unwrap_or(all.len());
        let parsed = tree::parse(all, start, limit, wanted);
        position = parsed.end.max(start + 1);
        while !all.is_char_boundary(position) {
            position += 1;
        }
        let mut documents = Vec::new();
        collect(&parsed.tree, 0, &mut documents);
        if documents.is_empty() {
            continue;
        }
        let last_line = text.line_at(position.saturating_sub(1));
        found.used_range(text.line_at(start), last_line);
        for document in &documents {
            let mut reader = Reader { text, found, microseconds: false };
            let mut report = reader.report(document, start, last_line, parsed.fault);
            if parsed.is_cut {
                report.jobs.pop();
                let kept = report.jobs.len();
                report.remarks.push(format!("of its jobs only the first {kept} were read; raw/ has them all"));
            }
            // States of one run would otherwise be held until the last one is read.
            if let Some(state) = reports.pop_if(|last| snapshots::is_state_of(last, &report)) {
                jobs -= state.jobs.len();
                report.absorb_earlier(state);
            }
            if jobs > 0 && jobs + report.jobs.len() > MAX_JOBS {
                found.leave_out(report.first_line);
                continue;
            }
            jobs += report.jobs.len();
            reports.push(report);
        }
        if let Some(fault) = parsed.fault {
            found.ends_early(last_line, format!("fio's JSON ends here: {fault}"));
        }
    }
    reports
}

/// The next `{` that a key follows.
fn next_object(all: &str, from: usize) -> Option<usize> {
    let rest = all.get(from..)?;
    rest.match_indices('{').map(|(i, _)| from + i).find(|i| all[i + 1..].trim_start().starts_with('"'))
}

/// fio's documents in a value: what has jobs, or at least a version.
fn collect<'t, 'a>(tree: &'t Tree<'a>, depth: usize, out: &mut Vec<&'t Tree<'a>>) {
    let named = |jobs: &Tree<'_>| jobs.items().iter().any(|j| j.get("jobname").is_some());
    let is_document =
        tree.get("fio version").is_some() || ["jobs", "client_stats"].iter().any(|k| tree.get(k).is_some_and(named));
    if is_document {
        out.push(tree);
    } else if depth < WRAPPING_LIMIT {
        tree.items().iter().chain(tree.members().iter().map(|(_, v)| v)).for_each(|t| collect(t, depth + 1, out));
    }
}

struct Reader<'r, 'f> {
    text: &'r Text,
    found: &'r mut Found<'f>,
    /// Latencies of the direction at hand.
    microseconds: bool,
}

impl Reader<'_, '_> {
    fn report(&mut self, document: &Tree<'_>, start: usize, last_line: usize, fault: Option<&str>) -> Report {
        let own = if let Tree::Object(_, at) = document { *at } else { start };
        let version = document.get("fio version").and_then(Tree::text).map(str::to_owned);
        let mut report = Report { version, ..Report::new("fio-json", self.text.line_at(own), last_line) };
        let global = document.get("global options");
        let mut targets = BTreeSet::new();
        let mut earliest = f64::INFINITY;
        let lists = ["jobs", "client_stats"].iter().filter_map(|k| document.get(k));
        for job in lists.flat_map(|l| l.items()).filter(|j| j.get("jobname").is_some()) {
            let options = job.get("job options");
            let option = |key: &str| options.and_then(|o| o.get(key)).or(global.and_then(|g| g.get(key)));
            targets.insert(["filename", "directory"].iter().find_map(|k| option(k)?.text()).map(str::to_owned));
            earliest = earliest.min(job.get("job_start").and_then(Tree::number).unwrap_or(f64::INFINITY));
            // Which calls this program took for a job, it chose by itself.
            let ours = report.version.as_deref().is_some_and(|v| v.contains("-narrows-"));
            let options: Vec<String> = TELLING
                .iter()
                .filter(|k| !(ours && **k == "ioengine"))
                .filter_map(|k| Some(format!("{k}={}", option(k)?.text().filter(|t| t.len() < 200)?)))
                .collect();
            let mut made = self.job(job);
            made.options = (!options.is_empty()).then(|| options.join(" "));
            report.jobs.push(made);
        }
        let clients = document.get("client_stats").is_some();
        if clients && report.jobs.iter().any(|j| j.name == ALL_CLIENTS) {
            report.remarks.push(sum_remark());
        }
        report.target = if targets.len() == 1 { targets.pop_first().flatten() } else { None };
        let stamp = |key: &str| document.get(key).and_then(Tree::number);
        report.printed = match (stamp("timestamp_ms"), stamp("timestamp")) {
            (Some(ms), _) => Some(Printed { at_ns: ms * 1e6, step_ns: 1e6 }),
            (None, Some(s)) => Some(Printed { at_ns: s * 1e9, step_ns: 1e9 }),
            (None, None) => None,
        };
        let milliseconds = Some(earliest)
            .filter(|e| e.is_finite())
            .or_else(|| stamp("timestamp_ms"))
            .or_else(|| stamp("timestamp").map(|s| s * 1000.0));
        report.started = milliseconds
            .filter(|m| *m > 0.0)
            .and_then(|m| jiff::Timestamp::from_millisecond(m as i64).ok())
            .map(|t| t.to_string());
        if let Some(fault) = fault {
            report.truncated = true;
            let within = report.jobs.last().map(|j| format!(", in job '{}'", j.name)).unwrap_or_default();
            report.remarks.push(format!("line {last_line}: {fault}{within}; what comes before it was read"));
        }
        report
    }

    fn job(&mut self, job: &Tree<'_>) -> FioJob {
        let text = |key: &str| job.get(key).and_then(Tree::text).map(str::to_owned);
        let name = text("jobname").map(|n| found::name(&n).to_owned()).unwrap_or_default();
        let error = job.get("error").and_then(Tree::number).filter(|e| *e != 0.0).map(|e| format!("error {e}"));
        let host = text("hostname").map(|h| found::name(&h).to_owned()).filter(|_| name != ALL_CLIENTS);
        let mut made = FioJob { name, host, error, ..FioJob::default() };
        for direction in ["read", "write", "trim", "mixed", "sync"] {
            if let Some(tree) = job.get(direction).filter(|t| !t.members().is_empty()) {
                let read = self.direction(direction, tree);
                made.directions.push(read);
            }
        }
        made.cpu_user = self.quantity(job, "usr_cpu", 1.0, "%");
        made.cpu_system = self.quantity(job, "sys_cpu", 1.0, "%");
        made
    }

    fn direction(&mut self, name: &'static str, tree: &Tree<'_>) -> Direction {
        let number = |key: &str| tree.get(key).and_then(Tree::number);
        let mut d = Direction::new(name);
        d.operations = number("total_ios").filter(|n| (0.0..1e18).contains(n)).unwrap_or(0.0) as u64;
        d.runtime_ns = number("runtime").map(|ms| ms * 1e6);
        d.iops = self.quantity(tree, "iops", 1.0, "1/s");
        d.throughput =
            self.quantity(tree, "bw_bytes", 1.0, "B/s").or_else(|| self.quantity(tree, "bw", 1024.0, "KiB/s"));
        d.total = self.latencies(tree, "lat");
        d.completion = self.latencies(tree, "clat");
        d.submission = self.latencies(tree, "slat");
        if d.operations == 0 && d.is_used() {
            // Early versions do not count operations.
            let n = tree.get("lat_ns").or_else(|| tree.get("clat_ns")).and_then(|l| l.get("N")).and_then(Tree::number);
            d.operations = n.filter(|n| (0.0..1e18).contains(n)).unwrap_or(0.0) as u64;
        }
        d
    }

    fn latencies(&mut self, tree: &Tree<'_>, key: &str) -> Latencies {
        let nanoseconds = tree.get(&format!("{key}_ns"));
        self.microseconds = nanoseconds.is_none();
        let Some(l) = nanoseconds.or_else(|| tree.get(key)) else { return Latencies::default() };
        let (factor, unit) = if self.microseconds { (1e3, "us") } else { (1.0, "ns") };
        let percentiles = l.get("percentile").map(Tree::members).unwrap_or_default();
        let mut read = Latencies {
            min: self.quantity(l, "min", factor, unit),
            max: self.quantity(l, "max", factor, unit),
            mean: self.quantity(l, "mean", factor, unit),
            deviation: self.quantity(l, "stddev", factor, unit),
            percentiles: percentiles
                .iter()
                .take(MAX_PERCENTILES)
                .filter_map(|(k, v)| {
                    let value = v.number().filter(|v| *v >= 0.0)?;
                    Some((super::super::number::finite(k)?, Quantity::new(value * factor, v.text()?, unit)))
                })
                .collect(),
        };
        if l.get("N").and_then(Tree::number) == Some(0.0) {
            read = Latencies::default();
        }
        read
    }

    /// A number of an object; one that is there and no finite number is reported.
    fn quantity(&mut self, tree: &Tree<'_>, key: &str, factor: f64, unit: &str) -> Option<Quantity> {
        let value = tree.get(key)?;
        match (value.number(), value) {
            (Some(n), _) if n >= 0.0 => Some(Quantity::new(n * factor, value.text()?, unit)),
            (_, Tree::Bare(word, at)) if *word != "null" => {
                self.found
                    .not_understood(self.text.line_at(*at), format!("{key} is {word}, which is not a measurement"));
                None
            }
            _ => None,
        }
    }
}
