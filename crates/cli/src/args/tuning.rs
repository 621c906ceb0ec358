//! What `tune` takes.

use super::Permissions;
use crate::names::{Names, offer};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "Settings are tried in measurements of a few seconds: each value alone, then all together, then the best against one
another. What is left is proven by randomised pairs, beside other rows of the check that must not become worse. All settings are
restored; the lines that keep the winner are printed, and --keep writes them. After a crash narrows settings restore undoes
what was left, and --resume continues. Most settings need root.

Examples:
  narrows tune /mnt/data                          what makes it respond while something copies
  narrows tune /dev/sda --for buffered-read --plan   what it would try, and what it can prove
  narrows tune /mnt/data --for etcd --budget 1h   smaller gains, and pairs of settings
  narrows tune /dev/sda --for rand-read-qd32 --only scheduler,requests
  narrows tune --resume                           continues a search that was broken off
  narrows tune --verify                           after a reboot: is what was kept in effect, and still a gain?
  narrows tune /dev/sda --known known.jsonl --report page.html   what others proved comes first; a page of the search"
)]
pub struct TuneArgs {
    /// Directory, file or block device
    #[arg(required_unless_present_any = ["list", "restore", "undo_kept", "resume", "verify", "export"], add = offer(&[Names::Devices, Names::Paths]))]
    pub target: Option<OsString>,
    /// A row of check, a metric of one, a use, or a workload [default: responsive; of a device buffered-read]
    ///
    /// seq-read, buffered-read, rand-read-qd32, sync-write ...; rand-read-qd1.latency_ns_p99; etcd, root-fs ...; the name of a built-in
    /// workload, or a file, of which the rate of the first phase counts. Of a use whose limit is a percentile the mean counts.
    #[arg(long = "for", value_name = "WHAT", add = offer(&[Names::Uses, Names::Workloads]))]
    pub made_for: Option<String>,
    /// How long it may take [default: 20m; of --verify 1m]
    ///
    /// With 20 minutes 20 settings are tried with two other values each, and pairs of them; with less fewer values, and with few no
    /// combinations of all. --plan says which.
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,
    /// The least gain that is worth a setting, percent
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0, value_parser = percent)]
    pub margin: f64,
    /// Only these settings (narrows settings list TARGET)
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = offer(&[Names::Settings]))]
    pub only: Vec<String>,
    /// Also values with which more is lost on a power cut
    #[arg(long)]
    pub allow_unsafe: bool,
    /// Also device registers that are known to hold a cause, with --read-registers: a wrong value can hang the machine
    #[arg(long, requires = "read_registers")]
    pub allow_registers: bool,
    /// Show what would be tried, how much it writes at most, and what it can prove
    #[arg(long)]
    pub plan: bool,
    /// Write what keeps the winner over a reboot, after showing it and asking
    ///
    /// As files of its own: a udev rule, sysctl.d, tmpfiles.d, modprobe.d. What belongs into another's file (the kernel's command line, fstab)
    /// is printed. Where another file sets the same already, nothing is written.
    #[arg(long, conflicts_with = "plan")]
    pub keep: bool,
    /// Write it without asking
    #[arg(long, requires = "keep")]
    pub yes: bool,
    /// Where the page goes: what was tried in which order, the confirmation, what was rejected, the lines to keep
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["plan", "verify", "export", "undo_kept"])]
    pub report: Option<PathBuf>,
    /// Keep the names and serial numbers of the machine and its users on the page
    #[arg(long, requires = "report")]
    pub identify: bool,
    /// Remove all files that --keep wrote
    #[arg(long, conflicts_with_all = ["target", "plan", "keep"])]
    pub undo_kept: bool,
    /// Look after a reboot whether what --keep wrote is in effect, and measure whether it still is a gain
    ///
    /// Each setting with its value now, and the files and programs that set it anew. Where all of a search is in effect, its target (or
    /// TARGET, where that has another name now) is measured in pairs of these values and those before, which are restored; with --plan it
    /// is not measured. It exits with 1 where one is not in effect, or is shown to be a loss.
    #[arg(long, conflicts_with_all = ["keep", "undo_kept", "resume", "only", "margin", "allow_unsafe", "allow_registers"])]
    pub verify: bool,
    /// Print what the last search, or the one of this id, proved, as one line of JSON to hand on
    ///
    /// Machine, model of the disk, settings with both values, the gain with its interval; no serial numbers, names of hosts or paths.
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["target", "plan", "keep", "verify", "undo_kept", "resume"])]
    pub export: Option<String>,
    /// Try first what others proved: a file of lines of --export
    ///
    /// Only the order follows from it, among settings and values that are tried here anyway, and never what is concluded.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["verify", "undo_kept", "resume", "export"])]
    pub known: Option<PathBuf>,
    /// Resume the search that was left last, at the measurement where it was
    ///
    /// After Ctrl-C, a crash or a reboot. What was asked, the time that is left and the seed are those with which it was begun; permissions
    /// are given again. It is refused where a setting no longer holds what it held then.
    #[arg(long, conflicts_with_all = ["plan", "made_for", "budget", "margin", "only", "seed", "undo_kept"])]
    pub resume: bool,
    /// Seed of everything random [default: from the system]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub permissions: Permissions,
    /// As narrows settings list
    #[arg(long, value_name = "TARGET", hide = true, conflicts_with_all = ["restore", "target"])]
    pub list: Option<OsString>,
    /// As narrows settings restore
    #[arg(long, hide = true, conflicts_with = "target")]
    pub restore: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1000.0).contains(&number) { Ok(number) } else { Err("0 to 1000 percent".to_owned()) }
}
