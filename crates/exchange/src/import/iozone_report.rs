//! iozone's Excel-style report (`-R`): a block for each test, sizes of files down, sizes of records across.

use super::Found;
use super::comma::fields;
use super::iozone_session::Session;

/// The test that a line is the title of: `"Re-writer report"`.
pub(super) fn operation(line: &str) -> Option<&'static str> {
    let title = line.trim().strip_prefix('"')?.strip_suffix('"')?.to_ascii_lowercase();
    Some(match title.strip_suffix(" report")? {
        "writer" => "write",
        "re-writer" => "rewrite",
        "reader" => "read",
        "re-reader" => "reread",
        "random read" => "random-read",
        "random write" => "random-write",
        "backward read" => "backward-read",
        "record rewrite" => "record-rewrite",
        "stride read" => "stride-read",
        "fwrite" => "fwrite",
        "re-fwrite" => "frewrite",
        "fread" => "fread",
        "re-fread" => "freread",
        "pwrite" => "pwrite",
        "re-pwrite" => "re-pwrite",
        "pread" => "pread",
        "re-pread" => "re-pread",
        _ => return None,
    })
}

/// A block that is being read.
pub(super) struct Report {
    operation: &'static str,
    records: Option<Vec<String>>,
}

impl Report {
    /// A block below its title.
    pub fn new(operation: &'static str) -> Self {
        Self { operation, records: None }
    }

    /// Reads the line of record sizes, or a row. Rows are as long as there are record sizes up to the size of the file;
    /// zeros are tests that did not run.
    pub fn row(&mut self, session: &mut Session, number: usize, line: &str, found: &mut Found) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(records) = &self.records else {
            let sizes: Option<Vec<String>> = words.iter().map(|w| quoted_number(w)).collect();
            match sizes.filter(|s| !s.is_empty()) {
                Some(sizes) => {
                    self.records = Some(sizes);
                    found.used(number);
                }
                None => found.not_understood(number, "sizes of records are expected here"),
            }
            return;
        };
        let Some((size, cells)) = words.split_first().and_then(|(s, rest)| Some((quoted_number(s)?, rest))) else {
            found.not_understood(number, "a row begins with the size of a file in quotes");
            return;
        };
        if cells.len() > records.len() || !cells.iter().all(|c| super::number::finite(c).is_some()) {
            found.not_understood(number, format!("a row has at most {} rates", records.len()));
            return;
        }
        for (record, cell) in records.clone().iter().zip(cells) {
            session.add(&format!("{size}k.{record}k"), self.operation, super::number::finite(record), cell);
        }
        found.used(number);
    }
}

fn quoted_number(word: &str) -> Option<String> {
    let text = fields(word.strip_prefix('"').and(Some(word)).filter(|w| w.ends_with('"'))?, ',').concat();
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}
