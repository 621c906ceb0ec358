//! Layers on the disk that hold requests, and members of an array that differ: as the counters of each layer show them.

use super::{Draw, Kind, Scenario, sata};
use model::{DeviceId, Environment, Layer, LayerKind, LimitLayer, Stack, SystemSample};

pub(super) const KINDS: &[Kind] = &[("stacking-delay", delay), ("stacking-slow-member", slow_member)];

fn stacked(stack: &mut Stack, kind: LayerKind, name: &str) {
    let at = stack.layers.iter().position(|l| l.kind == LayerKind::Disk).unwrap_or(0);
    let mut layer = Layer::new(kind, name);
    layer.counted = true;
    layer.device = Some(DeviceId { major: 253, minor: 0 });
    stack.layers.insert_above(at, layer);
}

/// Each request waits some milliseconds in the mapping, and the disk answers in 100 us.
fn delay(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn mapped(stack: &mut Stack, _: &mut Environment) {
        stacked(stack, LayerKind::Dm, "dm-0");
    }
    fn counted(sample: &mut SystemSample) {
        let Some(disk) = sample.disks.iter_mut().find(|d| d.name == "sda") else { return };
        let mut mapping = disk.clone();
        mapping.name = "dm-0".to_owned();
        (disk.read_ms, disk.write_ms) = (disk.reads / 10, disk.writes / 10);
        sample.disks.push(mapping);
    }
    let delay = draw.between(2e6, 10e6);
    Ok(sata(draw)
        .set("units", 64)
        .time("read-overhead", delay)
        .time("write-overhead", delay)
        .rate("read-bandwidth", draw.between(150e6, 280e6))
        .limits(LimitLayer::Stacking)
        .statement_holds("holds requests")
        .with_path(mapped)
        .with_samples(counted))
}

/// A mirror of two, one of which is a third as fast.
fn slow_member(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn mirror(stack: &mut Stack, _: &mut Environment) {
        stacked(stack, LayerKind::Md, "md0");
        let at = stack.layers.iter().position(|l| l.kind == LayerKind::Disk).unwrap_or(0);
        let mut other = Layer { name: "sdb".to_owned(), ..stack.layers[at].clone() };
        other.device = Some(DeviceId { major: 8, minor: 16 });
        stack.layers.insert_sibling(at, other);
    }
    fn counted(sample: &mut SystemSample) {
        let Some(disk) = sample.disks.iter().find(|d| d.name == "sda").cloned() else { return };
        let third = |ms: u64| ms / 3;
        sample.disks.push(model::DiskCounters {
            name: "sdb".to_owned(),
            read_ms: third(disk.read_ms),
            write_ms: third(disk.write_ms),
            busy_ms: third(disk.busy_ms),
            weighted_ms: third(disk.weighted_ms),
            ..disk
        });
    }
    let rate = draw.between(60e6, 200e6);
    Ok(sata(draw)
        .rate("read-bandwidth", rate * 1.5)
        .rate("write-bandwidth", rate)
        .limits(LimitLayer::Stacking)
        .statement_holds("held by its member")
        .with_path(mirror)
        .with_samples(counted))
}
