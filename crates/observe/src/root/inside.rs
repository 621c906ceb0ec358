//! Where a path leads without leaving the root: symbolic links resolved as text, as chroot(2) would, each with its limit.

use super::Root;
use crate::record::PathObservation;
use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;

/// Most symbolic links followed in one path, as in the kernel (k:include/linux/namei.h MAXSYMLINKS).
const LINK_LIMIT: u32 = 40;
/// Most path components that a resolution may visit.
const COMPONENT_LIMIT: u32 = 1_024;
/// Deeper than any path of a machine, on which /sys is some thirty directories deep: what lies below is not looked at, for
/// in a tree of somebody's making every look would have to find its way down there.
const DEPTH_LIMIT: usize = 128;
/// Links followed one into the other before a path is resolved from the top, which counts all of them.
const STEP_LINK_LIMIT: u32 = 8;
/// Most directories of a captured tree whose place is kept in mind.
const DIRECTORY_LIMIT: usize = 65_536;

impl Root {
    /// The path without symbolic links, inside the root; `None` if it does not exist or its links never end.
    pub fn canonical(&self, path: &str) -> Option<String> {
        let found = if self.live { self.resolve(path, &mut |_, _| ()) } else { self.step(path, 0) };
        if found.is_some() {
            self.note(path, || PathObservation::There);
        }
        found
    }

    /// The same, which tells each symbolic link on the way and what it says.
    pub(crate) fn resolve(&self, path: &str, on_link: &mut impl FnMut(&str, &str)) -> Option<String> {
        let mut todo: VecDeque<String> = path.split('/').map(str::to_owned).collect();
        // Without the slash at its end, so empty at the root.
        let mut done = String::with_capacity(path.len());
        let (mut links, mut visited) = (0, 0);
        while let Some(component) = todo.pop_front() {
            visited += 1;
            if visited > COMPONENT_LIMIT {
                return None;
            }
            let before = done.len();
            match component.as_str() {
                "" | "." => continue,
                ".." => {
                    done.truncate(done.rfind('/').unwrap_or(0));
                    continue;
                }
                name => {
                    done.push('/');
                    done.push_str(name);
                }
            }
            let host = self.host_path(&done);
            // On the live machine this link names the reading process, which means nothing in a captured tree.
            if !fs::symlink_metadata(&host).ok()?.is_symlink() || (self.live && done == "/proc/self") {
                continue;
            }
            links += 1;
            if links > LINK_LIMIT {
                return None;
            }
            let target = fs::read_link(&host).ok()?;
            let target = target.to_str()?;
            on_link(&done, target);
            done.truncate(if target.starts_with('/') { 0 } else { before });
            for part in target.split('/').rev() {
                todo.push_front(part.to_owned());
            }
        }
        if done.is_empty() {
            done.push('/');
        }
        Some(done)
    }

    /// Where to find `path` on this machine's file system, with all links resolved inside the root. On the live root
    /// the kernel resolves.
    pub(super) fn located(&self, path: &str) -> Option<PathBuf> {
        if self.live { Some(self.host_path(path)) } else { self.located_in_tree(path) }
    }

    /// In a captured tree, which stands still, directories are resolved once.
    fn located_in_tree(&self, path: &str) -> Option<PathBuf> {
        self.step(path, 0).map(|place| self.host_path(&place))
    }

    /// A path without links, from the directory above it. What is too long or too winding is resolved from the top.
    pub(super) fn step(&self, path: &str, links: u32) -> Option<String> {
        let from_top = || self.resolve(path, &mut |_, _| ());
        let Some((parent, name)) = path.rsplit_once('/') else { return from_top() };
        if path.bytes().filter(|b| *b == b'/').count() > DEPTH_LIMIT {
            return None;
        }
        if matches!(name, "" | "." | "..") || links > STEP_LINK_LIMIT {
            return from_top();
        }
        let parent = self.directory(parent, links)?;
        let parent = parent.trim_end_matches('/');
        let place = format!("{parent}/{name}");
        let host = self.host_path(&place);
        if !fs::symlink_metadata(&host).ok()?.is_symlink() {
            return Some(place);
        }
        let target = fs::read_link(&host).ok()?;
        let mut rest = target.to_str()?;
        let mut base = if rest.starts_with('/') { "" } else { parent };
        // The directory has no links in it, so that going up from it is a matter of text.
        while let Some(up) = rest.strip_prefix("../") {
            base = base.rsplit_once('/').map_or("", |(above, _)| above);
            rest = up;
        }
        self.step(&format!("{base}/{}", rest.trim_start_matches('/')), links + 1)
    }

    pub(super) fn directory(&self, path: &str, links: u32) -> Option<String> {
        if path.is_empty() {
            return Some("/".to_owned());
        }
        let lock = || self.directories.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let known = lock().get(path).cloned();
        if let Some(found) = known {
            return found;
        }
        let found = self.step(path, links);
        let mut directories = lock();
        if directories.len() < DIRECTORY_LIMIT {
            directories.insert(path.to_owned(), found.clone());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_stay_inside_the_root() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("sys/a")).unwrap();
        fs::write(tree.path().join("secret"), "inside").unwrap();
        symlink(outside.path().join("secret"), tree.path().join("sys/absolute")).unwrap();
        symlink("../../../../../../../../secret", tree.path().join("sys/a/relative")).unwrap();
        symlink(outside.path(), tree.path().join("sys/directory")).unwrap();
        symlink("loop", tree.path().join("sys/loop")).unwrap();
        let root = Root::new(tree.path());
        assert!(!root.is_live());
        assert_eq!(root.text("/sys/absolute"), None);
        assert_eq!(root.text("/sys/directory/secret"), None);
        assert_eq!(root.text("/sys/../../../secret").as_deref(), Some("inside"));
        assert_eq!(root.text("/sys/a/relative").as_deref(), Some("inside"), "`..` stops at the root, as in a chroot");
        assert_eq!(root.canonical("/sys/loop"), None);
        assert!(root.list("/sys/directory").is_empty());
        assert_eq!(root.link_name("/sys/absolute").as_deref(), Some("secret"), "a name may be read, not followed");
    }

    #[test]
    fn a_place_is_the_same_from_the_top_and_step_by_step() {
        let tree = tempfile::tempdir().unwrap();
        let at = |path: &str| tree.path().join(path);
        fs::create_dir_all(at("a/b/c")).unwrap();
        fs::create_dir_all(at("d/e")).unwrap();
        fs::write(at("a/b/c/file"), "x").unwrap();
        for (link, target) in [
            ("a/up", ".."),
            ("a/b/self", "."),
            ("d/c", "../a/b/c"),
            ("d/e/abs", "/d/c/../c"),
            ("d/e/far", "../../../../../a/up/d/c"),
            ("d/loop", "e/../loop"),
            ("d/gone", "nowhere/x"),
            ("d/slash", "../a/"),
            ("top", "/"),
            ("d/e/dots", "./../c/./"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        let root = Root::new(tree.path());
        let names =
            ["a", "b", "c", "d", "e", "up", "self", "abs", "far", "loop", "gone", "slash", "top", "dots", "..", "file"];
        for x in names {
            for y in names {
                for z in names {
                    let path = format!("/{x}/{y}/{z}");
                    assert_eq!(root.step(&path, 0), root.resolve(&path, &mut |_, _| ()), "{path}");
                }
            }
        }
    }
}
