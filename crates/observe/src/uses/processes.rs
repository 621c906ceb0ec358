//! Processes: what they have open or mapped, and which mounts they see. Whatever cannot be looked at is told.

use super::store::{Store, Stores};
use crate::mounts::{MountEntry, entries_of};
use crate::read_error::ReadError;
use crate::root::Root;
use std::collections::{BTreeMap, BTreeSet};

/// Most processes looked at.
const PROCESS_LIMIT: usize = 262_144;
/// The pid namespace of the machine itself (k:include/linux/proc_ns.h, PROC_PID_INIT_INO).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";
/// Most bytes of a process's table of mappings or mounts.
const TABLE_LIMIT_BYTES: u64 = 64 << 20;

/// How often a descriptor is looked at that is another one at each look.
const DESCRIPTOR_LOOKS: u32 = 64;

/// A process that has something open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    pub pid: u32,
    pub command: String,
    pub store: Store,
    /// For writing too.
    pub writing: bool,
    /// Only as a mapping: its descriptor was closed.
    pub mapped: bool,
}

/// Mounts as some process sees them.
pub(super) struct MountTable {
    /// A process of another namespace than ours that sees them.
    pub of: Option<(u32, String)>,
    pub entries: Vec<MountEntry>,
}

/// What all processes do.
#[derive(Default)]
pub(super) struct Processes {
    pub openings: Vec<Opening>,
    pub mounts: Vec<MountTable>,
    /// Which processes cannot be looked into, by number and name.
    pub hidden: Vec<(u32, String)>,
    pub unknown: Vec<String>,
}

/// Looks at all processes but this one. Openings are kept only of what `wanted` says.
pub(super) fn processes(root: &Root, stores: &Stores<'_>, wanted: &dyn Fn(Store) -> bool) -> Processes {
    let mut look = ProcessScan { root, stores, wanted, found: Processes::default(), seen: BTreeMap::new() };
    let pids = match root.names("/proc") {
        Ok(names) => names.iter().filter_map(|n| n.parse().ok()).collect::<Vec<u32>>(),
        Err(_) => Vec::new(),
    };
    let own: Option<u32> = root.link_name("/proc/self").and_then(|l| l.parse().ok());
    if !root.exists("/proc/1") {
        look.found.unknown.push(match pids.is_empty() {
            true => "/proc is not mounted, so that no process is seen".to_owned(),
            false => "processes of other users are hidden (/proc is mounted with hidepid)".to_owned(),
        });
    }
    if root.link("/proc/self/ns/pid").is_some_and(|l| l != FIRST_PID_NAMESPACE) {
        look.found.unknown.push("processes outside this pid namespace (container) are not seen".to_owned());
    }
    let mut namespaces = BTreeSet::new();
    namespaces.extend(root.link("/proc/self/ns/mnt"));
    look.found.mounts.push(MountTable { of: None, entries: crate::mounts::mounts(root) });
    for pid in pids.into_iter().take(PROCESS_LIMIT).filter(|pid| Some(*pid) != own) {
        look.openings(pid);
        look.mappings(pid);
        let namespace = root.link(&format!("/proc/{pid}/ns/mnt"));
        if namespace.is_none_or(|n| namespaces.insert(n)) {
            look.mounts(pid);
        }
    }
    look.found
}

struct ProcessScan<'a> {
    root: &'a Root,
    stores: &'a Stores<'a>,
    wanted: &'a dyn Fn(Store) -> bool,
    found: Processes,
    /// What mapped inodes are, by what the tables of mappings say of them.
    seen: BTreeMap<String, Option<Store>>,
}

impl ProcessScan<'_> {
    fn command(&self, pid: u32) -> String {
        self.root.text(&format!("/proc/{pid}/comm")).unwrap_or_else(|| "?".into())
    }

    fn hide(&mut self, pid: u32) {
        if self.found.hidden.last().is_none_or(|(last, _)| *last != pid) {
            let command = self.command(pid);
            self.found.hidden.push((pid, command));
        }
    }

    fn openings(&mut self, pid: u32) {
        let directory = format!("/proc/{pid}/fd");
        let descriptors = match self.root.names(&directory) {
            Ok(names) => names,
            // It ended meanwhile.
            Err(ReadError::Missing) => return,
            Err(_) if !self.root.exists(&format!("/proc/{pid}")) => return,
            Err(_) => return self.hide(pid),
        };
        for fd in descriptors {
            // Sockets, pipes and the like say what they are, and need no look.
            let path = format!("{directory}/{fd}");
            match self.root.read_link(&path) {
                Ok(link) if link.starts_with('/') || link.starts_with("..") => {}
                Err(ReadError::Denied) => return self.hide(pid),
                _ => continue,
            }
            let Some((store, flags)) = self.descriptor(pid, &fd, &path) else { continue };
            // The last two bits: O_RDONLY is 0. A handle (O_PATH) is no opening.
            const O_PATH: u32 = 0o10_000_000;
            if flags.is_some_and(|f| f & O_PATH != 0) {
                continue;
            }
            let writing = flags.is_none_or(|f| f & 3 != 0);
            self.add(pid, store, writing, false);
        }
    }

    /// What a descriptor is of, if that is wanted, and its flags; `None` for those where they cannot be read. A process may close
    /// it at any moment, and have its number for something else: both are of one opening where it is there before and after, and
    /// where the flags are said of the same inode (`ino:`, fs/proc/fd.c since Linux 5.14). On stacked file systems that inode is
    /// another one at each look; there the last flags count.
    fn descriptor(&self, pid: u32, fd: &str, path: &str) -> Option<(Store, Option<u32>)> {
        let mut last = None;
        for _ in 0..DESCRIPTOR_LOOKS {
            let store = self.stores.at(path).filter(|s| (self.wanted)(*s))?;
            let opening = self.root.text(&format!("/proc/{pid}/fdinfo/{fd}")).and_then(|text| fdinfo(&text));
            match opening {
                Some((flags, of)) if self.stores.at(path) == Some(store) => match (store, of) {
                    (Store::File { inode, .. }, Some(of)) if inode != of => last = Some((store, Some(flags))),
                    _ => return Some((store, Some(flags))),
                },
                _ => last = Some((store, None)),
            }
        }
        last
    }

    fn add(&mut self, pid: u32, store: Store, writing: bool, mapped: bool) {
        if let Some(known) = self.found.openings.iter_mut().find(|o| o.pid == pid && o.store == store) {
            known.writing |= writing;
            return;
        }
        let command = self.command(pid);
        self.found.openings.push(Opening { pid, command, store, writing, mapped });
    }

    fn mappings(&mut self, pid: u32) {
        let table = match self.root.read_up_to(&format!("/proc/{pid}/maps"), TABLE_LIMIT_BYTES) {
            Ok(table) => table,
            Err(ReadError::Denied) => return self.hide(pid),
            Err(_) => return,
        };
        for line in String::from_utf8_lossy(&table).lines() {
            // `7f00-7f01 rw-s 00000000 08:01 1234   /path` (proc_pid_maps(5)).
            let mut fields = line.split_ascii_whitespace();
            let (Some(range), Some(mode), Some(_), Some(device), Some(inode)) =
                (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            if inode == "0" {
                continue;
            }
            let key = format!("{device} {inode}");
            let store = match self.seen.get(&key) {
                Some(store) => *store,
                None => {
                    let store = self.stores.at(&format!("/proc/{pid}/map_files/{range}"));
                    self.seen.insert(key, store);
                    store
                }
            };
            if let Some(store) = store.filter(|s| (self.wanted)(*s)) {
                self.add(pid, store, mode.contains('w') && mode.ends_with('s'), true);
            }
        }
    }

    fn mounts(&mut self, pid: u32) {
        match self.root.read_up_to(&format!("/proc/{pid}/mountinfo"), TABLE_LIMIT_BYTES) {
            Ok(table) => {
                let entries = entries_of(&String::from_utf8_lossy(&table));
                let of = Some((pid, self.command(pid)));
                self.found.mounts.push(MountTable { of, entries });
            }
            Err(ReadError::Denied) => self.hide(pid),
            Err(_) => {}
        }
    }
}

/// The flags of an opening and, where the kernel says it, its inode (proc_pid_fdinfo(5)).
fn fdinfo(text: &str) -> Option<(u32, Option<u64>)> {
    let field = |name: &str| text.lines().find_map(|l| l.strip_prefix(name)).map(str::trim);
    let flags = u32::from_str_radix(field("flags:")?, 8).ok()?;
    Some((flags, field("ino:").and_then(|n| n.parse().ok())))
}
