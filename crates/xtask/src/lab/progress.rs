//! What happens, for whoever waits: on stderr, one line a step.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Says what begins.
pub fn say(text: &str) {
    let _ = writeln!(stderr(), "lab: {text}");
}

/// One line that is renewed while something goes on; nothing without a terminal.
pub struct Line {
    label: String,
    since: Instant,
    shown: Option<Instant>,
    visible: bool,
}

impl Line {
    /// Begins; `visible` is false where several things go on at a time.
    pub fn new(label: &str, visible: bool) -> Self {
        let visible = visible && stderr().is_terminal();
        Self { label: label.to_owned(), since: Instant::now(), shown: None, visible }
    }

    /// Shows the step and the time, once a second.
    pub fn tick(&mut self, step: &str, limit: Duration) {
        let due = self.shown.is_none_or(|shown| shown.elapsed() >= Duration::from_secs(1));
        if self.visible && due {
            let (now, limit) = (self.since.elapsed().as_secs(), limit.as_secs());
            let _ = write!(stderr(), "\r\x1b[Klab: {}: {step}, {now} s (at most {limit} s)", self.label);
            let _ = stderr().flush();
            self.shown = Some(Instant::now());
        }
    }

    /// Takes the line away, so that something else can be printed.
    pub fn clear(&mut self) {
        if self.visible && self.shown.take().is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.clear();
    }
}
