//! One search at a time changes settings of this machine; the kernel drops the lock with the process.

use model::Failure;
use settings::{JournalDirectories, Persistence};
use std::fs::{File, TryLockError};

const NAME: &str = "tune.lock";

/// Held while a search changes settings.
#[derive(Debug)]
pub struct Lock {
    _held: File,
}

impl Lock {
    /// Takes it; before the target is opened, which the other search may have open.
    ///
    /// # Errors
    /// Another search has it, or the journal's directory cannot be used.
    pub fn take() -> Result<Self, Failure> {
        let cannot = |what: String| Failure::environment(format!("cannot lock the settings: {what}"));
        let directory = JournalDirectories::of_this_user()
            .write_directory(Persistence::UntilReboot)
            .map_err(|e| cannot(e.to_string()))?;
        let found = directory.create(NAME).and_then(|new| match new {
            Some(file) => Ok(Some(file)),
            None => directory.existing(NAME, 0),
        });
        let file = found.map_err(|e| cannot(e.to_string()))?.ok_or_else(|| cannot(format!("{NAME} has gone")))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _held: file }),
            Err(TryLockError::WouldBlock) => {
                Err(Failure::refused("another search changes settings of this machine")
                    .remedy("wait for it, or end it"))
            }
            Err(TryLockError::Error(e)) => Err(cannot(e.to_string())),
        }
    }
}
