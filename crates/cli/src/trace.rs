//! `narrows trace`: what a command does to files, to be done again elsewhere.

use crate::args::TraceArgs;
use crate::output::Output;
use crate::output_file::OutputFile;
use crate::signals::Signals;
use conduct::RecordedRequests;
use model::{Failure, FailureKind, parse_duration_ns};
use report::document::TraceDocument;
use report::quantity;
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The recording goes to its file in pieces of this, for its own writes are requests, too.
const WRITTEN_BYTES: usize = 4 << 20;

/// Of a path that has been looked at, all that the text may hold in one line.
#[cfg(feature = "file-trace")]
fn root_of(args: &TraceArgs) -> Result<std::path::PathBuf, Failure> {
    let named = args.root.as_deref().unwrap_or(Path::new("."));
    let root = std::fs::canonicalize(named)
        .map_err(|e| Failure::usage(format!("--root {}: {e}", named.display())).remedy("name a directory"))?;
    match root.to_str().is_some_and(|text| !text.contains(char::is_control)) {
        true => Ok(root),
        false => Err(Failure::usage("the root has a name that no line of text can hold")),
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
    Failure::environment(message).remedy(remedy)
}

/// Executes the command.
pub fn command(args: &TraceArgs, output: &Output) -> Result<ExitCode, Failure> {
    match &args.device {
        Some(device) => requests(args, device, output),
        None => calls(args, output),
    }
}

#[cfg(not(feature = "file-trace"))]
fn calls(_: &TraceArgs, _: &Output) -> Result<ExitCode, Failure> {
    Err(engine::without_file_traces("trace -- COMMAND"))
}

/// Calls on files, while a command runs.
#[cfg(feature = "file-trace")]
fn calls(args: &TraceArgs, output: &Output) -> Result<ExitCode, Failure> {
    if !sys::CALLS_SUPPORTED {
        let message = "on processors of 32 bits no calls are recorded".to_owned();
        return Err(
            Failure::environment(message).remedy("strace -f -ttt -T -o FILE COMMAND writes what `narrows run` reads")
        );
    }
    let root = root_of(args)?;
    let signals = Signals::install()?;
    let mut file = BufWriter::new(OutputFile::open(&args.output)?);
    let [program, rest @ ..] = &args.command[..] else { return Ok(ExitCode::SUCCESS) };
    let mut command = child(program, rest, output);
    let passed = Cell::new(false);
    // A terminal sends Ctrl-C to both.
    let passes_on = || {
        let signal = signals.exit_code().map(|code| i32::from(code) - 128)?;
        (signal != 2 && !passed.replace(true)).then_some(signal)
    };
    let recorded = conduct::record_calls(&mut command, &root, passes_on, &mut file).map_err(|e| failed(&e, args))?;
    finished(file, args)?;
    let code = recorded.exit_code;
    let (calls, threads) = (quantity::count(recorded.calls), quantity::count(recorded.threads));
    let of = if recorded.threads == 1 { String::new() } else { format!(" of {threads} processes and threads") };
    let file = args.output.display();
    let again =
        format!("{calls} calls{of} in {file}; narrows run {file} TARGET   does those below {} again", root.display());
    let counts = TraceDocument { calls: recorded.calls, threads: recorded.threads, ..TraceDocument::default() };
    Ok(made(args, &root, counts, code, &again, output))
}

/// Says what was recorded: the document, or where it is and how to do it again. The exit code is that of the command.
fn made(
    args: &TraceArgs,
    root: &Path,
    counts: TraceDocument<'_>,
    exit_code: Option<i32>,
    again: &str,
    output: &Output,
) -> ExitCode {
    if output.is_json() {
        let (file, root) = (args.output.to_string_lossy(), root.to_string_lossy());
        output.document(&TraceDocument { file: &file, root: &root, exit_code, ..counts });
    } else {
        output.aside(&format!("narrows: {again}"));
    }
    exit_code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::SUCCESS, ExitCode::from)
}

/// Requests of a device, while a command runs, for a time, or until a signal.
fn requests(args: &TraceArgs, device: &Path, output: &Output) -> Result<ExitCode, Failure> {
    let usage = |what| Failure::usage(format!("--for: {what}")).remedy("for example --for 60s");
    let time = args.time.as_deref().map(parse_duration_ns).transpose().map_err(usage)?.map(Duration::from_nanos);
    let signals = Signals::install()?;
    let mut file = BufWriter::with_capacity(WRITTEN_BYTES, OutputFile::open(&args.output)?);
    let mut command = args.command.split_first().map(|(program, rest)| child(program, rest, output));
    let (started, code, child) = (Instant::now(), Cell::new(None), RefCell::new(None));
    let begins = || {
        let Some(command) = &mut command else { return Ok(()) };
        *child.borrow_mut() = Some(command.spawn().map_err(|e| failed(&e, args))?);
        Ok(())
    };
    let done = || {
        if let Some(child) = &mut *child.borrow_mut()
            && let Ok(Some(status)) = child.try_wait()
        {
            code.set(status.code().or(status.signal().map(|signal| 128 + signal)));
        }
        code.get().is_some() || signals.seen() || time.is_some_and(|time| started.elapsed() >= time)
    };
    let recorded = conduct::record_requests(device, begins, done, &mut file, |e| {
        let message = format!("the requests of {} cannot be recorded: {e}", device.display());
        let (kind, remedy) = match e.kind() {
            io::ErrorKind::InvalidInput => {
                (FailureKind::Usage, "name a disk or a partition; narrows inspect shows them")
            }
            io::ErrorKind::PermissionDenied => (FailureKind::Environment, "it takes root"),
            io::ErrorKind::NotFound if device.exists() => {
                (FailureKind::Environment, "mount -t tracefs tracefs /sys/kernel/tracing, as root; or blktrace")
            }
            _ => (FailureKind::Environment, "it takes root, and a kernel with block events (CONFIG_BLK_DEV_IO_TRACE)"),
        };
        Failure::new(kind, message).remedy(remedy)
    })?;
    finished(file, args)?;
    let RecordedRequests { requests, lost } = recorded;
    let without = if lost > 0 { format!(", {} more were lost", quantity::count(lost)) } else { String::new() };
    let (count, file) = (quantity::count(requests), args.output.display());
    let again = format!(
        "{count} requests of {}{without} in {file}; narrows run {file} TARGET   does them again",
        device.display()
    );
    let counts = TraceDocument { requests, lost, ..TraceDocument::default() };
    Ok(made(args, device, counts, code.get(), &again, output))
}

/// The command that is traced; a document of ours has stdout for itself.
fn child(program: &OsString, rest: &[OsString], output: &Output) -> Command {
    let mut command = Command::new(program);
    command.args(rest);
    if output.is_json() {
        command.stdout(Stdio::from(io::stderr()));
    }
    command
}

/// All of it is in the file, which has its name.
fn finished(mut file: BufWriter<OutputFile>, args: &TraceArgs) -> Result<(), Failure> {
    let cannot = |e: io::Error| Failure::environment(format!("cannot write {}: {e}", args.output.display()));
    file.flush().map_err(cannot)?;
    file.into_inner().map_err(|e| cannot(e.into_error()))?.finish()
}
