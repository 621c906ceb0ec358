//! The few rows that stand for a whole check, before any layout: card, Markdown and page show the same.

use crate::quantity::{self, Shown};
use model::{Metric, MetricStatus, Run, Sync};

/// What stands where a number could stand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// A number that stands, and the 99th percentile of the latency behind it.
    Value { shown: Shown, p99: Option<String> },
    /// No number, and why.
    Without { word: &'static str, code: Option<String>, note: Option<usize>, bad: bool },
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

    fn cell(&mut self, run: &Run, phase: &str, quantity: &str) -> Cell {
        let Some(metric) = run.metric(&format!("{phase}.{quantity}")) else {
            // A phase without this metric still may say why.
            return match run.phase(phase) {
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
                let p99 = run.value(&format!("{phase}.latency_ns_p99")).map(|v| quantity::quantity(v, model::Unit::Ns));
                Cell::Value { shown, p99: if quantity == "iops" { p99 } else { None } }
            }
            None => self.without(metric.status, &metric.reasons),
        }
    }

    fn without(&mut self, status: MetricStatus, reasons: &[String]) -> Cell {
        let code = reasons.first().and_then(|r| reason_code(r)).map(str::to_owned);
        // What has no meaning here needs no code in the table, only the sentence below it.
        let code = code.filter(|_| status != MetricStatus::NotApplicable);
        let said = reasons.len() <= 1 && reasons.first().map(|r| r.trim()) == code.as_deref();
        let note = (!said).then(|| self.note(reasons.join("; ")));
        Cell::Without { word: status_word(status), code, note, bad: status == MetricStatus::Refused }
    }
}

/// The rows of a check; rows about which nothing is known are left out.
pub(crate) fn headline(run: &Run) -> Headline {
    let mut h = Headline::default();
    let rates = "throughput_bytes_per_s";
    let mut row = |label, variant, read: Option<&str>, write: &str, quantity: &str| {
        let read = read.map_or(Cell::Empty, |p| h.cell(run, p, quantity));
        let write = h.cell(run, write, quantity);
        if read != Cell::Empty || write != Cell::Empty {
            h.rows.push(Row { label, variant, read, write });
        }
    };
    row("sequential", "", Some("seq-read"), "seq-write", rates);
    row("buffered", "", Some("buffered-read"), "buffered-write", rates);
    row("random 4K", "depth 1", Some("rand-read-qd1"), "rand-write-qd1", "iops");
    row("", "depth 32", Some("rand-read-qd32"), "rand-write-qd32", "iops");
    row("sync write 4K", "", None, "sync-write", "iops");
    h
}

/// The longest single operation among the phases that stand, with the phase's name. Rounds of buffered writes end in an
/// fsync of many megabytes on purpose, and layout is not a measurement: neither is a stall.
pub(crate) fn worst_stall(run: &Run) -> Option<(f64, &str)> {
    run.phases
        .iter()
        .filter(|p| p.plan.kind == model::PhaseKind::Measure)
        .filter(|p| !p.plan.streams.iter().any(|s| matches!(s.sync, Sync::FsyncPerRound | Sync::FsyncAtEnd)))
        .filter_map(|p| {
            let max = p.metrics.iter().find(|m| m.id.ends_with("latency_ns_max")).and_then(|m: &Metric| m.value)?;
            Some((max, p.plan.name.as_str()))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))
}

/// CPU time of this program's own workers over all phases, nanoseconds; `None` if no phase was executed.
pub(crate) fn own_cpu_ns(run: &Run) -> Option<u64> {
    let mut records = run.phases.iter().filter_map(|p| p.record.as_ref()).peekable();
    records.peek()?;
    Some(records.map(|r| r.usage.user_ns + r.usage.system_ns).sum())
}

/// A value of evidence in words: numbers take the unit that the name or the source ends in.
pub(crate) fn evidence_value(e: &model::Evidence) -> Option<String> {
    match &e.value {
        serde_json::Value::Null => None,
        serde_json::Value::Bool(true) => Some("yes".into()),
        serde_json::Value::Bool(false) => Some("no".into()),
        serde_json::Value::String(s) => Some(s.clone()),
        serde_json::Value::Number(n) => {
            let v = n.as_f64()?;
            // A comparison of two values of a metric has the metric as its source, but not its unit.
            let compares = e
                .what
                .split(|c: char| !c.is_alphanumeric())
                .any(|w| ["ratio", "over", "share", "times", "factor", "scaling"].contains(&w));
            let unit =
                quantity::unit_of_name(&e.what).or_else(|| quantity::unit_of_name(&e.source).filter(|_| !compares));
            Some(match unit {
                Some(unit) => quantity::quantity(v, unit),
                None if n.is_f64() => quantity::significant(v, 3),
                None => n.to_string(),
            })
        }
        other => Some(other.to_string()),
    }
}

/// A piece of evidence in one line: `buffered write throughput: 41.0 MB/s`.
pub(crate) fn evidence_line(e: &model::Evidence) -> String {
    match (e.kind, evidence_value(e)) {
        (model::EvidenceKind::Absence, _) => format!("not there: {}", e.what),
        (_, Some(v)) => format!("{}: {v}", e.what),
        (_, None) => e.what.clone(),
    }
}

/// How sure, as it stands behind a statement.
pub(crate) fn confidence_word(c: model::Confidence) -> &'static str {
    match c {
        model::Confidence::High => "seen directly",
        model::Confidence::Probable => "probable",
        model::Confidence::Low => "a hint only",
    }
}

/// A rating in words: `A1 above`.
pub(crate) fn rating_words(r: &model::Rating) -> String {
    let verdict = match (r.met, r.indication.as_deref()) {
        (Some(true), _) => "met",
        (Some(false), _) => "not met",
        (None, Some(i)) => i,
        (None, None) => "undecided",
    };
    format!("{} {verdict}", r.class)
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
