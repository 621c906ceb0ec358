//! How much of a file system may be taken.

use std::fs::File;
use std::io;

/// What may still be taken of the file system that this lies in: as much stays free as a check leaves free.
///
/// # Errors
/// The file system does not say how much is free (statfs(2)).
pub fn free_bytes(file: &File) -> io::Result<u64> {
    let memory = observe::memory_available(&observe::Root::new("/"));
    sys::space_of(file).map(|space| engine::usable_bytes(&space, memory))
}
