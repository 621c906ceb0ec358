//! Storage that is no device of this machine: a server, a host's directory, the process of a file system, a pool. It is never called the device.

use crate::stack_view;
use model::facts as names;
use model::{LayerKind, LimitLayer, Stack};

/// What is left where nothing else was seen.
pub const THE_DEVICE: &str = "the device";

/// What is there in its place.
#[derive(Clone, Copy, Debug)]
pub struct Elsewhere {
    pub layer: LimitLayer,
    pub words: &'static str,
    /// A disk of this machine is known below it, whose own limits are seen all the same.
    pub has_disk: bool,
}

/// Of a path.
pub fn of(stack: &Stack) -> Option<Elsewhere> {
    let disks = stack_view::disks(stack);
    let it = |layer, words, has_disk| Some(Elsewhere { layer, words, has_disk });
    let filesystem = stack.first(LayerKind::Filesystem);
    // ntfs-3g and the like name their block device; each request goes through their process all the same.
    if !disks.is_empty() && filesystem.and_then(|fs| fs.text(names::FSTYPE)).is_some_and(|t| t.starts_with("fuse")) {
        return it(LimitLayer::Filesystem, "the file system's process, or what is below it", true);
    }
    if let Some(path) = disks.first() {
        let is = |prefix: &str| {
            let rest = path.disk.name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        // Block devices that the kernel makes of something else (z:module/os/linux/zfs/zvol_os.c, k:drivers/block/rbd.c, nbd.c).
        return if is("zd") {
            it(LimitLayer::Filesystem, "the pool of the ZFS volume", false)
        } else if is("rbd") {
            it(LimitLayer::Link, "the ceph cluster, or the network to it", false)
        } else if is("nbd") {
            it(LimitLayer::Link, "the server of the block device, or the network to it", false)
        } else {
            None
        };
    }
    match filesystem?.text(names::BACKING)? {
        "network" => it(LimitLayer::Link, "the server, or the network to it", false),
        "host-directory" => it(LimitLayer::Link, "the host's directory, or the way to it", false),
        "fuse" => it(LimitLayer::Filesystem, "the file system's process, or what is behind it", false),
        "zfs-pool" => it(LimitLayer::Filesystem, "the ZFS pool", false),
        "overlay" => it(LimitLayer::Filesystem, "what is below the overlay", false),
        _ => None,
    }
}
