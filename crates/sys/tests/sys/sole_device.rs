//! Who has a block device open, by what the kernel keeps of it: on a loop device of our own, which needs root.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use sys::{SoleOpening, SymlinkPolicy, open_handle, sole_device_opening};

/// A loop device over a file of its own, detached at the end.
struct Loop(PathBuf, #[allow(dead_code)] tempfile::TempDir);

impl Loop {
    fn new() -> Result<Self, String> {
        let directory = tempfile::tempdir().map_err(|e| e.to_string())?;
        let image = directory.path().join("image");
        File::create(&image).and_then(|f| f.set_len(4 << 20)).map_err(|e| e.to_string())?;
        let made =
            Command::new("losetup").args(["--find", "--show"]).arg(&image).output().map_err(|e| e.to_string())?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned());
        }
        Ok(Self(PathBuf::from(String::from_utf8_lossy(&made.stdout).trim()), directory))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn every_descriptor_of_a_device_counts_and_no_handle_does() {
    let device = match Loop::new() {
        Ok(device) => device,
        Err(why) => return println!("SKIPPED: no loop device can be made here: {why}"),
    };
    let path: &Path = &device.0;
    let handle = open_handle(path, SymlinkPolicy::Follow).unwrap();
    // udev may look at a new device for a moment.
    let alone = || {
        (0..50).any(|_| {
            let sole = sole_device_opening(&handle).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(if sole == SoleOpening::Yes { 0 } else { 100 }));
            sole == SoleOpening::Yes
        })
    };
    assert!(alone(), "nobody else has it open");
    let another_handle = open_handle(path, SymlinkPolicy::Follow).unwrap();
    assert!(alone(), "a handle is not an opening");
    drop(another_handle);
    for writable in [false, true] {
        let other = File::options().read(true).write(writable).open(path).unwrap();
        assert_eq!(sole_device_opening(&handle).unwrap(), SoleOpening::No, "writable: {writable}");
        drop(other);
        assert!(alone(), "it was closed");
    }
}
