//! What is done only if somebody agreed: commands of an experiment's text, and what a state says that this user did not write.

use super::preview::{change, changes};
use super::text;
use crate::args::RunArgs;
use crate::output::Output;
use crate::run::text::settings;
use crate::signals::Signals;
use conduct::{Language, Source};
use experiments::experiment::{State, programs};
use model::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use spec::Experiment;
use std::io::{IsTerminal, Write};

/// How often it is looked whether a signal came while a person thinks.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Commands run only with `--allow-commands`, or where a person who was shown them agreed.
pub fn to_commands(
    experiment: &Experiment,
    source: &Source,
    args: &RunArgs,
    output: &Output,
    signals: &Signals,
) -> Result<(), Failure> {
    let each = experiment.arms.iter().flat_map(|a| programs(a).map(|p| format!("arm '{}': {}", a.name, change(p))));
    let lines: Vec<String> = each.collect();
    if lines.is_empty() || args.allow_commands {
        return Ok(());
    }
    let who = rustix::process::geteuid().as_raw();
    let user = if who == 0 { "root".to_owned() } else { format!("user {who}") };
    let message = format!("{} has commands, which would run as {user}", source.name);
    if agreed(&message, &lines, "Run them?", output, signals) {
        return Ok(());
    }
    Err(Failure::refused(format!("{message}: {}", lines.join("; ")))
        .remedy("--allow-commands   if you have read them and want them to run"))
}

/// The state of an execution that this user did not start: what it says and the command line does not is asked about.
/// `given`: the experiment's text, where the command line has it.
pub fn to_state(
    state: &mut State,
    given: Option<&Source>,
    experiment: &Experiment,
    args: &RunArgs,
    output: &Output,
    signals: &Signals,
) -> Result<(), Failure> {
    if state.is_own() {
        return Ok(());
    }
    let mut lines = Vec::new();
    match given {
        Some(source) => {
            let workload = text::workload_source(experiment, source)?;
            if workload.text != state.workload().text {
                let message =
                    format!("the workload of {} is not the one that {} was started with", source.name, state.id);
                return Err(Failure::refused(message)
                    .remedy(format!("narrows run {} starts it anew, or put the text back", source.name)));
            }
            state.take_texts(source, &workload);
        }
        None => {
            lines.push(format!("its text, of {}: {}", state.file, experiment.question));
            for arm in &experiment.arms {
                let target = arm.target.as_ref().or(state.target.as_ref()).or(experiment.target.as_ref());
                let target = target.map_or_else(|| "what its workload names".to_owned(), Clone::clone);
                let changes = changes(arm);
                let changes = if changes.is_empty() { "nothing is changed".to_owned() } else { changes.join("; ") };
                lines.push(format!("arm '{}' on {target}: {changes}", arm.name));
            }
        }
    }
    let target = state.target.as_ref().filter(|_| args.target.is_none());
    lines.extend(target.map(|t| format!("the target {t}")));
    if !state.set.is_empty() && settings(args, Language::Toml)? != state.set {
        lines.extend(state.set.iter().map(|(key, value)| format!("--set {key}={value}")));
    }
    let message =
        format!("{} was not started by this user on this machine; only its state in the archive says", state.id);
    if lines.is_empty() || agreed(&message, &lines, "Continue?", output, signals) {
        return Ok(());
    }
    let mut command = format!("narrows run {}", given.map_or("EXPERIMENT.toml", |s| s.name.as_str()));
    command.extend(state.target.iter().map(|t| format!(" {t}")));
    command.extend(state.set.iter().map(|(key, value)| format!(" --set {key}={value}")));
    Err(Failure::refused(format!("{message}: {}", lines.join("; ")))
        .remedy(format!("{command} --resume {}   if all of that is what you want", state.id)))
}

/// Shows what it is about and asks; without a terminal nobody agrees.
pub fn agreed(message: &str, lines: &[String], question: &str, output: &Output, signals: &Signals) -> bool {
    let (stdin, mut stderr) = (std::io::stdin(), std::io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return false;
    }
    output.warning(&format!("{message}:"));
    lines.iter().for_each(|line| output.warning(&format!("  {line}")));
    let _ = write!(stderr, "{question} [y/N] ");
    while !signals.seen() {
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&LOOK_EVERY)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => {
                let mut answer = String::new();
                return stdin.read_line(&mut answer).is_ok()
                    && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
            }
            Err(_) => return false,
        }
    }
    let _ = writeln!(stderr);
    false
}
