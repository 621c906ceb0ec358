//! A guest is watched by its console until it has done its job, has failed, or a limit is reached.

use super::console::{Line, Reader, Stage};
use super::machine::Machine;
use super::qemu::Emulator;
use super::session::Conduct;
use super::{interrupts, progress};
use anyhow::Context;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How much of the console is shown when a guest fails.
const TAIL_LINES: usize = 25;

/// How long an emulator may take to end after the guest has said that it is done, or has panicked.
const END_LIMIT: Duration = Duration::from_secs(10);

/// A guest that failed: the command ends with exit code 3.
#[derive(Debug, thiserror::Error)]
#[error("{machine}: {what}; the console is kept in {}{}", console.display(), shown(tail))]
pub struct GuestFailure {
    machine: String,
    what: String,
    console: PathBuf,
    tail: Vec<String>,
}

fn shown(tail: &[String]) -> String {
    if tail.is_empty() {
        return ", and is empty".into();
    }
    format!(" and ends with:\n    {}", tail.join("\n    "))
}

/// Interrupted by a signal.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; the emulator is ended")]
pub struct Interrupted;

/// Lines as they come, from a thread of their own.
pub fn lines_of(console: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(console);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            if sender.send(text).is_err() {
                break;
            }
            line.clear();
        }
    });
    receiver
}

/// What the console told.
#[derive(Default)]
pub struct Watched {
    /// How the command ended.
    pub exit: i32,
    /// Time until the guest was ready.
    pub boot: Duration,
    /// What the guest noted.
    pub notes: Vec<String>,
    /// Results that came by the console.
    pub results: Vec<String>,
}

/// Looks at a console until the guest is done.
pub struct Watch<'a> {
    machine: &'a Machine,
    reader: Reader,
    log: File,
    log_path: &'a Path,
    tail: VecDeque<String>,
    line: progress::Line,
    live: bool,
}

impl<'a> Watch<'a> {
    /// Looks at a machine with this number, and keeps its console.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn new(machine: &'a Machine, nonce: &str, log_path: &'a Path, conduct: &Conduct) -> anyhow::Result<Self> {
        let log = File::create(log_path).with_context(|| format!("cannot create {}", log_path.display()))?;
        let line = progress::Line::new(&machine.name, conduct.progress);
        Ok(Self { machine, reader: Reader::new(nonce), log, log_path, tail: VecDeque::new(), line, live: conduct.live })
    }

    fn failure(&self, what: impl Into<String>) -> anyhow::Error {
        let (machine, tail) = (self.machine.name.clone(), self.tail.iter().cloned().collect());
        GuestFailure { machine, what: what.into(), console: self.log_path.to_owned(), tail }.into()
    }

    /// Until the guest is done, has failed, or a limit is reached.
    ///
    /// # Errors
    /// [`GuestFailure`], or [`Interrupted`].
    pub fn until_done(
        &mut self,
        emulator: &mut Emulator,
        lines: Receiver<String>,
        emulator_said: &Path,
    ) -> anyhow::Result<Watched> {
        let begun = Instant::now();
        let (mut stage, mut since, mut ended) = (Stage::Booting, Instant::now(), None);
        let mut watched = Watched::default();
        let mut failed: Option<String> = None;
        loop {
            let line = lines.recv_timeout(Duration::from_millis(50));
            if interrupts::seen() {
                return Err(Interrupted.into());
            }
            let (step, limit) = match stage {
                Stage::Booting => ("booting", self.machine.boot_limit),
                Stage::Running => ("running", self.machine.run_limit),
                Stage::Leaving => ("bringing results back", self.machine.run_limit),
                Stage::Done => ("ending", END_LIMIT),
            };
            self.line.tick(step, limit);
            match line {
                Ok(line) => match self.take(&line, stage) {
                    Line::Stage(next) => {
                        if stage == Stage::Booting {
                            watched.boot = begun.elapsed();
                        }
                        (stage, since) = (next, Instant::now());
                    }
                    Line::Exit(code) => {
                        watched.exit = code;
                        (stage, since) = (Stage::Leaving, Instant::now());
                    }
                    Line::Note(note) => watched.notes.push(note),
                    Line::Results(part) => watched.results.push(part),
                    Line::Failed(why) | Line::Panic(why) => {
                        failed.get_or_insert(why);
                        (stage, since) = (Stage::Done, Instant::now());
                    }
                    Line::Text(_) => {}
                },
                Err(RecvTimeoutError::Timeout) => {}
                // The console is closed: the emulator has ended, or is about to.
                Err(RecvTimeoutError::Disconnected) => {
                    ended = Some(emulator.wait()?);
                }
            }
            let is_over = stage == Stage::Done && !self.machine.powers_off;
            if ended.is_some() || is_over || (stage == Stage::Done && since.elapsed() > END_LIMIT) {
                self.line.clear();
                if let Some(why) = failed {
                    return Err(self.failure(why));
                }
                if stage == Stage::Done {
                    return Ok(watched);
                }
                let said = fs::read_to_string(emulator_said).unwrap_or_default();
                let said = said.lines().next().unwrap_or("it said nothing");
                let status = ended.map(|s| s.to_string()).unwrap_or_default();
                return Err(self.failure(format!("the emulator ended before the guest was done ({status}): {said}")));
            }
            if since.elapsed() > limit {
                self.line.clear();
                return Err(self.failure(format!("{step} took longer than {} s: it hangs", limit.as_secs())));
            }
        }
    }

    /// Keeps a line, shows it if asked, and says what it means.
    fn take(&mut self, line: &str, stage: Stage) -> Line {
        let meaning = self.reader.line(line);
        if !matches!(meaning, Line::Results(_)) {
            // The log is for people: if the disk is full, the session says so at another place.
            let _ = writeln!(self.log, "{}", line.trim_end_matches('\r'));
            if self.tail.len() == TAIL_LINES {
                self.tail.pop_front();
            }
            self.tail.push_back(line.trim_end_matches('\r').to_owned());
        }
        if let (Line::Text(text), true, Stage::Running) = (&meaning, self.live, stage) {
            self.line.clear();
            println!("{text}");
        }
        meaning
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_the_end_of_the_console() {
        let failure = GuestFailure {
            machine: "m".into(),
            what: "Kernel panic".into(),
            console: "/x/m.console".into(),
            tail: vec!["one".into(), "two".into()],
        };
        let text = failure.to_string();
        assert!(text.starts_with("m: Kernel panic; ") && text.ends_with("    one\n    two"), "{text}");
    }
}
