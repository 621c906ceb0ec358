//! A guest is watched by its console until it has done its job, has failed, or a limit is reached.

use super::beside::{GuestsBeside, Shared};
use super::console::{Line, Reader, Stage};
use super::interrupts::{self, Interrupted};
use super::machine::Machine;
use super::qemu::Emulator;
use super::session_options::SessionOptions;
use super::{progress, space};
use anyhow::Context;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How much of the console is shown when a guest fails.
const TAIL_LINES: usize = 25;

/// How much of each of its lines.
const TAIL_WIDTH: usize = 240;

/// How long an emulator may take to end after the guest has said that it is done, or that it fails.
const END_LIMIT: Duration = Duration::from_secs(10);

/// A board that has panicked cannot leave: silence for so long means that the panic was one, and not a text that a command
/// has printed.
const PANIC_SILENCE: Duration = Duration::from_secs(20);

/// How often is looked whether there is room on the disk.
const LOOK_AT_DISK_EVERY: Duration = Duration::from_secs(1);

/// With less room than this an emulator may find none for what its guest writes, and then it stops without a word.
const MIN_ROOM_BYTES: u64 = 16 << 20;

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
    // What a guest prints must neither move the cursor of whoever reads about its end nor fill the screen.
    let harmless = |line: &String| {
        let part: String = line.chars().take(TAIL_WIDTH).collect();
        part.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}")
    };
    format!(" and ends with:\n    {}", tail.iter().map(harmless).collect::<Vec<_>>().join("\n    "))
}

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

/// A file that another program writes, to the end of what it has written when `ended` is set.
struct Growing {
    file: File,
    ended: Arc<AtomicBool>,
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            // Asked first: what was written before the end is still read.
            let ended = self.ended.load(Ordering::Acquire);
            match self.file.read(buffer)? {
                0 if !ended => std::thread::sleep(Duration::from_millis(20)),
                n => return Ok(n),
            }
        }
    }
}

/// Who else is there.
enum Company<'a> {
    /// Nobody.
    None,
    /// Guests that it has beside it.
    Guests(&'a GuestsBeside),
    /// The machine that it is beside.
    Session(&'a Shared),
}

/// What the console told.
#[derive(Default)]
pub struct ConsoleResult {
    /// How the command ended.
    pub exit: i32,
    /// Time until the guest was ready.
    pub boot: Duration,
    /// What the guest noted.
    pub notes: Vec<String>,
    /// Results that came by the console.
    pub results: Vec<String>,
    /// Whoever sat before it ended the emulator, and nothing came back.
    pub was_ended: bool,
}

/// Looks at a console until the guest is done.
pub struct Watch<'a> {
    machine: &'a Machine,
    reader: Reader,
    lines: Receiver<String>,
    /// Where the console is kept by us; an emulator on a terminal keeps its own.
    log: Option<File>,
    log_path: &'a Path,
    tail: VecDeque<String>,
    line: progress::Line,
    live: bool,
    /// Somebody sits before it, who knows how long it may take, and when it hangs.
    attended: Option<Arc<AtomicBool>>,
    looked_at_disk: Instant,
    company: Company<'a>,
}

impl<'a> Watch<'a> {
    /// Looks at a machine with this number, and keeps its console.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn new(
        machine: &'a Machine,
        nonce: &str,
        log_path: &'a Path,
        options: &SessionOptions,
        emulator: &mut Emulator,
    ) -> anyhow::Result<Self> {
        // The emulator may have begun to write it.
        let log = File::options().read(true).write(true).create(true).truncate(false).open(log_path);
        let log = log.with_context(|| format!("cannot create {}", log_path.display()))?;
        let line = progress::Line::new(&machine.name, options.progress);
        let (lines, log, attended) = match emulator.console() {
            Some(console) => (lines_of(console), Some(log), None),
            None => {
                let file = log;
                let ended = Arc::<AtomicBool>::default();
                (lines_of(Growing { file, ended: Arc::clone(&ended) }), None, Some(ended))
            }
        };
        Ok(Self {
            machine,
            reader: Reader::new(nonce),
            lines,
            log,
            log_path,
            tail: VecDeque::new(),
            line,
            live: options.live,
            attended,
            looked_at_disk: Instant::now(),
            company: Company::None,
        })
    }

    /// The machine has these guests beside it: it fails when one of them does.
    pub fn with_guests_beside(mut self, guests: &'a GuestsBeside) -> Self {
        self.company = Company::Guests(guests);
        self
    }

    /// It is beside another machine, runs until it is to end, and has done its job then.
    pub fn of_guest_beside(mut self, shared: &'a Shared) -> Self {
        self.company = Company::Session(shared);
        self
    }

    /// Whether it is over because the session says so.
    ///
    /// # Errors
    /// A guest beside it failed.
    fn is_over(&mut self, stage: Stage) -> anyhow::Result<bool> {
        match self.company {
            Company::None => Ok(false),
            Company::Guests(guests) => guests.check().map(|()| false).inspect_err(|_| self.line.clear()),
            Company::Session(shared) => Ok(shared.look(stage)),
        }
    }

    fn failure(&self, what: impl Into<String>) -> anyhow::Error {
        let machine = self.machine.name.clone();
        let tail = self.tail.iter().cloned().collect();
        GuestFailure { machine, what: what.into(), console: self.log_path.to_owned(), tail }.into()
    }

    /// What a stage is called, and how long it may take.
    fn step(&self, stage: Stage) -> (&'static str, Duration) {
        let (step, limit) = match stage {
            Stage::Booting => ("booting", self.machine.boot_limit),
            Stage::Running => ("running", self.machine.run_limit),
            Stage::Leaving => ("bringing results back", self.machine.run_limit),
            Stage::Done => ("ending", END_LIMIT),
        };
        let serves = matches!(self.company, Company::Session(_)) && stage == Stage::Running;
        let is_limited = (self.attended.is_none() && !serves) || stage == Stage::Done;
        (step, if is_limited { limit } else { Duration::MAX })
    }

    /// Until the guest is done, has failed, or a limit is reached.
    ///
    /// # Errors
    /// [`GuestFailure`], [`Interrupted`], or the disk is full.
    pub fn until_done(&mut self, emulator: &mut Emulator, emulator_said: &Path) -> anyhow::Result<ConsoleResult> {
        let begun = Instant::now();
        let mut stage = Stage::Booting;
        let mut since = Instant::now();
        let mut last_line_at = Instant::now();
        let mut watched = ConsoleResult::default();
        let mut failed: Option<String> = None;
        // A command may print such a line as well: it counts when the guest says nothing more.
        let mut panicked: Option<String> = None;
        loop {
            let line = self.lines.recv_timeout(Duration::from_millis(50));
            if interrupts::is_interrupted() {
                return Err(Interrupted.into());
            }
            if self.is_over(stage)? {
                return Ok(watched);
            }
            self.look_at_disk()?;
            let (step, limit) = self.step(stage);
            self.line.tick(|| format!("{step} (at most {} s)", limit.as_secs()));
            let mut ended = None;
            match line {
                Ok(line) => {
                    last_line_at = Instant::now();
                    match self.take(&line, stage) {
                        Line::Stage(next) => {
                            if stage == Stage::Booting {
                                watched.boot = begun.elapsed();
                            }
                            (stage, since, panicked) = (next, Instant::now(), None);
                        }
                        Line::Exit(code) => {
                            watched.exit = code;
                            (stage, since, panicked) = (Stage::Leaving, Instant::now(), None);
                        }
                        Line::EndOf(name) => match self.company {
                            Company::Guests(guests) => guests.end(&name)?,
                            _ => return Err(self.failure(format!("it has no guest '{name}' beside it to end"))),
                        },
                        Line::Note(note) => watched.notes.push(note),
                        Line::Results(part) => watched.results.push(part),
                        Line::Failed(why) => {
                            failed.get_or_insert(why);
                            (stage, since) = (Stage::Done, Instant::now());
                        }
                        Line::Panic(why) => {
                            panicked.get_or_insert(why);
                        }
                        Line::Text(_) => {}
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(file_ends) = &self.attended
                        && emulator.ended()?.is_some()
                    {
                        file_ends.store(true, Ordering::Release);
                    }
                }
                // The console is closed: the emulator has ended, or is about to.
                Err(RecvTimeoutError::Disconnected) => ended = Some(emulator.wait()?),
            }
            if panicked.is_some() && last_line_at.elapsed() > PANIC_SILENCE {
                failed = failed.or(panicked.take());
            }
            let is_over = stage == Stage::Done && !self.machine.powers_off;
            let hangs_at_end = stage == Stage::Done && since.elapsed() > END_LIMIT;
            if ended.is_some() || is_over || hangs_at_end || (failed.is_some() && stage != Stage::Done) {
                self.line.clear();
                if let Some(why) = failed.or(panicked) {
                    return Err(self.failure(why));
                }
                if stage == Stage::Done {
                    return Ok(watched);
                }
                return self.ended_too_early(ended, emulator_said, watched);
            }
            if since.elapsed() > limit {
                self.line.clear();
                let hint = self.hint(stage);
                return Err(self.failure(format!("{step} took longer than {} s: it hangs{hint}", limit.as_secs())));
            }
        }
    }

    /// What may be behind it that a limit is reached.
    fn hint(&self, stage: Stage) -> String {
        if stage != Stage::Booting {
            return String::new();
        }
        if self.tail.is_empty() {
            return " (without a word: see console, memory and dtb in its file)".into();
        }
        match self.company {
            Company::Guests(guests) if !guests.not_ready().is_empty() => {
                format!(" (not ready: {})", guests.not_ready().join(", "))
            }
            _ => String::new(),
        }
    }

    /// The emulator ended before its guest was done.
    fn ended_too_early(
        &self,
        ended: Option<ExitStatus>,
        emulator_said: &Path,
        watched: ConsoleResult,
    ) -> anyhow::Result<ConsoleResult> {
        let said = fs::read_to_string(emulator_said).unwrap_or_default();
        let said = said.lines().next();
        if self.attended.is_some() && said.is_none() && ended.is_some_and(|status| status.success()) {
            return Ok(ConsoleResult { was_ended: true, ..watched });
        }
        let status = ended.map(|s| s.to_string()).unwrap_or_default();
        let said = said.unwrap_or("it printed nothing");
        Err(self.failure(format!("the emulator ended before the guest was done ({status}): {said}")))
    }

    /// # Errors
    /// The disk is full.
    fn look_at_disk(&mut self) -> anyhow::Result<()> {
        if self.looked_at_disk.elapsed() < LOOK_AT_DISK_EVERY {
            return Ok(());
        }
        self.looked_at_disk = Instant::now();
        let directory = self.log_path.parent().unwrap_or(Path::new("."));
        space::require(directory, MIN_ROOM_BYTES, &self.machine.name).inspect_err(|_| self.line.clear())
    }

    /// Keeps a line, shows it if asked, and says what it means.
    fn take(&mut self, line: &str, stage: Stage) -> Line {
        let meaning = self.reader.line(line);
        if !matches!(meaning, Line::Results(_)) {
            if let Some(log) = &mut self.log {
                // The log is for people: that the disk is full is said at another place.
                let _ = writeln!(log, "{}", line.trim_end_matches('\r'));
            }
            if self.tail.len() == TAIL_LINES {
                self.tail.pop_front();
            }
            self.tail.push_back(line.trim_end_matches('\r').to_owned());
        }
        if let (Line::Text(text) | Line::Panic(text), true, Stage::Running) = (&meaning, self.live, stage) {
            self.line.clear();
            // A terminal that is gone says so by a signal.
            let _ = writeln!(std::io::stdout(), "{text}");
        }
        meaning
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
