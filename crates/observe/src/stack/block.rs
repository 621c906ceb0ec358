//! Block devices: partitions, device mapper, software RAID, loop, zram, whole disks and their request queues.

use super::Walk;
use crate::facts;
use crate::mounts::{mount_of, parse_device};
use crate::root::{Root, file_name, natural, parent};
use model::{DeviceId, Fact, Layer, LayerKind};

/// /sys counts sizes in units of 512 bytes whatever the device's block is.
const SECTOR_BYTES: u64 = 512;

/// Number of a block device by kernel name.
pub(crate) fn device_number(root: &Root, name: &str) -> Option<DeviceId> {
    // Slashes in kernel names (`cciss/c0d0`) are exclamation marks in /sys.
    let name = name.replace('/', "!");
    parse_device(&root.text(&format!("/sys/class/block/{name}/dev"))?)
}

/// The device's directory under /sys/devices.
pub(crate) fn device_directory(root: &Root, device: DeviceId) -> Option<String> {
    root.canonical(&format!("/sys/dev/block/{device}")).or_else(|| {
        // Captured trees may come without /sys/dev.
        let names = root.list("/sys/class/block");
        let name = names.iter().find(|n| device_number(root, n) == Some(device))?;
        root.canonical(&format!("/sys/class/block/{name}"))
    })
}

/// Kernel name of a block device by number.
pub(crate) fn device_name(root: &Root, device: DeviceId) -> Option<String> {
    device_directory(root, device).map(|d| file_name(&d).to_owned())
}

/// The block device that a device node stands for, by its name: `/dev/sda1`, `/dev/mapper/vg-lv`, `/dev/disk/by-uuid/..`.
pub(crate) fn device_of_node(root: &Root, node: &str) -> Option<DeviceId> {
    let node = node.trim_end_matches('/');
    let name = root.canonical(node).unwrap_or_else(|| node.to_owned());
    let short = name.strip_prefix("/dev/").unwrap_or_else(|| file_name(&name));
    device_number(root, short).or_else(|| {
        let mapped = node.strip_prefix("/dev/mapper/")?;
        let disks = root.list("/sys/block");
        let dm = disks.iter().filter(|d| d.starts_with("dm-"));
        let dm = dm.into_iter().find(|d| root.text(&format!("/sys/block/{d}/dm/name")).as_deref() == Some(mapped))?;
        device_number(root, dm)
    })
}

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

/// The choice in brackets: `[none] mq-deadline`; a list without brackets (`none`) is its own choice.
pub(crate) fn bracketed(text: &str) -> Option<String> {
    let chosen = text.split_ascii_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    chosen.or_else(|| text.split_ascii_whitespace().next()).map(str::to_owned)
}

impl Walk<'_> {
    /// Lists a block device and follows it down.
    pub(super) fn device(&mut self, device: DeviceId, depth: u32) {
        if let Some(directory) = device_directory(self.root, device) {
            self.device_in(&directory, device, depth);
        } else {
            self.missing(format!(
                "/sys/dev/block/{device} is not there; is /sys mounted and the device still attached?"
            ));
        }
    }

    /// The same, for a device whose directory is known.
    fn device_in(&mut self, directory: &str, device: DeviceId, depth: u32) {
        if self.too_deep(depth) || !self.seen_devices.insert(device) {
            return;
        }
        let kind = kind_of(self.root, directory);
        let mut layer = Layer::new(kind, file_name(directory));
        layer.device = Some(device);
        layer.counted = self.is_counted(directory, kind);
        let sectors: Option<u64> = self.root.number(&format!("{directory}/size"));
        layer.set(facts::SIZE_BYTES, sectors.and_then(|s| s.checked_mul(SECTOR_BYTES)));
        layer.set(facts::READ_ONLY, self.root.flag(&format!("{directory}/ro")));
        super::cgroup::set_limits(self.root, &self.mounts, device, &mut layer);
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

    /// `queue/*` and `mq/*`.
    fn queue(&self, layer: &mut Layer, directory: &str) {
        let root = self.root;
        let queue = |file: &str| format!("{directory}/queue/{file}");
        let schedulers = root.text(&queue("scheduler"));
        layer.set(facts::SCHEDULER, schedulers.as_deref().and_then(bracketed));
        let available = schedulers.as_deref().map(|s| {
            let names = s.split_ascii_whitespace().map(|w| w.trim_matches(['[', ']']).to_owned());
            names.collect::<Vec<String>>()
        });
        layer.set(facts::SCHEDULERS_AVAILABLE, available);
        for (fact, file) in [
            (facts::NR_REQUESTS, "nr_requests"),
            (facts::READ_AHEAD_KB, "read_ahead_kb"),
            (facts::MAX_SECTORS_KB, "max_sectors_kb"),
            (facts::MAX_HW_SECTORS_KB, "max_hw_sectors_kb"),
            (facts::MAX_SEGMENTS, "max_segments"),
            (facts::MAX_SEGMENT_SIZE_BYTES, "max_segment_size"),
            (facts::VIRT_BOUNDARY_MASK, "virt_boundary_mask"),
            (facts::NOMERGES, "nomerges"),
            (facts::RQ_AFFINITY, "rq_affinity"),
            (facts::WBT_LAT_USEC, "wbt_lat_usec"),
            (facts::LOGICAL_BLOCK_SIZE_BYTES, "logical_block_size"),
            (facts::PHYSICAL_BLOCK_SIZE_BYTES, "physical_block_size"),
            (facts::MINIMUM_IO_SIZE_BYTES, "minimum_io_size"),
            (facts::OPTIMAL_IO_SIZE_BYTES, "optimal_io_size"),
            (facts::DISCARD_GRANULARITY_BYTES, "discard_granularity"),
        ] {
            layer.set(fact, root.number::<u64>(&queue(file)));
        }
        layer.set(facts::IO_POLL, root.flag(&queue("io_poll")));
        layer.set(facts::FUA, root.flag(&queue("fua")));
        layer.set(facts::ROTATIONAL, root.flag(&queue("rotational")));
        layer.set(facts::WRITE_CACHE, root.text(&queue("write_cache")));
        layer.set(facts::ZONED, root.text(&queue("zoned")));
        let alignment: Option<u64> = root.number(&queue("dma_alignment"));
        layer.set(facts::DMA_ALIGNMENT_BYTES, alignment.and_then(|mask| mask.checked_add(1)));

        let mut hardware = root.list(&format!("{directory}/mq"));
        hardware.retain(|q| q.bytes().all(|b| b.is_ascii_digit()));
        hardware.sort_by(|a, b| natural(a, b));
        layer.set(facts::HARDWARE_QUEUES, Some(hardware.len() as u64).filter(|n| *n > 0));
        layer.set(facts::QUEUE_TAGS, root.number::<u64>(&format!("{directory}/mq/0/nr_tags")));
        let cpus: Vec<String> =
            hardware.iter().take(1_024).filter_map(|q| root.text(&format!("{directory}/mq/{q}/cpu_list"))).collect();
        layer.set(facts::QUEUE_CPUS, if cpus.is_empty() { Fact::Null } else { cpus.into() });
        let in_flight = root.text(&format!("{directory}/inflight")).unwrap_or_default();
        let mut in_flight = in_flight.split_ascii_whitespace().map(|n| n.parse::<u64>().ok());
        layer.set(facts::IN_FLIGHT_READS, in_flight.next().flatten());
        layer.set(facts::IN_FLIGHT_WRITES, in_flight.next().flatten());
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
        if let Some(device) = root.text(&format!("{disk}/dev")).as_deref().and_then(parse_device) {
            self.device(device, depth + 1);
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
            let directory = self.root.canonical(&format!("/sys/class/block/{member}"));
            match directory.zip(device_number(self.root, member)) {
                Some((directory, device)) => self.device_in(&directory, device, depth),
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
        self.push(layer, depth);
        // Pages may be written back to a device.
        let backing = root.text(&format!("{directory}/backing_dev")).filter(|b| b.starts_with('/'));
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
