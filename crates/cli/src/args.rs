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
    /// Execute a workload (a built-in one, a TOML text, a fio job file) or an experiment
    Run(RunArgs),
    /// The layer that limits a run, what that rests on, and what would decide it
    Why(WhyArgs),
    /// iostat and dstat in one: every layer of a storage path, since boot first, then interval by interval
    Watch(WatchArgs),
    /// Did it help, did it hurt anything? A verdict for each metric
    Compare(CompareArgs),
    /// Many targets side by side; which metric predicts what matters
    Rank(RankArgs),
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

/// What the user allows to be lost, or to be touched.
#[derive(Args, Debug, Clone, Default)]
pub struct Permissions {
    /// Allow writing into the regular file TARGET: its content is lost
    #[arg(long)]
    pub overwrite: bool,
    /// Allow writing to the block device TARGET with this serial number (or name, if it has none): its content is lost
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
    /// Read the few device registers that are known to hold a cause, as root, before anything is measured; even a read can
    /// hang a machine
    #[arg(long)]
    pub read_registers: bool,
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

#[derive(Args, Debug, Clone)]
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
  narrows run job.fio --format fio-json           fio's own JSON, for its plotting tools
  narrows run read-ahead.toml /mnt/data           an experiment: arms, pairs in random order, verdicts, a page
  narrows run read-ahead.toml --resume            goes on with it after Ctrl-C, a crash or a reboot
  narrows run read-ahead.toml . --calibrate       its first arm twice: how much noise this rig has"
)]
pub struct RunArgs {
    /// Name of a built-in workload, TOML file, fio job file, experiment, or - for stdin
    #[arg(
        value_name = "WORKLOAD",
        value_hint = clap::ValueHint::FilePath,
        required_unless_present_any = ["resume", "restore"]
    )]
    pub workload: Option<OsString>,
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
    /// Go on with an experiment in the order that was drawn: this execution of it, else the last one that is not complete
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["plan", "format"])]
    pub resume: Option<OsString>,
    /// Run the first arm of an experiment under two names: what differs is noise, and is kept as this rig's noise floor
    #[arg(long, conflicts_with_all = ["plan", "format", "resume"])]
    pub calibrate: bool,
    /// Undo what an experiment changed and could not undo itself (a crash, a power cut), and end
    #[arg(long, conflicts_with_all = ["plan", "format", "resume", "calibrate", "workload"])]
    pub restore: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "A SIDE is a run's id or the beginning of one, a tag (all its runs), 'latest', the path of a bundle, or a file that
another tool printed. Runs of an experiment are compared pair by pair; one run each is never better or worse.

Examples:
  narrows compare before after               two tags
  narrows compare before after --margin 3    what is less than 3 % does not matter
  narrows compare a b --margin seq-read.throughput_bytes_per_s=2 --fail-on worse
  narrows compare latest 7f3a --markdown     for an issue or a forum
  narrows compare old.json new.json -o page.html"
)]
pub struct CompareArgs {
    /// Before: id, tag, 'latest', path of a bundle, or a file
    #[arg(value_name = "A", value_hint = clap::ValueHint::AnyPath)]
    pub a: OsString,
    /// After
    #[arg(value_name = "B", value_hint = clap::ValueHint::AnyPath)]
    pub b: OsString,
    /// The largest difference that does not matter, per cent, of all metrics or of one [default: 5; tails 10]
    #[arg(long = "margin", value_name = "PERCENT|METRIC=PERCENT")]
    pub margins: Vec<String>,
    /// Error rate over all primary metrics together [default: 0.05]
    #[arg(long, value_name = "ALPHA")]
    pub alpha: Option<f64>,
    /// A metric that is asked; may be given several times [default: the rate of each phase]
    #[arg(long = "primary", value_name = "METRIC")]
    pub primary: Vec<String>,
    /// Exit code 1 if a primary metric is so
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// The comparison as Markdown, for an issue or a forum
    #[arg(long)]
    pub markdown: bool,
    /// Write a self-contained page
    #[arg(long, short, value_name = "FILE.html", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// What ends a comparison with exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A primary metric is worse.
    Worse,
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
    /// The ranking as Markdown, for an issue or a forum
    #[arg(long)]
    pub markdown: bool,
    /// Write a self-contained page
    #[arg(long, short, value_name = "FILE.html", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
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
    /// Which runs: ids, beginnings of ids, tags, 'latest' or paths of bundles
    #[arg(default_value = "latest", value_name = "RUN")]
    pub runs: Vec<String>,
    /// Where the page goes; several runs need it [default: reports/RUN.html in the archive]
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
    /// bonnie++'s line of format 1.98, from runs imported from it or with phases of its names
    BonnieCsv,
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
table; iozone's table and Excel report; iostat's text and JSON; watch's, dstat's and dool's CSV; dd and hdparm; reports of SD cards;
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
