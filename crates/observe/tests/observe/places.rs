//! Names of targets inside a captured tree.

use crate::tree::Tree;
use model::LayerKind;
use observe::{Locator, TargetNameError, inventory, locate, locate_root};

fn name(tree: &Tree, target: &str) -> String {
    match locate(&tree.root(), target) {
        Ok(Locator::DeviceName(name)) => name,
        other => panic!("{target}: {other:?}"),
    }
}

#[test]
fn devices_by_all_their_names() {
    let tree = Tree::of("nvme-pc");
    tree.link("/dev/disk/by-id/nvme-Samsung", "/dev/nvme0n1");
    for (target, expected) in [
        ("nvme0n1", "nvme0n1"),
        ("/dev/nvme0n1p2", "nvme0n1p2"),
        ("/dev/nvme0", "nvme0n1"),
        ("nvme0", "nvme0n1"),
        ("/dev/disk/by-id/nvme-Samsung", "nvme0n1"),
    ] {
        // A link to a node that the capture has not is followed by name all the same.
        if target.contains("by-id") {
            tree.file("/dev/nvme0n1", b"");
        }
        assert_eq!(name(&tree, target), expected, "{target}");
    }
    let stacked = Tree::of("crypt-raid-loop");
    assert_eq!(name(&stacked, "/dev/mapper/vg-data"), "dm-1");
    let flash = Tree::of("nor-flash");
    assert_eq!(name(&flash, "/dev/mtd1ro"), "mtd1");
    assert_eq!(name(&flash, "mtd1"), "mtd1");
}

#[test]
fn what_is_not_there_is_said_with_what_there_is() {
    let tree = Tree::of("nvme-pc");
    let error = locate(&tree.root(), "sda").unwrap_err();
    assert_eq!(error.to_string(), "there is no device sda under /sys; there are: nvme0n1");
    assert!(matches!(locate(&tree.root(), "/dev/sda"), Err(TargetNameError::NoDevice { .. })));
    assert!(matches!(locate(&tree.root(), "some/where"), Err(TargetNameError::Neither { .. })));
    assert!(matches!(locate(&tree.root(), ".."), Err(TargetNameError::NoDevice { .. })));
    assert!(locate(&tree.root(), "").is_err());
    let empty = Tree::build("/sys/class/block /\n");
    assert!(matches!(locate(&empty.root(), "/srv"), Err(TargetNameError::NoMounts { .. })));
    assert_eq!(locate_root(&empty.root()), None);
}

#[test]
fn paths_are_taken_by_the_trees_own_mounts() {
    let tree = Tree::of("raspberry-pi-usb");
    for (path, device) in
        [("/", "mmcblk0"), ("/srv/", "sda"), ("/media/backup/../../srv/x", "sda"), ("/home/nobody", "mmcblk0")]
    {
        let seen = inventory(&tree.root(), &locate(&tree.root(), path).unwrap());
        assert_eq!(seen.stack.first(LayerKind::Disk).map(|d| d.name.as_str()), Some(device), "{path}");
    }
}

#[test]
fn a_tree_with_the_old_table_of_mounts() {
    let tree = Tree::build(
        "/sys/devices/virtual/block/sda/dev = 8:0\n/sys/class/block/sda => /sys/devices/virtual/block/sda\n\
         /sys/dev/block/8:0 => /sys/devices/virtual/block/sda\n\
         /proc/mounts = rootfs / rootfs rw 0 0\n",
    );
    tree.file("/proc/mounts", b"rootfs / rootfs rw 0 0\n/dev/sda / ext3 rw,sync 0 0\nproc /proc proc rw 0 0\nx y\n");
    let seen = inventory(&tree.root(), &locate_root(&tree.root()).unwrap());
    let kinds: Vec<LayerKind> = seen.stack.layers.iter().map(|l| l.kind).collect();
    assert_eq!(kinds, [LayerKind::Filesystem, LayerKind::Disk, LayerKind::Host]);
    assert_eq!(seen.stack.layers[0].bool("sync_mount"), Some(true));
}
