//! The page cache: narrow copies, short read-ahead; and the layers between file and device.

use super::{Draw, Kind, Scenario, nvme, plain, sata};
use crate::truth::scenario::Device;
use model::{DirectProof, Environment, LayerKind, LimitLayer, PhaseRecord, Stack};

pub(super) const KINDS: &[Kind] = &[
    ("page-cache-copy", copy),
    ("page-cache-copy-slow-board", copy_on_a_board),
    ("page-cache-read-ahead", read_ahead),
    ("filesystem-fuse", fuse),
    ("filesystem-sync-mount", sync_mount),
    ("memory-of-the-group", group_memory),
    ("filesystem-direct-fallback", fallback),
    ("block-layer-splits", splits),
];

fn copy(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(1.0e9, 1.9e9);
    Ok(nvme(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate * draw.between(0.8, 1.0))
        .rate("page-cache", rate * draw.between(0.2, 1.0))
        .limits(LimitLayer::PageCache))
}

fn copy_on_a_board(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(150e6, 300e6);
    Ok(sata(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate)
        .rate("page-cache", rate * draw.between(0.25, 0.9))
        .rate("memory-copy", 2e9)
        .limits(LimitLayer::PageCache))
}

/// Buffered writes far below direct ones, as all of these are.
fn slow_buffered(draw: &mut Draw) -> Device {
    let rate = draw.between(0.6e9, 1.9e9);
    nvme(draw)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate)
        .rate("page-cache", rate * draw.between(0.1, 0.5))
}

fn fuse(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn mounted(stack: &mut Stack, _: &mut Environment) {
        stack.mount.iter_mut().for_each(|m| m.fstype = "fuse.sshfs".to_owned());
        stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Filesystem).for_each(|l| l.set("fstype", "fuse.sshfs"));
    }
    Ok(slow_buffered(draw).limits(LimitLayer::Filesystem).statement_holds("user mode").with_path(mounted))
}

fn sync_mount(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn mounted(stack: &mut Stack, _: &mut Environment) {
        stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Filesystem).for_each(|l| l.set("sync_mount", true));
    }
    Ok(slow_buffered(draw).limits(LimitLayer::Filesystem).statement_holds("mounted with sync").with_path(mounted))
}

fn group_memory(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn limited(stack: &mut Stack, _: &mut Environment) {
        let host = stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Host);
        host.for_each(|l| l.set("cgroup_memory_bytes", 48u64 << 20));
    }
    Ok(slow_buffered(draw).limits(LimitLayer::Memory).statement_holds("memory limit").with_path(limited))
}

/// Far more bytes must be in flight than two read-ahead windows hold.
fn read_ahead(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let overhead = draw.between(300e3, 2e6);
    let rate = draw.between(150e6, 280e6);
    let needed = overhead / 1e9 * rate;
    let window = (needed * draw.between(0.1, 0.35) / 4096.0).round().max(1.0) * 4096.0;
    Ok(sata(draw)
        .set("units", 32)
        .time("read-overhead", overhead)
        .time("write-overhead", 40e3)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate)
        .set("read-ahead", window as u64)
        .limits(LimitLayer::PageCache))
}

fn fallback(draw: &mut Draw) -> anyhow::Result<Scenario> {
    fn through_the_cache(record: &mut PhaseRecord) {
        if record.direct.is_some() {
            record.direct = Some(DirectProof::Fallback("btrfs with checksums".to_owned()));
        }
    }
    Ok(sata(draw)
        .set("filesystem", "btrfs")
        .rate("page-cache", draw.between(0.3e9, 1e9))
        .limits(LimitLayer::Filesystem)
        .with_records(through_the_cache))
}

/// One command at a time, and each so short that its fixed time is most of it.
fn splits(draw: &mut Draw) -> anyhow::Result<Scenario> {
    let rate = draw.between(60e6, 85e6);
    let overhead = draw.between(250e3, 500e3);
    let most = draw.one_of(&[8u64 << 10, 16 << 10]);
    Ok(plain(Device::named("a1-card"), draw)
        .rate("link", 208e6)
        .rate("read-bandwidth", rate)
        .rate("write-bandwidth", rate)
        .set("read-points", format!("1KiB:{:.0}ns", overhead + 12e3))
        .set("read-points", format!("4KiB:{:.0}ns+1MiB:{:.0}ns", overhead, overhead + 1044480.0 / rate * 1e9))
        .time("write-overhead", overhead)
        .set("random-write-points", format!("4KiB:{:.0}ns", overhead * 1.5))
        .set("max-sectors", most)
        .limits(LimitLayer::BlockLayer))
}
