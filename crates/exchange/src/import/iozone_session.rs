//! One start of iozone: its settings, and its results as they are found.

use super::{Found, ImportedMetric, ImportedRun, Original};
use model::{Better, Reason, Unit};
use std::collections::{BTreeMap, BTreeSet};

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
    pub record_kib: Option<f64>,
    /// Whether the unit was printed.
    pub has_unit: bool,
    ids: BTreeSet<String>,
    /// Where each group stands in the run.
    places: BTreeMap<String, usize>,
}

impl Session {
    /// A run that begins at a line of a file.
    pub fn new(file: &str, line: usize) -> Self {
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

    /// Whether a result of a group is there already.
    pub fn has(&self, group: &str, operation: &str) -> bool {
        self.ids.contains(&format!("{group}.{operation}"))
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

    /// The run is whole.
    pub fn finish(mut self, found: &mut Found) {
        if self.run.groups.is_empty() {
            return;
        }
        if !self.has_unit {
            self.run.remark("the unit is not printed; kB/s was taken, iozone's default");
        }
        match &self.command {
            Some(command) => {
                self.run.remark(format!("command: {command}"));
                let direct = command.split_whitespace().any(|w| matches!(w, "-I" | "-+r") || w.starts_with("-I"));
                self.run.is_direct = Some(direct);
                if !direct {
                    self.run.remark("without -I these rates may be those of the page cache");
                    self.run.add_doubt(&Reason::of("page-cache", "without -I this may be the rate of the page cache"));
                }
            }
            None => self.run.remark("without its command line it cannot be told whether the page cache was measured"),
        }
        if let Some(kib) = self.record_kib {
            let original = Original::new(kib.to_string(), "kB");
            let metric = ImportedMetric::new("records.bytes", Unit::Bytes, None, kib * 1024.0, 1, original);
            self.run.push("records", metric.into_iter().collect());
        }
        found.push(self.run);
    }

    /// Reads a line of the settings.
    pub fn setting(&mut self, line: &str) -> bool {
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
