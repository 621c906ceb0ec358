//! Comma-separated values after RFC 4180, as far as the archive writes them: a header line, `\n` line ends, quotes only
//! where needed. The reader also accepts `\r\n`, and it knows which line it is on.

use crate::{ArchiveError, Result};
use std::borrow::Cow;
use std::fmt::Write;
use std::io::{self, BufRead, Read};
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

    /// A line as it stands in a file.
    pub fn raw(&mut self, line: &str) {
        self.text.push_str(line);
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

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// The whole table, as text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// A line of a table, with its number for messages.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub cells: Vec<Cow<'a, str>>,
    /// As it stands in the file.
    pub raw: &'a str,
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

/// A longer line is none of a table: one of a machine with 4096 processors has a megabyte.
const LINE_LIMIT_BYTES: u64 = 8 << 20;

/// The rows of a table, read one by one: a table may be larger than memory.
#[derive(Debug)]
pub(crate) struct Rows<R> {
    source: R,
    buffer: Vec<u8>,
    line: u64,
    columns: Option<usize>,
}

impl<R: BufRead> Rows<R> {
    /// A reader at the start of a file.
    pub fn new(source: R) -> Self {
        Self { source, buffer: Vec::new(), line: 1, columns: None }
    }

    /// The next row; `None` at the end. All rows must have as many cells as the first. The first error is that of the file,
    /// the second one of the row.
    pub fn next(&mut self) -> io::Result<Option<std::result::Result<Row<'_>, String>>> {
        self.line += self.buffer.iter().filter(|b| **b == b'\n').count() as u64;
        self.buffer.clear();
        let mut quotes = 0;
        loop {
            let start = self.buffer.len();
            let room = LINE_LIMIT_BYTES.saturating_sub(start as u64);
            self.source.by_ref().take(room).read_until(b'\n', &mut self.buffer)?;
            let piece = &self.buffer[start..];
            quotes += piece.iter().filter(|b| **b == b'"').count();
            // A line break between quotes belongs to a cell.
            if piece.last() != Some(&b'\n') || quotes % 2 == 0 {
                break;
            }
        }
        if self.buffer.is_empty() {
            return Ok(None);
        }
        if self.buffer.len() as u64 >= LINE_LIMIT_BYTES {
            return Ok(Some(Err(format!("the line has more than {LINE_LIMIT_BYTES} bytes"))));
        }
        let Ok(raw) = std::str::from_utf8(&self.buffer) else { return Ok(Some(Err("it is not UTF-8".into()))) };
        let columns = &mut self.columns;
        Ok(Some(split(raw).map(|cells| Row { cells, raw }).and_then(|row| match *columns {
            Some(n) if n != row.cells.len() => Err(format!("it has {} cells, the header has {n}", row.cells.len())),
            _ => {
                *columns = Some(row.cells.len());
                Ok(row)
            }
        })))
    }

    /// The line at which the last row began, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }
}

fn split(mut rest: &str) -> std::result::Result<Vec<Cow<'_, str>>, String> {
    let mut cells = Vec::new();
    loop {
        let (cell, end) = if let Some(quoted) = rest.strip_prefix('"') {
            let (cell, after) = unquote(quoted)?;
            rest = after;
            let end = rest.find([',', '\n']).ok_or("the line is cut off")?;
            if !matches!(&rest[..end], "" | "\r") {
                return Err("text follows a closing quote".into());
            }
            (cell, end)
        } else {
            let end = rest.find([',', '\n']).ok_or("the line is cut off")?;
            (Cow::Borrowed(&rest[..end]), end)
        };
        let ends = rest.as_bytes()[end] == b'\n';
        rest = &rest[end + 1..];
        cells.push(match cell {
            Cow::Borrowed(c) if ends => Cow::Borrowed(c.strip_suffix('\r').unwrap_or(c)),
            other => other,
        });
        match (ends, rest.is_empty()) {
            (true, true) => return Ok(cells),
            (true, false) => return Err("a quote is inside a cell".into()),
            (false, _) => {}
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

/// From which line on everything was dropped, and why.
pub(crate) type Dropped = Option<(u64, String)>;

/// Calls `header` with the first row and `row` with each other one.
///
/// # Errors
/// [`ArchiveError::Corrupt`] with the line, unless the tail may be dropped; [`ArchiveError::Io`].
pub(crate) fn each_row<H>(
    path: &Path,
    source: impl BufRead,
    tolerance: Tolerance,
    header: impl FnOnce(&Row<'_>) -> std::result::Result<H, String>,
    mut row: impl FnMut(&H, &Row<'_>) -> std::result::Result<(), String>,
) -> Result<Dropped> {
    let mut rows = Rows::new(source);
    let first = rows.next().map_err(ArchiveError::io("read", path))?;
    let read = match first.unwrap_or_else(|| Err("it has no header".into())).and_then(|first| header(&first)) {
        Ok(columns) => loop {
            match rows.next().map_err(ArchiveError::io("read", path))? {
                None => break Ok(()),
                Some(next) => match next.and_then(|next| row(&columns, &next)) {
                    Ok(()) => {}
                    Err(reason) => break Err(reason),
                },
            }
        },
        Err(reason) => Err(reason),
    };
    match (read, tolerance) {
        (Ok(()), _) => Ok(None),
        (Err(reason), Tolerance::DropTail) => Ok(Some((rows.line(), reason))),
        (Err(reason), Tolerance::Strict) => Err(ArchiveError::corrupt(path, Some(rows.line()), reason)),
    }
}

/// Appends what becomes of a row; of `None` after the last one. A row that cannot be read ends the table.
type Make<'a> = dyn FnMut(Option<&Row<'_>>, &mut Writer) -> std::result::Result<(), String> + 'a;

/// Another table made of the rows of one, as it is read.
pub(crate) struct RewrittenTable<'a, R> {
    rows: Rows<R>,
    make: &'a mut Make<'a>,
    tolerance: Tolerance,
    text: Vec<u8>,
    given: usize,
    ended: bool,
}

impl<'a, R: BufRead> RewrittenTable<'a, R> {
    /// `make` hears of each row, the header included, and of the end.
    pub fn new(source: R, tolerance: Tolerance, make: &'a mut Make<'a>) -> Self {
        Self { rows: Rows::new(source), make, tolerance, text: Vec::new(), given: 0, ended: false }
    }

    fn more(&mut self) -> io::Result<()> {
        let mut writer = Writer::default();
        while !self.ended && writer.len() < 64 << 10 {
            let next = self.rows.next()?.transpose();
            let made = next.and_then(|row| {
                self.ended = row.is_none();
                (self.make)(row.as_ref(), &mut writer)
            });
            match made {
                Ok(()) => {}
                Err(reason) if self.tolerance == Tolerance::Strict => return Err(io::Error::other(reason)),
                Err(_) => {
                    self.ended = true;
                    (self.make)(None, &mut writer).map_err(io::Error::other)?;
                }
            }
        }
        (self.text, self.given) = (writer.into_text().into_bytes(), 0);
        Ok(())
    }
}

impl<R: BufRead> Read for RewrittenTable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.ended {
            self.more()?;
        }
        let count = buffer.len().min(self.text.len() - self.given);
        buffer[..count].copy_from_slice(&self.text[self.given..self.given + count]);
        self.given += count;
        Ok(count)
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
        let mut rows = Rows::new(text.as_bytes());
        let mut read = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            read.push(row?.cells.into_iter().map(Cow::into_owned).collect());
        }
        Ok(read)
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
        let mut rows = Rows::new("a,b\n\"x\ny\",1\n2\n".as_bytes());
        assert_eq!(rows.next().unwrap().unwrap().unwrap().cells, ["a", "b"]);
        assert_eq!(rows.next().unwrap().unwrap().unwrap().cells, ["x\ny", "1"]);
        assert_eq!(rows.line(), 2);
        assert_eq!(rows.next().unwrap().unwrap().unwrap_err(), "it has 1 cells, the header has 2");
        assert_eq!(rows.line(), 4);
        assert!(rows.next().unwrap().is_none());
    }

    #[test]
    fn a_line_without_its_end_is_cut_off() {
        assert_eq!(read("a,b\n1,2"), Err("the line is cut off".into()));
        assert_eq!(read("a,b\r\n1,2\r\n").unwrap()[1], ["1", "2"]);
    }
}
