//! Where the archive is, if nobody says otherwise.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// `$NARROWS_ARCHIVE`, else `$XDG_DATA_HOME/narrows`, else `$HOME/.local/share/narrows`; `None` if none is set.
///
/// Empty values count as unset, and a relative `XDG_DATA_HOME` is ignored (XDG Base Directory Specification 0.8).
pub fn default_directory(
    narrows_archive: Option<&OsStr>,
    xdg_data_home: Option<&OsStr>,
    home: Option<&OsStr>,
) -> Option<PathBuf> {
    let set = |v: Option<&OsStr>| v.filter(|v| !v.is_empty()).map(|v| Path::new(v).to_owned());
    set(narrows_archive)
        .or_else(|| set(xdg_data_home).filter(|p| p.is_absolute()).map(|p| p.join("narrows")))
        .or_else(|| set(home).map(|p| p.join(".local/share/narrows")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_ours_then_xdg_then_home() {
        let s = |v: &'static str| Some(OsStr::new(v));
        assert_eq!(default_directory(s("/a"), s("/x"), s("/h")), Some("/a".into()));
        assert_eq!(default_directory(s("rel"), None, None), Some("rel".into()));
        assert_eq!(default_directory(s(""), s("/x"), s("/h")), Some("/x/narrows".into()));
        assert_eq!(default_directory(None, s("x"), s("/h")), Some("/h/.local/share/narrows".into()));
        assert_eq!(default_directory(None, None, s("")), None);
    }
}
