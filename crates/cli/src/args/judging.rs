//! Of commands that hold results side by side.

use super::measuring::FailOn;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    after_help = "A SIDE is a run's id or the beginning of one, a tag (all its runs), 'latest', the path of a bundle, or a file that
another tool printed. Runs of an experiment are compared pair by pair, several runs a side as sets, with a verdict and without a
proof of its cause; one run each is never better or worse.

Examples:
  narrows compare before after               two tags
  narrows compare before after --margin 3    what is less than 3 % does not matter
  narrows compare a b --margin seq-read.throughput_bytes_per_s=2 --fail-on worse
  narrows compare --repeat 6 'mix /mnt/data' --with depth=1,32 --set read-percent=100 \\
    --set region=256MiB --set time=2s --primary read100.iops
                                             makes the runs, in randomised pairs: a minute
  narrows compare latest 7f3a --markdown     for an issue or a forum
  narrows compare old.json new.json -o page.html"
)]
pub struct CompareArgs {
    /// Before: id, tag, 'latest', path of a bundle, or a file
    #[arg(value_name = "A", value_hint = clap::ValueHint::AnyPath)]
    pub a: OsString,
    /// After
    #[arg(value_name = "B", value_hint = clap::ValueHint::AnyPath, required_unless_present = "repeat")]
    pub b: Option<OsString>,
    /// Make the runs first, so many of each value of --with, in randomised order; A is then 'WORKLOAD TARGET'
    #[arg(long, value_name = "N", requires = "with", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// What differs between the runs: a setting (narrows tune --list), a file below /sys, a sysctl, mount-options, target, or a
    /// key of the workload
    #[arg(long, value_name = "KEY=A,B", requires = "repeat")]
    pub with: Option<String>,
    /// Another value for a key of the workload, in all runs of --repeat
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "repeat")]
    pub set: Vec<String>,
    /// Show what --repeat would do instead of doing it
    #[arg(long, requires = "repeat")]
    pub plan: bool,
    /// Seed of the order of the runs of --repeat, and of everything random in them [default: from the system]
    #[arg(long, value_name = "N", requires = "repeat")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub permissions: super::measuring::Permissions,
    /// The largest difference that does not matter, per cent, of all metrics or of one [default: 5; tails 10]
    #[arg(long = "margin", value_name = "PERCENT|METRIC=PERCENT")]
    pub margins: Vec<String>,
    /// Error rate over all primary metrics together [default: 0.05]
    #[arg(long, value_name = "ALPHA")]
    pub alpha: Option<f64>,
    /// A metric that is asked; may be given several times [default: the rate of each phase]
    #[arg(long = "primary", value_name = "METRIC")]
    pub primary: Vec<String>,
    /// Leave out runs that something slowed (steal, other programs, throttling) instead of counting them with a warning
    #[arg(long)]
    pub strict: bool,
    /// Exit code 1 if a primary metric is so
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// With --fail-on, judge also results of other tools whose job options differ
    #[arg(long, requires = "fail_on")]
    pub anyway: bool,
    /// The comparison as Markdown, for an issue or a forum
    #[arg(long)]
    pub markdown: bool,
    /// Write a self-contained page
    #[arg(long, short, value_name = "FILE.html", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Keep the names and serial numbers of the machines and their users on the page
    #[arg(long)]
    pub identify: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "A SOURCE is a run's id or the beginning of one, a tag (all its runs), 'latest', the path of a bundle, or a file that
another tool printed (a CSV with a header has a target in each row). Runs of one target belong together. Targets that cannot
be told apart share a place. In a METRIC, * stands for anything.

Examples:
  narrows rank latest 7f3a cards             two runs and a tag
  narrows rank cards.csv --predict install_s which number goes with the time of the installation
  narrows rank cards.csv --better 'install*=lower' --better '*iops*=higher'
  narrows rank a b c --metric 'rand-*.iops' --markdown
  narrows rank cards -o page.html"
)]
pub struct RankArgs {
    /// Ids, tags, 'latest', paths of bundles, or files
    #[arg(value_name = "SOURCE", required = true, value_hint = clap::ValueHint::AnyPath)]
    pub sources: Vec<OsString>,
    /// The metric that matters: which others put the targets in its order?
    #[arg(long, value_name = "METRIC")]
    pub predict: Option<String>,
    /// What it may be predicted from; may be given several times [default: all other metrics]
    #[arg(long = "predictors", value_name = "METRIC")]
    pub predictors: Vec<String>,
    /// What is shown side by side; may be given several times [default: all, of many the rate of each phase]
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// Whether more or less of a metric is better, where its source does not tell; may be given several times
    #[arg(long, value_name = "METRIC=higher|lower")]
    pub better: Vec<String>,
    /// Leave out runs that something slowed instead of taking what they show as the least that the target does
    #[arg(long)]
    pub strict: bool,
    /// The ranking as Markdown, for an issue or a forum
    #[arg(long)]
    pub markdown: bool,
    /// Write a self-contained page
    #[arg(long, short, value_name = "FILE.html", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Keep the names and serial numbers of the machines and their users on the page
    #[arg(long)]
    pub identify: bool,
}
