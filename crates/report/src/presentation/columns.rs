//! A table in columns of text.

use super::{Cell, Row, Table};
use crate::text::{GLUE, pad, shorten, width, wrap};
use crate::{Paint, Style};

/// The least columns of labels that a table is still a table with.
const LEAST_LABEL: usize = 12;
const GAP: usize = 2;

fn label(row: &Row) -> String {
    format!("{}{}", if row.inner { "  " } else { "" }, row.label)
}

/// A head in two lines, of which the upper one is mostly empty: words that are longer than what stands below them. A value
/// with its unit stays together.
fn head_lines(head: &str) -> (&str, &str) {
    head.rsplit_once(' ').filter(|_| !head.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(("", head))
}

fn widths(table: &Table, style: &Style) -> Vec<usize> {
    let of = |column: usize| {
        let cells = table.rows.iter().filter_map(|r| r.cells.get(column)).map(|c| width(&c.text(style.ascii)));
        let (upper, lower) = head_lines(&table.head[column]);
        cells.max().unwrap_or(0).max(width(upper)).max(width(lower))
    };
    (0..table.head.len()).map(of).collect()
}

/// Columns that the table takes beside its labels.
fn beside(widths: &[usize]) -> usize {
    widths.iter().map(|w| w + GAP).sum()
}

/// Whether the table stands in so many columns with all its labels whole.
fn fits(table: &Table, columns: usize, style: &Style) -> bool {
    let labels = table.rows.iter().map(|r| width(&label(r))).max().unwrap_or(0);
    labels + beside(&widths(table, style)) <= columns
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
    if fits(table, columns, style) {
        return plain(table, &widths(table, style), columns, style);
    }
    let with_bars = reduced(table, true);
    let table = &if fits(&with_bars, columns, style) { with_bars } else { reduced(table, false) };
    let widths = widths(table, style);
    if beside(&widths) + LEAST_LABEL <= columns || fits(table, columns, style) {
        return plain(table, &widths, columns, style);
    }
    let widest = widths.iter().copied().max().unwrap_or(0) + GAP;
    let room = (columns - LEAST_LABEL) / widest.max(1);
    if room >= 3 {
        let mut out = Vec::new();
        for first in (0..table.head.len()).step_by(room) {
            let last = (first + room).min(table.head.len());
            let rows = table.rows.iter().map(|r| Row { cells: r.cells[first..last].to_vec(), ..r.clone() });
            let part = Table { head: table.head[first..last].to_vec(), rows: rows.collect(), ..Table::default() };
            if first > 0 {
                out.push(String::new());
            }
            out.extend(plain(&part, &widths[first..last], columns, style));
        }
        return out;
    }
    lists(table, columns, style)
}

fn plain(table: &Table, widths: &[usize], columns: usize, style: &Style) -> Vec<String> {
    let longest = table.rows.iter().map(|r| width(&label(r))).max().unwrap_or(0);
    let labels = longest.min(columns.saturating_sub(beside(widths)));
    // A column of drawings stands left, as its head does.
    let drawn = |column: usize| {
        let mut cells = table.rows.iter().filter_map(|r| r.cells.get(column));
        cells.any(|c| matches!(c, Cell::Bar { .. }))
    };
    let place = |column: usize, text: &str, painted: String| {
        let fill = " ".repeat(widths[column].saturating_sub(width(text)));
        if drawn(column) { format!("{}{painted}{fill}", " ".repeat(GAP)) } else { format!("  {fill}{painted}") }
    };
    let mut out = Vec::new();
    let heads: [fn(&str) -> &str; 2] = [|h| head_lines(h).0, |h| head_lines(h).1];
    for part in heads {
        let head: String = table.head.iter().enumerate().map(|(i, h)| place(i, part(h), part(h).to_owned())).collect();
        if !head.trim().is_empty() {
            out.push(style.paint(Paint::Dim, format!("{}{head}", " ".repeat(labels)).trim_end()));
        }
    }
    for row in &table.rows {
        let own = label(row);
        let mut line = if width(&own) <= labels {
            pad(&own, labels)
        } else {
            out.push(shorten(&own, columns, style.ascii));
            " ".repeat(labels)
        };
        for (i, cell) in row.cells.iter().enumerate() {
            let text = cell.text(style.ascii);
            let painted = cell.paint().map_or_else(|| text.clone(), |p| style.paint(p, &text));
            line.push_str(&place(i, &text, painted));
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
        let filled = row.cells.iter().enumerate().filter(|(_, c)| !matches!(c, Cell::Empty | Cell::Bar { .. }));
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
