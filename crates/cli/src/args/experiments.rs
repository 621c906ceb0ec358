//! What `experiment` and `settings` take.

use super::{Permissions, RunArgs, RunMarks};
use crate::names::{Names, offer};
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    subcommand_required = true,
    after_help = "Examples:
  narrows experiment run experiments/read-ahead.toml /mnt/data
  narrows experiment list
  narrows experiment restore"
)]
pub struct ExperimentArgs {
    #[command(subcommand)]
    pub command: ExperimentCommand,
}

#[derive(Subcommand, Debug)]
pub enum ExperimentCommand {
    /// Run an experiment: arms in randomised pairs, a verdict for each metric
    Run(Box<ExperimentRun>),
    /// Executions of experiments in this archive, and how far each is
    #[command(after_help = "Examples:\n  narrows experiment list")]
    List,
    /// Undo what an interrupted experiment left changed on this machine
    #[command(
        after_help = "It exits with 4 where something could not be undone.\n\nExamples:\n  narrows experiment restore\n  narrows experiment restore --json"
    )]
    Restore,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Settings are restored after each run, and verified by reading them. docs/experiments.md has the form of the text.

Examples:
  narrows experiment run read-ahead.toml /mnt/data --plan   what it would do
  narrows experiment run read-ahead.toml /mnt/data          a verdict, a page
  narrows experiment run --resume                           after a crash or a reboot
  narrows experiment run read-ahead.toml . --calibrate      how noisy this machine is"
)]
pub struct ExperimentRun {
    /// The text of the experiment (TOML); with --resume it may be left out
    #[arg(value_name = "EXPERIMENT", required_unless_present = "resume", value_hint = clap::ValueHint::FilePath)]
    pub experiment: Option<OsString>,
    /// Directory, file, block device or sim:NAME [default: what the experiment names, else .]
    #[arg(add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
    pub target: Option<OsString>,
    /// Another value for a key of the workload
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Show what would be done, without doing it
    #[arg(long, conflicts_with = "resume")]
    pub plan: bool,
    /// Resume this execution, or the last one that is not complete, in its order
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<OsString>,
    /// Run the first arm under two names, and keep the difference as this machine's noise
    #[arg(long, conflicts_with_all = ["plan", "resume"])]
    pub calibrate: bool,
    /// Leave out runs that something slowed (steal, other programs, throttling)
    #[arg(long)]
    pub strict: bool,
    /// Run the commands in its text without asking
    #[arg(long)]
    pub allow_commands: bool,
    /// Where the page goes [default: reports/ID.html in the archive]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// Keep the names and serial numbers of the machine and its users on the page
    #[arg(long)]
    pub identify: bool,
    #[command(flatten)]
    pub permissions: Permissions,
    #[command(flatten)]
    pub marks: RunMarks,
}

impl ExperimentRun {
    /// The same as arguments of `run`, which executes it.
    pub fn as_run(&self) -> RunArgs {
        RunArgs {
            workload: self.experiment.clone(),
            target: self.target.clone(),
            set: self.set.clone(),
            plan: self.plan,
            resume: self.resume.clone(),
            calibrate: self.calibrate,
            strict: self.strict,
            allow_commands: self.allow_commands,
            report: self.report.clone(),
            identify: self.identify,
            permissions: self.permissions.clone(),
            marks: self.marks.clone(),
            ..RunArgs::default()
        }
    }
}

#[derive(Args, Debug)]
#[command(
    subcommand_required = true,
    after_help = "Examples:
  narrows settings list /media/card   what can be set between here and the card
  narrows settings restore            undo what was left changed"
)]
pub struct SettingsArgs {
    #[command(subcommand)]
    pub command: SettingsCommand,
}

#[derive(Subcommand, Debug)]
pub enum SettingsCommand {
    /// What can be set on the path to a target: its value, and others worth a try
    #[command(
        after_help = "Nothing is changed by looking. An arm of an experiment takes the names: settings = { read-ahead = 4096 }.

Examples:
  narrows settings list /media/card
  narrows settings list sda --json"
    )]
    List {
        /// A directory, a file, a device or a disk's name
        #[arg(add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
        target: OsString,
    },
    /// Undo what an interrupted experiment left changed on this machine
    #[command(
        after_help = "What an experiment changes is recorded on this machine before it is changed. After a crash or a power cut the next
narrows run undoes it; this command does that alone, and says what it did. Values and mount options that a reboot has undone are
left alone. It exits with 4 where something could not be undone.

Examples:
  narrows settings restore
  narrows settings restore --json"
    )]
    Restore,
}
