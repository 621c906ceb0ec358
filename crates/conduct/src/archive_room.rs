//! Whether what is measured will find room in the archive: looked at before anything is measured.

use crate::free_space::free_bytes;
use archive::Archive;
use model::{Failure, bytes_text};
use std::fs::File;

/// A run with its series and its page takes less, but for long ones, which are seldom made on a disk that is full.
const MIN_ROOM_BYTES: u64 = 4 << 20;

/// # Errors
/// The file system of the archive is as good as full.
pub(crate) fn has_room(archive: &Archive) -> Result<(), Failure> {
    // What is not there yet is made in the nearest directory that is.
    let nearest = archive.directory().ancestors().find_map(|place| File::open(place).ok());
    let space = nearest.and_then(|directory| sys::space_of(&directory).ok()).filter(|space| space.total_bytes > 0);
    space.map_or(Ok(()), |space| is_enough(space.available_bytes, &archive.directory().display().to_string()))
}

fn is_enough(available_bytes: u64, directory: &str) -> Result<(), Failure> {
    if available_bytes >= MIN_ROOM_BYTES {
        return Ok(());
    }
    let (free, needed) = (bytes_text(available_bytes), bytes_text(MIN_ROOM_BYTES));
    let what = format!(
        "the file system of the archive {directory} has {free} free, and a run may take {needed}; nothing was measured"
    );
    Err(Failure::environment(what)
        .remedy("free space there, or keep the archive elsewhere: --archive DIR or NARROWS_ARCHIVE=DIR"))
}

/// # Errors
/// The file system of the archive has no room for so many bytes besides what stays free of it, which is as much as a check leaves free.
pub fn room_in_archive(archive: &Archive, bytes: u64) -> Result<(), Failure> {
    let nearest = archive.directory().ancestors().find_map(|place| File::open(place).ok());
    let Some(free_bytes) = nearest.and_then(|directory| free_bytes(&directory).ok()) else { return Ok(()) };
    if bytes <= free_bytes {
        return Ok(());
    }
    let (directory, needed, free) = (archive.directory().display(), bytes_text(bytes), bytes_text(free_bytes));
    let what = format!("{directory} has room for {free}, and the next runs take {needed}");
    Err(Failure::environment(what).remedy("free space there, or merge into another archive: --archive DIR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_not_measured_that_cannot_be_kept() {
        assert!(is_enough(MIN_ROOM_BYTES, "/a").is_ok());
        let failure = is_enough(0, "/home/me/archive").expect_err("no room");
        assert!(failure.message.contains("/home/me/archive has 0 bytes free, and a run may take 4 MiB"), "{failure}");
        assert!(failure.remedy.is_some_and(|r| r.contains("--archive DIR")));
        let directory = tempfile::tempdir().expect("a directory");
        let failure = room_in_archive(&Archive::open(directory.path()), u64::MAX).expect_err("no room for all that is");
        assert!(failure.message.contains("the next runs take"), "{failure}");
        assert!(room_in_archive(&Archive::open(directory.path().join("new")), 1).is_ok());
        assert!(has_room(&Archive::open(directory.path().join("not/there/yet"))).is_ok());
    }
}
