//! What a link could carry in the best mode that both of its ends know, over what it carries as it is.

use crate::stack_view::{DiskPath, Facts, Missing};
use model::facts as names;
use model::{Fact, Layer};

/// SDR104 at its full clock (SD Physical Layer Specification, UHS-I).
const SDR104_HZ: f64 = 208e6;
/// From this clock on SDR104 is not derated: clock trees rarely divide to 208 MHz exactly.
const SDR104_ENOUGH_HZ: f64 = 180e6;

/// A PCI Express link as it is, and as both of its ends could have it.
pub(crate) struct PcieLink {
    /// What it could carry over what it carries; 1 at its best.
    pub ratio: f64,
    /// The facts that this rests on.
    pub facts: Vec<&'static str>,
}

/// What a link carries in proportion to others: transfer rate, share of the bits that are data, lanes. 8 of 10 bits carry
/// data up to 5 GT/s, 128 of 130 up to 32 GT/s, 242 of 256 above (PCI Express Base Specification 6.0, 4.2).
fn carried(speed_gt_s: f64, width: f64) -> f64 {
    let data = match speed_gt_s {
        s if s <= 5.0 => 8.0 / 10.0,
        s if s <= 32.0 => 128.0 / 130.0,
        _ => 242.0 / 256.0,
    };
    speed_gt_s * data * width
}

/// The narrowest PCI Express link of a path.
pub(crate) fn pcie(link: &Layer) -> Result<PcieLink, Missing> {
    let number = |name| link.need_number(name);
    let (speed, width) = (number(names::PCIE_SPEED_GT_S)?, number(names::PCIE_WIDTH)?);
    let mut facts = vec![names::PCIE_SPEED_GT_S, names::PCIE_WIDTH];
    let (best_speed, best_width) = if link.facts.contains_key(names::PCIE_NARROWEST_MAX_SPEED_GT_S) {
        // The narrowest link need not be the device's own: above a switch its neighbours decide.
        facts.extend([names::PCIE_NARROWEST, names::PCIE_MAX_SPEED_GT_S, names::PCIE_MAX_WIDTH]);
        facts.extend([names::PCIE_NARROWEST_MAX_SPEED_GT_S, names::PCIE_NARROWEST_MAX_WIDTH]);
        (number(names::PCIE_NARROWEST_MAX_SPEED_GT_S)?, number(names::PCIE_NARROWEST_MAX_WIDTH)?)
    } else {
        // Without the slot's side a device in an older slot would look degraded.
        facts.extend([names::PCIE_MAX_SPEED_GT_S, names::PCIE_MAX_WIDTH]);
        facts.extend([names::PCIE_PORT_MAX_SPEED_GT_S, names::PCIE_PORT_MAX_WIDTH]);
        let (max_speed, max_width) = (number(names::PCIE_MAX_SPEED_GT_S)?, number(names::PCIE_MAX_WIDTH)?);
        let port = (number(names::PCIE_PORT_MAX_SPEED_GT_S)?, number(names::PCIE_PORT_MAX_WIDTH)?);
        (max_speed.min(port.0), max_width.min(port.1))
    };
    let now = carried(speed, width);
    let best = carried(best_speed, best_width);
    let could_do_more = now > 0.0 && (speed < best_speed || width < best_width);
    Ok(PcieLink { ratio: if could_do_more { (best / now).max(1.0) } else { 1.0 }, facts })
}

/// The clock that SDR104 could have over the one that it has, where the host derates it.
pub(crate) fn sdr104(path: &DiskPath<'_>) -> Result<Option<f64>, Missing> {
    if path.need(names::BUS_MODE)?.need_text(names::BUS_MODE)? != "sdr104" {
        return Ok(None);
    }
    let clock = path.need(names::CLOCK_HZ)?.need_number(names::CLOCK_HZ)?;
    Ok((clock > 0.0 && clock < SDR104_ENOUGH_HZ).then(|| SDR104_HZ / clock))
}

/// The line rate, bytes per second, of the best mode of 1.8 V that a host of SD cards offers, at four lines.
pub(crate) fn best_of_sd_host(path: &DiskPath<'_>) -> Option<f64> {
    let Some(Fact::List(modes)) = path.holder(names::MMC_HOST_MODES)?.fact(names::MMC_HOST_MODES) else { return None };
    let offers = |mode: &str| modes.iter().any(|m| m == mode);
    if offers("sdr104") {
        Some(104e6)
    } else if offers("sdr50") || offers("ddr50") {
        Some(50e6)
    } else {
        None
    }
}

/// The line rate, bytes per second, of the best mode that host and eMMC know, at 200 MHz and eight lines. What the card
/// can do is in EXT_CSD byte 196, which only root may read; where it is not known the host decides.
pub(crate) fn best_of_emmc(host: &[String], card: Option<&Vec<String>>) -> Option<f64> {
    let offers = |mode: &str| host.iter().any(|m| m == mode) && card.is_none_or(|c| c.iter().any(|m| m == mode));
    if offers("hs400") {
        Some(400e6)
    } else if offers("hs200") {
        Some(200e6)
    } else {
        None
    }
}

/// How many times faster the bus of a card could be in its best mode, and what that rests on; `None` where the facts tell
/// of none.
pub(crate) fn faster_card_bus(path: &DiskPath<'_>) -> Option<(f64, &'static str)> {
    if let Some(ratio) = sdr104(path).ok()? {
        return Some((ratio, "208 MHz over the actual clock"));
    }
    let link = path.holder(names::BUS_MODE)?;
    let mode = link.text(names::BUS_MODE)?;
    let now = link.ceiling_bytes_per_s? as f64;
    let best = match path.disk.text(names::MMC_TYPE)? {
        "SD" if matches!(mode, "legacy" | "sd-hs") && path.disk.int(names::UHS_GRADE)? >= 1 => best_of_sd_host(path)?,
        "MMC" if matches!(mode, "legacy" | "mmc-hs" | "ddr52") && link.int(names::BUS_WIDTH)? == 8 => {
            let list = |layer: &Layer, name| match layer.fact(name) {
                Some(Fact::List(modes)) => Some(modes.clone()),
                _ => None,
            };
            let host = list(path.holder(names::MMC_HOST_MODES)?, names::MMC_HOST_MODES)?;
            best_of_emmc(&host, list(path.disk, names::EMMC_MODES).as_ref())?
        }
        _ => return None,
    };
    Some((best / now, "line rate of the best mode of card and host over that of the mode in use"))
}
