//! Trees that nobody should trust: links out of the tree, loops, garbage, huge files, thousands of devices.

use crate::tree::{Tree, picture};
use model::{DeviceId, Layer, LayerKind};
use observe::sd_card::{SD_CONFIGURATION, SD_STATUS};
use observe::{Locator, Root, Sampler, device_use, environment, inventory, mounts};
use proptest::prelude::*;
use std::fs::File;
use std::os::unix::fs::symlink;

const DISK: &str = "@ /sys/devices/virtual/block";

#[test]
fn a_link_out_of_the_tree_shows_nothing() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("model"), "secret\n").unwrap();
    let tree =
        Tree::build(&format!("{DISK}\nsda/dev = 8:0\n@ /\n/sys/class/block/sda => /sys/devices/virtual/block/sda\n"));
    symlink(outside.path(), tree.host("/sys/devices/virtual/block/sda/device")).unwrap();
    symlink(outside.path().join("model"), tree.host("/sys/devices/virtual/block/sda/serial")).unwrap();
    symlink("../../../../../../../../../../../../proc/self/environ", tree.host("/sys/devices/virtual/block/sda/size"))
        .unwrap();
    let seen = tree.device("sda");
    assert!(!picture(&seen).contains("secret"), "{}", picture(&seen));
    let disk = seen.stack.first(LayerKind::Disk).unwrap();
    assert!(disk.facts["size_bytes"].is_null());
}

#[test]
fn devices_that_stand_on_each_other_end() {
    let tree = Tree::build(&format!(
        "{DISK}\ndm-0/dev = 253:0\ndm-0/dm/name = a\ndm-0/slaves/dm-1 /\ndm-1/dev = 253:1\ndm-1/dm/name = b\ndm-1/slaves/dm-0 /\n\
         dm-1/slaves/dm-1 /\nloop0/dev = 7:0\nloop0/loop/backing_file = /dev/loop0\n@ /\n\
         /sys/class/block/dm-0 => /sys/devices/virtual/block/dm-0\n/sys/class/block/dm-1 => /sys/devices/virtual/block/dm-1\n\
         /sys/class/block/loop0 => /sys/devices/virtual/block/loop0\n"
    ));
    assert_eq!(tree.device("dm-0").stack.all(LayerKind::Dm).count(), 2);
    assert_eq!(tree.device("loop0").stack.all(LayerKind::Loop).count(), 1);
}

#[test]
fn a_loop_device_on_its_own_file_system_ends() {
    let tree = Tree::build(&format!(
        "{DISK}\nloop0/dev = 7:0\nloop0/loop/backing_file = /mnt/file\n@ /\n/sys/class/block/loop0 => /sys/devices/virtual/block/loop0\n\
         /proc/self/mountinfo = 1 0 7:0 / /mnt rw - ext4 /dev/loop0 rw\n"
    ));
    let seen = tree.at("/mnt");
    assert_eq!(seen.stack.layers.len(), 3);
    let overlay = Tree::build("/proc/self/mountinfo = 1 0 0:9 / / rw - overlay overlay rw,lowerdir=/a,upperdir=/b\n");
    let seen = overlay.at("/");
    assert!(seen.missing[0].contains("outside this container"), "{:?}", seen.missing);
    let relative = Tree::build(
        "/proc/self/mountinfo = 1 0 8:1 / / rw - ext4 /dev/sda1 rw\\n2 1 0:9 / /m rw - overlay o rw,lowerdir=a,upperdir=b\n",
    );
    let seen = relative.at("/m");
    assert_eq!(seen.stack.layers.len(), 2, "the root file system is not what a relative name means");
    assert!(seen.missing[0].contains("relative upper directory b"), "{:?}", seen.missing);
}

#[test]
fn deeper_than_any_machine() {
    let mut text = String::from(DISK);
    let mut links = String::from("\n@ /\n");
    for n in 0..200 {
        text += &format!("\ndm-{n}/dev = 253:{n}\ndm-{n}/dm/name = n\ndm-{n}/slaves/dm-{} /", n + 1);
        links += &format!("/sys/class/block/dm-{n} => /sys/devices/virtual/block/dm-{n}\n");
    }
    let seen = Tree::build(&(text + &links)).device("dm-0");
    assert_eq!(seen.stack.all(LayerKind::Dm).count(), 32);
    assert!(seen.missing.iter().any(|m| m.contains("32 layers deep")));
}

#[test]
fn a_thousand_disks() {
    let mut text = String::from(
        "@ /sys/devices/virtual/block\nmd0/dev = 9:0\nmd0/md/level = raid6\nmd0/stat = 1 2 3 4 5 6 7 8 9 10 11\n",
    );
    let mut links = String::from("\n@ /\n/sys/class/block/md0 => /sys/devices/virtual/block/md0\n");
    for n in 0..1_000 {
        text += &format!("sd{n}/dev = 8:{n}\nsd{n}/stat = 1 2 3 4 5 6 7 8 9 10 11\nmd0/slaves/sd{n} /\n");
        links += &format!("/sys/class/block/sd{n} => /sys/devices/virtual/block/sd{n}\n");
        links += &format!("/sys/block/sd{n} => /sys/devices/virtual/block/sd{n}\n");
    }
    let tree = Tree::build(&(text + &links));
    let seen = tree.device("md0");
    assert_eq!(seen.stack.lowest_counted().len(), 1_000);
    let all = observe::disks(&tree.root());
    assert_eq!((all.len(), all[999].name.as_str()), (1_000, "sd999"));
    let disks = observe::counted_disks(&seen.stack);
    assert_eq!(disks.len(), 1_001);
    let lines: String = (0..1_000).map(|n| format!("   8 {n} sd{n} 1 2 3 4 5 6 7 8 9 10 11\n")).collect();
    tree.file("/proc/diskstats", (lines + "   9 0 md0 1 2 3 4 5 6 7 8 9 10 11\n   7 0 loop0 1 2 3\n").as_bytes());
    let mut sampler = Sampler::new(&tree.root(), &disks);
    assert_eq!(sampler.sample(0).disks.len(), 1_001);
}

#[test]
fn garbage_numbers_and_huge_files() {
    let tree = Tree::build(&format!(
        "{DISK}\nsda/dev = 8:0\nsda/size = 18446744073709551615\nsda/ro = maybe\nsda/partition = x\nsda/start = -1\n\
         sda/alignment_offset = 99999999999999999999\nsda/inflight = a b\nsda/stat = x\n@ /\n\
         /sys/class/block/sda => /sys/devices/virtual/block/sda\n/proc/self/mountinfo = 1 1 8:0\n"
    ));
    let huge = |path: &str| {
        let host = tree.host(path);
        std::fs::create_dir_all(host.parent().unwrap()).unwrap();
        File::create(host).unwrap().set_len(1 << 40).unwrap();
    };
    for path in ["/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/swaps", "/sys/class/hwmon/hwmon0/name"] {
        huge(path);
    }
    let seen = tree.device("sda");
    let partition = seen.stack.first(LayerKind::Partition).unwrap();
    assert!(partition.facts["size_bytes"].is_null(), "a size beyond 64 bits is not a size");
    assert!(mounts(&tree.root()).is_empty());
    let machine = environment(&tree.root());
    assert_eq!(machine.memory_bytes, None);
    assert!(device_use(&tree.root(), DeviceId { major: 8, minor: 0 }).is_some());
    let mut sampler = Sampler::new(&tree.root(), &["sda".into(), "../../../etc/passwd".into(), "none".into()]);
    let sample = sampler.sample(0);
    assert!(sample.disks.is_empty() && sample.cpus.is_empty());
}

#[test]
fn an_empty_tree_and_no_tree() {
    let tree = tempfile::tempdir().unwrap();
    for root in [Root::new(tree.path()), Root::new(tree.path().join("none"))] {
        let place = Locator::Path {
            path: "/x".into(),
            device: Some(DeviceId { major: 8, minor: 1 }),
            mount_id: Some(7),
            block_size_bytes: Some(4096),
        };
        let seen = inventory(&root, &place);
        assert_eq!(seen.stack.layers.len(), 1, "the host");
        assert!(!seen.missing.is_empty());
        let machine = environment(&root);
        assert_eq!((machine.kernel, machine.clock_synchronised, machine.architecture), (None, None, None));
        assert!(machine.missing.iter().any(|m| m.contains("/sys is not mounted")));
        assert_eq!(Sampler::new(&root, &["sda".into()]).sample(0), model::SystemSample::default());
    }
}

/// A container, a copy by hand or an old kernel shows only one of the three places that name a disk.
#[test]
fn any_one_of_the_places_that_name_disks_will_do() {
    let device = "/sys/devices/pci0000:00/block/sda";
    for place in ["/sys/block", "/sys/class/block"] {
        let mut links = format!("{place}/sda => {device}\n");
        if place == "/sys/class/block" {
            links += &format!("{place}/sda1 => {device}/sda1\n");
        }
        let tree = Tree::build(&format!(
            "@ {device}\ndev = 8:0\nsize = 2048\nqueue/rotational = 1\nsda1/dev = 8:1\nsda1/partition = 1\n{links}"
        ));
        let root = tree.root();
        let names: Vec<String> = observe::disks(&root).into_iter().map(|d| d.name).collect();
        assert_eq!(names, ["sda"], "{place}");
        for (name, layers) in [("sda", 2), ("sda1", 3)] {
            let place_of = observe::locate(&root, name).unwrap_or_else(|e| panic!("{place} {name}: {e}"));
            let seen = inventory(&root, &place_of);
            assert_eq!(seen.stack.layers.len(), layers, "{place} {name}: {:?}", seen.missing);
            assert_eq!(seen.stack.layers[0].name, name);
        }
    }
}

#[test]
fn a_fifo_is_not_waited_for() {
    let tree = Tree::build("/sys/x = 1\n");
    let made = std::process::Command::new("mkfifo").arg(tree.host("/sys/fifo")).status();
    if !made.is_ok_and(|s| s.success()) {
        eprintln!("SKIPPED: no mkfifo on this machine");
        return;
    }
    assert_eq!(tree.root().text("/sys/fifo"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Half of a machine with random contents: whatever is seen, nothing panics and the host is there.
    #[test]
    fn random_contents_never_panic(
        values in proptest::collection::vec("[ -~\n]{0,40}", 24),
        mountinfo in "([0-9]{1,3} [0-9]{1,3} [0-9]{1,3}:[0-9]{1,3} / /[a-z]{0,3} (rw|ro),x - (ext4|btrfs|overlay|tmpfs|ubifs|zfs) [/a-z0-9:]{0,9} rw,(compress|upperdir=/b|data=)\n){0,4}",
    ) {
        let tree = Tree::build("/sys/devices/x/mmc0:1/block/a/dev = 8:0\n@ /\n/sys/class/block/a => /sys/devices/x/mmc0:1/block/a\n");
        let files = [
            "size", "ro", "stat", "inflight", "queue/scheduler", "queue/dma_alignment", "partition", "start", "md/level",
            "md/raid_disks", "loop/backing_file", "mq/0/nr_tags", "../../type", "../../cid", "../../ssr", "../../scr", "../../rev",
            "../../date", "device/vpd_pg80", "/proc/cpuinfo", "/proc/self/status", "/proc/self/limits", "/proc/swaps",
            "/sys/kernel/debug/mmc0/ios",
        ];
        for (file, value) in files.iter().zip(&values).skip(values[0].len() % 3) {
            let path = if file.starts_with('/') { (*file).to_owned() } else { format!("/sys/devices/x/mmc0:1/block/a/{file}") };
            tree.file(&path, value.as_bytes());
        }
        tree.file("/proc/self/mountinfo", mountinfo.as_bytes());
        for seen in [tree.device("a"), tree.at("/"), tree.at("/ab/c")] {
            prop_assert_eq!(seen.stack.layers.last().map(|l| l.kind), Some(LayerKind::Host));
        }
        let _ = (environment(&tree.root()), device_use(&tree.root(), DeviceId { major: 8, minor: 0 }));
        Sampler::new(&tree.root(), &["a".into()]).sample(0);
    }

    #[test]
    fn registers_never_panic(text in "[0-9a-fA-Fx\n]{0,140}", revision in any::<Option<u8>>()) {
        let _ = (observe::sd_card::sd_identity(&text), observe::sd_card::emmc_identity(&text, revision));
        let mut card = Layer::new(LayerKind::Disk, "mmcblk0");
        SD_STATUS.set_on(&mut card, Some(&text));
        SD_CONFIGURATION.set_on(&mut card, Some(&text));
    }

    #[test]
    fn registers_of_the_right_length_are_read(bytes in proptest::collection::vec(any::<u8>(), 64)) {
        let hex = |n: usize| bytes[..n].iter().map(|b| format!("{b:02x}")).collect::<String>();
        prop_assert!((SD_STATUS.read)(&hex(64)).is_some());
        prop_assert!((SD_CONFIGURATION.read)(&hex(8)).is_some());
        let identity = observe::sd_card::sd_identity(&hex(16)).unwrap();
        prop_assert_eq!(identity.manufacturer_id, bytes[0]);
        prop_assert_eq!(identity.serial, u32::from_be_bytes([bytes[9], bytes[10], bytes[11], bytes[12]]));
    }
}

#[test]
fn what_lies_deeper_than_any_machine_is_not_looked_for() {
    let deep = format!("/sys/devices{}/block/sda", "/d".repeat(300));
    let near = format!("/sys/devices{}/block/sdb", "/d".repeat(60));
    let tree = Tree::build(&format!(
        "{deep}/dev = 8:0\n/sys/block/sda => {deep}\n/sys/class/block/sda => {deep}\n\
         {near}/dev = 8:16\n/sys/block/sdb => {near}\n/sys/class/block/sdb => {near}\n"
    ));
    assert!(observe::locate(&tree.root(), "sda").is_err());
    assert!(tree.root().canonical(&deep).is_none());
    assert_eq!(tree.device("sdb").stack.all(LayerKind::Disk).count(), 1);
}

/// Trees copied by hand often lack the files `dev`: devices are known by their names then.
#[test]
fn a_device_without_its_number_is_seen_all_the_same() {
    let (disk, member) = ("/sys/devices/pci0000:00/0000:00:1f.2/ata1/block/sda", "/sys/devices/virtual/block/md0");
    let hidden = "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0c0n1";
    let tree = Tree::build(&format!(
        "{disk}/size = 2048\n{disk}/queue/rotational = 0\n{disk}/sda1/partition = 1\n{disk}/sda1/size = 1024\n\
         {member}/size = 2048\n{member}/md/level = raid1\n{member}/slaves/sda1 => {disk}/sda1\n{hidden}/size = 2048\n\
         /sys/class/block/sda => {disk}\n/sys/class/block/sda1 => {disk}/sda1\n/sys/class/block/md0 => {member}\n\
         /proc/self/mountinfo = 30 1 8:1 / /mnt rw - ext4 /dev/sda1 rw\n\
         /sys/block/sda => {disk}\n/sys/block/md0 => {member}\n/sys/block/nvme0c0n1 => {hidden}\n/sys/block/other/x = 1\n"
    ));
    let root = tree.root();
    let names: Vec<String> = observe::disks(&root).into_iter().map(|d| d.name).collect();
    assert_eq!(names, ["md0", "sda"], "a hidden path and a directory of something else are not disks");
    let kinds = |name: &str| -> Vec<LayerKind> {
        let place = observe::locate(&root, name).unwrap_or_else(|e| panic!("{name}: {e}"));
        inventory(&root, &place).stack.layers.iter().map(|l| l.kind).collect()
    };
    use LayerKind::*;
    let below = [Partition, Disk, Link, Controller, Host];
    assert_eq!(kinds("/dev/sda1"), below);
    assert_eq!(kinds("md0"), [&[Md][..], &below].concat());
    assert_eq!(kinds("/mnt"), [&[Filesystem][..], &below].concat(), "by the name of the mount's source");
    assert!(observe::locate(&root, "nvme0c0n1").is_err() && observe::locate(&root, "other").is_err());
    let seen = tree.device("sda");
    assert!(seen.missing.iter().any(|m| m.contains("sda/dev is not there")), "{:?}", seen.missing);
}
