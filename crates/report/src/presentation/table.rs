//! A table before it is laid out.

use super::Note;
use crate::Paint;
use crate::quantity::Shown;
use model::Reason;

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Nothing to say.
    Empty,
    /// A number that stands, and the 99th percentile behind it.
    Value { shown: Shown, p99: Option<String>, unsteady: bool },
    /// Words, or a number whose unit stands elsewhere.
    Text(String),
    /// The best of its row.
    Best(String),
    /// No number, in a word, with the code of the reason and its note, counted from 1.
    Without { word: &'static str, code: Option<String>, note: Option<usize>, bad: bool },
    /// A number that is not trusted, in brackets, and why.
    Doubted { shown: Shown, note: Option<usize> },
    /// A share of the highest as a bar, and whether the knee is here.
    Bar { share: f64, knee: bool },
}

/// Cells of a bar at its longest.
const BAR: f64 = 12.0;

/// The sign between a value and the half-width of its interval, where any letter can be shown.
pub(crate) const PLUS_MINUS: &str = "±";

impl Cell {
    /// In one line; `ascii` where other letters cannot be shown.
    pub fn text(&self, ascii: bool) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) | Self::Best(text) => text.clone(),
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

    pub fn paint(&self) -> Option<Paint> {
        match self {
            Self::Best(_) => Some(Paint::Accent),
            Self::Doubted { .. } | Self::Without { bad: true, .. } => Some(Paint::Bad),
            Self::Without { bad: false, .. } => Some(Paint::Warn),
            Self::Bar { .. } => Some(Paint::Dim),
            Self::Empty | Self::Value { .. } | Self::Text(_) => None,
        }
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
    pub head: Vec<String>,
    pub rows: Vec<Row>,
    /// What has to be said of the whole.
    pub footer: Vec<String>,
}

impl Table {
    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.rows.iter().flat_map(|r| &r.cells)
    }
}

/// The notes that the cells of these tables point to.
pub(crate) fn notes(texts: Vec<String>, tables: &[&Table]) -> Vec<Note> {
    let doubted = |n: usize| {
        tables.iter().flat_map(|t| t.cells()).any(|c| matches!(c, Cell::Doubted { note: Some(note), .. } if *note == n))
    };
    texts.into_iter().enumerate().map(|(i, text)| Note { text, of_doubted: doubted(i + 1) }).collect()
}

/// What happened to most of the numbers of a table that are not trusted, in one sentence; `None` where all are.
pub(crate) fn doubt(table: &Table, notes: &[String]) -> Option<String> {
    let of = |number: usize| move |c: &&Cell| matches!(c, Cell::Doubted { note: Some(n), .. } if *n == number);
    let doubtful = table.cells().filter(|c| matches!(c, Cell::Doubted { .. })).count();
    let all = table.cells().filter(|c| matches!(c, Cell::Value { .. })).count() + doubtful;
    let most = (1..=notes.len()).max_by_key(|n| (table.cells().filter(of(*n)).count(), std::cmp::Reverse(*n)))?;
    let what = notes.get(most - 1)?;
    let what = what.split("; ").next().map_or("", |first| Reason::of(first).sentence);
    let verb = match (doubtful, all) {
        (1, 1) => "number is",
        (1, _) => "numbers is",
        _ => "numbers are",
    };
    (doubtful > 0).then(|| format!("{doubtful} of {all} {verb} doubtful: {what}"))
}
