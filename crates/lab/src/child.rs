//! Other programs that a command of the lab starts: none outlives it, and none keeps it from being interrupted.
//!
//! Each is a process group of its own, ended as a whole. Against the death of this process it is started through ourselves:
//! [`end_with_parent`] asks the kernel to kill it with its parent (prctl(2), PR_SET_PDEATHSIG), which needs no `unsafe` before
//! an exec that is done by the process itself.

use super::interrupts;
use anyhow::{Context, bail};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, getppid, kill_process_group, set_parent_process_death_signal};
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

/// How often a program that runs is looked after.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The hidden command that [`command`] goes through.
#[derive(clap::Args)]
pub struct EndWithParent {
    /// Process id of the parent
    parent: i32,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<OsString>,
}

/// Becomes another program that dies with the process that asked for it.
///
/// # Errors
/// The parent is gone already, or the program cannot be started.
pub fn end_with_parent(arguments: &EndWithParent) -> anyhow::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL)).context("cannot ask to end with the parent")?;
    // The parent may have died before the request.
    if getppid() != Pid::from_raw(arguments.parent) {
        bail!("the process that started this is gone");
    }
    let (program, rest) = arguments.command.split_first().context("there is no program")?;
    Err(Command::new(program).args(rest).exec()).with_context(|| format!("cannot start {}", program.display()))
}

/// A program that dies with the thread that starts it.
pub fn command(program: &Path) -> Command {
    if cfg!(test) {
        // The tests' own program knows no such command.
        return Command::new(program);
    }
    // Not its path: a build may have replaced the file since.
    let mut command = Command::new("/proc/self/exe");
    command.args(["lab", "end-with-parent"]).arg(std::process::id().to_string()).arg("--").arg(program);
    command
}

/// Ends a program that leads a process group, and all that it started there.
pub fn end_group(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Where a program is.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_program = |p: &PathBuf| p.is_file() && access(p, Access::EXEC_OK).is_ok();
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(is_program)
}

/// Waits until a program that leads a process group has ended, and ends it if a signal comes.
///
/// # Errors
/// [`interrupts::Interrupted`], or the system does not say.
fn wait(child: &mut Child, mut meanwhile: impl FnMut()) -> anyhow::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for a program")? {
            return Ok(status);
        }
        if interrupts::is_interrupted() {
            end_group(child);
            return Err(interrupts::Interrupted.into());
        }
        meanwhile();
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Runs a program to its end, or to that of this process; what it prints is shown.
///
/// # Errors
/// It cannot be started, or a signal came.
pub fn status(asked: Command) -> anyhow::Result<ExitStatus> {
    let name = asked.get_program().to_string_lossy().into_owned();
    let mut command = command(Path::new(asked.get_program()));
    command.args(asked.get_args());
    if let Some(directory) = asked.get_current_dir() {
        command.current_dir(directory);
    }
    let mut child =
        command.stdin(Stdio::null()).process_group(0).spawn().with_context(|| format!("cannot start {name}"))?;
    wait(&mut child, || {})
}

/// Runs a program to its end; what it prints is returned. `meanwhile` is called again and again until then.
///
/// # Errors
/// It cannot be started, or a signal came.
pub fn output(mut command: Command, meanwhile: impl FnMut()) -> anyhow::Result<Output> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let all = |stream: Option<&mut dyn Read>| {
            let mut bytes = Vec::new();
            // A pipe that breaks ends with the program, whose status says more.
            let _ = stream.map(|s| s.read_to_end(&mut bytes));
            bytes
        };
        let out = scope.spawn(move || all(stdout.as_mut().map(|s| s as &mut dyn Read)));
        let err = scope.spawn(move || all(stderr.as_mut().map(|s| s as &mut dyn Read)));
        let status = wait(&mut child, meanwhile)?;
        Ok(Output { status, stdout: out.join().unwrap_or_default(), stderr: err.join().unwrap_or_default() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = command(Path::new("sh"));
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_and_the_code_are_kept_whatever_their_size() {
        // More than a pipe holds on either side.
        let output =
            output(shell("head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 7"), || {}).expect("sh");
        assert_eq!((output.stdout.len(), output.stderr.len()), (300_000, 200_000));
        assert_eq!(output.status.code(), Some(7));
        assert_eq!(status(shell("exit 3")).expect("sh").code(), Some(3));
    }

    #[test]
    fn a_group_ends_with_all_that_it_started() {
        let mut command = shell("sleep 600 & echo $!; wait");
        let mut child = command.stdout(Stdio::piped()).process_group(0).spawn().expect("sh");
        let mut said = [0; 16];
        let length = child.stdout.as_mut().expect("a pipe").read(&mut said).expect("the process id");
        let grandchild = String::from_utf8_lossy(&said[..length]).trim().to_owned();
        end_group(&mut child);
        let state = || std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
        // A process that was killed may be a zombie until somebody else reaps it.
        for _ in 0..500 {
            if !state().contains(") S ") && !state().contains(") R ") {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{}", state());
    }
}
