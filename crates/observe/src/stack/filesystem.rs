//! The file system layer, and where it leads.

use super::StackBuilder;
use crate::block_devices;
use crate::facts;
use crate::health;
use crate::mounts::{MountEntry, mount_of};
use crate::nfs;
use crate::root::file_name;
use crate::{smb, zfs};
use model::{DeviceId, Layer, LayerKind};

/// MTD_BLOCK_MAJOR, k:include/linux/mtd/blktrans.h.
const MTD_BLOCK: u32 = 31;

/// What carries a file system that has no block device number of its own.
fn backing_of(fstype: &str) -> &'static str {
    match fstype {
        "tmpfs" | "ramfs" | "hugetlbfs" | "devtmpfs" | "rootfs" | "proc" | "sysfs" | "cgroup" | "cgroup2" => "memory",
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "ceph" | "lustre" | "beegfs" | "gpfs" | "afs" | "coda"
        | "ocfs2" | "gfs2" | "orangefs" => "network",
        "9p" | "virtiofs" | "vboxsf" | "vmhgfs" | "prl_fs" | "drvfs" => "host-directory",
        "overlay" | "aufs" => "overlay",
        "zfs" => "zfs-pool",
        "ubifs" | "jffs2" => "mtd",
        "btrfs" | "bcachefs" | "fuseblk" => "block",
        other if other == "fuse" || other.starts_with("fuse.") => "fuse",
        _ => "unknown",
    }
}

impl StackBuilder<'_> {
    /// Lists the file system and follows it down.
    pub(super) fn filesystem(&mut self, entry: &MountEntry, block_size_bytes: Option<u64>, depth: u32) {
        if !self.seen_mounts.insert(entry.id) || self.too_deep(depth) {
            return;
        }
        let mut layer = Layer::new(LayerKind::Filesystem, entry.fstype.clone());
        // The superblock's device is a block device unless its major number is 0, "unnamed" (k:devices.txt). Shared
        // disk file systems (ocfs2, gfs2) have one as well.
        let numbered = entry.device.major != 0;
        let backing = match entry.device.major {
            0 => backing_of(&entry.fstype),
            MTD_BLOCK => "mtd",
            _ => "block",
        };
        let mount = entry.to_model();
        layer.set(facts::FSTYPE, entry.fstype.as_str());
        layer.set(facts::MOUNT_POINT, entry.mount_point.as_str());
        layer.set(facts::MOUNT_SOURCE, entry.source.as_str());
        layer.set(facts::MOUNT_ROOT, entry.root.as_str());
        layer.set(facts::MOUNT_OPTIONS, mount.options);
        layer.set(facts::READ_ONLY, mount.read_only);
        layer.set(facts::BACKING, backing);
        layer.set(facts::BLOCK_SIZE_BYTES, block_size_bytes);
        self.features(&mut layer, entry);

        let devices = if numbered { Vec::new() } else { self.devices_by_source(entry) };
        if devices.len() > 1 {
            let names: Vec<String> = devices.iter().filter_map(|d| block_devices::device_name(self.root, *d)).collect();
            layer.set(facts::FILESYSTEM_DEVICES, names);
        }
        if self.look.health {
            self.errors(&mut layer, entry);
        }
        self.push(layer, depth);

        match backing {
            "block" if numbered => {
                let known = block_devices::device_directory(self.root, entry.device).is_some();
                let named = || block_devices::unnumbered_directory(self.root, entry.source.strip_prefix("/dev/")?);
                match if known { None } else { named() } {
                    Some(directory) => self.device_in(&directory, None, depth + 1),
                    None => self.device(entry.device, depth + 1),
                }
            }
            "block" if devices.is_empty() => self.missing(format!(
                "the device of {} ({}) was not found under /sys; give the block device itself",
                entry.mount_point, entry.source
            )),
            "block" => devices.into_iter().for_each(|d| self.device(d, depth + 1)),
            "overlay" => self.upper_directory(entry, depth + 1),
            // The number is that of an mtdblock device, which need not exist (k:drivers/mtd/mtdsuper.c).
            "mtd" if numbered && block_devices::device_directory(self.root, entry.device).is_some() => {
                self.device(entry.device, depth + 1);
            }
            "mtd" if numbered => self.mtd(&format!("mtd{}", entry.device.minor), depth + 1),
            "mtd" => self.mtd_of(entry, depth + 1),
            "zfs-pool" => {
                let pool = entry.source.split('/').next().unwrap_or("POOL");
                self.missing(format!("the disks of a ZFS pool are not under /sys; see zpool status {pool}"));
                let wanted = "recordsize,sync,primarycache,compression";
                self.missing(format!("the kernel shows no properties of ZFS; see zfs get {wanted} {}", entry.source));
            }
            "network" => self.missing(format!("{} lies on another machine; run narrows there", entry.source)),
            "host-directory" => self.missing(format!("{} lies on the host; run narrows there", entry.source)),
            "fuse" => self.missing(format!(
                "a FUSE file system does not say which device is below it ({}); give that directory or device instead",
                entry.source
            )),
            _ => {}
        }
    }

    /// Facts that follow from type and options.
    fn features(&self, layer: &mut Layer, entry: &MountEntry) {
        let (has, option) = (|o: &str| entry.has(o), |o: &str| entry.option(o));
        let fstype = entry.fstype.as_str();
        let copy_on_write = match fstype {
            "btrfs" => Some(!has("nodatacow")),
            "zfs" | "bcachefs" | "nilfs2" => Some(true),
            "ext2" | "ext3" | "ext4" | "vfat" | "exfat" | "ntfs3" | "tmpfs" => Some(false),
            _ => None,
        };
        let checksums = match fstype {
            // nodatacow implies nodatasum (k:fs/btrfs/super.c).
            "btrfs" => Some(!has("nodatasum") && !has("nodatacow")),
            "zfs" | "bcachefs" => Some(true),
            "ext2" | "ext3" | "ext4" | "xfs" | "f2fs" | "vfat" | "exfat" | "ntfs3" | "tmpfs" => Some(false),
            _ => None,
        };
        layer.set(facts::COPY_ON_WRITE, copy_on_write);
        layer.set(facts::CHECKSUMS, checksums);
        if matches!(fstype, "btrfs" | "f2fs" | "bcachefs" | "ubifs") {
            let keys = ["compress-force", "compress", "compress_algorithm", "compression", "compr"];
            let named = keys.iter().find_map(|k| option(k));
            let bare = has("compress") || has("compress-force");
            layer.set(facts::COMPRESSION, named.unwrap_or(if bare { "default" } else { "none" }));
        }
        layer.set(facts::SYNC_MOUNT, has("sync"));
        if matches!(fstype, "ext3" | "ext4" | "xfs" | "btrfs" | "f2fs" | "reiserfs") {
            let off = has("nobarrier") || option("barrier") == Some("0") || option("barrier") == Some("none");
            layer.set(facts::BARRIERS, !off);
        }
        if matches!(fstype, "ext3" | "ext4") {
            layer.set(facts::JOURNAL_MODE, option("data").unwrap_or("ordered"));
        }
        layer.set(facts::COMMIT_INTERVAL_S, option("commit").and_then(|c| c.parse::<u32>().ok()));
        let discard = has("discard") || option("discard").is_some();
        layer.set(facts::ONLINE_DISCARD, discard && !has("nodiscard"));
        if fstype == "ext4" {
            layer.set(facts::LAZY_INIT_RUNNING, self.kernel_thread_runs("ext4lazyinit"));
        }
        if nfs::is_nfs(fstype) {
            nfs::set_facts(self.root, entry, layer);
        }
        self.of_elsewhere(layer, entry);
        // Its own, where no block device has one.
        if entry.device.major == 0 && !matches!(backing_of(fstype), "memory" | "block" | "mtd") {
            let bdi = self.bdi_of(entry);
            let window = |bdi: &String| self.root.number::<u64>(&format!("/sys/class/bdi/{bdi}/read_ahead_kb"));
            layer.set(facts::BDI_READ_AHEAD_KB, bdi.as_ref().and_then(window));
            layer.set(facts::BDI, bdi);
        }
        if fstype == "overlay" {
            let lower: Vec<String> = option("lowerdir")
                .map(|l| l.split(':').filter(|d| !d.is_empty()).take(512).map(str::to_owned).collect())
                .unwrap_or_default();
            layer.set(facts::LOWER_DIRECTORIES, lower);
            layer.set(facts::UPPER_DIRECTORY, option("upperdir").map(str::to_owned));
        }
    }

    /// Its backing device info: of NFS and FUSE by the mount's device number, of others (SMB, ceph, 9p) by type and a number that counts up
    /// (k:fs/super.c super_setup_bdi), which tells whose it is where there is one of that type.
    fn bdi_of(&self, entry: &MountEntry) -> Option<String> {
        let all = self.root.list("/sys/class/bdi");
        let by_device = entry.device.to_string();
        if all.contains(&by_device) {
            return Some(by_device);
        }
        let alone = self.mounts.iter().all(|m| m.fstype != entry.fstype || m.device == entry.device);
        let counted = |name: &&String| {
            let number = name.strip_prefix(entry.fstype.as_str()).and_then(|rest| rest.strip_prefix('-'));
            number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        let mut of_type = all.iter().filter(counted).filter(|_| alone);
        of_type.next().filter(|_| of_type.next().is_none()).cloned()
    }

    /// What options and kernel tell of file systems that stand on no block device here.
    fn of_elsewhere(&self, layer: &mut Layer, entry: &MountEntry) {
        let number = |key: &str| entry.option(key).and_then(|value| value.parse::<u64>().ok());
        let text = |key: &str| entry.option(key).map(str::to_owned);
        match entry.fstype.as_str() {
            fstype if smb::is_smb(fstype) => smb::set_facts(self.root, entry, layer),
            "zfs" => zfs::set_facts(self.root, layer),
            // 8 MiB, k:fs/ceph/super.h CEPH_RASIZE_DEFAULT.
            "ceph" => layer.set(facts::CEPH_READ_AHEAD_BYTES, number("rasize").unwrap_or(8 << 20)),
            "9p" => {
                layer.set(facts::P9_MESSAGE_BYTES, number("msize"));
                layer.set(facts::P9_TRANSPORT, text("trans"));
                layer.set(facts::P9_CACHE, text("cache").unwrap_or_else(|| "none".to_owned()));
            }
            "virtiofs" => {
                let dax = entry.has("dax").then(|| "always".to_owned()).or_else(|| text("dax"));
                layer.set(facts::MOUNTED_WITH_DAX, dax.unwrap_or_else(|| "never".to_owned()));
            }
            fstype if fstype.starts_with("fuse") => {
                layer.set(facts::FUSE_MAX_READ_BYTES, number("max_read"));
                // Its directory has the number of the mount's device (k:fs/fuse/control.c); a process of others may not read it.
                let background = format!("/sys/fs/fuse/connections/{}/max_background", entry.device.minor);
                layer.set(facts::FUSE_MAX_BACKGROUND, self.root.number::<u64>(&background));
            }
            _ => {}
        }
    }

    /// Whether a kernel thread of that name runs. Kernel threads are children of kthreadd, process 2, whose list of
    /// children is one file where the kernel has it; otherwise nothing is said, for a look at every process is dear.
    fn kernel_thread_runs(&self, name: &str) -> Option<bool> {
        let children = self.root.text("/proc/2/task/2/children")?;
        let comm = |pid: &str| self.root.text(&format!("/proc/{pid}/comm"));
        Some(children.split_ascii_whitespace().take(4_096).any(|pid| comm(pid).as_deref() == Some(name)))
    }

    /// Block devices of a file system with an anonymous device number, from its source and, for btrfs, from the list
    /// of its members.
    fn devices_by_source(&self, entry: &MountEntry) -> Vec<DeviceId> {
        if backing_of(&entry.fstype) != "block" {
            return Vec::new();
        }
        // bcachefs joins its devices with colons.
        let sources = entry.source.split(':').filter(|s| s.starts_with('/'));
        let mut devices: Vec<DeviceId> = sources.filter_map(|s| block_devices::device_of_node(self.root, s)).collect();
        if entry.fstype == "btrfs" {
            let known: Vec<String> = devices.iter().filter_map(|d| block_devices::device_name(self.root, *d)).collect();
            if let Some((_, ours)) = self.btrfs_of(known.first()) {
                devices = ours.iter().filter_map(|name| block_devices::device_number(self.root, name)).collect();
            }
        }
        devices.dedup();
        devices
    }

    /// The btrfs that a device is a member of: its directory under /sys, and the names of all members.
    fn btrfs_of(&self, member: Option<&String>) -> Option<(String, Vec<String>)> {
        let file_systems = self.root.list("/sys/fs/btrfs");
        let mut all: Vec<(String, Vec<String>)> = file_systems
            .iter()
            .map(|uuid| format!("/sys/fs/btrfs/{uuid}"))
            .map(|directory| (self.root.list(&format!("{directory}/devices")), directory))
            .filter(|(members, _)| !members.is_empty())
            .map(|(members, directory)| (directory, members))
            .collect();
        let ours = match member {
            Some(name) => all.iter().position(|(_, members)| members.contains(name)),
            // The source may be a name that is no more (`/dev/root`): with one btrfs there is no doubt.
            None => (all.len() == 1).then_some(0),
        };
        ours.map(|at| all.swap_remove(at))
    }

    /// What the file system has counted of errors.
    fn errors(&self, layer: &mut Layer, entry: &MountEntry) {
        let device = || block_devices::device_of_node(self.root, &entry.source).or(Some(entry.device));
        let name = || block_devices::device_name(self.root, device()?);
        match entry.fstype.as_str() {
            "ext4" => {
                let count = name().and_then(|name| self.root.text(&format!("/sys/fs/ext4/{name}/errors_count")));
                layer.set(facts::FILESYSTEM_ERRORS, count.and_then(|c| c.parse::<i64>().ok()));
            }
            "btrfs" => {
                let Some((directory, _)) = self.btrfs_of(name().as_ref()) else { return };
                let members = format!("{directory}/devinfo");
                let stats: Vec<String> = self
                    .root
                    .list(&members)
                    .iter()
                    .filter_map(|m| self.root.text(&format!("{members}/{m}/error_stats")))
                    .collect();
                for (fact, key) in [
                    (facts::WRITE_ERRORS, "write_errs"),
                    (facts::READ_ERRORS, "read_errs"),
                    (facts::FLUSH_ERRORS, "flush_errs"),
                    (facts::CORRUPTION_ERRORS, "corruption_errs"),
                    (facts::GENERATION_ERRORS, "generation_errs"),
                ] {
                    let of = |stats: &String| {
                        let line = stats.lines().find_map(|l| l.strip_prefix(key))?;
                        line.trim().parse::<i64>().ok()
                    };
                    let counts: Option<Vec<i64>> = stats.iter().map(of).collect();
                    layer.set(fact, counts.filter(|c| !c.is_empty()).map(|c| c.iter().sum::<i64>()));
                }
            }
            "bcachefs" => {
                // The source names all members: `/dev/sda:/dev/sdb`.
                let first = entry.source.split(':').next().unwrap_or_default();
                let device = block_devices::device_of_node(self.root, first).or(Some(entry.device));
                let name = device.and_then(|device| block_devices::device_name(self.root, device));
                let errors = name.and_then(|name| health::bcachefs_errors(self.root, &name));
                layer.set(facts::WRITE_ERRORS, errors.map(|e| e.write));
                layer.set(facts::READ_ERRORS, errors.map(|e| e.read));
                layer.set(facts::CORRUPTION_ERRORS, errors.map(|e| e.checksum));
            }
            _ => {}
        }
    }

    fn upper_directory(&mut self, entry: &MountEntry, depth: u32) {
        let Some(upper) = entry.option("upperdir").map(str::to_owned) else {
            self.missing("the overlay has no upper directory: it is read-only");
            return;
        };
        if !upper.starts_with('/') {
            self.missing(format!(
                "the overlay was mounted with the relative upper directory {upper}, which does not say where it lies; \
                 give that directory instead"
            ));
            return;
        }
        // The path is as the mounting process saw it. In a container it names a place outside, where only the overlay
        // itself or an unrelated mount seems to be.
        let below = mount_of(&self.mounts, &upper, None, None).filter(|m| m.id != entry.id).cloned();
        match below {
            Some(below) if !(below.fstype == "overlay" && self.seen_mounts.contains(&below.id)) => {
                self.filesystem(&below, None, depth);
            }
            _ => self.missing(format!(
                "the overlay's upper directory {upper} lies outside this container; run narrows on the host, or on a volume"
            )),
        }
    }

    /// UBIFS names its volume (`ubi0:data`, `ubi0_1`), JFFS2 its partition (`mtd2`).
    fn mtd_of(&mut self, entry: &MountEntry, depth: u32) {
        let source = file_name(&entry.source);
        let number = |prefix: &str| -> Option<u32> {
            let rest = source.strip_prefix(prefix)?;
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest[..end].parse().ok()
        };
        let mtd = match number("ubi") {
            Some(ubi) => self.root.number::<u32>(&format!("/sys/class/ubi/ubi{ubi}/mtd_num")),
            None => number("mtdblock").or_else(|| number("mtd")),
        };
        match mtd {
            Some(mtd) => self.mtd(&format!("mtd{mtd}"), depth),
            None => self.missing(format!("the MTD partition of {} was not found under /sys/class/ubi", entry.source)),
        }
    }
}
