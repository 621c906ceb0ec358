//! Block devices: partitions, device mapper, software RAID, loop, zram, whole disks and their request queues.

use super::queue::bracketed;
use super::{StackBuilder, queue};
use crate::block_devices::{
    device_directory, device_number, device_of_node, named_directory, parse_device, unnumbered_directory,
};
use crate::facts;
use crate::health;
use crate::mounts::mount_of;
use crate::root::{Root, file_name, parent};
use model::{DeviceId, Layer, LayerKind};

/// /sys counts sizes in units of 512 bytes whatever the device's block is.
const SECTOR_BYTES: u64 = 512;

pub(super) fn kind_of(root: &Root, directory: &str) -> LayerKind {
    let name = file_name(directory);
    if root.exists(&format!("{directory}/partition")) {
        LayerKind::Partition
    } else if name.starts_with("loop") {
        LayerKind::Loop
    } else if root.exists(&format!("{directory}/dm")) {
        LayerKind::Dm
    } else if root.exists(&format!("{directory}/md")) {
        LayerKind::Md
    } else if name.starts_with("zram") {
        LayerKind::Zram
    } else {
        LayerKind::Disk
    }
}

impl StackBuilder<'_> {
    /// Lists a block device and follows it down.
    pub(super) fn device(&mut self, device: DeviceId, depth: u32) {
        if let Some(directory) = device_directory(self.root, device) {
            self.device_in(&directory, Some(device), depth);
        } else {
            self.missing(format!(
                "/sys/dev/block/{device} is not there; is /sys mounted and the device still attached?"
            ));
        }
    }

    /// The same, for a device whose directory is known.
    pub(super) fn device_in(&mut self, directory: &str, device: Option<DeviceId>, depth: u32) {
        if self.too_deep(depth) || !self.seen_devices.insert(directory.to_owned()) {
            return;
        }
        let kind = kind_of(self.root, directory);
        let mut layer = Layer::new(kind, file_name(directory));
        layer.device = device;
        layer.counted = self.is_counted(directory, kind);
        let sectors: Option<u64> = self.root.number(&format!("{directory}/size"));
        layer.set(facts::SIZE_BYTES, sectors.and_then(|s| s.checked_mul(SECTOR_BYTES)));
        layer.set(facts::READ_ONLY, self.root.flag(&format!("{directory}/ro")));
        match device {
            Some(device) => super::cgroup::set_limits(self.root, &self.mounts, device, &mut layer),
            None => self.missing(format!("{directory}/dev is not there: mounts and limits are known by that number")),
        }
        match kind {
            LayerKind::Partition => self.partition(layer, directory, depth),
            LayerKind::Loop => self.loop_device(layer, directory, depth),
            LayerKind::Dm => self.device_mapper(layer, directory, depth),
            LayerKind::Md => self.raid(layer, directory, depth),
            LayerKind::Zram => self.zram(layer, directory, depth),
            _ => self.disk(layer, directory, depth),
        }
    }

    /// Counters stand still where `queue/iostats` is off (k:Documentation/block/queue-sysfs.rst). zram has it off and
    /// counts all the same (k:drivers/block/zram/zram_drv.c calls bio_start_io_acct without asking).
    fn is_counted(&mut self, directory: &str, kind: LayerKind) -> bool {
        let disk = if kind == LayerKind::Partition { parent(directory) } else { directory };
        if kind != LayerKind::Zram && self.root.flag(&format!("{disk}/queue/iostats")) == Some(false) {
            let name = file_name(disk);
            self.missing(format!("{name} does not count its traffic; echo 1 > /sys/block/{name}/queue/iostats"));
            return false;
        }
        self.root.exists(&format!("{directory}/stat"))
    }

    fn queue(&self, layer: &mut Layer, directory: &str) {
        queue::set(self.root, layer, directory);
        self.context.settings.on_queue(self.root, layer, directory);
    }

    fn partition(&mut self, mut layer: Layer, directory: &str, depth: u32) {
        let root = self.root;
        let disk = parent(directory).to_owned();
        let start: Option<u64> = root.number(&format!("{directory}/start"));
        let start = start.and_then(|s| s.checked_mul(SECTOR_BYTES));
        let physical: Option<u64> = root.number(&format!("{disk}/queue/physical_block_size"));
        layer.set(facts::START_BYTES, start);
        layer.set(facts::PARTITION_NUMBER, root.number::<u32>(&format!("{directory}/partition")));
        layer.set(facts::ALIGNMENT_OFFSET_BYTES, root.number::<i64>(&format!("{directory}/alignment_offset")));
        // Disks that emulate 512-byte blocks do not always admit their 4 KiB, so 4 KiB is the least asked for.
        layer.set(facts::ALIGNED, start.map(|s| s.is_multiple_of(physical.unwrap_or(4_096).max(4_096))));
        self.push(layer, depth);
        match root.text(&format!("{disk}/dev")).as_deref().and_then(parse_device) {
            Some(device) => self.device(device, depth + 1),
            // A partition that stands alone in /sys/class/block has no disk above it.
            None if root.exists(&format!("{disk}/queue")) => self.device_in(&disk, None, depth + 1),
            None => {}
        }
    }

    fn loop_device(&mut self, mut layer: Layer, directory: &str, depth: u32) {
        let root = self.root;
        self.queue(&mut layer, directory);
        let file = root.text(&format!("{directory}/loop/backing_file"));
        // The kernel appends this to the name of an unlinked file (k:fs/d_path.c).
        let (file, deleted) = match file.as_deref().map(|f| (f.strip_suffix(" (deleted)"), f)) {
            Some((Some(name), _)) => (Some(name.to_owned()), true),
            Some((None, name)) => (Some(name.to_owned()), false),
            None => (None, false),
        };
        layer.driver = Some("loop".into());
        layer.set(facts::BACKING_FILE, file.as_deref().map(str::to_owned));
        layer.set(facts::BACKING_FILE_DELETED, file.is_some().then_some(deleted));
        layer.set(facts::DIO, root.flag(&format!("{directory}/loop/dio")));
        layer.set(facts::LOOP_SIZE_LIMIT_BYTES, root.number::<u64>(&format!("{directory}/loop/sizelimit")));
        layer.set(facts::LOOP_OFFSET_BYTES, root.number::<u64>(&format!("{directory}/loop/offset")));
        let name = layer.name.clone();
        self.push(layer, depth);
        let Some(file) = file else {
            self.missing(format!("{name} has no file behind it"));
            return;
        };
        if let Some(device) = file.starts_with("/dev/").then(|| device_of_node(root, &file)).flatten() {
            self.device(device, depth + 1);
            return;
        }
        // The name is the one that the file has in its own mount namespace; the longest mount decides, for the file's
        // device number is not asked (the file is not opened).
        match mount_of(&self.mounts, &file, None, None).filter(|_| file.starts_with('/')).cloned() {
            Some(entry) => self.filesystem(&entry, None, depth + 1),
            None if deleted => {
                self.missing(format!("the file behind {name} was deleted; what it lies on is not known"))
            }
            None => self.missing(format!("no mount holds {file}, the file behind {name}")),
        }
    }

    fn device_mapper(&mut self, mut layer: Layer, directory: &str, depth: u32) {
        let root = self.root;
        self.queue(&mut layer, directory);
        let uuid = root.text(&format!("{directory}/dm/uuid"));
        let kind = uuid.as_deref().map_or("unknown", |u| match u {
            u if u.starts_with("LVM-") => "lvm",
            u if u.starts_with("CRYPT-LUKS1-") => "crypt-luks1",
            u if u.starts_with("CRYPT-LUKS2-") => "crypt-luks2",
            u if u.starts_with("CRYPT-VERITY-") => "verity",
            u if u.starts_with("CRYPT-INTEGRITY-") => "integrity",
            u if u.starts_with("CRYPT-PLAIN-") => "crypt-plain",
            // Parts of a mapping of cryptsetup's: the integrity layer below LUKS2 is called NAME_dif, others only hold
            // a place while a volume is encrypted anew.
            u if u.starts_with("CRYPT-SUBDEV-") => match u.ends_with("_dif") {
                true => "integrity",
                false => "unknown",
            },
            u if u.starts_with("CRYPT-") => "crypt-other",
            u if u.starts_with("mpath-") => "multipath",
            u if u.starts_with("DMRAID-") => "raid",
            u if u.starts_with("part") => "partition",
            _ => "unknown",
        });
        layer.driver = Some("device-mapper".into());
        layer.set(facts::DM_NAME, root.text(&format!("{directory}/dm/name")));
        layer.set(facts::DM_TYPE, kind);
        layer.set(facts::DM_UUID, uuid);
        // Few mappings have such a counter.
        if let Some(count) = health::integrity_mismatches(root, &layer.name, directory, self.look.health) {
            layer.set(facts::INTEGRITY_MISMATCHES, count);
        }
        layer.set(facts::DM_SUSPENDED, root.flag(&format!("{directory}/dm/suspended")));
        self.with_members(layer, directory, depth);
    }

    fn raid(&mut self, mut layer: Layer, directory: &str, depth: u32) {
        let root = self.root;
        self.queue(&mut layer, directory);
        let md = |file: &str| format!("{directory}/md/{file}");
        layer.driver = Some("md".into());
        layer.set(facts::MD_LEVEL, root.text(&md("level")));
        // While an array is reshaped, the file holds the new count and the old one in parentheses.
        let disks = root.text(&md("raid_disks"));
        let disks = disks.as_deref().and_then(|d| d.split_ascii_whitespace().next()?.parse::<u32>().ok());
        layer.set(facts::RAID_DISKS, disks);
        layer.set(facts::DEGRADED, root.number::<u32>(&md("degraded")));
        layer.set(facts::CHUNK_SIZE_BYTES, root.number::<u64>(&md("chunk_size")));
        layer.set(facts::MD_STATE, root.text(&md("array_state")));
        layer.set(facts::SYNC_ACTION, root.text(&md("sync_action")));
        layer.set(facts::MD_CONSISTENCY_POLICY, root.text(&md("consistency_policy")));
        layer.set(facts::MD_BITMAP, root.text(&md("bitmap/location")));
        layer.set(facts::MD_LAYOUT, root.number::<i64>(&md("layout")));
        layer.set(facts::MD_GROUP_THREADS, root.number::<u32>(&md("group_thread_cnt")));
        layer.set(facts::MD_SYNC_COMPLETED, root.text(&md("sync_completed")));
        layer.set(facts::MD_MISMATCHES, root.number::<u64>(&md("mismatch_cnt")));
        layer.set(facts::STRIPE_CACHE_SIZE, root.number::<u32>(&md("stripe_cache_size")));
        self.with_members(layer, directory, depth);
    }

    /// Lists a stacked device, then what it stands on.
    fn with_members(&mut self, mut layer: Layer, directory: &str, depth: u32) {
        let members = self.root.list(&format!("{directory}/slaves"));
        layer.set(facts::MEMBERS, members.clone());
        let name = layer.name.clone();
        self.push(layer, depth);
        self.members(&name, &members, depth + 1);
    }

    fn members(&mut self, of: &str, members: &[String], depth: u32) {
        for member in members {
            let device = device_number(self.root, member);
            let directory = match device {
                Some(_) => named_directory(self.root, member),
                None => unnumbered_directory(self.root, member),
            };
            match directory {
                Some(directory) => self.device_in(&directory, device, depth),
                None => self.missing(format!("{member}, a member of {of}, is not under /sys/class/block")),
            }
        }
    }

    fn zram(&mut self, mut layer: Layer, directory: &str, depth: u32) {
        let root = self.root;
        self.queue(&mut layer, directory);
        layer.driver = Some("zram".into());
        let algorithms = root.text(&format!("{directory}/comp_algorithm"));
        layer.set(facts::COMP_ALGORITHM, algorithms.as_deref().and_then(bracketed));
        let stat = root.text(&format!("{directory}/mm_stat")).unwrap_or_default();
        let mut stat = stat.split_ascii_whitespace().map(|n| n.parse::<u64>().ok());
        layer.set(facts::ORIGINAL_DATA_BYTES, stat.next().flatten());
        layer.set(facts::COMPRESSED_DATA_BYTES, stat.next().flatten());
        layer.set(facts::MEMORY_USED_BYTES, stat.next().flatten());
        layer.set(facts::MEMORY_LIMIT_BYTES, stat.next().flatten());
        // Pages may be written back to a device.
        let backing = root.text(&format!("{directory}/backing_dev"));
        layer.set(facts::ZRAM_BACKING_DEVICE, backing.clone());
        let backing = backing.filter(|b| b.starts_with('/'));
        self.push(layer, depth);
        if let Some(device) = backing.and_then(|b| device_of_node(root, &b)) {
            self.device(device, depth + 1);
        }
    }

    fn disk(&mut self, mut layer: Layer, directory: &str, depth: u32) {
        self.queue(&mut layer, directory);
        // bcache, drbd and others stand on members without being dm or md.
        let members = self.root.list(&format!("{directory}/slaves"));
        if !members.is_empty() {
            layer.set(facts::MEMBERS, members.clone());
        }
        let name = layer.name.clone();
        self.attached(layer, directory, depth);
        self.members(&name, &members, depth + 1);
    }
}
