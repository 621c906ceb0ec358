//! Who uses a device or file, on trees: every way in which others may hold its bytes, known by numbers and not by names.

use crate::tree::Tree;
use model::DeviceId;
use observe::{DeviceUse, IdentityKind, Root, Use, Uses, device_use, file_use};
use std::fmt::Write as _;

/// A tree that grows line by line.
struct Machine(String);

impl Machine {
    /// Nothing but this process and init.
    fn new() -> Self {
        let text = "/proc/1/comm = init\n/proc/1/fd /\n/proc/2000/comm = narrows\n/proc/self => /proc/2000\n\
                    /proc/self/mountinfo = 1 0 0:5 / / rw - rootfs rootfs rw\n";
        // What /proc/self is must be a number, as a link says it.
        Self(text.replace("/proc/self/", "/proc/2000/"))
    }

    fn with(mut self, text: &str) -> Self {
        self.0.push_str(text);
        self.0.push('\n');
        self
    }

    fn named(self, directory: &str, name: &str, id: &str) -> Self {
        self.with(&format!(
            "{directory}/dev = {id}\n{directory}/size = 2000\n/sys/block/{name} => {directory}\n\
             /sys/class/block/{name} => {directory}\n/sys/dev/block/{id} => {directory}"
        ))
    }

    /// A disk with what it says of itself (`serial = X`, relative to its directory).
    fn disk(self, name: &str, id: &str, facts: &[&str]) -> Self {
        let directory = format!("/sys/devices/{name}/block/{name}");
        let mut machine = self.named(&directory, name, id);
        for fact in facts {
            machine = machine.with(&format!("{directory}/{fact}"));
        }
        machine
    }

    fn partition(self, disk: &str, number: u32, id: &str, start: u64, sectors: u64) -> Self {
        let name = format!("{disk}{number}");
        let directory = format!("/sys/devices/{disk}/block/{disk}/{name}");
        self.with(&format!(
            "{directory}/dev = {id}\n{directory}/size = {sectors}\n{directory}/start = {start}\n\
             {directory}/partition = {number}\n/sys/class/block/{name} => {directory}\n/sys/dev/block/{id} => {directory}"
        ))
    }

    /// A device made of others: `dm-0` on `sda`.
    fn on(self, name: &str, id: &str, below: &[&str], facts: &[&str]) -> Self {
        let directory = format!("/sys/devices/virtual/block/{name}");
        let mut machine = self.named(&directory, name, id);
        for member in below {
            let (place, here) = (format!("/sys/class/block/{member}"), format!("{directory}/slaves/{member}"));
            machine = machine.with(&format!("{here} => {place}"));
            // A partition's directory is in its disk's.
            let disk = member.trim_end_matches(|c: char| c.is_ascii_digit());
            let real = match member.starts_with("dm-") || member.starts_with("loop") {
                true => format!("/sys/devices/virtual/block/{member}"),
                false if disk == *member => format!("/sys/devices/{member}/block/{member}"),
                false => format!("/sys/devices/{disk}/block/{disk}/{member}"),
            };
            machine = machine.with(&format!("{real}/holders/{name} => {directory}"));
        }
        for fact in facts {
            machine = machine.with(&format!("{directory}/{fact}"));
        }
        machine
    }

    /// A loop device; `told` is what it says: device and inode of its file, and the device that a node stands for.
    fn looped(self, number: u32, told: &str, offset: u64) -> Self {
        let name = format!("loop{number}");
        self.on(&name, &format!("7:{number}"), &[], &["loop/backing_file = /gone", &format!("loop/offset = {offset}")])
            .with(&format!("/narrows/loop/{name} = {told}"))
    }

    /// A process with something open: `b 8:0` or `f 8:1 99`, by whatever name.
    fn opener(self, pid: u32, name: &str, opened: &str, flags: &str) -> Self {
        let text = format!(
            "/proc/{pid}/comm = {name}\n/proc/{pid}/fd/3 => /strange/name\n/proc/{pid}/fdinfo/3 = pos:\\t0\\nflags:\\t{flags}"
        );
        self.with(&text).node(&format!("/proc/{pid}/fd/3 {opened}"))
    }

    fn node(self, line: &str) -> Self {
        self.with(&format!("#node {line}"))
    }

    /// A mount in the namespace of process `pid`, which has another one than ours.
    fn mounted_for(self, pid: u32, id: &str, at: &str) -> Self {
        let text = format!(
            "/proc/{pid}/comm = other\n/proc/{pid}/fd /\n/proc/{pid}/mountinfo = 9 1 {id} / {at} rw - ext4 /dev/x rw"
        );
        self.with(&text)
    }

    /// A mount that we see.
    fn mounted(self, id: &str, at: &str) -> Self {
        let line = format!("9 1 {id} / {at} rw - ext4 /dev/whatever rw");
        self.with(&format!("/proc/2000/mountinfo = 1 0 0:5 / / rw - rootfs rootfs rw\\n{line}"))
    }

    fn tree(&self) -> Tree {
        let mut nodes = String::new();
        for line in self.0.lines().filter_map(|l| l.strip_prefix("#node ")) {
            let _ = writeln!(nodes, "{line}");
        }
        let tree = Tree::build(&self.0);
        tree.file("/narrows/nodes", nodes.as_bytes());
        tree
    }
}

fn id(text: &str) -> DeviceId {
    let (major, minor) = text.split_once(':').unwrap();
    DeviceId { major: major.parse().unwrap(), minor: minor.parse().unwrap() }
}

fn device(machine: &Machine, number: &str) -> DeviceUse {
    device_use(&machine.tree().root(), id(number)).unwrap()
}

fn sentences(uses: &Uses) -> Vec<String> {
    assert_eq!(uses.doubts(), Vec::<String>::new());
    uses.uses.iter().map(ToString::to_string).collect()
}

fn uses_of(machine: &Machine, number: &str) -> Vec<String> {
    sentences(&device(machine, number).uses)
}

const SERIAL: &[&str] = &["device/serial = S1", "device/model = M"];

#[test]
fn a_disk_that_nobody_uses_has_no_uses() {
    let machine = Machine::new().disk("sda", "8:0", SERIAL).partition("sda", 1, "8:1", 0, 1000);
    assert_eq!(uses_of(&machine, "8:0"), Vec::<String>::new());
    assert_eq!(uses_of(&machine, "8:1"), Vec::<String>::new());
}

#[test]
fn a_disk_is_used_by_its_partitions_and_a_partition_by_its_disk_but_not_by_its_neighbour() {
    let disk = || {
        Machine::new()
            .disk("sda", "8:0", SERIAL)
            .partition("sda", 1, "8:1", 0, 1000)
            .partition("sda", 2, "8:2", 1000, 1000)
    };
    let one = disk().mounted("8:1", "/boot");
    assert_eq!(uses_of(&one, "8:0"), ["sda1 is mounted on /boot"]);
    assert_eq!(uses_of(&one, "8:2"), Vec::<String>::new());
    let whole = disk().mounted("8:0", "/whole");
    assert_eq!(uses_of(&whole, "8:2"), ["sda is mounted on /whole"]);
    let opened = disk().opener(77, "dd", "b 8:0", "0100000");
    assert_eq!(uses_of(&opened, "8:2"), ["process 77 (dd) has sda open"]);
}

#[test]
fn mounts_of_other_namespaces_count() {
    let machine = Machine::new().disk("sda", "8:0", SERIAL).mounted_for(50, "8:0", "/there");
    assert_eq!(uses_of(&machine, "8:0"), ["sda is mounted on /there in the mount namespace of process 50 (other)"]);
}

#[test]
fn two_loop_devices_over_one_file_are_one_also_with_an_offset() {
    let both = |offset| Machine::new().looped(0, "8:1 99 0:0", 0).looped(1, "8:1 99 0:0", offset);
    assert_eq!(uses_of(&both(0).mounted("7:0", "/mnt"), "7:1").len(), 2);
    assert_eq!(
        uses_of(&both(512_000).mounted("7:0", "/mnt"), "7:1"),
        ["loop0 on /gone is mounted on /mnt", "loop0 on /gone holds it"]
    );
    // One begins where the other ends.
    assert_eq!(uses_of(&both(1_024_000).mounted("7:0", "/mnt"), "7:1"), Vec::<String>::new());
    let other = Machine::new().looped(0, "8:1 99 0:0", 0).looped(1, "8:2 99 0:0", 0).mounted("7:0", "/mnt");
    assert_eq!(uses_of(&other, "7:1"), Vec::<String>::new(), "the same inode number of another file system");
}

#[test]
fn a_loop_over_a_device_is_known_by_the_device_and_not_by_a_name() {
    let machine = Machine::new().disk("sda", "8:0", SERIAL).looped(3, "0:5 12 8:0", 0);
    assert_eq!(uses_of(&machine, "8:0"), ["loop3 on sda holds it"]);
    let used = uses_of(&machine.with("").mounted("8:0", "/mnt"), "7:3");
    assert_eq!(used, ["sda is mounted on /mnt"], "and the other way round");
    let upon = Machine::new().looped(0, "8:1 99 0:0", 0).looped(1, "0:5 12 7:0", 4096).mounted("7:0", "/mnt");
    assert_eq!(uses_of(&upon, "7:1"), ["loop0 is mounted on /mnt"]);
    let third = Machine::new().looped(0, "8:1 99 0:0", 0).looped(1, "0:5 12 7:0", 0).looped(2, "0:5 12 7:1", 0);
    assert!(
        uses_of(&third.mounted("7:2", "/mnt"), "7:0").contains(&"loop2 on loop1 on loop0 is mounted on /mnt".into())
    );
}

#[test]
fn a_loop_that_cannot_be_asked_is_not_known() {
    let machine = Machine::new().looped(0, "8:1 99 0:0", 0).looped(1, "garbage", 0);
    let used = device(&machine, "7:0").uses;
    assert_eq!(used.unknown, ["the devices below loop1 are not known (its file was /gone)"]);
}

#[test]
fn two_mappings_of_one_disk_are_told_apart_only_by_who_made_them() {
    let disk = || Machine::new().disk("sda", "8:0", SERIAL);
    let two = disk().on("dm-0", "253:0", &["sda"], &["dm/name = a"]).on("dm-1", "253:1", &["sda"], &["dm/name = b"]);
    assert_eq!(uses_of(&two.mounted("253:0", "/mnt"), "253:1"), ["dm-0 on sda is mounted on /mnt"]);
    let group = "g".repeat(32);
    let uuid = |volume: &str| format!("dm/uuid = LVM-{group}{}", volume.repeat(32));
    let volumes = disk()
        .on("dm-0", "253:0", &["sda"], &[&uuid("a")])
        .on("dm-1", "253:1", &["sda"], &[&uuid("b")])
        .mounted("253:0", "/mnt");
    assert_eq!(uses_of(&volumes, "253:1"), Vec::<String>::new(), "volumes of one group");
    let held = uses_of(&volumes, "8:0");
    assert!(
        held.contains(&"dm-0 on sda is mounted on /mnt".to_owned()) && held.contains(&"dm-1 on sda holds it".into())
    );
    let deep = disk().on("md0", "9:0", &["sda"], &[]).on("dm-0", "253:0", &["md0"], &[]);
    let deep = deep
        .with("/sys/devices/virtual/block/md0/holders/dm-0 => /sys/devices/virtual/block/dm-0")
        .mounted("253:0", "/");
    assert!(
        uses_of(&deep, "8:0").iter().any(|u| u.starts_with("dm-0 on md0 on sda is mounted")),
        "{:?}",
        uses_of(&deep, "8:0")
    );
}

#[test]
fn a_second_path_to_one_disk_is_the_same_disk() {
    let wwid = &["device/wwid = naa.5000c500a1b2c3d4", "device/serial = S1"];
    let paths = |facts: &[&str]| {
        let both = Machine::new().disk("sda", "8:0", facts).disk("sdb", "8:16", facts);
        let both = both.partition("sda", 1, "8:1", 0, 1000).partition("sdb", 1, "8:17", 0, 1000);
        both.partition("sda", 2, "8:2", 1000, 1000).partition("sdb", 2, "8:18", 1000, 1000).mounted("8:1", "/data")
    };
    for facts in [wwid.as_slice(), SERIAL] {
        let machine = paths(facts);
        assert_eq!(uses_of(&machine, "8:16"), ["sda1 is mounted on /data"], "the other path");
        assert_eq!(uses_of(&machine, "8:17"), ["sda1 is mounted on /data"], "its partition by the other path");
        assert_eq!(uses_of(&machine, "8:18"), Vec::<String>::new(), "another partition");
    }
    let others = Machine::new()
        .disk("sda", "8:0", &["device/serial = S1", "device/model = M", "wwid = naa.1"])
        .disk("sdb", "8:16", &["device/serial = S1", "device/model = M", "wwid = naa.2"])
        .mounted("8:0", "/data");
    assert_eq!(uses_of(&others, "8:16"), Vec::<String>::new(), "another disk with the same serial number");
    assert_eq!(device(&others, "8:16").identity.text, "naa.2", "which then says nothing");
}

#[test]
fn openings_are_known_by_number_whatever_the_name_and_members_may_be_read() {
    let disk = || Machine::new().disk("sda", "8:0", SERIAL);
    assert_eq!(uses_of(&disk().opener(7, "cat", "b 8:0", "0100000"), "8:0"), ["process 7 (cat) has sda open"]);
    assert_eq!(
        uses_of(&disk().opener(7, "dd", "b 8:0", "0100002"), "8:0"),
        ["process 7 (dd) has sda open for writing"]
    );
    assert_eq!(uses_of(&disk().opener(7, "x", "b 8:0", "010000000"), "8:0"), Vec::<String>::new(), "a handle");
    assert_eq!(uses_of(&disk().opener(2000, "narrows", "b 8:0", "02"), "8:0"), Vec::<String>::new(), "ourselves");
    let mapping =
        |flags| disk().on("dm-0", "253:0", &["sda"], &["dm/uuid = mpath-3600"]).opener(7, "multipathd", "b 8:0", flags);
    assert_eq!(uses_of(&mapping("0100000"), "253:0"), Vec::<String>::new(), "its manager");
    assert_eq!(uses_of(&mapping("0100002"), "253:0"), ["process 7 (multipathd) has sda open for writing"]);
    let mapped = disk()
        .with("/proc/9/comm = editor\n/proc/9/fd /\n/proc/9/maps = 7f00-7f01 rw-s 00000000 00:05 44  /somewhere")
        .node("/proc/9/map_files/7f00-7f01 b 8:0");
    assert_eq!(uses_of(&mapped, "8:0"), ["process 9 (editor) has sda mapped in its memory"]);
}

#[test]
fn a_server_of_a_network_device_may_have_it_open() {
    let nbd = Machine::new().on("nbd0", "43:0", &[], &["pid = 7"]).opener(7, "nbd-client", "b 43:0", "02");
    assert_eq!(uses_of(&nbd, "43:0"), Vec::<String>::new());
    assert_eq!(uses_of(&nbd.opener(8, "dd", "b 43:0", "02"), "43:0"), ["process 8 (dd) has nbd0 open for writing"]);
}

#[test]
fn swap_space_is_known_by_what_its_name_leads_to() {
    let swaps = "/proc/swaps = Filename Type Size Used Priority\\n/dev/disk/by-uuid/x partition 1 0 -2\\n/swap\\\\040file file 1 0 -3";
    let machine = Machine::new().disk("sda", "8:0", SERIAL).with(swaps);
    let machine = machine.node("/dev/disk/by-uuid/x b 8:0").node("/swap file f 8:1 77");
    let used = device(&machine, "8:0").uses;
    assert_eq!(used.uses, [Use::Swap { what: "sda".into() }]);
    assert_eq!(
        used.unknown,
        ["the swap space /swap file is not found under this name"],
        "names with spaces are not node lines"
    );
}

#[test]
fn members_of_file_systems_beyond_the_first_count() {
    let machine = Machine::new().disk("sda", "8:0", SERIAL).disk("sdb", "8:16", &["device/serial = S2"]);
    let btrfs =
        machine.with("/sys/fs/btrfs/u/devices/sdb /\n/sys/fs/bcachefs/v/dev-0/block => /sys/devices/sda/block/sda");
    assert_eq!(uses_of(&btrfs, "8:16"), ["btrfs on sdb holds it"]);
    assert_eq!(uses_of(&btrfs, "8:0"), ["bcachefs on sda holds it"]);
    let hidden = Machine::new().disk("sda", "8:0", SERIAL).with("/sys/fs/xfs/sda/stats/stats = 0");
    assert_eq!(uses_of(&hidden, "8:0"), ["a mount of xfs that is not seen, on sda holds it"]);
    let written_back = Machine::new()
        .disk("sda", "8:0", SERIAL)
        .on("zram0", "252:0", &[], &["backing_dev = /strange"])
        .node("/strange b 8:0");
    assert_eq!(uses_of(&written_back, "8:0"), ["zram0 on sda holds it"]);
}

#[test]
fn what_cannot_be_looked_at_is_told() {
    let denied = Machine::new().disk("sda", "8:0", SERIAL).with("/narrows/unreadable = denied /proc/1/fd");
    let used = device(&denied, "8:0").uses;
    assert_eq!(used.doubts(), ["what these processes have open is not shown: 1 (init)"]);
    assert_eq!(used.unknown, Vec::<String>::new(), "the kernel can be asked instead");
    let links = Machine::new().disk("sda", "8:0", SERIAL).opener(7, "x", "b 8:0", "02");
    let links = links.with("/narrows/unreadable = denied /proc/7/fd/3");
    assert_eq!(device(&links, "8:0").uses.doubts(), ["what these processes have open is not shown: 7 (x)"]);
    let hidden = Machine::new().disk("sda", "8:0", SERIAL).with("- /proc/1");
    assert_eq!(
        device(&hidden, "8:0").uses.unknown,
        ["processes of other users are hidden (/proc is mounted with hidepid)"]
    );
    let container = Machine::new().disk("sda", "8:0", SERIAL).tree();
    let link = container.host("/proc/2000/ns/pid");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("pid:[4026532200]", link).unwrap();
    let used = device_use(&container.root(), id("8:0")).unwrap().uses;
    assert_eq!(used.unknown, ["processes outside this pid namespace (container) are not seen"]);
    let nothing = Tree::build("/sys/dev/block/8:0/dev = 8:0");
    let used = device_use(&nothing.root(), id("8:0")).unwrap().uses;
    assert_eq!(used.unknown, ["/proc is not mounted, so that no process is seen"]);
}

#[test]
fn a_file_is_used_by_loops_swap_locks_and_whoever_has_it_open() {
    let used = |machine: &Machine| sentences(&file_use(&machine.tree().root(), id("8:1"), 99, "/image"));
    assert_eq!(used(&Machine::new()), Vec::<String>::new());
    let looped = Machine::new().looped(3, "8:1 99 0:0", 0);
    assert_eq!(used(&looped), ["loop3 on /image holds it"]);
    assert_eq!(
        used(&looped.mounted("7:3", "/mnt")),
        ["loop3 on /image is mounted on /mnt", "loop3 on /image holds it"]
    );
    let swap = "/proc/swaps = Filename Type Size Used Priority\\n/x file 1 0 -2";
    assert_eq!(used(&Machine::new().with(swap).node("/x f 8:1 99")), ["/image is swap space"]);
    assert_eq!(
        used(&Machine::new().opener(7, "qemu-system-x86", "f 8:1 99", "0100002")),
        ["process 7 (qemu-system-x86) has /image open for writing"]
    );
    let locks = "/proc/locks = 1: POSIX  ADVISORY  WRITE 7 08:01:99 0 EOF\\n2: OFDLCK ADVISORY  READ -1 08:01:99 0 EOF\\n\
                 3: FLOCK  ADVISORY  WRITE 7 08:01:98 0 EOF\\n4: LEASE  ACTIVE    READ 7 08:01:99 0 EOF";
    assert_eq!(
        used(&Machine::new().with(locks).with("/proc/7/comm = db\n/proc/7/fd /")),
        [
            "process 7 (db) holds a lock (POSIX WRITE) on /image",
            "a lock (OFDLCK READ) is held on /image",
            "process 7 (db) holds a lock (LEASE READ) on /image"
        ]
    );
}

#[test]
fn what_a_loop_stands_on_may_be_read_by_others_but_not_written() {
    let looped = |flags| Machine::new().looped(0, "8:1 99 0:0", 0).opener(7, "qemu", "f 8:1 99", flags);
    assert_eq!(uses_of(&looped("0100000"), "7:0"), Vec::<String>::new());
    assert_eq!(uses_of(&looped("0100002"), "7:0"), ["process 7 (qemu) has /gone open for writing"]);
}

fn identity(machine: &Machine, number: &str) -> (String, IdentityKind) {
    let identity = device(machine, number).identity;
    (identity.text, identity.kind)
}

#[test]
fn a_device_is_called_by_what_it_says_of_itself() {
    use IdentityKind::*;
    let disk = Machine::new().disk("sda", "8:0", SERIAL).partition("sda", 2, "8:2", 0, 100);
    assert_eq!(identity(&disk, "8:0"), ("S1".into(), Serial));
    assert_eq!(identity(&disk, "8:2"), ("S1-part2".into(), PartOfSerial));
    let plain = Machine::new().disk("sda", "8:0", &[]).partition("sda", 2, "8:2", 0, 100);
    assert_eq!(identity(&plain, "8:0"), ("sda".into(), Name));
    assert_eq!(identity(&plain, "8:2"), ("sda2".into(), Name));
    let looped = Machine::new().looped(0, "8:1 99 0:0", 0);
    assert_eq!(identity(&looped, "7:0"), ("loop0".into(), Name));
    let mapped = Machine::new().on("dm-0", "253:0", &[], &["dm/name = data", "dm/uuid = CRYPT-LUKS2-1-data"]);
    assert_eq!(identity(&mapped, "253:0"), ("CRYPT-LUKS2-1-data".into(), Uuid));
    let card = Machine::new().disk("mmcblk0", "179:0", &["device/serial = 0x1"]);
    let card = card.disk("mmcblk0boot0", "179:8", &["device/serial = 0x1"]);
    assert_eq!(identity(&card, "179:0"), ("0x1".into(), Serial));
    assert_eq!(identity(&card, "179:8"), ("0x1-boot0".into(), PartOfSerial));
}

#[test]
fn namespaces_of_one_controller_have_ids_of_their_own() {
    let namespace = |n: u32| {
        [
            format!("wwid = eui.002538000000000{n}"),
            "device/serial = S4EVNX0".to_owned(),
            format!("nguid = 00000000-0000-0000-0025-38000000000{n}"),
        ]
    };
    let (one, two) = (namespace(1), namespace(2));
    let machine = Machine::new().disk("nvme0n1", "259:0", &one.each_ref().map(String::as_str));
    let machine = machine.disk("nvme0n2", "259:1", &two.each_ref().map(String::as_str));
    assert_eq!(identity(&machine, "259:0"), ("eui.0025380000000001".into(), IdentityKind::NamespaceId));
    let second = device(&machine, "259:1").identity;
    assert_eq!(second.text, "eui.0025380000000002");
    assert!(second.also.contains(&"nvme-eui.0025380000000002".to_owned()), "as udev writes it");
    assert!(!second.also.iter().any(|also| also == "S4EVNX0"), "the serial number is that of all of them");
}

#[test]
fn a_tree_without_anything_is_no_device() {
    assert!(device_use(&Root::new("/nonexistent"), id("8:0")).is_none());
}

#[test]
fn who_opens_for_reading_and_closes_at_once_is_never_said_to_write() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("file");
    std::fs::write(&path, "content").unwrap();
    let Ok(sys::Node::File { device: (major, minor), inode }) = sys::node_at(&path) else { panic!("it is a file") };
    let script = format!("while :; do : < '{}' 2> /dev/null; done", path.display());
    let mut reader = std::process::Command::new("sh").args(["-c", &script]).spawn().unwrap();
    let asked = || file_use(&Root::new("/"), DeviceId { major, minor }, inode, &path.to_string_lossy()).uses;
    let told: Vec<Use> = (0..400).flat_map(|_| asked()).collect();
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert!(told.iter().any(|u| matches!(u, Use::Open { writing: false, .. })), "it was never met");
    let writes: Vec<&Use> = told.iter().filter(|u| matches!(u, Use::Open { writing: true, .. })).collect();
    assert!(writes.is_empty(), "{} of {}: {:?}", writes.len(), told.len(), writes[0]);
}
