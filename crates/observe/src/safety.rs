//! Who uses a block device, so that nobody writes to one that is in use.
//!
//! Facts only: whether to refuse is the caller's decision, and it must not be the only one. Opening with O_EXCL is the
//! kernel's own answer, across all namespaces; this says *why* and what would be lost.

use crate::block_devices::{device_directory, device_of_node, parse_device};
use crate::mounts::{mount_of, mounts};
use crate::root::{Root, file_name, parent};
use crate::stack::serial;
use model::DeviceId;

/// Most processes looked at for open files.
const PROCESS_LIMIT: usize = 65_536;
const DESCRIPTOR_LIMIT: usize = 4_096;

/// How a block device is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceUse {
    /// Kernel name.
    pub name: String,
    /// Size.
    pub size_bytes: Option<u64>,
    /// Model, for the person who confirms.
    pub model: Option<String>,
    /// Serial number (of the disk, for a partition).
    pub serial: Option<String>,
    /// The kernel refuses writes.
    pub read_only: bool,
    /// Partitions on it, by kernel name.
    pub partitions: Vec<String>,
    /// Where it, one of its partitions, or the whole disk that it is a partition of is mounted: `sda1 on /boot`.
    pub mounted: Vec<String>,
    /// What stands on one of these: `dm-0 on sda2`, `loop1 on sda`, `btrfs on sdb`.
    pub held: Vec<String>,
    /// The root file system stands on it, however many layers between.
    pub is_root: bool,
    /// Which of these is swap space: `sda3`.
    pub swap: Vec<String>,
    /// Processes that have it or one of its partitions open: `1234 (qemu) has sda open`. Without root's rights others'
    /// processes are not seen.
    pub open: Vec<String>,
}

impl DeviceUse {
    /// Why it must never be written to now: one sentence each; empty if nothing speaks against it.
    pub fn refusals(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut each = |items: &[String], phrase: &str| out.extend(items.iter().map(|i| format!("{i}{phrase}")));
        each(&self.mounted, " is mounted");
        each(&self.held, " holds it");
        each(&self.swap, " is swap space");
        each(&self.open, "");
        if self.is_root {
            out.push(format!("the root file system stands on {}", self.name));
        }
        if self.read_only {
            out.push(format!("{} is read-only", self.name));
        }
        out
    }
}

/// A device, one of its partitions, or the disk that it is a part of.
#[derive(Clone, Debug)]
struct Part {
    name: String,
    id: DeviceId,
    directory: String,
}

/// How a block device is used; `None` if there is no such device under /sys.
pub fn device_use(root: &Root, device: DeviceId) -> Option<DeviceUse> {
    let directory = device_directory(root, device)?;
    let name = file_name(&directory).to_owned();
    let is_partition = root.exists(&format!("{directory}/partition"));
    let disk = if is_partition { parent(&directory) } else { directory.as_str() };
    let mut partitions = root.list(&directory);
    partitions.retain(|n| root.exists(&format!("{directory}/{n}/partition")));

    let sectors: Option<u64> = root.number(&format!("{directory}/size"));
    let mut usage = DeviceUse {
        size_bytes: sectors.and_then(|s| s.checked_mul(512)),
        model: root.text(&format!("{disk}/device/model")).or_else(|| root.text(&format!("{disk}/device/name"))),
        serial: serial(root, disk),
        read_only: root.flag(&format!("{directory}/ro")) == Some(true),
        ..DeviceUse::default()
    };
    // The device itself, then what is on it.
    let mut ours = vec![Part { name: name.clone(), id: device, directory: directory.clone() }];
    for partition in &partitions {
        let directory = format!("{directory}/{partition}");
        let id = root.text(&format!("{directory}/dev")).as_deref().and_then(parse_device);
        ours.extend(id.map(|id| Part { name: partition.clone(), id, directory }));
    }
    // Whoever uses the whole disk uses the partition as well; but not whoever uses its neighbours.
    let mut touched = ours.clone();
    if is_partition {
        let id = root.text(&format!("{disk}/dev")).as_deref().and_then(parse_device);
        touched.extend(id.map(|id| Part { name: file_name(disk).to_owned(), id, directory: disk.to_owned() }));
    }
    let touched_name = |id: Option<DeviceId>| touched.iter().find(|p| Some(p.id) == id).map(|p| p.name.as_str());

    let table = mounts(root);
    for mount in &table {
        // btrfs and others have an anonymous number, but name their device.
        let by_source = || {
            mount.source.split(':').filter(|s| s.starts_with('/')).find_map(|s| touched_name(device_of_node(root, s)))
        };
        if let Some(name) = touched_name(Some(mount.device)).or_else(by_source) {
            usage.mounted.push(format!("{name} on {}", mount.mount_point));
        }
    }
    for part in &touched {
        let holders = root.list(&format!("{}/holders", part.directory));
        usage.held.extend(holders.iter().map(|h| format!("{h} on {}", part.name)));
    }
    for number in root.list("/sys/block").iter().filter(|n| n.starts_with("loop")) {
        let file = root.text(&format!("/sys/block/{number}/loop/backing_file"));
        let below = file.filter(|f| f.starts_with("/dev/")).and_then(|f| device_of_node(root, &f));
        if let Some(name) = touched_name(below) {
            usage.held.push(format!("{number} on {name}"));
        }
    }
    // Mounts of other namespaces are in no table that we see, but the file systems are in /sys/fs.
    for fstype in ["ext4", "xfs", "f2fs", "erofs"] {
        for name in touched.iter().map(|p| &p.name) {
            let here = usage.mounted.iter().any(|m| m.split(' ').next() == Some(name));
            if !here && root.exists(&format!("/sys/fs/{fstype}/{name}")) {
                usage.held.push(format!("a mount of {fstype} in another namespace on {name}"));
            }
        }
    }
    for uuid in root.list("/sys/fs/btrfs") {
        // Members beyond the first appear in no mount.
        let members = root.list(&format!("/sys/fs/btrfs/{uuid}/devices"));
        let used = touched.iter().filter(|p| members.contains(&p.name));
        usage.held.extend(used.map(|p| format!("btrfs on {}", p.name)));
    }
    let swaps = root.text("/proc/swaps").unwrap_or_default();
    for line in swaps.lines().skip(1) {
        let node = line.split_ascii_whitespace().next().filter(|n| n.starts_with("/dev/"));
        usage.swap.extend(node.and_then(|n| touched_name(device_of_node(root, n))).map(str::to_owned));
    }
    usage.is_root = mount_of(&table, "/", None, None).is_some_and(|entry| {
        let place = crate::Place::Path {
            path: "/".into(),
            device: Some(entry.device),
            mount_id: Some(entry.id),
            block_size_bytes: None,
        };
        let stack = crate::inventory(root, &place).stack;
        stack.layers.iter().any(|l| ours.iter().any(|p| l.device == Some(p.id)))
    });
    usage.open = open_by(root, &ours);
    usage.partitions = partitions;
    usage.name = name;
    Some(usage)
}

/// Processes with one of the device nodes open, ourselves excepted.
fn open_by(root: &Root, ours: &[Part]) -> Vec<String> {
    let own = root.link("/proc/self");
    let mut out = Vec::new();
    let processes = root.list("/proc");
    let processes = processes.iter().filter(|p| p.bytes().all(|b| b.is_ascii_digit()) && Some(*p) != own.as_ref());
    for pid in processes.take(PROCESS_LIMIT) {
        let descriptors = root.list(&format!("/proc/{pid}/fd"));
        let opened = descriptors.iter().take(DESCRIPTOR_LIMIT).find_map(|fd| {
            let node = root.link(&format!("/proc/{pid}/fd/{fd}"))?;
            let short = node.strip_prefix("/dev/")?;
            ours.iter().find(|p| p.name == short).map(|p| &p.name)
        });
        if let Some(name) = opened {
            let command = root.text(&format!("/proc/{pid}/comm")).unwrap_or_else(|| "?".into());
            out.push(format!("process {pid} ({command}) has {name} open"));
        }
    }
    out
}
