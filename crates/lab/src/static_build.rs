//! `cargo xtask static`: the binary that is shipped (the profile `dist`) for every supported architecture; each is checked to be static and small,
//! and is run once, natively or under user-mode emulation.
//!
//! Under emulation nothing is measured that would mean anything: what is checked is that the program works there.

use anyhow::{Context, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};

/// Options of `cargo xtask static`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only these targets (names of rustc); all without one
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    /// Build and check the files, but do not run them
    #[arg(long)]
    no_run: bool,
}

/// The shipped binary stays under this (docs/architecture.md).
const SIZE_LIMIT_BYTES: u64 = 12_000_000;

/// ELF machine numbers (System V ABI, e_machine).
const EM_ARM: u16 = 40;
const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;
const EM_RISCV: u16 = 243;

struct Target {
    name: &'static str,
    machine: u16,
    /// As [`std::env::consts::ARCH`] names it.
    architecture: &'static str,
    emulator: &'static str,
    /// The linker, if it does not come with Rust, and the packages of Debian that it takes.
    linker: Option<(&'static str, &'static str)>,
}

const TARGETS: [Target; 4] = [
    Target {
        name: "x86_64-unknown-linux-musl",
        machine: EM_X86_64,
        architecture: "x86_64",
        emulator: "qemu-x86_64-static",
        linker: None,
    },
    Target {
        name: "aarch64-unknown-linux-musl",
        machine: EM_AARCH64,
        architecture: "aarch64",
        emulator: "qemu-aarch64-static",
        linker: None,
    },
    Target {
        name: "armv7-unknown-linux-gnueabihf",
        machine: EM_ARM,
        architecture: "arm",
        emulator: "qemu-arm-static",
        linker: Some(("arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross")),
    },
    Target {
        name: "riscv64gc-unknown-linux-gnu",
        machine: EM_RISCV,
        architecture: "riscv64",
        emulator: "qemu-riscv64-static",
        linker: Some(("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross")),
    },
];

/// What the head of an ELF file says (System V ABI, chapters 4 and 5).
#[derive(Debug, PartialEq, Eq)]
struct Elf {
    machine: u16,
    /// A PT_INTERP segment names a dynamic loader; a static program has none.
    interpreter: bool,
    /// How many DT_NEEDED entries: shared libraries it wants.
    libraries: usize,
}

/// Reads little-endian numbers of 2, 4 or 8 bytes.
fn number(bytes: &[u8], at: u64, size: usize) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let part = bytes.get(at..at.checked_add(size)?)?;
    Some(part.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Parses an ELF file of either width; all supported machines are little-endian.
fn parse_elf(bytes: &[u8]) -> Option<Elf> {
    const PT_DYNAMIC: u64 = 2;
    const PT_INTERP: u64 = 3;
    const DT_NULL: u64 = 0;
    const DT_NEEDED: u64 = 1;
    if bytes.get(..4)? != b"\x7fELF" || *bytes.get(5)? != 1 {
        return None;
    }
    // Offsets in the 64-bit and in the 32-bit layout.
    let wide = *bytes.get(4)? == 2;
    let word = if wide { 8 } else { 4 };
    let headers = number(bytes, if wide { 32 } else { 28 }, word)?;
    let entry_size = number(bytes, if wide { 54 } else { 42 }, 2)?;
    let count = number(bytes, if wide { 56 } else { 44 }, 2)?;
    let machine = u16::try_from(number(bytes, 18, 2)?).ok()?;
    let mut elf = Elf { machine, interpreter: false, libraries: 0 };
    for header in (0..count).map(|i| headers + i * entry_size) {
        match number(bytes, header, 4)? {
            PT_INTERP => elf.interpreter = true,
            PT_DYNAMIC => {
                let offset = number(bytes, header + if wide { 8 } else { 4 }, word)?;
                let size = number(bytes, header + if wide { 32 } else { 16 }, word)?;
                for entry in (offset..offset.checked_add(size)?).step_by(2 * word) {
                    match number(bytes, entry, word)? {
                        DT_NULL => break,
                        DT_NEEDED => elf.libraries += 1,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Some(elf)
}

/// What this host lacks to build for a supported target of rustc, with the remedy; `None` if it lacks nothing.
pub fn lacks(name: &str) -> Option<String> {
    let target = TARGETS.iter().find(|t| t.name == name)?;
    // Beside the cargo that runs this, as that is of the same toolchain.
    let rustc =
        std::env::var_os("CARGO").map(|cargo| Path::new(&cargo).with_file_name("rustc")).filter(|p| p.is_file());
    let rustc = rustc.unwrap_or_else(|| "rustc".into());
    let library = Command::new(rustc).args(["--print", "target-libdir", "--target", name]).output().ok()?;
    let library = PathBuf::from(String::from_utf8_lossy(&library.stdout).trim());
    if !library.is_dir() {
        return Some(format!("rustc lacks the target {name}: rustup target add {name}"));
    }
    let (linker, packages) = target.linker?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|directory| directory.join(linker).is_file());
    (!is_there)
        .then(|| format!("{linker} is not installed; as root: apt-get install -y --no-install-recommends {packages}"))
}

/// Builds and checks the program for some of the supported targets of rustc, at a time; where they are. `run` carries cargo
/// out.
///
/// # Errors
/// A target is not supported, or the build failed.
pub fn programs(
    names: &[&str],
    run: impl FnOnce(Command) -> anyhow::Result<ExitStatus>,
) -> anyhow::Result<Vec<PathBuf>> {
    let supported =
        |name: &&str| TARGETS.iter().find(|t| t.name == *name).with_context(|| format!("{name} is not supported"));
    let targets: Vec<&Target> = names.iter().map(supported).collect::<anyhow::Result<_>>()?;
    let binaries = build(&crate::workspace_root(), &targets, run)?;
    for (binary, target) in binaries.iter().zip(targets) {
        check_file(binary, target)?;
    }
    Ok(binaries)
}

fn build(
    root: &Path,
    targets: &[&Target],
    run: impl FnOnce(Command) -> anyhow::Result<ExitStatus>,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo.args(["build", "--profile", "dist", "--package", "narrows", "--bin", "narrows"]);
    targets.iter().for_each(|target| _ = cargo.args(["--target", target.name]));
    let status = run(cargo)?;
    ensure!(
        status.success(),
        "narrows could not be built for {}{}",
        targets.iter().map(|target| target.name).collect::<Vec<_>>().join(" and "),
        targets.iter().filter_map(|target| lacks(target.name)).map(|l| format!(": {l}")).collect::<String>()
    );
    let directory = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |d| root.join(d));
    Ok(targets.iter().map(|target| directory.join(target.name).join("dist/narrows")).collect())
}

fn check_file(binary: &Path, target: &Target) -> anyhow::Result<u64> {
    let bytes = fs::read(binary).with_context(|| format!("could not read {}", binary.display()))?;
    let elf = parse_elf(&bytes).with_context(|| format!("{} is not a little-endian ELF file", binary.display()))?;
    let expected = Elf { machine: target.machine, interpreter: false, libraries: 0 };
    ensure!(elf == expected, "{}: {elf:?} is not {expected:?}, a static program", target.name);
    let size = bytes.len() as u64;
    ensure!(size < SIZE_LIMIT_BYTES, "{}: {size} bytes, the limit is {SIZE_LIMIT_BYTES}", target.name);
    Ok(size)
}

/// Runs the binary where it can run.
struct Runner<'a> {
    binary: &'a Path,
    emulator: Option<&'a str>,
    scratch: &'a Path,
}

impl Runner<'_> {
    fn output(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        let mut command = match self.emulator {
            Some(emulator) => {
                let mut command = Command::new(emulator);
                command.arg(self.binary);
                command
            }
            None => Command::new(self.binary),
        };
        command.args(arguments).env("NARROWS_ARCHIVE", self.scratch.join("archive"));
        command.output().with_context(|| match self.emulator {
            Some(emulator) => format!("could not run {emulator} (Debian: qemu-user-static)"),
            None => format!("could not run {}", self.binary.display()),
        })
    }

    /// Standard output of a run that must end with one of these exit codes.
    fn ends_with(&self, codes: &[i32], arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        let output = self.output(arguments)?;
        if !output.status.code().is_some_and(|code| codes.contains(&code)) {
            bail!(
                "narrows {}: {}\n{}{}",
                arguments.join(" "),
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(output.stdout)
    }

    /// A check that must end with one of these exit codes and measure these metrics.
    fn check(&self, codes: &[i32], arguments: &[&str], measured: &[&str]) -> anyhow::Result<()> {
        let arguments = [&["check"], arguments, &["--json"]].concat();
        let what = arguments.join(" ");
        let document: serde_json::Value = serde_json::from_slice(&self.ends_with(codes, &arguments)?)
            .with_context(|| format!("narrows {what} did not print one JSON document"))?;
        ensure!(document["schema"] == "narrows/check/1", "narrows {what}: schema {}", document["schema"]);
        let metrics = document["metrics"].as_array().cloned().unwrap_or_default();
        for id in measured {
            let metric = metrics.iter().find(|m| m["id"] == *id);
            let metric = metric.with_context(|| format!("narrows {what}: no metric {id}"))?;
            ensure!(
                metric["value"].as_f64().is_some_and(|v| v > 0.0),
                "narrows {what}: {id} was not measured: {metric}"
            );
        }
        let run = document["run_id"].as_str().with_context(|| format!("narrows {what}: no run_id"))?;
        self.ends_with(&[0], &["runs", "verify", run])?;
        Ok(())
    }

    /// The version, a simulated device, and a real file, which must stay as it is.
    fn all(&self) -> anyhow::Result<()> {
        let version = String::from_utf8(self.ends_with(&[0], &["--version"])?)?;
        ensure!(version.trim() == format!("narrows {}", env!("CARGO_PKG_VERSION")), "version: {version}");
        self.check(&[0], &["sim:a1-card"], &["seq-read.throughput_bytes_per_s", "rand-read-qd1.iops"])?;
        let content: Vec<u8> = (0..1u32 << 20).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let file = self.scratch.join("file");
        fs::write(&file, &content)?;
        let name = file.to_str().context("a temporary directory with a name in UTF-8")?;
        // A busy machine, or an emulator without the newest system calls, makes numbers refused (4); the run is whole.
        self.check(&[0, 4], &[name, "--budget", "5s"], &[])?;
        ensure!(fs::read(&file)? == content, "check changed {name}");
        Ok(())
    }
}

fn run_once(binary: &Path, target: &Target) -> anyhow::Result<()> {
    let scratch = std::env::temp_dir().join(format!("narrows-static-{}-{}", std::process::id(), target.architecture));
    fs::create_dir_all(&scratch).with_context(|| format!("could not create {}", scratch.display()))?;
    let native = std::env::consts::ARCH == target.architecture;
    let runner = Runner { binary, emulator: (!native).then_some(target.emulator), scratch: &scratch };
    let result = runner.all().with_context(|| format!("{} does not work", target.name));
    fs::remove_dir_all(&scratch).with_context(|| format!("could not remove {}", scratch.display()))?;
    result
}

/// Builds, checks and runs.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = crate::workspace_root();
    for name in &arguments.targets {
        ensure!(
            TARGETS.iter().any(|t| t.name == name),
            "{name} is not supported; there are: {}",
            TARGETS.map(|t| t.name).join(", ")
        );
    }
    let chosen = |t: &&Target| arguments.targets.is_empty() || arguments.targets.iter().any(|n| n == t.name);
    let targets: Vec<&Target> = TARGETS.iter().filter(chosen).collect();
    // All at once: each ends with a long step of one thread.
    let binaries = build(&root, &targets, |mut cargo| cargo.status().context("could not run cargo"))?;
    for (target, binary) in targets.iter().zip(&binaries) {
        let size = check_file(binary, target)?;
        if !arguments.no_run {
            run_once(binary, target)?;
        }
        let ran = if arguments.no_run { "not run" } else { "runs" };
        println!("{:<32} static, {:.1} MB, {ran}: {}", target.name, size as f64 / 1e6, binary.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_program_is_recognised_as_dynamic() {
        let bytes = fs::read(std::env::current_exe().expect("this program")).expect("its file");
        let elf = parse_elf(&bytes).expect("an ELF file");
        assert!(TARGETS.iter().any(|t| t.architecture == std::env::consts::ARCH && t.machine == elf.machine));
        // The C library of the host decides; with glibc there is a loader and at least libc.
        assert_eq!(elf.interpreter, elf.libraries > 0, "{elf:?}");
    }

    #[test]
    fn what_is_no_elf_file_is_refused() {
        assert_eq!(parse_elf(b""), None);
        assert_eq!(parse_elf(b"#!/bin/sh\n"), None);
        assert_eq!(parse_elf(b"\x7fELF\x02\x01"), None);
    }
}
