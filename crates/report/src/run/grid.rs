//! Phases that form a grid: two of what workloads vary change, the rest is the same.

use crate::plan::words;
use crate::quantity;
use model::{MetricStatus, PhaseRun, PhaseShape, PhaseStatus, Reason, Run, Unit};

/// A grid that lacks more of its cells than this is none.
const LEAST_FILLED: f64 = 0.7;

/// One cell: the phase, and what it shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridCell {
    /// Place of the phase in [`Run::phases`].
    pub phase: usize,
    /// The value that stands.
    pub value: Option<f64>,
    /// Without a value: what became of it.
    pub status: MetricStatus,
    /// Why, or what has to be said.
    pub reasons: Vec<Reason>,
    /// It was measured, and was not steady.
    pub unsteady: bool,
}

/// Phases as rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    /// What the columns vary: `block size`.
    pub axis: &'static str,
    pub columns: Vec<String>,
    pub rows: Vec<(String, Vec<Option<GridCell>>)>,
    /// Of all values.
    pub unit: Unit,
}

impl Grid {
    /// Which column it is, in a sentence: `block size 4 MiB`; depths and jobs say it themselves.
    fn place(&self, column: usize) -> String {
        let label = &self.columns[column];
        let says_it = [Axis::Depth, Axis::Jobs].iter().any(|axis| axis.name() == self.axis);
        if says_it { label.clone() } else { format!("{} {label}", self.axis) }
    }
}

/// What workloads vary, in the order in which it becomes the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Block,
    Depth,
    Jobs,
    ReadPercent,
}

const AXES: [Axis; 4] = [Axis::Block, Axis::Depth, Axis::Jobs, Axis::ReadPercent];

impl Axis {
    fn value(self, shape: &PhaseShape) -> u64 {
        match self {
            Self::Block => shape.block_bytes,
            // Of each stream: more jobs have more in flight without being another depth.
            Self::Depth => u64::from(shape.depth / shape.jobs.max(1)),
            Self::Jobs => shape.jobs.into(),
            Self::ReadPercent => shape.read_percent.map_or(u64::MAX, u64::from),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Block => "block size",
            Self::Depth => "depth",
            Self::Jobs => "jobs",
            Self::ReadPercent => "reads",
        }
    }

    fn label(self, value: u64) -> String {
        match self {
            Self::Block => quantity::binary_size(value),
            Self::Depth => format!("qd {value}"),
            Self::Jobs if value == 1 => "1 job".into(),
            Self::Jobs => format!("{value} jobs"),
            Self::ReadPercent => format!("{value} %"),
        }
    }
}

/// The longest beginning that all names share, without what joins it to the rest: `random-read`.
fn stem<'a>(names: &[&'a str]) -> &'a str {
    let Some((first, rest)) = names.split_first() else { return "" };
    let mut end = first.len();
    for name in rest {
        end = first.bytes().zip(name.bytes()).take(end).take_while(|(a, b)| a == b).count();
    }
    while !first.is_char_boundary(end) {
        end -= 1;
    }
    first[..end].trim_end_matches(|c: char| !c.is_alphabetic())
}

fn row_label(run: &Run, places: &[usize], shape: &PhaseShape) -> String {
    let names: Vec<&str> = places.iter().map(|i| run.phases[*i].plan.name.as_str()).collect();
    let stem = stem(&names);
    let label = match shape.rest.streams.first() {
        // A letter or two are what names have in common by chance.
        Some(stream) if stem.chars().count() < 3 => words::work(stream),
        _ => stem.replace('-', " "),
    };
    match places.first().and_then(|i| run.phases[*i].plan.ranks) {
        Some(1) => format!("{label}, 1 rank"),
        Some(ranks) => format!("{label}, {ranks} ranks"),
        None => label,
    }
}

fn cell(run: &Run, place: usize, quantity: &str) -> GridCell {
    let phase: &PhaseRun = &run.phases[place];
    let metric = run.metric(&format!("{}.{quantity}", phase.plan.name));
    let status = match phase.status {
        PhaseStatus::Measured => metric.map_or(MetricStatus::Skipped, |m| m.status),
        PhaseStatus::Refused => MetricStatus::Refused,
        PhaseStatus::Skipped => MetricStatus::Skipped,
        PhaseStatus::NotApplicable => MetricStatus::NotApplicable,
    };
    let own = metric.map(|m| m.reasons.clone()).unwrap_or_default();
    GridCell {
        phase: place,
        value: metric.and_then(|m| m.value),
        status,
        reasons: if phase.reasons.is_empty() { own } else { phase.reasons.clone() },
        unsteady: phase.steady == Some(false),
    }
}

/// The grid that these phases form; `None` if they do not.
pub(crate) fn grid(run: &Run, places: &[usize]) -> Option<Grid> {
    let shapes: Vec<(usize, PhaseShape)> =
        places.iter().map(|i| Some((*i, run.phases[*i].plan.shape()?))).collect::<Option<_>>()?;
    let varies = |axis: Axis| shapes.iter().any(|(_, s)| axis.value(s) != axis.value(&shapes[0].1));
    let axes: Vec<Axis> = AXES.into_iter().filter(|a| varies(*a)).collect();
    let (across, down) = match axes.as_slice() {
        [one] => (*one, None),
        [one, two] if shapes.iter().all(|(_, s)| s.rest == shapes[0].1.rest) => (*one, Some(*two)),
        _ => return None,
    };
    // The same again, such as writing and rewriting for the same time, is a row of its own: the values of the columns begin anew.
    let mut kinds: Vec<(&PhaseShape, Option<u32>, Vec<u64>)> = Vec::new();
    let kind_of: Vec<usize> = shapes
        .iter()
        .map(|(i, s)| {
            let (value, ranks) = (across.value(s), run.phases[*i].plan.ranks);
            let is_open = |(kind, by, values): &(&PhaseShape, Option<u32>, Vec<u64>)| {
                kind.rest == s.rest && *by == ranks && !values.contains(&value)
            };
            let place = kinds.iter().position(is_open).unwrap_or_else(|| {
                kinds.push((s, ranks, Vec::new()));
                kinds.len() - 1
            });
            kinds[place].2.push(value);
            place
        })
        .collect();
    let mut columns: Vec<u64> = shapes.iter().map(|(_, s)| across.value(s)).collect();
    columns.sort_unstable();
    columns.dedup();
    // Rows in the order of the plan, so that reading and writing stay as the workload has them; numbers in theirs.
    let mut keys: Vec<usize> = match down {
        None => (0..kinds.len()).collect(),
        Some(axis) => shapes.iter().map(|(_, s)| axis.value(s) as usize).collect(),
    };
    keys.sort_unstable();
    keys.dedup();
    if columns.len() < 3 || keys.len() < 2 {
        return None;
    }
    let quantity = if across == Axis::Block || down == Some(Axis::Block) || shapes[0].1.block_bytes > 65_536 {
        ("throughput_bytes_per_s", Unit::BytesPerS)
    } else {
        ("iops", Unit::OpsPerS)
    };
    let mut filled = 0;
    let mut rows = Vec::new();
    for key in &keys {
        let belongs = |i: usize, s: &PhaseShape| match down {
            None => kind_of[i] == *key,
            Some(axis) => axis.value(s) as usize == *key,
        };
        let of_row = shapes.iter().enumerate().filter(|(i, (_, s))| belongs(*i, s)).map(|(_, shape)| shape);
        let of_row: Vec<&(usize, PhaseShape)> = of_row.collect();
        let mut cells = vec![None; columns.len()];
        for (place, shape) in &of_row {
            let column = columns.iter().position(|c| *c == across.value(shape))?;
            if cells[column].is_some() {
                return None;
            }
            cells[column] = Some(cell(run, *place, quantity.0));
            filled += 1;
        }
        let places: Vec<usize> = of_row.iter().map(|(place, _)| *place).collect();
        let label = match down {
            None => row_label(run, &places, &of_row.first()?.1),
            Some(axis) => axis.label(*key as u64),
        };
        rows.push((label, cells));
    }
    let whole = (columns.len() * rows.len()) as f64;
    (f64::from(filled) >= LEAST_FILLED * whole).then(|| Grid {
        axis: across.name(),
        columns: columns.into_iter().map(|c| across.label(c)).collect(),
        rows,
        unit: quantity.1,
    })
}

/// The best of a grid of block sizes, the size that comes near to it, and what is slow at that size: in a sentence.
pub(crate) fn grid_answer(grid: &Grid) -> Option<String> {
    /// A size is enough from this share of the best on.
    const NEAR: f64 = 0.9;
    /// Rates that are nearer than this are the same.
    const SAME: f64 = 0.98;
    let value = |row: usize, column: usize| grid.rows[row].1[column].as_ref().and_then(|c| c.value);
    let all = (0..grid.rows.len()).flat_map(|row| (0..grid.columns.len()).map(move |column| (row, column)));
    let valued = all.filter_map(|(row, column)| Some((row, column, value(row, column)?)));
    let valued: Vec<(usize, usize, f64)> = valued.collect();
    let highest = valued.iter().map(|v| v.2).fold(0.0, f64::max);
    // Of those that are as good the first: reading before reading backward.
    let (row, column, best) = *valued.iter().find(|v| highest > 0.0 && v.2 >= SAME * highest)?;
    let shown = |v| quantity::quantity(v, grid.unit);
    let mut text = format!("The best is {} ({}, {})", shown(best), grid.rows[row].0, grid.place(column));
    let enough = (0..column).find(|c| value(row, *c).is_some_and(|v| v >= NEAR * best)).unwrap_or(column);
    if enough < column {
        text.push_str(&format!("; {} is enough for 90 % of it", grid.columns[enough]));
    }
    let at = |r: usize| Some((r, value(r, enough)?));
    let slowest = (0..grid.rows.len()).filter_map(at).min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((slow, v)) = slowest.filter(|(_, v)| *v < NEAR * best) {
        text.push_str(&format!("; at {} {} is slowest, {}", grid.columns[enough], grid.rows[slow].0, shown(v)));
    }
    let refused =
        grid.rows.iter().flat_map(|row| &row.1).flatten().filter(|c| c.status == MetricStatus::Refused).count();
    if refused > 0 {
        let is = if refused == 1 { "is" } else { "are" };
        text.push_str(&format!("; {refused} of {} {is} refused and may be better", refused + valued.len()));
    }
    Some(text + ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_cell_is_named_without_saying_its_axis_twice() {
        let grid = |axis: Axis, labels: [&str; 3]| {
            let cell = |value| {
                let status = MetricStatus::Measured;
                Some(GridCell { phase: 0, value: Some(value), status, reasons: Vec::new(), unsteady: false })
            };
            let rows = [("read", [1e9, 2e9, 3e9]), ("write", [1e9, 1e9, 1e9])];
            let rows = rows.map(|(name, values)| (name.to_owned(), values.map(cell).to_vec())).to_vec();
            let columns = labels.map(str::to_owned).to_vec();
            grid_answer(&Grid { axis: axis.name(), columns, rows, unit: Unit::BytesPerS }).unwrap_or_default()
        };
        let jobs = grid(Axis::Jobs, ["1 job", "2 jobs", "4 jobs"]);
        assert!(jobs.starts_with("The best is 3 000 MB/s (read, 4 jobs);"), "{jobs}");
        let blocks = grid(Axis::Block, ["4 KiB", "64 KiB", "1 MiB"]);
        assert!(blocks.starts_with("The best is 3 000 MB/s (read, block size 1 MiB);"), "{blocks}");
    }

    #[test]
    fn names_have_a_stem() {
        assert_eq!(stem(&["random-read-4KiB", "random-read-16KiB"]), "random-read");
        assert_eq!(stem(&["read-1", "read-2", "read-16"]), "read");
        assert_eq!(stem(&["é1", "è1"]), "");
        assert_eq!(stem(&[]), "");
    }
}
