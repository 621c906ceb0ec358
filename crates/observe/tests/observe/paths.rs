//! The storage path of captured machines. Each picture is a snapshot; what matters most is asserted beside it.

use crate::tree::{Tree, picture};
use model::{DeviceId, LayerKind, Stack};
use observe::{Locator, backing_files, counted_disks, device_use, facts, inventory};

fn kinds(stack: &Stack) -> Vec<LayerKind> {
    stack.layers.iter().map(|l| l.kind).collect()
}

macro_rules! tree {
    ($name:literal) => {
        Tree::build(include_str!(concat!("../trees/", $name, ".tree")))
    };
}

#[test]
fn virtio_has_no_link_and_no_ceiling() {
    let tree = tree!("virtio");
    let seen = tree.at("/var/lib/x");
    use LayerKind::*;
    assert_eq!(kinds(&seen.stack), [Filesystem, Disk, Controller, Host]);
    assert!(seen.stack.lowest_ceiling().is_none(), "the link files of a virtual machine are fiction");
    assert_eq!(seen.stack.layers[1].int(facts::QUEUE_DEPTH), Some(128));
    assert_eq!(seen.stack.layers[1].text(facts::SERIAL), Some("disk-0001"));
    insta::assert_snapshot!(picture(&seen));
}

#[test]
fn memory_and_network_have_no_block_device() {
    let tree = tree!("virtio");
    let memory = tree.at("/dev/shm/x");
    assert_eq!(kinds(&memory.stack), [LayerKind::Filesystem, LayerKind::Host]);
    assert_eq!(memory.stack.layers[0].text(facts::BACKING), Some("memory"));
    assert!(memory.stack.lowest_counted().is_empty());
    assert!(memory.missing.is_empty());
    let network = tree.at("/srv/x");
    assert_eq!(network.stack.layers[0].text(facts::BACKING), Some("network"));
    assert_eq!(network.missing, ["10.0.0.1:/srv lies on another machine; run narrows there"]);
}

#[test]
fn the_options_of_an_nfs_mount_are_facts() {
    let tree = tree!("virtio");
    let options = "rw,vers=4.2,rsize=131072,wsize=4096,soft,proto=tcp,nconnect=4,timeo=600,actimeo=0";
    let mountinfo = format!("40 27 0:40 / /srv rw - nfs4 10.0.0.1:/srv {options}\n");
    std::fs::write(tree.host("/proc/self/mountinfo"), mountinfo).unwrap();
    let write = |path: &str, text: &str| {
        let path = tree.host(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("/sys/class/bdi/0:40/read_ahead_kb", "128\n");
    write("/sys/module/nfs/parameters/max_session_slots", "64\n");
    let seen = tree.at("/srv/x");
    let fs = &seen.stack.layers[0];
    assert_eq!((fs.text(facts::NFS_VERSION), fs.text(facts::NFS_TRANSPORT)), (Some("4.2"), Some("tcp")));
    assert_eq!((fs.int(facts::NFS_READ_BYTES), fs.int(facts::NFS_WRITE_BYTES)), (Some(131_072), Some(4096)));
    assert_eq!((fs.int(facts::NFS_CONNECTIONS), fs.int(facts::NFS_SLOTS)), (Some(4), Some(64)));
    assert_eq!((fs.bool(facts::SOFT_MOUNT), fs.bool(facts::ATTRIBUTES_CACHED)), (Some(true), Some(false)));
    assert_eq!(fs.int(facts::BDI_READ_AHEAD_KB), Some(128));
    assert_eq!(observe::PathSource::of(&seen.stack), Some(observe::PathSource::Nfs { mount_point: "/srv".into() }));
}

#[test]
fn sd_card_of_a_raspberry_pi() {
    let tree = tree!("raspberry-pi-sd");
    let seen = tree.at("/home");
    use LayerKind::*;
    assert_eq!(kinds(&seen.stack), [Filesystem, Partition, Disk, Link, Controller, Host]);
    let card = seen.stack.first(Disk).unwrap();
    // Golden values, from the registers by hand.
    assert_eq!(card.int(facts::SPEED_CLASS), Some(10));
    assert_eq!(card.int(facts::UHS_GRADE), Some(3));
    assert_eq!(card.int(facts::VIDEO_CLASS), Some(30));
    assert_eq!(card.int(facts::APP_PERFORMANCE_CLASS), Some(2));
    assert_eq!(card.int(facts::ALLOCATION_UNIT_BYTES), Some(4 << 20));
    assert_eq!(card.int(facts::UHS_ALLOCATION_UNIT_BYTES), Some(8 << 20));
    assert_eq!(card.int(facts::SD_CARD_QUEUE_DEPTH), Some(32));
    assert_eq!(card.int(facts::QUEUE_DEPTH), Some(1), "64 tags are what the kernel uses without a command queue");
    assert_eq!(card.text(facts::SD_SPEC), Some("6.XX"));
    assert_eq!(card.text(facts::MANUFACTURED), Some("2019-07"));
    assert!(card.facts[facts::CMDQ_EN].is_null(), "SD cards have no such file");
    let link = seen.stack.first(Link).unwrap();
    assert_eq!(link.ceiling_bytes_per_s, Some(50_000_000));
    assert_eq!(seen.stack.layers.last().unwrap().int(facts::RASPBERRY_PI_THROTTLED), Some(0x50005));
    assert_eq!(seen.stack.lowest_counted()[0].name, "mmcblk0");
    insta::assert_snapshot!(picture(&seen));
}

#[test]
fn without_debugfs_the_bus_is_unknown_and_said_to_be() {
    let tree = tree!("raspberry-pi-sd");
    std::fs::remove_dir_all(tree.host("/sys/kernel/debug")).unwrap();
    let seen = tree.at("/home");
    let link = seen.stack.first(LayerKind::Link).unwrap();
    assert_eq!(link.ceiling_bytes_per_s, None);
    assert!(link.facts[facts::CLOCK_HZ].is_null());
    assert!(seen.missing[0].starts_with("run as root with debugfs mounted"), "{:?}", seen.missing);
}

#[test]
fn emmc_by_the_actual_clock() {
    let seen = tree!("emmc").at("/data");
    let card = seen.stack.first(LayerKind::Disk).unwrap();
    assert_eq!(card.bool(facts::CMDQ_EN), Some(false));
    assert_eq!(card.int(facts::QUEUE_DEPTH), Some(1));
    assert_eq!(card.text(facts::MANUFACTURED), Some("2016-06"), "year code 3 in its second round");
    // 150 MHz x 8 lines x both edges.
    assert_eq!(seen.stack.lowest_ceiling().unwrap().ceiling_bytes_per_s, Some(300_000_000));
    insta::assert_snapshot!(picture(&seen));
}

#[test]
fn sata_link_that_was_slowed_down() {
    let tree = tree!("ahci-ssd");
    let seen = tree.at("/home/data");
    use LayerKind::*;
    assert_eq!(kinds(&seen.stack), [Filesystem, Partition, Disk, Link, Controller, Host]);
    let link = seen.stack.first(Link).unwrap();
    assert_eq!(link.ceiling_bytes_per_s, Some(300_000_000));
    assert!(matches!(link.facts[facts::SATA_SPEED_LIMIT_GBIT_S], model::Fact::Float(v) if v == 3.0));
    assert_eq!(seen.stack.first(Disk).unwrap().bool(facts::NCQ), Some(true));
    assert_eq!(seen.stack.first(Partition).unwrap().bool(facts::ALIGNED), Some(false));
    assert_eq!(seen.stack.first(Controller).unwrap().bool(facts::AHCI_64BIT_DMA), Some(true));
    insta::assert_snapshot!(picture(&seen));
}

#[test]
fn a_bind_mount_leads_to_the_same_disk() {
    let seen = tree!("ahci-ssd").at("/mnt/data/file");
    let mount = seen.stack.mount.as_ref().unwrap();
    assert_eq!((mount.mount_point.as_str(), mount.read_only), ("/mnt/data", true));
    assert_eq!(seen.stack.layers[0].text(facts::MOUNT_ROOT), Some("/home/data"));
    assert_eq!(counted_disks(&seen.stack), ["sda1", "sda"]);
}

#[test]
fn nvme_behind_a_narrow_port() {
    let tree = tree!("nvme-narrow");
    let seen = tree.at("/home/me");
    let link = seen.stack.first(LayerKind::Link).unwrap();
    assert_eq!(link.ceiling_bytes_per_s, Some(250_000_000));
    assert_eq!(link.int(facts::PCIE_WIDTH), Some(1));
    assert_eq!(link.int(facts::PCIE_MAX_WIDTH), Some(4));
    assert_eq!(link.int(facts::PCIE_PORT_MAX_WIDTH), Some(4));
    let fs = &seen.stack.layers[0];
    assert_eq!(fs.bool(facts::CHECKSUMS), Some(true));
    assert_eq!(fs.text(facts::COMPRESSION), Some("zstd:3"));
    let names: Vec<&str> = seen.stack.layers.iter().filter(|l| l.device.is_some()).map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["loop0", "nvme0n1p1", "nvme0n1"], "both members of the file system");
    assert!(backing_files(&seen.stack).is_empty(), "a deleted file has no name to open");
    insta::assert_snapshot!(picture(&seen));
}

#[test]
fn volumes_on_raid_list_both_branches() {
    let tree = tree!("lvm-on-raid");
    let seen = tree.at("/srv");
    use LayerKind::*;
    assert_eq!(kinds(&seen.stack), [Filesystem, Dm, Md, Disk, Link, Controller, Disk, Link, Controller, Host]);
    let lowest: Vec<&str> = seen.stack.lowest_counted().iter().map(|l| l.name.as_str()).collect();
    assert_eq!(lowest, ["sda", "sdb"]);
    assert_eq!(seen.stack.first(Dm).unwrap().text(facts::DM_TYPE), Some("lvm"));
    let ncq: Vec<Option<bool>> = seen.stack.all(Disk).map(|d| d.bool(facts::NCQ)).collect();
    assert_eq!(ncq, [Some(true), Some(false)]);
    insta::assert_snapshot!(picture(&seen));
}

#[test]
fn usb_bulk_only_below_a_loop_device_below_an_overlay() {
    let tree = tree!("usb-bulk-only");
    let disk = tree.at("/media/usb disk/x");
    use LayerKind::*;
    assert_eq!(kinds(&disk.stack), [Filesystem, Disk, Link, Controller, Host]);
    assert_eq!(disk.stack.layers[0].bool(facts::BARRIERS), Some(false));
    assert_eq!(disk.stack.layers[0].text(facts::JOURNAL_MODE), Some("writeback"));
    let usb = disk.stack.first(Disk).unwrap();
    assert_eq!(usb.int(facts::QUEUE_DEPTH), Some(1), "bulk only has one command under way");
    assert_eq!(usb.text(facts::SERIAL), Some("DB9876543214E"));
    assert!(!usb.counted, "iostats is off");
    insta::assert_snapshot!(picture(&disk));

    let image = tree.at("/media/image/x");
    assert_eq!(kinds(&image.stack), [Filesystem, Loop, Filesystem, Disk, Link, Controller, Host]);
    assert_eq!(backing_files(&image.stack), ["/media/usb disk/image.ext4"]);
    assert_eq!(image.stack.first(Loop).unwrap().bool(facts::DIO), Some(false));

    let merged = tree.at("/merged/x");
    assert_eq!(kinds(&merged.stack), [Filesystem, Filesystem, Loop, Filesystem, Disk, Link, Controller, Host]);
    assert_eq!(
        merged.stack.layers[0].facts[facts::LOWER_DIRECTORIES],
        vec!["/media/usb disk/a".to_owned(), "/media/usb disk/b".to_owned()].into()
    );
}

#[test]
fn a_device_by_number_or_name_without_a_mount() {
    let tree = tree!("ahci-ssd");
    let by_name = tree.device("sda");
    assert_eq!(by_name.stack.mount, None);
    let by_number = inventory(&tree.root(), &Locator::Device(DeviceId { major: 8, minor: 0 }));
    assert_eq!(by_name, by_number);
    let gone = tree.device("sdz");
    assert_eq!(kinds(&gone.stack), [LayerKind::Host]);
    assert_eq!(gone.missing, ["/sys/class/block/sdz/dev is not there; is /sys mounted?"]);
}

/// What the uses of a device are, in sentences.
fn uses(tree: &Tree, major: u32, minor: u32) -> Vec<String> {
    let used = device_use(&tree.root(), DeviceId { major, minor }).unwrap();
    used.uses.uses.iter().map(ToString::to_string).collect()
}

#[test]
fn who_uses_a_device() {
    let tree = tree!("ahci-ssd");
    let page = b"\x00\x80\x00\x10S3YZNB0K123456  ";
    let disk = "/sys/devices/pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0";
    tree.file(&format!("{disk}/vpd_pg80"), page);
    let used = device_use(&tree.root(), DeviceId { major: 8, minor: 0 }).unwrap();
    assert_eq!(used.identity.text, "S3YZNB0K123456");
    assert_eq!(used.partitions, ["sda1"]);
    let on_partition = [
        "sda1 is mounted on /",
        "sda1 is mounted on /mnt/data",
        "sda1 is swap space",
        "the root file system is on sda",
    ];
    assert_eq!(uses(&tree, 8, 0), on_partition);

    let table = tree.root().text("/proc/self/mountinfo").unwrap();
    tree.file("/proc/self/mountinfo", (table.replace("8:1", "8:0").replace("sda1", "sda") + "\n").as_bytes());
    let partition = uses(&tree, 8, 1);
    assert_eq!(
        partition[..2],
        ["sda is mounted on /", "sda is mounted on /mnt/data"],
        "the whole disk, so its partition"
    );

    let raid = tree!("lvm-on-raid");
    raid.file("/sys/fs/xfs/sdb/stats/stats", b"0\n");
    let elsewhere = uses(&raid, 8, 16);
    assert!(elsewhere.contains(&"a mount of xfs that is not seen, on sdb holds it".to_owned()), "{elsewhere:?}");
    let member = uses(&raid, 8, 0);
    assert!(member.contains(&"md0 on sda holds it".to_owned()), "{member:?}");
    assert!(member.contains(&"dm-0 on md0 on sda is mounted on /srv".to_owned()), "{member:?}");
    let volume = uses(&raid, 253, 0);
    assert!(volume.contains(&"dm-0 is mounted on /srv".to_owned()), "{volume:?}");

    let btrfs = tree!("nvme-narrow");
    let whole = uses(&btrfs, 259, 0);
    assert!(whole.contains(&"btrfs on nvme0n1p1 holds it".to_owned()), "{whole:?}");
    let second = uses(&btrfs, 7, 0);
    assert!(second.contains(&"btrfs on loop0 holds it".to_owned()), "a member that no mount names: {second:?}");
    assert!(device_use(&btrfs.root(), DeviceId { major: 1, minor: 1 }).is_none());
}

#[test]
fn every_fact_that_is_set_is_in_the_table() {
    let trees = [
        tree!("virtio").at("/"),
        tree!("raspberry-pi-sd").at("/"),
        tree!("emmc").at("/data"),
        tree!("ahci-ssd").at("/"),
        tree!("nvme-narrow").at("/home"),
        tree!("lvm-on-raid").at("/srv"),
        tree!("usb-bulk-only").at("/merged"),
    ];
    for name in trees.iter().flat_map(|t| &t.stack.layers).flat_map(|l| l.facts.keys()) {
        assert!(facts::ALL.iter().any(|f| f.name == name), "{name} is set but not in facts::ALL");
    }
}

/// A disk below control groups: what they let this process do with it, bytes read and writes per second.
fn limits_of(groups: &str) -> (Option<i64>, Option<i64>) {
    let disk = "/sys/devices/pci0000:00/block/sda";
    let tree = Tree::build(&format!(
        "{disk}/dev = 8:0\n/sys/class/block/sda => {disk}\n/sys/block/sda => {disk}\n/sys/dev/block/8:0 => {disk}\n{groups}"
    ));
    let seen = tree.device("sda");
    let disk = seen.stack.first(LayerKind::Disk).unwrap();
    (disk.int("cgroup_read_bytes_per_s"), disk.int("cgroup_write_iops"))
}

#[test]
fn limits_of_control_groups_add_up_in_version_2_and_not_in_version_1() {
    let unified = "@ /proc/self\nmountinfo = 30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\ncgroup = 0::/a/b\n\
                   @ /sys/fs/cgroup/a\nio.max = 8:0 rbps=7000000 wbps=max riops=max wiops=max\n\
                   b/io.max = 8:16 rbps=1 wbps=1 riops=1 wiops=1\\n8:0 rbps=9000000 wbps=max riops=max wiops=120\n";
    assert_eq!(limits_of(unified), (Some(7_000_000), Some(120)));
    // Throttling of version 1 knows no hierarchy: the group's own limits alone hold.
    let own = "@ /proc/self\nmountinfo = 30 1 0:26 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n\
               cgroup = 7:cpu:/\\n4:blkio:/a/b\n@ /sys/fs/cgroup/blkio/a\nblkio.throttle.read_bps_device = 8:0 7000000\n\
               blkio.throttle.write_iops_device = 8:0 50\nb/blkio.throttle.read_bps_device = 8:0 9000000\n";
    assert_eq!(limits_of(own), (Some(9_000_000), None));
    // In a container the mount shows the group itself.
    let container = "@ /proc/self\nmountinfo = 30 1 0:26 /docker/x /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n\
                     cgroup = 4:blkio:/docker/x\n@ /sys/fs/cgroup/blkio\nblkio.throttle.read_bps_device = 8:0 5000000\n";
    assert_eq!(limits_of(container), (Some(5_000_000), None));
}

#[test]
fn what_a_mapping_is_follows_from_who_made_its_uuid() {
    for (uuid, kind) in [
        ("LVM-0123456789", "lvm"),
        ("CRYPT-LUKS2-0123456789-home", "crypt-luks2"),
        ("CRYPT-BITLK-0123456789-disk", "crypt-other"),
        ("CRYPT-INTEGRITY-data", "integrity"),
        ("CRYPT-SUBDEV-0123456789-home_dif", "integrity"),
        ("CRYPT-SUBDEV-0123456789-home-hotzone-forward", "unknown"),
        ("part1-mpath-0123456789", "partition"),
        ("somebody-else", "unknown"),
    ] {
        let dm = "/sys/devices/virtual/block/dm-0";
        let tree = Tree::build(&format!("{dm}/dev = 253:0\n{dm}/dm/uuid = {uuid}\n/sys/class/block/dm-0 => {dm}\n"));
        let seen = tree.device("dm-0");
        assert_eq!(seen.stack.first(LayerKind::Dm).unwrap().text("dm_type"), Some(kind), "{uuid}");
    }
}
