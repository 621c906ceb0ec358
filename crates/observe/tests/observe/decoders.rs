//! Whatever a register, a log or a configuration file holds: decoding it never panics, and what is shorter, longer or damaged
//! is no value.

use crate::tree::Tree;
use model::{Layer, LayerKind};
use observe::ata_identity::ATA_IDENTITY;
use observe::csd::card_specific_data;
use observe::ext_csd::EXTENDED_CSD;
use observe::health::ata::ata_health;
use observe::health::nvme::{NVME_HEALTH, nvme_identity};
use observe::{
    CaptureOptions, CapturedContent, Locator, ProbeOptions, capture, disks, facts, inventory, locate, write_tar,
};
use proptest::prelude::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn bytes(length: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), length)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn registers_of_cards(register in bytes(16), extended in bytes(512), is_sd in any::<bool>(), cut in 0usize..1_024) {
        let csd = card_specific_data(&hex(&register), is_sd);
        prop_assert!(csd.is_some_and(|c| c.transfer_mhz.is_none_or(|f| f > 0.0 && f <= 800.0)));
        let mut card = Layer::new(LayerKind::Disk, "mmcblk0");
        EXTENDED_CSD.set_on(&mut card, Some(&hex(&extended)));
        let depth = card.int(facts::EMMC_QUEUE_DEPTH);
        prop_assert!(depth.is_none_or(|d| (1..=32).contains(&d)));
        prop_assert_eq!(Some(depth.is_some()), card.bool(facts::EMMC_QUEUE_SUPPORTED));
        prop_assert!((EXTENDED_CSD.read)(&hex(&extended)[..cut]).is_none());
        prop_assert!(card_specific_data(&hex(&extended), is_sd).is_none());
    }

    #[test]
    fn text_that_is_no_register(text in "\\PC{0,1100}") {
        let _ = ((EXTENDED_CSD.read)(&text), (ATA_IDENTITY.read)(&text));
        let _ = (card_specific_data(&text, true), card_specific_data(&text, false));
    }

    #[test]
    fn identity_of_ata_disks(words in proptest::collection::vec(any::<u16>(), 256)) {
        let text: String = words.iter().map(|w| format!("{w:04x} ")).collect();
        let mut disk = Layer::new(LayerKind::Disk, "sda");
        ATA_IDENTITY.set_on(&mut disk, Some(&text));
        prop_assert!(disk.int(facts::ATA_NCQ_DEPTH).is_none_or(|d| (1..=32).contains(&d)));
        prop_assert!(disk.int(facts::ATA_SATA_GENERATION).is_none_or(|g| (1..=3).contains(&g)));
        prop_assert!(disk.int(facts::ATA_ROTATION_RPM) != Some(1));
        prop_assert!((ATA_IDENTITY.read)(&text[5..]).is_none());
    }

    #[test]
    fn answers_of_disks(mut data in bytes(512), identity in bytes(4_096), other in bytes(0..600), limit in any::<u64>()) {
        data[511] = data[..511].iter().fold(0, |s: u8, b| s.wrapping_add(*b)).wrapping_neg();
        for rotates in [true, false] {
            if let Some(health) = ata_health(&data, rotates) {
                prop_assert!(health.temperature_c.is_none_or(|t| (1..=125).contains(&t)));
                prop_assert!(health.used_percent.is_none_or(|p| p <= 100));
            }
        }
        let controller = nvme_identity(&identity).unwrap();
        prop_assert!((1..=32).contains(&controller.power_states.len()));
        prop_assert!(u64::from(controller.deepest_exit_us(limit)) <= limit);
        let mut disk = Layer::new(LayerKind::Disk, "nvme0n1");
        [&data, &other].iter().for_each(|log| NVME_HEALTH.set_on(&mut disk, Some(log)));
        let _ = (nvme_identity(&other), ata_health(&other, false));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Names that people give.
    #[test]
    fn names_of_targets(name in "(/|/dev/|/dev/mapper/|)[a-z0-9./!\\-]{0,12}", free in "\\PC{0,20}") {
        let tree = Tree::build("/sys/class/block/a1/dev = 8:0\n/proc/self/mountinfo = 1 0 8:0 / / rw - ext4 /dev/a1 rw\n");
        for name in [&name, &free] {
            if let Ok(Locator::Path { path, .. }) = locate(&tree.root(), name) {
                prop_assert!(path.starts_with('/') && !path.split('/').any(|p| p == ".."), "{path}");
            }
        }
    }

    /// What buses tell of a device: PCI and PCI Express attributes, USB, SCSI, NVMe and ATA classes.
    #[test]
    fn attributes_of_buses(
        values in proptest::collection::vec("(0x|-|)[0-9a-fA-F]{0,20}( GT/s PCIe|\n| x|)|Unknown|\\PC{0,12}", 20),
        speed in prop::sample::select(vec!["2.5 GT/s", "8.0 GT/s PCIe", "64.0 GT/s PCIe", "1e308 GT/s", "NaN GT/s", "-5.0 GT/s"]),
        width in any::<u32>(),
    ) {
        let device = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";
        let disk = format!("{device}/ata1/host0/target0:0:0/0:0:0:0/block/sda");
        let tree = Tree::build(&format!(
            "{disk}/dev = 8:0\n/sys/class/block/sda => {disk}\n/sys/block/sda => {disk}\n\
             /sys/devices/pci0000:00/0000:00:01.0/subsystem => /sys/bus/pci\n{device}/subsystem => /sys/bus/pci\n"
        ));
        let names = [
            "vendor", "device", "subsystem_vendor", "subsystem_device", "class", "max_link_speed", "max_link_width",
            "numa_node", "aer_dev_correctable", "aer_dev_fatal", "link/l1_aspm", "msi_irqs/7", "remapped_nvme",
            "dma_mask_bits", "power/control", "ata1/link1/ata_link/link1/sata_spd", "ata1/host0/scsi_host/host0/ahci_host_caps",
            "ata1/link1/dev1.0/ata_device/dev1.0/id", "ata1/link1/dev1.0/ata_device/dev1.0/spdn_cnt", "../max_link_speed",
        ];
        for (name, value) in names.iter().zip(&values) {
            tree.file(&format!("{device}/{name}"), value.as_bytes());
        }
        tree.file(&format!("{device}/current_link_speed"), speed.as_bytes());
        tree.file(&format!("{device}/current_link_width"), width.to_string().as_bytes());
        let seen = inventory(&tree.root(), &Locator::DeviceName("sda".into()));
        prop_assert_eq!(seen.stack.layers.last().map(|l| l.kind), Some(LayerKind::Host));
        for layer in &seen.stack.layers {
            prop_assert!(layer.ceiling_bytes_per_s.is_none_or(|c| c > 0), "{layer:?}");
        }
        prop_assert_eq!(disks(&tree.root()).len(), 1);
    }

    /// Configuration that nobody wrote by hand, and what a capture makes of it.
    #[test]
    fn configuration_files(
        rules in "((ACTION|KERNEL|ATTR\\{queue/[a-z]{0,4}\\}|ENV\\{A\\}|[a-z]{0,3})(==|!=|=|:=|)(\"[a-z0-9*?\\[\\]|!-]{0,6}\"|)(, |\n|\\\\\n| ))\\PC{0,3}{0,12}",
        lines in proptest::collection::vec("\\PC{0,40}", 6),
        log in "\\PC{0,80}UAS is ignored\\PC{0,400}",
    ) {
        let tree = Tree::build("/sys/devices/virtual/block/a/dev = 8:0\n/sys/class/block/a => /sys/devices/virtual/block/a\n\
                                /sys/block/a => /sys/devices/virtual/block/a\n");
        let config = [
            ("/etc/udev/rules.d/1.rules", rules.clone()),
            ("/usr/lib/udev/rules.d/2.rules", format!("ATTR{{queue/x}}=\"1\"\n{}", lines[0])),
            ("/etc/sysctl.d/a.conf", format!("vm.dirty_ratio = {}\n{}", lines[1], lines[2])),
            ("/etc/modprobe.d/a.conf", format!("options usb-storage {}\n{}", lines[1], lines[3])),
            ("/etc/tuned/active_profile", "x x y".into()),
            ("/etc/tuned/x/tuned.conf", format!("[main]\ninclude=x,y,{}\n[disk]\nreadahead={}\n", lines[4], lines[5])),
            ("/etc/tlp.conf", format!("DISK_IOSCHED={}", lines[0])),
            ("/proc/cmdline", lines.join(" ")),
            ("/usr/lib/tmpfiles.d/a.conf", format!("w /sys/block/a/queue/x - - - - {}", lines[2])),
            ("/proc/interrupts", lines.join("\n")),
            ("/narrows/kernel-log", log),
            ("/narrows/unreadable", lines.join("\n")),
            ("/sys/devices/virtual/block/a/queue/x", lines[4].clone()),
        ];
        for (path, text) in config {
            tree.file(path, text.as_bytes());
        }
        let root = tree.root();
        let seen = inventory(&root, &Locator::DeviceName("a".into()));
        prop_assert_eq!(seen.stack.layers.last().map(|l| l.kind), Some(LayerKind::Host));
        prop_assert_eq!(disks(&root).len(), 1);
        for keep_serials in [true, false] {
            let options = CaptureOptions { keep_serials, salt: 1, look: ProbeOptions::default() };
            let entries: Vec<_> = capture(&root, &[], &options).collect();
            let mut archive = Vec::new();
            write_tar("x", entries.iter().cloned(), &mut archive).unwrap();
            prop_assert_eq!(archive.len() % 512, 0);
            let files = entries.iter().filter(|e| matches!(e.content, CapturedContent::File(_))).count();
            prop_assert!(files > 2);
        }
    }
}

/// Links that lead out of the tree, and things that are no files: neither read, nor in a capture.
#[test]
fn a_hostile_tree_gives_nothing_away() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "TOP SECRET\n").unwrap();
    let tree = Tree::build(
        "/sys/devices/virtual/block/a/dev = 8:0\n/sys/class/block/a => /sys/devices/virtual/block/a\n\
         /sys/block/a => /sys/devices/virtual/block/a\n/proc/self/mountinfo = 1 0 8:0 / / rw - ext4 /dev/a rw\n",
    );
    let link = |path: &str, target: &str| {
        let host = tree.host(path);
        std::fs::create_dir_all(host.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, host).unwrap();
    };
    let secret = outside.path().join("secret");
    let device = "/sys/devices/virtual/block/a";
    link(&format!("{device}/serial"), secret.to_str().unwrap());
    link(
        &format!("{device}/queue/scheduler"),
        &format!("../../../../../../../../../../../../../..{}", secret.display()),
    );
    link("/etc/udev/rules.d", outside.path().to_str().unwrap());
    link("/proc/cmdline", "/proc/cmdline");
    link("/sys/block/loop", "loop");
    link(&format!("{device}/device"), "../../../../..");
    let fifo = tree.host(&format!("{device}/size"));
    if !std::process::Command::new("mkfifo").arg(fifo).status().is_ok_and(|s| s.success()) {
        eprintln!("SKIPPED in part: no mkfifo on this machine");
    }
    let huge = std::fs::File::create(tree.host("/proc/cpuinfo")).unwrap();
    huge.set_len(1 << 30).unwrap();
    let root = tree.root();
    for place in [Locator::DeviceName("a".into()), locate(&root, "/").unwrap()] {
        let seen = inventory(&root, &place);
        assert!(!format!("{seen:?}").contains("SECRET"));
    }
    for keep_serials in [true, false] {
        let options = CaptureOptions { keep_serials, salt: 1, look: ProbeOptions::default() };
        let mut total = 0;
        for entry in capture(&root, &[], &options) {
            if let CapturedContent::File(bytes) = &entry.content {
                assert!(!bytes.windows(6).any(|w| w == b"SECRET"), "{}", entry.path);
                total += bytes.len();
            }
        }
        assert!(total < 64 << 20, "{total} bytes");
    }
}
