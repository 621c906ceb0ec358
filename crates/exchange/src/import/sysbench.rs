//! What `sysbench fileio run` prints: operations and MiB a second by direction, and latencies in milliseconds of all together.
//! Before 1.0 a line of `Read 93.75Mb  Written 62.5Mb` stood there instead of rates; that has no layout worth guessing.

use super::localized::decimal;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};

const MIB: f64 = 1_048_576.0;

/// Whether it is an output of sysbench about files.
pub(super) fn detect(text: &Text) -> bool {
    let (mut sysbench, mut files) = (false, false);
    for (_, line) in text.lines() {
        sysbench |= version(line).is_some();
        files |= matches!(line.trim(), "File operations:" | "Throughput:" | "Creating files for the test...");
    }
    sysbench && files
}

/// `1.0.20` of `sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)`.
fn version(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("sysbench ")?;
    let version = rest.split([' ', ':']).next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
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
        ("Latency (ms)", "min") => ("latency_ns_min", Unit::Ns, Lower, 1e6, "ms"),
        ("Latency (ms)", "avg") => ("latency_ns_mean", Unit::Ns, Lower, 1e6, "ms"),
        ("Latency (ms)", "max") => ("latency_ns_max", Unit::Ns, Lower, 1e6, "ms"),
        ("Latency (ms)", "90th percentile") => ("latency_ns_p90", Unit::Ns, Lower, 1e6, "ms"),
        ("Latency (ms)", "95th percentile") => ("latency_ns_p95", Unit::Ns, Lower, 1e6, "ms"),
        ("Latency (ms)", "99th percentile") => ("latency_ns_p99", Unit::Ns, Lower, 1e6, "ms"),
        _ => return None,
    })
}

const HEADINGS: [&str; 5] = ["File operations", "Throughput", "General statistics", "Latency (ms)", "Threads fairness"];

/// Reads all outputs: a run each.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut state: Option<Output> = None;
    for (number, line) in text.lines() {
        if found.is_used(number) {
            continue;
        }
        if let Some(version) = version(line) {
            state.take().into_iter().for_each(|o| o.finish(found));
            let mut run = ImportedRun::new("sysbench", found.file, number);
            run.source_version = Some(version.to_owned());
            state = Some(Output { run, heading: None, test: "fileio".to_owned(), metrics: Vec::new() });
            found.used(number);
            continue;
        }
        let Some(output) = state.as_mut() else { continue };
        // A prompt of a shell ends it, and so does anything after its last lines that is none of its own.
        if output.line(line, number, found) {
            found.used(number);
        }
    }
    state.into_iter().for_each(|o| o.finish(found));
}

struct Output {
    run: ImportedRun,
    heading: Option<&'static str>,
    test: String,
    metrics: Vec<ImportedMetric>,
}

impl Output {
    /// Takes a line; whether it is one of the output.
    fn line(&mut self, line: &str, number: usize, found: &mut Found) -> bool {
        let trimmed = line.trim();
        if let Some(heading) = trimmed.strip_suffix(':').and_then(|h| HEADINGS.iter().find(|known| **known == h)) {
            self.heading = Some(*heading);
            return true;
        }
        if let Some(mode) = trimmed.strip_prefix("Doing ").and_then(|d| d.strip_suffix(" test")) {
            self.test = format!("fileio-{}", mode.replace(['(', ')'], "").replace([' ', '/'], "-"));
            return true;
        }
        let labelled = trimmed.split_once(':').map(|(label, value)| (label.trim(), value.trim()));
        let Some((heading, (label, value))) = self.heading.zip(labelled) else { return self.is_frame(trimmed) };
        if (heading, label) == ("General statistics", "total time") {
            let seconds = value.strip_suffix('s').and_then(decimal).filter(|s| (0.0..1e9).contains(s));
            self.run.duration_ns = seconds.map(|s| (s * 1e9) as u64);
            return true;
        }
        let Some((id, unit, better, scale, printed)) = quantity(heading, label) else {
            return matches!(heading, "General statistics" | "Threads fairness" | "Latency (ms)");
        };
        let Some(number_of) = decimal(value) else {
            found.not_understood(number, "there is no number in it");
            return false;
        };
        // Nothing of a direction that the test does not have; and two digits of a millisecond say nothing below ten microseconds.
        if number_of > 0.0 {
            let id = format!("{}.{id}", self.test);
            let original = Original::new(value, printed);
            self.metrics.extend(ImportedMetric::new(id, unit, Some(better), number_of * scale, 1, original));
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
            || line.contains(" files, ")
            || [
                "Running the test",
                "Report intermediate",
                "Initializing",
                "Threads started",
                "Latency histogram",
                "value  ---",
                "Number of IO",
                "Creating file",
            ]
            .iter()
            .any(|start| line.starts_with(start))
            || line.ends_with("total file size")
    }

    fn finish(mut self, found: &mut Found) {
        let test = self.test.clone();
        self.run.push(test, self.metrics);
        self.run.remark("latencies are of all operations together, printed in steps of 10 us");
        found.push(self.run);
    }
}
