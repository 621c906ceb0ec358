//! Settings in force: applied one by one, each with the way back written down first.

use crate::change::Change;
use crate::command::{CommandLimits, CommandLine};
use crate::error::{Result, SettingError};
use crate::group::Group;
use crate::journal::{Journal, UndoReport};
use crate::journal_directories::JournalDirectories;
use crate::machine::Machine;
use crate::mount::{mount_at, opposite, remount};
use crate::register::RegisterBits;
use crate::value::{Tree, ValuePath, same_value};
use std::time::Duration;

/// A setting of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A value below /sys or /proc/sys.
    Value {
        /// Its file.
        path: ValuePath,
        /// What is written.
        value: String,
    },
    /// Options of a mounted file system, joined by commas.
    MountOptions {
        /// Where it is mounted.
        mount_point: String,
        /// What is added to its options.
        options: String,
    },
    /// Bits of a register.
    Register {
        /// Which.
        register: RegisterBits,
        /// What they are set to.
        value: u32,
    },
    /// What only a command can set.
    Command {
        /// The command that applies the setting.
        run: CommandLine,
        /// The command that undoes it.
        undo: CommandLine,
    },
}

impl Setting {
    /// Whether it could be applied, without applying it.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, tree: &Tree) -> Result<()> {
        match self {
            Self::Value { path, value } => {
                tree.read(path)?;
                tree.offers(path, value)?;
                tree.writable(path)
            }
            Self::MountOptions { mount_point, .. } if mount_at(mount_point).is_none() => {
                Err(SettingError::Mount(format!("{mount_point} is not mounted")))
            }
            Self::MountOptions { .. } if !rustix::process::geteuid().is_root() => {
                Err(SettingError::Mount("mount-options: only root can remount a file system".to_owned()))
            }
            Self::Register { register, .. } => register.read(tree).map(drop),
            Self::MountOptions { .. } | Self::Command { .. } => Ok(()),
        }
    }
}

/// Settings in force. They are undone when this goes away, on a panic too, unless that was tried before.
#[derive(Debug)]
pub struct AppliedSettings {
    tree: Tree,
    places: JournalDirectories,
    machine: Machine,
    journal: Journal,
    /// Values with what the kernel made of them.
    took: Vec<(ValuePath, String)>,
    /// Whether it was tried to put all back.
    tried: bool,
}

impl AppliedSettings {
    /// None yet. `experiment` and `arm` name who changes what follows.
    ///
    /// # Errors
    /// That the experiment's name cannot be one of a file.
    pub fn new(tree: Tree, places: JournalDirectories, machine: Machine, experiment: &str, arm: &str) -> Result<Self> {
        let journal = Journal::new(machine.clone(), experiment, arm)?;
        Ok(Self { tree, places, machine, journal, took: Vec::new(), tried: false })
    }

    /// Applies one more. What it changes is in the journal before it is changed, also where it then fails.
    ///
    /// # Errors
    /// Why it is not in force.
    pub fn apply(&mut self, setting: &Setting, limits: &CommandLimits<'_>) -> Result<()> {
        match setting {
            Setting::Value { path, value } => self.value(path, value),
            Setting::MountOptions { mount_point, options } => {
                let not_mounted = || SettingError::Mount(format!("{mount_point} is not mounted"));
                let was = mount_at(mount_point).ok_or_else(not_mounted)?;
                let opposites = options.split(',').filter_map(|o| opposite(o, &was.options)).collect();
                let number = self.journal.add(&self.places, Change::Mount { was, opposites })?;
                remount(mount_point, options, &self.journal.mark(number), limits)
            }
            Setting::Register { register, value } => {
                let was = register.read(&self.tree)?;
                self.journal.add(&self.places, Change::Register { register: register.clone(), was })?;
                register.write(&self.tree, *value)
            }
            Setting::Command { run, undo } => self.command(run, undo, limits),
        }
    }

    fn value(&mut self, path: &ValuePath, value: &str) -> Result<()> {
        let was = Group::read(&self.tree, path)?;
        let old = self.tree.read(path)?;
        let identity = self.tree.identity(path);
        self.journal.add(&self.places, Change::Value { path: path.clone(), identity, was })?;
        self.tree.write(path, value)?;
        let now = self.tree.read(path)?;
        if same_value(&now, &old) && !same_value(&old, value) {
            return Err(not_taken(path, value, format!("it still is {old}")));
        }
        self.took.push((path.clone(), now));
        Ok(())
    }

    fn command(&mut self, run: &CommandLine, undo: &CommandLine, limits: &CommandLimits<'_>) -> Result<()> {
        let change = Change::Command { run: run.clone(), undo: undo.clone() };
        let number = self.journal.add(&self.places, change)?;
        let mark = self.journal.mark(number);
        let mut process = None;
        let journal = &mut self.journal;
        let ran = run.run(&mark, limits, &mut |running| {
            process = Some(running.clone());
            journal.mark_started(number, running)
        });
        // What a command leaves running that was done, it leaves on purpose; else it would go on after it is undone.
        if let (Err(_), Some(process)) = (&ran, &process)
            && process.end().is_err()
        {
            return ran;
        }
        ran.and(self.journal.mark_ended(number))
    }

    /// Whether all values are still what the kernel made of them: one may have reset another.
    ///
    /// # Errors
    /// The first that is not.
    pub fn verify(&self) -> Result<()> {
        for (index, (path, took)) in self.took.iter().enumerate() {
            let now = self.tree.read(path)?;
            let is_set_again = self.took[index + 1..].iter().any(|(later, _)| later == path);
            if !is_set_again && !same_value(&now, took) {
                return Err(not_taken(path, took, format!("another setting made it {now}")));
            }
        }
        Ok(())
    }

    /// Puts everything back, the last change first. Commands have the time of `limits`, values are always written.
    pub fn undo(&mut self, limits: &CommandLimits<'_>) -> UndoReport {
        self.took.clear();
        self.tried = true;
        self.journal.undo(&self.tree, &self.machine, limits, &mut |_| {})
    }

    /// Whether nothing is left to put back.
    pub fn is_undone(&self) -> bool {
        self.journal.is_empty()
    }

    /// The files that say what is left.
    pub fn journal_paths(&self) -> Vec<std::path::PathBuf> {
        self.journal.paths()
    }
}

fn not_taken(path: &ValuePath, value: &str, why: String) -> SettingError {
    SettingError::NotTaken { path: path.to_string(), value: value.to_owned(), why }
}

impl Drop for AppliedSettings {
    fn drop(&mut self) {
        if !self.tried && !self.journal.is_empty() {
            // Reached with something left only on a panic or an early return; the journal stays where this fails.
            self.undo(&CommandLimits { over: &|| false, at_least: Duration::ZERO });
        }
    }
}
