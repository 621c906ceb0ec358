//! What killed programs left in the archive's own folders.

use crate::directory::Archive;
use crate::id::is_run_id;
use crate::temporary::is_plain;

/// The name that a file was to get: `.index.jsonl.4711-0.tmp`, and `index.jsonl.tmp` of earlier versions.
fn file_of_lock(name: &str) -> Option<&str> {
    let inner = name.strip_suffix(".tmp")?;
    let Some(hidden) = inner.strip_prefix('.') else { return Some(inner) };
    let (name, number) = hidden.rsplit_once('.')?;
    let (process, count) = number.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(process) && is_number(count)).then_some(name)
}

fn of_archive(name: &str) -> bool {
    ["index.jsonl", "tags.toml", "noise.json", "counter"].contains(&name)
}

fn of_reports(name: &str) -> bool {
    name.strip_suffix(".html").is_some_and(|id| is_run_id(id) || is_plain(id))
}

fn of_experiments(name: &str) -> bool {
    [".json", ".restore.json"].iter().any(|end| name.strip_suffix(end).is_some_and(is_plain))
}

/// Whether a name is one that the program gives in a folder.
type IsOurs = fn(&str) -> bool;

/// The folders in which files get their names when they are complete.
const FOLDERS: [(&str, IsOurs); 3] = [("", of_archive), ("reports", of_reports), ("experiments", of_experiments)];

/// Removes what killed programs left in the archive's own folders: files that never got their name, and locks of experiments
/// that nobody holds. What a living process writes, and what is not ours, stays. Whatever fails here is left for the next
/// time.
pub(crate) fn sweep(archive: &Archive) {
    for (folder, is_ours) in FOLDERS {
        let folder = archive.directory().join(folder);
        for name in archive.storage.names(&folder).unwrap_or_default() {
            let left = file_of_lock(&name).is_some_and(is_ours);
            let lock = folder.ends_with("experiments") && name.strip_suffix(".lock").is_some_and(is_plain);
            if left || lock {
                let _ = archive.storage.remove_abandoned(&folder.join(name));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporary::{is_one, name_for};
    use std::path::Path;

    #[test]
    fn names_lead_back_to_what_they_stand_for() {
        let name = name_for(Path::new("/a/index.jsonl"));
        let name = name.file_name().unwrap().to_str().unwrap();
        assert!(is_one(name));
        assert_eq!(file_of_lock(name), Some("index.jsonl"));
        assert_eq!(file_of_lock("x.html.tmp"), Some("x.html"));
        for other in ["index.jsonl", ".index.jsonl.tmp", ".index.jsonl.x-1.tmp", ".a.1.tmp", ".tmp", ".a.-.tmp"] {
            assert_eq!(file_of_lock(other).filter(|n| of_archive(n)), None, "{other}");
        }
        assert!(of_reports("20261120T213000Z-7f3a9c21.html") && of_reports("sweep-20261120-00ff.html"));
        assert!(!of_reports("../x.html") && !of_reports("notes.txt") && !of_reports(".html"));
        assert!(of_experiments("a-1.json") && of_experiments("a-1.restore.json") && !of_experiments("a b.json"));
    }
}
