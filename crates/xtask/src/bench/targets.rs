//! What is read: a file in memory, a cached file, and a loop device over a file. All are made here and removed on every
//! way out but a kill.

use anyhow::{Context, bail};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A target that vanishes when dropped.
pub struct Target {
    pub name: &'static str,
    pub path: PathBuf,
    pub bytes: u64,
    pub direct: bool,
    loop_device: bool,
    file: PathBuf,
}

impl Drop for Target {
    fn drop(&mut self) {
        if self.loop_device {
            // Nothing can be done about a failure but to say so.
            if let Err(error) = losetup(&["--detach", &self.path.to_string_lossy()]) {
                eprintln!("{error:#}");
            }
        }
        let _ = std::fs::remove_file(&self.file);
    }
}

fn written_file(directory: &Path, bytes: u64) -> anyhow::Result<PathBuf> {
    let path = directory.join(format!("narrows-bench-{}", std::process::id()));
    let mut file = File::create_new(&path).with_context(|| format!("creating {}", path.display()))?;
    let mut block = vec![0u8; 1 << 20];
    engine::DataGenerator::new(1).fill(0, &mut block);
    for _ in 0..bytes >> 20 {
        if let Err(error) = file.write_all(&block) {
            let _ = std::fs::remove_file(&path);
            return Err(error).with_context(|| format!("writing {}", path.display()));
        }
    }
    // What is still to be written would be written beside what is measured.
    file.sync_all().with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

fn takes_direct(path: &Path) -> bool {
    sys::open_existing(path, sys::OpenMode::Read).and_then(|file| sys::set_direct(&file, true)).is_ok()
}

/// A file on the tmpfs at /dev/shm.
pub fn tmpfs(bytes: u64) -> anyhow::Result<Target> {
    let file = written_file(Path::new("/dev/shm"), bytes)?;
    let direct = takes_direct(&file);
    Ok(Target { name: "tmpfs file", path: file.clone(), bytes, direct, loop_device: false, file })
}

/// A file in the temporary directory, past the page cache: the machine's disk, where that directory lies on one.
pub fn disk(bytes: u64) -> anyhow::Result<Target> {
    let file = written_file(&std::env::temp_dir(), bytes)?;
    let direct = takes_direct(&file);
    let target = Target { name: "disk", path: file.clone(), bytes, direct, loop_device: false, file };
    if !direct {
        bail!("{}: no O_DIRECT", target.path.display());
    }
    Ok(target)
}

/// A file in the temporary directory, read through the page cache, where it lies since it was written: everybody's reads
/// are then carried out in the submitting call, without a device.
pub fn cached(bytes: u64) -> anyhow::Result<Target> {
    let file = written_file(&std::env::temp_dir(), bytes)?;
    Ok(Target { name: "cached file", path: file.clone(), bytes, direct: false, loop_device: false, file })
}

/// A loop device over a file in the temporary directory; needs root.
pub fn loop_device(bytes: u64) -> anyhow::Result<Target> {
    let file = written_file(&std::env::temp_dir(), bytes)?;
    match losetup(&["--find", "--show", &file.to_string_lossy()]) {
        Ok(device) => {
            Ok(Target { name: "loop device", path: device.into(), bytes, direct: true, loop_device: true, file })
        }
        Err(error) => {
            let _ = std::fs::remove_file(&file);
            Err(error)
        }
    }
}

fn losetup(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("losetup").args(arguments).output().context("starting losetup")?;
    if !output.status.success() {
        bail!("losetup: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
