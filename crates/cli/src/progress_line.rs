//! One line of progress on a terminal, written anew each time; what is to stay is written by others after it is wiped.

use std::cell::Cell;
use std::io::{IsTerminal, Write};

/// Such a line, on stderr.
#[derive(Debug)]
pub struct ProgressLine {
    shown: bool,
    columns: usize,
    length: Cell<usize>,
}

impl ProgressLine {
    /// On a terminal of so many columns, unless `quiet`.
    pub fn new(quiet: bool, columns: usize) -> Self {
        Self { shown: !quiet && std::io::stderr().is_terminal(), columns, length: Cell::new(0) }
    }

    /// Whether anybody sees it.
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    /// Shows this; what was shown before is gone.
    pub fn draw(&self, text: &str) {
        if self.shown {
            let (line, length) = rewritten(text, self.length.get(), self.columns);
            self.length.set(length);
            let _ = write!(std::io::stderr().lock(), "{line}");
        }
    }

    /// Wipes it.
    pub fn wipe(&self) {
        let width = self.length.replace(0);
        if width > 0 {
            let _ = write!(std::io::stderr().lock(), "\r{:width$}\r", "");
        }
    }
}

/// What makes a line of this text out of one of so many characters, and how many it has; a longer one than the terminal is broken by
/// it, and could not be written anew.
fn rewritten(text: &str, before: usize, columns: usize) -> (String, usize) {
    let text: String = text.chars().take(columns.saturating_sub(1)).collect();
    let length = text.chars().count();
    (format!("\r{text}{:padding$}", "", padding = before.saturating_sub(length)), length)
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn a_line_covers_the_one_before_and_is_never_broken() {
        assert_eq!(rewritten("pass 2", 9, 80), ("\rpass 2   ".into(), 6));
        assert_eq!(rewritten("pass 2, lap 3", 0, 9), ("\rpass 2, ".into(), 8));
    }
}
