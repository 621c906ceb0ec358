//! The conditions of the five studies, end to end: the tree of the machine as the observer reads it, where the study
//! measured also a run of the rates and processor shares that it published, and what the diagnosis says of both.

use crate::run_builder::{Builder, Phase, finding, missing, sequential};
use crate::tree::Tree;
use model::{Confidence, LimitLayer, Run};

/// A run on the machine of a tree.
fn run_on(name: &str, target: &str, phases: impl IntoIterator<Item = Phase>) -> Run {
    let tree = Tree::of(name);
    let root = tree.root();
    let place = observe::locate(&root, target).unwrap_or_else(|e| panic!("{name} {target}: {e}"));
    let seen = observe::inventory(&root, &place);
    let mut run = Builder::new(seen.stack.layers).phases(phases).build();
    run.environment = observe::environment(&root);
    run
}

fn confidence(run: &Run, id: &str) -> Option<Confidence> {
    assert_eq!(missing(run, id), None, "{id} is decided");
    finding(run, id).map(|f| f.confidence)
}

/// Seven years passed before somebody read one register.
#[test]
fn the_old_register_value_of_the_a20() {
    let id = "a20-sata-fifo";
    let rates = |write| [sequential("seq-write", write), sequential("seq-read", 200.0)];
    assert_eq!(confidence(&run_on("sunxi-a20", "/", []), id), Some(Confidence::High), "the register alone");
    assert_eq!(confidence(&run_on("sunxi-a20-fixed", "/", []), id), None);
    // Not read: unknown, until writes far below reads say it.
    assert_eq!(missing(&run_on("sunxi-a20-unread", "/", []), id).as_deref(), Some("sunxi_ahci_p0dmacr"));
    assert_eq!(confidence(&run_on("sunxi-a20-unread", "/", rates(40.0)), id), Some(Confidence::Probable));
    assert_eq!(confidence(&run_on("sunxi-a20-unread", "/", rates(125.0)), id), None);
    let gain = finding(&run_on("sunxi-a20", "/", rates(40.0)), id).and_then(|f| f.gain).and_then(|g| g.at_most_ratio);
    assert!(gain.is_some_and(|g| (4.5..5.5).contains(&g)), "{gain:?}");
}

/// One PC, two modes of its controller.
#[test]
fn ata_piix_against_ahci() {
    assert!(confidence(&run_on("pc-ide", "sda", []), "ide-mode").is_some());
    assert_eq!(confidence(&run_on("pc-ahci", "sda", []), "ide-mode"), None);
}

#[test]
fn an_a2_card_on_a_host_without_queue_and_a_derated_clock() {
    assert!(confidence(&run_on("raspberry-pi-sd", "mmcblk0", []), "sd-a2-without-queue").is_some());
    assert_eq!(confidence(&run_on("sd-a2-queue", "mmcblk0", []), "sd-a2-without-queue"), None);
    assert!(confidence(&run_on("sd-sdr104-derated", "mmcblk0", []), "sdr104-derated").is_some());
    assert_eq!(confidence(&run_on("findings/sdr104-derated.near", "mmcblk0", []), "sdr104-derated"), None);
}

/// 33 MB in 7.27 s, of which 7.27 s in the kernel: the processor copies flash word by word.
#[test]
fn nor_flash_read_with_all_system_time() {
    let id = "nor-flash-cpu-copy";
    let read = |system| [sequential("seq-read", 4.6).own(0.0, system).cpu(0.0, system, 0.0)];
    let busy = run_on("nor-flash", "mtd1", read(0.998));
    assert!(confidence(&busy, id).is_some());
    assert_eq!(diagnose::limit(&busy).layer, LimitLayer::Cpu, "{:?}", diagnose::limit(&busy));
    let waiting = run_on("nor-flash", "mtd1", read(0.4));
    assert_eq!(confidence(&waiting, id), None);
    assert_ne!(diagnose::limit(&waiting).layer, LimitLayer::Cpu);
    assert!(missing(&run_on("nor-flash", "mtd1", []), id).is_some(), "without a run nobody knows");
}

/// The recorder writes through the page cache at 80 MB/s, its thread all the time in the kernel, to a disk that takes 220.
#[test]
fn a_camera_that_records_through_the_page_cache() {
    let id = "buffered-write-cpu-bound";
    let recording = |system, direct| {
        let buffered = sequential("buffered-write", 80.0).own(0.02, system).cpu(0.02, system, 0.0);
        [buffered, sequential("seq-write", direct)]
    };
    let slow = run_on("camera-recorder", "/mnt/sda1", recording(0.95, 220.0));
    assert!(confidence(&slow, id).is_some());
    let limit = diagnose::limit(&slow);
    assert_eq!(limit.layer, LimitLayer::PageCache, "{limit:?}");
    assert_eq!(limit.confidence, Confidence::Probable, "an alternating trial would make it sure: {limit:?}");
    let as_fast = run_on("camera-recorder", "/mnt/sda1", recording(0.95, 82.0));
    assert_eq!(confidence(&as_fast, id), None);
    assert!(missing(&run_on("camera-recorder", "/mnt/sda1", []), id).is_some());
}
