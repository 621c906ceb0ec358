//! The tables of the forms, filled from the metrics that stand.

use super::form::Form;
use super::grid::Grid;
use super::imported;
use super::numbers::{Numbers, metric_of, split};
use crate::Check;
use crate::headline::status_word;
use crate::plan::words;
use crate::presentation::{Cell, Row, Table};
use crate::quantity::{self, Shown};
use model::{DepthCurve, Knee, MetricStatus, Order, PhaseRun, PhaseStatus, Round, Run, StreamPlan, Unit};

/// A number without its unit, which stands in the head of its column.
fn bare(cell: Cell) -> Cell {
    match cell {
        Cell::Value { shown, p99, unsteady } => {
            let unit = if shown.unit == "IOPS" { "" } else { shown.unit };
            Cell::Value { shown: Shown { unit, ..shown }, p99, unsteady }
        }
        other => other,
    }
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
    fn row(&mut self, phase: &PhaseRun, scope: &str, quantities: &[&str]) -> Vec<Cell> {
        let cells: Vec<Cell> = quantities
            .iter()
            .map(|q| {
                let files = || metric_of(phase, scope, FILES).filter(|_| *q == quantities[0]);
                let metric = metric_of(phase, scope, q).or_else(files);
                match (*q, self.cell(metric)) {
                    // One interval a row is enough; the page has all.
                    (IOPS | DEVICE_OPS, Cell::Value { shown, p99, unsteady }) => {
                        bare(Cell::Value { shown: Shown { half_width: None, ..shown }, p99, unsteady })
                    }
                    (_, cell) => cell,
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
            return vec![Row::new(label, cells)];
        }
        let mut cells = self.row(phase, "", quantities);
        if let Some(first) = cells.first_mut() {
            *first = self.marked(first.clone(), phase);
        }
        let mut rows = vec![Row { dim, ..Row::new(label, cells) }];
        for scope in scopes(phase) {
            let cells = self.row(phase, scope, quantities);
            rows.push(Row { inner: true, dim, ..Row::new(scope.replace('.', " "), cells) });
        }
        rows
    }
}

/// The table of a form.
pub(crate) fn table_of(check: &Check<'_>, form: &Form<'_>, n: &mut Numbers) -> Table {
    let run = check.run;
    match form {
        Form::Imported(places) => imported::columns_table(run, places, check.over_reports, n),
        Form::Others(places) => imported::list_table(run, places, check.over_reports, n),
        Form::Depth(curve, places) => depth_table(run, curve, places, n),
        Form::Grid(grid, _) => {
            let table = grid_table(grid, n);
            // Its cells have no room for the sums, which follow in a list.
            match run.group.as_ref().filter(|group| group.size > 1) {
                Some(group) => Table { caption: format!("{}, rank {} alone", table.caption, group.rank), ..table },
                None => table,
            }
        }
        Form::Pairs(pairs) => pairs_table(run, pairs, n),
        Form::Waits(places) => waits_table(run, places, n),
        Form::Replays(places) => replays_table(run, places, n),
        Form::Bursts(place) => bursts_table(&run.phases[*place]),
        Form::Rows(places) => rows_table(run, places, n),
    }
}

/// One row a phase: rate, operations, how long they took, and the longest gap.
fn rows_table(run: &Run, places: &[usize], n: &mut Numbers) -> Table {
    let quantities = [RATE, IOPS, P50, P99, WORST, STALL];
    let rows = places.iter().flat_map(|i| n.rows(&run.phases[*i], &quantities)).collect();
    let head = head(&["rate", "IOPS", "p50", "p99", "max latency", "longest gap"]);
    Table { head, rows, footer: n.footer(), ..Table::default() }
}

/// One row a phase of calls on files that are made again: how long they took, and what the device did for them.
fn replays_table(run: &Run, places: &[usize], n: &mut Numbers) -> Table {
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
        Row::new(label, cells)
    };
    let rows = all().map(row).collect();
    let head = columns.iter().map(|(_, name)| (*name).to_owned()).collect();
    let mut footer = n.footer();
    footer.extend(all().filter_map(recorded));
    if pauses {
        footer.push("in calls: without the pauses between them".to_owned());
    }
    Table { head, rows, footer, ..Table::default() }
}

/// How long the replays took, and how much of it the storage: in a sentence.
pub(crate) fn replays_answer(run: &Run, places: &[usize]) -> Option<String> {
    let value = |i: &usize, name| metric_of(&run.phases[*i], "", name).and_then(|metric| metric.value);
    let took =
        |i: &usize| Some(format!("{} {}", run.phases[*i].plan.name, quantity::quantity(value(i, "time_s")?, Unit::S)));
    let all: Vec<String> = places.iter().filter_map(took).collect();
    let sum = |name| places.iter().map(|i| value(i, name)).sum::<Option<f64>>();
    let pauses = places.iter().any(|i| run.phases[*i].plan.pauses_ns().is_some());
    let of_storage = sum("time_s").zip(sum("in_calls_s")).filter(|_| pauses).map(|(took, calls)| {
        let [took, calls, pauses] = [took, calls, (took - calls).max(0.0)].map(|s| quantity::quantity(s, Unit::S));
        format!("; of {took} in all {calls} are calls on files and {pauses} pauses between them")
    });
    (!all.is_empty()).then(|| format!("It took: {}{}.", all.join(", "), of_storage.unwrap_or_default()))
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
fn waits_table(run: &Run, places: &[usize], n: &mut Numbers) -> Table {
    let quantities = [IOPS, MEAN, P50, P90, P99, WORST, STALL];
    let rows = places.iter().flat_map(|i| n.rows(&run.phases[*i], &quantities)).collect();
    let head = head(&["IOPS", "mean", "p50", "p90", "p99", "max latency", "longest gap"]);
    let caption = "from the intended start of each operation to its end".to_owned();
    Table { caption, head, rows, footer: n.footer(), ..Table::default() }
}

/// Bursts that are shown, of more the first and the last half of so many.
const BURSTS: usize = 40;

/// A row a burst of writes: its rate without the pause after it, and what that is of the first one's.
fn bursts_table(phase: &PhaseRun) -> Table {
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
        Row::new(format!("burst {}", i + 1), cells.map(Cell::Text).to_vec())
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
    Table { caption: format!("{}: bursts of writes{pause}", phase.plan.name), head, rows, footer, ..Table::default() }
}

/// What the rate of a phase is told in: operations where they are small.
fn rate_of(phase: &PhaseRun) -> &'static str {
    let streams = &phase.plan.streams;
    if !streams.is_empty() && streams.iter().all(|s| s.blocks().is_none_or(|s| s.block.block_size_bytes <= 65_536)) {
        IOPS
    } else {
        RATE
    }
}

/// A depth curve: the rate with a bar, latencies, and the knee.
fn depth_table(run: &Run, curve: &DepthCurve, places: &[usize], n: &mut Numbers) -> Table {
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
            rows.push(Row::new(label, cells));
            continue;
        }
        let first = bare(n.cell(metric_of(phase, "", rate)));
        let mut cells = vec![n.marked(first, phase)];
        cells.extend([P50, P99, WORST, STALL].map(|q| n.cell(metric_of(phase, "", q))));
        let share = value(i).filter(|_| highest > 0.0).map_or(0.0, |v| v / highest);
        cells.push(Cell::Bar { share, knee: phase.plan.name == knee });
        rows.push(Row::new(label, cells));
    }
    let what = places
        .first()
        .and_then(|i| Some(run.phases[*i].plan.streams.first()?.blocks()?.block))
        .map(|block| format!("{} {}, {}", words::order(block), words::operation(block), words::sizes(block)));
    let head = head(&[if rate == IOPS { "IOPS" } else { "rate" }, "p50", "p99", "max latency", "longest gap", ""]);
    let mut footer = n.footer();
    footer.push(knee_words(curve));
    Table { caption: what.unwrap_or_default(), head, rows, footer, ..Table::default() }
}

/// Where more depth stops to pay, as a sentence.
fn knee_words(curve: &DepthCurve) -> String {
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
fn grid_table(grid: &Grid, n: &mut Numbers) -> Table {
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
                    let note = n.notes.add(format!("{word}: {}", model::reason::joined(&cell.reasons)));
                    return Cell::Without { word: "", code: None, note, bad };
                };
                n.unsteady |= cell.unsteady;
                let text = format!("{}{}", if cell.unsteady { "~" } else { "" }, grid_number(value, grid.unit));
                if value >= best { Cell::Best(text) } else { Cell::Text(text) }
            })
            .collect();
        rows.push(Row::new(label, cells));
    }
    let unit = if grid.unit == Unit::BytesPerS { "MB/s" } else { "IOPS" };
    let caption = format!("{unit} by {}", grid.axis);
    Table { caption, head: grid.columns.clone(), rows, footer: n.footer(), ..Table::default() }
}

/// A value of a grid: MB/s or operations, without the unit.
fn grid_number(value: f64, unit: Unit) -> String {
    match unit {
        Unit::BytesPerS => quantity::significant(value / 1e6, 3),
        _ => quantity::significant(value, 3),
    }
}

fn pair_label(phase: &PhaseRun) -> String {
    let Some(s) = phase.plan.streams.first().and_then(StreamPlan::blocks) else { return phase.plan.name.clone() };
    let jobs = phase.plan.streams.len();
    let order = match s.block.order {
        Order::Sequential => "SEQ".to_owned(),
        Order::Random => "RND".into(),
        _ => words::order(s.block),
    };
    format!(
        "{order} {} Q{}T{jobs}",
        words::sizes(s.block).replace(" KiB", "K").replace(" MiB", "M"),
        s.path.queue_depth
    )
}

/// Reading and writing side by side, labelled as CrystalDiskMark and KDiskMark do.
fn pairs_table(run: &Run, pairs: &[(usize, usize)], n: &mut Numbers) -> Table {
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
        rows.push(Row::new(pair_label(&run.phases[*read]), cells));
    }
    let head = head(&["read", "IOPS", "longest gap", "write", "IOPS", "longest gap"]);
    Table { head, rows, footer: n.footer(), ..Table::default() }
}
