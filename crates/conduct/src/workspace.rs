//! The directory in which studies of frames and of layers write their files: ours, locked, and gone afterwards; one that a killed program
//! left is removed.

use crate::clock::random_u64;
use model::Failure;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::Locked;

/// What its name begins with.
const PREFIX: &str = "narrows-frames-";
/// The file of a study of layers.
pub const LAYERS: &str = "layers.data";
/// The file of a study of frames that grows with them.
pub const GROWING: &str = "growing.mjpeg";
/// The one whose blocks are reserved.
pub const RESERVED: &str = "reserved.mjpeg";
/// The container.
pub const CONTAINER: &str = "container.nrec";

/// A directory of this program, held by a lock.
pub struct Workspace {
    /// Where it is.
    pub path: PathBuf,
    _lock: File,
}

impl Workspace {
    /// Makes one below a directory, after what was left there of earlier ones is gone.
    ///
    /// # Errors
    /// Nothing can be made there.
    pub fn below(directory: &Path) -> Result<Self, Failure> {
        let cannot = |e: io::Error| crate::file_failure::cannot(directory, &e);
        let directory = directory.canonicalize().map_err(cannot)?;
        sweep(&directory);
        let path = directory.join(format!("{PREFIX}{:08x}", random_u64()? as u32));
        DirBuilder::new().mode(0o700).create(&path).map_err(cannot)?;
        let lock = sys::open_directory(&path).map_err(cannot)?;
        sys::lock_exclusively(&lock, Duration::ZERO).map_err(cannot)?;
        Ok(Self { path, _lock: lock })
    }

    /// Removes what was written, so that the next way finds the same room.
    pub fn clear(&self) {
        clear(&self.path);
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        clear(&self.path);
        let _ = std::fs::remove_dir(&self.path);
    }
}

fn is_ours(name: &[u8]) -> bool {
    let frame = || {
        let number = name.strip_prefix(b"frame-")?.strip_suffix(b".jpg")?;
        (number.len() >= 8 && number.iter().all(u8::is_ascii_digit)).then_some(())
    };
    [GROWING, RESERVED, CONTAINER, LAYERS].iter().any(|own| own.as_bytes() == name) || frame().is_some()
}

/// Removes files of ours, and nothing else.
fn clear(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if is_ours(entry.file_name().as_bytes()) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Removes directories of this user that nobody holds any more.
fn sweep(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let own = entry.metadata().is_ok_and(|m| m.is_dir() && m.uid() == rustix::process::geteuid().as_raw());
        if !own || !entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let Ok(held) = sys::open_directory(&entry.path()) else { continue };
        if matches!(sys::lock_exclusively(&held, Duration::ZERO), Ok(Locked::Held)) {
            clear(&entry.path());
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_goes_and_what_is_held_or_others_stays() {
        let place = tempfile::tempdir().unwrap();
        let left = place.path().join(format!("{PREFIX}00000001"));
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("frame-00000000.jpg"), b"x").unwrap();
        let kept = place.path().join(format!("{PREFIX}00000002"));
        std::fs::create_dir(&kept).unwrap();
        std::fs::write(kept.join("holiday.jpg"), b"x").unwrap();
        let one = Workspace::below(place.path()).unwrap();
        assert!(!left.exists() && kept.join("holiday.jpg").exists());
        std::fs::write(one.path.join(GROWING), b"x").unwrap();
        let two = Workspace::below(place.path()).unwrap();
        assert!(one.path.join(GROWING).exists(), "somebody works there");
        let paths = [one.path.clone(), two.path.clone()];
        drop((one, two));
        assert!(paths.iter().all(|path| !path.exists()));
    }
}
