//! `narrows trace`: what a command does to files, to be done again elsewhere.

use crate::args::TraceArgs;
use crate::output::Output;
use crate::output_file::OutputFile;
use crate::signals::Signals;
use engine::Control;
use model::{Failure, FailureKind};
use report::document::TraceDocument;
use report::quantity;
use std::cell::Cell;
use std::io::{self, BufWriter, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

/// Of a path that has been looked at, all that the text may hold in one line.
fn root_of(args: &TraceArgs) -> Result<std::path::PathBuf, Failure> {
    let named = args.root.as_deref().unwrap_or(std::path::Path::new("."));
    let root = std::fs::canonicalize(named).map_err(|e| {
        Failure::new(FailureKind::Usage, format!("--root {}: {e}", named.display())).remedy("name a directory")
    })?;
    match root.to_str().is_some_and(|text| !text.contains(char::is_control)) {
        true => Ok(root),
        false => Err(Failure::new(FailureKind::Usage, "the root has a name that no line of text can hold")),
    }
}

fn failed(error: &io::Error, args: &TraceArgs) -> Failure {
    let command = args.command.first().map(|c| c.to_string_lossy()).unwrap_or_default();
    let (message, remedy) = match error.kind() {
        io::ErrorKind::NotFound => (format!("there is no command '{command}'"), "name one after --"),
        io::ErrorKind::PermissionDenied => (
            format!("{command} may not be traced, or not be started: {error}"),
            "/proc/sys/kernel/yama/ptrace_scope above 2 forbids it to all; so may a container",
        ),
        _ => (
            format!("{command} cannot be traced: {error}"),
            "strace -f -ttt -T -o FILE COMMAND writes what is read, too",
        ),
    };
    Failure::new(FailureKind::Environment, message).remedy(remedy)
}

/// Executes the command.
pub fn command(args: &TraceArgs, output: &Output) -> Result<ExitCode, Failure> {
    if !sys::CALLS_ARE_TOLD {
        let message = "on processors of 32 bits no calls are recorded".to_owned();
        return Err(Failure::new(FailureKind::Environment, message)
            .remedy("strace -f -ttt -T -o FILE COMMAND writes what `narrows run` reads"));
    }
    let root = root_of(args)?;
    let signals = Signals::install(&Arc::new(Control::default()))?;
    let mut file = BufWriter::new(OutputFile::open(&args.output)?);
    let [program, rest @ ..] = &args.command[..] else { return Ok(ExitCode::SUCCESS) };
    let mut command = Command::new(program);
    command.args(rest);
    if output.is_json() {
        command.stdout(Stdio::from(io::stderr()));
    }
    let passed = Cell::new(false);
    // A terminal sends Ctrl-C to both.
    let passes_on = || {
        let signal = signals.exit_code().map(|code| i32::from(code) - 128)?;
        (signal != 2 && !passed.replace(true)).then_some(signal)
    };
    let recorded = conduct::record_calls(&mut command, &root, passes_on, &mut file).map_err(|e| failed(&e, args))?;
    let cannot =
        |e: io::Error| Failure::new(FailureKind::Environment, format!("cannot write {}: {e}", args.output.display()));
    file.flush().map_err(cannot)?;
    file.into_inner().map_err(|e| cannot(e.into_error()))?.finish()?;
    let code = recorded.exit_code;
    if output.is_json() {
        output.document(&TraceDocument {
            schema: "narrows/trace/1",
            file: &args.output.to_string_lossy(),
            root: &root.to_string_lossy(),
            calls: recorded.calls,
            threads: recorded.threads,
            exit_code: code,
        });
    } else {
        let (calls, threads) = (quantity::count(recorded.calls), quantity::count(recorded.threads));
        let of = if recorded.threads == 1 { String::new() } else { format!(" of {threads} processes and threads") };
        output.aside(&format!(
            "narrows: {calls} calls{of} in {}; narrows run {} TARGET   does those below {} again",
            args.output.display(),
            args.output.display(),
            root.display()
        ));
    }
    Ok(code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::SUCCESS, ExitCode::from))
}
