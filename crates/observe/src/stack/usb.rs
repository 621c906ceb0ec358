//! USB mass storage: bulk only (one command at a time) or UAS (k:drivers/usb/storage/).

use super::ancestor::{Ancestor, adapter};
use super::below::LayersBelow;
use crate::ceiling;
use crate::facts;
use crate::root::Root;
use crate::settings::USB_MODULES;
use model::{Layer, LayerKind};

/// Interface protocol of UAS (USB Attached SCSI 1.0, table 4); bulk only is 0x50.
const PROTOCOL_UAS: u8 = 0x62;
const CLASS_MASS_STORAGE: u8 = 8;
const DESCRIPTOR_INTERFACE: u8 = 4;

/// Whether any alternate setting in a device's descriptors is UAS (USB 2.0 specification, 9.6.5).
pub(crate) fn offers_uas(descriptors: &[u8]) -> bool {
    let mut rest = descriptors;
    while let [length, kind, ..] = *rest {
        let length = usize::from(length);
        if length < 2 || length > rest.len() {
            return false;
        }
        let interface = kind == DESCRIPTOR_INTERFACE && length >= 9;
        if interface && rest[5] == CLASS_MASS_STORAGE && rest[7] == PROTOCOL_UAS {
            return true;
        }
        rest = &rest[length..];
    }
    false
}

/// Completes the disk and describes link and controller. `chain` starts at the interface or below it.
pub(super) fn attach(root: &Root, disk: &mut Layer, chain: &[Ancestor]) -> LayersBelow {
    let mut below = LayersBelow::default();
    let is_usb = |a: &&Ancestor| a.subsystem.as_deref() == Some("usb");
    let interface = chain.iter().find(|a| is_usb(a) && a.name.contains(':'));
    let device = chain.iter().find(|a| is_usb(a) && !a.name.contains(':'));
    let driver = interface.and_then(|i| i.driver.clone());
    let mut link = Layer::new(LayerKind::Link, device.map_or("usb", |d| d.name.as_str()));
    link.driver = driver.clone();
    let file = |name: &str| root.text(&format!("{}/{name}", device?.path));
    // Low speed is 1.5; no disk uses it, so that whole numbers do.
    let speed: Option<u64> = file("speed").and_then(|s| s.parse().ok());
    link.set(facts::USB_SPEED_MBIT_S, speed);
    link.set(facts::USB_VERSION, file("version"));
    link.set(facts::USB_ID, file("idVendor").zip(file("idProduct")).map(|(v, p)| format!("{v}:{p}")));
    let product: Vec<String> = [file("manufacturer"), file("product")].into_iter().flatten().collect();
    link.set(facts::USB_PRODUCT, (!product.is_empty()).then(|| product.join(" ")));
    link.set(facts::USB_DRIVER, driver.clone());
    let descriptors = device.and_then(|d| root.read(&format!("{}/descriptors", d.path)).ok());
    link.set(facts::USB_UAS_CAPABLE, descriptors.as_deref().map(offers_uas));
    link.set(facts::USB_PATH, device.map(|d| d.name.clone()));
    link.set(facts::USB_QUIRKS, file("quirks"));
    link.set(facts::USB_MAX_POWER, file("bMaxPower"));
    link.set(facts::USB_AUTOSUSPEND, file("power/control"));
    // An empty parameter is an answer: nobody set any.
    let quirks = root.read("/sys/module/usb_storage/parameters/quirks").ok();
    let quirks = quirks.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    link.set(facts::USB_STORAGE_QUIRKS, quirks.map(|q| if q.is_empty() { "none".to_owned() } else { q }));
    let hubs: Vec<&Ancestor> = chain.iter().filter(is_usb).filter(|a| !a.name.contains(':')).skip(1).collect();
    let speed_of = |hub: &Ancestor| root.text(&format!("{}/speed", hub.path));
    let root_speed: Option<u64> = hubs.last().and_then(|h| speed_of(h)?.parse().ok());
    link.set(facts::USB_ROOT_SPEED_MBIT_S, root_speed);
    let in_words = |hub: &&Ancestor| match speed_of(hub) {
        Some(speed) => format!("{} at {speed} Mbit/s", hub.name),
        None => hub.name.clone(),
    };
    let hubs: Vec<String> = hubs.iter().map(in_words).collect();
    link.set(facts::USB_HUBS, (!hubs.is_empty()).then_some(hubs));
    if let Some(ceiling) = speed.and_then(|s| ceiling::usb(s, driver.as_deref() == Some("uas"))) {
        ceiling.set_on(&mut link);
    }
    if driver.as_deref() == Some("usb-storage") {
        // Bulk-only transport has one command under way, whatever the SCSI layer would allow.
        disk.set(facts::QUEUE_DEPTH, 1u32);
    }
    if disk.fact(facts::SERIAL).is_none() {
        disk.set(facts::SERIAL, file("serial"));
    }
    // Above the root hub.
    let hub = chain.iter().rposition(|a| is_usb(&a));
    below.controller = hub.and_then(|at| adapter(&chain[at + 1..]));
    below.modules = &USB_MODULES;
    below.link = Some(link);
    below
}

#[cfg(test)]
mod tests {
    use super::offers_uas;

    #[test]
    fn uas_is_an_alternate_setting() {
        let device = [18, 1, 0x20, 3, 0, 0, 0, 9, 0x2d, 0x15, 0x78, 5, 0, 1, 1, 2, 3, 1];
        let bulk_only = [9, 4, 0, 0, 2, 8, 6, 0x50, 0];
        let uas = [9, 4, 0, 1, 4, 8, 6, 0x62, 0];
        assert!(!offers_uas(&[&device[..], &bulk_only].concat()));
        assert!(offers_uas(&[&device[..], &bulk_only, &uas].concat()));
        assert!(!offers_uas(&[9, 4, 0]));
        assert!(!offers_uas(&[0, 0, 0, 0]));
        assert!(!offers_uas(&[]));
    }
}
