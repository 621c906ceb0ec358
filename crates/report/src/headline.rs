//! The few rows that stand for a whole check, and what is said with them.

use crate::evidence::with_confidence;
use crate::grouped::grouped;
use crate::presentation::{Cell, Layout, NoteText, Row, Table};
use crate::quantity;
use model::reason::joined;
use model::{Metric, MetricStatus, Reason, Run, Sync, TargetKind, Work};

/// What a status is called where a number is missing.
pub(crate) fn status_word(status: MetricStatus) -> &'static str {
    match status {
        MetricStatus::Measured => "measured",
        MetricStatus::Refused => "refused",
        MetricStatus::Skipped => "skipped",
        MetricStatus::NotApplicable => "n/a",
    }
}

/// A metric in a list: its value, or its status and the code of its reason.
pub(crate) fn metric_words(m: &Metric) -> String {
    match quantity::metric(m) {
        Some(shown) => shown.value(),
        None => {
            let code = m.reasons.first().and_then(Reason::code);
            if let Some(rejected) = quantity::rejected(m) {
                let code = code.map_or_else(String::new, |c| format!(" {c}"));
                return format!("({})!{code}", rejected.value());
            }
            let word = status_word(m.status);
            code.map_or_else(|| word.to_owned(), |c| format!("{word}: {c}"))
        }
    }
}

/// What cells point to, counted from 1; each sentence once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(pub Vec<NoteText>);

impl Notes {
    /// The number of the note; none where there is nothing to say.
    pub fn add(&mut self, text: String) -> Option<usize> {
        self.number(NoteText { text, reasons: Vec::new() })
    }

    /// The number of the note that says all of them.
    pub fn add_reasons(&mut self, reasons: &[Reason]) -> Option<usize> {
        self.number(NoteText { text: joined(reasons), reasons: reasons.to_vec() })
    }

    fn number(&mut self, note: NoteText) -> Option<usize> {
        if note.text.is_empty() {
            return None;
        }
        let at = self.0.iter().position(|n| n.text == note.text).unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        });
        Some(at + 1)
    }

    pub fn cell(&mut self, run: &Run, work: Work, quantity: &str) -> Cell {
        let Some(metric) = run.metric_of_work(work, quantity) else {
            // A phase without this metric still may say why.
            return match run.phase_of_work(work) {
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
        if let Some(shown) = quantity::metric(metric) {
            if let Some(doubt) = doubt_of(metric) {
                return Cell::Doubted { shown, note: self.add_reasons(std::slice::from_ref(doubt)) };
            }
            let p99 = run.metric_of_work(work, "latency_ns_p99").and_then(|m| m.value);
            let p99 = p99.filter(|_| quantity == "iops").map(|v| quantity::quantity(v, model::Unit::Ns));
            return Cell::Value { shown, p99, unsteady: false };
        }
        match (self.without(metric.status, &metric.reasons), quantity::rejected(metric)) {
            (Cell::Without { note, .. }, Some(shown)) => Cell::Doubted { shown, note },
            (cell, _) => cell,
        }
    }

    fn without(&mut self, status: MetricStatus, reasons: &[Reason]) -> Cell {
        let code = reasons.first().and_then(Reason::code).map(str::to_owned);
        // What has no meaning here needs no code in the table, only the sentence below it.
        let code = code.filter(|_| status != MetricStatus::NotApplicable);
        let note = self.add_reasons(reasons);
        Cell::Without { word: status_word(status), code, note, bad: status == MetricStatus::Refused }
    }
}

/// Why a number that is shown may be better than the device. Of storage that is memory there is no other number.
pub(crate) fn doubt_of(metric: &Metric) -> Option<&Reason> {
    let measured = metric.status == MetricStatus::Measured;
    metric.reasons.iter().find(|r| measured && r.may_be_too_good() && !r.is("no-device"))
}

/// A row of a check: what is read in it, what is written, and by which quantity both are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowOf {
    pub label: &'static str,
    pub variant: &'static str,
    /// Read, written.
    pub works: [Option<Work>; 2],
    pub quantity: &'static str,
}

const fn row(
    label: &'static str,
    variant: &'static str,
    read: Option<Work>,
    write: Option<Work>,
    quantity: &'static str,
) -> RowOf {
    RowOf { label, variant, works: [read, write], quantity }
}

const RATE: &str = "throughput_bytes_per_s";

/// All rows of a check, in their order.
pub(crate) const ROWS: [RowOf; 11] = [
    row("sequential", "", Some(Work::SequentialRead), Some(Work::SequentialWrite), RATE),
    row("small pages", "", Some(Work::SequentialReadPages), None, RATE),
    row("buffered", "", Some(Work::BufferedRead), Some(Work::BufferedWrite), RATE),
    row("random 4K", "depth 1", Some(Work::RandomRead), Some(Work::RandomWrite), "iops"),
    row("random 4K", "depth 32", Some(Work::QueuedRead), Some(Work::QueuedWrite), "iops"),
    row("sync write 4K", "", None, Some(Work::DurableWrite), "iops"),
    row("log append", "", None, Some(Work::LogAppend), "iops"),
    row("read p90", "idle", Some(Work::Responsive), None, "read.latency_ns_p90"),
    row("read p90", "copying", Some(Work::ResponsiveLoaded), None, "read.latency_ns_p90"),
    row("append p90", "idle", None, Some(Work::Responsive), "append.latency_ns_p90"),
    row("append p90", "copying", None, Some(Work::ResponsiveLoaded), "append.latency_ns_p90"),
];

/// The rows of a check with their cells; those about which nothing is known are left out.
pub(crate) fn rows(run: &Run, notes: &mut Notes) -> Vec<(RowOf, [Cell; 2])> {
    let cells = |row: &RowOf, notes: &mut Notes| {
        row.works.map(|work| work.map_or(Cell::Empty, |w| notes.cell(run, w, row.quantity)))
    };
    let all = ROWS.iter().map(|row| (*row, cells(row, notes)));
    all.filter(|(_, cells)| cells.iter().any(|c| *c != Cell::Empty)).collect()
}

/// The same as a table.
pub(crate) fn headline(run: &Run, notes: &mut Notes) -> Table {
    let rows = rows(run, notes).into_iter();
    let rows = rows.map(|(of, cells)| Row { variant: of.variant, ..Row::new(of.label, cells.into()) }).collect();
    // Numbers that stand, but not for a device.
    if let Some(reason) = Reason::find(run.phases.iter().flat_map(|p| &p.reasons), "no-device") {
        notes.add(reason.text());
    }
    Table { layout: Layout::Sides, head: vec!["read".to_owned(), "write".to_owned()], rows, ..Table::default() }
}

/// The longest time in which nothing completed among the phases that stand, with the phase's name: not the longest
/// latency, which at depth 32 is mostly the queue in front of an operation. Rounds of buffered writes end in an fsync of
/// many megabytes on purpose, as a copy does at its end, and layout is not a measurement: neither is a stall.
pub(crate) fn worst_stall(run: &Run) -> Option<(f64, &str)> {
    run.phases
        .iter()
        .filter(|p| p.plan.measures_target() && Work::of(&p.plan) != Some(Work::ResponsiveLoaded))
        .filter(|p| !p.plan.streams.iter().any(|s| matches!(s.durability.sync, Sync::FsyncPerRound | Sync::FsyncAtEnd)))
        .filter_map(|p| {
            let max = p.metrics.iter().find(|m| m.key().quantity == "stall_ns_max").and_then(|m: &Metric| m.value)?;
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
        // Of what was cut off and not kept before nothing is known.
        (_, 0) if run.duration_ns == 0 => String::new(),
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
    // Where nobody counted it is not nothing.
    Some(records.map(|r| r.usage.user_ns + r.usage.system_ns).sum()).filter(|ns| *ns > 0)
}

/// Why io_uring did not serve where it was to: its depth then comes from threads, which cost more.
pub(crate) fn without_io_uring(run: &Run) -> Option<&str> {
    let engines = run.phases.iter().filter_map(|p| p.record.as_ref()).map(|r| &r.engine);
    engines.flat_map(|e| &e.missing).find_map(|m| m.strip_prefix("io_uring: "))
}

/// What limits each row, in the order of the rows: the name of the row, and the statement with its confidence. Rows in a
/// sequence with the same statement say it once.
pub(crate) fn row_limits(check: &crate::Check<'_>) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for work in ROWS.iter().flat_map(|row| row.works).flatten() {
        let Some(phase) = check.run.phase_of_work(work) else { continue };
        let Some(limit) = check.limits.iter().find(|l| l.phase == phase.plan.name) else { continue };
        // What was left out has its reason in the table; one phase may have several rows.
        if phase.record.is_none() || rows.iter().any(|(label, _)| label == work.words()) {
            continue;
        }
        let statement = with_confidence(&limit.statement, limit.layer, limit.confidence);
        match rows.last_mut() {
            Some((label, said))
                if *said == statement
                    && label.strip_suffix(" read").is_some_and(|of| work.words() == format!("{of} write")) =>
            {
                label.push_str(", write");
            }
            _ => rows.push((work.words().to_owned(), statement)),
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
    let groups = grouped(ratings.iter().map(|r| (rating_verdict(r), r.class.as_str())));
    // A mean above the threshold does not help: what is below is said.
    let slowest = ratings.iter().find_map(model::Rating::slowest_second).map(|reason| format!(" ({})", reason.text()));
    let words = groups.iter().map(|(verdict, classes)| {
        let why = slowest.as_deref().filter(|_| *verdict == "below").unwrap_or_default();
        format!("{verdict} {}{why}", classes.join(", "))
    });
    words.collect::<Vec<_>>().join("; ")
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
