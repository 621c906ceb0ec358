//! `lab capture`: the tree of a machine as `narrows inspect --capture` sees it, kept as text for the tests of `observe`.
//!
//! The text is that of `crates/observe/tests/trees/README.md`. What identifies a machine is hashed by `narrows` itself
//! before it leaves the guest; with which kernel and command a tree was made is in the manifest beside it.

use super::initrd::GuestJob;
use super::machine::Machine;
use super::progress;
use super::session::Lab;
use super::session_options::SessionOptions;
use crate::tree_text;
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
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
    prepared.notes.iter().for_each(|n| progress::print_status(n));
    let outcome = lab.run(
        &prepared,
        &GuestJob::script(COMMAND),
        &SessionOptions { progress: true, ..SessionOptions::default() },
    )?;
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
    text.push_str(&tree_text::of(&top)?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_that_is_to_be_captured_is() {
        let machines = crate::machine::all(&crate::machines_directory()).expect("machines");
        let wanted = machines.into_iter().filter(|m| !m.capture.is_empty()).map(|m| (m.name, m.capture));
        let text = fs::read_to_string(directory().join("manifest.toml")).expect("the manifest");
        let manifest: BTreeMap<String, Origin> = toml::from_str(&text).expect("the manifest");
        let captured = manifest.into_iter().map(|(name, origin)| (name, origin.targets));
        assert_eq!(captured.collect::<BTreeMap<_, _>>(), wanted.collect::<BTreeMap<_, _>>());
    }
}
