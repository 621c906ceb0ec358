//! Commands of an experiment's text, by the shell.

use crate::signals::Signals;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A command that is told to end gets this long.
const GRACE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A command in a process group of its own, so that Ctrl-C on the terminal does not end it half-way; what it prints goes
/// to stderr. With `signals`, the first signal ends it after a while.
pub fn shell(command: &str, signals: Option<&Signals>) -> std::io::Result<ExitStatus> {
    let stderr =
        || -> Stdio { std::io::stderr().as_fd().try_clone_to_owned().map_or_else(|_| Stdio::null(), Stdio::from) };
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).current_dir(Path::new("/")).stdin(Stdio::null()).stdout(stderr()).stderr(stderr());
    if let Ok(here) = std::env::current_dir() {
        shell.current_dir(here);
    }
    let mut child = shell.process_group(0).spawn()?;
    let mut told: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        match (told, signals.is_some_and(Signals::seen)) {
            (None, true) => {
                end(&child, rustix::process::Signal::TERM);
                told = Some(Instant::now());
            }
            (Some(since), _) if since.elapsed() > GRACE => end(&child, rustix::process::Signal::KILL),
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

    #[test]
    fn a_command_says_how_it_ended() {
        assert!(shell("exit 0", None).unwrap().success());
        assert_eq!(shell("exit 3", None).unwrap().code(), Some(3));
    }
}
