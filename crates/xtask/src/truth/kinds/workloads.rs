//! Runs of workloads other than the check: depth laws from many depths, size fits from many sizes.

use super::{Draw, Kind, Scenario, nvme, plain, sata};
use crate::truth::scenario::{Device, Plan};
use model::LimitLayer;

pub(super) const KINDS: &[Kind] = &[
    ("depth-serialised", serialised),
    ("depth-knee", knee),
    ("depth-processor", processor),
    ("sweep-link", link),
    ("sweep-latency", latency),
    ("sweep-splits", splits),
    ("stream-link", streams),
];

fn serialised(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(sata(draw)
        .set("host-queue", 1)
        .set("units", 16)
        .time("read-overhead", draw.between(80e3, 400e3))
        .limits(LimitLayer::Driver)
        .with_plan(Plan::Workload("depth")))
}

fn knee(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(sata(draw)
        .set("units", draw.one_of(&[2, 4, 6, 8]))
        .time("read-overhead", draw.between(150e3, 900e3))
        .limits(LimitLayer::Device)
        .with_plan(Plan::Workload("depth")))
}

fn processor(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(nvme(draw)
        .time("cpu-per-command", draw.between(20e3, 60e3))
        .limits(LimitLayer::Cpu)
        .with_plan(Plan::Workload("depth")))
}

fn link(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let line = draw.one_of(&[150e6, 300e6]);
    Ok(sata(draw)
        .rate("link", line)
        .rate("read-bandwidth", line * draw.between(1.2, 2.5))
        .rate("write-bandwidth", line * draw.between(1.2, 2.5))
        .limits(LimitLayer::Link)
        .with_plan(Plan::Workload("sweep")))
}

fn latency(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(80e6, 250e6);
    Ok(sata(draw)
        .time("read-overhead", draw.between(300e3, 3e6))
        .time("write-overhead", draw.between(300e3, 3e6))
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate)
        .limits(LimitLayer::Device)
        .with_plan(Plan::Workload("sweep")))
}

fn splits(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(60e6, 85e6);
    let overhead = draw.between(250e3, 500e3);
    Ok(plain(Device::named("a1-card"), draw)
        .rate("link", 208e6)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate)
        .set("read-points", format!("4KiB:{:.0}ns+1MiB:{:.0}ns", overhead, overhead + 1044480.0 / rate * 1e9))
        .time("write-overhead", overhead)
        .set("random-write-points", format!("4KiB:{:.0}ns", overhead * 1.5))
        .set("max-sectors", draw.one_of(&[8u64 << 10, 16 << 10]))
        .limits(LimitLayer::BlockLayer)
        .with_plan(Plan::Workload("sweep")))
}

fn streams(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let line = draw.one_of(&[150e6, 300e6, 600e6]);
    Ok(sata(draw)
        .rate("link", line)
        .rate("read-bandwidth", line * draw.between(1.2, 2.5))
        .rate("write-bandwidth", line * draw.between(1.2, 2.5))
        .limits(LimitLayer::Link)
        .with_plan(Plan::Workload("stream")))
}
