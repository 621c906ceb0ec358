//! A line of progress that is written anew.

use std::cell::Cell;
use std::io::{IsTerminal, Write};

/// One line on stderr, where that is a terminal.
pub struct OneLine {
    shown: bool,
    columns: usize,
    length: Cell<usize>,
}

impl OneLine {
    /// In so many columns; nothing is drawn where no person looks.
    pub fn new(wanted: bool, columns: usize) -> Self {
        Self { shown: wanted && std::io::stderr().is_terminal(), columns, length: Cell::new(0) }
    }

    /// Whether it is drawn.
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    /// In place of what stands there.
    pub fn draw(&self, text: &str) {
        if !self.shown {
            return;
        }
        // A line that goes on in the next one cannot be written over.
        let text: String = text.chars().take(self.columns.saturating_sub(1)).collect();
        let length = text.chars().count();
        let padding = self.length.replace(length).saturating_sub(length);
        let _ = write!(std::io::stderr().lock(), "\r{text}{:padding$}", "");
    }

    /// Takes it away, so that what follows has the line.
    pub fn end(&self) {
        let length = self.length.replace(0);
        if length > 0 {
            let _ = write!(std::io::stderr().lock(), "\r{:length$}\r", "");
        }
    }
}
