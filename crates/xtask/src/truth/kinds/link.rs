//! The link carries less than the device gives.

use super::{Draw, Kind, Scenario, nvme, plain, sata};
use crate::truth::scenario::Device;
use model::{Environment, LayerKind, LimitLayer, Stack};

pub(super) const KINDS: &[Kind] = &[
    ("link-sata", in_sata),
    ("link-nvme", in_nvme),
    ("link-emmc", in_emmc),
    ("link-sd-high-speed", in_sd),
    ("link-usb-uas", in_usb),
    ("link-pcie-degraded", in_degraded_pcie),
    ("link-wasteful", wasteful),
];

/// A device that would give so many times what the link carries.
fn faster(device: Device, line: f64, efficiency: f64, draw: &mut Draw) -> Device {
    let media = line * efficiency * draw.between(1.15, 4.0);
    device
        .rate("link", line)
        .set("link-efficiency", format!("{efficiency:.3}"))
        .rate("read-bandwidth", media)
        .rate("write-bandwidth", media * draw.between(0.95, 1.2))
}

fn in_sata(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let line = draw.one_of(&[150e6, 300e6, 600e6]);
    let efficiency = draw.between(0.86, 0.93);
    Ok(faster(sata(draw), line, efficiency, draw).limits(LimitLayer::Link))
}

/// A bridge or controller that loses a third to a fifth of what such links carry elsewhere.
fn wasteful(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let line = draw.one_of(&[300e6, 600e6]);
    let efficiency = draw.between(0.58, 0.74);
    Ok(faster(sata(draw), line, efficiency, draw).limits(LimitLayer::Link))
}

fn in_nvme(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let line = draw.one_of(&[250e6, 500e6, 985e6, 1970e6]);
    let efficiency = draw.between(0.84, 0.92);
    Ok(faster(nvme(draw), line, efficiency, draw).limits(LimitLayer::Link))
}

fn in_emmc(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let line = draw.one_of(&[52e6, 104e6, 200e6]);
    let efficiency = draw.between(0.82, 0.9);
    let emmc = plain(Device::named("emmc").set("host-queue", 32).set("units", 16), draw)
        .set("read-points", "4KiB:5083")
        .set("random-write-points", "4KiB:2500");
    Ok(faster(emmc, line, efficiency, draw).limits(LimitLayer::Link))
}

/// Its commands take little beside their transfer, so that a queue would bring little.
fn in_sd(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let overhead = draw.between(15e3, 40e3);
    let card = plain(Device::named("a1-card"), draw)
        .set("read-points", format!("4KiB:{:.0}ns", 170e3 + overhead + 12e3))
        .set("random-write-points", format!("4KiB:{:.0}ns", 170e3 + 2.0 * overhead + 12e3))
        .time("write-overhead", 40e3);
    let efficiency = draw.between(0.85, 0.93);
    Ok(faster(card, 25e6, efficiency, draw).limits(LimitLayer::Link))
}

fn in_usb(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn usb(stack: &mut Stack, _: &mut Environment) {
        for layer in &mut stack.layers {
            match layer.kind {
                LayerKind::Disk => {
                    layer.set("transport", "usb");
                    layer.facts.retain(|name, _| !name.starts_with("ncq") && !name.starts_with("ata"));
                }
                LayerKind::Link => {
                    layer.facts.retain(|name, _| !name.starts_with("sata"));
                    layer.set("usb_driver", "uas");
                }
                LayerKind::Controller => layer.driver = Some("xhci_hcd".to_owned()),
                _ => {}
            }
        }
    }
    let line = draw.one_of(&[60e6, 500e6]);
    let efficiency = if line < 100e6 { draw.between(0.58, 0.68) } else { draw.between(0.8, 0.9) };
    Ok(faster(sata(draw), line, efficiency, draw).limits(LimitLayer::Link).with_path(usb))
}

fn in_degraded_pcie(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn degraded(stack: &mut Stack, _: &mut Environment) {
        for layer in stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Link) {
            layer.set("pcie_speed_gt_s", 2.5);
            layer.set("pcie_width", 1u64);
            layer.set("pcie_port_max_speed_gt_s", 8.0);
            layer.set("pcie_port_max_width", 4u64);
        }
    }
    let efficiency = draw.between(0.84, 0.92);
    Ok(faster(nvme(draw), 250e6, efficiency, draw).limits(LimitLayer::Link).with_path(degraded))
}
