//! A table before it is laid out.

use super::{Note, Tone};
use crate::quantity::Shown;
use model::{CompactSort as _, Reason};

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Nothing to say.
    Empty,
    /// A number that stands, and the 99th percentile behind it.
    Value { shown: Shown, p99: Option<String>, unsteady: bool },
    /// A number whose unit stands elsewhere, or a word or two.
    Text(String),
    /// Words that are shortened where there is no room.
    Words(String),
    /// The best of its row.
    Best(String),
    /// No number, in a word, with the code of the reason and its note, counted from 1.
    Without { word: &'static str, code: Option<String>, note: Option<usize>, bad: bool },
    /// A number that is not trusted, in brackets, and why.
    Doubted { shown: Shown, note: Option<usize> },
    /// A share of the highest as a bar, and whether the knee is here.
    Bar { share: f64, knee: bool },
    /// A change, and the interval that holds it.
    Change { change: String, interval: Option<String> },
    /// The same, drawn.
    Interval(Span),
    /// A series, value by value.
    Spark(Vec<f64>),
    /// An answer in a word.
    Answer(Tone, String),
    /// A value, what it is of the best, and its place.
    Ranked { value: String, of_best: String, place: String },
}

/// What the middle and the ends of an interval's axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Logarithms of ratios around 0, as far as the widest of the table.
    Ratio,
    /// From -1 to 1.
    Correlation,
}

/// An interval with its point on an axis; what is not known is not drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub axis: Axis,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub point: Option<f64>,
    /// Half the width of what counts as the same.
    pub margin: Option<f64>,
}

impl Span {
    fn ends(&self) -> impl Iterator<Item = f64> {
        [self.low, self.high, self.point].into_iter().flatten().filter(|v| v.is_finite())
    }
}

/// Letters of a series.
const SPARK: usize = 20;
/// Cells of a bar at its longest.
const BAR: f64 = 12.0;

/// The sign between a value and the half-width of its interval, where any letter can be shown.
pub(crate) const PLUS_MINUS: &str = "±";

impl Cell {
    /// In one line; `ascii` where other letters cannot be shown.
    pub fn text(&self, ascii: bool) -> String {
        match self {
            Self::Empty | Self::Interval(_) => String::new(),
            Self::Spark(values) => crate::spark::whole(values, SPARK, ascii),
            Self::Text(text) | Self::Words(text) | Self::Best(text) | Self::Answer(_, text) => text.clone(),
            Self::Change { change, .. } => change.clone(),
            Self::Ranked { of_best, place, .. } if place.is_empty() => of_best.clone(),
            Self::Ranked { of_best, place, .. } => format!("{of_best} {place:<2}"),
            Self::Value { shown, p99, unsteady } => {
                let value = shown.with_interval(if ascii { "+/-" } else { PLUS_MINUS });
                let p99 = p99.as_ref().map(|p99| format!(", p99 {p99}")).unwrap_or_default();
                format!("{}{value}{p99}", if *unsteady { "~" } else { "" })
            }
            Self::Doubted { shown, note } => {
                format!("({})!{}", shown.value(), note.map(|n| n.to_string()).unwrap_or_default())
            }
            Self::Without { word, code, note, .. } => {
                let code = code.as_ref().map(|code| format!(": {code}")).unwrap_or_default();
                let note = note.map(|n| format!(" [{n}]")).unwrap_or_default();
                format!("{word}{code}{note}").trim_start().to_owned()
            }
            Self::Bar { share, knee } => {
                let bar = if ascii { "#" } else { "█" }.repeat((share * BAR).round() as usize);
                let mark = if *knee { if ascii { " <- knee" } else { " ← knee" } } else { "" };
                format!("{bar}{mark}").trim_start().to_owned()
            }
        }
    }

    pub fn tone(&self) -> Tone {
        match self {
            Self::Best(_) => Tone::Good,
            Self::Doubted { .. } | Self::Without { bad: true, .. } => Tone::Bad,
            Self::Without { bad: false, .. } => Tone::Doubt,
            Self::Answer(tone, _) => *tone,
            _ => Tone::Plain,
        }
    }

    /// Whether it stands left in its column.
    pub fn is_left(&self) -> bool {
        matches!(self, Self::Bar { .. } | Self::Spark(_) | Self::Interval(_) | Self::Answer(..) | Self::Words(_))
    }
}

/// A row: what it is of, and its cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub label: String,
    /// Which of several with this label.
    pub variant: &'static str,
    /// Part of the row above.
    pub inner: bool,
    /// Kept, but no result.
    pub dim: bool,
    pub cells: Vec<Cell>,
}

impl Row {
    pub fn new(label: impl Into<String>, cells: Vec<Cell>) -> Self {
        Self { label: label.into(), variant: "", inner: false, dim: false, cells }
    }

    /// What the inner rows below are of.
    pub fn group(label: impl Into<String>) -> Self {
        Self::new(label, Vec::new())
    }

    /// Label and variant in one.
    pub fn name(&self) -> String {
        if self.variant.is_empty() { self.label.clone() } else { format!("{}, {}", self.label, self.variant) }
    }
}

/// How a table is laid out where there is room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    #[default]
    Columns,
    /// Reading and writing side by side, with a line a number where that does not fit.
    Sides,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub layout: Layout,
    /// What it shows, in which unit; may be empty.
    pub caption: String,
    /// What the labels are.
    pub corner: &'static str,
    pub head: Vec<String>,
    /// Columns that only a page has room for.
    pub page_only: Vec<usize>,
    pub rows: Vec<Row>,
    /// What has to be said of the whole.
    pub footer: Vec<String>,
}

impl Table {
    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.rows.iter().flat_map(|r| &r.cells)
    }

    /// Half the width of the axis of ratios: as far as the widest of them, but for what is wider than `most`; at least 10 %.
    pub fn scale(&self, most: f64) -> f64 {
        let spans = self.cells().filter_map(|c| if let Cell::Interval(span) = c { Some(span) } else { None });
        let widest = spans.filter(|s| s.axis == Axis::Ratio).flat_map(Span::ends).map(f64::abs).fold(0.0, f64::max);
        widest.clamp(1.1f64.ln(), most.ln())
    }

    /// The axis of a column of intervals.
    pub fn axis(&self, column: usize) -> Option<Axis> {
        self.rows
            .iter()
            .find_map(|r| if let Some(Cell::Interval(span)) = r.cells.get(column) { Some(span.axis) } else { None })
    }

    /// Whether a column stands left, as its head does.
    pub fn is_left(&self, column: usize) -> bool {
        self.rows.iter().filter_map(|r| r.cells.get(column)).any(Cell::is_left)
    }

    /// Without the columns that are drawn, where somebody draws them larger or cannot draw.
    pub fn undrawn(&self) -> Self {
        let drawn: Vec<usize> = (0..self.head.len()).filter(|i| self.axis(*i).is_some()).collect();
        let page_only: Vec<usize> =
            self.page_only.iter().map(|i| i - drawn.iter().filter(|d| *d < i).count()).collect();
        Self { page_only, ..self.without(&drawn) }
    }

    /// Without some columns.
    pub fn without(&self, columns: &[usize]) -> Self {
        fn stay<T: Clone>(all: &[T], gone: &[usize]) -> Vec<T> {
            all.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, cell)| cell.clone()).collect()
        }
        let mut table = self.clone();
        table.head = stay(&self.head, columns);
        table.rows.iter_mut().for_each(|row| row.cells = stay(&row.cells, columns));
        table.page_only.clear();
        table
    }

    /// Without the columns for which there is no room.
    pub fn narrow(&self) -> Self {
        self.without(&self.page_only)
    }
}

/// A note, and the reasons that it gives where it does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NoteText {
    pub text: String,
    pub reasons: Vec<Reason>,
}

/// The notes that the cells of these tables point to.
pub(crate) fn notes(texts: Vec<NoteText>, tables: &[&Table]) -> Vec<Note> {
    let doubted = |n: usize| {
        tables.iter().flat_map(|t| t.cells()).any(|c| matches!(c, Cell::Doubted { note: Some(note), .. } if *note == n))
    };
    texts.into_iter().enumerate().map(|(i, note)| Note { text: note.text, of_doubted: doubted(i + 1) }).collect()
}

/// What happened to most of the numbers of a table that are not trusted, in one sentence; `None` where all are.
pub(crate) fn doubt(table: &Table, notes: &[NoteText]) -> Option<String> {
    let doubtful = table.cells().filter(|c| matches!(c, Cell::Doubted { .. })).count();
    let all = table.cells().filter(|c| matches!(c, Cell::Value { .. })).count() + doubtful;
    // Each reason once a number, by its code: the figures in its sentence differ from one number to the next.
    let mut counted: Vec<(Option<&str>, String, usize)> = Vec::new();
    for cell in table.cells() {
        let Cell::Doubted { note: Some(note), .. } = cell else { continue };
        let reasons = notes.get(note - 1).into_iter().flat_map(|n| n.reasons.iter().enumerate());
        let mut own: Vec<Option<&str>> = Vec::new();
        for (_, reason) in reasons.filter(|(i, r)| *i == 0 || r.code().is_some()) {
            if own.contains(&reason.code()) {
                continue;
            }
            own.push(reason.code());
            match counted.iter_mut().find(|(code, ..)| *code == reason.code()) {
                Some((.., n)) => *n += 1,
                None => counted.push((reason.code(), reason.text(), 1)),
            }
        }
    }
    counted.compact_sort_by_key(|(.., n)| std::cmp::Reverse(*n));
    let what = match counted.as_slice() {
        [] => return None,
        [(_, sentence, n)] if *n == doubtful => sentence.clone(),
        several => several.iter().map(|(_, sentence, n)| format!("{sentence} ({n})")).collect::<Vec<_>>().join("; "),
    };
    let verb = match (doubtful, all) {
        (1, 1) => "number is",
        (1, _) => "numbers is",
        _ => "numbers are",
    };
    (doubtful > 0).then(|| format!("{doubtful} of {all} {verb} doubtful: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_has_its_reasons_with_counts_the_commonest_first() {
        let shown = || Shown { number: "1".into(), unit: "", half_width: None };
        let doubted = |note| Cell::Doubted { shown: shown(), note: Some(note) };
        let table = |cells| Table { rows: vec![Row::new("row", cells)], ..Table::default() };
        let note = |reasons: &[Reason]| NoteText { reasons: reasons.to_vec(), ..NoteText::default() };
        let steal = |percent| Reason::Steal { percent };
        let others = |text: &str| Reason::of("foreign-traffic", text);
        let notes = [
            note(&[steal(7.0)]),
            note(&[others("another program used the disk"), "and more".into(), steal(16.0)]),
            note(&[others("another program used the disk, 2 MB/s")]),
        ];
        let good = Cell::Value { shown: shown(), p99: None, unsteady: false };
        let cells = vec![doubted(1), doubted(2), doubted(3), doubted(3), good.clone()];
        assert_eq!(
            doubt(&table(cells), &notes).unwrap(),
            "4 of 5 numbers are doubtful: another program used the disk (3); the hypervisor took up to 7 % of a CPU's time (2)"
        );
        let all = vec![doubted(1), good.clone()];
        assert_eq!(
            doubt(&table(all), &notes).unwrap(),
            "1 of 2 numbers is doubtful: the hypervisor took up to 7 % of a CPU's time"
        );
        assert_eq!(doubt(&table(vec![good]), &notes), None);
    }
}
