//! Commands that change a setting and undo it: argument vectors, each in a process group of its own that does not outlive
//! this program unnoticed.

use crate::error::{Result, SettingError};
use crate::running::{ENV_MARK, RunningCommand};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A command that is told to end gets this long before it is ended.
const GRACE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct CommandLine(Vec<String>);

impl CommandLine {
    /// `None` without a program, and with a zero byte in an argument.
    pub fn new(arguments: Vec<String>) -> Option<Self> {
        let named = arguments.first().is_some_and(|program| !program.is_empty());
        (named && !arguments.iter().any(|a| a.contains('\0'))).then_some(Self(arguments))
    }
}

impl TryFrom<Vec<String>> for CommandLine {
    type Error = &'static str;

    fn try_from(arguments: Vec<String>) -> std::result::Result<Self, Self::Error> {
        Self::new(arguments).ok_or("a command without a program")
    }
}

impl From<CommandLine> for Vec<String> {
    fn from(line: CommandLine) -> Self {
        line.0
    }
}

/// As a person would type it; of a text for the shell the text.
impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [shell, option, text] = self.0.as_slice()
            && shell == "/bin/sh"
            && option == "-c"
        {
            return f.write_str(text);
        }
        for (index, argument) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
            if !argument.is_empty() && argument.chars().all(plain) {
                write!(f, "{space}{argument}")?;
            } else {
                write!(f, "{space}'{}'", argument.replace('\'', r"'\''"))?;
            }
        }
        Ok(())
    }
}

/// When a command is told to end.
pub struct CommandLimits<'a> {
    /// Once this holds, it is not waited for any longer,
    pub over: &'a dyn Fn() -> bool,
    /// but it has at least this long.
    pub at_least: Duration,
}

impl CommandLine {
    /// Runs it to its end; what it prints goes to stderr. It has a process group of its own, so that Ctrl-C on the terminal
    /// does not end it half-way, and ends with the thread that started it. `mark` is in the environment of all its processes.
    /// It does nothing before `known` has returned: what is written down there is enough to find it again.
    ///
    /// # Errors
    /// That it could not be started, failed, or was ended because it was not waited for; the error of `known`.
    pub fn run(
        &self,
        mark: &str,
        limits: &CommandLimits<'_>,
        known: &mut dyn FnMut(RunningCommand) -> Result<()>,
    ) -> Result<()> {
        let failed = |what: String| SettingError::Command(self.to_string(), what);
        let stderr =
            || -> Stdio { std::io::stderr().as_fd().try_clone_to_owned().map_or_else(|_| Stdio::null(), Stdio::from) };
        // The shell waits for a line, and becomes the command; where the line does not come, nothing was done.
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", r#"read -r go && [ "$go" = go ] && exec "$@" </dev/null; exit 126"#, "narrows"])
            .args(&self.0)
            .env(ENV_MARK, mark)
            .stdin(Stdio::piped())
            .stdout(stderr())
            .stderr(stderr())
            .process_group(0);
        sys::end_with_parent(&mut command);
        let mut child = command.spawn().map_err(|e| failed(format!("could not be started: {e}")))?;
        let stdin = child.stdin.take();
        let started = RunningCommand::of(child.id(), mark).map_err(|e| failed(format!("could not be started: {e}")));
        if let Err(error) = started.and_then(known) {
            drop(stdin);
            let _ = child.wait();
            return Err(error);
        }
        if let Some(mut stdin) = stdin {
            // It can only have been killed, which its end says.
            let _ = stdin.write_all(b"go\n");
        }
        wait(&mut child, limits).map_err(failed)
    }
}

fn wait(child: &mut Child, limits: &CommandLimits<'_>) -> std::result::Result<(), String> {
    let started = Instant::now();
    let mut killed_at: Option<Instant> = None;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) if killed_at.is_some() => return Err("was ended because it was not waited for".to_owned()),
            Ok(Some(status)) => return Err(format!("ended with {status}")),
            Ok(None) => {}
            Err(e) => return Err(format!("cannot be waited for: {e}")),
        }
        match killed_at {
            None if started.elapsed() >= limits.at_least && (limits.over)() => {
                end(child, rustix::process::Signal::TERM);
                killed_at = Some(Instant::now());
            }
            Some(since) if since.elapsed() > GRACE => end(child, rustix::process::Signal::KILL),
            _ => {}
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn end(child: &Child, signal: rustix::process::Signal) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: &[&str]) -> CommandLine {
        CommandLine::new(arguments.iter().map(|a| (*a).to_owned()).collect()).unwrap()
    }

    fn run(line: &CommandLine, over: bool) -> std::result::Result<(), String> {
        let limits = CommandLimits { over: &|| over, at_least: Duration::ZERO };
        line.run("test", &limits, &mut |_| Ok(())).map_err(|e| e.to_string())
    }

    #[test]
    fn a_command_says_how_it_ended() {
        assert_eq!(run(&line(&["true"]), false), Ok(()));
        assert!(run(&line(&["/bin/sh", "-c", "exit 3"]), false).unwrap_err().contains("exit status: 3"));
        assert!(run(&line(&["/no/such/program"]), false).is_err());
        assert!(run(&line(&["sleep", "1000"]), true).unwrap_err().contains("not waited for"));
    }

    #[test]
    fn arguments_reach_the_program_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a b; $(touch x)");
        assert_eq!(run(&line(&["touch", file.to_str().unwrap()]), false), Ok(()));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        assert!(file.exists());
    }

    #[test]
    fn nothing_is_done_before_it_is_written_down() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("done");
        let touch = line(&["touch", file.to_str().unwrap()]);
        let limits = CommandLimits { over: &|| false, at_least: Duration::ZERO };
        let refused = touch.run("test", &limits, &mut |running| {
            assert!(running.is_alive());
            Err(SettingError::Mount("no".into()))
        });
        assert!(refused.is_err() && !file.exists());
    }

    #[test]
    fn a_command_reads_as_it_would_be_typed() {
        assert_eq!(line(&["sysctl", "-w", "vm.swappiness=1"]).to_string(), "sysctl -w vm.swappiness=1");
        assert_eq!(line(&["echo", "it's", ""]).to_string(), r"echo 'it'\''s' ''");
        assert_eq!(line(&["/bin/sh", "-c", "echo a > b"]).to_string(), "echo a > b");
        assert!(CommandLine::new(Vec::new()).is_none() && CommandLine::new(vec![String::new()]).is_none());
    }
}
