//! What was looked at, so that a capture holds exactly that.

use crate::read_error::ReadError;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Most paths that one recording keeps; the inventory of 1,000 disks is about 150,000.
const PATH_LIMIT: usize = 500_000;
/// Most bytes that one recording keeps.
const BYTES_LIMIT: usize = 256 << 20;

/// What a look at a path gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathObservation {
    /// It was read, or could not be.
    Contents(Result<Vec<u8>, ReadError>),
    /// Names in a directory.
    Listing(Vec<String>),
    /// It was asked what the symbolic link says.
    Link,
    /// It was only asked whether it is there, or where.
    There,
}

/// Notes of one recording: each path with all kinds of looks at it.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    seen: BTreeMap<String, Vec<PathObservation>>,
    bytes: usize,
}

impl Recorder {
    /// Keeps the first look of each kind: it is the one that the inventory rests on.
    pub(crate) fn note(&self, path: &str, seen: PathObservation) {
        // A poisoned lock only means that another thread panicked between two notes, each of which is whole.
        let mut notes = self.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let size = path.len()
            + match &seen {
                PathObservation::Contents(Ok(bytes)) => bytes.len(),
                PathObservation::Listing(names) => names.iter().map(String::len).sum(),
                _ => 0,
            };
        if notes.seen.len() >= PATH_LIMIT || notes.bytes.saturating_add(size) > BYTES_LIMIT {
            return;
        }
        let kinds = notes.seen.entry(path.to_owned()).or_default();
        if kinds.iter().any(|k| std::mem::discriminant(k) == std::mem::discriminant(&seen)) {
            return;
        }
        kinds.push(seen);
        notes.bytes += size;
    }

    /// Takes out all notes, by path.
    pub(crate) fn take(&self) -> BTreeMap<String, Vec<PathObservation>> {
        let mut notes = self.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        std::mem::take(&mut notes.seen)
    }
}
