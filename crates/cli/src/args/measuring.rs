//! Of commands that measure.

use super::GroupArgs;
use crate::names::{Names, offer};
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  narrows check                          the current directory
  narrows check /mnt/card                a card, for a minute
  narrows check /mnt/data --budget 5m    longer, on larger files
  narrows check /dev/sda                 a disk, only reading
  narrows check /dev/sdb --destroy S3R1  a disk that may be overwritten, by its serial number
  narrows check null:                    the program's own overhead
  narrows check sim:class4-card          a simulated device with known truth, in a moment
  narrows check /mnt/card --for root-fs  good enough to run a system from?
  narrows check /mnt/a /mnt/b            two targets, shown side by side
  narrows check /mnt/nfs --group --rank 0/2 --meet node1:7411   one of two clients of one store, measured together
  narrows check . --plan                 what it would do, and how much it would write at most
  narrows check . --json | jq .limit     for scripts")]
pub struct CheckArgs {
    /// Directory, file, block device, null: or sim:NAME; several are shown side by side
    ///
    /// A simulated device is sim:NAME[,key=value...]; sim:help lists them. null: has no device, and shows the program's own overhead.
    #[arg(value_name = "TARGET", default_value = ".", add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
    pub targets: Vec<OsString>,
    /// How long it may take, prefilling included (60s, 2m, 1h); a number alone is seconds
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub budget: String,
    /// Is it good for a use? root-fs, etcd, A1, video=V30 ...
    ///
    /// etcd, postgres, sqlite, root-fs, vm-images, responsive, A1, A2, video=V30, record=4x16Mbit, checkpoint=20GB/60s, or several.
    /// narrows explain for-etcd says what a use needs. Only what decides it is measured; exit code 1 for no.
    #[arg(long = "for", value_name = "WHAT", value_delimiter = ',', add = offer(&[Names::Uses]))]
    pub made_for: Vec<String>,
    /// The most that may be written [default: 2 GiB, or 2 % of the device]
    ///
    /// Without it the larger of twice the layout and 2 GiB, but no more than 2 % of the device; of one below 20 GB 384 MiB, at most
    /// a quarter of it.
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["read_only", "exhaust"])]
    pub max_write: Option<String>,
    /// Write nothing; measure only what reads show
    #[arg(long, conflicts_with_all = ["exhaust", "overwrite", "destroy"])]
    pub read_only: bool,
    /// Write as much as the time allows, until write caches have run out: wears flash
    #[arg(long)]
    pub exhaust: bool,
    /// Show what would be done, and how much it writes at most, without doing it
    #[arg(long)]
    pub plan: bool,
    /// Where the page goes [default: reports/RUN.html in the archive]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// Keep the names and serial numbers of the machine and its users on the page
    #[arg(long)]
    pub identify: bool,
    /// How often series and samples go to the archive while a phase runs
    ///
    /// Also where the archive is on the measured disk; 0s: only when the phase has ended. Without it 60s, and on the measured disk when
    /// the phase has ended.
    #[arg(long, value_name = "TIME")]
    pub keep_every: Option<String>,
    #[command(flatten)]
    pub permissions: Permissions,
    #[command(flatten)]
    pub marks: RunMarks,
    #[command(flatten)]
    pub group: GroupArgs,
}

#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "The phases that decide are measured, or read from a run that is kept. A short test through a file system or a reader cannot
certify a class: it says on which side of each threshold the numbers are, and which conditions of the class were not met. What
was not measured, or is not valid, is never above.

Examples:
  narrows rate /mnt/card               all classes, in a minute
  narrows rate /mnt/card --class v30   0 above, 1 below, 4 not known
  narrows rate /dev/sdb --destroy S3R1 --capacity quick   a fake? in seconds
  narrows rate /dev/sdb --destroy S3R1       the card itself, without a file system
  narrows rate latest                        of a run that is kept: its id, a tag, a bundle
  narrows rate crystaldiskmark.txt           of what another tool printed, as far as it tells
  narrows rate sim:class4-card --json        a simulated card, in a moment"
)]
pub struct RateArgs {
    /// Directory, file, block device or sim:NAME; or a run that is kept
    ///
    /// A run is its id or the beginning of it, a tag, latest, or the path of a bundle; or a text file with what another tool printed (- is
    /// stdin).
    #[arg(value_name = "TARGET|RUN", add = offer(&[Names::Devices, Names::Simulated, Names::Runs, Names::Paths]))]
    pub source: OsString,
    /// One class: A1, A2, C2 to C10, U1, U3, V6 to V90; exit code 1 if below
    #[arg(long, value_name = "CLASS", add = offer(&[Names::Classes]))]
    pub class: Option<String>,
    /// Find out how large it really is: at random offsets, or all; content is lost
    #[arg(long, value_enum, value_name = "HOW", conflicts_with = "max_write")]
    pub capacity: Option<CapacityHow>,
    /// How long measuring may take, prefilling included; a number alone is seconds
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub budget: String,
    /// The most that may be written [default: as for check]
    #[arg(long, value_name = "SIZE")]
    pub max_write: Option<String>,
    #[command(flatten)]
    pub permissions: Permissions,
    #[command(flatten)]
    pub marks: RunMarks,
}

#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "All of a target, or of what is free in a directory, is written once from start to end; then it rests, and a twentieth is
written again. It is the workload fill (narrows workloads show fill): narrows run fill takes its keys.

Examples:
  narrows fill /mnt/card                 what is free, in a temporary file
  narrows fill /dev/sdb --destroy S3R1   a whole device; its content is lost
  narrows fill /mnt/card --size 20GiB --rest 60s
  narrows fill /dev/sdb --destroy S3R1 --random --passes 2
  narrows fill sim:nvme                      a simulated one, in a moment"
)]
pub struct FillArgs {
    /// Directory, file (--overwrite), block device (--destroy SERIAL) or sim:NAME
    #[arg(add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
    pub target: OsString,
    /// How much is written [default: all that is free, but for a reserve]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// How often all of it is written
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub passes: u32,
    /// Blocks in random order instead of sequential
    #[arg(long)]
    pub random: bool,
    /// How long it rests before and after each part
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub rest: String,
    /// Read all of it back: what is wrong, and how large is it really?
    #[arg(long)]
    pub verify: bool,
    /// Show what would be done, without doing it
    #[arg(long)]
    pub plan: bool,
    /// Where the page goes [default: reports/RUN.html in the archive]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub permissions: Permissions,
    #[command(flatten)]
    pub marks: RunMarks,
}

#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "Every sector carries a stamp that says which write it comes from. A pass writes all of the target in laps; each lap is flushed, read
back past the caches, and what is wrong is read again three times and classified. At the end of a pass all of it is read once more.
What was written is recorded beside the runs before each lap: after a crash, --resume first checks what must still be there.
In a directory it makes a file of its own, and removes it when nothing was wrong. Exit code 1: something was wrong.

Examples:
  narrows soak /mnt/card                 one pass over 95 % of what is free
  narrows soak /mnt/card --for 72h       passes for three days
  narrows soak /dev/sdb --destroy S3R1 --passes 3
  narrows soak --resume                           after Ctrl-C, a crash, a reboot or a power cut
  narrows soak /mnt/data --size 10GiB --rate 20MB --buffered   beside other work, through the page cache
  narrows soak /mnt/card --witness /mnt/other     the record of written data is kept on another disk
  narrows soak /mnt/card --witness me@nas:        and on another machine, by ssh"
)]
pub struct SoakArgs {
    /// Directories, files (--overwrite) and block devices (--destroy SERIAL)
    ///
    /// Several at once, each in a process of its own; --destroy once for each device, in their order.
    #[arg(value_name = "TARGET", add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
    pub targets: Vec<OsString>,
    /// How long, all sessions together [default: one pass]
    ///
    /// The soak ends with the lap in which the time is over. With --resume the time is the one given before.
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// How many passes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub passes: Option<u32>,
    /// How much of the target is written [default: all; of a file system 95 % of what is free]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Write no faster, bytes a second
    #[arg(long, value_name = "SIZE")]
    pub rate: Option<String>,
    /// Write through the page cache; reading back bypasses it anyway
    #[arg(long)]
    pub buffered: bool,
    /// Only passes that write each block once (sweep), or only those that overwrite blocks again and again (churn); otherwise every
    /// fourth does
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<SoakMode>,
    /// Random reads beside the writes, so that the interface is busy in both directions; their data are not checked
    #[arg(long)]
    pub busy: bool,
    /// Trim nothing; otherwise every fourth pass trims blocks, where the device can, before it writes them again
    #[arg(long)]
    pub no_trim: bool,
    /// What happens when something is wrong [default: continue]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_finding: Option<OnFinding>,
    /// Run this by sh for each finding, with the finding as JSON on stdin
    #[arg(long, value_name = "COMMAND", value_hint = clap::ValueHint::FilePath)]
    pub hook: Option<String>,
    /// No scrub of the file system at the end (btrfs and bcachefs, as root)
    ///
    /// On btrfs nothing is repaired; bcachefs repairs what it has a good copy of.
    #[arg(long)]
    pub no_scrub: bool,
    /// Keep the record of written data on another disk, or by ssh elsewhere
    ///
    /// A directory replaces the archive for it, and should not fail together with the target. HOST: or HOST:DIR is a copy on another machine.
    #[arg(long, value_name = "DIR|HOST:DIR", value_hint = clap::ValueHint::DirPath)]
    pub witness: Option<OsString>,
    /// Resume this soak, or the last one that is not finished
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["size", "rate", "buffered", "no_trim", "busy", "mode"])]
    pub resume: Option<String>,
    /// Allow writing into the regular file TARGET: its content is lost
    #[arg(long)]
    pub overwrite: bool,
    /// Allow writing to the block device TARGET with this serial number: its content is lost
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Vec<String>,
    #[command(flatten)]
    pub group: GroupArgs,
}

/// How thoroughly the capacity is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CapacityHow {
    /// Random offsets, as many as find a fake: seconds
    Quick,
    /// All of it is written and read back
    Full,
}

/// Which passes of a soak there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SoakMode {
    /// Each block is written once
    Sweep,
    /// Blocks are overwritten again and again, with flushes between
    Churn,
}

/// What a soak does when something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnFinding {
    /// Continue, with exit code 1 at the end
    Continue,
    /// End with this lap
    Stop,
}

/// What the user allows to be lost, or to be touched.
#[derive(Args, Debug, Clone, Default)]
pub struct Permissions {
    /// Allow writing into the regular file TARGET: its content is lost
    #[arg(long)]
    pub overwrite: bool,
    /// Allow writing to the block device with this serial number: content is lost
    ///
    /// For a partition SERIAL-partN; for an NVMe namespace its own id; for a device without a serial number its name.
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
    /// Read the device registers that are known to hold a cause, as root
    ///
    /// Before anything is measured. Even a read can hang a machine.
    #[arg(long)]
    pub read_registers: bool,
}

/// By what a run is made again, and found again.
#[derive(Args, Debug, Clone, Default)]
pub struct RunMarks {
    /// Seed of everything random [default: from the system]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A tag for the run; may be given several times
    #[arg(long = "tag", value_name = "TAG", add = offer(&[Names::Tags]))]
    pub tags: Vec<String>,
    /// Wait for a quiet machine, at most this long
    ///
    /// Quiet is: no steal, idle CPUs, no other I/O on the disk. When the time is over, it measures anyway.
    #[arg(long, value_name = "TIME")]
    pub wait_quiet: Option<String>,
}

/// What happens after a failed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnError {
    /// The phase ends, and its numbers are refused
    Stop,
    /// It is counted by its errno, and the phase continues: its numbers are partial
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

#[derive(Args, Debug, Clone, Default)]
#[command(
    after_help = "WORKLOAD is the name of a built-in one (narrows workloads), a TOML text of your own, a fio job file, or a
trace (fio's iolog, blkparse); - is stdin. A file in a directory TARGET is always temporary: nothing of yours is read or written there.

Examples:
  narrows run depth /mnt/card          IOPS and latency by queue depth
  narrows run job.fio /mnt/data        a fio job file, as it is
  narrows run --rw randread --bs 4k --iodepth 32 --runtime 10 --time_based FILE
  narrows run sweep . --set region=256MiB         the iozone grid
  narrows run steady /dev/sdb --destroy S3R1      a disk that may be overwritten, by its serial number
  narrows run app.log /mnt/data --set speed=max   a trace of block I/O, as fast as possible
  narrows run job.fio --plan                      what it would do, without doing it, and how much it writes at most
  narrows run job.fio --set iodepth=8 --lenient   another depth; options without a counterpart are listed, not refused
  narrows run mix sim:a1-card --json              a simulated card, for scripts
  narrows run job.fio --format fio-json           fio's own JSON, for its plotting tools
  narrows run mix /mnt/data --repeat 10 --tag before   ten runs, to compare with ten others; --resume continues
  srun -N4 narrows run mix /mnt/shared --group    four nodes at once, and one sum
  srun -N8 narrows run stream /mnt/shared --group --scale   by 1, 2, 4 and 8 nodes: where more of them stop to pay
  narrows run read-ahead.toml /mnt/data           an experiment: arms, pairs in random order, verdicts, a page
  narrows run read-ahead.toml --resume   continues it after Ctrl-C, a crash or a reboot
  narrows run trim.toml . --allow-commands        an experiment whose text has commands; they run as you
  narrows run read-ahead.toml . --calibrate       its first arm twice: how much noise this rig has"
)]
pub struct RunArgs {
    /// A built-in workload, TOML, fio job file, trace; - is stdin
    #[arg(value_name = "WORKLOAD", add = offer(&[Names::Workloads, Names::Paths]))]
    pub workload: Option<OsString>,
    /// Directory, file, block device, null: or sim:NAME [default: .]
    ///
    /// What the workload names, where it does. A simulated device is sim:NAME[,key=value...]; sim:help lists them.
    #[arg(add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
    pub target: Option<OsString>,
    /// Another value for a key of the jobs, or for an option of a fio job file
    ///
    /// PHASE.KEY is for one phase.
    #[arg(long = "set", value_name = "KEY=VALUE", add = offer(&[Names::Keys]))]
    pub set: Vec<String>,
    /// The workload packages by this machine's dpkg, in a root below the target
    ///
    /// With the archives (*.deb) of DIR, or generated ones.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, value_hint = clap::ValueHint::DirPath)]
    pub real: Option<Option<String>>,
    /// Print the resolved plan instead of executing it
    #[arg(long)]
    pub plan: bool,
    /// The most that may be written; refused where that cannot be held
    ///
    /// Phases end after their share of it.
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["resume", "calibrate", "restore", "repeat"])]
    pub max_write: Option<String>,
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
    /// Keep the names and serial numbers of the machine and its users on the page
    #[arg(long)]
    pub identify: bool,
    /// How often series and samples go to the archive while a phase runs
    ///
    /// Also where the archive is on the measured disk; 0s: only when the phase has ended. Without it 60s, and on the measured disk when
    /// the phase has ended.
    #[arg(long, value_name = "TIME")]
    pub keep_every: Option<String>,
    #[command(flatten)]
    pub permissions: Permissions,
    #[command(flatten)]
    pub marks: RunMarks,
    /// Make so many runs and tag them; --resume continues them
    ///
    /// Ctrl-C ends it. The experiment that it amounts to is printed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with_all = ["resume", "calibrate", "restore"])]
    pub repeat: Option<u32>,
    /// Leave out runs of an experiment that something slowed (steal, other programs, throttling) instead of warning
    #[arg(long)]
    pub strict: bool,
    /// What ends it with exit code 1; `compare --repeat` has it
    #[arg(skip)]
    pub fail_on: Option<FailOn>,
    /// Resume this experiment, or the last one that is not complete
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["plan", "format"])]
    pub resume: Option<OsString>,
    /// Run the first arm of an experiment under two names: what differs is noise, and is kept as this rig's noise floor
    #[arg(long, hide = true, conflicts_with_all = ["plan", "format", "resume"])]
    pub calibrate: bool,
    /// Undo what an experiment changed on this machine and could not undo itself (a crash, a power cut), and end
    #[arg(long, hide = true, conflicts_with_all = ["plan", "format", "resume", "calibrate", "workload"])]
    pub restore: bool,
    /// Run the commands in an experiment's text without asking; without a terminal there is nobody to ask
    #[arg(long)]
    pub allow_commands: bool,
    #[command(flatten)]
    pub group: GroupArgs,
    #[command(flatten)]
    pub job: super::job_options::JobOptions,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Memory is copied by working set, from the first-level cache to DRAM; a device's memory that can be mapped by each width of
an access and by calls; other character devices by calls of several sizes. From the times comes what one access costs, how wide
the bus is, and how wide the kernel copies. Nothing is written to a device unless you allow it, and then what it holds.

Examples:
  narrows copy             memory, by access width and working set
  narrows copy /dev/mtd0   a flash chip, as the kernel copies it
  narrows copy /sys/bus/pci/devices/0000:00:02.0/resource0
  narrows copy /dev/mem@0xfed00000+4096 --read-registers      a range of physical addresses
  narrows copy sim:bus,width=32,wait=150ns,kernel=8           a simulated bus with known truth, in a moment
  narrows copy /dev/mtd0 --mapped /dev/mem@0x8000000+64MiB --read-registers
                                                              the same, with the accesses to it, by width
  narrows copy /dev/mtd0 --tag before                         for narrows compare before after"
)]
pub struct CopyArgs {
    /// memory:, a character device, a PCI BAR (resourceN), a file, sim:bus
    ///
    /// Also /dev/uioN, /dev/mem and sim:bus[,key=value...]; of a device PATH@OFFSET+LENGTH is a part.
    #[arg(default_value = "memory:", value_hint = clap::ValueHint::AnyPath)]
    pub region: OsString,
    /// Measure writes, too: of device memory that is mapped, which gets what it holds
    #[arg(long)]
    pub allow_writes: bool,
    /// Read what may be registers; even a read can change a device or hang a machine
    #[arg(long)]
    pub read_registers: bool,
    /// Where the device's memory can be mapped: /dev/mem@OFFSET+LENGTH
    ///
    /// Its accesses are measured there, and by them the width of the kernel's.
    #[arg(long, value_name = "REGION", value_hint = clap::ValueHint::AnyPath)]
    pub mapped: Option<OsString>,
    /// How long each way of copying is measured [default: 120 to 300 ms]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// A tag for the run; may be given several times
    #[arg(long = "tag", value_name = "TAG", add = offer(&[Names::Tags]))]
    pub tags: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  narrows workloads                        one line each
  narrows workloads show depth             its text, in the language of your own
  narrows workloads show depth > my.toml   a start for your own")]
#[command(args_conflicts_with_subcommands = true, override_usage = "narrows workloads [OPTIONS] [COMMAND]")]
pub struct WorkloadsArgs {
    #[command(subcommand)]
    pub command: Option<WorkloadsCommand>,
    /// Stands where `show NAME` is meant
    #[arg(hide = true)]
    pub name: Option<String>,
}

#[derive(Subcommand, Debug)]
pub enum WorkloadsCommand {
    /// All workloads with the question that each answers
    List,
    /// The text of a workload
    Show {
        /// Which one
        #[arg(add = offer(&[Names::Workloads]))]
        name: String,
    },
}

/// What ends a comparison with exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A primary metric is worse.
    Worse,
}
