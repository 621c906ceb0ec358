//! Runs the binary with an archive of its own.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where the binary is.
pub const BINARY: &str = env!("CARGO_BIN_EXE_narrows");

/// A scratch directory with a place for targets, and an archive.
pub struct Scratch {
    directory: TempDir,
    archive: Option<TempDir>,
}

/// A directory of files that are synced again and again, which in memory takes no time.
fn in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| TempDir::new()).expect("a temporary directory")
}

/// What a finished process left.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Scratch {
    pub fn new() -> Self {
        Self { archive: Some(in_memory()), ..Self::with_its_archive_inside() }
    }

    /// One whose archive lies in its directory.
    pub fn with_its_archive_inside() -> Self {
        Self { directory: TempDir::new().expect("a temporary directory"), archive: None }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn archive(&self) -> std::path::PathBuf {
        self.archive.as_ref().unwrap_or(&self.directory).path().join("archive")
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
        let mut command = self.around(BINARY);
        command.args(args);
        command
    }

    /// Another program that runs the binary, with the same environment: a shell that limits it, or one that makes a terminal. No
    /// test starts the binary in another way, so that none writes into the archive of whoever runs it.
    pub fn around(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
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

/// The sources of these tests, but for this file.
fn sources(directory: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_name() != Some(OsStr::new("program.rs")) {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Programs that tests start and that do not run the binary.
const OTHERS: [&str; 5] = ["mkfifo", "tar", "kill", "sleep", "git"];

#[test]
fn every_start_of_the_binary_has_an_archive_of_its_own() {
    let mut all = Vec::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program")), &mut all);
    assert!(all.len() > 40, "{}", all.len());
    let unset = concat!("env_remove(\"NARROWS", "_ARCHIVE\")");
    for (path, text) in all {
        assert!(
            !text.contains(concat!("CARGO_BIN", "_EXE")),
            "{path}: the binary is Scratch::command, or around a shell"
        );
        for line in text.lines().filter(|line| line.contains("Command::new(")) {
            let other = OTHERS.iter().any(|name| line.contains(&format!("Command::new(\"{name}\")")));
            assert!(other || line.contains(".arg(\"--version\")"), "{path}: Scratch::around is for this: {line}");
        }
        // Without all that names an archive there is none.
        let bare = text.lines().filter(|line| line.contains(unset) && !line.contains("env_remove(\"HOME\")")).count();
        assert_eq!(bare, 0, "{path}: the archive of whoever runs the tests");
    }
}
