//! Completion on the command line. `narrows completions SHELL` prints how a shell asks for it: it runs this program with `COMPLETE` set
//! and the words that were typed, and clap_complete's engine answers from the table of options, with the names that are found here.

use crate::args::CompletionsArgs;
use crate::names::{Names, is_special, offer, words};
use crate::output::Output;
use clap_complete::engine::{ArgValueCompleter, complete};
use clap_complete::env::{CompleteEnv, Shells};
use model::Failure;
use report::document::CompletionsDocument;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Answers a shell that asks, and ends the program; returns where none does.
pub fn answer() {
    let Some(shell) = std::env::var_os("COMPLETE") else { return };
    let shell = Path::new(&shell).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let at = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|at| at.parse::<usize>().ok());
    match at.filter(|_| shell == "bash") {
        Some(at) => std::process::exit(i32::from(bash(at).is_err())),
        None if Shells::builtins().completer(&shell).is_some() => {
            CompleteEnv::with_factory(command_or_target).complete();
        }
        // Somebody else's variable.
        None => {}
    }
}

/// The table, with a target in the place of a command: `narrows /mnt/card` is a check.
fn command_or_target() -> clap::Command {
    let target = |current: &OsStr| {
        let is_one = ["/", ".", "sim:"].iter().any(|start| current.to_string_lossy().starts_with(start));
        if is_one { offer(&[Names::Simulated, Names::Paths]).complete(current) } else { Vec::new() }
    };
    crate::command().arg(clap::Arg::new("TARGET").add(ArgValueCompleter::new(target)))
}

/// Bash takes words apart at each `:` and `=`, has only the last part replaced, and leaves quoting to others.
fn bash(at: usize) -> io::Result<()> {
    let plain = |word: OsString| word.to_str().map_or(word.clone(), |text| text.replace('\\', "").into());
    let (words, cut) = joined(words().take(at.saturating_add(1)).map(plain));
    let last = words.len().saturating_sub(1);
    let found = complete(&mut command_or_target(), words, last, std::env::current_dir().ok().as_deref())?;
    let values = found.iter().filter_map(|one| one.get_value().to_str()?.get(cut..));
    let quoted = values.filter(|value| !value.contains(char::is_control)).map(|value| {
        let characters = value.chars().flat_map(|c| [is_special(c).then_some('\\'), Some(c)]);
        characters.flatten().collect::<String>()
    });
    let between = std::env::var("_CLAP_IFS").unwrap_or_else(|_| "\n".to_owned());
    write!(io::stdout(), "{}", quoted.collect::<Vec<_>>().join(&between))
}

/// The words as they were typed, and how much of the last one stands before the part that is replaced.
fn joined(parts: impl Iterator<Item = OsString>) -> (Vec<OsString>, usize) {
    let (mut words, mut cut) = (Vec::<OsString>::new(), 0);
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        cut = 0;
        match words.last_mut() {
            // The value is a word of its own.
            Some(option) if part == "=" && option.as_encoded_bytes().starts_with(b"--") => {}
            Some(word) if part == ":" || part == "=" => word.push(part),
            // Right behind the colon an empty word is to be completed.
            Some(word) if word == "sim" && part.is_empty() && parts.peek().is_none() => {
                word.push(":");
                cut = word.len();
            }
            Some(word) if word == "sim:" || word.as_encoded_bytes().ends_with(b"=") => {
                cut = word.len();
                word.push(part);
            }
            _ => words.push(part),
        }
    }
    (words, cut)
}

/// Prints the script.
pub fn command(args: &CompletionsArgs, output: &Output) -> Result<ExitCode, Failure> {
    let shell = args.shell.to_string();
    // Where this program is no command of the PATH, the shell is told where it is.
    let path = std::env::args_os().next().filter(|name| Path::new(name).components().count() > 1);
    let path = path.and_then(|name| std::path::absolute(name).ok()?.into_os_string().into_string().ok());
    let script = script(&shell, path.as_deref().filter(|path| !path.contains(is_special)).unwrap_or("narrows"))
        .map_err(|e| Failure::internal(format!("the script of {shell}: {e}")))?;
    output.answer_text(&CompletionsDocument::new(&shell, &script), |_| &script);
    Ok(ExitCode::SUCCESS)
}

/// What has a shell ask `program`.
pub fn script(shell: &str, program: &str) -> io::Result<String> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(shell).ok_or(io::ErrorKind::Unsupported)?;
    shell.write_registration("COMPLETE", "narrows", "narrows", program, &mut script)?;
    Ok(format!("{}\n", String::from_utf8_lossy(&script).trim()))
}
