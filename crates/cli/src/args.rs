//! The command line: what all commands share, and which there are. What each takes is in the files below.

mod experiments;
mod grouping;
mod history;
mod job_options;
mod judging;
mod keeping;
mod looking;
mod measuring;
mod recording;
mod recordings;
mod tracing;
mod tuning;

pub use experiments::*;
pub use grouping::*;
pub use history::*;
pub use judging::*;
pub use keeping::*;
pub use looking::*;
pub use measuring::*;
pub use recording::*;
pub use recordings::*;
pub use tracing::*;
pub use tuning::*;

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
    #[arg(long, global = true, display_order = 900)]
    pub json: bool,
    /// The answer as Markdown, for an issue or a forum
    #[arg(long, global = true, display_order = 901)]
    pub markdown: bool,
    /// All of it on a terminal, too, which else gets a screen
    ///
    /// Intervals, evidence, reasons, everything that was measured. Files and pipes always get it.
    #[arg(long, global = true, display_order = 904, hide_short_help = true)]
    pub details: bool,
    /// Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]
    #[arg(long, global = true, display_order = 902, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub archive: Option<PathBuf>,
    /// When to use colour
    #[arg(long, global = true, display_order = 903, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
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
    /// How fast is this storage, and what limits it?
    Check(CheckArgs),
    /// The storage path, layer by layer: ceilings and known faults
    Inspect(InspectArgs),
    /// What limits a run, the evidence, and what would decide it
    Why(WhyArgs),
    /// Run a workload: built in, your own, a fio job file, a trace
    Run(RunArgs),
    /// Did it help? A verdict for each metric of two sets of runs
    Compare(CompareArgs),
    /// Compare settings, kernels or targets in randomised pairs
    Experiment(ExperimentArgs),
    /// Since when is it slower, and what changed then?
    History(HistoryArgs),
    /// Targets side by side, and which metric predicts another
    Rank(RankArgs),
    /// Speed and application classes of a card; is its size real?
    Rate(RateArgs),
    /// How fast the whole device takes data, and where its cache ends
    Fill(FillArgs),
    /// Write known data, read them back, and say what is wrong
    Soak(SoakArgs),
    /// Record camera streams; no acknowledged frame is lost
    Record(Box<RecordArgs>),
    /// iostat and dstat in one: each layer of a path, by interval
    Watch(WatchArgs),
    /// Record a command's file operations, to replay them elsewhere
    Trace(TraceArgs),
    /// Copy rates of memory and device memory, by access width
    Copy(CopyArgs),
    /// Search settings that make it faster, and prove what they gain
    Tune(Box<TuneArgs>),
    /// What can be set on a path; restore what was left changed
    Settings(SettingsArgs),
    /// The archive: list, show, tag, delete runs; how disks wear
    Runs(RunsArgs),
    /// Write the page of one or several runs
    Report(ReportArgs),
    /// Pages of the runs of many machines, for a web server or none
    Site(SiteArgs),
    /// Runs in other tools' formats: fio, CSV, HdrHistogram, iozone
    Export(ExportArgs),
    /// Other tools' outputs as runs: fio, bonnie++, iozone, iostat ...
    Import(ImportArgs),
    /// A finding: what it means, how to fix it, how to undo that
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
            | Self::Experiment(_)
            | Self::Settings(_)
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
