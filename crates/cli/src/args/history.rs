//! Of commands on many runs: when something changed, and pages of it all.

use crate::names::{Names, offer};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "The runs of a machine, a device, a workload and a plan are a series for each metric, and are never mixed with others. Metrics that
changed at the same run are one event; 4 runs on each side are the least that is seen. Exit code 1: an event for the worse that nobody
has acknowledged, so that a line in cron or CI tells.

Examples:
  narrows history                            all runs of the archive
  narrows history /mnt/card --metric 'rand-read*' --report history.html
  narrows history ack 1a2b3c4d \"firmware 1.3, reported\"
  narrows history nightly --since 90d        runs with this tag, of 90 days
  narrows history --since 60 --json          the latest 60 runs of each series"
)]
pub struct HistoryArgs {
    #[command(subcommand)]
    pub command: Option<HistoryCommand>,
    /// A tag, or a target by name, path or device [default: all runs]
    #[arg(value_name = "TARGET|TAG", add = offer(&[Names::Tags, Names::Devices, Names::Paths]))]
    pub of: Option<String>,
    /// Which metrics; repeatable, * matches anything [default: the rate of each phase, and its p99 latency]
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// Not older than this (90d, 12h), or so many of the latest runs of each series (60)
    #[arg(long, value_name = "AGE|N")]
    pub since: Option<String>,
    /// Write a self-contained page with plots; each point leads to the page of its run
    #[arg(long, value_name = "FILE.html", value_hint = clap::ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// Keep the names and serial numbers of the machines and their users on the page
    #[arg(long)]
    pub identify: bool,
}

#[derive(Subcommand, Debug)]
pub enum HistoryCommand {
    /// Say that an event is known, and why: it is silent from then on
    Ack {
        /// Its id, or the beginning of one
        #[arg(value_name = "EVENT")]
        event: String,
        /// Why
        #[arg(value_name = "WHY")]
        why: String,
    },
}

#[derive(Args, Debug)]
#[command(
    after_help = "A DIR is an archive, or holds archives of many machines or bundles wherever they lie, as a git repository of bundles does. Each bundle
is verified; what is not as it was written is listed apart and not counted. Names of machines and serial numbers are replaced, the same by
the same each time, unless --identify is given. What was read is kept in the archive of whoever makes the site: the next time only bundles
that changed are read, and only pages that changed are written.

Examples:
  narrows site fleet/ -o site/               a folder for each machine, into pages for a browser
  narrows site ~/.local/share/narrows /mnt/lab -o public/ --title 'Our cards'
  narrows site . -o _site --json             in a git repository of bundles, for GitHub Pages"
)]
pub struct SiteArgs {
    /// Archives, or directories that hold archives or bundles
    #[arg(value_name = "DIR", required = true, value_hint = clap::ValueHint::DirPath)]
    pub directories: Vec<PathBuf>,
    /// Where the pages go: a directory that is empty, new, or a site already
    #[arg(long, short, value_name = "OUT", value_hint = clap::ValueHint::DirPath)]
    pub output: PathBuf,
    /// Heading of each page [default: Storage]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Keep the names of machines and the serial numbers of devices
    #[arg(long)]
    pub identify: bool,
}
