//! Directories of sessions: each is its session's own, goes with it, and is known as left behind if that could not be.
//!
//! A session holds a lock on its directory. Process ids would not do: they come again, and mean nothing to another container
//! that shares the directory.

use super::space;
use anyhow::Context;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// In the directory of directories: held while one is made or looked at.
const DOOR: &str = ".door";

/// In each directory: held as long as its session goes on.
const LIVING: &str = ".living";

/// A directory that goes when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _living: File,
}

impl Scratch {
    /// A new one, named after what it is for.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(parent: &Path, name: &str) -> anyhow::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        fs::create_dir_all(parent).with_context(|| space::refused(parent))?;
        let door = File::create(parent.join(DOOR)).with_context(|| space::refused(parent))?;
        door.lock().with_context(|| format!("cannot lock {}", parent.display()))?;
        // Of this process and this moment: two runs at once do not meet, and where process ids are the same, the next is free.
        let path = loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{name}-{}-{count}", std::process::id()));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                made => {
                    made.with_context(|| space::refused(&path))?;
                    break path;
                }
            }
        };
        let living = File::create(path.join(LIVING)).with_context(|| space::refused(&path))?;
        living.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        Ok(Self { path, _living: living })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the directories of sessions that are no more: killed, they could not do it themselves.
pub fn sweep_left_behind(parent: &Path) {
    let Ok(door) = File::create(parent.join(DOOR)) else { return };
    if door.lock().is_err() {
        return;
    }
    for path in fs::read_dir(parent).into_iter().flatten().flatten().map(|e| e.path()).filter(|p| p.is_dir()) {
        let is_free = File::open(path.join(LIVING)).map_or(true, |living| living.try_lock().is_ok());
        if is_free {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Removes files that are older than this; what cannot be removed stays.
pub fn sweep_older(directory: &Path, than: Duration) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if age.is_some_and(|age| age > than) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_a_session_is_its_own_and_goes() {
        let parent = tempfile::tempdir().expect("a directory");
        let one = Scratch::new(parent.path(), "m").expect("one");
        let two = Scratch::new(parent.path(), "m").expect("two");
        assert_ne!(one.path(), two.path());
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && two.path().exists());
    }

    #[test]
    fn what_a_killed_session_left_is_swept_away() {
        let parent = tempfile::tempdir().expect("a directory");
        let living = Scratch::new(parent.path(), "q35-ahci").expect("one");
        // Of a process that lives, but not for this: its number came again.
        let dead = parent.path().join(format!("q35-ahci-{}-99", std::process::id()));
        fs::create_dir(&dead).expect("a directory");
        fs::write(dead.join(LIVING), "").expect("a file");
        fs::write(dead.join("disk.img"), "x").expect("a file");
        fs::write(parent.path().join("notes"), "").expect("a file");
        sweep_left_behind(parent.path());
        assert!(living.path().exists() && !dead.exists() && parent.path().join("notes").exists());
    }

    #[test]
    fn a_place_that_cannot_be_written_to_is_named_with_the_remedy() {
        let parent = tempfile::tempdir().expect("a directory");
        let file = parent.path().join("file");
        fs::write(&file, "").expect("a file");
        let error = format!("{:#}", Scratch::new(&file, "m").expect_err("no directory"));
        assert!(error.contains("file") && error.contains("CARGO_TARGET_DIR"), "{error}");
    }
}
