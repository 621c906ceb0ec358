//! iozone's table: a row for each size of file and of record, a column for each test. Tests that were not asked for are blank.
//!
//! Versions differ in the width of columns, and some pad skipped tests less than they print others, so figures are first
//! taken by the tests that the command line asks for, and by the columns of the heading only where it is not printed.

use super::Found;
use super::aligned::{by_ends, words};
use super::iozone_session::Session;

/// Columns after `reclen`, with the test of `-i` that fills them.
const COLUMNS: [(&str, &str, u32); 13] = [
    ("write", "write", 0),
    ("rewrite", "rewrite", 0),
    ("read", "read", 1),
    ("reread", "reread", 1),
    ("read", "random-read", 2),
    ("write", "random-write", 2),
    ("read", "backward-read", 3),
    ("rewrite", "record-rewrite", 4),
    ("read", "stride-read", 5),
    ("fwrite", "fwrite", 6),
    ("frewrite", "frewrite", 6),
    ("fread", "fread", 7),
    ("freread", "freread", 7),
];
/// How far a figure may stand from its heading.
const SLACK: usize = 4;

/// Where the columns of a table end.
pub(super) struct Heading(Vec<usize>);

/// Whether a line is the heading of a table.
pub(super) fn is_heading(line: &str) -> bool {
    heading(line).is_some()
}

/// The lower line of the heading: `kB  reclen  write  rewrite ...`.
pub(super) fn heading(line: &str) -> Option<Heading> {
    let all = words(line);
    let [size, record, columns @ ..] = all.as_slice() else { return None };
    let is_size = size.text.eq_ignore_ascii_case("kB") && record.text == "reclen";
    let is_known =
        columns.len() <= COLUMNS.len() && columns.iter().zip(COLUMNS).all(|(w, (name, _, _))| w.text == name);
    (is_size && columns.len() >= 2 && is_known).then(|| Heading(columns.iter().map(|w| w.end).collect()))
}

/// Whether a line begins with a size of file and of record.
pub(super) fn is_row(line: &str) -> bool {
    let all = words(line);
    let whole = |i: usize| all.get(i).is_some_and(|w| w.text.bytes().all(|b| b.is_ascii_digit()));
    whole(0) && whole(1)
}

impl Heading {
    /// Reads a row.
    pub fn row(&self, session: &mut Session, number: usize, line: &str, found: &mut Found) {
        let all = words(line);
        let [size, record, cells @ ..] = all.as_slice() else { return };
        if cells.is_empty() {
            found.not_understood(number, "no test of this row was finished");
            return;
        }
        let command = session.command.as_deref().map(|c| self.asked(c));
        let places = match &command {
            Some(asked) if asked.len() == cells.len() => Some(asked.clone()),
            _ if cells.len() == self.0.len() => Some((0..cells.len()).collect()),
            _ => by_ends(cells, &self.0, SLACK),
        };
        // Where the command line is known, figures under columns that it did not ask for are not what they seem.
        let fits = |places: &Vec<usize>| command.as_ref().is_none_or(|asked| places.iter().all(|p| asked.contains(p)));
        let Some(places) = places.filter(fits) else {
            found.not_understood(number, "neither the command line nor the heading says what its figures are");
            return;
        };
        let group = format!("{}k.{}k", size.text, record.text);
        if session.has_row(&group) {
            session.split(number, found);
        }
        let kib = super::number::finite(record.text);
        let mut added = 0;
        for (place, word) in places.iter().zip(cells) {
            added += usize::from(session.add(&group, COLUMNS[*place].1, kib, word.text));
        }
        if added == cells.len() {
            found.used(number);
        } else {
            found.not_understood(number, format!("{} of its figures are not rates", cells.len() - added));
        }
    }

    /// The columns that a command line fills.
    fn asked(&self, command: &str) -> Vec<usize> {
        let words: Vec<&str> = command.split_whitespace().collect();
        let mut tests: Vec<u32> = Vec::new();
        for (i, word) in words.iter().enumerate() {
            let Some(rest) = word.strip_prefix("-i") else { continue };
            let digits = if rest.is_empty() { words.get(i + 1).copied().unwrap_or_default() } else { rest };
            tests.extend(digits.parse::<u32>().ok());
        }
        // `-+n`: no retests.
        let no_retests = words.contains(&"-+n");
        let is_asked = |column: usize| {
            let (_, operation, test) = COLUMNS[column];
            (tests.is_empty() || tests.contains(&test))
                && !(no_retests && matches!(operation, "rewrite" | "reread" | "frewrite" | "freread"))
        };
        (0..self.0.len()).filter(|c| is_asked(*c)).collect()
    }
}
