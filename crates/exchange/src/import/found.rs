//! What was understood of a file, and what was not.

use super::Text;
use model::{Better, CompactSort as _, Environment, Metric, MetricStatus, Reason, RunState, Unit};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A value above this is no measurement of anything that exists (it is 31 years in nanoseconds, an exabyte a second).
pub(crate) const ABSURD: f64 = 1e18;
/// Characters of a line that are quoted where it was not understood.
const QUOTED: usize = 160;
/// Figures that are kept of a file, whatever its size: some hundred bytes each, in memory and in the archive.
pub const MAX_FIGURES: usize = 1 << 16;
/// Figures that are kept of a file however small it is.
const MIN_FIGURES: usize = 1 << 13;
/// Bytes of a file that carry one figure: what is kept stays below what was given, in memory and in the archive.
const BYTES_A_FIGURE: usize = 256;
/// What a run takes beside its figures, in figures.
pub(super) const FIGURES_OF_A_RUN: usize = 1;
const NAME_LIMIT_BYTES: usize = 200;
/// Remarks of a run.
const MAX_REMARKS: usize = 256;
/// Above this a share of time that a device was busy is no rounding.
const MAX_BUSY_PERCENT: f64 = 102.0;
/// Places that are listed one by one where they were not understood.
const MAX_LISTED: usize = 1000;

/// A number as the tool printed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Original {
    /// Its digits: `67.4k`, `190,048`.
    pub value: String,
    /// Its unit as printed, or as the format defines it: `KB/s` (which may mean KiB/s).
    pub unit: String,
}

impl Original {
    /// A number with its unit.
    pub fn new(value: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { value: value.into(), unit: unit.into() }
    }

    /// Of a metric that was not printed but made from others.
    pub(super) fn own(metric: &Metric) -> Self {
        Self::new(metric.value.unwrap_or(f64::NAN).to_string(), own_unit(metric.unit))
    }
}

/// How a unit of this program is written where a tool prints it.
pub(super) fn own_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerS => "B/s",
        Unit::OpsPerS | Unit::FilesPerS => "1/s",
        Unit::Ns => "ns",
        Unit::S => "s",
        Unit::Percent => "%",
        Unit::Bytes => "B",
        Unit::Ratio => "",
    }
}

/// A metric with the number that it was made of.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedMetric {
    /// The metric, in the units of this program.
    pub metric: Metric,
    /// What was printed.
    pub original: Original,
}

impl ImportedMetric {
    /// A measured metric without an interval; `None` for what cannot be a measurement: NaN, infinite, negative or absurd.
    pub fn new(
        id: impl Into<String>,
        unit: Unit,
        better: Option<Better>,
        value: f64,
        n: u64,
        original: Original,
    ) -> Option<Self> {
        (0.0..ABSURD).contains(&value).then(|| Self { metric: Metric::measured(id, unit, better, value, n), original })
    }

    /// The metric with a reason why it may not be what was to be measured, if there is one: it is shown, and decides nothing.
    pub(super) fn doubted(mut self, why: Option<Reason>) -> Self {
        self.metric.reasons.extend(why);
        self
    }
}

/// Metrics that belong together: a job, a test, an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedGroup {
    /// Its name, unique in the run.
    pub name: String,
    pub metrics: Vec<ImportedMetric>,
}

impl ImportedGroup {
    /// No device is busy for more than all of the time. Counters are read one after another, so a little more is rounding.
    fn without_impossible_shares(&mut self) {
        for imported in self.metrics.iter_mut().filter(|m| m.metric.id.ends_with("util_percent")) {
            if let Some(value) = imported.metric.value.filter(|v| *v > MAX_BUSY_PERCENT) {
                imported.metric.refuse(&[Reason::of(
                    "impossible",
                    format!("busy for {value} % of the time, which is above 100 %"),
                )]);
            }
        }
    }

    /// A latency of zero beside no counted I/O is none: tools print 0 where there was nothing to take time.
    fn without_idle_latencies(&mut self) {
        let is_idle = |m: &ImportedMetric| m.metric.unit == Unit::Ns && m.metric.value == Some(0.0);
        if !self.metrics.iter().any(is_idle) {
            return;
        }
        let mut active: BTreeSet<&str> = BTreeSet::new();
        let rates = [Unit::OpsPerS, Unit::FilesPerS, Unit::BytesPerS];
        for rate in self.metrics.iter().filter(|m| rates.contains(&m.metric.unit)) {
            let mut of = rate.metric.id.as_str();
            // What a direction did, its device did.
            while rate.metric.value.is_some_and(|v| v > 0.0)
                && let Some((above, _)) = of.rsplit_once('.')
            {
                active.insert(above);
                of = above;
            }
        }
        let idle: Vec<bool> = self
            .metrics
            .iter()
            .map(|m| is_idle(m) && m.metric.id.rsplit_once('.').is_none_or(|(of, _)| !active.contains(of)))
            .collect();
        let metrics = self.metrics.iter_mut().zip(idle).filter(|(_, idle)| *idle);
        for (imported, _) in metrics {
            imported.metric.value = None;
            imported.metric.status = MetricStatus::Skipped;
            imported.metric.reasons.push(Reason::of("no-operations", "no I/O was counted that could have taken time"));
        }
    }
}

/// One execution of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRun {
    /// The tool and the form of its output: `fio-json`, `bonnie-csv`, `iostat`.
    pub source_format: &'static str,
    /// The tool's version, as printed: `fio-3.33`.
    pub source_version: Option<String>,
    /// What the run is about, for people: the target if known, else the file's name.
    pub name: String,
    /// Line of the file, from 1, where it starts.
    pub first_line: usize,
    /// When it was started (or ended, where only that is known), RFC 3339 in UTC; `None` where the time zone is not known.
    pub started: Option<String>,
    /// What it measured on, where the tool says so.
    pub target: Option<String>,
    /// What the output tells of the machine.
    pub environment: Environment,
    /// How far it came, as far as the output tells.
    pub state: RunState,
    /// How long it took, nanoseconds; `None` where not printed.
    pub duration_ns: Option<u64>,
    /// Metrics by job, test or interval.
    pub groups: Vec<ImportedGroup>,
    /// What a reader of the metrics must know.
    pub remarks: Vec<String>,
    /// The options of each job, as the tool printed them.
    pub options: Vec<(String, String)>,
    /// Whether all of it went past the page cache; `None` where not known.
    pub is_direct: Option<bool>,
}

impl ImportedRun {
    /// A run without anything yet.
    pub fn new(source_format: &'static str, name: impl Into<String>, first_line: usize) -> Self {
        Self {
            source_format,
            source_version: None,
            name: name.into(),
            first_line,
            started: None,
            target: None,
            environment: Environment::default(),
            state: RunState::Complete,
            duration_ns: None,
            groups: Vec::new(),
            remarks: Vec::new(),
            options: Vec::new(),
            is_direct: None,
        }
    }

    /// All metrics, in order.
    pub fn metrics(&self) -> impl Iterator<Item = &ImportedMetric> {
        self.groups.iter().flat_map(|g| &g.metrics)
    }

    /// Adds a group of metrics, unless there are none.
    pub fn push(&mut self, name: impl Into<String>, metrics: Vec<ImportedMetric>) {
        if !metrics.is_empty() {
            self.groups.push(ImportedGroup { name: name.into(), metrics });
        }
    }

    /// Keeps so many figures, the first ones, with a remark.
    fn cut(&mut self, room: usize) {
        let figures = self.metrics().count();
        let mut left = room;
        for group in &mut self.groups {
            group.metrics.truncate(left);
            left -= group.metrics.len();
        }
        self.groups.retain(|g| !g.metrics.is_empty());
        self.remark(format!(
            "{figures} figures were printed, and the first {} are kept; raw/ has them all",
            room - left
        ));
    }

    /// Gives every rate of bytes a reason why it may not be what was to be measured.
    pub(super) fn add_doubt(&mut self, why: &Reason) {
        let rates = self.groups.iter_mut().flat_map(|g| &mut g.metrics);
        for m in rates.filter(|m| matches!(m.metric.unit, Unit::BytesPerS | Unit::OpsPerS)) {
            m.metric.reasons.push(why.clone());
        }
    }

    /// Adds a remark, once.
    pub fn remark(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.remarks.len() < MAX_REMARKS && !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }
}

/// Lines that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotUnderstood {
    /// The first of them, from 1.
    pub line: usize,
    /// How many follow one another, this one included.
    pub lines: usize,
    /// The first of them, shortened.
    pub text: String,
    pub why: String,
}

/// A name as it is kept: whatever a file calls its devices, columns and jobs, it stands in the id of each of their figures.
pub(crate) fn name(text: &str) -> &str {
    let mut end = text.len().min(NAME_LIMIT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// What a file held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The runs, in the order of the file.
    pub runs: Vec<ImportedRun>,
    /// What was not understood, in the order of the file.
    pub not_understood: Vec<NotUnderstood>,
    /// The line at which a document ends before its end, and why.
    pub ends_early: Option<(usize, String)>,
}

/// What the readers have found so far.
pub(crate) struct Found<'a> {
    /// The file's name.
    pub file: &'a str,
    pub runs: Vec<ImportedRun>,
    /// Formats that were recognised and gave no run.
    pub empty_formats: Vec<&'static str>,
    /// A bit for each line.
    used: Vec<u64>,
    /// The first ones; how many there are beyond.
    faults: Vec<(usize, String)>,
    more_faults: usize,
    /// Figures that there is still room for.
    room: usize,
    /// Where the first result stands that there was no room for, and how many there are.
    left_out: Option<(usize, usize)>,
    ends_early: Option<(usize, String)>,
}

impl<'a> Found<'a> {
    pub fn new(file: &'a str, text: &Text, most_figures: usize) -> Self {
        Self {
            file,
            runs: Vec::new(),
            empty_formats: Vec::new(),
            used: vec![0; text.line_count() / 64 + 1],
            faults: Vec::new(),
            more_faults: 0,
            room: (text.size_bytes() / BYTES_A_FIGURE).clamp(MIN_FIGURES, MAX_FIGURES).min(most_figures),
            left_out: None,
            ends_early: None,
        }
    }

    /// Figures that there is still room for.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Adds a run. What there is no room for is counted and left out.
    pub fn push(&mut self, mut run: ImportedRun) {
        run.groups.iter_mut().for_each(ImportedGroup::without_idle_latencies);
        run.groups.iter_mut().for_each(ImportedGroup::without_impossible_shares);
        let figures = run.metrics().count();
        let room = self.room.saturating_sub(FIGURES_OF_A_RUN);
        if room == 0 {
            return self.leave_out(run.first_line);
        }
        if figures > room {
            run.cut(room);
        }
        self.room -= (figures + FIGURES_OF_A_RUN).min(self.room);
        self.runs.push(run);
    }

    /// There was no room for the result that stands there.
    pub fn leave_out(&mut self, line: usize) {
        let (first, count) = self.left_out.get_or_insert((line, 0));
        *first = line.min(*first);
        *count += 1;
    }

    /// The line (from 1) was understood, or is known to carry no result.
    pub fn used(&mut self, line: usize) {
        if let Some(bits) = self.used.get_mut(line / 64) {
            *bits |= 1 << (line % 64);
        }
    }

    /// All lines from the first to the last were understood.
    pub fn used_range(&mut self, first: usize, last: usize) {
        (first..=last).for_each(|line| self.used(line));
    }

    /// Whether another format has understood the line.
    pub fn is_used(&self, line: usize) -> bool {
        self.used.get(line / 64).is_some_and(|bits| bits & (1 << (line % 64)) != 0)
    }

    /// The next of these lines that no format has understood yet.
    pub fn next_of<'t>(&self, lines: &mut impl Iterator<Item = (usize, &'t str)>) -> Option<(usize, &'t str)> {
        lines.find(|(number, _)| !self.is_used(*number))
    }

    /// The line belongs to a result and could not be read.
    pub fn not_understood(&mut self, line: usize, why: impl Into<String>) {
        self.used(line);
        if self.faults.len() < MAX_LISTED {
            self.faults.push((line, why.into()));
        } else {
            self.more_faults += 1;
        }
    }

    /// A document ends there before its end.
    pub fn ends_early(&mut self, line: usize, why: String) {
        self.not_understood(line, why.as_str());
        self.ends_early.get_or_insert((line, why));
    }

    /// A run whose every number was impossible (NaN, negative, absurd) is no run, and its first line says so.
    fn drop_runs_without_metrics(&mut self) {
        let (runs, empty): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.runs).into_iter().partition(|r| r.metrics().next().is_some());
        self.runs = runs;
        for run in empty {
            let why = format!("a result of {} without a number that can be one", run.source_format);
            self.not_understood(run.first_line, why);
            self.empty_formats.push(run.source_format);
        }
    }

    /// Puts together what was understood and lists the rest.
    pub fn finish(mut self, text: &Text) -> Imported {
        self.drop_runs_without_metrics();
        let quote = |line: usize| -> String { text.line(line).trim().chars().take(QUOTED).collect() };
        let why_rest = match self.empty_formats.as_slice() {
            formats if self.runs.is_empty() && !formats.is_empty() => {
                format!("it looks like {}, but holds no result", formats.join(" or "))
            }
            _ if self.runs.is_empty() => "no known format has such lines".to_owned(),
            _ => "not part of a result".to_owned(),
        };
        if let Some((line, count)) = self.left_out {
            let why = format!(
                "{count} more results from here on: more than one import keeps; split the file and import its parts"
            );
            self.faults.push((line, why));
        }
        let mut not_understood: Vec<NotUnderstood> = std::mem::take(&mut self.faults)
            .into_iter()
            .map(|(line, why)| NotUnderstood { line, lines: 1, text: quote(line), why })
            .collect();
        let mut open: Option<NotUnderstood> = None;
        let nothing = self.runs.is_empty();
        let reported: BTreeSet<usize> = not_understood.iter().map(|n| n.line).collect();
        for (line, content) in text.lines() {
            // Where there is no result, the lines that only frame one are not understood either.
            if if nothing { reported.contains(&line) } else { self.is_used(line) } {
                not_understood.extend(open.take());
            } else if open.is_none() && not_understood.len() >= 2 * MAX_LISTED {
                self.more_faults += usize::from(!content.trim().is_empty());
            } else if !content.trim().is_empty() {
                let entry = open.get_or_insert_with(|| NotUnderstood {
                    line,
                    lines: 0,
                    text: quote(line),
                    why: why_rest.clone(),
                });
                entry.lines = line - entry.line + 1;
            }
        }
        not_understood.extend(open);
        not_understood.compact_sort_by_key(|n| n.line);
        if self.more_faults > 0 {
            let line = not_understood.last().map_or(1, |n| n.line);
            let why = format!("{} more lines could not be read; only the first places are listed", self.more_faults);
            not_understood.push(NotUnderstood { line, lines: 1, text: quote(line), why });
        }
        self.runs.compact_sort_by_key(|r| r.first_line);
        self.runs.iter_mut().for_each(name_once);
        Imported { runs: self.runs, not_understood, ends_early: self.ends_early }
    }
}

/// Groups become phases, which are told apart by name, and metrics are told apart by id.
fn name_once(run: &mut ImportedRun) {
    let (mut groups, mut ids) = (Names::default(), Names::default());
    for group in &mut run.groups {
        group.name = groups.unique(&group.name);
        for m in &mut group.metrics {
            m.metric.id = ids.unique(&m.metric.id);
        }
    }
}

/// Gives every name once: the second `job` becomes `job-2`.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: BTreeSet<String>,
    /// The number to try next, of names that came before.
    next: BTreeMap<String, u64>,
}

impl Names {
    /// The name, or the next free one after it.
    pub fn unique(&mut self, name: &str) -> String {
        if self.given.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.next.entry(name.to_owned()).or_insert(2);
        loop {
            let candidate = format!("{name}-{number}");
            *number += 1;
            if self.given.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_given_once() {
        let mut names = Names::default();
        let given: Vec<String> = ["a", "a-2", "a", "a", "b", "a-2"].iter().map(|n| names.unique(n)).collect();
        assert_eq!(given, ["a", "a-2", "a-3", "a-4", "b", "a-2-2"]);
    }
}
