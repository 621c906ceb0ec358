//! A process of its own that puts right what was done to others when this program is gone, whatever ended it.
//!
//! It knows all of it before anything is done, and hears that this program is gone by the end of its standard input, of which
//! nothing else holds the other end.

use model::Failure;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// What it does then, by its arguments.
const SCRIPT: &str = r#"trap '' HUP INT TERM; cat >/dev/null
while [ $# -gt 0 ]; do case $1 in
continue) kill -CONT "$2" 2>/dev/null; shift 2;;
write) printf '%s\n' "$3" 2>/dev/null >"$2"; shift 3;;
*) exit 1;;
esac; done"#;

/// One thing that is put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Restore {
    /// A process goes on (SIGCONT).
    Continue(i32),
    /// A line is written to a file of a control group that is there.
    Write(PathBuf, String),
}

/// A watcher that waits.
#[derive(Debug)]
pub(crate) struct Watcher(Option<Child>);

impl Watcher {
    /// Starts it, in a process group of its own: what ends this one does not end it. None is started for nothing.
    ///
    /// # Errors
    /// There is no shell.
    pub fn start(all: &[Restore]) -> Result<Self, Failure> {
        if all.is_empty() {
            return Ok(Self(None));
        }
        let arguments = all.iter().flat_map(|one| match one {
            Restore::Continue(pid) => vec!["continue".into(), OsString::from(pid.to_string())],
            Restore::Write(path, line) => vec!["write".into(), path.into(), line.into()],
        });
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "narrows-watcher"]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn().map_err(|e| {
            Failure::environment(format!("--defer, --limit: /bin/sh: {e}"))
                .remedy("without a watcher others might stay paused, or limited")
        })?;
        Ok(Self(Some(child)))
    }
}

impl Drop for Watcher {
    /// All is put right already. It ends without doing it again: what others have done since then stays.
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn it_writes_once_this_program_is_gone_and_nothing_where_it_is_told_to_go() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a file; with $signs");
        let gone = directory.path().join("no/such/group");
        let all = [Restore::Write(gone, "x".into()), Restore::Write(file.clone(), "8:0 wbps=max".into())];
        drop(Watcher::start(&all).unwrap());
        assert!(!file.exists());
        let mut watcher = Watcher::start(&all).unwrap();
        // As the kernel does for a program that is gone.
        let mut child = watcher.0.take().unwrap();
        drop(child.stdin.take());
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "8:0 wbps=max\n");
        assert!(Watcher::start(&[]).unwrap().0.is_none());
    }
}
