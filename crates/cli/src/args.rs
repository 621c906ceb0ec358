//! The command line, as one table.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Find where your storage narrows, widen it, and prove it.
#[derive(Parser, Debug)]
#[command(
    name = "narrows",
    version,
    about,
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
    /// Execute a workload: a built-in one, a TOML text, or a fio job file
    Run(RunArgs),
    /// The layer that limits a run, what that rests on, and what would decide it
    Why(WhyArgs),
    /// iostat and dstat in one: every layer of a storage path, since boot first, then interval by interval
    Watch(WatchArgs),
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

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  narrows check                          the current directory
  narrows check /mnt/card                a card, for a minute
  narrows check /mnt/data --budget 5m    longer, on larger files
  narrows check /dev/sda                 a disk, only reading
  narrows check /dev/sdb --destroy S3R1  a disk that may be overwritten, by its serial number
  narrows check null:                    the program's own overhead
  narrows check sim:class4-card          a simulated device with known truth, in a moment
  narrows check . --json | jq .limit     for scripts")]
pub struct CheckArgs {
    /// Directory, file, block device, null: or sim:NAME[,key=value...]
    #[arg(default_value = ".", value_hint = clap::ValueHint::AnyPath)]
    pub target: OsString,
    /// How long it may take, layout included (60s, 2m, 1h)
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub budget: String,
    /// Where the page goes [default: reports/RUN.html in the archive]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub permissions: Permissions,
    /// Seed of everything random [default: from the system]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A tag for the run; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

/// What the user allows to be lost.
#[derive(Args, Debug, Clone, Default)]
pub struct Permissions {
    /// Allow writing into the regular file TARGET: its content is lost
    #[arg(long)]
    pub overwrite: bool,
    /// Allow writing to the block device TARGET with this serial number (or name, if it has none): its content is lost
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
}

/// What happens after a failed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnError {
    /// The phase ends, and its numbers are refused
    Stop,
    /// It is counted by its errno, and the phase goes on: its numbers are partial
    Continue,
}

/// A format in which a run may be printed instead of its summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunFormat {
    /// fio 3.33's JSON
    FioJson,
    /// The same with every bucket of the histograms (fio's json+)
    #[value(name = "fio-json+")]
    FioJsonPlus,
}

#[derive(Args, Debug)]
#[command(
    after_help = "WORKLOAD is the name of a built-in one (narrows workloads), a TOML text of your own, or a fio job file; - is
stdin. A file in a directory TARGET is always temporary: nothing of yours is read or written there.

Examples:
  narrows run depth /mnt/card                     IOPS and latency by queue depth, the knee marked
  narrows run sweep . --set size=256MiB           the iozone grid
  narrows run steady /dev/sdb --destroy S3R1      a disk that may be overwritten, by its serial number
  narrows run job.fio /mnt/data                   a fio job file, as it is
  narrows run job.fio --plan                      what it would do, without doing it
  narrows run job.fio --set iodepth=8 --lenient   another depth; options without a counterpart are listed, not refused
  narrows run mix sim:a1-card --json              a simulated card, for scripts
  narrows run job.fio --format fio-json           fio's own JSON, for its plotting tools"
)]
pub struct RunArgs {
    /// Name of a built-in workload, TOML file, fio job file, or - for stdin
    #[arg(value_name = "WORKLOAD", value_hint = clap::ValueHint::FilePath)]
    pub workload: OsString,
    /// Directory, file, block device, null: or sim:NAME[,key=value...] [default: what the workload names, else .]
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    pub target: Option<OsString>,
    /// Another value for a key of all jobs (PHASE.KEY for one phase), or for an option of a fio job file
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Print the resolved plan instead of executing it
    #[arg(long)]
    pub plan: bool,
    /// Leave out what a fio job file asks for and is not supported, and say so in the run
    #[arg(long)]
    pub lenient: bool,
    /// What a failed operation does [default: as the workload says, else stop]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_error: Option<OnError>,
    /// Print the run in another tool's format instead of its summary
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "plan")]
    pub format: Option<RunFormat>,
    /// Where the page goes [default: reports/RUN.html in the archive]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub permissions: Permissions,
    /// Seed of everything random [default: from the system]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A tag for the run; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Nothing is measured and nothing is changed. No device register is read without --read-registers.

Examples:
  narrows inspect                        all disks, one line each
  narrows inspect /mnt/data              file system, RAID, mapping, partition, disk, link, controller, host
  narrows inspect /dev/mmcblk0           a card or disk; its name alone will do: mmcblk0
  narrows inspect --capture my.tar       what a stranger needs to see of this machine, for a bug report
  narrows inspect --root my mmcblk0      the same path, read from an unpacked capture
  narrows inspect . --json | jq .ceiling for scripts"
)]
pub struct InspectArgs {
    /// Directory, file, device, a device's name such as sda, or sim:NAME [default: all disks]
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    pub target: Option<OsString>,
    /// Read a captured tree instead of this machine
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub root: Option<PathBuf>,
    /// Write all that is read into an archive that can be replayed with --root; - is stdout
    #[arg(long, value_name = "FILE.tar", value_hint = clap::ValueHint::FilePath)]
    pub capture: Option<PathBuf>,
    /// Leave serial numbers, UUIDs and names of the machine in the capture as they are
    #[arg(long)]
    pub keep_serials: bool,
    /// Read the few device registers that are known to hold a cause, as root; even a read can hang a machine
    #[arg(long)]
    pub read_registers: bool,
}

/// Whose columns a CSV has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CsvColumns {
    /// Ours: a line for each layer and interval, units in the names
    Narrows,
    /// Those of iostat -x; kB are KiB, as there
    Iostat,
    /// Those of dstat -T -tcdry, a line for each interval
    Dstat,
}

#[derive(Args, Debug)]
#[command(
    after_help = "The first row is the mean since boot, the others cover an interval each. Ctrl-C ends it. In the table, KiB are 1024
bytes, await is the mean time of a request from its queueing to its completion, queue the mean number of requests in
flight (iostat's aqu-sz), req the mean size of a request; temperature and frequency are the highest of any.

Examples:
  narrows watch                          all disks that were ever used, every second
  narrows watch /mnt/data                each layer below: mapping, RAID, loop, partition, disk
  narrows watch /dev/sda --interval 5s   a device
  narrows watch sda --live               full screen with sparklines; q quits
  narrows watch --count 60 --csv > a.csv a minute, for a spreadsheet
  narrows watch . --json | jq .layers    a JSON document a line"
)]
pub struct WatchArgs {
    /// Directory, file, block device, or a device's name such as sda [default: all disks]
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    pub target: Option<OsString>,
    /// Time between rows (500ms, 1s, 1m)
    #[arg(long, short, value_name = "TIME", default_value = "1s")]
    pub interval: String,
    /// End after so many rows, the first included
    #[arg(long, short = 'n', value_name = "N")]
    pub count: Option<u64>,
    /// CSV instead of a table
    #[arg(
        long,
        value_enum,
        value_name = "COLUMNS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "narrows",
        conflicts_with = "live"
    )]
    pub csv: Option<CsvColumns>,
    /// Full screen with sparklines, on a terminal
    #[arg(long)]
    pub live: bool,
}

#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A RUN is an id, the unique beginning of one, a tag, 'latest', or the path of a bundle.

Examples:
  narrows runs                         list
  narrows runs show latest             the card once more
  narrows runs tag latest before       remember it by a name
  narrows runs verify                  check every bundle against its checksums
  narrows runs recover                 save what a crash left behind"
)]
pub struct RunsArgs {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
}

#[derive(Subcommand, Debug)]
pub enum RunsCommand {
    /// All runs, newest last
    List,
    /// One run: its card, or with --json all of it
    Show {
        /// Which run
        #[arg(default_value = "latest")]
        run: String,
        /// The card as Markdown, for an issue or a forum
        #[arg(long)]
        markdown: bool,
    },
    /// Check bundles against their SHA256SUMS (exit 1 if one was altered)
    Verify {
        /// Which runs; all without one
        runs: Vec<String>,
    },
    /// Turn what a crash or SIGKILL left behind into runs marked truncated
    Recover,
    /// Rebuild index.jsonl from the bundles
    Reindex,
    /// Give a run a tag, or list tags
    Tag {
        /// Which run; without one, all tags are listed
        run: Option<String>,
        /// The tags
        tags: Vec<String>,
        /// Remove the tags instead
        #[arg(long, short)]
        delete: bool,
    },
    /// Delete runs with their pages and tags
    Delete {
        /// Which runs
        #[arg(required = true)]
        runs: Vec<String>,
    },
}

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Which run: id, beginning of an id, tag, 'latest' or the path of a bundle
    #[arg(default_value = "latest")]
    pub run: String,
    /// Where the page goes [default: reports/RUN.html in the archive]
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// A format of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// fio 3.33's JSON; each executed phase is a job. Into a directory: a document for each measured phase
    FioJson,
    /// The same with every bucket of the histograms (fio's json+)
    #[value(name = "fio-json+")]
    FioJsonPlus,
    /// fio's bandwidth, IOPS and latency logs, one directory
    FioLogs,
    /// A line for each metric of one or many runs
    Csv,
    /// HdrHistogram interval log, a line for each phase
    Hlog,
    /// iozone's table, from a run that measured record sizes and operations
    Iozone,
}

#[derive(Args, Debug)]
#[command(after_help = "Numbers that were refused are zero or blank, with the reason beside them; see --keep-refused.

Examples:
  narrows export latest --format fio-json -o run.json   one document, a job for each phase
  narrows export latest --format fio-json -o plots/     one for each phase, as fio-plot wants it
  narrows export latest --format fio-logs -o plots/     the series
  narrows export before after --format csv              the metrics of two runs
  narrows export latest --format hlog -o run.hlog       latencies, for HdrHistogram's tools")]
pub struct ExportArgs {
    /// Which runs: ids, beginnings of ids, tags, 'latest' or paths of bundles
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
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
table; iozone's table and Excel report; iostat's text and JSON; dstat's and dool's CSV; dd and hdparm; reports of SD cards;
CSV with a header, whose first column of text names the target and whose numeric columns are metrics. Several outputs may
stand in one file, between shell prompts. The files are kept in the runs, byte for byte.

Examples:
  narrows import fio.json bonnie.csv              each output becomes a run
  fio job.fio | narrows import -                  what a tool prints
  narrows import old/*.log --tag before           a set of runs under one name
  narrows import cards.csv --better install_s=lower
  narrows import run.txt --json | jq .not_understood"
)]
pub struct ImportArgs {
    /// Files with the output of other tools; - is stdin
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    pub files: Vec<OsString>,
    /// Whether more or less of a metric is better, where its format does not tell; may be given several times
    #[arg(long, value_name = "METRIC=higher|lower")]
    pub better: Vec<String>,
    /// A tag for the runs; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "A RUN is an id, the unique beginning of one, a tag, 'latest', or the path of a bundle. --confirm measures on the
run's own target, keeps that as a run of its own, and changes no setting.

Examples:
  narrows why                       the last run
  narrows why before --json | jq .limit
  narrows why latest --confirm      measure what decides"
)]
pub struct WhyArgs {
    /// Which run
    #[arg(default_value = "latest")]
    pub run: String,
    /// Run the measurement that decides the first cause, on the run's target, and say what came out
    #[arg(long)]
    pub confirm: bool,
    #[command(flatten)]
    pub permissions: Permissions,
}

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Id of a finding; without one, all are listed
    pub id: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  narrows workloads                        one line each
  narrows workloads show depth             its text, in the language of your own
  narrows workloads show depth > my.toml   a start for your own")]
pub struct WorkloadsArgs {
    #[command(subcommand)]
    pub command: Option<WorkloadsCommand>,
}

#[derive(Subcommand, Debug)]
pub enum WorkloadsCommand {
    /// All workloads with the question that each answers
    List,
    /// The text of a workload
    Show {
        /// Which one
        name: String,
    },
}

#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
