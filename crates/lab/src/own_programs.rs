//! Small programs of ours for the guests (`lab/programs/NAME.c`): compiled for the guest's architecture, static.

use super::machine::Arch;
use super::unavailable::Unavailable;
use super::{accesses, apt, child, lock};
use anyhow::Context;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The compiler for an architecture.
fn compiler(arch: Arch) -> Result<PathBuf, Unavailable> {
    let (host, cross, packages) = match arch {
        Arch::Amd64 => ("x86_64", "x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu libc6-dev-amd64-cross"),
        Arch::Armhf => ("arm", "arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross"),
        Arch::Arm64 => ("aarch64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
    };
    if std::env::consts::ARCH == host {
        return accesses::compiler();
    }
    child::on_path(cross).ok_or_else(|| {
        Unavailable::because(format!(
            "{cross} is not installed; as root: apt-get install -y --no-install-recommends {packages}"
        ))
    })
}

/// A program, compiled once and kept in `cache`.
///
/// # Errors
/// [`Unavailable`] without a compiler for it; else why it does not compile.
pub fn program(source: &Path, arch: Arch, cache: &Path) -> anyhow::Result<Vec<u8>> {
    let text = fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
    let sum: String = Sha256::digest(&text).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let _lock = lock::take(&cache.join("lock"), "a program is compiled")?;
    let made = cache.join(format!("{sum}-{}", arch.debian()));
    if !made.exists() {
        let partial = cache.join("partial");
        let mut command = child::command(&compiler(arch)?);
        command.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-o"]).arg(&partial).arg(source);
        apt::output_of(command, &format!("cc {}", source.display()), || {})?;
        fs::rename(&partial, &made).with_context(|| format!("cannot keep {}", made.display()))?;
    }
    fs::read(&made).with_context(|| format!("cannot read {}", made.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_compiles_and_says_how_it_is_called() {
        let directory = tempfile::tempdir().expect("a directory");
        for entry in fs::read_dir(crate::workspace_root().join("lab/programs")).expect("lab/programs") {
            let source = entry.expect("a file").path();
            let arch = match std::env::consts::ARCH {
                "x86_64" => Arch::Amd64,
                "aarch64" => Arch::Arm64,
                other => {
                    println!("SKIPPED: {other} is not a host of the lab");
                    return;
                }
            };
            if let Err(lacks) = compiler(arch) {
                println!("SKIPPED: {lacks}");
                return;
            }
            let program = program(&source, arch, directory.path()).expect("it compiles");
            let path = directory.path().join("program");
            fs::write(&path, program).expect("the program");
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
            let said = std::process::Command::new(&path).output().expect("it starts");
            assert_eq!(said.status.code(), Some(2), "{}", source.display());
        }
    }
}
