//! Commands that change a setting and undo it, by the shell.

use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A command that is told to end gets this long.
const GRACE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A command in a process group of its own, so that Ctrl-C on the terminal does not end it half-way; what it prints goes
/// to stderr. Once `stop` holds, it is told to end, and is ended after a while.
///
/// # Errors
/// That it could not be started, or not be waited for.
pub fn shell(command: &str, stop: &dyn Fn() -> bool) -> std::io::Result<ExitStatus> {
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
        match (told, stop()) {
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
        assert!(shell("exit 0", &|| false).unwrap().success());
        assert_eq!(shell("exit 3", &|| false).unwrap().code(), Some(3));
    }
}
