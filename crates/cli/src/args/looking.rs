//! Of commands that look: at the path, at its load, at what limits.

use super::Permissions;
use crate::names::{Names, offer};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    after_help = "Nothing is measured and nothing is changed. No device register is read without --read-registers.

Examples:
  narrows inspect                        all disks, one line each
  narrows inspect /mnt/data              from the file system to the host
  narrows inspect mmcblk0                a card or disk by its name
  narrows inspect --capture my.tar       what others need to know of this machine, for a bug report
  narrows inspect --root my mmcblk0      the same path, read from an unpacked capture
  narrows inspect . --json | jq .ceiling for scripts"
)]
pub struct InspectArgs {
    /// Directory, file, device, a device's name such as sda, or sim:NAME [default: all disks]
    #[arg(add = offer(&[Names::Devices, Names::Simulated, Names::Paths]))]
    pub target: Option<OsString>,
    /// All that is known of each layer, and what could not be seen
    #[arg(long, short)]
    pub verbose: bool,
    /// Read a captured tree instead of this machine
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub root: Option<PathBuf>,
    /// Write all that is read into an archive that can be replayed with --root; - is stdout
    #[arg(long, value_name = "FILE.tar", value_hint = clap::ValueHint::FilePath)]
    pub capture: Option<PathBuf>,
    /// Leave serial numbers, UUIDs and names of the machine in the capture as they are
    #[arg(long)]
    pub keep_serials: bool,
    /// Read the device registers that are known to hold a cause, as root
    ///
    /// Even a read can hang a machine.
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
  narrows watch sda 5 12                 the same as iostat has it, and 12 rows
  narrows watch sda --live               full screen with sparklines; q quits
  narrows watch --count 60 --csv > a.csv a minute, for a spreadsheet
  narrows watch . --json | jq .layers    a JSON document a line
  narrows watch sda -n 3 --markdown      for an issue or a forum"
)]
pub struct WatchArgs {
    /// Directory, file, block device, or a device's name such as sda [default: all disks]
    #[arg(add = offer(&[Names::Devices, Names::Paths]))]
    pub target: Option<OsString>,
    /// Time between rows (500ms, 1s, 1m), and how many of them: as iostat has them
    #[arg(value_name = "INTERVAL [COUNT]", num_args = 0..=2)]
    pub rows: Vec<String>,
    /// Time between rows (500ms, 1s, 1m) [default: 1s]
    #[arg(long, short, value_name = "TIME")]
    pub interval: Option<String>,
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
    after_help = "A RUN is an id, the unique beginning of one, a tag, 'latest', or the path of a bundle. --confirm measures on the
run's own target, keeps that as a run of its own, and changes no setting.

Examples:
  narrows why                       the last run
  narrows why before --json | jq .limit
  narrows why latest --confirm      measure what decides"
)]
pub struct WhyArgs {
    /// Which run
    #[arg(default_value = "latest", add = offer(&[Names::Runs, Names::Paths]))]
    pub run: OsString,
    /// Run the measurement that decides the first cause, on the run's target, and say what came out
    #[arg(long)]
    pub confirm: bool,
    #[command(flatten)]
    pub permissions: Permissions,
}

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Id of a finding; without one, all are listed
    #[arg(add = offer(&[Names::Pages]))]
    pub id: Option<String>,
}
