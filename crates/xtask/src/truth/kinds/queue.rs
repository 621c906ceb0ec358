//! The host keeps fewer commands with the device than the device could work on.

use super::{Draw, Kind, Scenario, nvme, plain, sata};
use crate::truth::scenario::Device;
use model::{Environment, LayerKind, LimitLayer, Stack};

pub(super) const KINDS: &[Kind] = &[
    ("queue-off-sata", sata_off),
    ("queue-missing-controller", controller_without),
    ("queue-short-sata", sata_short),
    ("queue-ide-mode", ide),
    ("queue-usb-bulk-only", usb_bulk_only),
    ("queue-a2-card", a2_card),
    ("queue-emmc-off", emmc_off),
    ("queue-nvme-one", nvme_one),
];

/// A parallel device far below its link, with this queue.
fn with_queue(draw: &mut Draw, queue: u32) -> Device {
    let overhead = draw.between(70e3, 250e3);
    sata(draw)
        .set("host-queue", queue)
        .set("units", draw.one_of(&[16, 24, 32]))
        .time("read-overhead", overhead)
        .time("write-overhead", overhead * draw.between(0.5, 1.0))
        .rate("read-bandwidth", draw.between(200e6, 300e6))
        .rate("write-bandwidth", draw.between(180e6, 300e6))
}

fn sata_off(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(with_queue(draw, 1).limits(LimitLayer::Driver))
}

fn controller_without(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn without(stack: &mut Stack, _: &mut Environment) {
        stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Disk).for_each(|l| l.set("ncq_host", false));
    }
    Ok(with_queue(draw, 1).limits(LimitLayer::Controller).with_path(without))
}

fn sata_short(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let queue = draw.one_of(&[2, 3, 4, 6]);
    Ok(with_queue(draw, queue).limits(LimitLayer::Driver))
}

fn ide(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn piix(stack: &mut Stack, _: &mut Environment) {
        for layer in &mut stack.layers {
            match layer.kind {
                LayerKind::Disk => {
                    layer.set("transport", "ide");
                    layer.facts.retain(|name, _| !name.starts_with("ncq"));
                }
                LayerKind::Controller => layer.driver = Some("ata_piix".to_owned()),
                _ => {}
            }
        }
    }
    Ok(with_queue(draw, 1).limits(LimitLayer::Controller).with_path(piix))
}

fn usb_bulk_only(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn bulk(stack: &mut Stack, _: &mut Environment) {
        for layer in &mut stack.layers {
            match layer.kind {
                LayerKind::Disk => {
                    layer.set("transport", "usb");
                    layer.set("queue_depth", 30u64);
                    layer.facts.retain(|name, _| !name.starts_with("ncq"));
                }
                LayerKind::Link => layer.set("usb_driver", "usb-storage"),
                _ => {}
            }
        }
    }
    Ok(with_queue(draw, 1).limits(LimitLayer::Link).with_path(bulk))
}

fn a2_card(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let iops = draw.between(1_500.0, 4_000.0);
    let media = draw.between(30e6, 45e6);
    Ok(plain(Device::named("a2-card-no-queue"), draw)
        .rate("link", 104e6)
        .rate("read-bandwidth", media)
        .rate("write-bandwidth", media)
        .set("read-points", format!("4KiB:{iops:.0}"))
        .set("random-write-points", format!("4KiB:{:.0}", iops * draw.between(0.3, 0.9)))
        .set("units", 8)
        .limits(LimitLayer::Controller))
}

fn emmc_off(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let iops = draw.between(2_500.0, 6_000.0);
    Ok(plain(Device::named("emmc"), draw)
        .set("units", 8)
        .set("read-points", format!("4KiB:{iops:.0}"))
        .set("random-write-points", format!("4KiB:{:.0}", iops * draw.between(0.3, 0.8)))
        .rate("read-bandwidth", draw.between(70e6, 100e6))
        .rate("write-bandwidth", draw.between(40e6, 100e6))
        .limits(LimitLayer::Controller))
}

fn nvme_one(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let overhead = draw.between(60e3, 120e3);
    Ok(nvme(draw)
        .set("host-queue", 1)
        .time("read-overhead", overhead)
        .time("write-overhead", overhead * 0.5)
        .rate("read-bandwidth", draw.between(1.2e9, 1.8e9))
        .rate("write-bandwidth", draw.between(1.0e9, 1.8e9))
        .limits(LimitLayer::Driver))
}
