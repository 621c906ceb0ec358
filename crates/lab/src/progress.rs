//! What happens, for whoever waits: on stderr, one line a step. On a terminal one more line is renewed while a step goes on.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the line is renewed.
const RENEW_EVERY: Duration = Duration::from_secs(1);

/// There is one line, whoever has it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether it stands there.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Takes the line away, if it stands there.
fn wipe() {
    if SHOWN.swap(false, Ordering::Relaxed) {
        let _ = write!(stderr(), "\r\x1b[K");
    }
}

/// A result, on stdout. Whoever reads may have gone away; the exit code still tells.
pub fn print(text: &str) {
    wipe();
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Says what begins.
pub fn print_status(text: &str) {
    wipe();
    let _ = writeln!(stderr(), "lab: {text}");
}

/// The line that is renewed while something goes on; nothing without a terminal, or when another has it.
pub struct Line {
    label: String,
    since: Instant,
    renewed: Option<Instant>,
    visible: bool,
}

impl Line {
    /// Begins; `visible` is false where nobody is to see it.
    pub fn new(label: &str, visible: bool) -> Self {
        let visible = visible && stderr().is_terminal() && !TAKEN.swap(true, Ordering::Relaxed);
        Self { label: label.to_owned(), since: Instant::now(), renewed: None, visible }
    }

    /// Shows the step and the time, once a second.
    pub fn tick(&mut self, step: impl FnOnce() -> String) {
        let due = self.renewed.is_none_or(|renewed| renewed.elapsed() >= RENEW_EVERY);
        if self.visible && due {
            let _ = write!(stderr(), "\r\x1b[Klab: {}: {}, {} s", self.label, step(), self.since.elapsed().as_secs());
            let _ = stderr().flush();
            self.renewed = Some(Instant::now());
            SHOWN.store(true, Ordering::Relaxed);
        }
    }

    /// Takes it away, so that something else can be printed; it comes again with the next tick.
    pub fn clear(&mut self) {
        if self.visible {
            wipe();
            self.renewed = None;
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.clear();
        if self.visible {
            TAKEN.store(false, Ordering::Relaxed);
        }
    }
}
