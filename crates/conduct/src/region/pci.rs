//! BARs of PCI devices as files below /sys (k:Documentation/PCI/sysfs-pci.rst).

use model::Failure;
use std::path::Path;

/// What the kernel says of a resource (k:include/linux/ioport.h).
const IORESOURCE_IO: u64 = 0x100;
const IORESOURCE_MEM: u64 = 0x200;
const IORESOURCE_PREFETCH: u64 = 0x2000;
/// The base class of memory controllers (PCI Code and ID Assignment Specification).
const MEMORY_CONTROLLER: u64 = 0x05;

/// A BAR that is memory, of a device that is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    prefetchable: bool,
    class: u64,
}

impl Bar {
    /// Whether reads have no side effects, by what the device says of itself.
    pub fn is_memory(self) -> bool {
        self.prefetchable || self.class >> 16 == MEMORY_CONTROLLER
    }
}

/// What a file is, if it is a BAR.
///
/// # Errors
/// It is one of ports, or its device is off.
pub(super) fn bar(path: &Path) -> Result<Option<Bar>, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let number = name.strip_prefix("resource").map(|n| n.trim_end_matches("_wc")).and_then(|n| n.parse::<usize>().ok());
    let (Some(number), Some(device)) = (number, path.parent()) else { return Ok(None) };
    if !path.starts_with("/sys/devices") {
        return Ok(None);
    }
    let text = |file: &str| std::fs::read_to_string(device.join(file)).unwrap_or_default();
    // How often it was enabled: by its driver, by hand (k:drivers/pci/pci-sysfs.c, enable_show).
    let enabled = text("enable").trim().parse().is_ok_and(|times: u32| times > 0);
    of_texts(&path.display().to_string(), number, &text("resource"), enabled, text("class").trim()).map(Some)
}

fn of_texts(name: &str, number: usize, resources: &str, enabled: bool, class: &str) -> Result<Bar, Failure> {
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let flags = resources.lines().nth(number).and_then(|line| hex(line.split_whitespace().nth(2)?)).unwrap_or(0);
    let refuse = |what: &str, remedy: &str| Err(Failure::refused(format!("{name}: {what}")).remedy(remedy.to_owned()));
    if flags & IORESOURCE_IO != 0 || flags & IORESOURCE_MEM == 0 {
        return refuse("this BAR is not memory", "the file resource beside it says which are: flags with 0x200");
    }
    if !enabled {
        return refuse(
            "the device is disabled, and its memory does not answer",
            "bind its driver, or: echo 1 > enable   in its directory",
        );
    }
    Ok(Bar { prefetchable: flags & IORESOURCE_PREFETCH != 0, class: hex(class).unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FailureKind;

    /// A virtio-gpu of QEMU: a prefetchable BAR, ports, and registers.
    const RESOURCES: &str = "0x00000000fd000000 0x00000000fd7fffff 0x0000000000042208\n\
                             0x000000000000c040 0x000000000000c05f 0x0000000000040101\n\
                             0x00000000febd0000 0x00000000febd0fff 0x0000000000040200\n\
                             0x0000000000000000 0x0000000000000000 0x0000000000000000\n";

    #[test]
    fn bars_are_told_apart() {
        let of = |number, enabled, class: &str| of_texts("x", number, RESOURCES, enabled, class).map(Bar::is_memory);
        assert_eq!(of(0, true, "0x030000"), Ok(true));
        assert_eq!(of(2, true, "0x010802"), Ok(false));
        assert_eq!(of(2, true, "0x050000"), Ok(true));
        for (number, enabled, says) in
            [(1, true, "not memory"), (3, true, "not memory"), (9, true, "not memory"), (0, false, "disabled")]
        {
            let failure = of(number, enabled, "0x030000").unwrap_err();
            assert!(failure.kind == FailureKind::Refused && failure.message.contains(says), "{failure:?}");
        }
    }
}
