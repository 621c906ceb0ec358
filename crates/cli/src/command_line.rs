//! What may stand in the place of a command: a target, which is checked; `help`; or nothing.

use crate::args::{Cli, Command};
use crate::help;
use clap::{CommandFactory, FromArgMatches};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What is printed where nothing was asked: no more than a reader takes in at once.
pub const NOTHING_ASKED: &str = "\
narrows measures storage, says what limits it, and whether a change helped.

The first day:
  narrows check DIR|DEVICE       a minute: rates, the bottleneck, known faults
  narrows inspect DEVICE         the storage path, layer by layer
  narrows why                    what limits the last run, and the evidence
  narrows run WORKLOAD DIR       a built-in workload, or a fio job file
  narrows compare BEFORE AFTER   did it help?

narrows -h lists all commands, narrows COMMAND -h is a screen about one,
narrows COMMAND --help has all options, narrows help COMMAND says more of each;
the guide is in docs/guide.
";

/// The command line of these arguments; a mode of `record` that is a subcommand is the option that it was before. `whole`: help says
/// all that there is.
pub fn parse(args: Vec<OsString>, whole: bool) -> Result<Cli, clap::Error> {
    let parsed = |args: Vec<OsString>| {
        let is_compact = !whole && args.iter().any(|arg| arg == "--help");
        let command = if is_compact { help::compact(crate::command()) } else { crate::command() };
        let mut command = help::fitted(command);
        let mut matches = command.try_get_matches_from_mut(args)?;
        Cli::from_arg_matches_mut(&mut matches).map_err(|e| e.format(&mut command))
    };
    let mut cli = parsed(args)?;
    if let Command::Record(record) = &cli.command
        && let Some(mode) = &record.command
    {
        let words = ["narrows", "record"].map(OsString::from).into_iter().chain(mode.as_options());
        let group = mode.group();
        cli.command = parsed(words.collect())?.command;
        if let Command::Record(record) = &mut cli.command {
            record.group = group;
        }
    }
    Ok(cli)
}

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

/// Whether all is asked for that there is to be said of a command: `narrows help run`.
pub fn asks_for_all(args: &[OsString]) -> bool {
    first_word(args).is_some_and(|at| args[at] == "help" && args.len() > at + 1)
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
    Cli::command().get_subcommands().any(|c| c.get_name() == word)
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
    fn a_mode_of_record_is_the_option_that_it_was() {
        for (new, old) in [
            ("list cam.nrec", "--list -o cam.nrec"),
            ("verify cam.nrec", "--verify -o cam.nrec"),
            ("recover /dev/x --destroy=-1", "--recover -o /dev/x --destroy=-1"),
            ("pin cam.nrec --last 2m", "--pin --last 2m -o cam.nrec"),
            ("unpin cam.nrec --from 1s --to 2s", "--unpin --from 1s --to 2s -o cam.nrec"),
            ("export --format mkv --stream front --into x -- -o", "--export mkv --stream front --into x -o=-o"),
            ("export c --format jpeg --last 1s --into x", "--export jpeg --last 1s --into x -o c"),
            (
                "plan /mnt --streams 2x1MB --for 5s --max-write 1GB",
                "--plan --streams 2x1MB --for 5s --max-write 1GB -o /mnt",
            ),
        ] {
            let command = |line: &str| {
                let cli = parse(format!("narrows record {line}").split(' ').map(OsString::from).collect(), false);
                format!("{:?}", cli.unwrap_or_else(|e| panic!("{line}: {e}")).command)
            };
            assert_eq!(command(new), command(old), "{new}");
        }
    }

    #[test]
    fn what_is_printed_for_nothing_fits_a_part_of_a_screen() {
        assert!(NOTHING_ASKED.lines().count() <= 15);
        assert!(NOTHING_ASKED.lines().all(|l| l.len() <= 80));
    }
}
