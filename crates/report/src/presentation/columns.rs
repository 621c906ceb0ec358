//! A table in columns of text.

use super::paint::painted;
use super::{Cell, Row, Table, interval};
use crate::text::{GLUE, pad, shorten, width, wrap};
use crate::{Paint, Style};

/// The least columns of labels that a table is still a table with.
const LEAST_LABEL: usize = 12;
/// The most, where a table is cut into several to have room for them.
const MOST_LABEL: usize = 24;
const GAP: usize = 2;
/// Columns that words keep where there is little room.
const LEAST_WORDS: usize = 8;

fn label(row: &Row) -> String {
    format!("{}{}", if row.inner { "  " } else { "" }, row.label)
}

/// A head in lines of at most so many columns, broken at its separators. A value with its unit stays together.
fn head_lines(head: &str, room: usize) -> Vec<String> {
    if head.starts_with(|c: char| c.is_ascii_digit()) {
        return vec![head.to_owned()];
    }
    let mut pieces = vec![String::new()];
    for c in head.chars() {
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
        if SEPARATORS.contains(&c) {
            pieces.push(String::new());
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for c in pieces
        .iter()
        .flat_map(|p| if width(p.trim_end()) <= room { vec![p.clone()] } else { p.chars().map(String::from).collect() })
    {
        match lines.last_mut() {
            Some(line) if width(line) + width(c.trim_end()) <= room => line.push_str(&c),
            _ => lines.push(c),
        }
    }
    lines.into_iter().map(|l| l.trim_end().to_owned()).filter(|l| !l.is_empty()).collect()
}

/// Columns that a head may have however narrow what stands below it is, and those up to which its pieces stay whole.
const HEAD: (usize, usize) = (7, 10);

/// Where a head may be broken.
const SEPARATORS: [char; 5] = ['.', '_', '-', ' ', '/'];

fn widths(table: &Table, style: &Style) -> Vec<usize> {
    let of = |column: usize| {
        if let Some(axis) = table.axis(column) {
            return interval::columns(axis);
        }
        let cells = table.rows.iter().filter_map(|r| r.cells.get(column)).map(|c| width(&c.text(style.ascii)));
        let cells = cells.max().unwrap_or(0);
        let piece = table.head[column].split(SEPARATORS).map(|p| width(p) + 1).max().unwrap_or(0).min(HEAD.1);
        let head = head_lines(&table.head[column], cells.max(piece).max(HEAD.0));
        head.iter().map(|l| width(l)).max().unwrap_or(0).max(cells)
    };
    (0..table.head.len()).map(of).collect()
}

/// Columns that the table takes beside its labels.
fn beside(widths: &[usize], gap: usize) -> usize {
    widths.iter().map(|w| w + gap).sum()
}

/// Columns that its labels take.
fn labels(table: &Table) -> usize {
    table.rows.iter().map(|r| width(&label(r))).max().unwrap_or(0)
}

/// Whether the table stands in so many columns with all its labels whole.
fn fits(table: &Table, columns: usize, gap: usize, style: &Style) -> bool {
    labels(table) + beside(&widths(table, style), gap) <= columns
}

/// The table without its intervals and, if need be, its bars: what is least missed goes first.
fn reduced(table: &Table, bars: bool) -> Table {
    let mut table = table.clone();
    for cell in table.rows.iter_mut().flat_map(|r| &mut r.cells) {
        match cell {
            Cell::Value { shown, .. } => shown.half_width = None,
            Cell::Bar { share, .. } if !bars => *share = 0.0,
            _ => {}
        }
    }
    table
}

/// Lines of at most `columns`. Labels that leave no room stand in a line of their own; a table with too many columns is
/// cut into several; where not even that helps, each row becomes a list.
pub(super) fn render(table: &Table, columns: usize, style: &Style) -> Vec<String> {
    let (with_bars, bare) = (reduced(table, true), reduced(table, false));
    for (table, gap) in [(table, GAP), (&with_bars, GAP), (&bare, GAP), (&bare, GAP - 1)] {
        if fits(table, columns, gap, style) {
            return plain(table, &widths(table, style), gap, columns, style);
        }
    }
    let table = &bare;
    let mut widths = widths(table, style);
    // Words give way, the longest first.
    let is_words = |column: usize| table.rows.iter().any(|r| matches!(r.cells.get(column), Some(Cell::Words(_))));
    while labels(table) + beside(&widths, GAP) > columns
        && let Some(longest) = (0..widths.len()).filter(|i| is_words(*i)).max_by_key(|i| widths[*i])
        && widths[longest] > LEAST_WORDS
    {
        widths[longest] -= 1;
    }
    if beside(&widths, GAP) + labels(table).min(LEAST_LABEL) <= columns {
        return plain(table, &widths, GAP, columns, style);
    }
    let widest = widths.iter().copied().max().unwrap_or(0) + GAP;
    let room = (columns - labels(table).clamp(LEAST_LABEL, MOST_LABEL)) / widest.max(1);
    if room >= 3 {
        let mut out = Vec::new();
        for first in (0..table.head.len()).step_by(room) {
            let last = (first + room).min(table.head.len());
            let of_row = |r: &Row| Row { cells: r.cells.get(first..last).unwrap_or_default().to_vec(), ..r.clone() };
            // A row that says nothing here says it in another part.
            let says = |r: &Row| r.cells.is_empty() || r.cells.iter().any(|c| *c != Cell::Empty);
            let rows = table.rows.iter().map(of_row).filter(says);
            let part = Table { head: table.head[first..last].to_vec(), rows: rows.collect(), ..Table::default() };
            if first > 0 {
                out.push(String::new());
            }
            out.extend(plain(&part, &widths[first..last], GAP, columns, style));
        }
        return out;
    }
    lists(table, columns, style)
}

fn plain(table: &Table, widths: &[usize], gap: usize, columns: usize, style: &Style) -> Vec<String> {
    let labels = labels(table).min(columns.saturating_sub(beside(widths, gap)));
    // A column of drawings or words stands left, as its head does.
    let left: Vec<bool> = (0..table.head.len()).map(|column| table.is_left(column)).collect();
    let place = |column: usize, text: &str, painted: &str| {
        let fill = " ".repeat(widths[column].saturating_sub(width(text)));
        let gap = " ".repeat(gap);
        if left[column] { format!("{gap}{painted}{fill}") } else { format!("{gap}{fill}{painted}") }
    };
    let mut out = Vec::new();
    let heads: Vec<Vec<String>> = table
        .head
        .iter()
        .enumerate()
        .map(|(i, h)| {
            table.axis(i).map_or_else(|| head_lines(h, widths[i]), |axis| vec![interval::head(axis, style.ascii)])
        })
        .collect();
    let lines = heads.iter().map(Vec::len).max().unwrap_or(0);
    for i in 0..lines {
        // What has fewer lines stands on the numbers.
        let part = |h: &Vec<String>| (i + h.len()).checked_sub(lines).map_or(String::new(), |at| h[at].clone());
        let head: String = heads.iter().map(part).enumerate().map(|(i, h)| place(i, &h, &h)).collect();
        out.push(style.paint(Paint::Dim, format!("{}{head}", " ".repeat(labels)).trim_end()));
    }
    let scale = table.scale(interval::MOST);
    for row in &table.rows {
        let own = label(row);
        let mut line = if width(&own) <= labels {
            pad(&own, labels)
        } else {
            out.push(shorten(&own, columns, style.ascii));
            " ".repeat(labels)
        };
        for (i, cell) in row.cells.iter().enumerate() {
            let text = match cell {
                Cell::Interval(span) => interval::bar(span, scale, style.ascii),
                Cell::Words(words) => shorten(words, widths[i], style.ascii),
                other => other.text(style.ascii),
            };
            line.push_str(&place(i, &text, &painted(cell, &text, style)));
        }
        let line = line.trim_end();
        out.push(if row.dim { style.paint(Paint::Dim, line) } else { line.to_owned() });
    }
    out
}

fn lists(table: &Table, columns: usize, style: &Style) -> Vec<String> {
    let mut out = Vec::new();
    for row in &table.rows {
        let own = label(row);
        let indent = own.len() - own.trim_start().len();
        out.push(shorten(&own, columns, style.ascii));
        let filled = row
            .cells
            .iter()
            .enumerate()
            .filter(|(_, c)| !matches!(c, Cell::Empty | Cell::Bar { .. } | Cell::Interval(_)));
        let parts: Vec<String> = filled
            .map(|(i, c)| format!("{} {}", table.head[i], c.text(style.ascii)).trim().replace(' ', &GLUE.to_string()))
            .collect();
        for line in wrap(&parts.join(", "), columns.saturating_sub(indent + 2)) {
            out.push(format!("{}{}", " ".repeat(indent + 2), line.replace(GLUE, " ")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: usize) -> Table {
        let row =
            |label: &str| Row::new(label, (0..columns).map(|i| Cell::Text(format!("{i}23 MB/s"))).collect::<Vec<_>>());
        let rows = vec![row("read"), row("a-name-that-leaves-no-room-for-its-numbers")];
        Table { head: (0..columns).map(|i| format!("head{i}")).collect(), rows, ..Table::default() }
    }

    #[test]
    fn heads_break_at_separators_and_words_stay_whole_where_they_can() {
        assert_eq!(head_lines("read_iops_16k", 10), ["read_iops_", "16k"]);
        assert_eq!(head_lines("4 KiB", 3), ["4 KiB"]);
        let table = Table {
            head: vec!["seq-write throughput".into(), "存储存储存储存储".into()],
            rows: vec![Row::new("a", vec![Cell::Text("1".into()), Cell::Text("2".into())])],
            ..Table::default()
        };
        let lines = render(&table, 60, &Style::default());
        assert!(lines.iter().any(|l| l.contains("throughput")), "{lines:?}");
    }

    #[test]
    fn every_line_fits_however_many_columns_there_are() {
        for columns in [1, 3, 8, 20] {
            for wide in [40, 60, 80] {
                let lines = render(&table(columns), wide, &Style::default());
                for line in &lines {
                    assert!(width(line) <= wide, "{columns} in {wide}: {line}");
                }
                let all = lines.concat();
                for i in 0..columns {
                    assert!(all.contains(&format!("{i}23 MB/s")), "{columns} in {wide}: {i} is lost");
                }
            }
        }
    }
}
