//! A captured tree: what the inventory looked at, and nothing else, so that a stranger can send it and it can be
//! replayed with [`Root::new`] on its directory. A replay says what the machine said, apart from what is hashed.
//!
//! Besides `proc/`, `sys/`, `etc/` and so on a capture holds `narrows/`: `README`, `unreadable` (what was there and could
//! not be read) and the answers of devices, if they were asked (`health/*`, `registers`).

mod redact;
pub mod tar;

use crate::read_error::ReadError;
use crate::record::PathObservation;
use crate::root::{EntryKind, Root, UNREADABLE};
use crate::settings::is_relevant;
use crate::stack::{Locator, ProbeOptions, inventories};
use redact::Redaction;
use std::collections::BTreeMap;

/// What a capture is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// Serial numbers, UUIDs, MAC addresses, world-wide names and the host's name stay as they are.
    pub keep_serials: bool,
    /// Seeds the hash of what is not kept: the same value gives the same hash within one capture, and nobody can try
    /// out serial numbers without the salt. A number that nobody can foresee, and that is not kept.
    pub salt: u64,
    /// What is looked at; answers of devices and values of registers become part of the capture.
    pub look: ProbeOptions,
}

/// One entry of a captured tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFile {
    /// Path without a slash at its front: `sys/block/sda/size`.
    pub path: String,
    /// What stands there.
    pub content: CapturedContent,
}

/// What stands at a path of a captured tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapturedContent {
    /// A directory; those above an entry are listed before it.
    Directory,
    /// A regular file.
    File(Vec<u8>),
    /// A symbolic link, as the machine has it.
    Link(String),
}

const README: &str = "\
A capture of what `narrows inspect` reads on a machine: /proc, /sys and the files in /etc and /usr/lib that set storage up.
In narrows/ is what is not a file there: answers of devices and kernel messages, if they were asked for.
Replay it with: narrows inspect --root DIRECTORY
Unless it was made with serial numbers, they are replaced by hashes of the same shape, as are UUIDs, MAC addresses,
world-wide names and the host's name. Look through it before you send it on: the names of mounts, of volumes and the
kernel's command line are as they were.
";

/// Captures what the inventory of these places reads; without any, that of all disks and of the root file system.
/// Entries come in the order of a tar archive: a directory before what is in it.
pub fn capture(root: &Root, places: &[Locator], options: &CaptureOptions) -> impl Iterator<Item = CapturedFile> {
    let (looking, recorder) = root.recording();
    let _ = crate::environment(&looking);
    let disks = crate::disks(&looking);
    let all: Vec<Locator>;
    let places = if places.is_empty() {
        let every = disks.iter().map(|d| Locator::DeviceName(d.name.clone()));
        all = crate::locate_root(&looking).into_iter().chain(every).collect();
        &all
    } else {
        places
    };
    let _ = inventories(&looking, places, options.look);
    let mut tree = Tree::default();
    tree.put("/narrows/README", CapturedContent::File(README.as_bytes().to_vec()));
    let seen = recorder.take();
    let mut unreadable = String::new();
    for (path, looks) in &seen {
        for look in looks {
            match look {
                PathObservation::Contents(Ok(bytes)) => tree.file(root, path, bytes),
                PathObservation::Contents(Err(ReadError::Denied)) => unreadable.push_str(&format!("denied {path}\n")),
                PathObservation::Contents(Err(ReadError::Refused)) => unreadable.push_str(&format!("refused {path}\n")),
                PathObservation::Contents(Err(ReadError::Missing)) if path.starts_with("/narrows/") => {
                    unreadable.push_str(&format!("missing {path}\n"));
                }
                PathObservation::Contents(Err(ReadError::Missing)) => {}
                PathObservation::Listing(names) => tree.listing(root, path, names),
                PathObservation::Link => tree.entry_kind(root, path),
                PathObservation::There => tree.there(root, path),
            }
        }
    }
    if !unreadable.is_empty() {
        tree.put(UNREADABLE, CapturedContent::File(unreadable.into_bytes()));
    }
    let mut entries = tree.entries;
    if !options.keep_serials {
        entries = Redaction::of(&entries, options.salt).apply(entries);
    }
    entries.into_iter().map(|(path, content)| CapturedFile { path: path.trim_start_matches('/').to_owned(), content })
}

/// The tree while it is put together, by absolute path without links in it.
#[derive(Debug, Default)]
struct Tree {
    entries: BTreeMap<String, CapturedContent>,
}

impl Tree {
    /// Puts an entry, with the directories above it. What is known better already stays.
    fn put(&mut self, path: &str, content: CapturedContent) {
        let mut above = String::new();
        let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
        let Some((_, parents)) = parts.split_last() else { return };
        for part in parents {
            above.push('/');
            above.push_str(part);
            self.entries.entry(above.clone()).or_insert(CapturedContent::Directory);
        }
        match self.entries.get(path) {
            // An entry of a listing is an empty file until somebody reads it.
            Some(CapturedContent::File(known)) if known.is_empty() => {}
            Some(_) => return,
            None => {}
        }
        self.entries.insert(path.to_owned(), content);
    }

    /// The place without links, with the links on the way to it as entries.
    fn resolved(&mut self, root: &Root, path: &str) -> Option<String> {
        let mut links = Vec::new();
        let found = root.resolve(path, &mut |link, target| links.push((link.to_owned(), target.to_owned())));
        for (link, target) in links {
            self.put(&link, CapturedContent::Link(target));
        }
        found
    }

    fn file(&mut self, root: &Root, path: &str, bytes: &[u8]) {
        // Devices' answers are no files on the machine, and what was read may be gone by now: it counts all the same.
        let place = self.resolved(root, path).unwrap_or_else(|| path.to_owned());
        // Rules that set nothing of storage are looked at and say nothing.
        let bytes = if place.contains("/udev/rules.d/") && !is_relevant(bytes) { &[] } else { bytes };
        self.put(&place, CapturedContent::File(bytes.to_vec()));
    }

    fn listing(&mut self, root: &Root, path: &str, names: &[String]) {
        let Some(directory) = self.resolved(root, path) else { return };
        if directory != "/" {
            self.put(&directory, CapturedContent::Directory);
        }
        for name in names {
            self.entry_kind(root, &format!("{}/{name}", directory.trim_end_matches('/')));
        }
    }

    /// What stands at a place itself.
    fn entry_kind(&mut self, root: &Root, path: &str) {
        let Some((parent, name)) = path.trim_end_matches('/').rsplit_once('/') else { return };
        let Some(parent) = self.resolved(root, if parent.is_empty() { "/" } else { parent }) else { return };
        let place = format!("{}/{name}", parent.trim_end_matches('/'));
        let content = match root.entry_kind(&place) {
            Some(EntryKind::Link(_)) if place == "/proc/self" && root.is_live() => CapturedContent::Directory,
            Some(EntryKind::Link(target)) => CapturedContent::Link(target),
            Some(EntryKind::Directory) => CapturedContent::Directory,
            // Listed, but gone by now: the list had it.
            Some(EntryKind::Other) | None => CapturedContent::File(Vec::new()),
        };
        self.put(&place, content);
    }

    fn there(&mut self, root: &Root, path: &str) {
        let Some(place) = self.resolved(root, path) else { return };
        if place != "/" {
            self.entry_kind(root, &place);
        }
    }
}
