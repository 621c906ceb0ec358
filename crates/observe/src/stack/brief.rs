//! A disk in one line, from a few files.

use super::ancestor::{Ancestor, KnownAncestors, adapter, ancestors, ancestors_known};
use super::block::kind_of;
use super::{ata, mmc, nvme, pcie};
use crate::root::{Root, file_name};
use model::{DiskSummary, LayerKind};

/// A whole disk by its directory under /sys/devices.
pub(crate) fn brief(root: &Root, directory: &str, known: &mut KnownAncestors) -> DiskSummary {
    let name = file_name(directory);
    let file = |file: &str| root.text(&format!("{directory}/{file}"));
    let layer = kind_of(root, directory);
    if let Some(stacked) = stacked(name, layer, &file) {
        return stacked;
    }
    let rotational = root.flag(&format!("{directory}/queue/rotational"));
    let turning = match rotational {
        Some(true) => "hard disk",
        Some(false) => "SSD",
        None => "disk",
    };
    let model = file("device/model").or_else(|| file("device/name"));
    let chain = ancestors_known(root, directory, known);
    let controller = |at: usize| chain.get(at..).and_then(adapter);
    let driver_of = |at: usize| controller(at).and_then(|a| a.driver);
    let in_subsystem = |name: &str| chain.iter().position(|a| a.subsystem.as_deref() == Some(name));

    let mut out = DiskSummary { kind: turning.to_owned(), model, ..DiskSummary::new(name, layer) };
    if let Some(at) = chain.iter().position(|a| mmc::is_card(&a.name)) {
        out.transport = "mmc";
        out.kind = match file("device/type").as_deref() {
            Some("SD") => "SD card",
            Some("MMC") => "eMMC",
            _ => "MMC",
        }
        .to_owned();
        let host = chain[at].name.split(':').next().unwrap_or_default();
        out.link = mmc::link_in_words(root, host);
        out.driver = driver_of(at + 1);
    } else if name.starts_with("nvme") {
        out.transport = "nvme";
        out.kind = "NVMe SSD".to_owned();
        let controller = nvme::controller_directory(root, directory, &chain);
        let bus = controller.as_deref().and_then(|c| adapter(&ancestors(root, c)));
        out.model = out.model.or_else(|| root.text(&format!("{}/model", controller.as_deref()?)));
        out.link = bus.as_ref().and_then(|b| pcie::path(root, &b.path)).map(|p| p.name());
        out.driver = bus.and_then(|b| b.driver).or_else(|| Some("nvme".into()));
    } else if let Some(at) = chain.iter().position(|a| ata::is_port(&a.name)) {
        let bus = controller(at + 1);
        out.transport = if ata::is_ide(root, bus.as_ref()) { "ide" } else { "sata" };
        out.link = ata::link_in_words(root, &chain, at);
        out.driver = bus.and_then(|b| b.driver);
    } else if let Some(at) = in_subsystem("usb") {
        out.transport = "usb";
        out.link = usb_link(root, &chain[at..]);
        // Above the root hub.
        let hub = chain.iter().rposition(is_usb).unwrap_or(at);
        out.driver = driver_of(hub + 1);
        if root.flag(&format!("{directory}/removable")) == Some(true) {
            out.kind = "removable disk".to_owned();
        }
    } else if in_subsystem("virtio").is_some() && name.starts_with("vd") {
        out.transport = "virtio";
        out.kind = "virtual disk".to_owned();
        out.driver = Some("virtio_blk".to_owned());
    } else if in_subsystem("scsi").is_some() {
        out.transport = "scsi";
        out.driver = driver_of(0);
        if name.starts_with("sr") {
            out.kind = "optical drive".to_owned();
        }
    } else if name.starts_with("xvd") {
        out.transport = "xen";
        out.kind = "virtual disk".to_owned();
    } else if ["nbd", "rbd", "drbd"].iter().any(|p| name.starts_with(p)) {
        out.transport = "network";
        out.kind = "network disk".to_owned();
    } else if directory.starts_with("/sys/devices/virtual/") {
        out.transport = "virtual";
        out.kind = "virtual disk".to_owned();
    } else {
        out.driver = driver_of(0);
    }
    out
}

/// A device that is made of others.
fn stacked(name: &str, layer: LayerKind, file: &dyn Fn(&str) -> Option<String>) -> Option<DiskSummary> {
    let of = |kind: &str, model: Option<String>, driver: &str| {
        let (kind, driver) = (kind.to_owned(), Some(driver.to_owned()));
        Some(DiskSummary { kind, model, transport: "virtual", driver, ..DiskSummary::new(name, layer) })
    };
    match layer {
        LayerKind::Loop => of("loop device", file("loop/backing_file"), "loop"),
        LayerKind::Dm => of("mapped volume", file("dm/name"), "device-mapper"),
        LayerKind::Md => {
            let level = file("md/level").unwrap_or_else(|| "of unknown level".into());
            of(&format!("RAID {level}"), None, "md")
        }
        LayerKind::Zram => of("compressed memory", None, "zram"),
        _ => None,
    }
}

fn is_usb(ancestor: &Ancestor) -> bool {
    ancestor.subsystem.as_deref() == Some("usb")
}

/// Speed and driver of the interface by which a disk hangs on its bus; `chain` begins there.
fn usb_link(root: &Root, chain: &[Ancestor]) -> Option<String> {
    let mut members = chain.iter().filter(|a| is_usb(a));
    let driver = members.clone().find(|a| a.name.contains(':')).and_then(|a| a.driver.clone());
    let device = members.find(|a| !a.name.contains(':'));
    match (device.and_then(|d| root.text(&format!("{}/speed", d.path))), driver) {
        (Some(speed), Some(driver)) => Some(format!("USB {speed} Mbit/s, {driver}")),
        (Some(speed), None) => Some(format!("USB {speed} Mbit/s")),
        (None, driver) => driver,
    }
}

/// Driver below an MTD partition: of the flash chip, or of what it hangs on.
pub(crate) fn mtd_driver(root: &Root, class: &str) -> Option<String> {
    let directory = root.canonical(class)?;
    ancestors(root, &directory).into_iter().find_map(|a| a.driver)
}
