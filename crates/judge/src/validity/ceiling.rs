//! What cannot be: faster than the wire, faster than memory.

use super::{RuleInput, Validity};
use crate::context::transferred;
use model::{Access, Layer, LayerKind, Reason, Stack, StreamPlan, Sync};

/// A rate may exceed the line rate by this share: the clock of the link is not ours.
pub const LINE_RATE_TOLERANCE: f64 = 0.02;

/// A buffered path may exceed the run's memory copy this many times. A copy between two large regions moves each byte
/// over the memory bus two or three times (read, perhaps allocate, write back); a read into a buffer that stays in the
/// CPU's cache moves it once. Measured: tmpfs 11.2 GB/s against a copy of 10.1 GB/s.
pub const MEMORY_TOLERANCE: f64 = 2.0;

pub(super) fn within_ceiling(case: RuleInput<'_>, out: &mut Validity) {
    let Some(rate) = case.rate.map(|r| r.bytes_per_s) else { return };
    let own = transferred(case.plan, case.record);
    // Links that carry both ways at once carry the larger of the two on one side.
    let rate = rate * own.read.max(own.written);
    // What may come from the page cache, or stay in it beside what goes past it, need not cross a wire.
    let synced = |s: &StreamPlan| matches!(s.durability.sync, Sync::FsyncPerRound | Sync::FdatasyncEach);
    let stays = |s: &StreamPlan| {
        s.path.access == Access::Buffered && case.plan.access == Access::Direct && s.changes_data() && !synced(s)
    };
    let over_the_wire = (case.plan.access == Access::Direct && !case.plan.streams.iter().any(stays))
        || case.plan.cold
        || case.plan.access == Access::Buffered && case.plan.streams.iter().any(synced);
    if over_the_wire
        && let Some((ceiling, layer)) = line_rate(case.context.stack)
        && rate > ceiling * (1.0 + LINE_RATE_TOLERANCE)
    {
        out.refusals.push(Reason::AboveLineRate { bytes_per_s: rate, ceiling_bytes_per_s: ceiling, layer });
    }
    if case.plan.access == Access::Buffered
        && let Some(memory) = case.context.memory_bytes_per_s
        && rate > memory * MEMORY_TOLERANCE
    {
        out.refusals.push(Reason::AboveMemory {
            bytes_per_s: rate,
            memory_bytes_per_s: memory,
            tolerance: MEMORY_TOLERANCE,
        });
    }
}

/// The most that the wires below the target can carry. Below several disks (RAID, LVM) their links are summed, as reads
/// may come from all of them, and nothing is known unless each disk's link is. Virtual disks have no link, and no
/// ceiling.
fn line_rate(stack: &Stack) -> Option<(f64, String)> {
    let layers = &stack.layers;
    let is_disk = |l: &Layer| l.kind == LayerKind::Disk;
    let links = |disk: usize| layers.below(disk).iter().filter(|l| l.kind == LayerKind::Link);
    // A disk that stands on disks (bcache) has no link of its own.
    let disks: Vec<usize> =
        (0..layers.len()).filter(|at| is_disk(&layers[*at]) && !layers.below(*at).iter().any(is_disk)).collect();
    if disks.len() > 1 {
        let each = disks.iter().map(|disk| links(*disk).filter_map(|l| l.ceiling_bytes_per_s).min());
        let sum = each.sum::<Option<u64>>()?;
        return Some((sum as f64, format!("the links of {} disks together", disks.len())));
    }
    // A file system's or a stacking layer's own figure would be no wire.
    layers
        .iter()
        .filter(|l| matches!(l.kind, LayerKind::Link | LayerKind::Controller | LayerKind::Sim))
        .filter_map(|l| Some((l.ceiling_bytes_per_s?, l)))
        .min_by_key(|(ceiling, _)| *ceiling)
        .map(|(ceiling, layer)| (ceiling as f64, layer.name.clone()))
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::{Layer, LayerKind};

    fn link(name: &str, ceiling: u64) -> Layer {
        let mut layer = Layer::new(LayerKind::Link, name);
        layer.ceiling_bytes_per_s = Some(ceiling);
        layer
    }

    #[test]
    fn faster_than_the_wire() {
        // 1000 operations of 4 KiB each second: 4.096 MB/s.
        for (ceiling, want) in [(4_096_000, NONE), (4_030_000, NONE), (4_000_000, &["above-line-rate"][..])] {
            let mut f = Fixture::random_read();
            f.stack.layers.push(link("usb 1-1", ceiling), 1);
            assert_eq!(f.codes(), want, "{ceiling}");
        }
        // A virtual disk has no link.
        assert_eq!(Fixture::random_read().codes(), NONE);
    }

    #[test]
    fn two_mirrored_disks_may_read_as_fast_as_both_links() {
        let mut f = Fixture::random_read();
        let one = f.stack.layers.clone();
        let mut beside = |links: &[(&str, u64)]| {
            f.stack.layers = one.clone();
            f.stack.layers.push(link("ata1", 2_500_000), 1);
            f.stack.layers.push(Layer::new(LayerKind::Disk, "sdb"), 0);
            links.iter().for_each(|(name, ceiling)| f.stack.layers.push(link(name, *ceiling), 1));
            f.codes()
        };
        // One of the two links is not known: nothing can be said.
        assert_eq!(beside(&[]), NONE);
        assert_eq!(beside(&[("ata2", 2_500_000)]), NONE);
        assert_eq!(beside(&[("ata2", 1_000_000)]), ["above-line-rate"]);
        // Of two links, one behind the other, the narrower one.
        assert_eq!(beside(&[("ata2", 2_500_000), ("pci", 1_000_000)]), ["above-line-rate"]);
    }

    #[test]
    fn faster_than_memory_is_asked_of_buffered_paths_only() {
        let mut f = Fixture::cold_read();
        let rate = f.judge().metrics[0].value.unwrap();
        f.memory_copy = Some(rate * 0.51);
        assert_eq!(f.codes(), NONE);
        f.memory_copy = Some(rate * 0.49);
        assert_eq!(f.codes(), ["above-memory"]);
        let mut f = Fixture::random_read();
        f.memory_copy = Some(1.0);
        assert_eq!(f.codes(), NONE);
    }
}
