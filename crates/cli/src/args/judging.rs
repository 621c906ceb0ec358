//! Of commands that hold results side by side.

use super::measuring::FailOn;
use crate::names::{Names, offer};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    after_help = "A SIDE is a run's id or the beginning of one, a tag (all its runs), 'latest', the path of a bundle, a file that
another tool printed, or the name of a target (its latest run). Runs of an experiment are compared pair by pair, several runs a side as sets, with a verdict and without a
proof of its cause; one run each is never better or worse.

Exit code 4: it cannot be told, or nothing could be compared; of one run of a side, which never tells, only with --fail-on.

Examples:
  narrows compare before after --margin 3    two tags; below 3 % is the same
  narrows compare old.fio.json new.fio.json --fail-on worse
  narrows compare --repeat 6 'mix /mnt/data' --with depth=1,32 --set read-percent=100 \\
    --set region=256MiB --set time=2s --primary read100.iops
  narrows compare a b --margin seq-read.throughput_bytes_per_s=2 --fail-on worse
  narrows compare latest 7f3a --markdown     for an issue or a forum
  git bisect run narrows compare good 'mix /mnt/data' --until-sure 20 --bisect
  narrows compare old.json new.json -o page.html"
)]
#[command(group = clap::ArgGroup::new("making").args(["repeat", "until_sure"]))]
pub struct CompareArgs {
    /// Before: id, tag, 'latest', path of a bundle, or a file
    #[arg(value_name = "A", add = offer(&[Names::Runs, Names::Paths]))]
    pub a: OsString,
    /// After
    #[arg(value_name = "B", add = offer(&[Names::Runs, Names::Paths]), required_unless_present = "repeat")]
    pub b: Option<OsString>,
    /// Make the runs first: N of each value of --with; A is 'WORKLOAD TARGET'
    ///
    /// In randomised order.
    #[arg(long, value_name = "N", requires = "with", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// What differs between the runs: a setting, or a key of the workload
    ///
    /// A setting has a name (narrows settings list), or is a file below /sys, a sysctl, or mount-options; target is the target.
    #[arg(long, value_name = "KEY=A,B", requires = "repeat", add = offer(&[Names::Settings, Names::Keys]))]
    pub with: Option<String>,
    /// Make runs of B, a 'WORKLOAD TARGET', until the verdict is clear, N at most
    ///
    /// After how many runs is looked is fixed beforehand, and the error rate is shared among the looks.
    #[arg(long, value_name = "N", conflicts_with_all = ["repeat", "output", "plan"], value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub until_sure: Option<u32>,
    /// Exit code 0 for good (the same or better), 1 for bad (worse), 125 for cannot tell, as git bisect run takes it
    #[arg(long, conflicts_with_all = ["repeat", "fail_on"])]
    pub bisect: bool,
    /// Another value for a key of the workload, in all runs that are made
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "making", add = offer(&[Names::Keys]))]
    pub set: Vec<String>,
    /// Show what --repeat would do instead of doing it
    #[arg(long, requires = "repeat")]
    pub plan: bool,
    /// Seed of the order of the runs that are made, and of everything random in them [default: from the system]
    #[arg(long, value_name = "N", requires = "making")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub permissions: super::measuring::Permissions,
    /// The largest difference that does not matter [default: 5; tails 10]
    ///
    /// In percent, of all metrics or of one.
    #[arg(long = "margin", value_name = "PERCENT|METRIC=PERCENT")]
    pub margins: Vec<String>,
    /// Error rate over all primary metrics together [default: 0.05]
    #[arg(long, value_name = "ALPHA")]
    pub alpha: Option<f64>,
    /// A metric that decides; repeatable [default: the rate of each phase]
    #[arg(long = "primary", value_name = "METRIC")]
    pub primary: Vec<String>,
    /// Leave out runs that something slowed (steal, other programs, throttling) instead of counting them with a warning
    #[arg(long)]
    pub strict: bool,
    /// Exit code 1 if a primary metric has this verdict, 4 if that cannot be told
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// With --fail-on, judge also sides whose job options differ
    #[arg(long, requires = "fail_on")]
    pub anyway: bool,
    /// Write a self-contained page
    #[arg(long, short, value_name = "FILE.html", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Keep the names and serial numbers of the machines and their users on the page
    #[arg(long)]
    pub identify: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "A SOURCE is a run's id or the beginning of one, a tag (all its runs), 'latest', the path of a bundle, a file that
another tool printed (a CSV with a header has a target in each row), or the name of a target (its latest run). Runs of one target belong together. Targets that do
not differ share a rank. In a METRIC, * matches anything.

Examples:
  narrows rank /mnt/card-a /mnt/card-b       the latest run of each: which to buy, and for what
  narrows rank /mnt/a /mnt/b --for root-fs,video=V30   who is good for these uses
  narrows rank latest 7f3a cards             two runs and a tag
  narrows rank cards.csv --predict install_s which number predicts a time
  narrows rank cards.csv --better 'install*=lower' --better '*iops*=higher'
  narrows rank a b c --metric 'rand-*.iops' --markdown
  narrows rank cards -o page.html"
)]
pub struct RankArgs {
    /// Ids, tags, 'latest', paths of bundles, or files
    #[arg(value_name = "SOURCE", required = true, add = offer(&[Names::Runs, Names::Paths]))]
    pub sources: Vec<OsString>,
    /// The metric that matters: which others put the targets in its order?
    #[arg(long, value_name = "METRIC")]
    pub predict: Option<String>,
    /// What it may be predicted from; may be given several times [default: all other metrics]
    #[arg(long = "predictors", value_name = "METRIC")]
    pub predictors: Vec<String>,
    /// Which of them is good for a use? root-fs, etcd, A1, video=V30 ..., or several
    ///
    /// Names as of check --for. Exit code 4 where it is not known of any target.
    #[arg(long = "for", value_name = "WHAT", value_delimiter = ',', add = offer(&[Names::Uses]))]
    pub made_for: Vec<String>,
    /// What is shown side by side, also several [default: all, or the rates]
    ///
    /// Of many metrics the rate of each phase.
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// Which direction of a metric is better, where its source does not say
    #[arg(long, value_name = "METRIC=higher|lower")]
    pub better: Vec<String>,
    /// Leave out runs that something slowed instead of taking what they show as the least that the target does
    #[arg(long)]
    pub strict: bool,
    /// Write a self-contained page
    #[arg(long, short, value_name = "FILE.html", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Keep the names and serial numbers of the machines and their users on the page
    #[arg(long)]
    pub identify: bool,
}
