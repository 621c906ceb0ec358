//! The program `narrows`: arguments, signals, exit codes, and the wiring of the crates.
//!
//! One way for the data: `observe` gives the environment and the storage stack, `spec` makes a plan of them, `conduct`
//! executes it and keeps the run, `judge` and `diagnose` read it, `report` shows it.
//!
//! Deliberately absent: arithmetic on measurements, and orchestration of them.

mod archive_directory;
mod archives;
mod args;
mod capture;
mod check;
mod command_line;
mod compare;
mod completions;
mod copy;
mod execution;
mod experiment;
mod explain;
mod export;
mod fill;
mod group;
mod help;
mod history;
mod import;
mod inspect;
mod inspect_place;
mod looked_at;
mod names;
mod option_value;
mod output;
mod output_file;
mod progress;
mod progress_line;
mod rank;
mod rate;
mod reading;
mod record;
mod redaction;
mod report_page;
mod run;
mod run_source;
mod runs;
mod settings;
mod side_by_side;
mod signals;
mod simulated;
mod site;
mod soak;
mod target;
mod trace;
mod tune;
mod waiting;
mod watch;
mod why;
mod workloads;

use args::{Cli, Command};
use clap::{CommandFactory, error::ErrorKind};
use model::{Failure, FailureKind};
use output::Output;
use std::process::ExitCode;

/// The one table of commands and options: parser, help, man pages and completions all come from it.
pub fn command() -> clap::Command {
    help::shaped(Cli::command())
}

pub use completions::script as completion_script;

/// A panic of a program that does not unwind drops nothing: what has to be put back is put back before it ends, with the code of a panic.
fn restore_where_nothing_unwinds() {
    if cfg!(panic = "abort") {
        let said = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            said(panic);
            experiments::experiment::restore_in_panic();
            std::process::exit(101);
        }));
    }
}

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    restore_where_nothing_unwinds();
    if !sys::is_auxv_readable() {
        eprintln!(
            "narrows: /proc is not mounted, and a kernel before Linux 6.4 tells a program its page size only there"
        );
        eprintln!("  mount -t proc proc /proc");
        return ExitCode::from(FailureKind::Refused.exit_code());
    }
    if let Err(code) = check_streams() {
        return code;
    }
    completions::answer();
    if std::env::args_os().len() == 1 {
        eprint!("{}", command_line::NOTHING_ASKED);
        return ExitCode::from(FailureKind::Usage.exit_code());
    }
    let asked: Vec<_> = std::env::args_os().collect();
    let whole = command_line::asks_for_all(&asked);
    let cli = match command_line::parse(command_line::meant(asked), whole) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    if cli.global.json && cli.global.markdown {
        let failure = Failure::usage("--json and --markdown are two texts, and stdout takes one");
        Output::json().failure(&failure);
        return ExitCode::from(failure.kind.exit_code());
    }
    let output = Output::new(&cli.global);
    if cli.command.only_reads() {
        experiment::mention_left(&output);
    }
    let result = match &cli.command {
        _ if simulated::is_asked_for(std::env::args_os().skip(1)) => simulated::help(&output),
        Command::Check(args) => check::command(args, &cli.global, &output),
        Command::Run(args) => run::command(args, &cli.global, &output),
        Command::Trace(args) => trace::command(args, &output),
        Command::Copy(args) => copy::command(args, &cli.global, &output),
        Command::Experiment(args) => experiment::of_experiments(args, &cli.global, &output),
        Command::Settings(args) => settings::command(&args.command, &output),
        Command::Tune(args) => tune::command(args, &cli.global, &output),
        Command::Inspect(args) => inspect::command(args, &output),
        Command::Why(args) => why::command(args, &cli.global, &output),
        Command::Compare(args) => compare::command(args, &cli.global, &output),
        Command::History(args) => history::command(args, &cli.global, &output),
        Command::Watch(args) => watch::command(args, &output),
        Command::Rank(args) => rank::command(args, &cli.global, &output),
        Command::Fill(args) => fill::command(args, &cli.global, &output),
        Command::Soak(args) => soak::command(args, &cli.global, &output),
        Command::Record(args) => record::command(args, &cli.global, &output),
        Command::Rate(args) => rate::command(args, &cli.global, &output),
        Command::Runs(args) => runs::command(args, &cli.global, &output),
        Command::Report(args) => report_page::command(args, &cli.global, &output),
        Command::Site(args) => site::command(args, &cli.global, &output),
        Command::Export(args) => export::command(args, &cli.global, &output),
        Command::Import(args) => import::command(args, &cli.global, &output),
        Command::Explain(args) => explain::command(args, &output),
        Command::Workloads(args) => workloads::command(args, &output),
        Command::Completions(args) => completions::command(args, &output),
    };
    let code = result.unwrap_or_else(|failure| {
        match &cli.command {
            Command::Run(args) if args.format.is_some() && !output.is_json() => output.failure_of_document(&failure),
            _ => output.failure(&failure),
        }
        ExitCode::from(failure_code(&cli.command, failure.kind))
    });
    let code = match output.lost() {
        None => code,
        Some(failure) => {
            output.beside(&failure);
            ExitCode::from(failure.kind.exit_code())
        }
    };
    output.last_word().map_or(code, |failure| ExitCode::from(failure.kind.exit_code()))
}

/// The code of a failure. `git bisect run` takes most codes for "bad", and what failed tells nothing of the change.
fn failure_code(command: &Command, kind: FailureKind) -> u8 {
    match command {
        Command::Compare(args) if args.bisect => compare::CANNOT_TELL,
        _ => kind.exit_code(),
    }
}

/// Nothing is printed onto a disk, not even why.
fn check_streams() -> Result<(), ExitCode> {
    let (stdout, stderr) = (output_file::is_storage(std::io::stdout()), output_file::is_storage(std::io::stderr()));
    if stdout && !stderr {
        eprintln!(
            "narrows: stdout is a device that holds data, and they would be lost\n  redirect to a file or a pipe"
        );
    }
    if stdout || stderr { Err(ExitCode::from(FailureKind::Refused.exit_code())) } else { Ok(()) }
}

/// Help and version go to stdout with 0; a wrong command line is a usage failure, as JSON where JSON was asked for.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    // Arguments are quoted in it, and may hold what acts on a terminal: a name that was completed, or pasted.
    let text = error.render().to_string();
    if std::env::args_os().any(|a| a == "--json") {
        let first = text.lines().next().unwrap_or("usage").trim_start_matches("error: ").to_owned();
        let failure = Failure::usage(first).remedy("narrows --help");
        Output::json().failure(&failure);
    } else if text.chars().any(|c| c != '\n' && model::is_control(c)) {
        eprint!("{}", report::text::plain_lines(&text, false));
    } else {
        let _ = error.print();
    }
    let bisects = std::env::args_os().any(|a| a == "--bisect");
    ExitCode::from(if bisects { compare::CANNOT_TELL } else { FailureKind::Usage.exit_code() })
}
