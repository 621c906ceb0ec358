//! The device itself: its latency, its parallel units, its media, its caches.

use super::{Draw, Kind, Scenario, nvme, plain, sata};
use crate::truth::laboratory::check_plan;
use crate::truth::scenario::{Device, Plan};
use model::{Access, Environment, LayerKind, LimitLayer, Stack};

pub(super) const KINDS: &[Kind] = &[
    ("device-latency", latency),
    ("device-units", units),
    ("device-media", media),
    ("device-near-its-link", near_its_link),
    ("device-at-its-link", at_its_link),
    ("device-slow-writes", slow_writes),
    ("device-random-writes", random_writes),
    ("device-hard-disk", hard_disk),
    ("device-stalls", stalls),
    ("device-stands-still", stands_still),
    ("device-card-without-queue", card_without_queue),
    ("device-slow-flush", slow_flush),
    ("device-behind-a-hypervisor", virtual_disk),
    ("device-quiet-neighbour", quiet_neighbour),
    ("cache-runs-out", cache_runs_out),
    ("cache-ran-out-before", cache_ran_out_before),
    ("cache-volatile-small", volatile_cache),
];

fn below_its_link(draw: &mut Draw) -> Device {
    let media = draw.between(60e6, 280e6);
    sata(draw).rate("read-bandwidth", media).rate("write-bandwidth", media * draw.between(0.7, 1.1))
}

fn latency(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let overhead = draw.between(300e3, 3e6);
    Ok(below_its_link(draw)
        .set("units", 64)
        .time("read-overhead", overhead)
        .time("write-overhead", overhead * draw.between(0.3, 1.0))
        .limits(LimitLayer::Device))
}

fn units(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(below_its_link(draw)
        .set("units", draw.one_of(&[2, 3, 4, 6, 8, 12]))
        .time("read-overhead", draw.between(100e3, 600e3))
        .time("write-overhead", draw.between(50e3, 300e3))
        .limits(LimitLayer::Device))
}

fn media(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(300e6, 1.8e9);
    Ok(nvme(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate * draw.between(0.7, 1.0))
        .limits(LimitLayer::Device))
}

/// Media that give nearly what the link carries: nothing but another link or device could tell the two apart.
fn near_its_link(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(350e6, 450e6);
    Ok(sata(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate * draw.between(0.6, 0.95))
        .limits(LimitLayer::Device))
}

/// Media that give between 86 and 96 % of what the link carries in practice, and one way less than the other.
fn at_its_link(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let device = sata(draw);
    let stack = engine::SimRig::new(spec::parse_sim(device.text())?, model::NS_PER_S).stack();
    let carries = stack.layers.iter().find_map(|l| l.int("realistic_bytes_per_s"));
    let carries = carries.ok_or_else(|| anyhow::anyhow!("what a SATA link carries is known"))? as f64;
    let rate = carries * draw.between(0.87, 0.955);
    Ok(device
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate * draw.between(0.5, 0.93))
        .limits(LimitLayer::Unknown)
        .statement_holds("does not separate"))
}

fn slow_writes(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(100e6, 300e6);
    Ok(sata(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate * draw.between(0.1, 0.5))
        .limits(LimitLayer::Device))
}

fn random_writes(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(below_its_link(draw)
        .time("erase-penalty", draw.between(2e6, 30e6))
        .set("units", draw.one_of(&[1, 2, 4]))
        .limits(LimitLayer::Device)
        .statement_holds("small random writes"))
}

fn hard_disk(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn rotates(stack: &mut Stack, _: &mut Environment) {
        stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Disk).for_each(|l| l.set("rotational", true));
    }
    let seek = draw.between(4e6, 12e6);
    let rate = draw.between(90e6, 260e6);
    // Seeks between 4 KiB reads, none between large ones that follow each other.
    let large = 1048576.0 / rate * 1e9;
    Ok(sata(draw)
        .set("units", 1)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate)
        .set("read-points", format!("4KiB:{seek:.0}ns+128KiB:{:.0}ns+1MiB:{:.0}ns", seek * 0.9, large * 1.02))
        .set("random-write-points", format!("4KiB:{:.0}ns", seek * 0.8))
        .time("write-overhead", 30e3)
        .time("flush", draw.between(5e6, 15e6))
        .limits(LimitLayer::Device)
        .with_plan(Plan::Check { budget_s: 40 })
        .with_path(rotates))
}

fn stalls(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let period = draw.between(0.3e9, 3e9);
    Ok(below_its_link(draw)
        .time("stall-period", period)
        .time("stall-duration", period * draw.between(0.1, 0.4))
        .limits(LimitLayer::Device))
}

/// Seldom, and for long: what a rate before and after would call a cache.
fn stands_still(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let period = draw.between(3e9, 7e9);
    Ok(below_its_link(draw)
        .time("stall-period", period)
        .time("stall-duration", period * draw.between(0.2, 0.45))
        .limits(LimitLayer::Device)
        .statement_holds("gaps without a completion")
        .with_plan(Plan::Check { budget_s: 40 }))
}

fn card_without_queue(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let iops = draw.between(800.0, 3_500.0);
    let media = draw.between(20e6, 45e6);
    Ok(plain(Device::named("a1-card"), draw)
        .rate("link", 104e6)
        .rate("read-bandwidth", media)
        .rate("write-bandwidth", media * draw.between(0.4, 0.9))
        .set("read-points", format!("4KiB:{iops:.0}"))
        .set("random-write-points", format!("4KiB:{:.0}", iops * draw.between(0.2, 0.6)))
        .limits(LimitLayer::Device))
}

fn slow_flush(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(below_its_link(draw)
        .time("flush", draw.between(20e6, 150e6))
        .limits(LimitLayer::Device)
        .statement_holds("flush"))
}

fn virtual_disk(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(200e6, 900e6);
    Ok(nvme(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate * draw.between(0.4, 0.8))
        .set("units", draw.one_of(&[8, 16, 32]))
        .limits(LimitLayer::Device)
        .with_path(super::caps::guest))
}

/// Others use a little of the device, too little to matter.
fn quiet_neighbour(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(below_its_link(draw).set("foreign", format!("{:.4}", draw.between(0.002, 0.01))).limits(LimitLayer::Device))
}

/// A cache that is full after this share of the sequential write phase (below 0: of the layout).
fn cached(draw: &mut Draw, in_phase: bool) -> anyhow::Result<Scenario> {
    let rate = draw.between(150e6, 300e6);
    let drain = draw.between(0.15, 0.6);
    let device = sata(draw).rate("read-bandwidth", rate * 1.1).rate("write-bandwidth", rate);
    let model = spec::parse_sim(device.text())?;
    let budget_s = 30;
    let plan = check_plan(device.text(), budget_s, 1)?;
    let phase = plan.phase("seq-write").ok_or_else(|| anyhow::anyhow!("the check writes"))?;
    let stream = phase.streams.first().ok_or_else(|| anyhow::anyhow!("with a stream"))?;
    let real = engine::SimTruth::of(&model, stream.blocks().unwrap(), Access::Direct, 0).bytes_per_s;
    let layout = plan.size.bytes as f64;
    let time = phase.time_limit_ns as f64 / 1e9;
    let part = draw.between(0.3, 0.65);
    let written = if in_phase { layout + part * time * real } else { part * layout };
    let room = written * (1.0 - drain * rate / real) - if in_phase { 0.4 * drain * rate } else { 0.0 };
    Ok(device
        .set("cache", room.max(2e6) as u64)
        .rate("cache-drain", drain * rate)
        .limits(LimitLayer::Device)
        .statement_holds("cache")
        .with_plan(Plan::Check { budget_s }))
}

fn cache_runs_out(draw: &mut Draw) -> anyhow::Result<Scenario> {
    cached(draw, true)
}

fn cache_ran_out_before(draw: &mut Draw) -> anyhow::Result<Scenario> {
    cached(draw, false)
}

fn volatile_cache(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(60e6, 150e6);
    Ok(sata(draw)
        .rate("read-bandwidth", rate * 1.2)
        .rate("write-bandwidth", 300e6)
        .set("cache", format!("{}MiB", draw.one_of(&[16, 32, 64])))
        .rate("cache-drain", rate)
        .set("cache-volatile", true)
        .limits(LimitLayer::Device))
}
