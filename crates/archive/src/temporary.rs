//! Names of files that are being written. A file gets its own name when it is whole; until then it has one of these, and
//! its writer holds a lock on it (flock(2)), which the kernel drops with the process. So what a killed program left can be
//! told from what another program is writing, whatever the clock and the process numbers say.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A name beside `path` that no other process and no other file of this one has.
pub(crate) fn name_for(path: &Path) -> PathBuf {
    let process = rustix::process::getpid().as_raw_nonzero();
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{process}-{}.tmp", COUNT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

/// Whether a name is one of these, whatever it stands for. No file of a bundle begins with a dot.
pub(crate) fn is_one(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

/// A name of a file beside the bundles: of letters, digits, `-` and `_`.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.len() <= 200 && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}
