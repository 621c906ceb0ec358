//! The journal of this machine: what was changed and how it is undone, written and synced before each change, removed when
//! all is undone. One file for the changes of one arm that last equally long; the lock on it is held for as long as the
//! program that wrote it lives.

use crate::change::Change;
use crate::command::CommandLimits;
use crate::error::{Result, SettingError};
use crate::journal_directories::{JournalDirectories, Persistence};
use crate::machine::Machine;
use crate::private_directory::PrivateDirectory;
use crate::running::RunningCommand;
use crate::value::Tree;
use model::CompactSort as _;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// A journal is never longer.
const MAX_BYTES: u64 = 1 << 20;
/// Who looks for journals holds the lock for a moment.
const MOMENT: Duration = Duration::from_secs(2);
/// So many journals of one experiment are not left behind.
const MAX_FILES: u32 = 1000;
/// Ending of the files' names.
const ENDING: &str = ".journal";

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    schema: String,
    /// What changed it: the execution of an experiment.
    pub experiment: String,
    pub arm: String,
    /// The machine that was changed.
    pub machine: Machine,
}

impl Head {
    const SCHEMA: &'static str = "narrows/journal/1";
}

/// The lines after it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Record {
    /// This is about to be changed.
    Changing {
        number: u32,
        change: Change,
    },
    /// Its command is a process.
    Started {
        number: u32,
        running: RunningCommand,
    },
    /// Its command has ended by itself.
    Ended {
        number: u32,
    },
    Undone {
        number: u32,
    },
}

/// A change that is not undone.
#[derive(Debug)]
struct Entry {
    number: u32,
    change: Change,
    /// Its command, while that runs.
    running: Option<RunningCommand>,
}

/// A file of the journal, locked.
#[derive(Debug)]
struct OpenFile {
    lasting: Persistence,
    directory: PrivateDirectory,
    name: String,
    file: File,
    bytes: u64,
}

/// What became of an attempt to undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoReport {
    /// What was put back.
    pub done: Vec<String>,
    /// What was not, and why.
    pub failed: Vec<String>,
}

/// The changes of one arm that are not undone.
#[derive(Debug)]
pub struct Journal {
    head: Head,
    files: Vec<OpenFile>,
    entries: Vec<Entry>,
    last: u32,
}

impl OpenFile {
    /// A new file, locked. Its name is the first that is free.
    fn create(directory: PrivateDirectory, head: &Head, lasting: Persistence) -> Result<Self> {
        for number in 0..MAX_FILES {
            let name = format!("{}.{number}{ENDING}", head.experiment);
            let Some(file) = directory.create(&name)? else { continue };
            // Somebody who looks for journals may have found it without a word in it, and removed it.
            let until = Instant::now() + MOMENT;
            while !lock(&file, &directory, &name)? {
                if Instant::now() > until {
                    return Err(SettingError::journal(directory.path().join(&name), "another process locks it"));
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            if is_removed(&file) {
                continue;
            }
            let mut new = Self { lasting, directory, name, file, bytes: 0 };
            new.append(head)?;
            new.directory.sync()?;
            return Ok(new);
        }
        Err(SettingError::journal(directory.path(), format!("{MAX_FILES} journals of {}", head.experiment)))
    }

    /// Adds a line; it is durable when this returns.
    fn append(&mut self, line: &impl Serialize) -> Result<()> {
        let path = || self.directory.path().join(&self.name);
        let mut text = serde_json::to_vec(line).map_err(|e| SettingError::journal(path(), e))?;
        text.push(b'\n');
        self.bytes += text.len() as u64;
        if self.bytes > MAX_BYTES {
            return Err(SettingError::journal(path(), "it is full"));
        }
        self.file.write_all(&text).and_then(|()| self.file.sync_all()).map_err(|e| SettingError::journal(path(), e))
    }
}

/// Whether the lock could be taken.
fn lock(file: &File, directory: &PrivateDirectory, name: &str) -> Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(e) => Err(SettingError::journal(directory.path().join(name), std::io::Error::from(e))),
    }
}

fn is_removed(file: &File) -> bool {
    rustix::fs::fstat(file).is_ok_and(|s| s.st_nlink == 0)
}

impl Journal {
    /// An empty one; nothing is written yet.
    ///
    /// # Errors
    /// That the experiment's name cannot be one of a file.
    pub fn new(machine: Machine, experiment: &str, arm: &str) -> Result<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if experiment.is_empty() || experiment.len() > 120 || !experiment.chars().all(plain) {
            return Err(SettingError::journal(experiment, "this is not the name of an execution"));
        }
        let schema = Head::SCHEMA.to_owned();
        let head = Head { schema, experiment: experiment.to_owned(), arm: arm.to_owned(), machine };
        Ok(Self { head, files: Vec::new(), entries: Vec::new(), last: 0 })
    }

    /// Who changed what.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Whether nothing is left to undo.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The changes, the last one first.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.entries.iter().rev().map(|e| &e.change)
    }

    /// Paths of the journal's files.
    pub fn paths(&self) -> Vec<std::path::PathBuf> {
        self.files.iter().map(|f| f.directory.path().join(&f.name)).collect()
    }

    /// What stands in the environment of the processes of a change.
    pub fn mark(&self, number: u32) -> String {
        format!("{}.{number}.{}", self.head.experiment, std::process::id())
    }

    /// Writes down what is about to be changed, and gives it a number.
    ///
    /// # Errors
    /// That it cannot be written down: then it must not be changed.
    pub fn add(&mut self, places: &JournalDirectories, change: Change) -> Result<u32> {
        let lasting = change.persistence();
        if !self.files.iter().any(|f| f.lasting == lasting) {
            self.files.push(OpenFile::create(places.write_directory(lasting)?, &self.head, lasting)?);
        }
        self.last += 1;
        self.record(lasting, &Record::Changing { number: self.last, change: change.clone() })?;
        self.entries.push(Entry { number: self.last, change, running: None });
        Ok(self.last)
    }

    /// The command of a change is a process now.
    ///
    /// # Errors
    /// That it cannot be written down: then it must not go on.
    pub fn mark_started(&mut self, number: u32, running: RunningCommand) -> Result<()> {
        let Some(entry) = self.entries.iter_mut().find(|e| e.number == number) else { return Ok(()) };
        entry.running = Some(running.clone());
        let lasting = entry.change.persistence();
        self.record(lasting, &Record::Started { number, running })
    }

    /// The command of a change has ended; what it left running it left on purpose.
    ///
    /// # Errors
    /// That it cannot be written down.
    pub fn mark_ended(&mut self, number: u32) -> Result<()> {
        let Some(entry) = self.entries.iter_mut().find(|e| e.number == number) else { return Ok(()) };
        entry.running = None;
        let lasting = entry.change.persistence();
        self.record(lasting, &Record::Ended { number })
    }

    fn record(&mut self, lasting: Persistence, record: &Record) -> Result<()> {
        self.files.iter_mut().find(|f| f.lasting == lasting).map_or(Ok(()), |file| file.append(record))
    }

    /// Undoes all, the last change first. What could not be undone stays in the journal. `before` hears what is about to be
    /// done.
    pub fn undo(
        &mut self,
        tree: &Tree,
        here: &Machine,
        limits: &CommandLimits<'_>,
        before: &mut dyn FnMut(&Change),
    ) -> UndoReport {
        let mut undone = UndoReport::default();
        let is_same_boot = self.head.machine.is_same_boot(here);
        let mut left = Vec::new();
        while let Some(entry) = self.entries.pop() {
            let forgotten = !is_same_boot && entry.change.persistence() == Persistence::UntilReboot;
            if !forgotten && let Err(problem) = self.undo_one(&entry, is_same_boot, tree, limits, before, &mut undone) {
                undone.failed.push(problem);
                left.push(entry);
                continue;
            }
            let lasting = entry.change.persistence();
            let number = entry.number;
            // A change that is undone twice is as one that is undone once; that it is not written down is said.
            if let Err(error) = self.record(lasting, &Record::Undone { number }) {
                undone.failed.push(error.to_string());
            }
        }
        left.reverse();
        self.entries = left;
        if let Err(error) = self.remove_finished() {
            undone.failed.push(error.to_string());
        }
        undone
    }

    fn undo_one(
        &self,
        entry: &Entry,
        is_same_boot: bool,
        tree: &Tree,
        limits: &CommandLimits<'_>,
        before: &mut dyn FnMut(&Change),
        undone: &mut UndoReport,
    ) -> std::result::Result<(), String> {
        if let Some(running) = entry.running.as_ref().filter(|_| is_same_boot) {
            let ended = running.end().map_err(|pid| format!("process {pid} of a command of the arm does not end"))?;
            if ended > 0 {
                undone.done.push(format!("ended {ended} processes of the arm's command"));
            }
        }
        before(&entry.change);
        let said = entry.change.undo(tree, &self.mark(entry.number), limits).map_err(|e| e.to_string())?;
        undone.done.push(said);
        Ok(())
    }

    /// Files without a change that is left.
    fn remove_finished(&mut self) -> Result<()> {
        let entries = &self.entries;
        let mut result = Ok(());
        self.files.retain(|file| {
            let is_needed = entries.iter().any(|e| e.change.persistence() == file.lasting);
            if !is_needed && let Err(error) = file.directory.remove(&file.name) {
                result = Err(error);
            }
            is_needed
        });
        result
    }

    /// Reads a journal and takes its lock; `None` where the program that wrote it lives, and where it is no journal.
    ///
    /// # Errors
    /// That it cannot be read or understood.
    fn read(directory: PrivateDirectory, name: &str) -> Result<Option<Self>> {
        let path = directory.path().join(name);
        let Some(file) = directory.existing(name, MAX_BYTES)? else { return Ok(None) };
        if !lock(&file, &directory, name)? || is_removed(&file) {
            return Ok(None);
        }
        let mut text = String::new();
        (&file).take(MAX_BYTES).read_to_string(&mut text).map_err(|e| SettingError::journal(&path, e))?;
        // What has no end was being written: what it says was not done yet.
        let mut lines = text.split_inclusive('\n').filter_map(|l| l.strip_suffix('\n'));
        let unreadable = |e: serde_json::Error| SettingError::journal(&path, format!("it cannot be read: {e}"));
        let Some(head) = lines.next() else {
            directory.remove(name)?;
            return Ok(None);
        };
        let head: Head = serde_json::from_slice(head.as_bytes()).map_err(unreadable)?;
        if head.schema != Head::SCHEMA {
            return Err(SettingError::journal(&path, format!("its form is {}: another version wrote it", head.schema)));
        }
        let mut entries: Vec<Entry> = Vec::new();
        for line in lines {
            match serde_json::from_slice(line.as_bytes()).map_err(unreadable)? {
                Record::Changing { number, change } => entries.push(Entry { number, change, running: None }),
                Record::Started { number, running } => {
                    entries.iter_mut().filter(|e| e.number == number).for_each(|e| e.running = Some(running.clone()));
                }
                Record::Ended { number } => {
                    entries.iter_mut().filter(|e| e.number == number).for_each(|e| e.running = None);
                }
                Record::Undone { number } => entries.retain(|e| e.number != number),
            }
        }
        let lasting = entries.first().map_or(Persistence::UntilReboot, |e| e.change.persistence());
        if entries.iter().any(|e| e.change.persistence() != lasting) {
            return Err(SettingError::journal(&path, "its changes do not last equally long: it is none of ours"));
        }
        let last = entries.iter().map(|e| e.number).max().unwrap_or_default();
        let bytes = text.len() as u64;
        let files = vec![OpenFile { lasting, directory, name: name.to_owned(), file, bytes }];
        Ok(Some(Self { head, files, entries, last }))
    }
}

/// Journals of this user whose programs have ended.
#[derive(Debug, Default)]
pub struct OrphanedJournals {
    /// Those of this machine, in the order in which they are undone.
    pub left: Vec<Journal>,
    /// What cannot be trusted or understood.
    pub refused: Vec<String>,
    /// Those of other machines, which a home on a network has: they are undone there.
    pub of_other_machines: Vec<String>,
}

/// Looks for what programs that were cut off left. Nothing is undone by looking.
pub fn find(places: &JournalDirectories, here: &Machine) -> OrphanedJournals {
    let (directories, refused) = places.read_directories();
    let mut found =
        OrphanedJournals { refused: refused.iter().map(ToString::to_string).collect(), ..OrphanedJournals::default() };
    for directory in directories {
        let names = match directory.names() {
            Ok(names) => names,
            Err(error) => {
                found.refused.push(error.to_string());
                continue;
            }
        };
        for name in names.iter().filter(|n| n.ends_with(ENDING)) {
            let journal = directory.again().and_then(|directory| Journal::read(directory, name));
            match journal {
                Ok(None) => {}
                Ok(Some(journal)) if journal.head.machine.is(here) => found.left.push(journal),
                Ok(Some(journal)) => {
                    let there = journal.head.machine.host.as_deref().unwrap_or("another machine");
                    found.of_other_machines.push(format!(
                        "{}: {} changed settings of {there}; narrows experiment restore undoes them there",
                        directory.path().join(name).display(),
                        journal.head.experiment
                    ));
                }
                Err(error) => found.refused.push(error.to_string()),
            }
        }
    }
    // An arm's commands come last, and are undone first.
    let persistence = |j: &Journal| j.files.first().map(|f| f.lasting);
    found.left.compact_sort_by(|a, b| (&a.head.experiment, persistence(b)).cmp(&(&b.head.experiment, persistence(a))));
    found
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
