//! What was measured, in a sentence: the answer of a run of which nothing else was asked.

use crate::Check;
use crate::evidence::with_confidence;
use crate::presentation::Tone;
use crate::quantity;
use crate::text::and_list;
use model::{CompactSort as _, Knee, Metric, MetricStatus, PhaseRun, PhaseStatus, Reason, Run, TargetKind, Unit};

/// So many numbers are named one by one; of more the least and the most.
const MOST_NAMED: usize = 3;
/// Smaller blocks are counted in operations.
const LARGE_BLOCK_BYTES: u64 = 64 << 10;
/// What is said of a work, the first of these that it has; of small blocks operations come first.
const RATES: [&str; 6] =
    ["throughput_bytes_per_s", "iops", "tps_ops_per_s", "files_per_s", "ops_per_s", "file_ops_per_s"];
const TIMES: [&str; 7] =
    ["latency_ns_p99", "latency_ns_p50", "latency_ns_mean", "latency_ns_max", "await_ns", "elapsed_s", "time_s"];
const OTHERS: [&str; 4] = ["util_percent", "bytes", "temperature_celsius", "queue_depth_mean"];

/// Tools whose name is before each of their tests.
const TOOLS: [&str; 7] = ["f3", "hdparm", "ioping", "blkparse", "crystaldiskmark", "kdiskmark", "pg_test_fsync"];

/// A work with its numbers in words.
pub(crate) struct Told<'a> {
    name: String,
    rate: Option<&'a Metric>,
    /// The same in operations or in bytes.
    also: Option<&'a Metric>,
    time: Option<&'a Metric>,
}

impl<'a> Told<'a> {
    /// Of the metrics of one part of a phase: whether its blocks are small, whether operations and bytes are both said, whether it is
    /// held back. `None` where no number is valid.
    fn of(name: String, metrics: &[(&'a str, &'a Metric)], (small, both, waits): (bool, bool, bool)) -> Option<Self> {
        let first = |names: &[&str]| {
            let valid = |name: &str| metrics.iter().find(|(q, m)| *q == name && words(m).is_some()).map(|(_, m)| *m);
            names.iter().find_map(|name| valid(name))
        };
        let rate = first(if small { &["iops"] } else { &[] }).or_else(|| first(&RATES)).filter(|_| !waits);
        let time = first(&TIMES);
        let rate = rate.or_else(|| first(&OTHERS).filter(|_| time.is_none()));
        let other = rate.filter(|_| both).and_then(|m| match m.unit {
            Unit::BytesPerS => first(&["iops", "tps_ops_per_s"]),
            Unit::OpsPerS => first(&["throughput_bytes_per_s"]),
            _ => None,
        });
        (rate.is_some() || time.is_some()).then_some(Self { name, rate, also: other, time })
    }

    fn leading(&self) -> Option<&'a Metric> {
        self.rate.or(self.time)
    }

    fn words(&self) -> String {
        let time = self.time.and_then(|m| Some((time_name(m), words(m)?)));
        let time = time.map(|(name, value)| format!("{name}{value}"));
        let also = self.also.and_then(words).map_or_else(String::new, |also| format!(" ({also})"));
        let rate = self.rate.and_then(words).map(|rate| format!("{rate}{also}"));
        let both: Vec<String> = rate.into_iter().chain(time).collect();
        if self.name.is_empty() { both.join(", ") } else { format!("{} {}", self.name, both.join(", ")) }
    }
}

/// `p99 `, of a latency.
fn time_name(metric: &Metric) -> &'static str {
    let names = [("_p99", "p99 "), ("_p50", "p50 "), ("_mean", "mean "), ("_max", "max "), ("await_ns", "wait ")];
    names.iter().find(|(end, _)| metric.id.ends_with(end)).map_or("", |(_, name)| name)
}

/// A value, of a bound with which one it is.
fn words(metric: &Metric) -> Option<String> {
    if metric.bounded().is_some() {
        return quantity::rejected(metric).map(|shown| shown.value());
    }
    let valid = metric.status == MetricStatus::Measured && metric.value.is_some();
    quantity::metric(metric).filter(|_| valid).map(|shown| shown.value())
}

/// Each work of a run with what is known of it: of a phase of ours as a whole, of another tool's each part.
fn told(run: &Run) -> Vec<Told<'_>> {
    let foreign = run.target.kind == TargetKind::Foreign;
    let counts = |p: &&PhaseRun| !run.is_reference(&p.plan) && (p.plan.measures_target() || p.plan.streams.is_empty());
    run.phases.iter().filter(counts).flat_map(|phase| of_phase(phase, foreign)).collect()
}

fn of_phase(phase: &PhaseRun, foreign: bool) -> Vec<Told<'_>> {
    let metrics = phase.metrics.iter().filter_map(|m| m.key_in(phase).map(|key| (key.part(), key.quantity, m)));
    let metrics: Vec<(&str, &str, &Metric)> = metrics.collect();
    let mut parts: Vec<&str> = Vec::new();
    for (part, ..) in metrics.iter().filter(|(part, ..)| foreign || part.is_empty()) {
        if !parts.contains(part) {
            parts.push(part);
        }
    }
    let plan = &phase.plan;
    let small = has_small_blocks(phase);
    let paced = |s: &model::StreamPlan| s.timing.pacing.is_some_and(|p| p.read.or(p.write).or(p.trim).is_some());
    let waits = !plan.streams.is_empty() && plan.streams.iter().all(paced);
    let of = |part: &str| {
        let own: Vec<(&str, &Metric)> = metrics.iter().filter(|m| m.0 == part).map(|m| (m.1, m.2)).collect();
        Told::of(name(&plan.name, part, foreign), &own, (small, small || foreign, waits))
    };
    let found: Vec<Told<'_>> = parts.into_iter().filter_map(of).collect();
    // A CPU's share or a size beside rates is no work of its own.
    let has_rates = found.iter().any(|t| t.rate.is_some_and(is_rate));
    found.into_iter().filter(|t| !has_rates || t.rate.is_some_and(is_rate)).collect()
}

/// Whether operations say more of a phase than bytes.
fn has_small_blocks(phase: &PhaseRun) -> bool {
    let streams = &phase.plan.streams;
    let is_small = |s: &model::StreamPlan| s.blocks().is_none_or(|s| s.block.block_size_bytes < LARGE_BLOCK_BYTES);
    !streams.is_empty() && streams.iter().all(is_small)
}

/// What all ranks did together in a phase; `None` where it has no valid sum.
pub(crate) fn of_all_ranks(phase: &PhaseRun) -> Option<Told<'_>> {
    let keyed = phase.metrics.iter().filter_map(|m| m.key_in(phase).map(|key| (key.part(), key.quantity, m)));
    let sums: Vec<(&str, &Metric)> = keyed.filter(|k| k.0 == "group").map(|k| (k.1, k.2)).collect();
    let small = has_small_blocks(phase);
    Told::of(phase.plan.name.clone(), &sums, (small, small, false))
}

/// A phase of ours as its table has it; of another tool what it calls its test, without its own name before it.
fn name(phase: &str, part: &str, foreign: bool) -> String {
    let whole = format!("{phase} {part}");
    if !foreign {
        return whole.trim().to_owned();
    }
    let whole = whole.replace('.', " ");
    let of_tool = whole.split_once(' ').filter(|(tool, rest)| TOOLS.contains(tool) && !rest.trim().is_empty());
    of_tool.map_or(whole.as_str(), |(_, rest)| rest).trim().to_owned()
}

fn is_rate(metric: &Metric) -> bool {
    matches!(metric.unit, Unit::BytesPerS | Unit::OpsPerS | Unit::FilesPerS)
}

/// One by one, or from the least to the most where that is of one unit.
pub(crate) fn summed(told: &[Told<'_>], what: &str) -> String {
    if told.len() <= MOST_NAMED {
        return told.iter().map(Told::words).collect::<Vec<_>>().join("; ");
    }
    let leading: Vec<(&Told<'_>, &Metric)> = told.iter().filter_map(|t| Some((t, t.leading()?))).collect();
    let alike = leading.windows(2).all(|pair| pair[0].1.unit == pair[1].1.unit);
    let value = |m: &Metric| m.value.or(m.rejected_value).unwrap_or(0.0);
    let by_value = |a: &&(&Told<'_>, &Metric), b: &&(&Told<'_>, &Metric)| value(a.1).total_cmp(&value(b.1));
    let (least, most) = (leading.iter().min_by(by_value), leading.iter().max_by(by_value));
    let end = |of: Option<&(&Told<'_>, &Metric)>| of.and_then(|(t, m)| Some(format!("{} ({})", words(m)?, t.name)));
    if let (true, Some(least), Some(most)) = (alike, end(least), end(most)) {
        return format!("{} {what}, from {least} to {most}", told.len());
    }
    let first: Vec<String> = told[..MOST_NAMED].iter().map(Told::words).collect();
    format!("{}; and {} more {what}", first.join("; "), told.len() - MOST_NAMED)
}

/// The answer of a run of which nothing else was asked; `None` where it has no phase that measures storage.
pub(crate) fn answer(check: &Check<'_>) -> Option<(Tone, String)> {
    let run = check.run;
    match run.target.kind {
        TargetKind::Foreign => return Some((Tone::Good, imported(run, check.over_reports))),
        // A table of accesses by their width says it itself.
        TargetKind::Region => return None,
        _ => {}
    }
    let told = told(run);
    if told.is_empty() {
        return nothing(run).map(|text| (Tone::Doubt, text));
    }
    let knee = check.depth_curves.first().filter(|_| check.depth_curves.len() == 1).map_or_else(String::new, |curve| {
        match &curve.knee {
            Knee::At { depth, .. } => format!("; more than {depth} in flight bring little"),
            Knee::NotReached { depth } => format!("; more than {depth} in flight may bring more"),
            Knee::Unknown { .. } => String::new(),
        }
    });
    let limit = check.limit_is_known().then(|| {
        let statement = check.limit.statement.trim_end_matches('.');
        format!("; the bottleneck: {}", with_confidence(statement, check.limit.layer, check.limit.confidence))
    });
    Some((Tone::Good, format!("{}{knee}{}.", summed(&told, "phases"), limit.unwrap_or_default())))
}

/// Why there is no number; `None` where nothing was to be measured.
fn nothing(run: &Run) -> Option<String> {
    let refused = |p: &&PhaseRun| !run.is_reference(&p.plan) && p.status != PhaseStatus::NotApplicable;
    let mut reasons = run.phases.iter().filter(refused).flat_map(|p| {
        let of_metrics = p.metrics.iter().filter(|m| m.status == MetricStatus::Refused).flat_map(|m| m.reasons.iter());
        p.reasons.iter().chain(of_metrics)
    });
    let why = reasons.find(|reason: &&Reason| !reason.is("no-interval"))?;
    Some(format!("No number is known: {}.", why.text().trim_end_matches('.')))
}

/// What another tool's output holds, in a sentence. `over_reports` are the figures of a series of reports, device by device.
pub fn imported(run: &Run, over_reports: &[Metric]) -> String {
    let tool = &run.plan.name;
    if let Some(devices) = devices(over_reports) {
        return format!("Imported from {tool}: {devices}.");
    }
    let told = told(run);
    if told.is_empty() {
        let why = nothing(run).unwrap_or_else(|| "no number that it gives is a rate or a time.".to_owned());
        return format!("Imported from {tool}: {why}");
    }
    let doubts = run.phases.iter().flat_map(|p| &p.metrics).flat_map(|m| &m.reasons).chain(&[]);
    let cached = doubts.into_iter().any(|r| r.is("page-cache"));
    let cached = if cached { " (the page cache may have been measured)" } else { "" };
    format!("Imported from {tool}: {}{cached}.", summed(&told, "numbers"))
}

/// What each device of a series of reports did, the busiest first; `None` where none did anything.
fn devices(metrics: &[Metric]) -> Option<String> {
    let mut found: Vec<(&str, f64, Vec<String>)> = Vec::new();
    for metric in metrics.iter().filter(|m| m.value.is_some_and(|value| value > 0.0)) {
        let key = metric.key();
        let Some(direction) = direction(key.of, key.quantity) else { continue };
        let device = key.of.split('.').next().unwrap_or(key.of);
        let Some(words) = words(metric).map(|words| format!("{direction} {words}")) else { continue };
        let value = metric.value.unwrap_or(0.0);
        match found.iter_mut().find(|(name, ..)| *name == device) {
            Some((_, sum, all)) => {
                *sum += value;
                all.push(words);
            }
            None => found.push((device, value, vec![words])),
        }
    }
    found.compact_sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = found.iter().take(MOST_NAMED).map(|(name, _, all)| format!("{name} {}", all.join(", ")));
    let named: Vec<String> = named.collect();
    let more = found.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!("; and {more} more devices") } else { String::new() };
    (!named.is_empty()).then(|| format!("on average {}{more}", named.join("; ")))
}

/// Which way the bytes of a device went, of a metric that counts them.
fn direction<'a>(of: &'a str, quantity: &'a str) -> Option<&'a str> {
    let is_device = !["net/", "paging", "system", "memory", "swap"].iter().any(|other| of.starts_with(other));
    match (of.split_once('.'), quantity) {
        (Some((_, direction)), "throughput_bytes_per_s") => Some(direction),
        (None, "read_bytes_per_s") if is_device => Some("read"),
        (None, "write_bytes_per_s") if is_device => Some("write"),
        _ => None,
    }
}

/// Several runs that were imported, in a sentence.
pub(crate) fn all_imported(answers: &[&str], formats: &[&str]) -> Option<String> {
    match answers {
        [] => None,
        [one] => Some((*one).to_owned()),
        [first, ..] => {
            let mut of: Vec<&str> = Vec::new();
            formats.iter().for_each(|format| {
                if !of.contains(format) {
                    of.push(format);
                }
            });
            let first = first.split_once(": ").map_or(*first, |(_, said)| said);
            Some(format!("Imported {} runs of {}; the first: {first}", answers.len(), and_list(&of)))
        }
    }
}
