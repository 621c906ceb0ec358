//! What is admitted and what is refused, on files of our own. Devices need root: tests/root.

use conduct::admission::{Admitted, Consent, admit};
use model::{Failure, FailureKind};
use observe::Root;
use spec::Readiness;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use sys::SymlinkPolicy;

struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        let scratch = Self { directory: tempfile::tempdir().unwrap() };
        std::fs::write(scratch.path("file"), [1; 4096]).unwrap();
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn content(&self) -> Vec<u8> {
        std::fs::read(self.path("file")).unwrap()
    }
}

const OVERWRITE: Consent<'_> = Consent { overwrite: true, destroy: None, only: None };

fn overwrite(path: &Path) -> Result<Admitted, Failure> {
    admit(&Root::new("/"), path, SymlinkPolicy::Follow, OVERWRITE)
}

/// A process of ours with a file of its own; ended when dropped.
struct Holder(Child);

impl Holder {
    fn with(stdin: Stdio, stdout: Stdio) -> Self {
        Self(Command::new("sleep").arg("60").stdin(stdin).stdout(stdout).spawn().unwrap())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn refused(path: &Path, words: &[&str]) {
    let failure = overwrite(path).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused, "{failure}");
    for word in words {
        assert!(failure.message.contains(word), "{word}: {failure}");
    }
    assert!(failure.remedy.is_some());
}

#[test]
fn a_file_that_nobody_uses_is_admitted_for_writing_and_without_a_word_only_for_reading() {
    let scratch = Scratch::new();
    let admitted = overwrite(&scratch.path("file")).unwrap();
    assert_eq!(admitted.readiness, Readiness::Writable);
    assert!(sys::is_writable(&admitted.target.file).unwrap());
    drop(admitted);
    let read = admit(&Root::new("/"), &scratch.path("file"), SymlinkPolicy::Follow, Consent::default()).unwrap();
    assert!(matches!(read.readiness, Readiness::ReadOnly(_)));
    assert!(!sys::is_writable(&read.target.file).unwrap());
}

#[test]
fn a_file_that_a_process_has_open_is_refused_and_the_process_named() {
    let scratch = Scratch::new();
    let file = OpenOptions::new().append(true).open(scratch.path("file")).unwrap();
    let holder = Holder::with(Stdio::null(), file.into());
    refused(&scratch.path("file"), &[&format!("process {} (sleep)", holder.0.id()), "open for writing"]);
    // Every hard link is the same file.
    std::fs::hard_link(scratch.path("file"), scratch.path("other name")).unwrap();
    refused(&scratch.path("other name"), &["(sleep)"]);
    drop(holder);
    assert!(overwrite(&scratch.path("file")).is_ok());
    assert_eq!(scratch.content(), [1; 4096]);
}

#[test]
fn a_file_that_a_process_reads_is_refused_too() {
    let scratch = Scratch::new();
    let holder = Holder::with(File::open(scratch.path("file")).unwrap().into(), Stdio::null());
    refused(&scratch.path("file"), &[&format!("process {} (sleep) has", holder.0.id())]);
}

#[test]
fn who_reads_for_a_moment_is_waited_for() {
    let scratch = Scratch::new();
    let file = File::open(scratch.path("file")).unwrap();
    let mut reader = Command::new("sleep").arg("0.3").stdin(file).spawn().unwrap();
    let admitted = overwrite(&scratch.path("file"));
    reader.wait().unwrap();
    assert!(admitted.is_ok(), "{:?}", admitted.err());
}

#[test]
fn what_only_the_kernel_sees_is_refused() {
    let scratch = Scratch::new();
    // This process is not looked at; the lease knows of it all the same.
    let mine = OpenOptions::new().write(true).open(scratch.path("file")).unwrap();
    if matches!(sys::sole_opening(&mine).unwrap(), sys::SoleOpening::NotTold) {
        return println!("SKIPPED: no leases on this file system");
    }
    refused(&scratch.path("file"), &["no write lease"]);
}

#[test]
fn a_file_that_may_only_grow_is_refused() {
    let scratch = Scratch::new();
    let chattr = |what: &str| {
        let done = Command::new("chattr").arg(what).arg(scratch.path("file")).stderr(Stdio::null()).status();
        done.is_ok_and(|s| s.success())
    };
    if !chattr("+a") {
        return println!("SKIPPED: chattr +a needs root and a file system that knows it");
    }
    let failure = overwrite(&scratch.path("file")).map(|_| ());
    assert!(chattr("-a"));
    let failure = failure.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused, "{failure}");
    assert!(failure.message.contains("append-only"), "{failure}");
}

#[test]
fn a_link_in_place_of_a_confirmed_name_is_refused() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink(scratch.path("file"), scratch.path("link")).unwrap();
    let by_link = overwrite(&scratch.path("link")).unwrap();
    assert_eq!(by_link.target.path, scratch.path("file"), "a person's link is followed, once");
    drop(by_link);
    let failure = admit(&Root::new("/"), &scratch.path("link"), SymlinkPolicy::Refuse, OVERWRITE).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused, "{failure}");
    assert!(failure.message.contains("symbolic link"), "{failure}");
}

#[test]
fn another_file_under_the_name_of_one_that_was_looked_at_is_refused() {
    let scratch = Scratch::new();
    let object = overwrite(&scratch.path("file")).unwrap().object;
    let only = Consent { only: Some(object), ..OVERWRITE };
    assert!(admit(&Root::new("/"), &scratch.path("file"), SymlinkPolicy::Follow, only).is_ok());
    std::fs::write(scratch.path("new"), [2; 4096]).unwrap();
    std::fs::rename(scratch.path("new"), scratch.path("file")).unwrap();
    let failure = admit(&Root::new("/"), &scratch.path("file"), SymlinkPolicy::Follow, only).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused, "{failure}");
    assert!(failure.message.contains("something else is in the place"), "{failure}");
}

#[test]
fn what_was_admitted_stays_so_whatever_happens_to_the_name() {
    use std::os::unix::fs::FileExt;
    let scratch = Scratch::new();
    std::fs::write(scratch.path("precious"), [7; 4096]).unwrap();
    let admitted = overwrite(&scratch.path("file")).unwrap();
    std::fs::rename(scratch.path("file"), scratch.path("moved")).unwrap();
    std::os::unix::fs::symlink(scratch.path("precious"), scratch.path("file")).unwrap();
    let again = sys::reopen(&admitted.target.file, true, false).unwrap();
    again.write_all_at(&[9; 4096], 0).unwrap();
    assert_eq!(std::fs::read(scratch.path("precious")).unwrap(), [7; 4096]);
    assert_eq!(std::fs::read(scratch.path("moved")).unwrap(), [9; 4096]);
}

#[test]
fn the_wrong_word_for_a_target_is_a_mistake_of_usage() {
    let scratch = Scratch::new();
    let destroy = Consent { destroy: Some("x"), ..Consent::default() };
    let failure = admit(&Root::new("/"), &scratch.path("file"), SymlinkPolicy::Follow, destroy).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Usage);
    let directory = admit(&Root::new("/"), scratch.directory.path(), SymlinkPolicy::Follow, OVERWRITE).unwrap_err();
    assert_eq!(directory.kind, FailureKind::Usage);
}
