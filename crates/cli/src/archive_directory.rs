//! Where the archive is that no option names.

use std::path::PathBuf;

/// By the environment: `NARROWS_ARCHIVE`, or the directory of the user's data; none without a HOME.
pub fn usual() -> Option<PathBuf> {
    let [ours, xdg, home] = ["NARROWS_ARCHIVE", "XDG_DATA_HOME", "HOME"].map(std::env::var_os);
    archive::default_directory(ours.as_deref(), xdg.as_deref(), home.as_deref())
}
