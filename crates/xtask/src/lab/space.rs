//! Room on the disk, asked for before it is needed: a full disk stops an emulated machine without a word.

use anyhow::{Context, ensure};
use std::path::Path;

/// # Errors
/// Less than `bytes` are free where `directory` is.
pub fn require(directory: &Path, bytes: u64, what: &str) -> anyhow::Result<()> {
    let state = rustix::fs::statvfs(directory)
        .with_context(|| format!("cannot see how much is free at {}", directory.display()))?;
    let free = state.f_bavail.saturating_mul(state.f_frsize);
    ensure!(
        free >= bytes,
        "the disk is full: {what} needs {} MB at {}, and {} MB are free; make room, or set CARGO_TARGET_DIR",
        bytes / 1_000_000,
        directory.display(),
        free / 1_000_000
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_disk_has_is_refused() {
        let here = std::env::temp_dir();
        require(&here, 0, "nothing").expect("nothing fits");
        let error = require(&here, u64::MAX, "everything").expect_err("too much").to_string();
        assert!(error.contains("the disk is full") && error.contains("everything"), "{error}");
    }
}
