//! The file that a soak of a directory makes for itself.

use crate::SoakState;
use conduct::file_failure::cannot;
use model::Failure;
use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Of a file system that is smaller half of what is free is taken.
const SMALL_BYTES: u64 = 1 << 30;
/// Whole MiB are soaked.
const MIB: u64 = 1 << 20;

/// A file that was made for a soak.
#[derive(Debug)]
pub struct OwnFile {
    /// Without links in it: what stands there later by a link is refused.
    pub path: PathBuf,
    /// Its `st_dev` and `st_ino`.
    pub file: (u64, u64),
}

impl OwnFile {
    /// A new file for the soak of this id, with its blocks reserved; without a size, all but what always stays free.
    ///
    /// # Errors
    /// There is no room, or the directory takes no file; then none is left.
    pub fn make(directory: &Path, id: &str, size: Option<u64>) -> Result<Self, Failure> {
        let directory = directory.canonicalize().map_err(|e| cannot(directory, &e))?;
        let path = directory.join(SoakState::own_file_name(id));
        let space = sys::open_directory(&directory).and_then(|held| sys::space_of(&held));
        let space = space.map_err(|e| cannot(&directory, &e))?;
        let free = space.available_bytes;
        let memory = observe::memory_available(&observe::Root::new("/"));
        let usual = if space.total_bytes < SMALL_BYTES { free / 2 } else { engine::usable_bytes(&space, memory) };
        let bytes = size.unwrap_or(usual) / MIB * MIB;
        if bytes < MIB || bytes > free {
            let [free, asked] = [free, size.unwrap_or(bytes)].map(model::bytes_text);
            let what = format!("{}: {free} are free, and {asked} are asked for", directory.display());
            let remedy = if space.available_bytes < MIB {
                "free some space there, or name another directory"
            } else {
                "--size SIZE   1 MiB or more, and less than is free"
            };
            return Err(Failure::environment(what).remedy(remedy));
        }
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|e| cannot(&path, &e))?;
        let made = sys::reserve_durably(&file, bytes).and_then(|()| file.metadata());
        let metadata = made.map_err(|e| {
            // It was made a moment ago, and nothing is in it.
            let _ = std::fs::remove_file(&path);
            cannot(&path, &e)
        })?;
        Ok(Self { path, file: (metadata.dev(), metadata.ino()) })
    }
}
