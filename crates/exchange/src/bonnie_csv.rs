//! bonnie++'s comma-separated line, format 1.98: from runs that were imported from bonnie++ and from runs whose phases are
//! called like its tests.

use crate::bonnie_tests::{IO_TESTS, NAMES, is_throughput};
use crate::error::check_phases;
use crate::{ExchangeError, Options, Result};
use model::{Metric, MetricStatus, Run};

/// What bonnie++ prints for a test that was too short to be measured, and for its CPU.
const TOO_FAST: [&str; 2] = ["+++++", "+++"];

/// One line of format 1.98 for a run, with a line end. Tests that were not run are blank; numbers that were refused or could
/// not be measured are `+++++`, as bonnie++ says that it will not give a number.
///
/// # Errors
/// A phase is named that the run does not have, or no phase is one of bonnie++'s tests.
pub fn bonnie_csv(run: &Run, options: &Options) -> Result<String> {
    check_phases(run, &options.phases)?;
    let cells = Cells { run, options };
    if NAMES.iter().all(|test| cells.rate(test).is_none()) {
        let reason = format!("no phase of it is one of bonnie++'s tests ({})", NAMES.join(", "));
        return Err(ExchangeError::NothingRecorded { run: run.id.clone(), reason });
    }
    // Its readers know no quotes.
    let mut name = model::sanitize(&run.target.name).replace([',', ';', '|', '"'], "_");
    if model::csv_text(&name).starts_with('"') {
        name.insert(0, '\'');
    }
    let version = concat!("narrows-", env!("CARGO_PKG_VERSION"));
    // format, program, name, concurrency, seed, size, chunk, seeks, seek processes
    let mut fields: Vec<String> = vec!["1.98".into(), version.into(), name, "1".into(), String::new()];
    fields.extend([cells.remark("file of "), String::new(), String::new(), String::new()]);
    NAMES[..IO_TESTS].iter().for_each(|test| fields.extend(cells.pair(test)));
    // files, largest, smallest, directories, chunk
    let files = cells.remark(" x 1024 files");
    let mut files: Vec<String> = files.split(':').map(str::to_owned).collect();
    files.resize(5, String::new());
    fields.extend(files);
    NAMES[IO_TESTS..].iter().for_each(|test| fields.extend(cells.pair(test)));
    fields.extend(NAMES.iter().map(|test| cells.latency(test)));
    Ok(fields.join(",") + "\n")
}

struct Cells<'r> {
    run: &'r Run,
    options: &'r Options,
}

impl Cells<'_> {
    /// A metric of a test: `seeks.ops_per_s`, or of this program's own phases with a direction in between. A block that is
    /// read and written back counts once: as it is read.
    fn metric(&self, test: &str, quantities: &[&str]) -> Option<&Metric> {
        let wanted = self.run.phases.iter().filter(|p| self.options.includes(&p.plan.name));
        let metrics = wanted.flat_map(|p| &p.metrics);
        let parts = metrics.filter_map(|m| Some((m, m.id.strip_prefix(test)?.strip_prefix('.')?)));
        let quantity = |r: &str| ["read.", "write."].iter().find_map(|d| r.strip_prefix(d)).unwrap_or(r).to_owned();
        let meant: Vec<_> = parts.filter(|(_, rest)| quantities.contains(&quantity(rest).as_str())).collect();
        let as_read = meant.iter().find(|(_, rest)| rest.starts_with("read."));
        as_read.or(meant.first()).map(|(m, _)| *m)
    }

    fn rate(&self, test: &str) -> Option<&Metric> {
        let by_bytes = NAMES.iter().position(|t| *t == test).is_some_and(is_throughput);
        self.metric(test, if by_bytes { &["throughput_bytes_per_s"] } else { &["ops_per_s", "iops", "files_per_s"] })
    }

    /// Number of a metric that stands, or that was asked for although it was refused.
    fn value(&self, metric: &Metric) -> Option<f64> {
        let stands = metric.status == MetricStatus::Measured;
        metric.value.filter(|_| stands).or(metric.rejected_value.filter(|_| self.options.keep_refused))
    }

    /// Rate and CPU of a test.
    fn pair(&self, test: &str) -> [String; 2] {
        let Some(metric) = self.rate(test) else { return [String::new(), String::new()] };
        let Some(value) = self.value(metric) else { return TOO_FAST.map(str::to_owned) };
        let rate = match metric.unit {
            model::Unit::BytesPerS => format!("{:.0}", (value / 1024.0).round()),
            // bonnie++ gives seeks a decimal below a thousand, and the other rates none.
            _ if test == "seeks" && value < 1000.0 => format!("{value:.1}"),
            _ => format!("{value:.0}"),
        };
        let cpu = self.metric(test, &["cpu_percent"]).and_then(|m| self.value(m));
        // Readers take a rate with a blank beside it for a shifted line.
        [rate, cpu.map_or(TOO_FAST[1].to_owned(), |v| format!("{v:.0}"))]
    }

    /// Worst latency as bonnie++ prints it: microseconds up to 0.1 s, milliseconds up to 100 s.
    fn latency(&self, test: &str) -> String {
        let Some(ns) = self.metric(test, &["latency_ns_max"]).and_then(|m| self.value(m)) else { return String::new() };
        match ns {
            ns if ns > 99.999_999e9 => format!("{:.0}s", ns / 1e9),
            ns if ns > 0.099_999e9 => format!("{:.0}ms", ns / 1e6),
            ns => format!("{:.0}us", ns / 1e3),
        }
    }

    /// What an import noted of the settings: the remark without its words.
    fn remark(&self, words: &str) -> String {
        let found = self.run.remarks.iter().find_map(|r| r.strip_prefix(words).or_else(|| r.strip_suffix(words)));
        found.filter(|text| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b':')).unwrap_or_default().to_owned()
    }
}
