//! BARs of PCI devices, which are files below /sys (k:Documentation/PCI/sysfs-pci.rst).

use crate::root::{Root, parse_hex};
use std::path::Path;

/// What the kernel says of a resource (k:include/linux/ioport.h).
const IORESOURCE_IO: u64 = 0x100;
const IORESOURCE_MEM: u64 = 0x200;
const IORESOURCE_PREFETCH: u64 = 0x2000;
/// The base class of memory controllers (PCI Code and ID Assignment Specification).
const MEMORY_CONTROLLER: u64 = 0x05;

/// What a device says of a BAR of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PciBar {
    /// Whether it is memory, and not ports.
    pub is_memory: bool,
    /// Whether reads of it have no side effects: it is prefetchable, or the device is a memory controller.
    pub is_plain_memory: bool,
    /// Whether the device answers: it was enabled, by its driver or by hand.
    pub enabled: bool,
}

/// What a file below /sys is, by its name without links, if it is a BAR.
pub fn pci_bar(root: &Root, path: &Path) -> Option<PciBar> {
    let name = path.file_name()?.to_str()?;
    let number = name.strip_prefix("resource")?.trim_end_matches("_wc").parse::<usize>().ok()?;
    let device = path.parent().filter(|_| path.starts_with("/sys/devices"))?.to_str()?;
    let text = |file: &str| root.text(&format!("{device}/{file}")).unwrap_or_default();
    // How often it was enabled (k:drivers/pci/pci-sysfs.c, enable_show).
    let enabled = text("enable").parse().is_ok_and(|times: u32| times > 0);
    Some(of_texts(number, &text("resource"), &text("class"), enabled))
}

fn of_texts(number: usize, resources: &str, class: &str, enabled: bool) -> PciBar {
    let flags = |line: &str| parse_hex(line.split_whitespace().nth(2)?);
    let flags = resources.lines().nth(number).and_then(flags).unwrap_or(0);
    let of_memory_controller = parse_hex(class).is_some_and(|class| class >> 16 == MEMORY_CONTROLLER);
    PciBar {
        is_memory: flags & IORESOURCE_IO == 0 && flags & IORESOURCE_MEM != 0,
        is_plain_memory: flags & IORESOURCE_PREFETCH != 0 || of_memory_controller,
        enabled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A virtio-gpu of QEMU: a prefetchable BAR, ports, and registers.
    const RESOURCES: &str = "0x00000000fd000000 0x00000000fd7fffff 0x0000000000042208\n\
                             0x000000000000c040 0x000000000000c05f 0x0000000000040101\n\
                             0x00000000febd0000 0x00000000febd0fff 0x0000000000040200\n\
                             0x0000000000000000 0x0000000000000000 0x0000000000000000\n";

    #[test]
    fn memory_ports_and_registers_are_distinguished() {
        let of = |number, class: &str| {
            let bar = of_texts(number, RESOURCES, class, true);
            (bar.is_memory, bar.is_plain_memory)
        };
        assert_eq!(of(0, "0x030000"), (true, true));
        assert_eq!(of(2, "0x010802"), (true, false));
        assert_eq!(of(2, "0x050000"), (true, true));
        for number in [1, 3, 9] {
            assert!(!of(number, "0x030000").0, "{number}");
        }
    }

    #[test]
    fn only_files_of_devices_are_bars() {
        let tree = tempfile::tempdir().unwrap();
        let device = tree.path().join("sys/devices/pci0000:00/0000:00:02.0");
        std::fs::create_dir_all(&device).unwrap();
        for (file, text) in [("resource", RESOURCES), ("class", "0x030000\n"), ("enable", "1\n")] {
            std::fs::write(device.join(file), text).unwrap();
        }
        let of = |path: &str| pci_bar(&Root::new(tree.path()), Path::new(path));
        let there = "/sys/devices/pci0000:00/0000:00:02.0";
        let whole = Some(PciBar { is_memory: true, is_plain_memory: true, enabled: true });
        assert_eq!((of(&format!("{there}/resource0")), of(&format!("{there}/resource0_wc"))), (whole, whole));
        assert!(of(&format!("{there}/resource1")).is_some_and(|bar| !bar.is_memory));
        assert_eq!((of(&format!("{there}/resource")), of(&format!("{there}/config"))), (None, None));
        assert_eq!(of("/home/me/resource0"), None);
        std::fs::write(device.join("enable"), "0\n").unwrap();
        assert!(of(&format!("{there}/resource0")).is_some_and(|bar| !bar.enabled));
    }
}
