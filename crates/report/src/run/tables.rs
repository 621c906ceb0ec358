//! The tables of the forms, filled from the metrics that stand.

use super::grid::Grid;
use super::table::{Cell, Row, Table};
use crate::headline::status_word;
use crate::plan::words;
use crate::quantity::{self, Shown};
use crate::style::Style;
use model::{DepthCurve, Knee, Metric, MetricStatus, Order, PhaseRun, PhaseStatus, Round, Run, Unit};

/// Columns of the bar beside a depth.
const BAR: usize = 12;

/// The notes that cells point to, counted from 1, and how numbers are written.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub notes: Vec<String>,
    /// Whether rates have their interval behind them.
    pub intervals: bool,
    /// Whether rates have a bar beside them where the form has one.
    pub bars: bool,
    plus_minus: &'static str,
    ascii: bool,
    unsteady: bool,
}

impl Numbers {
    pub(crate) fn new(style: &Style) -> Self {
        Self {
            notes: Vec::new(),
            intervals: true,
            bars: true,
            plus_minus: style.plus_minus(),
            ascii: style.ascii,
            unsteady: false,
        }
    }

    fn note(&mut self, text: String) -> Option<usize> {
        if text.is_empty() {
            return None;
        }
        if let Some(i) = self.notes.iter().position(|n| *n == text) {
            return Some(i + 1);
        }
        self.notes.push(text);
        Some(self.notes.len())
    }

    fn shown(&self, shown: &Shown) -> String {
        if self.intervals { shown.with_interval(self.plus_minus) } else { shown.value() }
    }

    /// A metric, or why there is none; nothing where the phase has no such metric.
    fn cell(&mut self, metric: Option<&Metric>) -> Cell {
        let Some(m) = metric else { return Cell::Empty };
        match (quantity::metric(m), m.status) {
            (Some(shown), _) => Cell::Value(self.shown(&shown)),
            (None, MetricStatus::Refused) if m.rejected_value.is_some() => {
                let shown = quantity::quantity(m.rejected_value.unwrap_or_default(), m.unit);
                Cell::Doubted { text: format!("({shown})"), note: self.note(m.reasons.join("; ")) }
            }
            (None, MetricStatus::Refused) => {
                Cell::Without { word: status_word(m.status), note: self.note(m.reasons.join("; ")), bad: true }
            }
            // Too few operations for a percentile and the like: the table says it once.
            (None, _) => Cell::Value("-".into()),
        }
    }

    /// What was not steady is marked, and the mark explained.
    fn marked(&mut self, cell: Cell, phase: &PhaseRun) -> Cell {
        match cell {
            Cell::Value(text) if phase.steady == Some(false) && text != "-" => {
                self.unsteady = true;
                Cell::Value(format!("~{text}"))
            }
            other => other,
        }
    }

    /// The reason for a phase without numbers.
    fn without(&mut self, phase: &PhaseRun) -> Cell {
        let word = match phase.status {
            PhaseStatus::Measured => "measured",
            PhaseStatus::Refused => "refused",
            PhaseStatus::Skipped => "skipped",
            PhaseStatus::NotApplicable => "n/a",
        };
        Cell::Without { word, note: self.note(phase.reasons.join("; ")), bad: phase.status == PhaseStatus::Refused }
    }

    fn footer(&mut self) -> Vec<String> {
        let said = std::mem::take(&mut self.unsteady);
        said.then(|| "~ not steady: the rate was not the same all the time".to_owned()).into_iter().collect()
    }
}

/// The metric of one quantity and scope: `""` the whole phase, `db.read` a direction of a job.
fn metric_of<'a>(phase: &'a PhaseRun, scope: &str, quantity: &str) -> Option<&'a Metric> {
    phase.metrics.iter().find(|m| split(phase, m) == Some((scope, quantity)))
}

/// A metric's id without its phase: scope and quantity.
fn split<'a>(phase: &PhaseRun, metric: &'a Metric) -> Option<(&'a str, &'a str)> {
    let rest = metric.id.strip_prefix(phase.plan.name.as_str())?.strip_prefix('.')?;
    Some(rest.rsplit_once('.').unwrap_or(("", rest)))
}

/// Jobs and directions that a phase tells apart, in the order of its metrics.
fn scopes(phase: &PhaseRun) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for (scope, _) in phase.metrics.iter().filter_map(|m| split(phase, m)) {
        if !scope.is_empty() && !out.contains(&scope) {
            out.push(scope);
        }
    }
    out
}

const RATE: &str = "throughput_bytes_per_s";
const IOPS: &str = "iops";
/// The rate of operations on files; it stands in the first column.
const FILES: &str = "files_per_s";
/// Operations of the device below; the head says so.
const DEVICE_OPS: &str = "device_ops_per_s";
const MEAN: &str = "latency_ns_mean";
const P50: &str = "latency_ns_p50";
const P90: &str = "latency_ns_p90";
const P99: &str = "latency_ns_p99";
const WORST: &str = "latency_ns_max";
const STALL: &str = "stall_ns_max";

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

impl Numbers {
    /// IOPS in a column that says so.
    fn bare(&mut self, metric: Option<&Metric>) -> Cell {
        match self.cell(metric) {
            Cell::Value(text) => Cell::Value(text.replace(" IOPS", "")),
            other => other,
        }
    }

    fn row(&mut self, phase: &PhaseRun, scope: &str, quantities: &[&str]) -> Vec<Cell> {
        let cells: Vec<Cell> = quantities
            .iter()
            .map(|q| {
                let files = || metric_of(phase, scope, FILES).filter(|_| *q == quantities[0]);
                let metric = metric_of(phase, scope, q).or_else(files);
                match *q {
                    IOPS | DEVICE_OPS => {
                        // One interval a row is enough; the page has all.
                        let intervals = std::mem::replace(&mut self.intervals, false);
                        let cell = self.bare(metric);
                        self.intervals = intervals;
                        cell
                    }
                    _ => self.cell(metric),
                }
            })
            .collect();
        cells
    }

    /// A phase with its jobs and directions.
    fn rows(&mut self, phase: &PhaseRun, quantities: &[&str]) -> Vec<Row> {
        let dim = !phase.plan.measures_target();
        let label = phase.plan.name.clone();
        if phase.status != PhaseStatus::Measured {
            let mut cells = vec![self.without(phase)];
            cells.resize(quantities.len(), Cell::Empty);
            return vec![Row { label, inner: false, dim: false, cells }];
        }
        let mut cells = self.row(phase, "", quantities);
        if let Some(first) = cells.first_mut() {
            *first = self.marked(first.clone(), phase);
        }
        let mut rows = vec![Row { label, inner: false, dim, cells }];
        for scope in scopes(phase) {
            let cells = self.row(phase, scope, quantities);
            rows.push(Row { label: scope.replace('.', " "), inner: true, dim, cells });
        }
        rows
    }
}

/// One row a phase: rate, operations, how long they took, and the longest gap.
pub(crate) fn rows_table(run: &Run, places: &[usize], n: &mut Numbers) -> Table {
    let quantities = [RATE, IOPS, P50, P99, WORST, STALL];
    let rows = places.iter().flat_map(|i| n.rows(&run.phases[*i], &quantities)).collect();
    let head = head(&["rate", "IOPS", "p50", "p99", "max latency", "longest gap"]);
    Table { caption: String::new(), head, rows, footer: n.footer() }
}

/// One row a phase of calls on files that are made again: how long they took, and what the device did for them.
pub(crate) fn replays_table(run: &Run, places: &[usize], n: &mut Numbers) -> Table {
    let all = || places.iter().map(|i| &run.phases[*i]);
    let pauses = all().any(|phase| phase.plan.pauses_ns().is_some());
    let mut columns = vec![("time_s", "took"), ("in_calls_s", "in calls")];
    columns.retain(|(quantity, _)| pauses || *quantity != "in_calls_s");
    columns.extend([
        (DEVICE_OPS, "device tps"),
        ("device_read_bytes", "device reads"),
        ("device_written_bytes", "writes"),
    ]);
    let quantities: Vec<&str> = columns.iter().map(|(quantity, _)| *quantity).collect();
    let row = |phase: &PhaseRun| {
        let label = phase.plan.name.clone();
        let mut cells = match phase.status {
            PhaseStatus::Measured => n.row(phase, "", &quantities),
            _ => vec![n.without(phase)],
        };
        cells.resize(quantities.len(), Cell::Empty);
        Row { label, inner: false, dim: false, cells }
    };
    let rows = all().map(row).collect();
    let head = columns.iter().map(|(_, name)| (*name).to_owned()).collect();
    let mut footer = n.footer();
    footer.extend(all().filter_map(recorded));
    if pauses {
        footer.push("in calls: without the pauses between them".to_owned());
    }
    Table { caption: String::new(), head, rows, footer }
}

/// How long it took when it was recorded.
fn recorded(phase: &PhaseRun) -> Option<String> {
    let stream = phase.plan.streams.first()?;
    if let Some(trace) = stream.trace().filter(|trace| !trace.trace_pauses && trace.trace_span_ns > 0) {
        let (n, span) = (quantity::count(trace.trace_operations), trace.trace_span_ns as f64 / 1e9);
        let span = quantity::quantity(span, Unit::S);
        return Some(format!("{}: {n} operations; they took {span} when they were recorded", phase.plan.name));
    }
    let replay = stream.replay()?;
    let calls = quantity::count(replay.calls());
    let device = |name| metric_of(phase, "", name).and_then(|metric| metric.value).filter(|bytes| *bytes > 0.0);
    let ratio = device("device_written_bytes").zip(device("device_read_bytes"));
    let ratio =
        ratio.map(|(written, read)| format!("; writes to reads {} : 1", quantity::significant(written / read, 2)));
    let ratio = ratio.unwrap_or_default();
    let span = quantity::quantity(replay.replay_span_ns as f64 / 1e9, Unit::S);
    match replay.replay_span_ns {
        0 => None,
        _ if replay.replay_real.is_some() => {
            let by =
                phase.record.as_ref().map_or("dpkg", |record| record.engine.features.first().map_or("dpkg", |by| by));
            Some(format!("{}: by {by} itself{ratio}", phase.plan.name))
        }
        _ if replay.is_model() => Some(format!("{}: {calls} calls{ratio}", phase.plan.name)),
        _ => Some(format!("{}: {calls} calls; they took {span} when they were recorded{ratio}", phase.plan.name)),
    }
}

/// One row a phase that asks for less than the target gives: how long operations took.
pub(crate) fn waits_table(run: &Run, places: &[usize], n: &mut Numbers) -> Table {
    let quantities = [IOPS, MEAN, P50, P90, P99, WORST, STALL];
    let rows = places.iter().flat_map(|i| n.rows(&run.phases[*i], &quantities)).collect();
    let head = head(&["IOPS", "mean", "p50", "p90", "p99", "max latency", "longest gap"]);
    let caption = "from the intended start of each operation to its end".to_owned();
    Table { caption, head, rows, footer: n.footer() }
}

/// Bursts that are shown, of more the first and the last half of so many.
const BURSTS: usize = 40;

/// A row a burst of writes: its rate without the pause after it, and what that is of the first one's.
pub(crate) fn bursts_table(phase: &PhaseRun) -> Table {
    let rounds = phase.record.as_ref().map_or(&[][..], |r| &r.rounds);
    let started = phase.record.as_ref().map_or(0, |r| r.started_ns);
    let rate = |r: &Round| r.bytes as f64 * 1e9 / r.write_ns.max(1) as f64;
    let first = rounds.first().map_or(0.0, rate);
    let shown = |i: &usize| rounds.len() <= BURSTS || *i < BURSTS / 2 || *i + BURSTS / 2 >= rounds.len();
    let row = |i: usize| {
        let r = &rounds[i];
        let cells = [
            format!("{:.1} s", r.start_ns.saturating_sub(started) as f64 / 1e9),
            quantity::size(r.bytes),
            quantity::quantity(r.write_ns as f64, Unit::Ns),
            quantity::rate(rate(r)),
            format!("{} %", quantity::significant(rate(r) / first * 100.0, 3)),
        ];
        Row { label: format!("burst {}", i + 1), inner: false, dim: false, cells: cells.map(Cell::Value).to_vec() }
    };
    let rows = (0..rounds.len()).filter(shown).map(row).collect();
    let value = |name| metric_of(phase, "", name).and_then(|m| m.value);
    let mut footer = Vec::new();
    if let Some((rate, change)) = value("burst_bytes_per_s").zip(value("burst_rate_last_over_first")) {
        let percent = quantity::significant((change - 1.0).abs() * 100.0, 2);
        let from = "from the first third of the bursts to the last";
        footer.push(match change {
            c if c < 0.95 => {
                format!("The rate within bursts falls by {percent} % {from}; their median is {}.", quantity::rate(rate))
            }
            c if c > 1.05 => {
                format!("The rate within bursts rises by {percent} % {from}; their median is {}.", quantity::rate(rate))
            }
            _ => format!("Each burst is as fast as the first, {}: the pauses are long enough.", quantity::rate(rate)),
        });
    }
    let think = phase.plan.streams.first().and_then(|s| s.timing.think);
    let pause = think.map(|t| format!(", {} of rest between them", quantity::duration(t.pause_ns))).unwrap_or_default();
    let head = head(&["begins", "size", "took", "rate", "of the first"]);
    Table { caption: format!("{}: bursts of writes{pause}", phase.plan.name), head, rows, footer }
}

/// What the rate of a phase is told in: operations where they are small.
fn rate_of(phase: &PhaseRun) -> &'static str {
    if phase.plan.streams.iter().all(|s| s.block().block_size_bytes <= 65_536) { IOPS } else { RATE }
}

/// A depth curve: the rate with a bar, latencies, and the knee.
pub(crate) fn depth_table(run: &Run, curve: &DepthCurve, places: &[usize], n: &mut Numbers) -> Table {
    let rate = places.first().map_or(IOPS, |i| rate_of(&run.phases[*i]));
    let value = |i: &usize| metric_of(&run.phases[*i], "", rate).and_then(|m| m.value);
    let highest = places.iter().filter_map(value).fold(0.0, f64::max);
    let knee = match &curve.knee {
        Knee::At { phase, .. } => phase.as_str(),
        _ => "",
    };
    let mut rows = Vec::new();
    for (i, depth) in places.iter().zip(&curve.depths) {
        let phase = &run.phases[*i];
        let label = format!("depth {depth}");
        if phase.status != PhaseStatus::Measured {
            let mut cells = vec![n.without(phase)];
            cells.resize(6, Cell::Empty);
            rows.push(Row { label, inner: false, dim: false, cells });
            continue;
        }
        let first = n.bare(metric_of(phase, "", rate));
        let mut cells = vec![n.marked(first, phase)];
        cells.extend([P50, P99, WORST, STALL].map(|q| n.cell(metric_of(phase, "", q))));
        let filled =
            value(i).filter(|_| highest > 0.0 && n.bars).map_or(0, |v| (v / highest * BAR as f64).round() as usize);
        let bar = if n.ascii { "#" } else { "█" }.repeat(filled);
        let mark = if phase.plan.name == knee { if n.ascii { " <- knee" } else { " ← knee" } } else { "" };
        cells.push(Cell::Drawn(if bar.is_empty() { mark.trim_start().to_owned() } else { format!("{bar}{mark}") }));
        rows.push(Row { label, inner: false, dim: false, cells });
    }
    let what = places
        .first()
        .and_then(|i| run.phases[*i].plan.streams.first())
        .map(|s| format!("{} {}, {}", words::order(s), words::operation(s), words::sizes(s)));
    let head = head(&[if rate == IOPS { "IOPS" } else { "rate" }, "p50", "p99", "max latency", "longest gap", ""]);
    let mut footer = n.footer();
    footer.push(knee_words(curve));
    Table { caption: what.unwrap_or_default(), head, rows, footer }
}

/// Where more depth stops to pay, as a sentence.
pub(crate) fn knee_words(curve: &DepthCurve) -> String {
    let least = quantity::significant(curve.least_gain_percent, 2).replace(".0", "");
    match &curve.knee {
        Knee::At { depth, share_of_highest_percent, .. } => format!(
            "Knee at depth {depth}, with {:.0} % of the highest rate: each doubling beyond it gains less than {least} %.",
            share_of_highest_percent
        ),
        Knee::NotReached { depth } => {
            format!("No knee up to depth {depth}: the last doubling still gained {least} % or more.")
        }
        Knee::Unknown { reason } => format!("The knee is not known: {reason}."),
    }
}

/// The grid in numbers without unit, which stands in the caption.
pub(crate) fn grid_table(run: &Run, grid: &Grid, n: &mut Numbers) -> Table {
    let mut rows = Vec::new();
    for (label, cells) in &grid.rows {
        let value = |c: &Option<super::GridCell>| c.as_ref().and_then(|c| c.value);
        let best = cells.iter().filter_map(value).fold(0.0, f64::max);
        let cells = cells
            .iter()
            .map(|cell| {
                let Some(cell) = cell else { return Cell::Empty };
                let Some(value) = cell.value else {
                    let bad = cell.status == MetricStatus::Refused;
                    let word = status_word(cell.status);
                    let note = n.note(format!("{word}: {}", cell.reasons.join("; ")));
                    return Cell::Without { word: "", note, bad };
                };
                let text = grid_number(value, grid.unit);
                match n.marked(Cell::Value(text), &run.phases[cell.phase]) {
                    Cell::Value(text) if value >= best => Cell::Best(text),
                    other => other,
                }
            })
            .collect();
        rows.push(Row { label: label.clone(), inner: false, dim: false, cells });
    }
    let unit = if grid.unit == Unit::BytesPerS { "MB/s" } else { "IOPS" };
    let caption = format!("{unit} by {}", grid.axis);
    Table { caption, head: grid.columns.clone(), rows, footer: n.footer() }
}

/// A value of a grid: MB/s or operations, without the unit.
pub(crate) fn grid_number(value: f64, unit: Unit) -> String {
    match unit {
        Unit::BytesPerS => quantity::significant(value / 1e6, 3),
        _ => quantity::significant(value, 3),
    }
}

fn pair_label(phase: &PhaseRun) -> String {
    let Some(s) = phase.plan.streams.first() else { return phase.plan.name.clone() };
    let jobs = phase.plan.streams.len();
    let order = match s.block().order {
        Order::Sequential => "SEQ".to_owned(),
        Order::Random => "RND".into(),
        _ => words::order(s),
    };
    format!("{order} {} Q{}T{jobs}", words::sizes(s).replace(" KiB", "K").replace(" MiB", "M"), s.path.queue_depth)
}

/// Reading and writing side by side, labelled as CrystalDiskMark and KDiskMark do.
pub(crate) fn pairs_table(run: &Run, pairs: &[(usize, usize)], n: &mut Numbers) -> Table {
    let mut rows = Vec::new();
    for (read, write) in pairs {
        let mut cells = Vec::new();
        for phase in [&run.phases[*read], &run.phases[*write]] {
            if phase.status != PhaseStatus::Measured {
                cells.extend([n.without(phase), Cell::Empty, Cell::Empty]);
                continue;
            }
            let rate = n.cell(metric_of(phase, "", RATE));
            cells.push(n.marked(rate, phase));
            cells.extend(n.row(phase, "", &[IOPS, STALL]));
        }
        rows.push(Row { label: pair_label(&run.phases[*read]), inner: false, dim: false, cells });
    }
    let head = head(&["read", "IOPS", "longest gap", "write", "IOPS", "longest gap"]);
    Table { caption: String::new(), head, rows, footer: n.footer() }
}
