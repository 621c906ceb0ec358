//! Makes a read cold, and says how far that went.
//!
//! fsync, then DONTNEED, then the page cache is asked what is left. Through a loop device the backing file has a cache of
//! its own, which is emptied too; otherwise the loop device counts reads that no disk below has seen.

use super::target::in_memory;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::OpenMode;
use sys::error_name;

/// How often pages are dropped before what is left counts: pages in per-CPU batches or under writeback go later.
const ATTEMPTS: u32 = 5;
/// Pause between attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// What was done, and what it brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// Pages still resident; `None` if it cannot be told.
    pub resident_pages: Option<u64>,
    /// How the caches were dropped, as text for the record.
    pub method: String,
}

/// Empties the caches of a region.
pub(crate) fn drop_caches(file: &File, device: bool, start: u64, len: u64, backing: &[PathBuf]) -> Dropped {
    let mut steps = vec![match sys::sync_through_reconnect(file) {
        Ok(()) => "fsync".to_owned(),
        Err(e) => format!("fsync failed ({})", error_name(&e)),
    }];
    if device {
        steps.push(match sys::flush_device_cache(file) {
            Ok(()) => "BLKFLSBUF".to_owned(),
            Err(e) => format!("BLKFLSBUF not permitted ({})", error_name(&e)),
        });
    }
    let mut resident = drop_range(file, start, len, &mut steps, if device { "the device" } else { "the file" });
    for path in backing {
        let left = drop_backing(path, &mut steps);
        // Metadata of the file system within are read again at once: up to a hundredth of the region is theirs.
        match (resident, left) {
            (Some(r), Some(l)) if l * sys::page_size() * 100 > len => resident = Some(r + l),
            (_, None) => resident = None,
            _ => {}
        }
    }
    Dropped { resident_pages: resident, method: steps.join(", ") }
}

/// Empties the caches of names and attributes. They belong to no file, so all caches of the machine go (/proc/sys/vm/drop_caches,
/// Documentation/admin-guide/sysctl/vm.rst): none is resident, or it cannot be told.
pub(crate) fn drop_names(directory: &File) -> Dropped {
    let synced = sys::sync_file_system(directory).map_or_else(
        |e| format!("sync of the file system failed ({})", error_name(&e)),
        |()| "sync of the file system".to_owned(),
    );
    match std::fs::write("/proc/sys/vm/drop_caches", "3") {
        Ok(()) => {
            Dropped { resident_pages: Some(0), method: format!("{synced}, all caches of the machine (drop_caches)") }
        }
        Err(e) => Dropped {
            resident_pages: None,
            method: format!("{synced}, drop_caches not permitted ({})", error_name(&e)),
        },
    }
}

fn drop_range(file: &File, start: u64, len: u64, steps: &mut Vec<String>, what: &str) -> Option<u64> {
    let mut cannot = |how: &str, e| steps.push(format!("DONTNEED on {what}{how} ({})", error_name(&e)));
    let mut attempts = 0;
    let left = loop {
        sys::drop_cached(file, start, len).map_err(|e| cannot(" failed", e)).ok()?;
        let left = sys::resident_pages(file, start, len).map_err(|e| cannot(", residency hidden", e)).ok()?;
        attempts += 1;
        if left.resident == 0 || attempts == ATTEMPTS {
            break left;
        }
        std::thread::sleep(PAUSE);
    };
    steps.push(format!("DONTNEED on {what} ({} pages left by {})", left.resident, left.source));
    Some(left.resident)
}

fn drop_backing(path: &Path, steps: &mut Vec<String>) -> Option<u64> {
    let what = format!("the loop's backing file {}", path.display());
    let opened = sys::open_existing(path, OpenMode::Read);
    let file = opened.map_err(|e| steps.push(format!("{what} cannot be opened ({})", error_name(&e)))).ok()?;
    if sys::space_of(&file).is_ok_and(|s| in_memory(s.magic)) {
        // What lies there is not a copy of something slower: dropping it is neither possible nor needed.
        steps.push(format!("{what} lies in memory"));
        return Some(0);
    }
    if let Err(e) = file.sync_all() {
        steps.push(format!("fsync of {what} failed ({})", error_name(&e)));
    }
    let len = file.metadata().map(|m| m.len()).ok().filter(|n| *n > 0).or_else(|| sys::device_size(&file).ok())?;
    drop_range(&file, 0, len, steps, &what)
}

/// Writes the backing files' dirty pages out, so that nothing of ours is written later.
pub(crate) fn sync_backing(backing: &[PathBuf]) {
    for file in backing.iter().filter_map(|p| sys::open_existing(p, OpenMode::Read).ok()) {
        // What cannot be synced is visible as traffic in the quiet window, where it belongs.
        let _ = file.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_dropped_file_has_no_resident_pages_or_says_so() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).or_else(|_| tempfile::tempdir()).unwrap();
        let (file, _) = sys::create_temporary(&sys::open_directory(directory.path()).unwrap()).unwrap();
        file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
        let dropped = drop_caches(&file, false, 0, 1 << 20, &[]);
        assert!(dropped.method.starts_with("fsync, DONTNEED on the file"), "{}", dropped.method);
        if sys::space_of(&file).unwrap().magic == 0x0102_1994 {
            assert_eq!(dropped.resident_pages, Some((1 << 20) / sys::page_size()));
        } else {
            assert_eq!(dropped.resident_pages, Some(0));
        }
    }

    #[test]
    fn a_backing_file_in_memory_is_its_own_medium() {
        let Ok(image) = tempfile::NamedTempFile::new_in("/dev/shm") else {
            return println!("SKIPPED: no tmpfs at /dev/shm");
        };
        image.as_file().write_all_at(&vec![1; 1 << 20], 0).unwrap();
        if !in_memory(sys::space_of(image.as_file()).unwrap().magic) {
            return println!("SKIPPED: /dev/shm is not a tmpfs");
        }
        let mut steps = Vec::new();
        assert_eq!(drop_backing(image.path(), &mut steps), Some(0));
        assert!(steps[0].ends_with("lies in memory"), "{steps:?}");
    }

    #[test]
    fn an_unreachable_backing_file_makes_it_unknown() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
        let dropped = drop_caches(&file, false, 0, 1 << 20, &["/nonexistent/image".into()]);
        assert_eq!(dropped.resident_pages, None);
        assert!(dropped.method.contains("ENOENT"), "{}", dropped.method);
    }
}
