//! The guest's whole root file system: busybox, modules, our first process, `narrows`, and what a job brings along.

use super::accesses;
use super::cpio::Archive;
use super::machine::{Machine, Transport};
use super::modules::Module;
use super::network;
use anyhow::Context;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const INIT: &str = include_str!("guest/init.sh");

/// What guests on a network have to ask each other; names of programs with their text.
const NETWORK_PROGRAMS: [(&str, &str); 3] = [
    ("bin/lab-on", include_str!("guest/lab-on.sh")),
    ("bin/lab-serve", include_str!("guest/lab-serve.sh")),
    ("bin/lab-end", include_str!("guest/lab-end.sh")),
];

/// One thing to do in a guest.
#[derive(Clone, Debug, Default)]
pub struct GuestJob {
    /// A script of the guest's shell; none for a shell to type into.
    pub script: Option<String>,
    /// Files for the guest: path without a slash in front, permissions, content.
    pub files: Vec<(String, u32, Vec<u8>)>,
}

impl GuestJob {
    /// A job that runs a script.
    pub fn script(text: impl Into<String>) -> Self {
        Self { script: Some(text.into()), files: Vec::new() }
    }

    /// Brings a directory of the host to a path in the guest.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn add_directory(&mut self, from: &Path, to: &str) -> anyhow::Result<()> {
        let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = format!("{to}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                self.add_directory(&entry.path(), &path)?;
            } else {
                let content =
                    fs::read(entry.path()).with_context(|| format!("cannot read {}", entry.path().display()))?;
                self.files.push((path, 0o644, content));
            }
        }
        Ok(())
    }
}

/// What is the same for all jobs of a machine.
pub struct Base {
    /// A static busybox.
    pub busybox: Vec<u8>,
    /// The static `narrows`.
    pub narrows: Arc<Vec<u8>>,
    /// Modules in the order in which they are loaded.
    pub modules: Vec<Module>,
    /// Programs and libraries of more packages.
    pub programs: Vec<Program>,
}

/// A file of a package, as it is in the guest.
pub struct Program {
    /// Path without a slash in front.
    path: String,
    /// Content; of a link, that of the file it leads to.
    content: Vec<u8>,
}

/// What of a package a program needs to run; not what people read.
const KEPT: [&str; 7] = ["bin", "sbin", "lib", "lib64", "usr/bin", "usr/sbin", "usr/lib"];

/// The programs and libraries of an unpacked package.
///
/// # Errors
/// They cannot be read.
pub fn programs_of(package: &Path) -> anyhow::Result<Vec<Program>> {
    let mut found = Vec::new();
    let mut open: Vec<String> = KEPT.iter().map(|k| (*k).to_owned()).collect();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(package.join(&directory)).into_iter().flatten() {
            let entry = entry?;
            let path = format!("{directory}/{}", entry.file_name().to_string_lossy());
            // Converters of character sets: large, and nobody converts anything.
            if path.ends_with("/gconv") || path.ends_with("/systemd") || KEPT.contains(&path.as_str()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if let Ok(content) = fs::read(entry.path()) {
                // A link out of the package leads nowhere here, and is left out.
                found.push(Program { path, content });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// A program of ours, as the guest has it.
pub fn compiled(name: &str, content: Vec<u8>) -> Program {
    Program { path: format!("bin/{name}"), content }
}

/// Files of a directory of this tree, which are in the guest below `/lab`.
///
/// # Errors
/// They cannot be read.
pub fn programs_in(root: &Path, directory: &str) -> anyhow::Result<Vec<Program>> {
    let mut job = GuestJob::default();
    job.add_directory(&root.join(directory), &format!("lab/{directory}"))?;
    Ok(job.files.into_iter().map(|(path, _, content)| Program { path, content }).collect())
}

/// Words for the guest's shell, each as it is.
pub fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quote = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

fn unix_now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// Of which guest of a session a first root file system is.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a> {
    /// Number of its lines on the console.
    pub nonce: &'a str,
    /// Somebody watches what the command prints.
    pub live: bool,
    /// Which of the guests beside the machine it is; `None` for the machine itself.
    pub beside: Option<usize>,
}

/// The file for the kernel.
pub fn initrd(machine: &Machine, base: &Base, job: &GuestJob, of: Of<'_>) -> Vec<u8> {
    let Of { nonce, live, beside } = of;
    let mut archive = Archive::default();
    archive.character_device("dev/console", (5, 1));
    archive.file("bin/busybox", 0o755, &base.busybox);
    archive.file("bin/narrows", 0o755, &base.narrows);
    archive.file("init", 0o755, INIT.as_bytes());
    if machine.accesses.is_some() {
        archive.file(accesses::MARK, 0o755, &accesses::mark_program(machine.arch));
    }
    for program in &base.programs {
        archive.file(&program.path, 0o755, &program.content);
    }
    let network = network::session(machine, beside);
    if !network.is_empty() {
        for (path, text) in NETWORK_PROGRAMS {
            archive.file(path, 0o755, text.as_bytes());
        }
    }
    let guest = beside.and_then(|number| machine.guests.get(number));
    let mut order = String::new();
    for (i, module) in base.modules.iter().enumerate() {
        let file = format!("{i:03}-{}.ko", module.name);
        order.push_str(&format!("{file} {}\n", module.parameters));
        archive.file(&format!("lab/modules/{file}"), 0o644, &module.content);
    }
    archive.file("lab/modules/order", 0o644, order.as_bytes());
    let (transport, device) = match &machine.transport {
        Transport::VirtioSerial => ("virtio-serial", ""),
        Transport::Console => ("console", ""),
        Transport::Disk { device, .. } => ("disk", device.as_str()),
    };
    let yes = |is: bool| if is { "yes" } else { "no" };
    let session = [
        ("NONCE", nonce.to_owned()),
        // Boards have no clock that goes on without power; runs are named by the time.
        ("NOW", unix_now().to_string()),
        ("HOST_NAME", guest.map_or_else(|| format!("lab-{}", machine.name), |guest| guest.name.clone())),
        ("TRANSPORT", transport.to_owned()),
        ("OUT_DEVICE", device.to_owned()),
        ("WAIT_FOR", machine.wait_for.join(" ")),
        ("POWERS_OFF", yes(machine.powers_off).to_owned()),
        ("LIVE", yes(live).to_owned()),
        ("INTERACTIVE", yes(job.script.is_none()).to_owned()),
    ];
    let session: String =
        session.iter().chain(&network).map(|(key, value)| format!("{key}={}\n", quoted([value.as_str()]))).collect();
    archive.file("lab/session", 0o644, session.as_bytes());
    archive.file("lab/setup", 0o644, guest.map_or(&machine.setup, |guest| &guest.setup).as_bytes());
    archive.file("lab/command", 0o644, job.script.as_deref().unwrap_or_default().as_bytes());
    for (path, permissions, content) in &job.files {
        archive.file(path, *permissions, content);
    }
    archive.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_shell_as_they_are() {
        let words = ["narrows", "run", "it's $HOME; rm *", ""];
        let script = format!("for word in {}; do printf '%s\\n' \"$word\"; done", quoted(words));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("sh");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "narrows\nrun\nit's $HOME; rm *\n\n");
    }

    #[test]
    fn what_runs_in_a_guest_is_a_script_that_a_shell_can_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("init");
        for text in NETWORK_PROGRAMS.iter().map(|(_, text)| *text).chain([INIT]) {
            fs::write(&path, text).expect("the script");
            let status = std::process::Command::new("sh").arg("-n").arg(&path).status().expect("sh");
            assert!(status.success());
        }
    }
}
