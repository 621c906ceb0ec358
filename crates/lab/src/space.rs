//! Room on the disk, asked for before it is needed: a full disk stops an emulated machine without a word.

use anyhow::Context;
use std::path::Path;

/// The disk is full, or will be.
#[derive(Debug, thiserror::Error)]
#[error("the disk is full: {0}; make room, or set CARGO_TARGET_DIR")]
pub struct Full(String);

impl Full {
    /// As another program has said it.
    pub fn from_message(line: &str) -> Self {
        Self(line.trim().to_owned())
    }
}

/// # Errors
/// [`Full`]: less than `bytes` are free where `directory` is.
pub fn require(directory: &Path, bytes: u64, what: &str) -> anyhow::Result<()> {
    let state = rustix::fs::statvfs(directory)
        .with_context(|| format!("cannot see how much is free at {}", directory.display()))?;
    let free = state.f_bavail.saturating_mul(state.f_frsize);
    if free < bytes {
        let (needed, free) = (bytes / 1_000_000, free / 1_000_000);
        let said = format!("{what} needs {needed} MB at {}, and {free} MB are free", directory.display());
        return Err(Full(said).into());
    }
    Ok(())
}

/// What is said of a place that cannot be written to: the usual reasons have one remedy.
pub fn refused(path: &Path) -> String {
    format!("cannot create {} (CARGO_TARGET_DIR names another place)", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_disk_has_is_refused() {
        let here = std::env::temp_dir();
        require(&here, 0, "nothing").expect("nothing fits");
        let error = require(&here, u64::MAX, "everything").expect_err("too much");
        assert!(error.is::<Full>());
        let error = error.to_string();
        assert!(error.contains("the disk is full") && error.contains("everything"), "{error}");
    }
}
