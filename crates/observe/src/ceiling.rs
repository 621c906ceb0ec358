//! Line rates of links, and what they carry in practice.
//!
//! A ceiling is the line rate after line coding: what no transfer can exceed. The realistic value comes from published
//! measurements, is never used to refuse a number, and is set as the fact `realistic_bytes_per_s`.

use crate::facts;
use model::Layer;

/// A link's ceiling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ceiling {
    /// Line rate.
    pub bytes_per_s: u64,
    /// What such links carry in practice, where it is known.
    pub realistic_bytes_per_s: Option<u64>,
    /// How the line rate comes about.
    pub source: String,
}

impl Ceiling {
    /// Sets it on a layer.
    pub fn set_on(self, layer: &mut Layer) {
        layer.ceiling_bytes_per_s = Some(self.bytes_per_s);
        layer.ceiling_source = Some(self.source);
        layer.set(facts::REALISTIC_BYTES_PER_S, self.realistic_bytes_per_s);
    }
}

const MB: u64 = 1_000_000;

/// SATA: 8b/10b coding, so a tenth of the bit rate in bytes.
pub(crate) fn sata(gbit_s: f64) -> Option<Ceiling> {
    let (bytes, realistic) = match gbit_s {
        1.5 => (150, 135),
        3.0 => (300, 270),
        6.0 => (600, 550),
        _ => return None,
    };
    Some(Ceiling {
        bytes_per_s: bytes * MB,
        realistic_bytes_per_s: Some(realistic * MB),
        source: format!("SATA {gbit_s:.1} Gbit/s, 8b/10b coding"),
    })
}

/// PCI Express: bytes per second of one lane after line coding.
fn pcie_lane_bytes_per_s(gt_s: f64) -> Option<f64> {
    let efficiency = match gt_s {
        2.5 | 5.0 => 8.0 / 10.0,
        8.0 | 16.0 | 32.0 => 128.0 / 130.0,
        // FLIT mode, PCI Express 6.0 chapter 4.2.3: 242 of 256 bytes.
        64.0 => 242.0 / 256.0,
        _ => return None,
    };
    Some(gt_s * 1e9 * efficiency / 8.0)
}

/// PCI Express link.
pub(crate) fn pcie(gt_s: f64, width: u32) -> Option<Ceiling> {
    if !(1..=32).contains(&width) {
        return None;
    }
    let bytes = pcie_lane_bytes_per_s(gt_s)? * f64::from(width);
    Some(Ceiling {
        bytes_per_s: bytes as u64,
        // Packet headers and flow control leave 84 to 92 %.
        realistic_bytes_per_s: Some((bytes * 0.92) as u64),
        source: format!("PCIe {gt_s} GT/s x{width}, after line coding"),
    })
}

pub(crate) fn usb(mbit_s: u64, uas: bool) -> Option<Ceiling> {
    let (bytes, realistic) = match (mbit_s, uas) {
        (12, _) => (1_500_000, Some(MB)),
        (480, _) => (60 * MB, Some(40 * MB)),
        (5_000, true) => (500 * MB, Some(450 * MB)),
        (5_000, false) => (500 * MB, Some(400 * MB)),
        (10_000, _) => (1_212 * MB, Some(1_000 * MB)),
        (20_000, _) => (2_424 * MB, None),
        _ => return None,
    };
    Some(Ceiling { bytes_per_s: bytes, realistic_bytes_per_s: realistic, source: format!("USB {mbit_s} Mbit/s") })
}

/// MMC, SD: clock, width and edges.
pub(crate) fn mmc(mode: &str, clock_hz: u64, width: u64) -> Option<Ceiling> {
    let edges = if matches!(mode, "ddr50" | "ddr52" | "hs400") { 2 } else { 1 };
    let bytes_per_s = clock_hz.checked_mul(width)?.checked_mul(edges)? / 8;
    let permille = match mode {
        "hs400" => 750,
        "sdr104" | "ddr52" => 865,
        "hs200" => 875,
        "sd-hs" => 920,
        _ => 880,
    };
    (bytes_per_s > 0).then(|| Ceiling {
        bytes_per_s,
        realistic_bytes_per_s: bytes_per_s.checked_mul(permille).map(|b| b / 1_000),
        source: format!("{mode}: {clock_hz} Hz x {width} lines{}", if edges == 2 { ", both edges" } else { "" }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_rates_as_published() {
        let rate = |c: Option<Ceiling>| c.map(|c| c.bytes_per_s / MB);
        assert_eq!(rate(sata(6.0)), Some(600));
        assert_eq!(rate(sata(0.0)), None);
        assert_eq!(rate(pcie(2.5, 1)), Some(250));
        assert_eq!(rate(pcie(5.0, 1)), Some(500));
        assert_eq!(rate(pcie(8.0, 4)), Some(3938));
        assert_eq!(rate(pcie(16.0, 1)), Some(1969));
        assert_eq!(rate(pcie(32.0, 1)), Some(3938));
        assert_eq!(rate(pcie(8.0, 0)), None);
        assert_eq!(rate(pcie(8.0, 255)), None);
        assert_eq!(rate(usb(480, false)), Some(60));
        assert_eq!(rate(mmc("sdr104", 208_000_000, 4)), Some(104));
        assert_eq!(rate(mmc("ddr50", 50_000_000, 4)), Some(50));
        assert_eq!(rate(mmc("hs400", 200_000_000, 8)), Some(400));
        assert_eq!(rate(mmc("hs400", u64::MAX, 8)), None);
    }
}
