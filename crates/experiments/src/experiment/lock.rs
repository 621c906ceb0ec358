//! One process at a time executes an experiment; the kernel drops the lock with the process.

use super::state::DIRECTORY;
use archive::Archive;
use model::Failure;

/// Held by the process that executes an experiment.
pub struct Lock {
    _held: archive::Lock,
}

impl Lock {
    /// Takes it, or says that another process has it.
    pub fn take(archive: &Archive, id: &str) -> Result<Self, Failure> {
        let held = archive.lock_side_file(&format!("{DIRECTORY}/{id}.lock"))?;
        held.map(|_held| Self { _held }).ok_or_else(|| {
            Failure::refused(format!("{id} is being executed by another process")).remedy("wait for it, or end it")
        })
    }
}
