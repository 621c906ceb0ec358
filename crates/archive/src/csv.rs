//! Comma-separated values after RFC 4180, as far as the archive writes them: a header line, `\n` line ends, quotes only
//! where needed. The reader also accepts `\r\n`, and it knows which line it is on.

use crate::{ArchiveError, Result};
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// How to meet a line that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tolerance {
    /// It is an error: the bundle was whole once.
    Strict,
    /// It and all after it are dropped, with a remark: a crash cut the file off.
    DropTail,
}

/// Collects the lines of a file.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    text: String,
    started: bool,
}

impl Writer {
    /// A text cell, quoted where it must be.
    pub fn text(&mut self, cell: &str) -> &mut Self {
        self.separate();
        if cell.contains([',', '"', '\n', '\r']) {
            self.text.push('"');
            self.text.push_str(&cell.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(cell);
        }
        self
    }

    /// A number.
    pub fn number(&mut self, cell: impl std::fmt::Display) -> &mut Self {
        self.separate();
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{cell}");
        self
    }

    /// A number, or a blank cell.
    pub fn optional(&mut self, cell: Option<u64>) -> &mut Self {
        match cell {
            Some(v) => self.number(v),
            None => self.text(""),
        }
    }

    /// `n` blank cells.
    pub fn blanks(&mut self, n: usize) -> &mut Self {
        (0..n).for_each(|_| {
            self.text("");
        });
        self
    }

    /// Ends the line.
    pub fn end(&mut self) {
        self.text.push('\n');
        self.started = false;
    }

    /// A whole line of texts.
    pub fn line<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) {
        for cell in cells {
            self.text(cell);
        }
        self.end();
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.started, true) {
            self.text.push(',');
        }
    }

    /// All lines.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// The text of a file, checked for UTF-8.
///
/// # Errors
/// [`ArchiveError::Corrupt`] where it is not, unless the tail may be dropped.
pub(crate) fn utf8<'a>(path: &Path, content: &'a [u8], tolerance: Tolerance) -> Result<&'a str> {
    std::str::from_utf8(content).or_else(|e| {
        let good = &content[..e.valid_up_to()];
        let line = good.iter().filter(|b| **b == b'\n').count() as u64 + 1;
        match tolerance {
            Tolerance::Strict => Err(ArchiveError::corrupt(path, Some(line), "it is not UTF-8")),
            Tolerance::DropTail => Ok(std::str::from_utf8(good).unwrap_or_default()),
        }
    })
}

/// One line.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// Its cells.
    pub cells: Vec<Cow<'a, str>>,
}

impl<'a> Row<'a> {
    /// A cell; blank if the row is too short.
    pub fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", |c| c.as_ref())
    }

    /// A whole number that must be there.
    pub fn u64(&self, column: usize) -> std::result::Result<u64, String> {
        let cell = self.cell(column);
        cell.parse().map_err(|_| format!("column {}: '{}' is not a whole number", column + 1, shortened(cell)))
    }

    /// A whole number, or `None` for a blank.
    pub fn optional(&self, column: usize) -> std::result::Result<Option<u64>, String> {
        if self.cell(column).is_empty() { Ok(None) } else { self.u64(column).map(Some) }
    }
}

fn shortened(cell: &str) -> String {
    cell.chars().take(40).flat_map(char::escape_default).collect()
}

/// Splits a text into rows.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a str,
    line: u64,
    columns: Option<usize>,
}

impl<'a> Reader<'a> {
    /// A reader at the start of a text.
    pub fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, columns: None }
    }

    /// The line that comes next, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The next row; `None` at the end. All rows must have as many cells as the first.
    pub fn row(&mut self) -> Option<std::result::Result<Row<'a>, String>> {
        if self.rest.is_empty() {
            return None;
        }
        Some(self.split().map(|cells| Row { cells }).and_then(|row| match self.columns {
            Some(n) if n != row.cells.len() => Err(format!("it has {} cells, the header has {n}", row.cells.len())),
            _ => {
                self.columns = Some(row.cells.len());
                Ok(row)
            }
        }))
    }

    fn split(&mut self) -> std::result::Result<Vec<Cow<'a, str>>, String> {
        let mut cells = Vec::new();
        loop {
            let (cell, end) = if let Some(quoted) = self.rest.strip_prefix('"') {
                let (cell, after) = unquote(quoted)?;
                self.line += cell.matches('\n').count() as u64;
                self.rest = after;
                let end = self.rest.find([',', '\n']).ok_or("the line is cut off")?;
                if !matches!(&self.rest[..end], "" | "\r") {
                    return Err("text follows a closing quote".into());
                }
                (cell, end)
            } else {
                let end = self.rest.find([',', '\n']).ok_or("the line is cut off")?;
                (Cow::Borrowed(&self.rest[..end]), end)
            };
            let ends = self.rest.as_bytes()[end] == b'\n';
            self.rest = &self.rest[end + 1..];
            cells.push(match cell {
                Cow::Borrowed(c) if ends => Cow::Borrowed(c.strip_suffix('\r').unwrap_or(c)),
                other => other,
            });
            if ends {
                self.line += 1;
                return Ok(cells);
            }
        }
    }
}

fn unquote(text: &str) -> std::result::Result<(Cow<'_, str>, &str), String> {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"').ok_or("a quote is not closed")?;
        cell.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                cell.push('"');
                rest = after;
            }
            None => return Ok((Cow::Owned(cell), rest)),
        }
    }
}

/// What [`each_row`] read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The line from which on everything was dropped, and why.
    pub dropped: Option<(u64, String)>,
}

/// Calls `header` with the first row and `row` with each other one, at most `row_limit` of them.
///
/// # Errors
/// [`ArchiveError::Corrupt`] with the line, unless the tail may be dropped.
pub(crate) fn each_row<H>(
    path: &Path,
    text: &str,
    tolerance: Tolerance,
    row_limit: usize,
    header: impl FnOnce(&Row<'_>) -> std::result::Result<H, String>,
    mut row: impl FnMut(&H, &Row<'_>) -> std::result::Result<(), String>,
) -> Result<Outcome> {
    let mut reader = Reader::new(text);
    let body = || -> std::result::Result<(), (u64, String)> {
        let mut line = reader.line();
        let first = reader.row().unwrap_or_else(|| Err("it has no header".into())).map_err(|e| (line, e))?;
        let columns = header(&first).map_err(|e| (line, e))?;
        for n in 0.. {
            line = reader.line();
            let Some(next) = reader.row() else { break };
            if n == row_limit {
                return Err((line, format!("it has more than {row_limit} rows")));
            }
            next.and_then(|r| row(&columns, &r)).map_err(|e| (line, e))?;
        }
        Ok(())
    };
    match (body(), tolerance) {
        (Ok(()), _) => Ok(Outcome { dropped: None }),
        (Err(dropped), Tolerance::DropTail) => Ok(Outcome { dropped: Some(dropped) }),
        (Err((line, reason)), Tolerance::Strict) => Err(ArchiveError::corrupt(path, Some(line), reason)),
    }
}

/// The positions of named columns.
pub(crate) fn columns<const N: usize>(header: &Row<'_>, names: [&str; N]) -> std::result::Result<[usize; N], String> {
    let mut found = [0; N];
    for (slot, name) in found.iter_mut().zip(names) {
        *slot = header.cells.iter().position(|c| c == name).ok_or_else(|| format!("it has no column '{name}'"))?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> std::result::Result<Vec<Vec<String>>, String> {
        let mut reader = Reader::new(text);
        let mut rows = Vec::new();
        while let Some(row) = reader.row() {
            rows.push(row?.cells.into_iter().map(Cow::into_owned).collect());
        }
        Ok(rows)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec(prop::collection::vec(".*|[,\"\n\r]*", 3), 1..6)) {
            let mut writer = Writer::default();
            for row in &rows {
                writer.line(row.iter().map(String::as_str));
            }
            prop_assert_eq!(read(&writer.into_text()), Ok(rows));
        }

        #[test]
        fn nothing_panics(text in ".*|[a,\"\n\r]*") {
            let _ = read(&text);
        }
    }

    #[test]
    fn lines_are_counted_through_quotes() {
        let mut reader = Reader::new("a,b\n\"x\ny\",1\n2\n");
        assert_eq!(reader.row().unwrap().unwrap().cells, ["a", "b"]);
        assert_eq!(reader.line(), 2);
        assert_eq!(reader.row().unwrap().unwrap().cells, ["x\ny", "1"]);
        assert_eq!(reader.line(), 4);
        assert_eq!(reader.row().unwrap().unwrap_err(), "it has 1 cells, the header has 2");
        assert!(reader.row().is_none());
    }

    #[test]
    fn a_line_without_its_end_is_cut_off() {
        assert_eq!(read("a,b\n1,2"), Err("the line is cut off".into()));
        assert_eq!(read("a,b\r\n1,2\r\n").unwrap()[1], ["1", "2"]);
    }
}
