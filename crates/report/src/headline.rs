//! The few rows that stand for a whole check, before any layout: card, Markdown and page show the same.

use crate::fact;
use crate::quantity::{self, Shown};
use model::{Metric, MetricStatus, Reason, Run, Sync, TargetKind, Work};

/// What stands where a number could stand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// A number that stands, and the 99th percentile of the latency behind it.
    Value { shown: Shown, p99: Option<String> },
    /// No number that stands, and why. What was measured and is not trusted stands in brackets.
    Without { word: &'static str, code: Option<String>, note: Option<usize>, bad: bool, rejected: Option<Shown> },
    /// There is nothing to say.
    Empty,
}

/// One row: what, in which variant, reading and writing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub label: &'static str,
    pub variant: &'static str,
    pub read: Cell,
    pub write: Cell,
}

/// The rows with the notes that cells point to (counted from 1).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Headline {
    pub rows: Vec<Row>,
    pub notes: Vec<String>,
}

/// What points from a cell to its note: `!2` of a number that is not trusted, `[2]` of one that is not there.
pub(crate) fn mark(rejected: bool, note: usize) -> String {
    if rejected { format!("!{note}") } else { format!("[{note}]") }
}

/// The word in front of a reason's colon, where it is a short code: `cold-unproven: 3 % of ...`.
pub(crate) fn reason_code(reason: &str) -> Option<&str> {
    let code = reason.split_once(':').map_or(reason, |(code, _)| code).trim();
    (!code.is_empty() && code.chars().count() <= 18 && code.split_whitespace().count() <= 2).then_some(code)
}

/// What a status is called where a number is missing.
pub(crate) fn status_word(status: MetricStatus) -> &'static str {
    match status {
        MetricStatus::Measured => "measured",
        MetricStatus::Refused => "refused",
        MetricStatus::Skipped => "skipped",
        MetricStatus::NotApplicable => "n/a",
    }
}

impl Headline {
    fn note(&mut self, text: String) -> usize {
        match self.notes.iter().position(|n| *n == text) {
            Some(i) => i + 1,
            None => {
                self.notes.push(text);
                self.notes.len()
            }
        }
    }

    fn cell(&mut self, run: &Run, work: Work, quantity: &str) -> Cell {
        let Some(metric) = run.metric_doing(work, quantity) else {
            // A phase without this metric still may say why.
            return match run.doing(work) {
                Some(p) if !p.reasons.is_empty() => self.without(
                    match p.status {
                        model::PhaseStatus::Refused => MetricStatus::Refused,
                        model::PhaseStatus::NotApplicable => MetricStatus::NotApplicable,
                        _ => MetricStatus::Skipped,
                    },
                    &p.reasons,
                ),
                _ => Cell::Empty,
            };
        };
        match quantity::metric(metric) {
            Some(shown) => {
                let p99 = run
                    .metric_doing(work, "latency_ns_p99")
                    .and_then(|m| m.value)
                    .map(|v| quantity::quantity(v, model::Unit::Ns));
                Cell::Value { shown, p99: if quantity == "iops" { p99 } else { None } }
            }
            None => {
                let rejected = metric.rejected_value.map(|v| quantity::shown(v, metric.unit, None));
                match self.without(metric.status, &metric.reasons) {
                    Cell::Without { word, code, note, bad, .. } => Cell::Without { word, code, note, bad, rejected },
                    other => other,
                }
            }
        }
    }

    /// Whether a note is that of a number in brackets.
    pub fn is_of_rejected(&self, number: usize) -> bool {
        let cells = self.rows.iter().flat_map(|r| [&r.read, &r.write]);
        cells.into_iter().any(|c| matches!(c, Cell::Without { rejected: Some(_), note: Some(n), .. } if *n == number))
    }

    /// What happened to most of the numbers that are not trusted, in one sentence; `None` where all are.
    pub fn doubt(&self) -> Option<String> {
        let cells = || self.rows.iter().flat_map(|r| [&r.read, &r.write]);
        let of = |number: usize| move |c: &&Cell| matches!(c, Cell::Without { rejected: Some(_), note: Some(n), .. } if *n == number);
        let doubtful = cells().filter(|c| matches!(c, Cell::Without { rejected: Some(_), .. })).count();
        let all = cells().filter(|c| matches!(c, Cell::Value { .. })).count() + doubtful;
        let most = (1..=self.notes.len()).max_by_key(|n| (cells().filter(of(*n)).count(), std::cmp::Reverse(*n)))?;
        let what = self.notes.get(most - 1)?;
        let what = what.split("; ").next().map_or("", |first| Reason::of(first).sentence);
        let verb = match (doubtful, all) {
            (1, 1) => "number is",
            (1, _) => "numbers is",
            _ => "numbers are",
        };
        (doubtful > 0).then(|| format!("{doubtful} of {all} {verb} doubtful: {what}"))
    }

    fn without(&mut self, status: MetricStatus, reasons: &[String]) -> Cell {
        let code = reasons.first().and_then(|r| reason_code(r)).map(str::to_owned);
        // What has no meaning here needs no code in the table, only the sentence below it.
        let code = code.filter(|_| status != MetricStatus::NotApplicable);
        let said = reasons.len() <= 1 && reasons.first().map(|r| r.trim()) == code.as_deref();
        let note = (!said).then(|| self.note(reasons.join("; ")));
        Cell::Without { word: status_word(status), code, note, bad: status == MetricStatus::Refused, rejected: None }
    }
}

/// The rows of a check; rows about which nothing is known are left out.
pub(crate) fn headline(run: &Run) -> Headline {
    let mut h = Headline::default();
    let rates = "throughput_bytes_per_s";
    let mut row = |label, variant, read: Option<Work>, write: Option<Work>, quantity: &str| {
        let [read, write] = [read, write].map(|work| work.map_or(Cell::Empty, |w| h.cell(run, w, quantity)));
        if read != Cell::Empty || write != Cell::Empty {
            h.rows.push(Row { label, variant, read, write });
        }
    };
    row("sequential", "", Some(Work::SequentialRead), Some(Work::SequentialWrite), rates);
    row("small pages", "", Some(Work::SequentialReadPages), None, rates);
    row("buffered", "", Some(Work::BufferedRead), Some(Work::BufferedWrite), rates);
    row("random 4K", "depth 1", Some(Work::RandomRead), Some(Work::RandomWrite), "iops");
    row("", "depth 32", Some(Work::QueuedRead), Some(Work::QueuedWrite), "iops");
    row("sync write 4K", "", None, Some(Work::DurableWrite), "iops");
    row("log append", "", None, Some(Work::LogAppend), "iops");
    // Numbers that stand, but not for a device.
    if let Some(sentence) = Reason::find(run.phases.iter().flat_map(|p| &p.reasons), "no-device") {
        h.note(sentence.to_owned());
    }
    h
}

/// The longest time in which nothing completed among the phases that stand, with the phase's name: not the longest
/// latency, which at depth 32 is mostly the queue in front of an operation. Rounds of buffered writes end in an fsync of
/// many megabytes on purpose, and layout is not a measurement: neither is a stall.
pub(crate) fn worst_stall(run: &Run) -> Option<(f64, &str)> {
    run.phases
        .iter()
        .filter(|p| p.plan.measures_target())
        .filter(|p| !p.plan.streams.iter().any(|s| matches!(s.durability.sync, Sync::FsyncPerRound | Sync::FsyncAtEnd)))
        .filter_map(|p| {
            let max = p.metrics.iter().find(|m| m.id.ends_with(".stall_ns_max")).and_then(|m: &Metric| m.value)?;
            Some((max, p.plan.name.as_str()))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))
}

/// What was written and how long it took; in simulations neither was real.
pub(crate) fn written_words(run: &Run) -> String {
    let (size, took) = (quantity::size(run.bytes_written), quantity::duration(run.duration_ns));
    match (run.target.kind, run.bytes_written) {
        (TargetKind::Sim, _) => format!("Simulated {size} of writes in {took} of simulated time"),
        (TargetKind::Region, 0) => format!("Copied for {took}"),
        (TargetKind::Null, _) => format!("Wrote nothing anywhere in {took}"),
        (TargetKind::Foreign, _) => "Measured by another tool".to_owned(),
        (_, 0) => format!("Wrote nothing in {took}"),
        _ => format!("Wrote {size} in {took}"),
    }
}

/// CPU time of this program's own workers over all phases, nanoseconds; `None` if no phase was executed, or in
/// simulations.
pub(crate) fn own_cpu_ns(run: &Run) -> Option<u64> {
    if run.target.kind == TargetKind::Sim {
        return None;
    }
    let mut records = run.phases.iter().filter_map(|p| p.record.as_ref()).peekable();
    records.peek()?;
    Some(records.map(|r| r.usage.user_ns + r.usage.system_ns).sum())
}

/// A number of evidence in words. Where it repeats a metric of the run, it is written as the tables write that metric.
/// Otherwise its unit is in the name (`direct write, bytes per second`, `busy share`), else in the source where that is
/// a metric's id.
fn evidence_number(e: &model::Evidence, metric: Option<&Metric>, n: &serde_json::Number) -> Option<String> {
    let v = n.as_f64()?;
    let same = |value: f64| (value - v).abs() <= value.abs() * 1e-3;
    if let Some(metric) = metric.filter(|m| m.value.is_some_and(same)) {
        return quantity::metric(metric).map(|shown| shown.value());
    }
    let words: Vec<&str> = e.what.split(|c: char| !c.is_alphanumeric()).collect();
    let says = |known: &[&str]| words.iter().any(|w| known.contains(w));
    if e.what.ends_with("bytes per second") {
        return Some(quantity::rate(v));
    }
    if e.what.starts_with("bytes ") && v >= 0.0 {
        return Some(quantity::size(v as u64));
    }
    if says(&["share", "utilisation"]) && (0.0..=64.0).contains(&v) {
        return Some(format!("{} %", quantity::significant(v * 100.0, 2)));
    }
    // A comparison of two values of a metric has the metric as its source, but not its unit; nor has a count.
    let unitless = says(&["ratio", "over", "times", "factor", "scaling", "spread", "flight", "operations"]);
    let unit = quantity::unit_of_name(&e.what).or_else(|| quantity::unit_of_name(&e.source).filter(|_| !unitless));
    Some(match unit {
        Some(unit) => quantity::quantity(v, unit),
        None if n.is_f64() => quantity::significant(v, 3),
        None => n.to_string(),
    })
}

/// Whether the evidence is a fact of a layer: its source is the layer's name and then the fact's.
fn is_layer_fact(e: &model::Evidence) -> bool {
    e.source.strip_suffix(e.what.as_str()).is_some_and(|layer| layer.ends_with(' '))
}

/// What is said of something absent: a fact that the system did not tell is not known; anything else is not there.
pub(crate) fn absence_word(e: &model::Evidence) -> &'static str {
    if is_layer_fact(e) { "not known" } else { "not there" }
}

/// A value of evidence in words, given the metric that its source names; `None` where there is none.
fn evidence_words(e: &model::Evidence, metric: Option<&Metric>) -> Option<String> {
    fn words(e: &model::Evidence, metric: Option<&Metric>, value: &serde_json::Value) -> Option<String> {
        match value {
            serde_json::Value::Null => None,
            serde_json::Value::Bool(true) => Some("yes".into()),
            serde_json::Value::Bool(false) => Some("no".into()),
            serde_json::Value::String(s) => Some(s.clone()),
            serde_json::Value::Number(n) => evidence_number(e, metric, n),
            serde_json::Value::Array(list) => {
                Some(list.iter().filter_map(|v| words(e, metric, v)).collect::<Vec<_>>().join(", "))
                    .filter(|s| !s.is_empty())
            }
            other @ serde_json::Value::Object(_) => Some(other.to_string()),
        }
    }
    if is_layer_fact(e)
        && let Ok(value) = serde_json::from_value::<model::Fact>(e.value.clone())
    {
        return fact::value(&e.what, &value);
    }
    words(e, metric, &e.value)
}

/// A value of evidence in words; `None` where there is none.
pub(crate) fn evidence_value(run: &Run, e: &model::Evidence) -> Option<String> {
    evidence_words(e, run.metric(&e.source))
}

/// What a piece of evidence is, without the unit that its value shows.
pub(crate) fn evidence_name(e: &model::Evidence) -> String {
    if is_layer_fact(e) {
        return fact::name(&e.what);
    }
    let shown = matches!(e.value, serde_json::Value::Number(_) | serde_json::Value::Array(_));
    e.what.strip_suffix(", bytes per second").filter(|_| shown).unwrap_or(&e.what).to_owned()
}

/// A piece of evidence in one line: `buffered write throughput: 41.0 MB/s`.
pub(crate) fn evidence_line(run: &Run, e: &model::Evidence) -> String {
    line_of(e, evidence_value(run, e))
}

/// The same without a run, where facts are all there is.
pub(crate) fn fact_evidence_line(e: &model::Evidence) -> String {
    line_of(e, evidence_words(e, None))
}

fn line_of(e: &model::Evidence, value: Option<String>) -> String {
    match (e.kind, value) {
        (model::EvidenceKind::Absence, _) => format!("{}: {}", absence_word(e), evidence_name(e)),
        (_, Some(v)) => format!("{}: {v}", evidence_name(e)),
        (_, None) => evidence_name(e),
    }
}

/// Why io_uring did not serve where it was to: its depth then comes from threads, which cost more.
pub(crate) fn without_io_uring(run: &Run) -> Option<&str> {
    let engines = run.phases.iter().filter_map(|p| p.record.as_ref()).map(|r| &r.engine);
    engines.flat_map(|e| &e.missing).find_map(|m| m.strip_prefix("io_uring: "))
}

/// How sure, as it stands behind a statement.
pub(crate) fn confidence_word(c: model::Confidence) -> &'static str {
    match c {
        model::Confidence::High => "high confidence",
        model::Confidence::Probable => "probable",
        model::Confidence::Low => "low confidence",
    }
}

/// A kind of work in the words of the card's rows.
fn row_words(work: Work) -> &'static str {
    match work {
        Work::MemoryCopy => "memory copy",
        Work::SequentialRead => "sequential read",
        Work::SequentialReadPages => "small pages read",
        Work::SequentialWrite => "sequential write",
        Work::BufferedRead => "buffered read",
        Work::BufferedWrite => "buffered write",
        Work::RandomRead => "random depth 1 read",
        Work::RandomWrite => "random depth 1 write",
        Work::QueuedRead => "random depth 32 read",
        Work::QueuedWrite => "random depth 32 write",
        Work::DurableWrite => "sync write",
        Work::LogAppend => "log append",
    }
}

/// What limits each row, in the order of the rows: the name of the row, and the statement with its confidence. Rows in a
/// sequence with the same statement say it once.
pub(crate) fn row_limits(check: &crate::Check<'_>) -> Vec<(String, String)> {
    const ORDER: [Work; 11] = [
        Work::SequentialRead,
        Work::SequentialWrite,
        Work::SequentialReadPages,
        Work::BufferedRead,
        Work::BufferedWrite,
        Work::RandomRead,
        Work::RandomWrite,
        Work::QueuedRead,
        Work::QueuedWrite,
        Work::DurableWrite,
        Work::LogAppend,
    ];
    let mut rows: Vec<(String, String)> = Vec::new();
    for work in ORDER {
        let Some(phase) = check.run.doing(work) else { continue };
        let Some(limit) = check.limits.iter().find(|l| l.phase == phase.plan.name) else { continue };
        // What was left out has its reason in the table.
        if phase.record.is_none() {
            continue;
        }
        let statement = format!("{} ({})", limit.statement, confidence_word(limit.confidence));
        match rows.last_mut() {
            Some((label, said))
                if *said == statement
                    && label.strip_suffix(" read").is_some_and(|of| row_words(work) == format!("{of} write")) =>
            {
                label.push_str(", write");
            }
            _ => rows.push((row_words(work).to_owned(), statement)),
        }
    }
    rows
}

/// What a rating says: `above`, `below`, `met`, `not met`, `undecided`.
fn rating_verdict(r: &model::Rating) -> &str {
    match (r.met, r.indication.as_deref()) {
        (Some(true), _) => "met",
        (Some(false), _) => "not met",
        (None, Some(i)) => i,
        (None, None) => "undecided",
    }
}

/// A rating in words: `A1 above`.
pub(crate) fn rating_words(r: &model::Rating) -> String {
    format!("{} {}", r.class, rating_verdict(r))
}

/// All ratings, classes of one verdict together: `above A1, V30; below A2`.
pub(crate) fn ratings_words(ratings: &[model::Rating]) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for r in ratings {
        let verdict = rating_verdict(r);
        match groups.iter_mut().find(|(v, _)| *v == verdict) {
            Some((_, classes)) => classes.push(&r.class),
            None => groups.push((verdict, vec![&r.class])),
        }
    }
    groups.iter().map(|(v, classes)| format!("{v} {}", classes.join(", "))).collect::<Vec<_>>().join("; ")
}

/// What the state of a run means for its reader; `None` where all is as planned.
pub(crate) fn state_words(state: model::RunState) -> Option<&'static str> {
    match state {
        model::RunState::Complete => None,
        model::RunState::Interrupted => Some("Interrupted: what had been measured before is whole and kept."),
        model::RunState::Failed => Some("Ended by an error: what had been measured before is whole and kept."),
        model::RunState::Truncated => Some("Recovered after a crash: the record ends early."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Evidence;

    #[test]
    fn evidence_reads_as_people_write_it() {
        let fact = |e: Evidence| line_of(&e, evidence_words(&e, None));
        let line =
            |what: &str, value: serde_json::Value, source: &str| fact(Evidence::measurement(what, value, source));
        let id = "seq-write.throughput_bytes_per_s";
        assert_eq!(line("direct write, bytes per second", 59.2e6.into(), id), "direct write: 59.2 MB/s");
        assert_eq!(line("rate at depth 32", 3344.0.into(), "rand-read-qd32.iops"), "rate at depth 32: 3 340 IOPS");
        assert_eq!(
            line("mean operations in flight", 31.4.into(), "rand-read-qd32.iops"),
            "mean operations in flight: 31.4"
        );
        assert_eq!(
            line("latency at depth over depth 1", 30.1.into(), "x.latency_ns_mean"),
            "latency at depth over depth 1: 30.1"
        );
        assert_eq!(
            line("own system CPU share", 0.834.into(), "buffered-write getrusage"),
            "own system CPU share: 83 %"
        );
        assert_eq!(
            line("write rate before and after, bytes per second", vec![4e8, 5.5e7].into(), "seq-write series"),
            "write rate before and after: 400 MB/s, 55.0 MB/s"
        );
        assert_eq!(fact(Evidence::absence("a command queue", "/sys")), "not there: a command queue");
        assert_eq!(fact(Evidence::fact("queue_depth", 1, "sda queue_depth")), "queue depth: 1");
        assert_eq!(fact(Evidence::fact("clock_hz", 150_000_000, "mmc1 clock_hz")), "clock: 150.0 MHz");
        assert_eq!(
            fact(Evidence::fact("mmc_host_cqe", false, "fe32.mmc mmc_host_cqe")),
            "host has a command queue engine: no"
        );
        assert_eq!(fact(Evidence::absence("cmdq_en", "mmcblk1 cmdq_en")), "not known: command queue in use");
    }

    #[test]
    fn codes_are_short() {
        assert_eq!(reason_code("cold-unproven: the device read less"), Some("cold-unproven"));
        assert_eq!(reason_code("this is a whole sentence without a code"), None);
        assert_eq!(reason_code("interrupted"), Some("interrupted"));
    }
}
