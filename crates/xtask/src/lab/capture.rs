//! `lab capture`: the tree of a machine as `narrows inspect --capture` sees it, kept as text for the tests of `observe`.
//!
//! The text is that of `crates/observe/tests/trees/README.md`. What identifies a machine is hashed by `narrows` itself
//! before it leaves the guest; with which kernel and command a tree was made is in the manifest beside it.

use super::conduct::Conduct;
use super::initrd::Job;
use super::machine::Machine;
use super::progress;
use super::session::Lab;
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is run in the guest.
const COMMAND: &str = "narrows inspect --capture /lab/out/capture.tar --read-registers";

/// Where trees and manifest are.
fn directory() -> PathBuf {
    crate::workspace_root().join("crates/observe/tests/trees/lab")
}

/// What is known about a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Origin {
    /// The machine, in words.
    title: String,
    /// Its machine type.
    machine: String,
    /// As `uname -r` says it.
    kernel: String,
    /// Package and version of the kernel.
    package: String,
    /// The emulator's own words.
    emulator: String,
    /// What was run in the guest.
    command: String,
    /// Targets whose inventory is a snapshot.
    targets: Vec<String>,
}

/// Boots a machine, captures it, and writes tree and manifest; where the tree is.
///
/// # Errors
/// The guest failed, or the tree cannot be written.
pub fn run(lab: &Lab, machine: &Machine) -> anyhow::Result<PathBuf> {
    ensure!(
        !machine.capture.is_empty(),
        "{}: capture names no targets, so that no test would look at it",
        machine.name
    );
    let prepared = lab.prepare(machine)?;
    prepared.notes.iter().for_each(|n| progress::say(n));
    let outcome = lab.run(&prepared, &Job::script(COMMAND), &Conduct { progress: true, ..Conduct::default() })?;
    if outcome.exit != 0 {
        bail!("{}: {COMMAND} ended with {}: {}", machine.name, outcome.exit, outcome.text("stderr").trim());
    }
    let unpacked = outcome.out.path().join("capture");
    fs::create_dir_all(&unpacked).with_context(|| format!("cannot create {}", unpacked.display()))?;
    let mut tar = Command::new("tar");
    tar.args(["--no-same-owner", "-C"]).arg(&unpacked).arg("-xf").arg(outcome.out.path().join("capture.tar"));
    ensure!(tar.status().context("could not run tar")?.success(), "the capture cannot be unpacked");
    let top = unpacked.join("narrows-capture");
    let origin = Origin {
        title: machine.title.clone(),
        machine: machine.machine.clone(),
        kernel: prepared.release.clone(),
        package: prepared.package.clone(),
        emulator: prepared.emulator_version()?,
        command: COMMAND.to_owned(),
        targets: machine.capture.clone(),
    };
    let mut text = format!(
        "# {}. Captured from the lab's machine {}: {},\n# Linux {} ({}). Made by: cargo xtask lab capture {}\n",
        origin.title, machine.name, origin.emulator, origin.kernel, origin.package, machine.name
    );
    describe(&top, &top, &mut String::new(), &mut text)?;
    fs::create_dir_all(directory()).with_context(|| format!("cannot create {}", directory().display()))?;
    let path = directory().join(format!("{}.tree", machine.name));
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    enter(&machine.name, origin)?;
    Ok(path)
}

/// Puts an origin into the manifest.
fn enter(name: &str, origin: Origin) -> anyhow::Result<()> {
    let path = directory().join("manifest.toml");
    let mut manifest: BTreeMap<String, Origin> = match fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text).with_context(|| format!("{} cannot be read", path.display()))?,
        Err(_) => BTreeMap::new(),
    };
    manifest.insert(name.to_owned(), origin);
    let text = toml::to_string(&manifest).context("the manifest")?;
    let text = format!("# Where the trees beside this file are from; written by `cargo xtask lab capture`.\n\n{text}");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A file's content as the value of a line.
fn value(content: &[u8]) -> String {
    let escape = |byte: u8| match byte {
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\\' => "\\\\".to_owned(),
        0x20..=0x7e => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    let escaped = |bytes: &[u8]| bytes.iter().map(|b| escape(*b)).collect::<String>();
    // A line end follows by itself, unless the last byte is a number. Blanks at the end of a line would be lost.
    let plain = |body: &[u8]| body.last().is_none_or(|b| matches!(b, 0x21..=0x7e | b'\n' | b'\t'));
    let text = match content.split_last() {
        None => String::new(),
        Some((b'\n', body)) if plain(body) => escaped(body),
        Some((last, body)) => format!("{}\\x{last:02x}", escaped(body)),
    };
    // Else the line would be that of a link.
    text.replace(" => ", " =\\x3e ")
}

/// Where a link leads, from the top of the tree.
fn target_of(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    for part in target.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "" | "." => {}
            part => parts.push(part),
        }
    }
    parts.retain(|p| !p.is_empty());
    format!("/{}", parts.join("/"))
}

/// Appends the text of a directory, its own entries first.
fn describe(top: &Path, directory: &Path, base: &mut String, out: &mut String) -> anyhow::Result<()> {
    let here = format!("/{}", directory.strip_prefix(top).unwrap_or(directory).display());
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    if entries.is_empty() {
        out.push_str(&format!("{here} /\n"));
    }
    let mut directories = Vec::new();
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            directories.push(path);
            continue;
        }
        if *base != here {
            out.push_str(&format!("@ {here}\n"));
            *base = here.clone();
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_symlink() {
            let target = fs::read_link(&path).with_context(|| format!("cannot read {}", path.display()))?;
            out.push_str(&format!("{name} => {}\n", target_of(&here, &target.to_string_lossy())));
        } else {
            let content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            out.push_str(format!("{name} = {}", value(&content)).trim_end());
            out.push('\n');
        }
    }
    directories.iter().try_for_each(|directory| describe(top, directory, base, out))
}

#[cfg(test)]
#[allow(dead_code, reason = "the test uses its part of the builder")]
#[path = "../../../observe/tests/tree/mod.rs"]
mod tree;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_builds_the_same_tree() {
        let source = tempfile::tempdir().expect("a directory");
        let contents: [&[u8]; 12] = [
            b"2048\n",
            b"no line end",
            b"two\nlines\n",
            b"\n",
            b"blank at the end \n",
            b"tab\t\n",
            b"back\\slash\n",
            b"\x00\xff",
            b"zero at the end\0\n",
            b"a => b\n",
            b"a = b\n",
            b"blank \n\n",
        ];
        fs::create_dir_all(source.path().join("sys/devices/x/empty")).expect("directories");
        for (i, content) in contents.iter().enumerate() {
            fs::write(source.path().join(format!("sys/devices/x/file{i}")), content).expect("a file");
        }
        std::os::unix::fs::symlink("../../bus/y", source.path().join("sys/devices/x/driver")).expect("a link");
        let mut text = String::new();
        describe(source.path(), source.path(), &mut String::new(), &mut text).expect("a text");
        let built = tree::Tree::build(&text);
        for (i, content) in contents.iter().enumerate() {
            let read = fs::read(built.host(&format!("/sys/devices/x/file{i}"))).expect("a file");
            assert_eq!(read, *content, "{text}");
        }
        assert!(built.host("/sys/devices/x/empty").is_dir());
        let link = fs::read_link(built.host("/sys/devices/x/driver")).expect("a link");
        assert!(link.ends_with("sys/bus/y"), "{}", link.display());
    }

    #[test]
    fn every_machine_that_is_to_be_captured_is() {
        let machines = crate::lab::machine::all(&crate::lab::machines_directory()).expect("machines");
        let wanted = machines.into_iter().filter(|m| !m.capture.is_empty()).map(|m| (m.name, m.capture));
        let text = fs::read_to_string(directory().join("manifest.toml")).expect("the manifest");
        let manifest: BTreeMap<String, Origin> = toml::from_str(&text).expect("the manifest");
        let captured = manifest.into_iter().map(|(name, origin)| (name, origin.targets));
        assert_eq!(captured.collect::<BTreeMap<_, _>>(), wanted.collect::<BTreeMap<_, _>>());
    }

    #[test]
    fn links_are_followed_in_words() {
        assert_eq!(target_of("/sys/devices/x", "../../bus/y"), "/sys/bus/y");
        assert_eq!(target_of("/sys/block", "../devices/../devices/z"), "/sys/devices/z");
        assert_eq!(target_of("/etc", "/usr/lib/os-release"), "/usr/lib/os-release");
    }
}
