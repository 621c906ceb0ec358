//! Runs the binary with an archive of its own.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A reason as every document has it.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub code: Option<String>,
    pub text: String,
    pub data: Option<Value>,
}

/// A scratch directory with an archive and a place for targets.
pub struct Scratch {
    directory: TempDir,
}

/// What a finished process left.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Scratch {
    pub fn new() -> Self {
        Self { directory: TempDir::new().expect("a temporary directory") }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn archive(&self) -> std::path::PathBuf {
        self.path().join("archive")
    }

    /// Where the program writes down what it changes of this machine.
    pub fn journal(&self) -> std::path::PathBuf {
        self.path().join("journal")
    }

    /// A directory to measure in.
    pub fn target(&self) -> std::path::PathBuf {
        let target = self.path().join("target");
        std::fs::create_dir_all(&target).expect("a target directory");
        target
    }

    /// The command, with a fixed environment.
    pub fn command(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_narrows"));
        command
            .args(args)
            .env("NARROWS_ARCHIVE", self.archive())
            .env("NARROWS_JOURNAL", self.journal())
            .env("LANG", "C.UTF-8")
            .env_remove("LC_ALL")
            .env_remove("SSH_CONNECTION")
            .stdin(Stdio::null())
            .current_dir(self.path());
        command
    }

    pub fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ended {
        Ended::of(self.command(args).output().expect("the binary runs"))
    }

    /// Runs, expects `code`, and reads the one JSON document of stdout.
    pub fn json(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>, code: i32) -> Value {
        let ended = self.run(args);
        assert_eq!(ended.code, code, "stdout: {}\nstderr: {}", ended.stdout, ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stdout))
    }
}

impl Ended {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Waits until it is so. This is no measurement: a machine may stand still for a while, and a test must not wait for ever.
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(120), "it was never so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The metric with this id in a check document.
pub fn metric<'a>(document: &'a Value, id: &str) -> &'a Value {
    document["metrics"]
        .as_array()
        .and_then(|metrics| metrics.iter().find(|m| m["id"] == id))
        .unwrap_or_else(|| panic!("no metric {id}"))
}
