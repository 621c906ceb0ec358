//! A job of fio as every form of its output tells it, and the metrics that it becomes.

use crate::import::{ImportedMetric, Original};
use model::{Better, Reason, Unit};

/// Percentiles that become metrics: as fio writes them, and the ending of the metric's id.
const PERCENTILES: [(f64, &str); 7] =
    [(1.0, "p1"), (50.0, "p50"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"), (99.9, "p999"), (99.99, "p9999")];

/// Percentiles that are read of a distribution: fio prints 20 at most (FIO_IO_U_LIST_MAX_LEN).
pub(super) const MAX_PERCENTILES: usize = 20;

/// Reason of a percentile that is not of the whole latency.
pub(super) fn of_completion_latency() -> Reason {
    Reason::of("completion", "a percentile of completion latencies")
}

/// A number in the units of this program and as printed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantity {
    /// Bytes per second, operations per second, nanoseconds or percent.
    pub value: f64,
    /// The number as fio printed it.
    pub original: Original,
}

impl Quantity {
    pub fn new(value: f64, printed: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { value, original: Original::new(printed, unit) }
    }
}

/// A distribution of latencies; what was not printed is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Latencies {
    pub min: Option<Quantity>,
    pub max: Option<Quantity>,
    pub mean: Option<Quantity>,
    pub deviation: Option<Quantity>,
    /// Percent and value.
    pub percentiles: Vec<(f64, Quantity)>,
}

impl Latencies {
    /// Whether it says anything: fio prints zeros where a measurement was disabled.
    fn is_empty(&self) -> bool {
        let zero = |q: &Option<Quantity>| q.as_ref().is_none_or(|q| q.value == 0.0);
        zero(&self.max) && zero(&self.mean) && self.percentiles.iter().all(|(_, q)| q.value == 0.0)
    }

    /// Why the numbers cannot be latencies of a phase that took so long, if they cannot.
    ///
    /// With `disable_slat` or `disable_clat` some versions subtract a time that was never taken, and print the time
    /// since boot: days, in a run of seconds.
    fn fault(&self, runtime_ns: Option<f64>) -> Option<Reason> {
        let value = |q: &Option<Quantity>| q.as_ref().map(|q| q.value);
        if let (Some(min), Some(mean), Some(max)) = (value(&self.min), value(&self.mean), value(&self.max)) {
            // Each is rounded on its own, to three digits at worst.
            if mean > max * 1.01 + 1e3 || mean < min * 0.99 - 1e3 {
                return Some(Reason::of("impossible", "the mean does not lie between the least and the greatest"));
            }
        }
        let runtime = runtime_ns.filter(|r| *r > 0.0)?;
        let too_long = value(&self.mean).is_some_and(|m| m > 1.5 * runtime + 10e9)
            || value(&self.min).is_some_and(|m| m > 1.5 * runtime + 10e9);
        too_long.then(|| {
            Reason::of("impossible", format!("longer than the phase itself, which took {:.3} s", runtime / 1e9))
        })
    }
}

/// One direction of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Direction {
    /// `read`, `write`, `trim`, `mixed`, `sync`.
    pub name: &'static str,
    /// Operations; 0 if not printed.
    pub operations: u64,
    /// Time that the rates are over.
    pub runtime_ns: Option<f64>,
    /// Bytes that were moved in it, as far as a line of text says.
    pub bytes: Option<f64>,
    pub iops: Option<Quantity>,
    pub throughput: Option<Quantity>,
    /// From being issued to being completed.
    pub total: Latencies,
    /// From being handed to the kernel to being completed.
    pub completion: Latencies,
    /// Submission latency (`slat`).
    pub submission: Latencies,
    /// Remarks on the rates.
    pub remarks: Vec<String>,
}

impl Direction {
    pub fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    /// Whether it has all that fio prints on one line, and bytes over time are the rate beside them.
    pub fn is_whole(&self) -> bool {
        let (Some(bytes), Some(ns), Some(rate)) = (self.bytes, self.runtime_ns, &self.throughput) else { return false };
        let counted = bytes / (ns / 1e9);
        // Three digits of each, and times of a few milliseconds.
        ns > 0.0 && bytes > 0.0 && (counted - rate.value).abs() <= 0.02 * counted + bytes / (ns / 1e9) * (1e6 / ns)
    }

    /// Whether the job went in this direction at all: the one that was not used is printed as zeros. A job whose first
    /// operation failed has counted it and has no rate.
    pub fn is_used(&self) -> bool {
        let positive = |q: &Option<Quantity>| q.as_ref().is_some_and(|q| q.value > 0.0);
        positive(&self.iops)
            || positive(&self.throughput)
            || (self.name == "sync" && !(self.total.is_empty() && self.completion.is_empty()))
    }
}

/// One job, or one group of jobs that fio reports as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FioJob {
    pub name: String,
    /// The client that ran it.
    pub host: Option<String>,
    /// fio's errno for it, and what fio says of it.
    pub error: Option<String>,
    pub directions: Vec<Direction>,
    pub cpu_user: Option<Quantity>,
    pub cpu_system: Option<Quantity>,
    /// What it did: `rw=randread bs=4k iodepth=32`.
    pub options: Option<String>,
}

impl FioJob {
    /// The direction of that name, made if need be.
    pub fn direction(&mut self, name: &'static str) -> &mut Direction {
        let at = self.directions.iter().position(|d| d.name == name).unwrap_or_else(|| {
            self.directions.push(Direction::new(name));
            self.directions.len() - 1
        });
        &mut self.directions[at]
    }

    /// Its metrics under that name.
    pub fn metrics(&self, name: &str) -> Vec<ImportedMetric> {
        let mut out = Vec::new();
        for direction in self.directions.iter().filter(|d| d.is_used()) {
            direction_metrics(&format!("{name}.{}", direction.name), direction, &mut out);
        }
        if out.is_empty() {
            return out;
        }
        let mut cpu = |quantity: &str, q: &Quantity| {
            let id = format!("{name}.{quantity}");
            out.extend(ImportedMetric::new(id, Unit::Percent, None, q.value, 1, q.original.clone()));
        };
        if let (Some(user), Some(system)) = (&self.cpu_user, &self.cpu_system) {
            let printed = format!("{} + {}", user.original.value, system.original.value);
            cpu("cpu_percent", &Quantity::new(user.value + system.value, printed, "%"));
            cpu("cpu_user_percent", user);
            cpu("cpu_system_percent", system);
        }
        out
    }
}

fn direction_metrics(prefix: &str, d: &Direction, out: &mut Vec<ImportedMetric>) {
    let n = d.operations.max(1);
    let mut push =
        |quantity: &str, unit: Unit, better: Option<Better>, q: &Option<Quantity>, reason: Option<&Reason>| {
            let Some(q) = q else { return };
            let metric =
                ImportedMetric::new(format!("{prefix}.{quantity}"), unit, better, q.value, n, q.original.clone());
            out.extend(metric.map(|mut m| {
                m.metric.reasons.extend(reason.cloned());
                m
            }));
        };
    let higher = Some(Better::Higher);
    let remark = (!d.remarks.is_empty()).then(|| Reason::uncoded(d.remarks.join("; ")));
    let rate = |q: &Option<Quantity>| q.clone().filter(|q| q.value > 0.0);
    push("iops", Unit::OpsPerS, higher, &rate(&d.iops), None);
    push("throughput_bytes_per_s", Unit::BytesPerS, higher, &rate(&d.throughput), remark.as_ref());
    for (kind, latencies) in
        [("latency", &d.total), ("completion_latency", &d.completion), ("submission_latency", &d.submission)]
    {
        if latencies.is_empty() {
            continue;
        }
        let start = out.len();
        latency_metrics(prefix, kind, latencies, n, out);
        if let Some(fault) = latencies.fault(d.runtime_ns) {
            out[start..].iter_mut().for_each(|m| m.metric.refuse(std::slice::from_ref(&fault)));
        }
    }
    percentile_metrics(prefix, d, n, out);
}

fn latency_metrics(prefix: &str, kind: &str, latencies: &Latencies, n: u64, out: &mut Vec<ImportedMetric>) {
    let lower = Some(Better::Lower);
    let four = [
        ("mean", &latencies.mean, lower),
        ("min", &latencies.min, lower),
        ("max", &latencies.max, lower),
        ("stddev", &latencies.deviation, lower),
    ];
    for (quantity, value, better) in four {
        // Handing over is a matter of the CPU; its extremes say nothing of storage.
        if kind == "submission_latency" && quantity != "mean" {
            continue;
        }
        let Some(q) = value else { continue };
        let id = format!("{prefix}.{kind}_ns_{quantity}");
        out.extend(ImportedMetric::new(id, Unit::Ns, better, q.value, n, q.original.clone()));
    }
}

/// Percentiles are printed of completion latencies, or of total ones with `lat_percentiles`.
fn percentile_metrics(prefix: &str, d: &Direction, n: u64, out: &mut Vec<ImportedMetric>) {
    let of_completion = d.completion.percentiles.iter().any(|(_, q)| q.value > 0.0);
    let (latencies, note) =
        if of_completion { (&d.completion, (d.name != "sync").then(of_completion_latency)) } else { (&d.total, None) };
    if latencies.is_empty() {
        return;
    }
    let fault = latencies.fault(d.runtime_ns);
    for (percent, ending) in PERCENTILES {
        let Some((_, q)) = latencies.percentiles.iter().find(|(p, _)| (p - percent).abs() < 1e-6) else { continue };
        let id = format!("{prefix}.latency_ns_{ending}");
        let made = ImportedMetric::new(id, Unit::Ns, Some(Better::Lower), q.value, n, q.original.clone());
        out.extend(made.map(|mut made| {
            made.metric.reasons.extend(note.clone());
            // Ten operations beyond a percentile carry it.
            let needed = 10.0 / (1.0 - (percent / 100.0).min(0.9999));
            if percent > 50.0 && d.operations > 0 && (d.operations as f64) < needed.round() {
                made.metric.reasons.push(Reason::of("few-operations", format!("{} hardly carry it", d.operations)));
            }
            if let Some(fault) = &fault {
                made.metric.refuse(std::slice::from_ref(fault));
            }
            made
        }));
    }
}
