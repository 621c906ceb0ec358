//! A table of reading and writing in text: two columns of numbers, each with its tail where all have room for it.

use super::paint::painted;
use super::{Cell, Row, Table};
use crate::text::{first_words, pad, plain, width};
use crate::{Paint, Style};

/// Columns of the labels in front of the two columns of numbers, and of what has a label like them.
pub(super) const LABEL_COLUMNS: usize = 22;
/// The least columns in which two columns of numbers stand side by side.
pub(super) const TABLE_COLUMNS: usize = 60;

/// How much is shown beside a number, as far as the columns allow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Number,
    Interval,
    Tail,
}

/// Where numbers end and where tail latencies start in one column of the table.
struct Ends {
    number: usize,
    value: usize,
}

fn ends(table: &Table, side: usize, style: &Style) -> Ends {
    let values: Vec<_> = table
        .rows
        .iter()
        .filter_map(|r| if let Cell::Value { shown, p99, .. } = &r.cells[side] { Some((shown, p99)) } else { None })
        .collect();
    let number = values.iter().map(|(s, _)| width(&s.number)).max().unwrap_or(0);
    let tailed = values.iter().filter(|(_, p99)| p99.is_some());
    let value =
        tailed.map(|(s, _)| width(&s.with_interval(style.plus_minus())) + number - width(&s.number)).max().unwrap_or(0);
    Ends { number, value }
}

fn cell_text(cell: &Cell, ends: &Ends, detail: Detail, room: usize, style: &Style) -> String {
    match cell {
        Cell::Value { shown, p99, .. } => {
            let lead = " ".repeat(ends.number.saturating_sub(width(&shown.number)));
            let interval = format!("{lead}{}", shown.with_interval(style.plus_minus()));
            match (detail, p99) {
                (Detail::Number, _) => format!("{lead}{}", shown.value()),
                (Detail::Tail, Some(p99)) => format!("{}  p99 {p99}", pad(&interval, ends.value)),
                _ => interval,
            }
        }
        Cell::Without { word, code, note, .. } => {
            let note = note.map(|n| format!(" [{n}]")).unwrap_or_default();
            let code = code.as_deref().map(|c| format!(": {}", plain(c, style.ascii))).unwrap_or_default();
            let room = room.saturating_sub(width(&note) + 1);
            format!("{}{note}", first_words(&format!("{word}{code}"), room))
        }
        other => other.text(style.ascii),
    }
}

pub(super) fn render(table: &Table, columns: usize, style: &Style) -> Vec<String> {
    if columns < TABLE_COLUMNS {
        return lines(table, style);
    }
    let column = (columns - LABEL_COLUMNS) / 2;
    let ends = [ends(table, 0, style), ends(table, 1, style)];
    let text = |r: &Row, side: usize, detail| cell_text(&r.cells[side], &ends[side], detail, column, style);
    // Detail is shown beside every number or beside none: a column half filled misleads.
    let fits = |detail: Detail| {
        table.rows.iter().all(|r| width(&text(r, 0, detail)) < column && width(&text(r, 1, detail)) <= column)
    };
    let detail = [Detail::Tail, Detail::Interval].into_iter().find(|d| fits(*d)).unwrap_or(Detail::Number);
    let head = format!("{}{}{}", " ".repeat(LABEL_COLUMNS), pad(&table.head[0], column), table.head[1]);
    let mut out = vec![style.paint(Paint::Dim, &head)];
    let mut above = "";
    for r in &table.rows {
        let own = if r.label == above { "" } else { &r.label };
        above = &r.label;
        let label = pad(&format!("  {} {}", pad(own, 10), r.variant), LABEL_COLUMNS);
        let (left, right) = (text(r, 0, detail), text(r, 1, detail));
        let gap = " ".repeat(column.saturating_sub(width(&left)));
        out.push(format!("{label}{}{gap}{}", painted(&r.cells[0], &left, style), painted(&r.cells[1], &right, style)));
    }
    out
}

/// Where two columns of numbers do not fit: a number a line, without details.
fn lines(table: &Table, style: &Style) -> Vec<String> {
    let mut out = Vec::new();
    for r in &table.rows {
        for (word, cell) in table.head.iter().zip(&r.cells) {
            // "sync write 4K" says already what is done.
            let word = if r.label.contains("write") { "" } else { word };
            let text = match cell {
                Cell::Empty => continue,
                Cell::Value { shown, .. } => shown.value(),
                Cell::Without { word, note, bad, .. } => {
                    Cell::Without { word, code: None, note: *note, bad: *bad }.text(style.ascii)
                }
                other => other.text(style.ascii),
            };
            let label = [&r.label, r.variant, word].into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
            let label = pad(&label.replace("depth ", "qd"), LABEL_COLUMNS);
            out.push(format!("  {label}{}", painted(cell, &text, style)));
        }
    }
    out
}
