//! The processor, and what takes it away.

use super::{Draw, Kind, Scenario, nvme};
use crate::truth::scenario::{Device, Plan};
use model::{CpuTicks, Environment, Layer, LayerKind, LimitLayer, Stack, SystemSample};

pub(super) const KINDS: &[Kind] = &[
    ("cpu-commands", commands),
    ("cpu-interrupts-on-one", interrupts),
    ("cpu-bytes", bytes),
    ("cpu-single", single),
    ("cpu-quota", quota),
    ("cpu-encryption", encryption),
    ("cpu-fuse", fuse),
    ("cpu-hot", hot),
    ("cpu-hot-before", hot_before),
    ("device-heats-slowly", heats_slowly),
    ("device-hot-writing", hot_device_writing),
    ("device-hot-reading", hot_device_reading),
    ("power-undervoltage", undervoltage),
    ("hypervisor-steals", steal),
];

/// A device that is far faster than these commands' processor time.
fn commands_cost(draw: &mut Draw, low: f64, high: f64) -> Device {
    nvme(draw)
        .time("cpu-per-command", draw.between(low, high))
        .time("read-overhead", draw.between(50e3, 90e3))
        .time("write-overhead", draw.between(15e3, 40e3))
        .rate("read-bandwidth", draw.between(1.2e9, 1.9e9))
        .rate("write-bandwidth", draw.between(1.0e9, 1.8e9))
}

fn commands(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(commands_cost(draw, 12e3, 50e3).limits(LimitLayer::Cpu))
}

fn interrupts(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let share = format!("{:.2}", draw.between(0.6, 0.9));
    Ok(commands_cost(draw, 12e3, 50e3).set("irq-share", share).limits(LimitLayer::Cpu).statement_holds("interrupts"))
}

fn bytes(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(nvme(draw)
        .set("cpu-ps-per-byte", draw.between(900.0, 3_000.0) as u64)
        .rate("link", 7.88e9)
        .limits(LimitLayer::Cpu))
}

fn single(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(commands_cost(draw, 20e3, 60e3).set("cpus", 1).limits(LimitLayer::Cpu))
}

fn quota(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let quota = format!("{:.2}", draw.between(0.05, 0.4));
    Ok(commands_cost(draw, 12e3, 30e3).set("cpu-quota", quota).limits(LimitLayer::Cpu).statement_holds("quota"))
}

fn encryption(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn crypt(stack: &mut Stack, _: &mut Environment) {
        let at = stack.layers.iter().position(|l| l.kind == LayerKind::Partition).unwrap_or(0);
        let mut layer = Layer::new(LayerKind::Dm, "dm-0");
        layer.set("dm_name", "secret");
        layer.set("dm_type", "crypt");
        stack.layers.insert_above(at, layer);
    }
    Ok(nvme(draw)
        .set("cpu-ps-per-byte", draw.between(900.0, 2_500.0) as u64)
        .rate("link", 7.88e9)
        .limits(LimitLayer::Stacking)
        .with_path(crypt))
}

/// A file system in user mode: what the kernel would do, its process does.
fn fuse(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn mounted(stack: &mut Stack, _: &mut Environment) {
        for layer in stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Filesystem) {
            layer.name = "fuseblk".to_owned();
            layer.driver = Some("fuse".to_owned());
            layer.set("fstype", "fuseblk");
        }
        if let Some(mount) = &mut stack.mount {
            mount.fstype = "fuseblk".to_owned();
        }
    }
    fn in_user_mode(sample: &mut SystemSample) {
        for CpuTicks { user, system, .. } in &mut sample.cpus {
            *user += *system * 9 / 10;
            *system -= *system * 9 / 10;
        }
    }
    Ok(nvme(draw)
        .set("cpu-ps-per-byte", draw.between(2_000.0, 6_000.0) as u64)
        .limits(LimitLayer::Filesystem)
        .with_path(mounted)
        .with_samples(in_user_mode))
}

fn hot(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let budget_s = 40;
    let device = commands_cost(draw, 12e3, 40e3);
    let (start, time) = super::moment(&device, "rand-write-qd32", budget_s)?;
    Ok(device
        .time("cpu-throttle-start", start + time * draw.between(0.3, 0.6))
        .set("cpu-throttle-ramp", "100ms")
        .set("cpu-throttle-factor", format!("{:.2}", draw.between(0.3, 0.65)))
        .limits(LimitLayer::ThermalPower)
        .with_plan(Plan::Check { budget_s }))
}

/// Our own load heats it: what is measured was slow from its begin on.
fn hot_before(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let device = commands_cost(draw, 12e3, 40e3);
    let (start, _) = super::moment(&device, "rand-read-qd1", 40)?;
    Ok(device
        .time("cpu-throttle-start", start * draw.between(0.5, 0.9))
        .set("cpu-throttle-ramp", "1s")
        .set("cpu-throttle-factor", format!("{:.2}", draw.between(0.3, 0.65)))
        .limits(LimitLayer::ThermalPower)
        .with_plan(Plan::Check { budget_s: 40 }))
}

/// The firmware slows down little by little: no step.
fn heats_slowly(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(400e6, 1.5e9);
    let device = nvme(draw).rate("read-bandwidth", rate).rate("write-bandwidth", rate);
    let (start, time) = super::moment(&device, "seq-read", 60)?;
    Ok(device
        .time("throttle-start", start)
        .time("throttle-ramp", time * draw.between(0.9, 1.5))
        .set("throttle-factor", format!("{:.2}", draw.between(0.3, 0.5)))
        .limits(LimitLayer::ThermalPower)
        .with_plan(Plan::Check { budget_s: 60 }))
}

fn hot_device(draw: &mut Draw, phase: &str) -> anyhow::Result<Device> {
    let rate = draw.between(400e6, 1.5e9);
    let device = nvme(draw).rate("read-bandwidth", rate).rate("write-bandwidth", rate);
    let (start, time) = super::moment(&device, phase, 40)?;
    Ok(device
        .time("throttle-start", start + time * draw.between(0.3, 0.6))
        .set("throttle-ramp", "100ms")
        .set("throttle-factor", format!("{:.2}", draw.between(0.2, 0.65))))
}

fn hot_device_writing(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(hot_device(draw, "seq-write")?.limits(LimitLayer::ThermalPower).with_plan(Plan::Check { budget_s: 40 }))
}

fn hot_device_reading(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(hot_device(draw, "seq-read")?.limits(LimitLayer::ThermalPower).with_plan(Plan::Check { budget_s: 40 }))
}

fn undervoltage(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn firmware(sample: &mut SystemSample) {
        let slowed = sample.throttle.cooling_state.take().is_some_and(|s| s > 0);
        sample.throttle.raspberry_pi_bits = Some(if slowed { 0x5_0005 } else { 0 });
    }
    Ok(hot_device(draw, "seq-write")?
        .limits(LimitLayer::ThermalPower)
        .with_plan(Plan::Check { budget_s: 40 })
        .with_samples(firmware))
}

fn steal(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let share = format!("{:.2}", draw.between(0.3, 0.7));
    Ok(commands_cost(draw, 12e3, 40e3).set("steal", share).limits(LimitLayer::Throttle).with_path(super::caps::guest))
}
