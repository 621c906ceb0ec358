//! The kinds of scenario, each with a truth that follows from how it is made: one bottleneck, the next one at a
//! distance.

mod caps;
mod device;
mod link;
mod page_cache;
mod planted;
mod processor;
mod queue;
mod stacking;
mod workloads;

use super::draw::Draw;
use super::laboratory;
use super::scenario::{Device, Plan, Scenario};

/// A kind: its name, and one variation of it.
pub type Kind = (&'static str, fn(&mut Draw) -> anyhow::Result<Scenario>);

pub fn all() -> Vec<Kind> {
    [
        link::KINDS,
        queue::KINDS,
        device::KINDS,
        processor::KINDS,
        page_cache::KINDS,
        caps::KINDS,
        stacking::KINDS,
        planted::KINDS,
        workloads::KINDS,
    ]
    .concat()
}

/// A SATA solid-state drive on a machine that is in nobody's way.
fn sata(draw: &mut Draw) -> Device {
    plain(Device::named("sata-ssd").set("cache", 0), draw)
}

/// As `sata`, on NVMe.
fn nvme(draw: &mut Draw) -> Device {
    plain(Device::named("nvme").set("cache", 0), draw).rate("page-cache", 20e9).rate("memory-copy", 40e9)
}

fn plain(device: Device, draw: &mut Draw) -> Device {
    device
        .set("jitter", format!("{:.3}", draw.between(0.03, 0.2)))
        .rate("page-cache", draw.between(5e9, 8e9))
        .rate("memory-copy", draw.between(10e9, 20e9))
        .set("read-ahead", "4MiB")
        .set("writeback", "4MiB")
        .time("flush", draw.between(50e3, 500e3))
        .set("seed", draw.bits() >> 32)
}

/// When a phase begins, and how long it lasts, in simulated time.
fn moment(device: &Device, phase: &str, budget_s: u64) -> anyhow::Result<(f64, f64)> {
    let run = laboratory::run(device.text(), &Plan::Check { budget_s }, &Default::default(), 1)?;
    let record = run.phase(phase).and_then(|p| p.record.as_ref());
    let record = record.ok_or_else(|| anyhow::anyhow!("{phase} was not executed"))?;
    Ok((record.started_ns as f64, record.duration_ns() as f64))
}
