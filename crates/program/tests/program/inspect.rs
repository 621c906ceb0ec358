//! `narrows inspect` on captured trees, on hostile ones, on simulated devices, and on this machine.

#[allow(dead_code, reason = "this test binary uses its part of the builder")]
#[path = "../../../observe/tests/observe/tree/mod.rs"]
mod tree;

use crate::program::Scratch;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use tree::Tree;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inspect {
    schema: String,
    target: Option<String>,
    root: Option<String>,
    #[allow(dead_code)]
    mount: Value,
    layers: Vec<Layer>,
    answer: Option<String>,
    ceiling: Option<Ceiling>,
    findings: Vec<Finding>,
    unknown: Vec<Undecided>,
    missing: Vec<String>,
    not_known: Vec<NotKnown>,
    environment: Value,
    disks: Option<Vec<Disk>>,
    capture: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NotKnown {
    kind: String,
    layer: String,
    fact: String,
    read_from: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    kind: String,
    name: String,
    depth: Option<i64>,
    driver: Option<String>,
    facts: BTreeMap<String, Value>,
    ceiling_bytes_per_s: Option<u64>,
    ceiling_source: Option<String>,
    device: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ceiling {
    layer: String,
    kind: String,
    bytes_per_s: u64,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    id: String,
    title: String,
    layer: String,
    confidence: String,
    evidence: Vec<Value>,
    #[allow(dead_code)]
    gain: Value,
    fix: String,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Undecided {
    id: String,
    title: String,
    layer: String,
    missing: String,
    how_to_get: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Disk {
    name: String,
    layer: String,
    kind: String,
    #[allow(dead_code)]
    model: Option<String>,
    #[allow(dead_code)]
    size_bytes: Option<u64>,
    transport: String,
    #[allow(dead_code)]
    link: Option<String>,
    #[allow(dead_code)]
    driver: Option<String>,
    device: Option<String>,
    #[allow(dead_code)]
    mounted: Vec<String>,
}

fn inspect(scratch: &Scratch, args: &[&str]) -> Inspect {
    let ended = scratch.run([&["inspect", "--json"], args].concat());
    assert_eq!(ended.code, 0, "{args:?}: {}{}", ended.stdout, ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", ended.stdout))
}

fn directory(tree: &Tree) -> String {
    tree.host("/").to_str().unwrap().trim_end_matches('/').to_owned()
}

fn ids(seen: &Inspect) -> Vec<&str> {
    seen.findings.iter().map(|f| f.id.as_str()).collect()
}

/// Every machine of the observer's collection: the list, each disk's path as text and as a document.
#[test]
fn every_captured_machine_is_complete_and_readable() {
    let scratch = Scratch::new();
    let mut machines = 0;
    for entry in std::fs::read_dir(tree::TREES).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".tree") else { continue };
        let tree = Tree::of(name);
        let root = directory(&tree);
        machines += 1;
        let list = inspect(&scratch, &["--root", &root]);
        assert_eq!(list.schema, "narrows/inspect/1");
        assert!(list.target.is_none() && list.layers.is_empty() && list.ceiling.is_none() && list.capture.is_none());
        assert_eq!(list.root.as_deref(), Some(root.as_str()));
        assert!(list.environment.is_object());
        let disks = list.disks.expect("all disks");
        let text = scratch.run(["inspect", "--root", &root]).stdout;
        for disk in &disks {
            assert!(!disk.kind.is_empty() && !disk.transport.is_empty() && !disk.layer.is_empty(), "{name}");
            assert!(disk.device.is_some() || disk.name.starts_with("mtd"), "{name} {}", disk.name);
            assert_eq!(
                text.lines().filter(|l| l.trim_start().starts_with(&format!("{} ", disk.name))).count(),
                1,
                "{name}: {text}"
            );
            one_path(&scratch, &root, &disk.name);
        }
    }
    assert!(machines >= 8, "the collection is not where it was: {}", tree::TREES);
}

fn one_path(scratch: &Scratch, root: &str, disk: &str) {
    let seen = inspect(scratch, &["--root", root, disk]);
    assert_eq!(seen.target.as_deref(), Some(disk));
    assert!(seen.disks.is_none());
    assert_eq!(seen.layers.last().map(|l| l.kind.as_str()), Some("host"), "{root} {disk}");
    assert_eq!(seen.layers.first().map(|l| l.name.as_str()), Some(disk), "{root}");
    for layer in &seen.layers {
        assert!(!layer.name.is_empty() && !layer.facts.is_empty(), "{root} {disk}: {}", layer.name);
        assert_eq!(layer.ceiling_bytes_per_s.is_some(), layer.ceiling_source.is_some(), "{disk}: {}", layer.name);
        assert!(layer.depth.is_some() || layer.kind == "host", "{disk}: {}", layer.name);
        assert!(layer.driver.as_deref() != Some("") && layer.device.as_deref() != Some(""));
    }
    let null = |l: &Layer| l.facts.values().filter(|f| f.is_null()).count();
    assert_eq!(seen.not_known.len(), seen.layers.iter().map(null).sum::<usize>(), "{root} {disk}: each null is listed");
    for n in &seen.not_known {
        let layer = seen.layers.iter().find(|l| l.kind == n.kind && l.name == n.layer && l.facts.contains_key(&n.fact));
        assert!(layer.is_some(), "{disk}: {} of {} {}", n.fact, n.kind, n.layer);
        assert!(n.read_from.as_deref().is_some_and(|s| !s.is_empty()), "{disk}: {} comes from nowhere", n.fact);
    }
    let lowest = seen.layers.iter().filter_map(|l| l.ceiling_bytes_per_s).min();
    assert_eq!(seen.ceiling.as_ref().map(|c| c.bytes_per_s), lowest, "{root} {disk}");
    if let Some(c) = &seen.ceiling {
        assert!(!c.layer.is_empty() && !c.kind.is_empty() && c.source.is_some());
    }
    let answer = seen.answer.as_deref().expect("an answer");
    let limit =
        seen.ceiling.as_ref().map_or("no layer has a known line rate".to_owned(), |c| format!("that of {}", c.layer));
    assert!(answer.starts_with(disk) && answer.contains(&limit), "{disk}: {answer}");
    assert!(seen.findings.iter().all(|f| answer.contains(&f.id)), "{disk}: {answer}");
    for f in &seen.findings {
        assert!(!f.title.is_empty() && !f.layer.is_empty() && !f.fix.is_empty() && !f.source.is_empty(), "{}", f.id);
        assert!(["high", "probable", "low"].contains(&f.confidence.as_str()) && !f.evidence.is_empty(), "{}", f.id);
    }
    for u in &seen.unknown {
        assert!(!u.title.is_empty() && !u.layer.is_empty() && !u.missing.is_empty() && !u.how_to_get.is_empty());
        assert!(!ids(&seen).contains(&u.id.as_str()), "{} is both", u.id);
    }
    assert!(seen.missing.iter().all(|m| !m.is_empty()));
    for (lang, ascii) in [("C.UTF-8", false), ("C", true)] {
        let output = scratch.command(["inspect", "--root", root, disk]).env("LANG", lang).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{disk}: {line}");
        }
        assert!(!ascii || text.is_ascii(), "{text}");
        assert_eq!(text.matches("THE LOWEST CEILING").count(), usize::from(lowest.is_some()), "{disk}: {text}");
        for f in &seen.findings {
            assert!(text.contains(&format!("  {} (", f.id)), "{}: {text}", f.id);
        }
    }
}

/// The conditions of the studies, through the whole program.
#[test]
fn the_studies_conditions_are_recognised_from_their_machines() {
    let scratch = Scratch::new();
    let found = |name: &str, target: &str, id: &str| {
        let tree = Tree::of(name);
        let seen = inspect(&scratch, &["--root", &directory(&tree), target]);
        let undecided = seen.unknown.iter().any(|u| u.id == id);
        (ids(&seen).contains(&id), undecided)
    };
    let (yes, no) = ((true, false), (false, false));
    assert_eq!(found("sunxi-a20", "sda", "a20-sata-fifo"), yes, "the register's old value");
    assert_eq!(found("sunxi-a20-fixed", "sda", "a20-sata-fifo"), no);
    let unread = Tree::of("sunxi-a20-unread");
    let unread = inspect(&scratch, &["--root", &directory(&unread), "sda"]);
    assert_eq!(found("sunxi-a20-unread", "sda", "a20-sata-fifo"), (false, true), "the register was not read");
    assert!(unread.missing.iter().any(|m| m.contains("--read-registers")), "{:?}", unread.missing);
    assert_eq!(found("pc-ide", "sda", "ide-mode"), yes);
    assert_eq!(found("pc-ahci", "sda", "ide-mode"), no);
    assert_eq!(found("sd-sdr104-derated", "mmcblk0", "sdr104-derated"), yes);
    assert_eq!(found("usb-bulk-only", "sda", "usb-bulk-only"), yes);
}

const SECRET: &str = "SECRET-OF-ANOTHER-ROOM";

/// A tree that wants to be harmful: its links lead out of it, a FIFO waits for a writer that never comes, a device node
/// would answer for ever, a file is huge. Nothing outside is read, nothing waits, nothing fills the memory.
#[test]
fn a_hostile_tree_shows_nothing_that_lies_outside_of_it() {
    let scratch = Scratch::new();
    let outside = scratch.path().join("outside");
    std::fs::create_dir_all(outside.join("queue")).unwrap();
    for file in ["model", "serial", "size", "vendor", "mountinfo", "queue/scheduler", "rev"] {
        std::fs::write(outside.join(file), format!("{SECRET}\n")).unwrap();
    }
    let tree = Tree::build(
        "@ /sys/devices/virtual/block/sda\ndev = 8:0\nsize = 2048\nqueue/rotational = 0\n@ /\n\
         /sys/class/block/sda => /sys/devices/virtual/block/sda\n/sys/block/sda => /sys/devices/virtual/block/sda\n\
         /sys/dev/block/8:0 => /sys/devices/virtual/block/sda\n/proc/version = x\n/etc/x = x\n",
    );
    let disk = tree.host("/sys/devices/virtual/block/sda");
    symlink(&outside, disk.join("device")).unwrap();
    symlink(outside.join("serial"), disk.join("serial")).unwrap();
    symlink(outside.join("queue/scheduler"), disk.join("queue/scheduler")).unwrap();
    let climb = format!("{}{}", "../".repeat(30), outside.join("model").to_str().unwrap().trim_start_matches('/'));
    symlink(climb, disk.join("wwid")).unwrap();
    symlink(outside.join("mountinfo"), tree.host("/proc/mounts")).unwrap();
    symlink("/etc/hostname", tree.host("/etc/os-release")).unwrap();
    let fifo = |path: &Path| {
        let made = Command::new("mkfifo").arg(path).status().is_ok_and(|s| s.success());
        if !made {
            println!("SKIPPED: no FIFO {}", path.display());
        }
    };
    fifo(&disk.join("stat"));
    fifo(&disk.join("queue/nr_requests"));
    fifo(&tree.host("/proc/cmdline"));
    let node = CString::new(disk.join("ro").to_str().unwrap()).unwrap();
    let zero = rustix::fs::makedev(1, 5);
    let mode = rustix::fs::Mode::RUSR;
    if rustix::fs::mknodat(rustix::fs::CWD, &node, rustix::fs::FileType::CharacterDevice, mode, zero).is_err() {
        println!("SKIPPED: device nodes may not be made here");
    }
    for (file, length) in [("inflight", 1_u64 << 30), ("queue/write_cache", 1 << 40)] {
        std::fs::File::create(disk.join(file)).unwrap().set_len(length).unwrap();
    }
    let root = directory(&tree);
    for args in [
        vec!["inspect", "--root", &root],
        vec!["inspect", "--root", &root, "sda"],
        vec!["inspect", "--root", &root, "/dev/sda", "--json"],
    ] {
        let ended = scratch.run(&args);
        assert_eq!(ended.code, 0, "{args:?} {}", ended.stderr);
        assert!(!ended.stdout.contains(SECRET) && !ended.stderr.contains(SECRET), "{}", ended.stdout);
    }
    let tar = scratch.path().join("hostile.tar");
    let ended = scratch.run(["inspect", "--root", &root, "--capture", tar.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let bytes = std::fs::read(&tar).unwrap();
    assert!(bytes.len() < 64 << 20, "{}", bytes.len());
    assert!(!String::from_utf8_lossy(&bytes).contains(SECRET));
}

#[test]
fn names_in_a_tree_do_not_act_on_the_terminal() {
    let tree = Tree::build(
        "@ /sys/devices/virtual/block/sda\ndev = 8:0\nsize = 2048\ndevice/model = evil\n@ /\n\
         /sys/class/block/sda => /sys/devices/virtual/block/sda\n/sys/block/sda => /sys/devices/virtual/block/sda\n\
         /sys/dev/block/8:0 => /sys/devices/virtual/block/sda\n",
    );
    let model = tree.host("/sys/devices/virtual/block/sda/device/model");
    std::fs::write(model, "\x1b[2J\x1b]0;mine\x07 \u{202e}model\u{9b}31m").unwrap();
    // A device's own name, which the message about a wrong target lists.
    let named = tree.host("/sys/block/sd\x1b[31m");
    std::fs::create_dir_all(&named).unwrap();
    std::fs::write(named.join("dev"), "8:16\n").unwrap();
    let scratch = Scratch::new();
    let root = directory(&tree);
    for (target, code) in [(None, 0), (Some("sda"), 0), (Some("sdz"), 2), (Some("/dev/sdz"), 2)] {
        for json in [false, true] {
            let mut args = vec!["inspect", "--root", &root];
            args.extend(target);
            args.extend(json.then_some("--json"));
            let ended = scratch.run(args);
            assert_eq!(ended.code, code, "{}", ended.stderr);
            for c in ['\x1b', '\x07', '\u{202e}', '\u{9b}'] {
                assert!(
                    !ended.stdout.contains(c) && !ended.stderr.contains(c),
                    "{:?} {:?}",
                    ended.stdout,
                    ended.stderr
                );
            }
            let told = if json { &ended.stdout } else { &ended.stderr };
            assert!(code == 0 || told.contains("there is no device"), "{told}");
        }
    }
}

#[test]
fn a_capture_replays_as_the_machine_was_without_its_serial_numbers() {
    let scratch = Scratch::new();
    let tree = Tree::of("raspberry-pi-sd");
    let root = directory(&tree);
    let before = inspect(&scratch, &["--root", &root, "mmcblk0"]);
    let serial = |seen: &Inspect| {
        let disk = seen.layers.iter().find(|l| l.kind == "disk").unwrap();
        disk.facts["serial"].as_str().map(str::to_owned)
    };
    let original = serial(&before).expect("this machine's disk has a serial number");
    for keep in [false, true] {
        let tar = scratch.path().join(format!("{keep}.tar"));
        let name = tar.to_str().unwrap();
        let mut args = vec!["--root", &root, "mmcblk0", "--capture", name];
        args.extend(keep.then_some("--keep-serials"));
        let captured = inspect(&scratch, &args).capture.expect("what was captured");
        let bytes = std::fs::read(&tar).unwrap();
        assert_eq!(captured["bytes"].as_u64(), Some(bytes.len() as u64));
        assert_eq!(captured["keeps_serials"], keep);
        assert_eq!(String::from_utf8_lossy(&bytes).contains(&original), keep);
        let unpacked = scratch.path().join(format!("unpacked-{keep}"));
        std::fs::create_dir(&unpacked).unwrap();
        match Command::new("tar").arg("xf").arg(&tar).arg("-C").arg(&unpacked).status() {
            Ok(status) => assert!(status.success(), "tar does not read the archive"),
            Err(e) => {
                println!("SKIPPED: no tar to unpack with: {e}");
                return;
            }
        }
        let replay = inspect(&scratch, &["--root", unpacked.join("narrows-capture").to_str().unwrap(), "mmcblk0"]);
        let again = serial(&replay).expect("hashed, not left out");
        assert_eq!(again == original, keep, "{again}");
        assert_eq!(ids(&replay), ids(&before));
        assert_eq!(replay.ceiling.as_ref().map(|c| c.bytes_per_s), before.ceiling.as_ref().map(|c| c.bytes_per_s));
        let shape = |seen: &Inspect| {
            seen.layers.iter().map(|l| (l.kind.clone(), l.driver.clone(), l.facts.len())).collect::<Vec<_>>()
        };
        assert_eq!(shape(&replay), shape(&before));
        // What is there is not written over.
        let ended = scratch.run(["inspect", "--root", &root, "--capture", name]);
        assert_eq!(ended.code, 3, "{}", ended.stderr);
        assert_eq!(std::fs::read(&tar).unwrap(), bytes);
    }
    let piped = scratch.command(["inspect", "--root", &root, "/", "--capture", "-"]).output().unwrap();
    assert!(piped.status.success());
    assert!(piped.stdout.len() > 1_024 && piped.stdout.starts_with(b"narrows-capture/"), "an archive and nothing else");
    // The same path by the same name, from the archive that came through a pipe.
    let unpacked = scratch.path().join("path");
    std::fs::create_dir(&unpacked).unwrap();
    std::fs::write(unpacked.join("path.tar"), &piped.stdout).unwrap();
    assert!(Command::new("tar").args(["xf", "path.tar"]).current_dir(&unpacked).status().unwrap().success());
    let replay = inspect(&scratch, &["--root", unpacked.join("narrows-capture").to_str().unwrap(), "/"]);
    assert_eq!(ids(&replay), ids(&inspect(&scratch, &["--root", &root, "/"])));
}

#[test]
fn wrong_command_lines_are_told_what_is_wrong() {
    let scratch = Scratch::new();
    let tree = Tree::of("virtio");
    let root = directory(&tree);
    let message = |args: &[&str], code: i32| {
        let document = scratch.json([&["inspect", "--json"], args].concat(), code);
        assert_eq!(document["schema"], "narrows/error/1", "{document}");
        document["message"].as_str().unwrap().to_owned()
    };
    assert!(message(&["/no/such/place"], 2).contains("/no/such/place"));
    assert!(message(&["no-such-disk"], 2).contains("no-such-disk"));
    assert!(message(&["/dev/null"], 2).contains("character device"));
    assert!(message(&["null:"], 2).contains("null:"));
    assert!(message(&["sim:no-such"], 2).contains("no-such"));
    assert!(message(&["sim:nvme", "--capture", "x.tar"], 2).contains("sim:nvme"));
    assert!(message(&["--root", "/no/such/tree"], 2).contains("/no/such/tree"));
    let empty = scratch.target();
    assert!(message(&["--root", empty.to_str().unwrap()], 2).contains("neither proc nor sys"));
    assert!(message(&["--root", &root, "sdz"], 2).contains("vda"), "what there is is named");
    assert!(message(&["--root", &root, "relative/path"], 2).contains("relative/path"));
    assert!(message(&["--keep-serials"], 2).contains("--capture"));
    assert!(message(&["--root", &root, "--capture", "/no/such/directory/x.tar"], 3).contains("x.tar"));
    let fifo = scratch.path().join("fifo");
    if Command::new("mkfifo").arg(&fifo).status().is_ok_and(|s| s.success()) {
        assert!(message(&[fifo.to_str().unwrap()], 2).contains("FIFO"));
    }
}

#[test]
fn simulated_devices_show_the_path_that_they_simulate() {
    let scratch = Scratch::new();
    for (name, disk) in [("a2-card-no-queue", "mmcblk1"), ("sata-ssd", "sda"), ("nvme", "nvme0n1")] {
        let seen = inspect(&scratch, &[&format!("sim:{name}")]);
        assert!(seen.layers.iter().any(|l| l.kind == "disk" && l.name == disk), "{name}");
        assert_eq!(seen.ceiling.as_ref().map(|c| c.kind.as_str()), Some("link"), "{name}");
    }
    let seen = inspect(&scratch, &["sim:a2-card-no-queue"]);
    assert!(ids(&seen).contains(&"sd-a2-without-queue"), "{:?}", ids(&seen));
}

#[test]
fn this_machine_answers() {
    let scratch = Scratch::new();
    let list = scratch.json(["inspect", "--json"], 0);
    assert!(list["disks"].is_array() && list["environment"]["kernel"].is_string(), "{list}");
    let ended = scratch.run(["inspect", ".", "--json"]);
    assert!(ended.code == 0 || ended.code == 4, "{}", ended.stderr);
    let seen: Inspect = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(seen.layers.last().map(|l| l.kind.as_str()), Some("host"));
    assert_eq!(ended.code == 0, seen.layers.len() > 1);
}
