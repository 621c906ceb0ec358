//! What two commands of the lab must not do at once, one of them waits for.

use super::{interrupts, progress, space};
use anyhow::Context;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

/// How often a lock is tried that another command holds.
const TRY_EVERY: Duration = Duration::from_millis(100);

/// Takes the lock of a file, which is made; it is given back when the file is dropped. Whoever waits is told, and can be
/// interrupted.
///
/// # Errors
/// The file cannot be made or locked, or a signal came.
pub fn take(path: &Path, what: &str) -> anyhow::Result<File> {
    let file = File::create(path).with_context(|| space::refused(path))?;
    let mut wait_announced = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {
                if !std::mem::replace(&mut wait_announced, true) {
                    progress::print_status(&format!("{what} elsewhere; waiting"));
                }
                interrupts::check()?;
                std::thread::sleep(TRY_EVERY);
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_waits_for_the_first() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lock");
        let first = take(&path, "something goes on").expect("free");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| take(&path, "something goes on").map(drop));
            std::thread::sleep(TRY_EVERY * 2);
            assert!(!second.is_finished());
            drop(first);
            second.join().expect("no panic").expect("free again");
        });
    }
}
