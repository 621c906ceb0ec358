//! Names of PCI devices and classes, from the PCI ID database (`data/pci.ids`), which is part of the program: a static
//! binary on a board without `pciutils` knows them too, and a capture reads the same everywhere.
//!
//! It is in the binary packed (`build.rs`), and unpacked when it is first asked. The text is searched as it is: the few devices of one
//! storage path are found in about a millisecond, and a table made at build time would cost four times the space.

use std::sync::LazyLock;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pci.ids.z"));

/// Vendors, devices and classes; lines of devices begin with a tab.
static DATABASE: LazyLock<String> = LazyLock::new(|| {
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(PACKED).expect("what the build packed");
    String::from_utf8(text).expect("a text")
});

/// `Intel Corporation Cannon Lake PCH SATA AHCI Controller`; the vendor alone where the device is not known.
pub(crate) fn device(vendor: u64, device: u64) -> Option<String> {
    let (name, devices) = section(&DATABASE, &format!("{vendor:04x}  "))?;
    match entry(devices, &format!("\t{device:04x}  ")) {
        Some(device) => Some(format!("{name} {device}")),
        None => Some(name.to_owned()),
    }
}

/// `SATA controller` for 0x010601: the name of the subclass, else of the class.
pub(crate) fn class(code: u64) -> Option<String> {
    let (class, subclass) = (code >> 16 & 0xff, code >> 8 & 0xff);
    let (name, subclasses) = section(&DATABASE, &format!("C {class:02x}  "))?;
    Some(entry(subclasses, &format!("\t{subclass:02x}  ")).unwrap_or(name).to_owned())
}

/// The name in the line that begins with `key`, and the indented lines after it.
fn section<'a>(database: &'a str, key: &str) -> Option<(&'a str, &'a str)> {
    let start = if database.starts_with(key) { 0 } else { database.find(&format!("\n{key}"))? + 1 };
    let rest = &database[start + key.len()..];
    let (name, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let mut end = 0;
    for line in rest.split_inclusive('\n').take_while(|l| l.starts_with('\t')) {
        end += line.len();
    }
    Some((name, &rest[..end]))
}

fn entry<'a>(lines: &'a str, key: &str) -> Option<&'a str> {
    lines.lines().find_map(|l| l.strip_prefix(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_vendors_and_classes() {
        assert_eq!(
            device(0x8086, 0x2922).as_deref(),
            Some("Intel Corporation 82801IR/IO/IH (ICH9R/DO/DH) 6 port SATA Controller [AHCI mode]")
        );
        assert_eq!(device(0x8086, 0x1_0000).as_deref(), Some("Intel Corporation"));
        assert_eq!(device(0x1af4, 0x1001).as_deref(), Some("Red Hat, Inc. Virtio block device"));
        assert_eq!(device(0xf0f0, 1), None);
        assert_eq!(class(0x01_0601).as_deref(), Some("SATA controller"));
        assert_eq!(class(0x01_018a).as_deref(), Some("IDE interface"));
        assert_eq!(class(0x01_0802).as_deref(), Some("Non-Volatile memory controller"));
        assert_eq!(class(0x01_ee00).as_deref(), Some("Mass storage controller"));
        assert_eq!(class(0xee_0000), None);
    }

    #[test]
    fn what_is_unpacked_is_the_database() {
        assert!(*DATABASE == include_str!("../data/pci.ids"));
    }

    #[test]
    fn the_end_of_a_section_is_the_next_vendor() {
        let text = "0001  A\n\t0002  B\n0003  C\n\t0002  D\n";
        assert_eq!(section(text, "0001  "), Some(("A", "\t0002  B\n")));
        assert_eq!(section(text, "0003  "), Some(("C", "\t0002  D\n")));
        assert_eq!(section(text, "0002  "), None);
    }
}
