//! The only door to the file system: every read goes through a root that may be `/` or a captured tree.
//!
//! In a captured tree symbolic links are resolved textually *inside* the tree, as chroot(2) would, so a link to
//! `/etc/shadow` or `../../..` cannot leave it. Reads are bounded, only regular files are opened, and every failure is
//! a value, never a panic: a captured tree is other people's input, and on a live machine devices vanish at any time.
//!
//! A captured tree has a directory of its own, `/narrows`, for what is not a file on the machine: the answers of devices
//! that were asked ([`Root::answer`]) and the list of files that were there and could not be read.

mod inside;

use crate::read_error::ReadError;
use crate::record::{PathObservation, Recorder};
use model::CompactSort as _;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Most bytes read from one file unless the caller allows more.
pub const FILE_LIMIT_BYTES: u64 = 1 << 20;
/// Most directory entries looked at.
const ENTRY_LIMIT: usize = 65_536;
/// In a captured tree: what was there and could not be read, one `denied PATH` or `refused PATH` a line.
pub(crate) const UNREADABLE: &str = "/narrows/unreadable";

/// Where /proc and /sys are looked for.
#[derive(Clone, Debug)]
pub struct Root {
    base: PathBuf,
    live: bool,
    /// Where this is a captured tree: what its machine would not let be read.
    unreadable: Arc<BTreeMap<String, ReadError>>,
    recorder: Option<Arc<Recorder>>,
    /// Where it is a captured tree: directories by the name that was asked for, without links.
    directories: Arc<Mutex<HashMap<String, Option<String>>>>,
}

impl Root {
    /// A root: `/` for this machine, or the directory of a captured tree (which holds `proc/`, `sys/`, `etc/`).
    pub fn new(base: impl Into<PathBuf>) -> Self {
        let base = base.into();
        let base = fs::canonicalize(&base).unwrap_or(base);
        let live = base == *"/";
        let mut root = Self { base, live, unreadable: Arc::default(), recorder: None, directories: Arc::default() };
        if !live {
            let list = root.read(UNREADABLE).unwrap_or_default();
            root.unreadable = Arc::new(unreadable_of(&String::from_utf8_lossy(&list)));
        }
        root
    }

    /// The same root, which notes whatever is looked at from now on.
    pub(crate) fn recording(&self) -> (Self, Arc<Recorder>) {
        let recorder = Arc::new(Recorder::default());
        (Self { recorder: Some(Arc::clone(&recorder)), ..self.clone() }, recorder)
    }

    fn note(&self, path: &str, seen: impl FnOnce() -> PathObservation) {
        if let Some(recorder) = &self.recorder {
            recorder.note(path, seen());
        }
    }

    /// Whether this is the running machine.
    pub fn is_live(&self) -> bool {
        self.live
    }

    fn host_path(&self, path: &str) -> PathBuf {
        self.base.join(path.trim_start_matches('/'))
    }

    /// Opens a regular file for reading.
    pub fn open(&self, path: &str) -> Result<File, ReadError> {
        if let Some(error) = self.unreadable.get(path) {
            return Err(*error);
        }
        let host = self.located(path).ok_or(ReadError::Missing)?;
        // Looked at before it is opened: opening a FIFO would wait for a writer.
        if !fs::metadata(&host)?.is_file() {
            return Err(ReadError::Missing);
        }
        Ok(File::open(host)?)
    }

    /// Up to `limit` bytes of a file.
    pub fn read_up_to(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        // Most files of /proc and /sys are a page at most: one read gets them, the next says that nothing follows.
        let mut bytes = Vec::with_capacity(usize::try_from(limit.min(4_096)).unwrap_or(4_096));
        let read = self.open(path).and_then(|file| Ok(file.take(limit).read_to_end(&mut bytes)?));
        let read = read.map(|_| bytes);
        self.note(path, || PathObservation::Contents(read.clone()));
        read
    }

    /// Whether a captured tree knows what a device answered, or that it did not answer.
    pub(crate) fn has_answer(&self, name: &str) -> bool {
        let path = format!("/narrows/{name}");
        !self.live && (self.unreadable.contains_key(&path) || self.exists(&path))
    }

    /// What a device answered when it was asked, kept as the file `/narrows/NAME` in a captured tree. On the live
    /// machine `ask` asks it.
    pub(crate) fn answer(
        &self,
        name: &str,
        ask: impl FnOnce() -> Result<Vec<u8>, ReadError>,
    ) -> Result<Vec<u8>, ReadError> {
        let path = format!("/narrows/{name}");
        if !self.live {
            return self.read(&path);
        }
        let answer = ask();
        self.note(&path, || PathObservation::Contents(answer.clone()));
        answer
    }

    /// Up to [`FILE_LIMIT_BYTES`] of a file.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.read_up_to(path, FILE_LIMIT_BYTES)
    }

    /// A file as text without white space and NUL bytes at its ends; `None` if unreadable or empty.
    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = self.read(path).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A file that holds one decimal number.
    pub fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// A file that holds one hexadecimal number, with or without `0x`.
    pub fn hex(&self, path: &str) -> Option<u64> {
        parse_hex(&self.text(path)?)
    }

    /// A file that holds `0` or `1`, `N` or `Y`.
    pub fn flag(&self, path: &str) -> Option<bool> {
        match self.text(path)?.as_str() {
            "0" | "N" | "n" => Some(false),
            "1" | "Y" | "y" => Some(true),
            _ => None,
        }
    }

    /// Names in a directory as they come, or why it cannot be listed.
    pub(crate) fn names(&self, path: &str) -> Result<Vec<String>, ReadError> {
        if let Some(error) = self.unreadable.get(path) {
            return Err(*error);
        }
        let host = self.located(path).ok_or(ReadError::Missing)?;
        Ok(fs::read_dir(host)?.filter_map(|e| e.ok()?.file_name().into_string().ok()).collect())
    }

    /// Names in a directory, sorted so that `sda2` comes before `sda10`; empty if there is no such directory.
    pub fn list(&self, path: &str) -> Vec<String> {
        let Some(host) = self.located(path) else { return Vec::new() };
        let Ok(entries) = fs::read_dir(host) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.take(ENTRY_LIMIT).filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
        names.compact_sort_by(|a, b| natural(a, b));
        self.note(path, || PathObservation::Listing(names.clone()));
        names
    }

    /// Whether something exists there.
    pub fn exists(&self, path: &str) -> bool {
        let there = self.located(path).is_some_and(|p| fs::metadata(p).is_ok());
        if there {
            self.note(path, || PathObservation::There);
        }
        there
    }

    /// What stands at a place, its last link not followed. For captures.
    pub(crate) fn entry_kind(&self, path: &str) -> Option<EntryKind> {
        let (parent, name) = path.trim_end_matches('/').rsplit_once('/')?;
        let parent = self.resolve(if parent.is_empty() { "/" } else { parent }, &mut |_, _| ())?;
        let host = self.host_path(&parent).join(name);
        let metadata = fs::symlink_metadata(&host).ok()?;
        Some(if metadata.is_symlink() {
            EntryKind::Link(fs::read_link(&host).ok()?.into_os_string().into_string().ok()?)
        } else if metadata.is_dir() {
            EntryKind::Directory
        } else {
            EntryKind::Other
        })
    }

    /// The last component of what a symbolic link points to, whether or not that exists.
    pub fn link_name(&self, path: &str) -> Option<String> {
        let target = self.link(path)?;
        target.trim_end_matches('/').rsplit('/').next().filter(|n| !n.is_empty() && *n != "..").map(str::to_owned)
    }

    /// What a symbolic link says.
    pub fn link(&self, path: &str) -> Option<String> {
        self.read_link(path).ok()
    }

    /// What a symbolic link says, or why it cannot be read.
    pub(crate) fn read_link(&self, path: &str) -> Result<String, ReadError> {
        if let Some(error) = self.unreadable.get(path) {
            return Err(*error);
        }
        let (parent, name) = path.trim_end_matches('/').rsplit_once('/').ok_or(ReadError::Missing)?;
        let host = match self.live {
            true => self.host_path(path),
            false => self.host_path(&self.directory(parent, 0).ok_or(ReadError::Missing)?).join(name),
        };
        let target = fs::read_link(host)?.into_os_string().into_string().map_err(|_| ReadError::Refused)?;
        self.note(path, || PathObservation::Link);
        Ok(target)
    }
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Link(String),
    Directory,
    Other,
}

fn unreadable_of(list: &str) -> BTreeMap<String, ReadError> {
    let line = |line: &str| {
        let (why, path) = line.split_once(' ')?;
        let error = match why {
            "denied" => ReadError::Denied,
            "refused" => ReadError::Refused,
            // Only of devices that were asked and are not there: a file that is missing needs no line.
            "missing" => ReadError::Missing,
            _ => return None,
        };
        Some((path.to_owned(), error))
    };
    list.lines().filter_map(line).collect()
}

/// A hexadecimal number, with or without `0x`.
pub(crate) fn parse_hex(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    // from_str_radix would accept a sign.
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

/// The last component of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The path without its last component; `/` at the top.
pub(crate) fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

/// Compares names with runs of digits taken as numbers.
pub(crate) fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let (mut a_rest, mut b_rest) = (a.as_bytes(), b.as_bytes());
    while let (Some(&x), Some(&y)) = (a_rest.first(), b_rest.first()) {
        let ordering = if x.is_ascii_digit() && y.is_ascii_digit() {
            let digits = |s: &[u8]| s.iter().take_while(|c| c.is_ascii_digit()).count();
            let (x_digits, y_digits) = (digits(a_rest), digits(b_rest));
            let (x_number, y_number) = (&a_rest[..x_digits], &b_rest[..y_digits]);
            a_rest = &a_rest[x_digits..];
            b_rest = &b_rest[y_digits..];
            let significant = |s: &[u8]| s.iter().position(|&c| c != b'0').unwrap_or(s.len());
            let (x_number, y_number) = (&x_number[significant(x_number)..], &y_number[significant(y_number)..]);
            x_number.len().cmp(&y_number.len()).then_with(|| x_number.cmp(y_number))
        } else {
            a_rest = &a_rest[1..];
            b_rest = &b_rest[1..];
            x.cmp(&y)
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    a_rest.len().cmp(&b_rest.len()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_with_numbers_as_numbers() {
        let mut names = ["sda10", "sda2", "sda", "cpu010", "cpu9", "cpu10"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["cpu9", "cpu010", "cpu10", "sda", "sda2", "sda10"]);
    }

    #[test]
    fn only_regular_files_are_read_and_only_so_much() {
        let tree = tempfile::tempdir().unwrap();
        let file = File::create(tree.path().join("big")).unwrap();
        file.set_len(1 << 40).unwrap();
        let root = Root::new(tree.path());
        assert_eq!(root.read("/big").unwrap().len() as u64, FILE_LIMIT_BYTES);
        assert_eq!(root.read("/"), Err(ReadError::Missing));
        assert_eq!(root.read("/none"), Err(ReadError::Missing));
    }

    #[test]
    fn numbers_that_are_not() {
        assert_eq!(parse_hex("0x3c"), Some(60));
        assert_eq!(parse_hex("c734ff01"), Some(0xc734_ff01));
        assert_eq!(parse_hex("+1"), None);
        assert_eq!(parse_hex(""), None);
        assert_eq!(parse_hex("0x10000000000000000"), None);
    }
}
