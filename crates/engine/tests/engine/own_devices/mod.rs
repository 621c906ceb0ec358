//! Loop devices and file systems that a test makes, and takes away when it ends.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program; `Err` says why it could not.
pub fn tool(name: &str, arguments: &[&str]) -> Result<String, String> {
    let out = Command::new(name).args(arguments).output().map_err(|e| format!("{name}: {e}"))?;
    if out.status.success() {
        Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned())
    } else {
        Err(format!("{name} {arguments:?}: {}", String::from_utf8_lossy(&out.stderr).trim()))
    }
}

/// A loop device over a sparse file; detached and removed when dropped.
pub struct LoopDevice {
    pub device: PathBuf,
    pub image: PathBuf,
    _directory: tempfile::TempDir,
}

impl LoopDevice {
    pub fn new(bytes: u64) -> Result<Self, String> {
        if tool("id", &["-u"])? != "0" {
            return Err("needs root".into());
        }
        Self::new_in(Path::new(env!("CARGO_TARGET_TMPDIR")), bytes)
    }

    pub fn new_in(directory: &Path, bytes: u64) -> Result<Self, String> {
        let directory = tempfile::tempdir_in(directory).map_err(|e| e.to_string())?;
        let image = directory.path().join("image");
        std::fs::File::create(&image).and_then(|f| f.set_len(bytes)).map_err(|e| e.to_string())?;
        let device = tool("losetup", &["--find", "--show", image.to_str().unwrap()])?.into();
        Ok(Self { device, image, _directory: directory })
    }

    pub fn name(&self) -> &str {
        self.device.to_str().unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if let Err(e) = tool("losetup", &["--detach", self.name()]) {
            eprintln!("{e}");
        }
    }
}

/// A mounted file system; unmounted when dropped.
pub struct Mounted {
    pub point: tempfile::TempDir,
    pub device: LoopDevice,
}

impl Mounted {
    pub fn new(filesystem: &str, bytes: u64, options: &str) -> Result<(Self, PathBuf), String> {
        let device = LoopDevice::new(bytes)?;
        let force: &[&str] = if filesystem == "ext4" { &["-q", "-F"] } else { &["-q", "-f"] };
        tool(&format!("mkfs.{filesystem}"), &[force, &[device.name()]].concat())?;
        let point = tempfile::tempdir().map_err(|e| e.to_string())?;
        tool("mount", &["-t", filesystem, "-o", options, device.name(), point.path().to_str().unwrap()])?;
        let image = device.image.clone();
        Ok((Self { point, device }, image))
    }

    pub fn path(&self) -> &Path {
        self.point.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A mount that stays would be emptied with its directory: rather let it go lazily.
        let point = self.path().to_str().unwrap();
        if let Err(e) = tool("umount", &[point]) {
            eprintln!("{e}: {:?}", tool("umount", &["--lazy", point]));
        }
    }
}

/// Unmounts. A layer between (overlay, the kernel's own work) may let go of its last file a moment after us; that is not
/// what these tests are about.
pub fn unmount(point: &str) {
    for _ in 0..100 {
        match tool("umount", &[point]) {
            Ok(_) => return,
            Err(e) if e.contains("busy") => std::thread::sleep(std::time::Duration::from_millis(100)),
            Err(e) => panic!("{e}"),
        }
    }
    panic!("{point} stays busy");
}

/// The value, or the end of the test with its reason.
macro_rules! have {
    ($made:expr) => {
        match $made {
            Ok(made) => made,
            Err(reason) => {
                println!("SKIPPED: {reason}");
                return;
            }
        }
    };
}

pub(crate) use have;
