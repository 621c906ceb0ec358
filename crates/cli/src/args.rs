//! The command line: what all commands share, and which there are. What each takes is in the files below.

mod job_options;
mod judging;
mod keeping;
mod looking;
mod measuring;
mod recording;
mod tracing;

pub use judging::*;
pub use keeping::*;
pub use looking::*;
pub use measuring::*;
pub use recording::*;
pub use tracing::*;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Find where your storage narrows, widen it, and prove it.
#[derive(Parser, Debug)]
#[command(
    name = "narrows",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done; 1 the answer is bad and that was the question; 2 usage; 3 refused or could not \
                  run, nothing was changed; 4 ran, but the question is not answered."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Args, Debug, Clone)]
pub struct GlobalArgs {
    /// Print one valid JSON document on stdout, and nothing else
    #[arg(long, global = true)]
    pub json: bool,
    /// Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub archive: Option<PathBuf>,
    /// When to use colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Inspect, measure, diagnose: how fast is this storage, and what limits it?
    Check(CheckArgs),
    /// The storage path layer by layer, with each layer's ceiling, and what is known to be wrong with it
    Inspect(InspectArgs),
    /// Execute a workload (a built-in one, a TOML text, a fio job file, a trace) or an experiment
    Run(RunArgs),
    /// Write down what a command does to files, to do it again on another target
    Trace(TraceArgs),
    /// What a copy of memory, of a device's memory or of an MTD device costs by the width of its accesses
    Copy(CopyArgs),
    /// Undo settings that an experiment left changed on this machine
    Tune(TuneArgs),
    /// The layer that limits a run, what that rests on, and what would decide it
    Why(WhyArgs),
    /// iostat and dstat in one: every layer of a storage path, since boot first, then interval by interval
    Watch(WatchArgs),
    /// Did it help, did it hurt anything? A verdict for each metric
    Compare(CompareArgs),
    /// Many targets side by side; which metric predicts what matters
    Rank(RankArgs),
    /// Where the rate falls when all of it is written, how much the fast cache holds, whether it comes back after a rest
    Fill(FillArgs),
    /// Are my data still safe? Write known data in passes, read them back, and say what is wrong with them; resumable
    Soak(SoakArgs),
    /// Streams of frames onto storage at its own speed, nothing lost that was acknowledged; list, export, verify, recover
    Record(Box<RecordArgs>),
    /// Which speed and application classes a card reaches, every threshold beside what was measured
    Rate(RateArgs),
    /// The archive of runs: list, show, verify, recover, reindex, tag, delete
    Runs(RunsArgs),
    /// Write the self-contained page of a run
    Report(ReportArgs),
    /// Runs in other tools' formats: fio's JSON and logs, CSV, HdrHistogram logs, iozone's table
    Export(ExportArgs),
    /// Other tools' outputs as runs: fio, bonnie++, iozone, iostat, dstat, dd, hdparm, CSV
    Import(ImportArgs),
    /// The page of a finding: what it means, how to mend it, how to undo that
    Explain(ExplainArgs),
    /// The built-in workloads: list them, or print the text of one
    Workloads(WorkloadsArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

impl Command {
    /// Whether it executes nothing that changes the machine, and undoes nothing.
    pub fn only_reads(&self) -> bool {
        match self {
            Self::Run(_)
            | Self::Tune(_)
            | Self::Trace(_)
            | Self::Completions(_)
            | Self::Explain(_)
            | Self::Workloads(_) => false,
            Self::Runs(args) => !matches!(args.command, Some(RunsCommand::Recover)),
            _ => true,
        }
    }
}
