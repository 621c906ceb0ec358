//! What may stand in the place of a command: a target, which is checked; `help`; or nothing.

use clap::CommandFactory;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What is printed where nothing was asked: no more than a reader takes in at once.
pub const NOTHING_ASKED: &str = "\
narrows: how fast is this storage, and what limits it?

  narrows check DIR|FILE|DEVICE     a minute: rates, what limits them, a verdict
  narrows check DIR --for root-fs   good enough for a use? yes, no, or not known
  narrows rank RUN RUN              which of several is good for what
  narrows compare BEFORE AFTER      did it help?
  narrows inspect DEVICE            the path to it, and what is wrong with it
  narrows watch                     what the disks do now
  narrows run WORKLOAD DIR          narrows workloads lists them
  narrows soak DIR                  are data still there after days of writing?
  narrows record DIR                streams of frames, and how many fit
  narrows why                       what limits the last run, what decides it
  narrows runs                      what was measured; narrows runs show latest

narrows --help lists all commands; narrows help COMMAND has its examples.
";

/// The arguments with what is meant: `narrows /mnt/card` is a check of it, `narrows help run` is `narrows run --help`.
pub fn meant(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let Some(at) = first_word(&args) else { return args };
    if args[at] == "help" {
        args.remove(at);
        args.push("--help".into());
    } else if !is_command(&args[at]) && is_target(&args[at]) {
        args.insert(at, "check".into());
    }
    args
}

/// Where the first argument stands that is no option of all commands and no value of one.
fn first_word(args: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(arg) = args.get(at) {
        match arg.to_str() {
            Some("--archive" | "--color") => at += 2,
            Some(option) if option.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

fn is_command(word: &OsStr) -> bool {
    crate::args::Cli::command().get_subcommands().any(|c| c.get_name() == word)
}

/// A path, or the name of a device that is simulated or nothing.
fn is_target(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    text == "null:" || text.starts_with("sim:") || text.contains('/') || Path::new(word).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_checked_and_help_is_given() {
        let meant = |line: &str| {
            let args = meant(line.split(' ').map(OsString::from));
            args.iter().map(|a| a.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        for (line, is) in [
            ("narrows /mnt/card --for root-fs", "narrows check /mnt/card --for root-fs"),
            ("narrows --json --archive a sim:nvme", "narrows --json --archive a check sim:nvme"),
            ("narrows . --plan", "narrows check . --plan"),
            ("narrows help", "narrows --help"),
            ("narrows help runs prune", "narrows runs prune --help"),
            ("narrows chekc", "narrows chekc"),
            ("narrows run x /mnt", "narrows run x /mnt"),
        ] {
            assert_eq!(meant(line), is);
        }
    }

    #[test]
    fn what_is_printed_for_nothing_fits_a_part_of_a_screen() {
        assert_eq!(NOTHING_ASKED.lines().count(), 15);
        assert!(NOTHING_ASKED.lines().all(|l| l.len() <= 80));
    }
}
