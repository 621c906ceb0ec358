//! Processes of a command, found again after the program that started it has gone.

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::io;
use std::time::{Duration, Instant};

/// Name of the variable by which a command's processes are known.
pub(crate) const ENV_MARK: &str = "NARROWS_COMMAND";

/// What is killed is gone after this long, unless it hangs in the kernel.
const PATIENCE: Duration = Duration::from_secs(5);
/// An environment is at most this long here; a longer one is not one of ours.
const MAX_BYTES: usize = 1 << 20;

/// A command that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningCommand {
    /// Its process, which is also the number of its group.
    pub pid: u32,
    /// When that process started, in ticks since boot: with the number it names one process (field 22 of proc_pid_stat(5)).
    pub started: u64,
    /// Stands in the environment of its processes, and of no others.
    pub mark: String,
}

/// Process group and start of a process.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; what follows the last bracket is numbers (proc_pid_stat(5)).
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let is_zombie = matches!(*fields.first()?, "Z" | "X");
    (!is_zombie).then_some(())?;
    Some((fields.get(2)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

impl RunningCommand {
    /// A child of this process.
    ///
    /// # Errors
    /// That /proc does not show it.
    pub fn of(pid: u32, mark: &str) -> io::Result<Self> {
        let (_, started) = stat(pid).ok_or_else(|| io::Error::other("/proc does not show it"))?;
        Ok(Self { pid, started, mark: mark.to_owned() })
    }

    /// Whether a process is one of its own: the first one by its number and start, its descendants by their environment.
    fn owns(&self, pid: u32) -> bool {
        let Some((_, started)) = stat(pid) else { return false };
        if pid == self.pid && started == self.started {
            return true;
        }
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let wanted = format!("{ENV_MARK}={}", self.mark);
        started >= self.started
            && environment.len() <= MAX_BYTES
            && environment.split(|b| *b == 0).any(|variable| variable == wanted.as_bytes())
    }

    fn processes(&self) -> Vec<u32> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
        pids.filter(|pid| *pid != std::process::id() && self.owns(*pid)).collect()
    }

    /// Whether any of its processes is left.
    pub fn is_alive(&self) -> bool {
        !self.processes().is_empty()
    }

    /// Ends all of its processes; how many there were.
    ///
    /// # Errors
    /// The number of one that does not end.
    pub fn end(&self) -> Result<usize, u32> {
        let until = Instant::now() + PATIENCE;
        let mut ended = std::collections::BTreeSet::new();
        // One that is in the middle of an exec has no environment for a moment (k:fs/exec.c, begin_new_exec): two looks see none.
        let mut seen_none = false;
        loop {
            let left = self.processes();
            let Some(first) = left.first() else {
                if seen_none {
                    return Ok(ended.len());
                }
                seen_none = true;
                std::thread::sleep(Duration::from_millis(10));
                continue;
            };
            seen_none = false;
            if Instant::now() > until {
                return Err(*first);
            }
            for pid in left {
                self.kill(pid);
                ended.insert(pid);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Kills a process if it is still the one that was seen: a descriptor stays with it, a number does not.
    fn kill(&self, number: u32) {
        let Some(pid) = i32::try_from(number).ok().and_then(Pid::from_raw) else { return };
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => {
                if self.owns(number) {
                    let _ = pidfd_send_signal(process, Signal::KILL);
                }
            }
            // Before Linux 5.3 there are only numbers.
            Err(rustix::io::Errno::NOSYS) if self.owns(number) => {
                let _ = kill_process(pid, Signal::KILL);
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_is_found_by_its_mark_and_no_other_one_is() {
        let mark = format!("running-{}", std::process::id());
        let spawn = |mark: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", "sleep 1000 & wait"]).env(ENV_MARK, mark).spawn().unwrap()
        };
        let mut ours = spawn(&mark);
        let mut other = spawn("another");
        let running = RunningCommand::of(ours.id(), &mark).unwrap();
        let another = RunningCommand::of(other.id(), "another").unwrap();
        while running.processes().len() < 2 || another.processes().len() < 2 {
            std::thread::sleep(Duration::from_millis(10));
        }
        // The first one has gone, as after the end of the program that started it.
        ours.kill().unwrap();
        ours.wait().unwrap();
        assert_eq!(running.end(), Ok(1));
        assert!(!running.is_alive() && another.is_alive());
        let reused = RunningCommand { pid: other.id(), started: another.started + 1, mark };
        assert_eq!(reused.end(), Ok(0));
        assert!(another.is_alive());
        assert_eq!(another.end(), Ok(2));
        other.wait().unwrap();
    }
}
