//! Every machine of `trees/` as a whole: its list of disks and the path below each target are snapshots, and what a study
//! or a finding rests on is asserted beside them.

use crate::tree::{TREES, Tree, picture};
use model::{Fact, Layer, LayerKind};
use observe::{Inventory, disks, facts, inventory, locate};

/// Resolved as `narrows inspect TARGET --root DIR` does.
fn seen(tree: &Tree, target: &str) -> Inventory {
    let root = tree.root();
    inventory(&root, &locate(&root, target).unwrap_or_else(|e| panic!("{target}: {e}")))
}

fn only(seen: &Inventory, kind: LayerKind) -> &Layer {
    let found: Vec<_> = seen.stack.all(kind).collect();
    assert_eq!(found.len(), 1, "{kind:?}");
    found[0]
}

fn list(layer: &Layer, fact: &str) -> Vec<String> {
    match layer.fact(fact) {
        Some(Fact::List(list)) => list.clone(),
        other => panic!("{fact}: {other:?}"),
    }
}

#[track_caller]
fn snapshot(name: &str, target: &str) -> Inventory {
    let tree = Tree::of(name);
    let seen = seen(&tree, target);
    let list: String = disks(&tree.root()).iter().map(|d| format!("{d:?}\n")).collect();
    insta::assert_snapshot!(name, format!("{list}\n{}", picture(&seen)));
    seen
}

#[test]
fn every_tree_is_in_the_table_with_its_source() {
    let table = std::fs::read_to_string(format!("{TREES}/README.md")).unwrap();
    for entry in std::fs::read_dir(TREES).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(tree) = name.strip_suffix(".tree") else { continue };
        assert!(table.contains(&format!("`{tree}`")), "{tree} is not in README.md");
        Tree::of(tree);
    }
}

#[test]
fn the_register_of_the_a20() {
    let old = snapshot("sunxi-a20", "/dev/sda1");
    let controller = only(&old, LayerKind::Controller);
    assert_eq!(controller.driver.as_deref(), Some("ahci-sunxi"));
    assert_eq!(controller.int(facts::SUNXI_AHCI_P0DMACR), Some(0x4400));
    assert_eq!(list(controller, facts::IRQS), ["51 ahci-sunxi[1c18000.sata]: CPU 0"]);
    let fixed = seen(&Tree::of("sunxi-a20-fixed"), "/");
    assert_eq!(only(&fixed, LayerKind::Controller).int(facts::SUNXI_AHCI_P0DMACR), Some(0x4433));
    let unread = seen(&Tree::of("sunxi-a20-unread"), "sda");
    assert_eq!(only(&unread, LayerKind::Controller).facts[facts::SUNXI_AHCI_P0DMACR], Fact::Null);
    assert!(unread.missing.iter().any(|m| m.contains("--read-registers")), "{:?}", unread.missing);
}

#[test]
fn one_pc_in_two_modes() {
    let ide = snapshot("pc-ide", "/");
    let (disk, controller) = (only(&ide, LayerKind::Disk), only(&ide, LayerKind::Controller));
    assert_eq!((disk.text(facts::TRANSPORT), disk.bool(facts::NCQ)), (Some("ide"), Some(false)));
    assert_eq!(controller.text(facts::PCI_CLASS_NAME), Some("IDE interface"));
    let ahci = snapshot("pc-ahci", "/");
    let (disk, controller) = (only(&ahci, LayerKind::Disk), only(&ahci, LayerKind::Controller));
    assert_eq!((disk.text(facts::TRANSPORT), disk.bool(facts::NCQ)), (Some("sata"), Some(true)));
    assert_eq!(controller.int(facts::AHCI_COMMAND_SLOTS), Some(32));
    assert_eq!(ahci.stack.lowest_ceiling().and_then(|l| l.ceiling_bytes_per_s), Some(300_000_000));
}

#[test]
fn an_a2_card_with_and_without_a_queue() {
    let near = snapshot("sd-a2-queue", "mmcblk0");
    assert_eq!(only(&near, LayerKind::Controller).bool(facts::MMC_HOST_CQE), Some(true));
    assert_eq!(only(&near, LayerKind::Disk).int(facts::QUEUE_DEPTH), Some(32));
    let log = list(only(&near, LayerKind::Host), facts::KERNEL_LOG_STORAGE);
    assert_eq!(log, ["mmc0: Command Queue Engine enabled, 32 tags"]);
    let without = seen(&Tree::of("raspberry-pi-sd"), "/dev/mmcblk0");
    assert_eq!(only(&without, LayerKind::Controller).bool(facts::MMC_HOST_CQE), Some(false));
    assert_eq!(only(&without, LayerKind::Disk).int(facts::APP_PERFORMANCE_CLASS), Some(2));
    assert_eq!(only(&without, LayerKind::Host).facts[facts::KERNEL_LOG_STORAGE], Fact::Null);
}

#[test]
fn sdr104_by_the_actual_clock() {
    let seen = snapshot("sd-sdr104-derated", "/");
    let link = only(&seen, LayerKind::Link);
    assert_eq!((link.text(facts::BUS_MODE), link.int(facts::CLOCK_HZ)), (Some("sdr104"), Some(150_000_000)));
    assert_eq!(link.ceiling_bytes_per_s, Some(75_000_000));
}

#[test]
fn flash_of_both_kinds() {
    let parallel = snapshot("nor-flash", "/data");
    let flash = only(&parallel, LayerKind::Disk);
    assert_eq!((flash.name.as_str(), flash.text(facts::MTD_TYPE)), ("mtd1", Some("nor")));
    assert_eq!(flash.text(facts::MTD_FLASH_DRIVER), Some("physmap-flash"));
    assert_eq!(only(&parallel, LayerKind::Link).int(facts::MTD_BANK_WIDTH_BYTES), Some(4));
    let serial = snapshot("spi-nor", "mtd0");
    let link = only(&serial, LayerKind::Link);
    assert_eq!((link.int(facts::SPI_MAX_HZ), link.bool(facts::SPI_FAST_READ)), (Some(25_000_000), Some(false)));
    assert_eq!(link.ceiling_bytes_per_s, Some(3_125_000));
    assert_eq!(only(&serial, LayerKind::Controller).driver.as_deref(), Some("ath79-spi"));
}

#[test]
fn two_bridges_on_a_raspberry_pi() {
    let fast = snapshot("raspberry-pi-usb", "/srv");
    let link = only(&fast, LayerKind::Link);
    assert_eq!((link.driver.as_deref(), link.int(facts::USB_SPEED_MBIT_S)), (Some("uas"), Some(5_000)));
    let slow = seen(&Tree::of("raspberry-pi-usb"), "/media/backup");
    let link = only(&slow, LayerKind::Link);
    assert_eq!((link.driver.as_deref(), link.bool(facts::USB_UAS_CAPABLE)), (Some("usb-storage"), Some(true)));
    assert_eq!(list(link, facts::USB_HUBS), ["1-1 at 480 Mbit/s", "usb1 at 480 Mbit/s"]);
    assert_eq!(list(link, facts::SET_BY), ["usb_storage.quirks=152d:0578:u: kernel command line"]);
    assert_eq!(only(&slow, LayerKind::Disk).int(facts::QUEUE_DEPTH), Some(1));
}

#[test]
fn an_nvme_disk_with_health_and_who_set_what() {
    let seen = snapshot("nvme-pc", "/");
    let disk = only(&seen, LayerKind::Disk);
    assert_eq!(disk.bool(facts::HEALTH_OK), Some(true));
    assert_eq!((disk.int(facts::TEMPERATURE_C), disk.int(facts::WEAR_PERCENT)), (Some(38), Some(3)));
    assert_eq!(disk.int(facts::NVME_HMB_PREFERRED_BYTES), Some(64 << 20));
    assert_eq!(disk.int(facts::NVME_DEEPEST_EXIT_US), Some(1_200), "the limit of 5,500 us excludes the deeper state");
    assert_eq!(
        list(disk, facts::SET_BY),
        [
            "scheduler=bfq: /etc/udev/rules.d/60-schedulers.rules:2",
            "read_ahead_kb=128: /etc/udev/rules.d/60-schedulers.rules:5, if its other conditions hold",
            "read_ahead_kb=>4096: tuned profile throughput-performance, \
             /usr/lib/tuned/throughput-performance/tuned.conf:6",
            "nvme_core.default_ps_max_latency_us=5500: kernel command line",
        ],
        "a file of the same name in /etc hides the one in /usr/lib"
    );
    let host = list(only(&seen, LayerKind::Host), facts::SET_BY);
    assert!(
        host.contains(&"vm.dirty_background_bytes=67108864: /etc/sysctl.d/90-writeback.conf:1".to_owned()),
        "{host:?}"
    );
    assert!(host.iter().all(|l| !l.contains("ip_forward")));
    assert_eq!(only(&seen, LayerKind::Controller).int(facts::IRQ_CPUS), Some(2));
    assert_eq!(only(&seen, LayerKind::Link).bool(facts::PCIE_ASPM_L1_SUBSTATES), Some(true));
}

#[test]
fn an_emmc_tells_its_registers() {
    let seen = snapshot("emmc-board", "/");
    let card = only(&seen, LayerKind::Disk);
    assert_eq!((card.bool(facts::EMMC_QUEUE_SUPPORTED), card.bool(facts::CMDQ_EN)), (Some(true), Some(false)));
    assert_eq!(card.int(facts::EMMC_CACHE_BYTES), Some(65_536));
    assert!(card.facts[facts::EMMC_ENHANCED_BYTES].is_null(), "-EINVAL as an unsigned number is not a size");
    let host = only(&seen, LayerKind::Controller);
    assert_eq!(host.int(facts::MMC_HOST_MAX_HZ), Some(200_000_000));
    assert!(list(host, facts::MMC_HOST_PROPERTIES).contains(&"bus-width=8".to_owned()));
    assert_eq!(seen.stack.lowest_ceiling().and_then(|l| l.ceiling_bytes_per_s), Some(400_000_000));
}

#[test]
fn layers_upon_layers() {
    let seen = snapshot("crypt-raid-loop", "/srv/image");
    use LayerKind::*;
    let kinds: Vec<LayerKind> = seen.stack.layers.iter().map(|l| l.kind).collect();
    assert_eq!(kinds, [Filesystem, Loop, Filesystem, Dm, Dm, Md, Disk, Disk, Disk, Host]);
    assert_eq!(seen.stack.all(Dm).nth(1).and_then(|l| l.text(facts::DM_TYPE)), Some("crypt-luks2"));
    assert_eq!(seen.stack.lowest_counted().len(), 3);
}

#[test]
fn a_camera_that_records() {
    let seen = snapshot("camera-recorder", "/mnt/sda1");
    assert_eq!(only(&seen, LayerKind::Controller).driver.as_deref(), Some("elphel-ahci"));
    assert_eq!(only(&seen, LayerKind::Link).ceiling_bytes_per_s, Some(300_000_000));
}
