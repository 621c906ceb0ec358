//! Settings of an arm: applied one by one, each with the way back written down first.

use super::journal::Journal;
use crate::signals::Signals;
use archive::Archive;
use model::{Failure, FailureKind, LayerKind, Stack};
use serde::{Deserialize, Serialize};
use spec::{Arm, Setting};
use std::fmt;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A command that is told to end gets this long.
const GRACE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How one change is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undo {
    /// The value that a file of /sys or /proc/sys had.
    Value {
        /// The file.
        path: String,
        /// Its old value.
        old: String,
    },
    /// A command of the shell.
    Command {
        /// The command.
        undo: String,
    },
    /// The options that a file system was mounted with.
    Mount {
        /// Where it is mounted.
        mount_point: String,
        /// As /proc/mounts showed them.
        options: Vec<String>,
        /// Opposites of the options that were added.
        opposites: Vec<String>,
    },
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { path, old } => write!(f, "{path} is {old} again"),
            Self::Command { undo } => write!(f, "ran '{undo}'"),
            Self::Mount { mount_point, options, .. } => {
                write!(f, "{mount_point} is mounted with {} again", options.join(","))
            }
        }
    }
}

impl Undo {
    /// Whether a reboot undoes it as well.
    pub fn ends_with_boot(&self) -> bool {
        matches!(self, Self::Value { .. } | Self::Mount { .. })
    }

    /// Puts it back.
    pub fn execute(&self) -> Result<(), String> {
        match self {
            Self::Value { path, old } => {
                std::fs::write(path, old).map_err(|e| format!("{path} could not be set to {old}: {e}"))
            }
            Self::Command { undo } => match shell(undo, None) {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(format!("'{undo}' ended with {status}")),
                Err(e) => Err(format!("'{undo}' could not be started: {e}")),
            },
            Self::Mount { mount_point, options, opposites } => {
                let all: Vec<&str> = options.iter().chain(opposites).map(String::as_str).collect();
                remount(mount_point, &all.join(","))?;
                let now = mounted_with(mount_point);
                match now {
                    Some(now) if same_options(&now, options) => Ok(()),
                    Some(now) => {
                        Err(format!("{mount_point} is mounted with {}, not with {}", now.join(","), options.join(",")))
                    }
                    None => Err(format!("{mount_point} is no longer mounted")),
                }
            }
        }
    }
}

fn same_options(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().all(|o| b.contains(o))
}

/// Settings in force. They are undone when this goes away, on a panic too.
pub struct InForce<'a> {
    archive: &'a Archive,
    journal: Journal,
}

impl<'a> InForce<'a> {
    /// Applies the settings of an arm. Where one cannot be, those before it are undone.
    pub fn apply(
        arm: &Arm,
        experiment: &str,
        stack: &Stack,
        archive: &'a Archive,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let mut in_force = Self { archive, journal: Journal::new(experiment, &arm.name) };
        for setting in &arm.settings {
            if let Err(failure) = in_force.one(setting, stack, signals) {
                let failure = Failure { message: format!("arm '{}': {}", arm.name, failure.message), ..failure };
                return match in_force.undo() {
                    Ok(()) => Err(failure),
                    Err(second) => {
                        Err(Failure { message: format!("{}; {}", failure.message, second.message), ..second })
                    }
                };
            }
        }
        Ok(in_force)
    }

    /// Puts everything back.
    pub fn undo(&mut self) -> Result<(), Failure> {
        if self.journal.undo.is_empty() { Ok(()) } else { self.journal.undo(self.archive) }
    }

    fn remember(&mut self, undo: Undo) -> Result<(), Failure> {
        self.journal.undo.push(undo);
        self.journal.save(self.archive)
    }

    fn one(&mut self, setting: &Setting, stack: &Stack, signals: &Signals) -> Result<(), Failure> {
        let cannot = |message: String| Failure::new(FailureKind::Refused, message);
        match setting {
            Setting::Value { path, value } => {
                for path in paths(path, stack).map_err(cannot)? {
                    let old = read_value(&path).map_err(cannot)?;
                    self.remember(Undo::Value { path: path.clone(), old: old.clone() })?;
                    std::fs::write(&path, value).map_err(|e| cannot(format!("{path} does not take {value}: {e}")))?;
                    let now = read_value(&path).map_err(cannot)?;
                    if now == old && old != value.trim() {
                        return Err(cannot(format!("{path} does not take {value}: it still is {old}")));
                    }
                }
            }
            Setting::Command { run, undo } => {
                self.remember(Undo::Command { undo: undo.clone() })?;
                match shell(run, Some(signals)) {
                    Ok(status) if status.success() => {}
                    Ok(status) => return Err(cannot(format!("'{run}' ended with {status}"))),
                    Err(e) => return Err(cannot(format!("'{run}' could not be started: {e}"))),
                }
            }
            Setting::MountOptions(options) => {
                let point = mount_point(stack).map_err(cannot)?;
                let old = mounted_with(point).ok_or_else(|| cannot(format!("{point} is not mounted")))?;
                let opposites =
                    options.split(',').filter(|o| !old.iter().any(|have| have == o)).filter_map(opposite).collect();
                self.remember(Undo::Mount { mount_point: point.to_owned(), options: old, opposites })?;
                remount(point, options).map_err(cannot)?;
            }
        }
        Ok(())
    }
}

impl Drop for InForce<'_> {
    fn drop(&mut self) {
        // Reached with something left only on a panic or an early return; the restore file stays where this fails.
        let _ = self.undo();
    }
}

/// Whether all settings of an arm could be applied, without applying any.
pub fn check(arm: &Arm, stack: &Stack) -> Result<(), String> {
    for setting in &arm.settings {
        match setting {
            Setting::Value { path, .. } => {
                for path in paths(path, stack)? {
                    read_value(&path)?;
                    rustix::fs::access(&path, rustix::fs::Access::WRITE_OK)
                        .map_err(|e| format!("{path} cannot be written: {} (root can)", std::io::Error::from(e)))?;
                }
            }
            Setting::MountOptions(_) => {
                mount_point(stack)?;
                if !rustix::process::geteuid().is_root() {
                    return Err("mount-options: only root can remount a file system".into());
                }
            }
            Setting::Command { .. } => {}
        }
    }
    Ok(())
}

/// The paths that a setting stands for: `{disk}` is the block device that the target stands on (of a partition its disk),
/// `{lowest}` each of the lowest disks below it.
fn paths(path: &str, stack: &Stack) -> Result<Vec<String>, String> {
    let missing = |name: &str| format!("{path}: the target has no {name}");
    if path.contains("{disk}") {
        let block = [LayerKind::Loop, LayerKind::Dm, LayerKind::Md, LayerKind::Zram, LayerKind::Disk];
        let top = stack.layers.iter().find(|l| block.contains(&l.kind)).ok_or_else(|| missing("disk"))?;
        return Ok(vec![path.replace("{disk}", &top.name)]);
    }
    if path.contains("{lowest}") {
        let lowest = stack.lowest_counted();
        if lowest.is_empty() {
            return Err(missing("disk"));
        }
        return Ok(lowest.iter().map(|l| path.replace("{lowest}", &l.name)).collect());
    }
    Ok(vec![path.to_owned()])
}

/// A value as it would be written: of `none [mq-deadline] kyber` the one in brackets, which is the one in force.
fn read_value(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path} cannot be read: {e}"))?;
    let chosen = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    Ok(chosen.map_or_else(|| text.trim().to_owned(), str::to_owned))
}

fn mount_point(stack: &Stack) -> Result<&str, String> {
    stack
        .mount
        .as_ref()
        .map(|m| m.mount_point.as_str())
        .ok_or_else(|| "mount-options: the target is on no file system".into())
}

/// The options of a mount as /proc/mounts shows them; of several on one place the last.
fn mounted_with(mount_point: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let line = text.lines().rev().find(|l| l.split(' ').nth(1).map(unescape).as_deref() == Some(mount_point))?;
    Some(line.split(' ').nth(3)?.split(',').map(str::to_owned).collect())
}

/// Spaces and the like are octal in /proc/mounts (fs/proc_namespace.c, mangle).
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |t, (e, c)| t.replace(e, c))
}

/// What undoes an option that is a word: `noatime` and `atime`. Of `key=value` nothing is known.
fn opposite(option: &str) -> Option<String> {
    match option.strip_prefix("no") {
        _ if option.is_empty()
            || option.contains('=')
            || matches!(option, "ro" | "rw" | "sync" | "async" | "relatime") =>
        {
            None
        }
        Some(positive) => {
            Some(positive.to_owned()).filter(|p| !matches!(p.as_str(), "atime" | "suid" | "dev" | "exec"))
        }
        None => Some(format!("no{option}")),
    }
}

fn remount(mount_point: &str, options: &str) -> Result<(), String> {
    let status = Command::new("mount")
        .args(["-o", &format!("remount,{options}"), mount_point])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|e| format!("mount could not be started: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{mount_point} could not be remounted with {options}: mount ended with {status}"))
    }
}

/// A command in a process group of its own, so that Ctrl-C on the terminal does not end it half-way; what it prints goes
/// to stderr. With `signals`, the first signal ends it after a while.
fn shell(command: &str, signals: Option<&Signals>) -> std::io::Result<ExitStatus> {
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
    use model::Layer;

    #[test]
    fn names_of_disks_are_filled_in() {
        let layers = vec![
            Layer::new(LayerKind::Filesystem, "ext4"),
            Layer::new(LayerKind::Partition, "sda1"),
            Layer::new(LayerKind::Disk, "sda"),
        ];
        let stack = Stack { mount: None, layers };
        assert_eq!(paths("/sys/block/{disk}/queue/scheduler", &stack).unwrap(), ["/sys/block/sda/queue/scheduler"]);
        assert_eq!(paths("/proc/sys/vm/x", &stack).unwrap(), ["/proc/sys/vm/x"]);
        assert!(paths("/sys/block/{disk}/x", &Stack::default()).unwrap_err().contains("has no disk"));
    }

    #[test]
    fn the_value_in_force_is_the_one_in_brackets() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        for (text, value) in [("none [mq-deadline] kyber\n", "mq-deadline"), ("128\n", "128"), ("", "")] {
            std::fs::write(path, text).unwrap();
            assert_eq!(read_value(path).unwrap(), value);
        }
    }

    #[test]
    fn options_have_opposites_where_they_are_words() {
        for (option, undone) in [
            ("discard", Some("nodiscard")),
            ("nobarrier", Some("barrier")),
            ("commit=30", None),
            ("noatime", None),
            ("", None),
        ] {
            assert_eq!(opposite(option).as_deref(), undone, "{option}");
        }
    }

    #[test]
    fn a_command_says_how_it_ended() {
        assert!(shell("exit 0", None).unwrap().success());
        assert_eq!(shell("exit 3", None).unwrap().code(), Some(3));
        assert!(Undo::Command { undo: "exit 3".into() }.execute().unwrap_err().contains("exit 3"));
    }
}
