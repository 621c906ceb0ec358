//! iozone's output: its banner and settings, then a table, an Excel-style report, or the sums of throughput mode.
//!
//! iozone's kB are 1024 bytes. A rate of 0 is a test that did not run.

use super::{Found, ImportedMetric, ImportedRun, Original, Text, iozone_report, iozone_table};
use model::{Better, RunState, Unit};
use std::collections::{BTreeMap, BTreeSet};

const BANNER: &str = "Iozone: Performance Test of File I/O";

/// In what the results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// kB/s: the default.
    KibPerS,
    /// Operations a second (`-O`).
    OpsPerS,
    /// Microseconds an operation (`-N`).
    MicrosPerOp,
}

/// One start of iozone, as it is read.
pub(super) struct Session {
    /// What was found so far.
    pub run: ImportedRun,
    /// The unit of the results.
    pub mode: Mode,
    /// The command line, where it was printed.
    pub command: Option<String>,
    /// Size of records, KiB, where all have one size.
    record_kib: Option<f64>,
    has_unit: bool,
    ids: BTreeSet<String>,
    /// Where each group stands in the run.
    places: BTreeMap<String, usize>,
}

impl Session {
    fn new(file: &str, line: usize) -> Self {
        Self {
            run: ImportedRun::new("iozone", file, line),
            mode: Mode::KibPerS,
            command: None,
            record_kib: None,
            has_unit: false,
            ids: BTreeSet::new(),
            places: BTreeMap::new(),
        }
    }

    /// Adds a result to a group, unless it is there already: iozone prints the same results as a table and as a report.
    pub fn add(&mut self, group: &str, operation: &str, record_kib: Option<f64>, text: &str) -> bool {
        let Some(value) = super::number::finite(text).filter(|v| *v > 0.0) else { return false };
        let prefix = format!("{group}.{operation}");
        if !self.ids.insert(prefix.clone()) {
            return true;
        }
        let of = |quantity: &str, unit, better, value, printed| {
            let id = format!("{}.{quantity}", prefix.trim_start_matches('.'));
            ImportedMetric::new(id, unit, Some(better), value, 1, Original::new(text, printed))
        };
        let metrics = match self.mode {
            Mode::KibPerS => {
                vec![of("throughput_bytes_per_s", Unit::BytesPerS, Better::Higher, value * 1024.0, "kB/s")]
            }
            Mode::OpsPerS => {
                let bytes = record_kib.map(|r| value * r * 1024.0);
                let throughput =
                    bytes.and_then(|b| of("throughput_bytes_per_s", Unit::BytesPerS, Better::Higher, b, "ops/s"));
                vec![of("ops_per_s", Unit::OpsPerS, Better::Higher, value, "ops/s"), throughput]
            }
            Mode::MicrosPerOp => vec![of("latency_ns_mean", Unit::Ns, Better::Lower, value * 1e3, "us/op")],
        };
        let metrics: Vec<ImportedMetric> = metrics.into_iter().flatten().collect();
        if metrics.is_empty() {
            return false;
        }
        let name = if group.is_empty() { operation } else { group };
        match self.places.get(name).and_then(|place| self.run.groups.get_mut(*place)) {
            Some(group) => group.metrics.extend(metrics),
            None => {
                self.places.insert(name.to_owned(), self.run.groups.len());
                self.run.push(name, metrics);
            }
        }
        true
    }

    /// Whether a row of the table is there already.
    pub fn has_row(&self, group: &str) -> bool {
        self.places.contains_key(group)
    }

    /// Ends this run and goes on with another of the same settings.
    pub fn split(&mut self, line: usize, found: &mut Found) {
        let mut next = Self::new(found.file, line);
        next.run.source_version.clone_from(&self.run.source_version);
        next.run.target.clone_from(&self.run.target);
        next.run.name.clone_from(&self.run.name);
        (next.mode, next.command, next.record_kib, next.has_unit) =
            (self.mode, self.command.clone(), self.record_kib, self.has_unit);
        std::mem::replace(self, next).finish(found);
    }

    fn finish(mut self, found: &mut Found) {
        if self.run.groups.is_empty() {
            return;
        }
        if !self.has_unit {
            self.run.remark("the unit is not printed; kB/s was taken, iozone's default");
        }
        match &self.command {
            Some(command) => {
                self.run.remark(format!("command: {command}"));
                if !command.split_whitespace().any(|w| matches!(w, "-I" | "-+r") || w.starts_with("-I")) {
                    self.run.remark("without -I these rates may be those of the page cache");
                }
            }
            None => self.run.remark("without its command line it cannot be told whether the page cache was measured"),
        }
        if let Some(kib) = self.record_kib {
            let original = Original::new(kib.to_string(), "kB");
            let metric = ImportedMetric::new("records.bytes", Unit::Bytes, None, kib * 1024.0, 1, original);
            self.run.push("records", metric.into_iter().collect());
        }
        found.runs.push(self.run);
    }

    /// Reads a line of the settings.
    fn setting(&mut self, line: &str) -> bool {
        let text = line.trim();
        if let Some(version) = text.strip_prefix("Version $Revision:") {
            self.run.source_version = Some(version.trim_matches([' ', '$']).to_owned());
        } else if let Some(command) = text.strip_prefix("Command line used:") {
            let command = command.trim();
            let words: Vec<&str> = command.split_whitespace().collect();
            let file = words.iter().position(|w| matches!(*w, "-f" | "-F")).and_then(|i| words.get(i + 1));
            if let Some(file) = file {
                self.run.target = Some((*file).to_owned());
                self.run.name = (*file).to_owned();
            }
            self.command = Some(command.to_owned());
        } else if text.contains("Output is in operations per second") {
            (self.mode, self.has_unit) = (Mode::OpsPerS, true);
        } else if text.to_ascii_lowercase().contains("output is in microseconds per operation") {
            (self.mode, self.has_unit) = (Mode::MicrosPerOp, true);
        } else if text.to_ascii_lowercase().starts_with("output is in kbytes/sec") {
            self.has_unit = true;
        } else if let Some(size) = text.strip_prefix("Record Size ") {
            self.record_kib = size.split_whitespace().next().and_then(super::number::finite);
        } else {
            return false;
        }
        true
    }
}

/// Whether there is anything of iozone in the text.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| {
        line.contains(BANNER)
            || iozone_table::is_heading(line)
            || iozone_report::operation(line).is_some()
            || children(line).is_some()
    })
}

/// Reads all sessions.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut session: Option<Session> = None;
    let mut table: Option<iozone_table::Heading> = None;
    let mut report: Option<iozone_report::Report> = None;
    // Between the banner and the first results every line is iozone's.
    let mut in_settings = false;
    for (number, line) in text.lines() {
        if found.is_used(number) || line.trim().is_empty() {
            continue;
        }
        let text_of = line.trim();
        if text_of.contains(BANNER) || text_of.starts_with("Run began:") && !in_settings {
            if let Some(done) = session.take() {
                done.finish(found);
            }
            (table, report, in_settings) = (None, None, true);
            session = Some(Session::new(found.file, number));
            found.used(number);
            continue;
        }
        let starts_here =
            iozone_table::is_heading(line) || iozone_report::operation(line).is_some() || children(line).is_some();
        if session.is_none() && starts_here {
            session = Some(Session::new(found.file, number));
        }
        let Some(session) = session.as_mut() else { continue };
        if let Some(heading) = iozone_table::heading(line) {
            (table, report, in_settings) = (Some(heading), None, false);
            found.used(number);
        } else if let Some(operation) = iozone_report::operation(line) {
            (table, report, in_settings) = (None, Some(iozone_report::Report::new(operation)), false);
            found.used(number);
        } else if let Some((operation, value, unit)) = children(line) {
            in_settings = false;
            throughput(session, number, (&operation, value, unit), found);
        } else if session.setting(line) {
            found.used(number);
        } else if let Some(report) = report.as_mut().filter(|_| text_of.starts_with('"')) {
            report.row(session, number, line, found);
        } else if let Some(heading) = table.as_ref().filter(|_| iozone_table::is_row(line)) {
            heading.row(session, number, line, found);
        } else if text_of.starts_with("iozone: interrupted") {
            session.run.state = RunState::Interrupted;
            session.run.remark("iozone was interrupted");
            found.used(number);
        } else if in_settings || is_frame(text_of) {
            found.used(number);
        }
    }
    if let Some(session) = session {
        session.finish(found);
    }
}

/// Lines around results that carry none themselves. What the parent saw includes the start of the processes, and the rest
/// is the same once more per process.
fn is_frame(line: &str) -> bool {
    const STARTS: [&str; 9] = [
        "Parent sees throughput for",
        "Min throughput per",
        "Max throughput per",
        "Avg throughput per",
        "Min xfer",
        "iozone test complete",
        "exiting iozone",
        "Excel output is below",
        "Excel chart generation",
    ];
    STARTS.iter().any(|s| line.starts_with(s))
        || line.contains("random") && line.contains("bkwd") && line.contains("stride")
}

/// `Children see throughput for  4 initial writers  =  1074.97 kB/sec`.
fn children(line: &str) -> Option<(String, &str, &str)> {
    let rest = line.trim().strip_prefix("Children see throughput for")?;
    let (what, right) = rest.split_once('=')?;
    let mut words = what.split_whitespace();
    words.next().filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?;
    let operation: Vec<&str> = words.collect();
    let mut cells = right.split_whitespace();
    Some((operation.join("-"), cells.next()?, cells.next()?))
}

fn throughput(session: &mut Session, number: usize, (operation, value, unit): (&str, &str, &str), found: &mut Found) {
    session.mode = match unit.to_ascii_lowercase().as_str() {
        "kb/sec" | "kbytes/sec" => Mode::KibPerS,
        "ops/sec" => Mode::OpsPerS,
        "microseconds/op" | "usec/op" => Mode::MicrosPerOp,
        _ => {
            found.not_understood(number, format!("the unit {unit} is not known"));
            return;
        }
    };
    session.has_unit = true;
    if session.ids.contains(&format!(".{operation}")) {
        session.split(number, found);
    }
    let record = session.record_kib;
    if session.add("", operation, record, value) {
        found.used(number);
    } else {
        found.not_understood(number, format!("'{value}' is no rate"));
    }
}
