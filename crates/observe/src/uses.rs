//! Who uses a device or a file, so that nobody writes to one that is in use.
//!
//! Facts only: whether to refuse is the caller's decision, and it must not be the only one. Opening with O_EXCL, and a
//! lease on a file, are the kernel's own answers; this says *why*, what would be lost, and what else leads to the same
//! bytes. Everything is known by device number and inode, never by a name. What could not be looked at is told.

mod identity;
mod loops;
mod processes;
mod sharing;
mod store;

pub use identity::{Identity, IdentityKind};
pub use sharing::{Part, Relation};
pub use store::Store;

use crate::block_devices::device_directory;
use crate::mounts::mount_of;
use crate::root::{Root, parent};
use model::DeviceId;
use processes::{Processes, processes};
use sharing::{Sharing, sharing};
use std::fmt;
use store::Stores;

/// One way in which a device or file is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// A file system on it is mounted.
    Mounted {
        /// What: `sda1`, `loop1 on sda`.
        what: String,
        at: String,
        /// A process that sees the mount, where that is in another mount namespace.
        seen_by: Option<(u32, String)>,
    },
    /// Something stands on it.
    Held {
        /// What: `dm-0 on sda2`.
        by: String,
    },
    /// It is swap space.
    Swap { what: String },
    /// A process has it open.
    Open {
        /// The process.
        pid: u32,
        command: String,
        /// What it has open.
        what: String,
        /// For writing too.
        writing: bool,
        /// As a mapping in its memory.
        mapped: bool,
    },
    /// A lock or lease is held on it.
    Locked {
        what: String,
        /// Kind of lock, as /proc/locks says: `POSIX WRITE`.
        kind: String,
        /// Who: a process and its name; `None` where the kernel does not tell.
        by: Option<(u32, String)>,
    },
    /// The root file system stands on it, however many layers between.
    Root { what: String },
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { what, at, seen_by: None } => write!(f, "{what} is mounted on {at}"),
            Self::Mounted { what, at, seen_by: Some((pid, command)) } => {
                write!(f, "{what} is mounted on {at} in the mount namespace of process {pid} ({command})")
            }
            Self::Held { by } => write!(f, "{by} holds it"),
            Self::Swap { what } => write!(f, "{what} is swap space"),
            Self::Open { pid, command, what, mapped: true, .. } => {
                write!(f, "process {pid} ({command}) has {what} mapped in its memory")
            }
            Self::Open { pid, command, what, writing, .. } => {
                let how = if *writing { " for writing" } else { "" };
                write!(f, "process {pid} ({command}) has {what} open{how}")
            }
            Self::Locked { what, kind, by: Some((pid, command)) } => {
                write!(f, "process {pid} ({command}) holds a lock ({kind}) on {what}")
            }
            Self::Locked { what, kind, by: None } => write!(f, "a lock ({kind}) is held on {what}"),
            Self::Root { what } => write!(f, "the root file system is on {what}"),
        }
    }
}

/// How a device or file is used.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// All ways that were found; none of them may be written over.
    pub uses: Vec<Use>,
    /// What could not be looked at, so that a use may have been missed: one sentence each.
    pub unknown: Vec<String>,
    /// Processes that could not be looked into, by number and name.
    pub hidden: Vec<(u32, String)>,
    /// Everything that shares bytes with it, itself first.
    pub parts: Vec<Part>,
}

impl Uses {
    /// Why a use may have been missed, in sentences.
    pub fn doubts(&self) -> Vec<String> {
        const NAMED: usize = 3;
        let hidden: Vec<String> = self.hidden.iter().map(|(pid, command)| format!("{pid} ({command})")).collect();
        let mut doubts = self.unknown.clone();
        if let Some(named) = hidden.get(..hidden.len().min(NAMED)).filter(|n| !n.is_empty()) {
            let more = hidden.len() - named.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            doubts.push(format!("what these processes have open is not shown: {}{more}", named.join(", ")));
        }
        doubts
    }
}

/// How a block device is used, and what it says that it is.
#[derive(Clone, Debug)]
pub struct DeviceUse {
    /// Kernel name.
    pub name: String,
    pub size_bytes: Option<u64>,
    /// Model, for the person who confirms.
    pub model: Option<String>,
    /// What names it beyond doubt.
    pub identity: Identity,
    /// The kernel refuses writes.
    pub read_only: bool,
    /// Partitions on it, by kernel name.
    pub partitions: Vec<String>,
    pub uses: Uses,
}

/// What names a block device beyond doubt; `None` if there is no such device under /sys.
pub fn device_identity(root: &Root, device: DeviceId) -> Option<Identity> {
    Some(identity::identity(root, &device_directory(root, device)?))
}

/// How a block device is used; `None` if there is no such device under /sys.
pub fn device_use(root: &Root, device: DeviceId) -> Option<DeviceUse> {
    let directory = device_directory(root, device)?;
    let is_partition = root.exists(&format!("{directory}/partition"));
    let disk = if is_partition { parent(&directory) } else { directory.as_str() };
    let name = crate::root::file_name(&directory).to_owned();
    let uses = uses(root, Store::Device(device), &name);
    let mut partitions = root.list(&directory);
    partitions.retain(|n| root.exists(&format!("{directory}/{n}/partition")));
    Some(DeviceUse {
        size_bytes: uses.parts.first().and_then(|p| p.size_bytes),
        model: root.text(&format!("{disk}/device/model")).or_else(|| root.text(&format!("{disk}/device/name"))),
        identity: identity::identity(root, &directory),
        read_only: root.flag(&format!("{directory}/ro")) == Some(true),
        partitions,
        uses,
        name,
    })
}

/// How a regular file is used; `path` is what messages call it. Openings for reading count too: whoever reads a file
/// that is overwritten meanwhile reads nonsense.
pub fn file_use(root: &Root, device: DeviceId, inode: u64, path: &str) -> Uses {
    uses(root, Store::File { device, inode }, path)
}

fn uses(root: &Root, store: Store, label: &str) -> Uses {
    let stores = Stores::of(root);
    let Sharing { parts, mut unknown } = sharing(root, &stores, store, label);
    let mut found = Finder { root, parts: &parts, uses: Vec::new() };
    let Processes { openings, mounts, hidden, unknown: unseen } =
        processes(root, &stores, &|store| parts.iter().any(|p| p.store == store));
    unknown.extend(unseen);
    for table in &mounts {
        for mount in &table.entries {
            found.mount(mount, table.of.as_ref(), &stores);
        }
    }
    found.holders();
    found.filesystems();
    unknown.extend(found.swaps(&stores));
    found.locks();
    found.root_file_system();
    for opening in openings {
        found.opening(opening);
    }
    let mut uses = Vec::new();
    for one in found.uses {
        if !uses.contains(&one) {
            uses.push(one);
        }
    }
    Uses { uses, unknown, hidden, parts }
}

struct Finder<'a> {
    root: &'a Root,
    parts: &'a [Part],
    uses: Vec<Use>,
}

impl<'a> Finder<'a> {
    fn part(&self, store: Store) -> Option<&'a Part> {
        self.parts.iter().find(|p| p.store == store)
    }

    fn mount(&mut self, mount: &crate::MountEntry, of: Option<&(u32, String)>, stores: &Stores<'_>) {
        let by_number = self.part(Store::Device(mount.device));
        // btrfs and others have an anonymous number, but name their device.
        let by_source = || {
            let sources = mount.source.split(':').filter(|s| s.starts_with('/') && mount.device.major == 0);
            sources.filter_map(|s| stores.at(s)).find_map(|s| self.part(s))
        };
        let Some(part) = by_number.or_else(by_source) else { return };
        let what = part.label.clone();
        let at = mount.mount_point.clone();
        let same = |u: &Use| matches!(u, Use::Mounted { what: w, at: a, .. } if *w == what && *a == at);
        if !self.uses.iter().any(same) {
            self.uses.push(Use::Mounted { what, at, seen_by: of.cloned() });
        }
    }

    fn holders(&mut self) {
        self.uses.extend(self.parts.iter().filter(|p| p.holds).map(|p| Use::Held { by: p.label.clone() }));
        for name in self.root.list("/sys/block").iter().filter(|n| n.starts_with("zram")) {
            let below = self.root.text(&format!("/sys/block/{name}/backing_dev")).filter(|b| b.starts_with('/'));
            let store = below.and_then(|b| Stores::of(self.root).at(&b));
            if let Some(part) = store.and_then(|s| self.part(s)) {
                self.uses.push(Use::Held { by: format!("{name} on {}", part.label) });
            }
        }
    }

    /// Mounts that are in no table that is seen show in /sys/fs, as do members of file systems beyond the first.
    fn filesystems(&mut self) {
        let root = self.root;
        let devices: Vec<&Part> = self.parts.iter().filter(|p| !p.name.is_empty()).collect();
        for fstype in ["ext4", "xfs", "f2fs", "erofs", "nilfs2"] {
            for part in &devices {
                let here = |u: &Use| matches!(u, Use::Mounted { what, .. } if *what == part.label);
                if !self.uses.iter().any(here) && root.exists(&format!("/sys/fs/{fstype}/{}", part.name)) {
                    self.uses
                        .push(Use::Held { by: format!("a mount of {fstype} that is not seen, on {}", part.label) });
                }
            }
        }
        for uuid in root.list("/sys/fs/btrfs") {
            let members = root.list(&format!("/sys/fs/btrfs/{uuid}/devices"));
            let used = devices.iter().filter(|p| members.contains(&p.name));
            self.uses.extend(used.map(|p| Use::Held { by: format!("btrfs on {}", p.label) }));
        }
        for uuid in root.list("/sys/fs/bcachefs") {
            let place = format!("/sys/fs/bcachefs/{uuid}");
            let members = root.list(&place).into_iter().filter_map(|d| root.link_name(&format!("{place}/{d}/block")));
            for member in members {
                let used = devices.iter().filter(|p| p.name == member);
                self.uses.extend(used.map(|p| Use::Held { by: format!("bcachefs on {}", p.label) }));
            }
        }
    }

    /// Gives what could not be found.
    fn swaps(&mut self, stores: &Stores<'_>) -> Vec<String> {
        let mut unknown = Vec::new();
        for line in self.root.text("/proc/swaps").unwrap_or_default().lines().skip(1) {
            let Some(name) = line.split_ascii_whitespace().next() else { continue };
            let name = crate::mounts::unescape(name);
            match stores.at(&name) {
                Some(store) => {
                    self.uses.extend(self.part(store).map(|p| Use::Swap { what: p.label.clone() }));
                }
                None => unknown.push(format!("the swap space {name} is not found under this name")),
            }
        }
        unknown
    }

    /// Locks and leases on files, by device and inode (proc_locks(5)): `1: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF`.
    fn locks(&mut self) {
        let table = self.root.text("/proc/locks").unwrap_or_default();
        let own = self.root.link_name("/proc/self");
        for line in table.lines() {
            let fields: Vec<&str> = line.split_ascii_whitespace().skip(1).collect();
            let [kind, _, access, pid, place, ..] = fields.as_slice() else { continue };
            let mut numbers = place.split(':');
            let mut hex = || numbers.next().and_then(|n| u32::from_str_radix(n, 16).ok());
            let (Some(major), Some(minor)) = (hex(), hex()) else { continue };
            let Some(inode) = numbers.next().and_then(|n| n.parse().ok()) else { continue };
            let Some(part) = self.part(Store::File { device: DeviceId { major, minor }, inode }) else { continue };
            if own.as_deref() == Some(*pid) {
                continue;
            }
            let by = pid.parse().ok().map(|pid: u32| {
                let command = self.root.text(&format!("/proc/{pid}/comm")).unwrap_or_else(|| "?".into());
                (pid, command)
            });
            let kind = format!("{kind} {access}");
            self.uses.push(Use::Locked { what: part.label.clone(), kind, by });
        }
    }

    fn root_file_system(&mut self) {
        let table = crate::mounts::mounts(self.root);
        let Some(entry) = mount_of(&table, "/", None, None) else { return };
        let place = crate::Locator::Path {
            path: "/".into(),
            device: Some(entry.device),
            mount_id: Some(entry.id),
            block_size_bytes: None,
        };
        let stack = crate::inventory(self.root, &place).stack;
        // The disk of a partition is below its neighbour too.
        let counts = |p: &&Part| p.relation != Relation::Below;
        let carries = |p: &&Part| stack.layers.iter().any(|l| l.device.map(Store::Device) == Some(p.store));
        if let Some(part) = self.parts.iter().filter(counts).find(carries) {
            self.uses.push(Use::Root { what: part.label.clone() });
        }
    }

    fn opening(&mut self, opening: processes::Opening) {
        let Some(part) = self.part(opening.store) else { return };
        // Who serves a network block device has it open for that (k:drivers/block/nbd.c, attribute pid).
        let serves = self.root.number::<u32>(&format!("{}/pid", part.directory)) == Some(opening.pid);
        // Managers of arrays and of paths keep the members open for reading.
        let manages = part.is_member && !opening.writing;
        // A file below that is only read is not harmed by another who reads it.
        let reads_below =
            part.relation == Relation::Below && matches!(part.store, Store::File { .. }) && !opening.writing;
        if serves || manages || reads_below {
            return;
        }
        let processes::Opening { pid, command, writing, mapped, .. } = opening;
        self.uses.push(Use::Open { pid, command, what: part.label.clone(), writing, mapped });
    }
}
