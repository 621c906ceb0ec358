//! PCI Express: the narrowest link between a device and its root.

use super::ancestor::{ancestors, is_address};
use crate::ceiling;
use crate::facts;
use crate::root::{Root, file_name};
use model::Layer;

/// One end of a link.
#[derive(Clone, Debug, PartialEq)]
struct End {
    address: String,
    speed_gt_s: f64,
    width: u32,
}

/// A device's way to the root.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PciePath {
    narrowest: End,
    /// The best transfer rate that both ends of the narrowest link know.
    narrowest_max_speed_gt_s: Option<f64>,
    /// The most lanes that both ends of the narrowest link have.
    narrowest_max_width: Option<u32>,
    max_speed_gt_s: Option<f64>,
    max_width: Option<u32>,
    port_max_speed_gt_s: Option<f64>,
    port_max_width: Option<u32>,
    bridges: u32,
}

/// What the endpoint's link may do to save power (k:drivers/pci/pcie/aspm.c; the files came with 5.5).
pub(super) fn set_power_management(root: &Root, layer: &mut Layer, device: &str) {
    let flag = |file: &str| root.flag(&format!("{device}/link/{file}"));
    layer.set(facts::PCIE_ASPM_L0S, flag("l0s_aspm"));
    layer.set(facts::PCIE_ASPM_L1, flag("l1_aspm"));
    let substates = [flag("l1_1_aspm"), flag("l1_2_aspm")];
    let any = substates.iter().any(Option::is_some).then(|| substates.contains(&Some(true)));
    layer.set(facts::PCIE_ASPM_L1_SUBSTATES, any);
}

/// Errors of the PCI Express link that the device has counted (k:Documentation/ABI/testing/sysfs-bus-pci-devices-aer).
pub(super) fn set_errors(root: &Root, layer: &mut Layer, device: &str) {
    let total = |file: &str, key: &str| -> Option<u64> {
        let text = root.text(&format!("{device}/{file}"))?;
        text.lines().find_map(|l| l.strip_prefix(key))?.trim().parse().ok()
    };
    layer.set(facts::AER_CORRECTABLE, total("aer_dev_correctable", "TOTAL_ERR_COR"));
    let uncorrectable = [total("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL"), total("aer_dev_fatal", "TOTAL_ERR_FATAL")];
    layer.set(facts::AER_UNCORRECTABLE, uncorrectable.into_iter().flatten().reduce(u64::saturating_add));
}

/// `8.0 GT/s PCIe`; `Unknown` and Gen1 of old kernels (`2.5 GT/s`) included.
fn speed(root: &Root, path: &str, file: &str) -> Option<f64> {
    let text = root.text(&format!("{path}/{file}"))?;
    let value: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    (value.is_finite() && value > 0.0 && text.contains("GT/s")).then_some(value)
}

/// Lanes; 0 and 255 mean that there is no link (integrated devices, links that are down).
fn width(root: &Root, path: &str, file: &str) -> Option<u32> {
    root.number(&format!("{path}/{file}")).filter(|w| (1..=32).contains(w))
}

/// The links from a PCI device up to the root; `None` if the device has no PCI Express link.
pub(super) fn path(root: &Root, device: &str) -> Option<PciePath> {
    let above = ancestors(root, device);
    let chain = std::iter::once(device).chain(above.iter().map(|a| a.path.as_str()));
    let chain: Vec<&str> = chain.filter(|p| is_address(file_name(p))).collect();
    let ends = chain.iter().enumerate().filter_map(|(at, p)| {
        let speed_gt_s = speed(root, p, "current_link_speed")?;
        let width = width(root, p, "current_link_width")?;
        // An unknown generation has no ceiling and cannot be compared.
        let bytes = ceiling::pcie(speed_gt_s, width)?.bytes_per_s;
        Some((bytes, at, End { address: file_name(p).to_owned(), speed_gt_s, width }))
    });
    let (_, at, narrowest) = ends.min_by_key(|(bytes, ..)| *bytes)?;
    // Functions alternate on the way up: the device and the port above it are the ends of one link, the upstream port of
    // a switch and the port above that are the ends of the next; inside of a switch there is no link.
    let both = [chain.get(at), chain.get(at ^ 1)];
    let least = |max: &dyn Fn(&str) -> Option<f64>| Some(max(both[0]?)?.min(max(both[1]?)?));
    let narrowest_max_speed_gt_s = least(&|p| speed(root, p, "max_link_speed"));
    let narrowest_max_width = least(&|p| width(root, p, "max_link_width").map(f64::from)).map(|w| w as u32);
    // The device itself must have a link: a device inside the root complex has no share in the links of others.
    let max_width = width(root, device, "max_link_width");
    width(root, device, "current_link_width")?;
    let port = above.first().filter(|a| is_address(&a.name)).map(|a| a.path.as_str());
    Some(PciePath {
        narrowest,
        narrowest_max_speed_gt_s,
        narrowest_max_width,
        max_speed_gt_s: speed(root, device, "max_link_speed"),
        max_width,
        port_max_speed_gt_s: port.and_then(|p| speed(root, p, "max_link_speed")),
        port_max_width: port.and_then(|p| width(root, p, "max_link_width")),
        bridges: above.iter().filter(|a| is_address(&a.name)).count() as u32,
    })
}

impl PciePath {
    /// `PCIe 8.0 GT/s x4`.
    pub fn name(&self) -> String {
        format!("PCIe {:.1} GT/s x{}", self.narrowest.speed_gt_s, self.narrowest.width)
    }

    /// Facts and ceiling.
    pub fn set_on(&self, layer: &mut Layer) {
        layer.set(facts::PCIE_SPEED_GT_S, self.narrowest.speed_gt_s);
        layer.set(facts::PCIE_WIDTH, self.narrowest.width);
        layer.set(facts::PCIE_NARROWEST, self.narrowest.address.as_str());
        layer.set(facts::PCIE_NARROWEST_MAX_SPEED_GT_S, self.narrowest_max_speed_gt_s);
        layer.set(facts::PCIE_NARROWEST_MAX_WIDTH, self.narrowest_max_width);
        layer.set(facts::PCIE_MAX_SPEED_GT_S, self.max_speed_gt_s);
        layer.set(facts::PCIE_MAX_WIDTH, self.max_width);
        layer.set(facts::PCIE_PORT_MAX_SPEED_GT_S, self.port_max_speed_gt_s);
        layer.set(facts::PCIE_PORT_MAX_WIDTH, self.port_max_width);
        layer.set(facts::PCIE_BRIDGES, self.bridges);
        if let Some(ceiling) = ceiling::pcie(self.narrowest.speed_gt_s, self.narrowest.width) {
            ceiling.set_on(layer);
        }
    }
}
