//! A capture, unpacked and looked at, says what the machine said.

use crate::tree::{TREES, Tree, scratch};
use model::{Fact, LayerKind, Stack};
use observe::{
    CaptureOptions, CapturedContent, CapturedFile, Inventory, Locator, ProbeOptions, Root, capture, disks, environment,
    facts, inventory, inventory_with, locate, locate_root,
};
use std::fs;
use std::os::unix::fs::symlink;

fn options(keep_serials: bool) -> CaptureOptions {
    CaptureOptions { keep_serials, salt: 42, look: ProbeOptions::default() }
}

/// What `tar -x` would make of it.
fn unpack(entries: impl Iterator<Item = CapturedFile>) -> tempfile::TempDir {
    let directory = scratch();
    for entry in entries {
        assert!(!entry.path.is_empty() && !entry.path.starts_with('/'), "{}", entry.path);
        assert!(entry.path.split('/').all(|p| p != ".." && p != "."), "{}", entry.path);
        let path = directory.path().join(&entry.path);
        match entry.content {
            CapturedContent::Directory => fs::create_dir(&path),
            CapturedContent::File(bytes) => fs::write(&path, bytes),
            CapturedContent::Link(target) => symlink(target, &path),
        }
        .unwrap_or_else(|e| panic!("{}: {e}", entry.path));
    }
    directory
}

/// Facts that another look may find different, and those that are hashed.
fn without(mut stack: Stack, hashed: bool) -> Stack {
    for layer in &mut stack.layers {
        // A machine without a model goes by its host name.
        if hashed && layer.kind == LayerKind::Host {
            layer.name.clear();
        }
        let changes = |name: &str| {
            let row = facts::ALL.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("{name} is in no table"));
            row.meaning.contains("(live)")
        };
        layer.facts.retain(|name, _| {
            let identity = [facts::SERIAL, facts::CID, facts::DM_UUID].contains(&name.as_str());
            !(changes(name) || hashed && identity)
        });
    }
    stack
}

fn assert_same(before: Inventory, after: Inventory, hashed: bool, what: &str) {
    let (one, other) = (without(before.stack, hashed), without(after.stack, hashed));
    for (one, other) in one.layers.iter().zip(&other.layers) {
        for (fact, value) in &one.facts {
            assert_eq!(Some(value), other.facts.get(fact), "{what}: {fact} of {}", one.name);
        }
    }
    assert_eq!(one, other, "{what}");
    assert_eq!(before.missing, after.missing, "{what}");
}

fn trees() -> Vec<String> {
    let names = fs::read_dir(TREES).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.filter_map(|n| n.strip_suffix(".tree").map(str::to_owned)).collect()
}

#[test]
fn a_capture_of_every_tree_says_what_the_tree_says() {
    for name in trees() {
        let tree = Tree::of(&name);
        let root = tree.root();
        let places: Vec<Locator> = disks(&root).iter().map(|d| Locator::DeviceName(d.name.clone())).collect();
        let places: Vec<Locator> = places.into_iter().chain(locate_root(&root)).collect();
        for keep in [true, false] {
            let directory = unpack(capture(&root, &[], &options(keep)));
            let replayed = Root::new(directory.path());
            for place in &places {
                assert_same(inventory(&root, place), inventory(&replayed, place), !keep, &name);
            }
            let (mut before, after) = (disks(&root), disks(&replayed));
            if !keep {
                before.iter_mut().zip(&after).for_each(|(b, a)| b.model.clone_from(&a.model));
            }
            assert_eq!(before, after, "{name}");
            if keep {
                assert_eq!(environment(&root), environment(&replayed), "{name}");
            }
        }
    }
}

#[test]
fn a_capture_of_this_machine_says_what_the_machine_says() {
    let live = Root::new("/");
    let Some(Locator::Path { path, device, mount_id, .. }) = locate_root(&live) else {
        eprintln!("SKIPPED: this machine has no table of mounts");
        return;
    };
    let by_name = Locator::Path { path: path.clone(), device, mount_id, block_size_bytes: None };
    // As the program asks it, who knows what stat says.
    let place = Locator::Path { path, device, mount_id, block_size_bytes: Some(4_096) };
    let directory = unpack(capture(&live, std::slice::from_ref(&place), &options(false)));
    let replayed = Root::new(directory.path());
    // Others may mount, and loop devices come and go, while this runs: it is asked until two looks agree.
    for attempt in 1.. {
        let before = inventory(&live, &place);
        let after = inventory(&replayed, &by_name);
        let same = without(before.stack.clone(), true) == without(after.stack.clone(), true);
        if same && before.missing == after.missing {
            break;
        }
        if attempt >= 3 {
            assert_same(before, after, true, "this machine");
        }
    }
    assert_eq!(locate(&replayed, "/"), Ok(by_name));
}

#[test]
fn nothing_that_identifies_is_left() {
    for (name, secrets) in [
        ("raspberry-pi-usb", &["12345678", "DD56419883880", "DD564198838816"][..]),
        ("nvme-pc", &["S6Z2NF0R000001", "0025385b71b00a3d"]),
        ("crypt-raid-loop", &["0b3c1d2e111122223333444455556666", "abcdefghijklmnopqrstuvwxyzABCDEFabcdefgh"]),
        ("emmc-board", &["89abcdef"]),
    ] {
        let tree = Tree::of(name);
        let captured: Vec<CapturedFile> = capture(&tree.root(), &[], &options(false)).collect();
        for file in &captured {
            let text = match &file.content {
                CapturedContent::File(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                CapturedContent::Link(target) => target.clone(),
                CapturedContent::Directory => String::new(),
            };
            for secret in secrets {
                assert!(!text.contains(secret) && !file.path.contains(secret), "{name}: {secret} is in {}", file.path);
            }
        }
        // What is decoded from the same registers stays.
        let directory = unpack(captured.into_iter());
        let replayed = Root::new(directory.path());
        let layers = inventory(&replayed, &locate_root(&replayed).unwrap_or(Locator::DeviceName("loop0".into()))).stack;
        assert!(layers.layers.len() > 2, "{name}");
        for layer in &layers.layers {
            if let Some(serial) = layer.text(facts::SERIAL) {
                assert!(!secrets.contains(&serial.trim_start_matches("0x")));
            }
            assert_ne!(layer.text(facts::DM_TYPE), Some("unknown"));
        }
    }
}

#[test]
fn what_could_not_be_read_is_said_again() {
    let tree = Tree::build(
        "@ /sys/devices/platform/x.mmc/mmc_host/mmc0/mmc0:aaaa\ntype = SD\nblock/mmcblk0/dev = 179:0\n@ /\n\
         /sys/class/block/mmcblk0 => /sys/devices/platform/x.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0\n\
         /narrows/unreadable = denied /sys/kernel/debug/mmc0/ios\n",
    );
    let root = tree.root();
    let place = Locator::DeviceName("mmcblk0".into());
    let before = inventory(&root, &place);
    assert!(before.missing.iter().any(|m| m.starts_with("run as root to see /sys/kernel/debug/mmc0/ios")));
    let directory = unpack(capture(&root, std::slice::from_ref(&place), &options(true)));
    assert_same(before, inventory(&Root::new(directory.path()), &place), false, "denied");
}

#[test]
fn answers_of_devices_go_with_the_capture_and_are_not_asked_again() {
    let tree = Tree::of("nvme-pc");
    let place = Locator::DeviceName("nvme0n1".into());
    let every = ProbeOptions { health: true, kernel_log: true, registers: true };
    // A captured tree answers what it has, whatever is asked.
    let plain = inventory(&tree.root(), &place);
    let asked = inventory_with(&tree.root(), &place, every);
    assert_eq!(plain.stack, asked.stack);
    let controller = plain.stack.layers.iter().find(|l| l.fact(facts::TEMPERATURE_C).is_some());
    assert_eq!(controller.and_then(|l| l.int(facts::TEMPERATURE_C)), Some(38));
    let without = Tree::of("pc-ahci");
    let seen = inventory_with(&without.root(), &Locator::DeviceName("sda".into()), every);
    assert!(seen.stack.layers.iter().all(|l| !l.facts.contains_key(facts::HEALTH_OK)));
    assert_eq!(seen.stack.layers.last().map(|l| &l.facts[facts::KERNEL_LOG_STORAGE]), Some(&Fact::Null));
}
