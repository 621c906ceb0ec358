//! What `sysbench fileio run` prints: operations and MiB a second by direction, and latencies in milliseconds of all together.
//! Outputs of before 1.0 are in `sysbench_old.rs`. The other tests of sysbench (databases, processor, memory) print latencies
//! under the same heading; only what counted operations on files is a result here.

use super::localized::decimal;
use super::sysbench_old::Totals;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};

const MIB: f64 = 1_048_576.0;

/// Whether it is an output of sysbench.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| version(line).is_some() || opens(line))
}

/// Whether a line is one that only a test of files prints, where its title was not copied.
fn opens(line: &str) -> bool {
    let line = line.trim();
    line == "File operations:" || line.starts_with("Operations performed:") && line.ends_with(" Total")
}

/// `1.0.20` of `sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)` and `0.4.12` of `sysbench 0.4.12:  multi-threaded system ..`.
fn version(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("sysbench ").or_else(|| line.trim_start().strip_prefix("sysbench v"))?;
    let version = rest.split([' ', ':']).next()?.trim_start_matches('v');
    let (major, minor) = version.split_once('.')?;
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    (digits(major) && minor.starts_with(|c: char| c.is_ascii_digit())).then_some(version)
}

/// Which quantity a line of the result is, by its heading and label: id after the test, unit, better direction, scale, and the unit
/// as printed.
fn quantity(heading: &str, label: &str) -> Option<(&'static str, Unit, Better, f64, &'static str)> {
    use Better::{Higher, Lower};
    Some(match (heading, label) {
        ("File operations", "reads/s") => ("read.iops", Unit::OpsPerS, Higher, 1.0, "1/s"),
        ("File operations", "writes/s") => ("write.iops", Unit::OpsPerS, Higher, 1.0, "1/s"),
        ("File operations", "fsyncs/s") => ("sync.iops", Unit::OpsPerS, Higher, 1.0, "1/s"),
        ("Throughput", "read, MiB/s") => ("read.throughput_bytes_per_s", Unit::BytesPerS, Higher, MIB, "MiB/s"),
        ("Throughput", "written, MiB/s") => ("write.throughput_bytes_per_s", Unit::BytesPerS, Higher, MIB, "MiB/s"),
        ("Throughput", "read") => ("read.iops", Unit::OpsPerS, Higher, 1.0, "1/s"),
        ("Throughput", "write") => ("write.iops", Unit::OpsPerS, Higher, 1.0, "1/s"),
        ("Throughput", "fsync") => ("sync.iops", Unit::OpsPerS, Higher, 1.0, "1/s"),
        ("Latency (ms)", "min") => ("latency_ns_min", Unit::Ns, Lower, 1e6, "ms"),
        ("Latency (ms)", "avg") => ("latency_ns_mean", Unit::Ns, Lower, 1e6, "ms"),
        ("Latency (ms)", "max") => ("latency_ns_max", Unit::Ns, Lower, 1e6, "ms"),
        ("Latency (ms)", "90th percentile") => ("latency_ns_p90", Unit::Ns, Lower, 1e6, "ms"),
        ("Latency (ms)", "approx.  95 percentile" | "approx. 95 percentile" | "95th percentile") => {
            ("latency_ns_p95", Unit::Ns, Lower, 1e6, "ms")
        }
        ("Latency (ms)", "approx.  99 percentile" | "approx. 99 percentile" | "99th percentile") => {
            ("latency_ns_p99", Unit::Ns, Lower, 1e6, "ms")
        }
        _ => return None,
    })
}

const HEADINGS: [&str; 5] = ["File operations", "Throughput", "General statistics", "Latency (ms)", "Threads fairness"];

/// The heading of a line by today's name.
fn heading(line: &str) -> Option<&'static str> {
    match line.strip_suffix(':')? {
        "Test execution summary" => Some("General statistics"),
        "per-request statistics" | "response time" => Some("Latency (ms)"),
        known => HEADINGS.into_iter().find(|h| *h == known),
    }
}

/// Reads all outputs: a run each.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut state: Option<Output> = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        let version = version(line);
        // A result without its title begins another run where the last one has one already.
        if version.is_some() || opens(line) && state.as_ref().is_none_or(|o| o.is_of_files) {
            state.take().into_iter().for_each(|o| o.finish(found));
            let mut run = ImportedRun::new("sysbench", found.file, number);
            run.source_version = version.map(str::to_owned);
            state = Some(Output::new(run));
        }
        let Some(output) = state.as_mut() else { continue };
        // A prompt of a shell ends it, and so does anything after its last lines that is none of its own.
        if version.is_some() || output.line(line, number, found) {
            found.used(number);
        }
    }
    state.into_iter().for_each(|o| o.finish(found));
}

struct Output {
    run: ImportedRun,
    heading: Option<&'static str>,
    test: String,
    /// Id after the test, unit, direction, value and what was printed: the name of the test may come later.
    figures: Vec<(&'static str, Unit, Better, f64, Original)>,
    totals: Totals,
    seconds: Option<f64>,
    /// Whether operations on files were counted.
    is_of_files: bool,
}

impl Output {
    fn new(run: ImportedRun) -> Self {
        Self {
            run,
            heading: None,
            test: "fileio".to_owned(),
            figures: Vec::new(),
            totals: Totals::default(),
            seconds: None,
            is_of_files: false,
        }
    }

    /// Takes a line; whether it is one of the output.
    fn line(&mut self, line: &str, number: usize, found: &mut Found) -> bool {
        let trimmed = line.trim();
        if let Some(heading) = heading(trimmed) {
            self.heading = Some(heading);
            self.is_of_files |= heading == "File operations";
            return true;
        }
        if self.totals.line(trimmed) {
            self.is_of_files = true;
            return true;
        }
        if let Some(mode) = trimmed.strip_prefix("Doing ").and_then(|d| d.strip_suffix(" test")) {
            self.test = format!("fileio-{}", mode.replace(['(', ')'], "").replace([' ', '/'], "-"));
            return true;
        }
        let labelled = trimmed.split_once(':').map(|(label, value)| (label.trim(), value.trim()));
        let Some((heading, (label, value))) = self.heading.zip(labelled) else { return self.is_frame(trimmed) };
        if label == "total time" || label == "time elapsed" {
            self.seconds = value.strip_suffix('s').and_then(decimal).filter(|s| (0.0..1e9).contains(s));
            self.run.duration_ns = self.seconds.map(|s| (s * 1e9) as u64);
            return true;
        }
        let Some((id, unit, better, scale, printed)) = quantity(heading, label) else {
            return matches!(heading, "General statistics" | "Threads fairness" | "Latency (ms)" | "Throughput");
        };
        // `read:  IOPS=2621.01 40.95 MiB/s (42.94 MB/s)` of 1.1.
        let (value, mib) = match value.strip_prefix("IOPS=") {
            Some(rest) => {
                self.is_of_files = true;
                let mut words = rest.split_whitespace();
                (words.next().unwrap_or_default(), words.next().zip(words.next()))
            }
            None => (value.trim_end_matches("ms"), None),
        };
        let Some(number_of) = decimal(value) else {
            found.not_understood(number, "there is no number in it");
            return false;
        };
        // Nothing of a direction that the test does not have; and two digits of a millisecond say nothing below ten microseconds.
        if number_of > 0.0 {
            self.figures.push((id, unit, better, number_of * scale, Original::new(value, printed)));
        }
        if let Some(((digits, "MiB/s"), rate)) = mib.and_then(|m| Some((m, decimal(m.0)?))).filter(|(_, v)| *v > 0.0) {
            let id = if label == "read" { "read.throughput_bytes_per_s" } else { "write.throughput_bytes_per_s" };
            self.figures.push((id, Unit::BytesPerS, Better::Higher, rate * MIB, Original::new(digits, "MiB/s")));
        }
        true
    }

    /// Lines before the result that only describe it.
    fn is_frame(&mut self, line: &str) -> bool {
        let notes = [
            "Block size ",
            "Number of threads",
            "Using ",
            "Periodic FSYNC",
            "Calling fsync",
            "Extra file open flags",
            "Read/Write ratio",
        ];
        if notes.iter().any(|n| line.starts_with(n)) {
            self.run.remark(line.to_owned());
            return true;
        }
        let is_interval = line.starts_with('[') && line.contains("latency (ms");
        let is_bar = line.split_once('|').is_some_and(|(value, _)| decimal(value.trim()).is_some());
        is_interval
            || is_bar
            || [
                "Running the test",
                "Report intermediate",
                "Initializing",
                "Threads started",
                "Latency histogram",
                "value  ---",
                "Number of IO",
                "Number of random requests",
                "Creating file",
                "Done.",
                "Extra file",
                "Maximum requests",
            ]
            .iter()
            .any(|start| line.starts_with(start))
            || line.ends_with("total file size")
            || line.contains(" bytes written in ") && line.ends_with("/sec).")
            || line.contains(" files, ")
            || line.ends_with(" each")
    }

    fn finish(mut self, found: &mut Found) {
        if !self.is_of_files {
            let why = if self.heading.is_some() {
                "this test of sysbench is none of file I/O: its latencies are of other work"
            } else {
                "sysbench fileio gave no result here"
            };
            found.not_understood(self.run.first_line, why);
            return;
        }
        let test = self.test;
        let mut metrics = Vec::new();
        if !self.totals.is_empty() {
            match self.totals.metrics(&test, self.seconds) {
                Ok(counted) => metrics.extend(counted),
                Err(why) => return found.not_understood(self.run.first_line, why),
            }
        }
        for (id, unit, better, value, original) in self.figures {
            metrics.extend(ImportedMetric::new(format!("{test}.{id}"), unit, Some(better), value, 1, original));
        }
        self.run.push(test, metrics);
        self.run.remark("latencies are of all operations together, printed in steps of 10 us");
        found.push(self.run);
    }
}
