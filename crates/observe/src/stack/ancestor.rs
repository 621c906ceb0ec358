//! The parent devices of a device under /sys/devices, and which of them is the host adapter.

use crate::root::{Root, file_name, parent};
use std::collections::BTreeMap;

/// One parent device.
#[derive(Clone, Debug)]
pub(crate) struct Ancestor {
    /// Directory under /sys/devices.
    pub path: String,
    /// Its last component.
    pub name: String,
    /// Class or bus.
    pub subsystem: Option<String>,
    /// Bound driver.
    pub driver: Option<String>,
}

/// Parents that were looked at before, by their path.
pub(crate) type KnownAncestors = BTreeMap<String, Ancestor>;

/// The parents of a device directory, nearest first, itself excluded.
pub(super) fn ancestors(root: &Root, directory: &str) -> Vec<Ancestor> {
    ancestors_known(root, directory, &mut KnownAncestors::new())
}

/// The same for one of many devices, which share most parents.
pub(super) fn ancestors_known(root: &Root, directory: &str, known: &mut KnownAncestors) -> Vec<Ancestor> {
    let mut out = Vec::new();
    let mut path = parent(directory);
    while path.starts_with("/sys/devices/") && out.len() < 64 {
        let look = || Ancestor {
            path: path.to_owned(),
            name: file_name(path).to_owned(),
            subsystem: root.link_name(&format!("{path}/subsystem")),
            driver: root.link_name(&format!("{path}/driver")),
        };
        out.push(known.entry(path.to_owned()).or_insert_with(look).clone());
        path = parent(path);
    }
    out
}

/// Whether a name is `domain:bus:device.function`.
pub(super) fn is_address(name: &str) -> bool {
    let hex = |text: &str, length: std::ops::RangeInclusive<usize>| {
        length.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let mut parts = name.splitn(3, ':');
    let (Some(domain), Some(bus), Some(slot)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let Some((device, function)) = slot.split_once('.') else { return false };
    hex(domain, 4..=8) && hex(bus, 2..=2) && hex(device, 2..=2) && hex(function, 1..=1)
}

/// Buses on which a host adapter sits.
fn is_adapter(a: &Ancestor) -> bool {
    matches!(
        a.subsystem.as_deref(),
        Some(
            "pci"
                | "platform"
                | "amba"
                | "virtio"
                | "vio"
                | "ccw"
                | "css"
                | "xen"
                | "vmbus"
                | "ssb"
                | "bcma"
                | "pcmcia"
        )
    )
}

/// The first host adapter of a chain: one with a driver if there is any.
pub(super) fn adapter(chain: &[Ancestor]) -> Option<Ancestor> {
    let bound = chain.iter().find(|a| is_adapter(a) && a.driver.is_some());
    bound.or_else(|| chain.iter().find(|a| is_adapter(a) || is_address(&a.name))).cloned()
}

#[cfg(test)]
mod tests {
    use super::is_address;

    #[test]
    fn addresses() {
        assert!(is_address("0000:00:1f.2"));
        assert!(is_address("10000:e1:00.0"));
        assert!(!is_address("pci0000:00"));
        assert!(!is_address("0000:00:1f"));
        assert!(!is_address("2-1:1.0"));
    }
}
