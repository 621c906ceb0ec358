//! Several targets at once: a process for each, so that none waits for another's device.

use crate::args::{GlobalArgs, OnFinding, SoakArgs, SoakMode};
use crate::output::Output;
use crate::signals::Signals;
use model::Failure;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Soaks each of them, says whose each line is, and gives each answer when all have ended: with `--json` a document a line.
pub fn command(args: &SoakArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    if let Some(missing) = args.targets.iter().find(|target| !Path::new(target).exists()) {
        let what =
            format!("{}: no such file, directory or device; none of the others was begun", missing.to_string_lossy());
        return Err(Failure::environment(what));
    }
    let is_device = |target: &OsString| std::fs::metadata(target).is_ok_and(|m| m.file_type().is_block_device());
    let mut serials = args.destroy.iter();
    if args.targets.iter().filter(|t| is_device(t)).count() != args.destroy.len() {
        return Err(Failure::usage("--destroy SERIAL is needed once for each device, in their order".to_owned()));
    }
    let serials: Vec<Option<&String>> =
        args.targets.iter().map(|t| if is_device(t) { serials.next() } else { None }).collect();
    let signals = Signals::install()?;
    let failed = |e: std::io::Error| Failure::environment(format!("another process: {e}"));
    let mut children: Vec<Child> = Vec::new();
    for (target, serial) in args.targets.iter().zip(serials) {
        let started = command_of(args, global, target, serial.map(String::as_str)).spawn();
        match started {
            Ok(child) => children.push(child),
            Err(e) => {
                children.iter_mut().for_each(|c| drop((c.kill(), c.wait())));
                return Err(failed(e));
            }
        }
    }
    let (told, hears) = mpsc::channel();
    let mut answers = Vec::new();
    for (child, target) in children.iter_mut().zip(&args.targets) {
        let (said, answer) = (child.stderr.take(), child.stdout.take());
        let (name, told) = (target.to_string_lossy().into_owned(), told.clone());
        std::thread::spawn(move || {
            let lines = said.into_iter().flat_map(|said| BufReader::new(said).lines().map_while(Result::ok));
            lines.for_each(|line| drop(told.send(format!("{name}: {line}\n"))));
        });
        answers.push(std::thread::spawn(move || {
            let mut text = String::new();
            answer.map(|mut answer| answer.read_to_string(&mut text));
            text
        }));
    }
    drop(told);
    let mut passed_on = false;
    loop {
        match hears.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => output.aside(&line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if signals.seen() && !passed_on {
            // They are no part of the terminal's group: each hears it once, from here.
            let pids = children.iter().filter_map(|c| Pid::from_raw(c.id().cast_signed()));
            pids.for_each(|pid| {
                // One that has ended hears nothing.
                let _ = kill_process(pid, Signal::INT);
            });
            passed_on = true;
        }
    }
    let answers: Vec<String> = answers.into_iter().map(|a| a.join().unwrap_or_default()).collect();
    for text in &answers {
        match serde_json::from_slice::<serde_json::Value>(text.as_bytes()) {
            Ok(document) if output.is_json() => output.text(&format!("{document}\n")),
            // In the form that it was asked for already.
            _ => output.part_as_it_is(text),
        }
    }
    let codes: Vec<i32> = children.iter_mut().map(|c| c.wait().ok().and_then(|s| s.code()).unwrap_or(3)).collect();
    // Something wrong is what one wants to hear first, then what could not be done.
    let worst = [1, 3, 2].into_iter().find(|code| codes.contains(code));
    let code = worst.or_else(|| codes.iter().copied().find(|c| *c != 0)).unwrap_or(0);
    let signal = signals.exit_code().filter(|_| worst.is_none());
    Ok(ExitCode::from(signal.unwrap_or_else(|| u8::try_from(code).unwrap_or(3))))
}

fn command_of(args: &SoakArgs, global: &GlobalArgs, target: &OsStr, serial: Option<&str>) -> Command {
    let passes = args.passes.map(|n| n.to_string());
    let on_finding = args.on_finding.map(|on| if on == OnFinding::Stop { "stop" } else { "continue" });
    let (witness, archive) = (args.witness.as_deref(), global.archive.as_deref().map(Path::as_os_str));
    let mode = args.mode.map(|mode| if mode == SoakMode::Sweep { "sweep" } else { "churn" });
    let texts = [
        ("--for", args.time.as_deref()),
        ("--passes", passes.as_deref()),
        ("--size", args.size.as_deref()),
        ("--rate", args.rate.as_deref()),
        ("--hook", args.hook.as_deref()),
        ("--on-finding", on_finding),
        ("--mode", mode),
        ("--destroy", serial),
    ];
    let values = texts.map(|(option, text)| (option, text.map(OsStr::new)));
    let flags = [
        ("--buffered", args.buffered),
        ("--busy", args.busy),
        ("--no-trim", args.no_trim),
        ("--no-scrub", args.no_scrub),
        ("--overwrite", args.overwrite),
        ("--json", global.json),
        ("--markdown", global.markdown),
    ];
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into()));
    command.arg("soak");
    for (option, value) in values.into_iter().chain([("--witness", witness), ("--archive", archive)]) {
        if let Some(value) = value {
            command.arg(option).arg(value);
        }
    }
    command.args(flags.iter().filter(|(_, given)| *given).map(|(flag, _)| flag)).arg("--").arg(target);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command
}
