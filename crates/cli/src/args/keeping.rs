//! Of commands on what is kept, and what comes and goes.

use crate::names::{Names, offer};
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A RUN is an id, the unique beginning of one, a tag, 'latest', or the path of a bundle.

Examples:
  narrows runs                         list
  narrows runs list --target /mnt/card --since 7d
  narrows runs show latest             the card once more
  narrows runs prune --older-than 90d --keep 10 --dry-run   what such a rule would delete
  narrows runs wear                    how long the disks last
  narrows runs tag latest before       remember it by a name
  ls \"$(narrows runs path latest)\"     what is kept of it
  narrows runs merge board:.local/share/narrows /mnt/usb/narrows
  narrows runs verify                  check every bundle against its checksums
  narrows runs recover                 save what a crash left behind"
)]
pub struct RunsArgs {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
}

/// Which runs of the archive are meant: those that fit all that is given.
#[derive(Args, Clone, Debug, Default)]
pub struct RunsFilter {
    /// With this tag
    #[arg(long, value_name = "TAG", add = offer(&[Names::Tags]))]
    pub tag: Option<String>,
    /// Of this workload
    #[arg(long, value_name = "NAME", add = offer(&[Names::Workloads]))]
    pub workload: Option<String>,
    /// On this target, or with this in its name
    #[arg(long, value_name = "TARGET", add = offer(&[Names::Devices]))]
    pub target: Option<String>,
    /// Not older than this (7d, 12h)
    #[arg(long, value_name = "AGE")]
    pub since: Option<String>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "An SD card does not tell its wear: 300 to 3 000 writes of all of it are assumed, which is an estimate.

Examples:
  narrows runs wear                         all disks
  narrows runs wear mmcblk0                 one: a device, a place on it, a serial number or a part of a model
  narrows runs wear mmcblk0 --per-day 5GB   how long it lasts if that is written in a day
  narrows runs wear sim:a1-card --per-day 5GB"
)]
pub struct WearArgs {
    /// Only this disk: a device, a place on it, a serial number or a part of its model
    #[arg(add = offer(&[Names::Devices, Names::Paths]))]
    pub disk: Option<OsString>,
    /// How much is written to it in a day, instead of what was seen (5GB)
    #[arg(long, value_name = "SIZE")]
    pub per_day: Option<String>,
}

#[derive(Subcommand, Debug)]
pub enum RunsCommand {
    /// All runs, or those that fit, newest last
    List(RunsFilter),
    /// Delete runs by a rule; those with a tag stay, unless --tag names it
    Prune {
        #[command(flatten)]
        filter: RunsFilter,
        /// Keep so many of each workload on each target, the newest
        #[arg(long, value_name = "N", required_unless_present = "older_than")]
        keep: Option<usize>,
        /// Only runs that are older (30d, 12h)
        #[arg(long, value_name = "AGE")]
        older_than: Option<String>,
        /// Only say which would go
        #[arg(long)]
        dry_run: bool,
        /// Delete without asking; only a terminal is asked
        #[arg(long, short)]
        yes: bool,
    },
    /// How long the disks last: by what they say of their wear, else by what is written to them
    Wear(WearArgs),
    /// One run: its card, or with --json all of it
    Show {
        /// Which run
        #[arg(default_value = "latest", add = offer(&[Names::Runs, Names::Paths]))]
        run: OsString,
    },
    /// Where the bundle of a run lies: its directory, and nothing else
    Path {
        /// Which runs
        #[arg(required = true, add = offer(&[Names::Runs, Names::Paths]))]
        runs: Vec<String>,
    },
    /// Check bundles against their SHA256SUMS (exit 1 if one was altered)
    Verify {
        /// Which runs; all without one
        #[arg(add = offer(&[Names::Runs, Names::Paths]))]
        runs: Vec<String>,
    },
    /// Turn what a crash or SIGKILL left behind into runs marked truncated, and undo settings that it left changed
    Recover,
    /// Take over the runs of other archives, with their tags; exit 1 if one could not be
    ///
    /// Each bundle is checked against its SHA256SUMS. One that is here already is passed over; another run of the same id stays as it is.
    Merge {
        /// Archives or directories of bundles: paths, or HOST:PATH by ssh
        #[arg(value_name = "FROM", required = true, value_hint = clap::ValueHint::DirPath)]
        from: Vec<OsString>,
    },
    /// Rebuild index.jsonl from the bundles
    Reindex,
    /// Give a run a tag, or list tags
    Tag {
        /// Which run; without one, all tags are listed
        #[arg(add = offer(&[Names::Runs, Names::Paths]))]
        run: Option<String>,
        /// The tags
        #[arg(add = offer(&[Names::Tags]))]
        tags: Vec<String>,
        /// Remove the tags instead
        #[arg(long, short)]
        delete: bool,
    },
    /// Delete runs with their pages and tags
    Delete {
        /// Which runs
        #[arg(required = true, add = offer(&[Names::Runs, Names::Paths]))]
        runs: Vec<String>,
        /// Delete without asking; only a terminal is asked
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Which runs: ids, tags, 'latest', paths of bundles, or files that another tool printed
    #[arg(default_value = "latest", value_name = "RUN", add = offer(&[Names::Runs, Names::Paths]))]
    pub runs: Vec<OsString>,
    /// Where the page goes; several runs need it [default: reports/RUN.html in the archive]
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Keep the names and serial numbers of the machine and its users on the page
    #[arg(long)]
    pub identify: bool,
}

/// A format of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// fio 3.33's JSON, with each job of each phase. Into a directory: a document for each measured phase
    FioJson,
    /// The same with every bucket of the histograms (fio's json+)
    #[value(name = "fio-json+")]
    FioJsonPlus,
    /// fio's bandwidth, IOPS and latency logs, one directory
    FioLogs,
    /// A line for each metric of one or many runs
    Csv,
    /// Many runs as a table, a row a run, a column a metric: Otava, PostgreSQL, DuckDB
    HistoryCsv,
    /// The latest runs for the node exporter's textfile directory
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// Bencher's metric format
    Bencher,
    /// HdrHistogram interval log, a line for each phase
    Hlog,
    /// iozone's table, from a run that measured record sizes and operations
    Iozone,
    /// bonnie++'s line of format 1.98, from runs imported from it or with phases of its names
    BonnieCsv,
}

#[derive(Args, Debug)]
#[command(after_help = "Numbers that were refused are zero or blank, with the reason beside them; see --keep-refused.

Examples:
  narrows export latest --format fio-json -o run.json   a job for each phase
  narrows export latest --format fio-json -o plots/     as fio-plot wants it
  narrows export latest --format fio-logs -o plots/     the series
  narrows export before after --format csv              the metrics of two runs
  narrows export nightly --format history-csv -o db/    a row a run, with its schema.sql
  narrows export latest --format openmetrics -o /var/lib/prometheus/node-exporter/narrows.prom
  narrows export latest --format hlog -o run.hlog       latencies, for HdrHistogram's tools")]
pub struct ExportArgs {
    /// Which runs: ids, tags, 'latest', paths of bundles, or files that another tool printed
    #[arg(value_name = "RUN", required = true, add = offer(&[Names::Runs, Names::Paths]))]
    pub runs: Vec<OsString>,
    /// Which format
    #[arg(long, short, value_enum, value_name = "FORMAT")]
    pub format: ExportFormat,
    /// Where it goes: a file, or a directory for formats of several files [default: stdout]
    #[arg(long, short, value_name = "FILE|DIR", value_hint = clap::ValueHint::AnyPath)]
    pub output: Option<PathBuf>,
    /// Only this phase; may be given several times
    #[arg(long = "phase", value_name = "NAME")]
    pub phases: Vec<String>,
    /// Give the numbers of refused phases as well, still marked as refused
    #[arg(long)]
    pub keep_refused: bool,
}

/// Which direction of a metric is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportDirection {
    /// More is better
    Higher,
    /// Less is better
    Lower,
}

#[derive(Args, Debug)]
#[command(
    after_help = "The format is told by the content: fio's JSON, JSON+, terse lines and text, also of clients; bonnie++'s CSV and
table; iozone's table and Excel report; iostat's text and JSON; watch's, dstat's and dool's CSV; dd, hdparm, ioping, CrystalDiskMark,
KDiskMark, sysbench fileio, pg_test_fsync, f3, H2testw and blkparse; elbencho's text, CSV and JSON; yabs, kbench, dbench, kubestr, PiBenchmarks, ior, mdtest and
the storage tests of the Phoronix Test Suite; smartctl's and nvme's JSON; reports of SD cards;
CSV with a header, whose first column of text names the target and whose numeric columns are metrics. One file may hold several
outputs, between shell prompts. The files are kept in the runs, byte for byte.

Examples:
  narrows import fio.json bonnie.csv              each output becomes a run
  fio job.fio | narrows import -                  what a tool prints
  narrows import old/*.log --tag before           a set of runs under one name
  narrows import cards.csv --better install_s=lower
  narrows import etcd-fio.json --for etcd         are its syncs fast enough?
  narrows import run.txt --json | jq .not_understood"
)]
pub struct ImportArgs {
    /// Files with the output of other tools; - is stdin
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    pub files: Vec<OsString>,
    /// Which direction of a metric is better, where its format does not say
    #[arg(long, value_name = "METRIC=higher|lower")]
    pub better: Vec<String>,
    /// Is the storage good for this, by these numbers? A name as of check --for
    #[arg(long = "for", value_name = "WHAT", add = offer(&[Names::Uses]))]
    pub made_for: Option<String>,
    /// A tag for the runs; may be given several times
    #[arg(long = "tag", value_name = "TAG", add = offer(&[Names::Tags]))]
    pub tags: Vec<String>,
}

#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
