//! Reports at regular times, of tools that watch a machine: as many as there is room for, else means over several.
//!
//! Whoever watches four disks for a day in seconds has seven million figures, and no one looks at them one by one. While
//! there is room every report is kept as it was printed. Where there is none left, two reports that follow one another
//! become one, and from then on as many are joined as have been: the reports of a file all stand for the same number of
//! printed ones, and what has to be held does not grow with the file. The first report, which is an average since boot, is
//! never joined with others.
//!
//! A figure of several reports is their mean. Waiting times and request sizes are means over operations, so each report
//! counts with its operations a second.

use super::{ImportedMetric, ImportedRun, Original};
use model::{Better, Metric, Reason, Unit};
use std::collections::HashMap;

/// Reports that are kept at most: each becomes a phase of the run.
const MAX_GROUPS: usize = 1024;
/// What a report takes beside its figures, in figures: the plan and the record of its phase.
const FIGURES_OF_A_GROUP: usize = 4;
/// Quantities that are means over operations.
const PER_OPERATION: [&str; 3] = ["await_ns", "request_bytes_mean", "service_time_ns"];
/// Directions whose operations may be told apart.
const DIRECTIONS: [&str; 4] = ["read.", "write.", "discard.", "flush."];
/// How the operations of all directions are called where they are not told apart.
const ALL_OPERATIONS: &str = "tps_ops_per_s";

/// A figure that every report may have.
struct Column {
    /// Its id behind the name of the report.
    id: String,
    unit: Unit,
    better: Option<Better>,
    /// The columns that count the operations it is a mean over; none where it is one over time.
    operations: Vec<usize>,
}

/// A figure of one report, or of several.
#[derive(Clone, Copy)]
struct Cell {
    column: usize,
    /// Printed figures that it is the mean of.
    n: u32,
    value: f64,
}

/// One report, or several that follow one another.
struct Group {
    first: usize,
    last: usize,
    cells: Vec<Cell>,
    /// What was printed, cell by cell; empty where several were joined.
    printed: Vec<(Original, Vec<Reason>)>,
}

/// The reports of one run while they are read.
pub(super) struct Series {
    /// What one is called: `report`, `sample`.
    word: &'static str,
    /// Figures that there is room for.
    room: usize,
    columns: Vec<Column>,
    places: HashMap<String, usize>,
    groups: Vec<Group>,
    /// Figures in all groups.
    figures: usize,
    /// Reports in a group.
    each: usize,
    /// Reports in the last group.
    filled: usize,
    /// Reports that were pushed.
    reports: usize,
    /// Figures that were left out, as there were too many in one report.
    left_out: usize,
    /// What the groups to be joined hold, by column; empty between two joins.
    scratch: Vec<[Option<(u32, f64)>; 2]>,
}

impl Series {
    /// Of reports that are called so; `room` is the number of figures that may be kept.
    pub fn new(word: &'static str, room: usize) -> Self {
        Self {
            word,
            room,
            columns: Vec::new(),
            places: HashMap::new(),
            groups: Vec::new(),
            figures: 0,
            each: 1,
            filled: 0,
            reports: 0,
            left_out: 0,
            scratch: Vec::new(),
        }
    }

    /// Figures that one report may have.
    pub fn most_in_a_report(&self) -> usize {
        (self.room / 4).max(1)
    }

    /// Whether nothing was pushed.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Adds the report of that number, from 1; ids begin with its name, `report[1].`. One without figures is none.
    pub fn push(&mut self, number: usize, metrics: Vec<ImportedMetric>) {
        if metrics.is_empty() {
            return;
        }
        self.reports += 1;
        let group = self.group(number, metrics);
        // The first one stays alone.
        let opens = self.groups.len() < 2 || self.filled >= self.each;
        self.filled = if opens { 1 } else { self.filled + 1 };
        if opens {
            self.figures += group.cells.len();
            self.groups.push(group);
        } else if let Some(last) = self.groups.pop() {
            self.figures -= last.cells.len();
            let joined = self.join(last, group);
            self.figures += joined.cells.len();
            self.groups.push(joined);
        }
        while self.is_full() && self.groups.len() > 2 {
            self.halve();
        }
    }

    fn is_full(&self) -> bool {
        self.figures + self.groups.len() * FIGURES_OF_A_GROUP > self.room || self.groups.len() > MAX_GROUPS
    }

    fn group(&mut self, number: usize, metrics: Vec<ImportedMetric>) -> Group {
        let prefix = format!("{}[{number}].", self.word).len();
        let mut group = Group { first: number, last: number, cells: Vec::new(), printed: Vec::new() };
        for m in metrics {
            let (Some(value), Some(id)) = (m.metric.value, m.metric.id.get(prefix..)) else { continue };
            let column = match self.places.get(id) {
                Some(column) => *column,
                None if self.columns.len() < self.most_in_a_report() => self.add_column(id, &m.metric),
                None => {
                    self.left_out += 1;
                    continue;
                }
            };
            group.cells.push(Cell { column, n: 1, value });
            group.printed.push((m.original, m.metric.reasons));
        }
        group
    }

    fn add_column(&mut self, id: &str, metric: &Metric) -> usize {
        let column = self.columns.len();
        self.places.insert(id.to_owned(), column);
        let mut operations = Vec::new();
        if let Some(stem) = PER_OPERATION.iter().find_map(|q| id.strip_suffix(q)) {
            let counted = |id: String| self.places.get(&id).copied();
            if DIRECTIONS.iter().any(|d| stem.ends_with(d)) {
                operations.extend(counted(format!("{stem}iops")));
            } else {
                operations.extend(counted(format!("{stem}{ALL_OPERATIONS}")));
                operations.extend(DIRECTIONS.iter().filter_map(|d| counted(format!("{stem}{d}iops"))));
            }
        }
        // What was named before the operations that it is a mean over.
        let stems = if let Some(own) = id.strip_suffix("iops") {
            let device = DIRECTIONS.iter().find_map(|d| own.strip_suffix(d));
            [Some(own), device]
        } else {
            [id.strip_suffix(ALL_OPERATIONS), None]
        };
        for stem in stems.into_iter().flatten() {
            for quantity in PER_OPERATION {
                if let Some(of) = self.places.get(&format!("{stem}{quantity}")).and_then(|c| self.columns.get_mut(*c)) {
                    of.operations.push(column);
                }
            }
        }
        self.columns.push(Column { id: id.to_owned(), unit: metric.unit, better: metric.better, operations });
        column
    }

    /// Joins groups two by two.
    fn halve(&mut self) {
        let mut groups = std::mem::take(&mut self.groups).into_iter();
        let mut kept: Vec<Group> = groups.next().into_iter().collect();
        let mut joined_all = true;
        while let Some(a) = groups.next() {
            match groups.next() {
                Some(b) => kept.push(self.join(a, b)),
                None => {
                    joined_all = false;
                    kept.push(a);
                }
            }
        }
        // The last group may hold fewer than it has room for now.
        self.filled += if joined_all { self.each } else { 0 };
        self.each *= 2;
        self.figures = kept.iter().map(|g| g.cells.len()).sum();
        self.groups = kept;
    }

    /// Two groups that follow one another as one.
    fn join(&mut self, a: Group, b: Group) -> Group {
        self.scratch.resize(self.columns.len(), [None; 2]);
        for (side, group) in [&a, &b].into_iter().enumerate() {
            for cell in &group.cells {
                self.scratch[cell.column][side] = Some((cell.n, cell.value));
            }
        }
        let mut cells = Vec::with_capacity(a.cells.len().max(b.cells.len()));
        for cell in a.cells.iter().chain(&b.cells) {
            let mean = match self.scratch[cell.column] {
                // Of a column that both have, the second comes by again.
                [Some(_), Some(_)] if cells.len() >= a.cells.len() => continue,
                [Some(x), Some(y)] => self.mean(cell.column, x, y),
                _ => *cell,
            };
            cells.push(mean);
        }
        for cell in a.cells.iter().chain(&b.cells) {
            self.scratch[cell.column] = [None; 2];
        }
        Group { first: a.first, last: b.last, cells, printed: Vec::new() }
    }

    fn mean(&self, column: usize, a: (u32, f64), b: (u32, f64)) -> Cell {
        let counted = |side: usize| -> f64 {
            let each = self.columns[column].operations.iter().filter_map(|c| self.scratch[*c][side]);
            each.map(|(n, value)| f64::from(n) * value).sum()
        };
        let mut weights = [counted(0), counted(1)];
        if weights[0] + weights[1] <= 0.0 {
            weights = [f64::from(a.0), f64::from(b.0)];
        }
        // Multiplied by shares, nothing overflows.
        let share = weights[0] / (weights[0] + weights[1]);
        Cell { column, n: a.0.saturating_add(b.0), value: a.1 * share + b.1 * (1.0 - share) }
    }

    /// Puts the reports into the run, with a remark where they are not all as printed.
    pub fn finish(self, run: &mut ImportedRun) {
        let word = self.word;
        for group in self.groups {
            let name = match group.first == group.last {
                true => format!("{word}[{}]", group.first),
                false => format!("{word}[{}..{}]", group.first, group.last),
            };
            let mut printed = group.printed.into_iter();
            let metrics = group.cells.iter().map(|cell| {
                let column = &self.columns[cell.column];
                let id = format!("{name}.{}", column.id);
                let mut metric = Metric::measured(id, column.unit, column.better, cell.value, u64::from(cell.n));
                let (original, reasons) = printed.next().unwrap_or_else(|| (Original::own(&metric), Vec::new()));
                metric.reasons = reasons;
                ImportedMetric { metric, original }
            });
            let metrics = metrics.collect();
            run.push(name, metrics);
        }
        if self.each > 1 {
            run.remark(format!(
                "{} {word}s were printed, more figures than are kept: each {} that follow one another are one here, their \
                 mean (waiting times and request sizes over operations); raw/ has them all",
                self.reports, self.each
            ));
        }
        if self.left_out > 0 {
            run.remark(format!("{} figures of {word}s with too many were left out; raw/ has them all", self.left_out));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(number: usize, values: &[(&str, f64)]) -> Vec<ImportedMetric> {
        let of = |(id, value): &(&str, f64)| {
            let original = Original::new(value.to_string(), "/s");
            ImportedMetric::new(format!("report[{number}].{id}"), Unit::OpsPerS, None, *value, 1, original).unwrap()
        };
        values.iter().map(of).collect()
    }

    fn run(series: Series) -> ImportedRun {
        let mut run = ImportedRun::new("test", "t", 1);
        series.finish(&mut run);
        run
    }

    #[test]
    fn what_fits_stays_as_it_was_printed() {
        let mut series = Series::new("report", 1000);
        for number in 1..=20 {
            series.push(number, report(number, &[("sda.read.iops", number as f64)]));
        }
        let run = run(series);
        assert_eq!((run.groups.len(), run.remarks.len()), (20, 0));
        assert_eq!(run.groups[19].metrics[0].original, Original::new("20", "/s"));
    }

    #[test]
    fn what_does_not_fit_is_a_mean() {
        let mut series = Series::new("report", 64);
        for number in 1..=1000 {
            series.push(number, report(number, &[("sda.read.iops", number as f64), ("sda.queue", 2.0)]));
        }
        let run = run(series);
        let figures = run.metrics().count();
        assert!((8..=64).contains(&figures), "{figures}");
        assert_eq!(run.groups[0].name, "report[1]");
        let [first, second] = [&run.groups[1], &run.groups[2]];
        let name = first.name.as_str();
        let length = first.metrics[0].metric.n;
        assert_eq!(name, format!("report[2..{}]", length + 1));
        assert!((first.metrics[0].metric.value.unwrap() - (length + 3) as f64 / 2.0).abs() < 1e-9, "{first:?}");
        assert_eq!(second.metrics[0].metric.n, length);
        assert!(run.groups.iter().all(|g| g.metrics[1].metric.value == Some(2.0)));
        let counted: u64 = run.groups.iter().map(|g| g.metrics[0].metric.n).sum();
        assert_eq!(counted, 1000, "every report counts once");
        assert!(run.remarks[0].starts_with("1000 reports were printed"), "{:?}", run.remarks);
    }

    #[test]
    fn waiting_times_are_means_over_operations_in_whatever_order_they_stand() {
        for columns in [
            ["sda.read.iops", "sda.read.await_ns", "sda.await_ns"],
            ["sda.await_ns", "sda.read.await_ns", "sda.read.iops"],
        ] {
            let mut series = Series::new("report", 1);
            let of = |iops: f64, wait: f64| columns.map(|c| (c, if c.ends_with("iops") { iops } else { wait }));
            series.room = 12;
            // 900 operations waited 1, and 100 waited 11.
            for (number, (iops, wait)) in [(1.0, 1.0), (900.0, 1.0), (100.0, 11.0), (0.0, 0.0)].into_iter().enumerate()
            {
                series.push(number + 1, report(number + 1, &of(iops, wait)));
            }
            let run = run(series);
            assert_eq!(run.groups.len(), 2, "{:?}", run.groups);
            for m in run.groups[1].metrics.iter().filter(|m| m.metric.id.ends_with("await_ns")) {
                assert!((m.metric.value.unwrap() - 2.0).abs() < 1e-9, "{m:?}");
            }
        }
    }

    #[test]
    fn ever_new_devices_stay_within_the_room() {
        let mut series = Series::new("report", 400);
        for number in 1..=5000 {
            let id = format!("sd{number}.read.iops");
            series.push(number, report(number, &[(&id, 1.0), ("sda.read.iops", 1.0)]));
        }
        let run = run(series);
        assert!(run.metrics().count() <= 400);
        assert!(run.remarks.iter().any(|r| r.contains("were left out")), "{:?}", run.remarks);
        assert!(run.metrics().all(|m| m.metric.value == Some(1.0)));
    }
}
