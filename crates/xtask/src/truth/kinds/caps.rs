//! Caps set on purpose, other users of the same disk, and runs that say nothing.

use super::{Draw, Kind, Scenario, nvme, sata};
use model::{Environment, LayerKind, LimitLayer, Stack};

pub(super) const KINDS: &[Kind] = &[
    ("cap-cgroup-operations", group_operations),
    ("cap-cgroup-bytes", group_bytes),
    ("cap-hidden-operations", hidden_operations),
    ("cap-hidden-bytes", hidden_bytes),
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
    Ok(nvme(draw).set("cap-iops", draw.between(500.0, 12_000.0) as u64).limits(LimitLayer::Throttle).on(guest))
}

fn hidden_bytes(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(nvme(draw).rate("cap-rate", draw.between(50e6, 400e6)).limits(LimitLayer::Throttle).on(guest))
}

fn second_writer(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(60e6, 280e6);
    Ok(sata(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate * draw.between(0.7, 1.1))
        .set("foreign", format!("{:.2}", draw.between(0.3, 0.8)))
        .limits(LimitLayer::Unknown)
        .says("others"))
}

fn nothing(draw: &mut Draw) -> anyhow::Result<Scenario> {
    Ok(sata(draw).set("eio-every", 1 + draw.bits() % 3).limits(LimitLayer::Unknown))
}
