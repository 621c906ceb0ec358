//! One emulator: how it is started, and that it ends: it is killed when its handle is dropped, and dies with this process.

use super::child;
use super::machine::Arch;
use super::unavailable::Unavailable;
use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long an emulator on a terminal may take to end by itself, so that it can put the terminal back.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);

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
pub fn find(arch: Arch) -> Result<PathBuf, Unavailable> {
    let (program, package) = arch.emulator();
    child::on_path(program).ok_or_else(|| {
        Unavailable::because(format!(
            "{program} is not installed; as root: apt-get install -y --no-install-recommends {package}"
        ))
    })
}

/// A running emulator.
pub struct Emulator {
    child: Child,
    /// The terminal that it was given, as that was before.
    terminal: Option<Termios>,
    console: Console,
}

impl Emulator {
    /// Starts it; the thread that does must live as long as the emulator is to live. What it has to say itself goes to
    /// `complaints`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(program: &Path, arguments: &[OsString], console: Console, complaints: File) -> anyhow::Result<Self> {
        let mut command = child::command(program);
        command.args(arguments);
        if console == Console::Piped {
            // Ctrl-C is ours: the emulator is ended when we have said so.
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(complaints).process_group(0);
        }
        let terminal = (console == Console::Terminal).then(|| tcgetattr(std::io::stdin()).ok()).flatten();
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self { child, terminal, console })
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

    /// How it ended, if it has.
    ///
    /// # Errors
    /// The system does not say.
    pub fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        self.child.try_wait().context("cannot look after the emulator")
    }

    pub fn end(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            match self.console {
                Console::Piped => child::end_group(&mut self.child),
                Console::Terminal => self.leave_terminal(),
            }
        }
        if let Some(terminal) = self.terminal.take() {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &terminal);
        }
    }

    /// It shares our process group: it is asked first, then killed.
    fn leave_terminal(&mut self) {
        if let Some(process) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(process, Signal::TERM);
        }
        let asked = Instant::now();
        while asked.elapsed() < LEAVE_LIMIT && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.end();
    }
}
