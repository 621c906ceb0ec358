//! All disks of the machine, one line each: what the plain list needs and no more, so that 1,000 of them are quick.

use crate::block_devices::{parse_device, unnumbered_directory};
use crate::root::Root;
use crate::stack::KnownAncestors;
use crate::stack::brief::brief;
use model::{DiskSummary, LayerKind};

/// Block devices that are always there and empty: not disks.
fn is_placeholder(name: &str, size_bytes: Option<u64>) -> bool {
    let unused = ["loop", "ram", "zram", "nbd", "fd"].iter().any(|p| name.starts_with(p)) && size_bytes == Some(0);
    unused || name.starts_with("ram")
}

/// All whole disks, then all MTD partitions, in the order of their names. Loop, network and memory disks that are not
/// set up are left out.
pub fn disks(root: &Root) -> Vec<DiskSummary> {
    let mut out = Vec::new();
    let mut known = KnownAncestors::new();
    let (base, names) = whole_disks(root);
    for name in names {
        let path = format!("{base}/{name}");
        let sectors: Option<u64> = root.number(&format!("{path}/size"));
        let size_bytes = sectors.and_then(|s| s.checked_mul(512));
        if is_placeholder(&name, size_bytes) || name.starts_with("mtdblock") {
            continue;
        }
        let Some(directory) = root.canonical(&path) else { continue };
        let device = root.text(&format!("{directory}/dev")).as_deref().and_then(parse_device);
        if device.is_none() && unnumbered_directory(root, &name).is_none() {
            continue;
        }
        out.push(DiskSummary { size_bytes, device, ..brief(root, &directory, &mut known) });
    }
    let mut flash = root.list("/sys/class/mtd");
    // Each partition has a second, read-only character device.
    flash.retain(|name| name.strip_prefix("mtd").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())));
    for name in flash {
        let class = format!("/sys/class/mtd/{name}");
        let kind = match root.text(&format!("{class}/type")).as_deref() {
            Some("nor") => "NOR flash".to_owned(),
            Some("nand") => "NAND flash".to_owned(),
            Some("mlc-nand") => "MLC NAND flash".to_owned(),
            Some(other) => format!("MTD {other}"),
            None => "MTD".to_owned(),
        };
        out.push(DiskSummary {
            kind,
            model: root.text(&format!("{class}/name")),
            size_bytes: root.number(&format!("{class}/size")),
            transport: "mtd",
            driver: crate::stack::brief::mtd_driver(root, &class),
            ..DiskSummary::new(name, LayerKind::Disk)
        });
    }
    out
}

/// The names of all disks and where they are: a /sys that is only partly there may lack /sys/block.
fn whole_disks(root: &Root) -> (&'static str, Vec<String>) {
    let names = root.list("/sys/block");
    if !names.is_empty() {
        return ("/sys/block", names);
    }
    let mut names = root.list("/sys/class/block");
    names.retain(|n| !root.exists(&format!("/sys/class/block/{n}/partition")));
    ("/sys/class/block", names)
}
