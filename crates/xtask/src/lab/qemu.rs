//! One emulator: how it is started, and that it ends.
//!
//! It is a child in a process group of its own, killed when its handle is dropped. Against the death of this process it is
//! started through ourselves: [`end_with_parent`] asks the kernel to kill it with its parent (prctl(2),
//! PR_SET_PDEATHSIG), which needs no `unsafe` before an exec that is done by the process itself.

use super::machine::Arch;
use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, getppid, kill_process_group, set_parent_process_death_signal};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

/// The hidden command that [`Emulator::start`] goes through.
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

/// Whether the console is a person's terminal or a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// Read by the session.
    Piped,
    /// The terminal of whoever called.
    Terminal,
}

/// Where the emulator of an architecture is.
///
/// # Errors
/// It is not installed; the line that installs it.
pub fn find(arch: Arch) -> anyhow::Result<PathBuf> {
    let (program, package) = arch.emulator();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|directory| directory.join(program)).find(|p| p.is_file());
    found.with_context(|| {
        format!("{program} is not installed; as root: apt-get install -y --no-install-recommends {package}")
    })
}

/// A running emulator.
pub struct Emulator {
    child: Child,
    grouped: bool,
}

impl Emulator {
    /// Starts it; the thread that does must live as long as the emulator is to live. What it has to say itself goes to
    /// `complaints`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(program: &Path, arguments: &[OsString], console: Console, complaints: File) -> anyhow::Result<Self> {
        // Not its path: a build may have replaced the file since.
        let mut command = Command::new("/proc/self/exe");
        command.args(["lab", "end-with-parent"]).arg(std::process::id().to_string()).arg("--").arg(program);
        command.args(arguments);
        let grouped = console == Console::Piped;
        if grouped {
            // Ctrl-C is ours: the emulator is ended when we have said so.
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(complaints).process_group(0);
        }
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self { child, grouped })
    }

    /// What the emulator prints: the guest's console. Once.
    pub fn console(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    /// The system does not say.
    pub fn wait(&mut self) -> anyhow::Result<ExitStatus> {
        self.child.wait().context("cannot wait for the emulator")
    }

    /// Ends it.
    pub fn end(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).filter(|_| self.grouped);
            if let Some(group) = group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.end();
    }
}
