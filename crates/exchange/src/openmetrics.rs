//! The latest runs as OpenMetrics text, for the node exporter's textfile directory: metrics, validity, findings, wear.
//!
//! What Prometheus' text format and OpenMetrics 1.0 both take: gauges in base units (seconds, bytes, ratios), no timestamps, which the
//! textfile collector refuses; when a run began is a gauge of its own. A number that was refused is not there, and is counted.

use model::{Finding, LayerKind, Metric, MetricStatus, PhaseRun, Run, RunValidity, Unit, facts, json_name, sanitize};
use std::collections::BTreeMap;

/// A run with what is known of it beside.
pub struct ScrapedRun<'a> {
    pub run: &'a Run,
    pub findings: &'a [Finding],
    /// When it began, seconds since 1970.
    pub began_s: Option<f64>,
    /// Part of their lives that disks have used, by serial number: 1 is all of it.
    pub wear: Vec<(String, f64)>,
}

/// A family of samples: what it is, and each sample by its labels, so that none is there twice.
#[derive(Default)]
struct Family {
    help: String,
    samples: BTreeMap<String, f64>,
}

/// The samples by family.
#[derive(Default)]
struct Families(BTreeMap<String, Family>);

impl Families {
    fn add(&mut self, name: &str, help: &str, labels: &str, value: f64) {
        if value.is_finite() {
            let family = self.0.entry(name.to_owned()).or_default();
            family.help = help.to_owned();
            // Of the same labels the later run counts.
            family.samples.insert(labels.to_owned(), value);
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (name, family) in &self.0 {
            text.push_str(&format!("# HELP {name} {}\n# TYPE {name} gauge\n", family.help));
            for (labels, value) in &family.samples {
                text.push_str(&format!("{name}{{{labels}}} {value}\n"));
            }
        }
        text + "# EOF\n"
    }
}

/// The runs; of two with the same target and workload the later one in this order counts.
pub fn openmetrics(runs: &[ScrapedRun<'_>]) -> String {
    let mut families = Families::default();
    let is_last = |i: usize| {
        let of = |run: &Run| (run.target.name.clone(), workload(run).to_owned());
        runs[i + 1..].iter().all(|later| of(later.run) != of(runs[i].run))
    };
    for (_, scraped) in runs.iter().enumerate().filter(|(i, _)| is_last(*i)) {
        of_run(scraped, &mut families);
    }
    families.text()
}

fn of_run(scraped: &ScrapedRun<'_>, families: &mut Families) {
    let run = scraped.run;
    let device = run.target.stack.device_layer().map_or("", |l| l.name.as_str());
    let own = labels(&[("target", &run.target.name), ("device", device), ("workload", workload(run))]);
    let with = |more: &[(&str, &str)]| format!("{own},{}", labels(more));
    let mut refused = 0;
    for phase in run.phases.iter().filter(|p| p.plan.measures_target()) {
        for metric in &phase.metrics {
            refused += u32::from(metric.status == MetricStatus::Refused);
            let Some((name, help, value, statistic)) = sample(metric) else { continue };
            let [name_of, job, direction] = place(phase, metric);
            let place = [("phase", name_of), ("job", job), ("direction", direction), ("statistic", statistic)];
            let place: Vec<(&str, &str)> = place.into_iter().filter(|(_, text)| !text.is_empty()).collect();
            families.add(&name, help, &with(&place), value);
        }
    }
    let mut add = |name: &str, help: &str, labels: &str, value: f64| families.add(name, help, labels, value);
    add("narrows_metrics_refused", "Numbers of the last run that were refused.", &own, f64::from(refused));
    let valid = run.validity();
    for state in [RunValidity::Valid, RunValidity::Partial, RunValidity::Invalid] {
        let is = f64::from(u8::from(state == valid));
        let help = "Whether the last run is valid, partial or invalid: 1 for what it is.";
        add("narrows_run_validity", help, &with(&[("validity", state.name())]), is);
    }
    let help = "When the last run began, as its clock said.";
    scraped.began_s.into_iter().for_each(|at| add("narrows_run_start_timestamp_seconds", help, &own, at));
    let version = [("run", run.id.as_str()), ("version", run.program_version.as_str())];
    add("narrows_run_info", "The last run, always 1.", &with(&version), 1.0);
    for finding in scraped.findings {
        let (layer, confidence) = (json_name(&finding.layer), json_name(&finding.confidence));
        let what = [("finding", finding.id.as_str()), ("layer", &layer), ("confidence", &confidence)];
        add("narrows_finding", "A finding of the last run, always 1.", &with(&what), 1.0);
    }
    for disk in run.target.stack.all(LayerKind::Disk) {
        let Some(serial) = disk.text(facts::SERIAL) else { continue };
        let model = disk.text(facts::MODEL).unwrap_or_default();
        let of = labels(&[("device", &disk.name), ("model", model), ("serial", serial)]);
        if let Some((_, used)) = scraped.wear.iter().find(|(known, _)| known == serial) {
            let help = "Part of the life of a disk that is used, as it said before the last run: 1 is all of it.";
            add("narrows_disk_wear_ratio", help, &of, *used);
        }
        let written = disk.int(facts::WRITTEN_BYTES).map(|n| n as f64);
        let help = "Written by hosts in the life of a disk, as it said before the last run.";
        written.into_iter().for_each(|bytes| add("narrows_disk_written_bytes", help, &of, bytes));
    }
}

fn workload(run: &Run) -> &str {
    if run.plan.name.is_empty() { &run.command } else { &run.plan.name }
}

/// Name, what it says, value in base units, and which statistic of several; `None` unless the metric was measured.
fn sample(metric: &Metric) -> Option<(String, &'static str, f64, &str)> {
    let value = metric.value?;
    let quantity = metric.key().quantity;
    let named = |suffix: &str, unit: &str| {
        let stem = quantity.strip_suffix(suffix).unwrap_or(quantity).trim_end_matches('_');
        if stem.is_empty() { format!("narrows_{unit}") } else { format!("narrows_{}_{unit}", plain(stem)) }
    };
    Some(match (metric.unit, quantity.split_once("_ns_")) {
        (Unit::Ns, Some((stem, statistic))) => {
            (format!("narrows_{}_seconds", plain(stem)), help_of_time(stem), value / 1e9, statistic)
        }
        (Unit::Ns, None) => (named("_ns", "seconds"), "Time.", value / 1e9, ""),
        (Unit::S, _) => (named("_s", "seconds"), "Time.", value, ""),
        (Unit::BytesPerS, _) => (named("_bytes_per_s", "bytes_per_second"), "Rate in bytes.", value, ""),
        (Unit::OpsPerS, _) if quantity == "iops" => {
            ("narrows_operations_per_second".to_owned(), "Rate in operations.", value, "")
        }
        (Unit::OpsPerS, _) => (named("_ops_per_s", "operations_per_second"), "Rate in operations.", value, ""),
        (Unit::FilesPerS, _) => (named("files_per_s", "files_per_second"), "Rate in files.", value, ""),
        (Unit::Percent, _) => {
            let help = match quantity.starts_with("cpu") {
                true => "Processor time over time: 1 is one processor all of the time.",
                false => "Share: 1 is all of it.",
            };
            (named("_percent", "ratio"), help, value / 100.0, "")
        }
        (Unit::Bytes, _) => (named("_bytes", "bytes"), "Amount of data.", value, ""),
        (Unit::Ratio, _) => {
            let help = match quantity {
                "write_amplification" => "Bytes that the device wrote for each byte that was written to it.",
                _ => "Ratio, without a unit.",
            };
            (named("_ratio", "ratio"), help, value, "")
        }
    })
}

/// What the statistics of a time are of.
fn help_of_time(stem: &str) -> &'static str {
    match stem {
        "latency" => "Latency of operations by statistic: percentiles, mean, max.",
        "stall" => "Longest time without a completed operation.",
        "cpu" => "Processor time by statistic: per operation.",
        _ => "Time by statistic: percentiles, mean, max.",
    }
}

/// Phase, job and direction of a metric.
fn place<'a>(phase: &'a PhaseRun, metric: &'a Metric) -> [&'a str; 3] {
    let key = metric.key_in(phase).unwrap_or(metric.key());
    let (job, direction) = key.job_and_direction(phase.plan.jobs().len() > 1);
    [&phase.plan.name, job, direction]
}

/// A name that may stand in one of Prometheus: letters, digits, `_`.
fn plain(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    text.chars().map(letter).collect()
}

/// Labels with their values, escaped as the format asks for: backslash, quotation mark, line feed.
fn labels(all: &[(&str, &str)]) -> String {
    let one = |(name, value): &(&str, &str)| {
        let value = sanitize(value).replace('\\', "\\\\").replace('"', "\\\"");
        format!("{name}=\"{value}\"")
    };
    all.iter().map(one).collect::<Vec<_>>().join(",")
}
