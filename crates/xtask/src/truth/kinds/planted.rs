//! One particular cause, planted on a device that is otherwise as it was: the headline itself names it, not what is left over and no
//! processor that is busy besides.

use super::{Draw, Kind, Scenario};
use crate::truth::scenario::{Device, Plan};
use model::{Environment, LayerKind, LimitLayer, Stack};

pub(super) const KINDS: &[Kind] = &[
    ("planted-flush", flush),
    ("planted-cache-in-layout", cache_in_layout),
    ("planted-cache-after-it", cache_after_it),
    ("planted-erasing", erasing),
    ("planted-heat", heat),
    ("planted-splits", splits),
    ("planted-group-memory", group_memory),
    ("planted-read-ahead", read_ahead),
];

fn any(draw: &mut Draw) -> Device {
    Device::named(draw.one_of(&["sata-ssd", "nvme"])).set("seed", draw.bits() >> 32)
}

/// Whatever it is that keeps small synchronous writes waiting.
fn flush(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let device = Device::named(draw.one_of(&["sata-ssd", "nvme", "a1-card", "emmc"]));
    Ok(device.time("flush", draw.between(20e6, 60e6)).limits(LimitLayer::Device).headline_holds("flush"))
}

fn drained(draw: &mut Draw, cache: u64) -> Scenario {
    let device = any(draw).set("cache", cache).rate("cache-drain", draw.between(15e6, 60e6));
    device.limits(LimitLayer::Device).headline_holds("write cache ran out").with_plan(Plan::Check { budget_s: 60 })
}

fn cache_in_layout(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let cache = draw.between(250e6, 1e9) as u64;
    Ok(drained(draw, cache))
}

/// As large as what is laid out: it ends in the ramp of what is measured, or soon after it.
fn cache_after_it(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let cache = (4 << 30) + draw.between(1e6, 200e6) as u64;
    Ok(drained(draw, cache))
}

fn erasing(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let device = Device::named(draw.one_of(&["sata-ssd", "nvme", "a1-card", "emmc"]));
    let penalty = draw.between(5e6, 20e6);
    Ok(device.time("erase-penalty", penalty).limits(LimitLayer::Device).headline_holds("small "))
}

/// So slowly that no phase of the check shows it by itself.
fn heat(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let factor = format!("{:.2}", draw.between(0.15, 0.3));
    let device = any(draw).time("throttle-start", draw.between(3e9, 8e9)).set("throttle-ramp", "60s");
    let device = device.set("throttle-factor", factor);
    Ok(device.limits(LimitLayer::ThermalPower).headline_holds("cooling").with_plan(Plan::Check { budget_s: 60 }))
}

fn splits(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let device = Device::named(draw.one_of(&["sata-ssd", "a1-card", "emmc"]));
    Ok(device.set("max-sectors", "4KiB").limits(LimitLayer::BlockLayer).headline_holds("split"))
}

fn group_memory(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn limited(stack: &mut Stack, _: &mut Environment) {
        let host = stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Host);
        host.for_each(|l| l.set("cgroup_memory_bytes", 64u64 << 20));
    }
    let device = any(draw).rate("page-cache", draw.between(100e6, 200e6));
    Ok(device.limits(LimitLayer::Memory).headline_holds("memory limit").with_path(limited))
}

fn read_ahead(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let device = Device::named(draw.one_of(&["sata-ssd", "nvme", "a1-card", "emmc"]));
    Ok(device.set("read-ahead", "4KiB").limits(LimitLayer::PageCache).headline_holds("read-ahead"))
}
