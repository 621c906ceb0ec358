//! The storage path below a target, from the file system down to the controller.

use crate::{Fact, Layer, LayerKind, Layers};
use serde::{Deserialize, Serialize};

/// A mount, as /proc/self/mountinfo tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// `ext4`, `tmpfs`, `fuse.sshfs`.
    pub fstype: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// What is mounted: `/dev/sda1`, `tmpfs`.
    pub source: String,
    /// Per-mount and per-superblock options, in order, without repeats.
    pub options: Vec<String>,
    /// Whether writes are refused.
    pub read_only: bool,
}

/// The whole path, top to bottom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// The mount that the target lies on; `None` for devices and `null:`.
    pub mount: Option<Mount>,
    /// From the file system (or the device) down to controller and host.
    pub layers: Layers,
}

impl Stack {
    /// Whether its file system is mounted so that no flush reaches the device.
    pub fn keeps_flushes(&self) -> bool {
        self.first(LayerKind::Filesystem).and_then(|fs| fs.bool(crate::facts::BARRIERS)) == Some(false)
    }

    /// The type of the file system that the target lies on.
    pub fn fstype(&self) -> Option<&str> {
        self.mount.as_ref().map(|m| m.fstype.as_str())
    }

    /// The first layer of a kind from the top.
    pub fn first(&self, kind: LayerKind) -> Option<&Layer> {
        self.layers.iter().find(|l| l.kind == kind)
    }

    pub fn all(&self, kind: LayerKind) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(move |l| l.kind == kind)
    }

    /// The device that the target stands on: a loop device, not the disk below it.
    pub fn device_layer(&self) -> Option<&Layer> {
        self.layers.iter().find(|l| matches!(l.kind, LayerKind::Loop | LayerKind::Disk))
    }

    /// Size of the device that the target stands on: of a loop device its own, not that of the disk below.
    pub fn device_bytes(&self) -> Option<u64> {
        let device = self.device_layer();
        device?.int("size_bytes").and_then(|b| u64::try_from(b).ok()).filter(|b| *b > 0)
    }

    /// Size of what wears below the target: the smallest disk below a loop device, where that is known, else the device itself.
    pub fn worn_bytes(&self) -> Option<u64> {
        let size = |l: &Layer| l.int("size_bytes").and_then(|b| u64::try_from(b).ok()).filter(|b| *b > 0);
        let of_loop = self.device_layer().is_some_and(|l| l.kind == LayerKind::Loop);
        let below = self.lowest_counted().into_iter().filter(|l| of_loop && l.kind == LayerKind::Disk).map(size);
        below.min().flatten().or_else(|| self.device_bytes())
    }

    /// The lowest layer that counts its traffic in /proc/diskstats: where a cold read must show.
    /// Whole disks are preferred to partitions; with several disks below (RAID) all of the lowest kind count. One that
    /// stands on another of them (bcache on its disk, LVM on LUKS) does not: the same bytes would count twice.
    pub fn lowest_counted(&self) -> Vec<&Layer> {
        let counted = || self.layers.iter().filter(|l| l.counted && l.device.is_some());
        let lowest = counted().map(|l| l.kind).max();
        let candidates: Vec<&Layer> = counted().filter(|l| Some(l.kind) == lowest).collect();
        // A partition counts exactly where its disk does, which is then among the candidates.
        let below = |name: &String| {
            counted().any(|l| &l.name == name && (Some(l.kind) == lowest || l.kind == LayerKind::Partition))
        };
        let stands_on_another = |l: &&Layer| match l.fact("members") {
            Some(Fact::List(members)) => members.iter().any(below),
            _ => false,
        };
        let bottom: Vec<&Layer> = candidates.iter().copied().filter(|l| !stands_on_another(l)).collect();
        if bottom.is_empty() { candidates } else { bottom }
    }

    /// The largest request, bytes, that the disks take of memory in pages of this size, where that is less than what they take
    /// of contiguous memory: a page is a segment, and a request has at most `max_segments` of them (k:block/blk-merge.c).
    pub fn page_request_bytes(&self, page_bytes: u64) -> Option<u64> {
        let limit = |layer: &&Layer, name| layer.int(name).and_then(|n| u64::try_from(n).ok());
        let by_pages = |layer: &&Layer| {
            let in_pages = limit(layer, "max_segments")?.checked_mul(page_bytes)?;
            (in_pages < limit(layer, "max_sectors_kb")?.saturating_mul(1024)).then_some(in_pages)
        };
        self.lowest_counted().iter().filter_map(by_pages).min()
    }

    /// The layer with the lowest known ceiling.
    pub fn lowest_ceiling(&self) -> Option<&Layer> {
        self.layers
            .iter()
            .filter(|l| l.ceiling_bytes_per_s.is_some())
            .min_by_key(|l| l.ceiling_bytes_per_s.unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceId;

    #[test]
    fn a_request_of_pages_is_limited_where_segments_are_few() {
        let stack = |segments: i64, kib: i64| {
            let mut disk = layer(LayerKind::Disk, "vda", 0, &[]);
            disk.set("max_segments", segments as u64);
            disk.set("max_sectors_kb", kib as u64);
            Stack { mount: None, layers: vec![disk].into() }
        };
        assert_eq!(stack(254, 4096).page_request_bytes(4096), Some(1_040_384));
        assert_eq!(stack(254, 4096).page_request_bytes(65_536), None);
        assert_eq!(stack(168, 512).page_request_bytes(4096), None);
        assert_eq!(stack(1, 512).page_request_bytes(4096), Some(4096));
        assert_eq!(Stack { mount: None, layers: Layers::default() }.page_request_bytes(4096), None);
    }

    fn layer(kind: LayerKind, name: &str, minor: u32, members: &[&str]) -> Layer {
        let mut layer = Layer::new(kind, name);
        layer.device = Some(DeviceId { major: 8, minor });
        layer.counted = true;
        if !members.is_empty() {
            layer.set("members", members.iter().map(|m| (*m).to_owned()).collect::<Vec<_>>());
        }
        layer
    }

    fn lowest(layers: Vec<Layer>) -> Vec<String> {
        let stack = Stack { mount: None, layers: layers.into() };
        stack.lowest_counted().iter().map(|l| l.name.clone()).collect()
    }

    #[test]
    fn bytes_count_once_where_a_disk_stands_on_disks() {
        use LayerKind::{Disk, Dm, Md, Partition};
        let on_disk = [layer(Disk, "bcache0", 1, &["sda"]), layer(Disk, "sda", 2, &[])];
        assert_eq!(lowest(on_disk.to_vec()), ["sda"]);
        let on_partition =
            [layer(Disk, "bcache0", 1, &["sda1"]), layer(Partition, "sda1", 3, &[]), layer(Disk, "sda", 2, &[])];
        assert_eq!(lowest(on_partition.to_vec()), ["sda"]);
        // LVM on LUKS on a disk that does not count.
        let mut silent = layer(Disk, "sda", 2, &[]);
        silent.counted = false;
        assert_eq!(lowest(vec![layer(Dm, "dm-1", 1, &["dm-0"]), layer(Dm, "dm-0", 3, &["sda"]), silent]), ["dm-0"]);
        // A mirror: both disks.
        let mirror = [layer(Md, "md0", 1, &["sda", "sdb"]), layer(Disk, "sda", 2, &[]), layer(Disk, "sdb", 3, &[])];
        assert_eq!(lowest(mirror.to_vec()), ["sda", "sdb"]);
        // A disk on members that are not known counts itself.
        assert_eq!(lowest(vec![layer(Disk, "drbd0", 1, &["sdz"])]), ["drbd0"]);
    }
}
