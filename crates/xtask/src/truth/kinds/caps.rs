//! Caps set on purpose, other users of the same disk, and runs that say nothing.

use super::{Draw, Kind, Scenario, nvme, sata};
use crate::truth::scenario::{Device, Plan};
use model::{Environment, LayerKind, LimitLayer, Stack, SystemSample};

pub(super) const KINDS: &[Kind] = &[
    ("cap-cgroup-operations", group_operations),
    ("cap-cgroup-bytes", group_bytes),
    ("cap-hidden-operations", hidden_operations),
    ("cap-hidden-bytes", hidden_bytes),
    ("cap-hidden-each-way", hidden_each_way),
    ("cap-on-a-rotational-guest", rotational_guest),
    ("cap-just-above-the-device", just_above),
    ("credit-of-bytes", credit_of_bytes),
    ("credit-of-operations", credit_of_operations),
    ("second-writer", second_writer),
    ("nothing-measured", nothing),
];

/// The disk of a guest: virtio, no link, no controller that tells anything.
pub(super) fn guest(stack: &mut Stack, environment: &mut Environment) {
    environment.virtualization = Some("kvm".to_owned());
    stack.layers.retain(|l| !matches!(l.kind, LayerKind::Link | LayerKind::Controller));
    for layer in stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Disk) {
        layer.driver = Some("virtio_blk".to_owned());
        layer.set("transport", "virtio");
        layer.facts.retain(|name, _| !name.starts_with("nvme") && name != "queue_depth");
    }
}

fn group_operations(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(sata(draw)
        .set("cap-iops", draw.between(200.0, 5_000.0) as u64)
        .set("cap-visible", true)
        .limits(LimitLayer::Throttle))
}

fn group_bytes(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(sata(draw).rate("cap-rate", draw.between(10e6, 120e6)).set("cap-visible", true).limits(LimitLayer::Throttle))
}

fn hidden_operations(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(nvme(draw).set("cap-iops", draw.between(500.0, 12_000.0) as u64).limits(LimitLayer::Throttle).with_path(guest))
}

fn hidden_bytes(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(nvme(draw).rate("cap-rate", draw.between(50e6, 400e6)).limits(LimitLayer::Throttle).with_path(guest))
}

/// What a provider grants, another amount each way: by media that are exactly so fast.
fn hidden_each_way(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let (read, write) = draw.one_of(&[(200e6, 100e6), (131_072_000.0, 62_914_560.0), (500e6, 125e6), (300e6, 60e6)]);
    Ok(nvme(draw)
        .rate("read-bandwidth", read)
        .rate("write-bandwidth", write)
        .limits(LimitLayer::Throttle)
        .with_path(guest))
}

/// As virtio disks show themselves unless somebody says otherwise.
fn rotational_guest(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn rotational(stack: &mut Stack, environment: &mut Environment) {
        guest(stack, environment);
        stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Disk).for_each(|l| l.set("rotational", true));
    }
    Ok(nvme(draw)
        .set("cap-iops", draw.between(300.0, 3_000.0) as u64)
        .limits(LimitLayer::Throttle)
        .with_path(rotational))
}

/// A visible limit that is never met, because the device gives 1.3 to 3 % less.
fn just_above(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(60e6, 120e6);
    Ok(sata(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate * draw.between(0.6, 0.9))
        .rate("cap-rate", rate * draw.between(1.013, 1.03))
        .set("cap-visible", true)
        .limits(LimitLayer::Device))
}

/// A disk that falls to its baseline within a phase and stays there, as a guest sees it: no sensor tells of it.
fn credit(draw: &mut Draw, device: Device, phase: &str) -> anyhow::Result<Scenario> {
    fn without_sensors(sample: &mut SystemSample) {
        sample.temperatures.clear();
        sample.throttle.cooling_state = None;
    }
    let (start, time) = super::moment(&device, phase, 40)?;
    Ok(device
        .time("throttle-start", start + time * draw.between(0.3, 0.6))
        .set("throttle-ramp", "10ms")
        .set("throttle-factor", format!("{:.2}", draw.between(0.1, 0.6)))
        .limits(LimitLayer::Throttle)
        .statement_holds("burst credit")
        .with_plan(Plan::Check { budget_s: 40 })
        .with_path(guest)
        .with_samples(without_sensors))
}

fn credit_of_bytes(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(150e6, 900e6);
    let device = nvme(draw).rate("read-bandwidth", rate).rate("write-bandwidth", rate);
    let phase = draw.one_of(&["seq-write", "seq-read"]);
    credit(draw, device, phase)
}

fn credit_of_operations(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let each = draw.between(1e6, 4e6);
    let device =
        nvme(draw).set("units", 8).set("jitter", "0.02").time("read-overhead", each).time("write-overhead", each);
    credit(draw, device, "rand-read-qd32")
}

fn second_writer(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(60e6, 280e6);
    Ok(sata(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate * draw.between(0.7, 1.1))
        .set("foreign", format!("{:.2}", draw.between(0.3, 0.8)))
        .limits(LimitLayer::Unknown)
        .statement_holds("others"))
}

fn nothing(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(sata(draw).set("eio-every", 1 + draw.bits() % 3).limits(LimitLayer::Unknown))
}
