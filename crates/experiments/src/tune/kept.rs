//! Files of ours that keep settings over a reboot: each says in its first line which search it is of and how to take it back. What an
//! administrator's file sets already is left to that file.

use model::{Failure, KeepLine, TuneSetting};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// How the first line of a file of ours begins.
const OURS: &str = "# Written by narrows tune";
/// How the line begins that says what the lines below it are of ([`origin`]).
const ORIGIN: &str = "# ";
/// Mechanisms whose text is a file of its own; of others it is a line of a file that somebody else has.
const WRITTEN: [&str; 4] = ["udev", "sysctl", "tmpfiles", "modprobe"];
/// All files that may be ours, below the root.
const FILES: [&str; 4] = [super::keep::UDEV, super::keep::SYSCTL, super::keep::TMPFILES, super::keep::MODPROBE];
/// A file of settings is never longer.
const MOST_BYTES: u64 = 1 << 20;

/// Which lines can be written as files of ours, and which are for a person.
pub fn is_written(line: &KeepLine) -> bool {
    WRITTEN.contains(&line.mechanism)
}

/// What `tune --verify` has to know of kept settings: the search, its target, what became better, and what the settings held before.
pub fn origin(id: &str, target: &str, asked: &str, settings: &[TuneSetting]) -> Value {
    json!({"search": id, "target": target, "for": asked, "settings": settings})
}

/// Writes the lines into files of ours below `root`, which is `/` but for tests, each below its [`origin`]; gives the files.
///
/// # Errors
/// An administrator's file sets one of them, a file of that name is not ours, or cannot be written. Nothing was written then, or the
/// failure says what.
pub fn write(lines: &[KeepLine], id: &str, origin: Option<&Value>, root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let lines: Vec<&KeepLine> = lines.iter().filter(|line| is_written(line)).collect();
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for line in &lines {
        stands_back(line, root)?;
        let path = below(root, &line.file);
        let earlier = files.iter().position(|(file, _)| *file == path).map(|at| files.remove(at).1);
        let before = earlier.map_or_else(|| existing(&path), |text| Ok(Some(text)))?;
        let before = before.unwrap_or_else(|| format!("{OURS}, search {id}; narrows tune --undo-kept removes it.\n"));
        let new = line.text.lines().filter(|text| before.lines().all(|old| old != *text));
        let origin = origin.map(|origin| format!("{ORIGIN}{origin}\n")).filter(|origin| !before.contains(origin));
        let mut text = before.clone();
        for (number, line) in new.enumerate() {
            text.extend(origin.iter().filter(|_| number == 0).map(String::as_str));
            text.push_str(&format!("{line}\n"));
        }
        files.push((path, text));
    }
    let mut written = Vec::new();
    for (path, text) in files {
        replace(&path, &text).map_err(|e| {
            let done: Vec<String> = written.iter().map(|p: &PathBuf| p.display().to_string()).collect();
            let done = if done.is_empty() { String::new() } else { format!("; written before: {}", done.join(", ")) };
            Failure::environment(format!("{} cannot be written: {e}{done}", path.display()))
        })?;
        written.push(path);
    }
    Ok(written)
}

/// Removes all files of ours; gives them with what they held.
///
/// # Errors
/// One cannot be removed.
pub fn undo(root: &Path) -> Result<Vec<(PathBuf, String)>, Failure> {
    let mut removed = Vec::new();
    for file in FILES {
        let path = below(root, file);
        let Ok(Some(text)) = existing(&path) else { continue };
        fs::remove_file(&path)
            .map_err(|e| Failure::environment(format!("{} cannot be removed: {e}", path.display())))?;
        removed.push((path, text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")));
    }
    Ok(removed)
}

pub(super) fn below(root: &Path, file: &str) -> PathBuf {
    root.join(file.trim_start_matches('/'))
}

/// The text of a file of ours; `None` where there is no file.
pub(super) fn existing(path: &Path) -> Result<Option<String>, Failure> {
    let not_ours = || {
        Failure::refused(format!("{} is there and was not written by narrows tune", path.display()))
            .remedy("move it away, or write the lines yourself")
    };
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if metadata.is_file() && metadata.len() <= MOST_BYTES => {}
        Ok(_) | Err(_) => return Err(not_ours()),
    }
    let text = fs::read_to_string(path).map_err(|_| not_ours())?;
    if text.starts_with(OURS) { Ok(Some(text)) } else { Err(not_ours()) }
}

/// What a line sets, as other files of its directory name it.
fn subject(line: &str) -> Option<&str> {
    if let Some((_, attribute)) = line.rsplit_once("ATTR{") {
        return attribute.split_once('}').map(|(attribute, _)| attribute);
    }
    line.split_once(" = ").map(|(key, _)| key)
}

/// That no other file beside ours sets the same.
fn stands_back(line: &KeepLine, root: &Path) -> Result<(), Failure> {
    let own = below(root, &line.file);
    let Some(directory) = own.parent() else { return Ok(()) };
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_other = path != own && entry.metadata().is_ok_and(|m| m.is_file() && m.len() <= MOST_BYTES);
        let text = if is_other { fs::read_to_string(&path).unwrap_or_default() } else { continue };
        let in_force = || text.lines().map(str::trim_start).filter(|l| !l.starts_with(['#', ';']));
        for subject in line.text.lines().filter_map(subject) {
            if in_force().any(|l| l.contains(subject)) {
                let message = format!("{} sets {subject} already: it is left to that file", path.display());
                return Err(Failure::refused(message).remedy("change it there, or take the line out first"));
            }
        }
    }
    Ok(())
}

/// Replaces a file as a whole, or makes it; durable when this returns.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    let beside = path.with_extension(format!("narrows-{}", std::process::id()));
    let _ = fs::remove_file(&beside);
    let mut file = File::create_new(&beside)?;
    let written =
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.and_then(|()| File::open(directory)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(mechanism: &'static str, file: &str, text: &str) -> KeepLine {
        KeepLine { mechanism, file: file.into(), text: text.into(), undo: String::new(), note: None }
    }

    fn rule(attribute: &str, value: &str) -> KeepLine {
        let text = format!("ACTION==\"add|change\", KERNEL==\"sda\", ATTR{{queue/{attribute}}}=\"{value}\"");
        line("udev", crate::tune::keep::UDEV, &text)
    }

    #[test]
    fn files_of_ours_are_written_extended_and_taken_back() {
        let root = tempfile::tempdir().unwrap();
        let sysctl = line("sysctl", crate::tune::keep::SYSCTL, "vm.dirty_bytes = 16777216");
        let command_line =
            line("kernel command line", "the boot loader's configuration", "pcie_aspm.policy=performance");
        let written =
            write(&[rule("read_ahead_kb", "512"), sysctl, command_line], "tune-1", None, root.path()).unwrap();
        assert_eq!(written.len(), 2);
        let text = fs::read_to_string(&written[0]).unwrap();
        assert!(
            text.starts_with("# Written by narrows tune, search tune-1; ") && text.ends_with("=\"512\"\n"),
            "{text}"
        );
        write(&[rule("scheduler", "bfq"), rule("read_ahead_kb", "512")], "tune-2", None, root.path()).unwrap();
        let text = fs::read_to_string(&written[0]).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        let removed = undo(root.path()).unwrap();
        assert!(removed.len() == 2 && removed[0].1.contains("scheduler"), "{removed:?}");
        assert!(!written[0].exists() && undo(root.path()).unwrap().is_empty());
    }

    #[test]
    fn what_somebody_else_wrote_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("etc/udev/rules.d");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("60-ssd.rules"), "# ATTR{queue/read_ahead_kb}\nATTR{queue/scheduler}=\"none\"\n")
            .unwrap();
        assert!(write(&[rule("read_ahead_kb", "512")], "t", None, root.path()).is_ok(), "a comment sets nothing");
        let failure = write(&[rule("scheduler", "bfq")], "t", None, root.path()).unwrap_err();
        assert!(failure.message.contains("60-ssd.rules sets queue/scheduler already"), "{failure}");
        let own = below(root.path(), crate::tune::keep::UDEV);
        fs::write(&own, "KERNEL==\"sda\"\n").unwrap();
        let failure = write(&[rule("nr_requests", "64")], "t", None, root.path()).unwrap_err();
        assert!(failure.message.contains("was not written by narrows tune"), "{failure}");
        assert!(undo(root.path()).unwrap().is_empty() && own.exists());
        fs::remove_file(&own).unwrap();
        std::os::unix::fs::symlink("/nowhere", &own).unwrap();
        assert!(write(&[rule("nr_requests", "64")], "t", None, root.path()).is_err());
    }
}
