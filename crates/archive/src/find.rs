//! All bundles below a directory: an archive, archives of many machines, a git repository of bundles.

use crate::bundle_files::{RUN, SUMS};
use crate::resolve::RunRef;
use crate::{ArchiveError, Result, is_run_id};
use model::CompactSort as _;
use std::path::Path;

/// Directories that lie deeper are not looked at.
const DEPTH_LIMIT: usize = 8;

/// The bundles below a directory, by their paths. Directories whose names begin with a dot are passed over, and no link is followed.
///
/// # Errors
/// [`ArchiveError::Io`] if the directory itself cannot be read; what is below it and cannot be is passed over.
pub fn find_bundles(directory: &Path) -> Result<Vec<RunRef>> {
    let mut found = Vec::new();
    std::fs::read_dir(directory).map_err(ArchiveError::io("list", directory))?;
    walk(directory, DEPTH_LIMIT, &mut found);
    found.compact_sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn walk(directory: &Path, depth: usize, found: &mut Vec<RunRef>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        if is_run_id(&name) && [RUN, SUMS].iter().any(|file| path.join(file).symlink_metadata().is_ok()) {
            found.push(RunRef { id: name, path });
        } else if depth > 0 {
            walk(&path, depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn bundles_are_found_wherever_they_lie_and_links_and_hidden_ones_are_not() {
        let root = tempfile::tempdir().unwrap();
        let id = |n: u32| format!("20260101T00000{n}Z-0000abcd");
        for (place, n) in [("a/runs", 1), ("b/deep/er/runs", 2), (".git/x", 3), ("", 4)] {
            let bundle = root.path().join(place).join(id(n));
            fs::create_dir_all(&bundle).unwrap();
            fs::write(bundle.join("run.json"), "{}").unwrap();
        }
        fs::create_dir_all(root.path().join("a/runs").join(id(5))).unwrap();
        std::os::unix::fs::symlink(root.path().join("b"), root.path().join("c")).unwrap();
        let found: Vec<String> = find_bundles(root.path()).unwrap().into_iter().map(|b| b.id).collect();
        assert_eq!(found, [id(4), id(1), id(2)]);
        assert!(find_bundles(&root.path().join("nothing")).is_err());
    }
}
