//! Whether the cache of ZFS served reads that were to come from the pool. Before OpenZFS 2.3 O_DIRECT is taken and goes through that cache;
//! later it depends on the dataset's `direct` property. So its own counters decide (z:module/zfs/arc.c, arc_read).

use super::{RuleInput, Validity};
use model::path_counter as names;
use model::{Access, LayerKind, Reason, facts, path_counter_value};

/// Share of the blocks that may have come from the cache: the edges of the samples.
const HITS_TOLERANCE: f64 = 0.02;
/// Fewer blocks that were asked for say nothing: others read, too.
const LEAST_READS: u64 = 16;

/// Of the blocks of file data that were asked for during the phase, the share that needed no read of the pool. What was prefetched was
/// read from the pool, though the one who then asks finds it in the cache. `None` where that is not ZFS, or is not counted.
pub(super) fn share_of_hits(case: RuleInput<'_>) -> Option<f64> {
    let fs = case.context.stack.first(LayerKind::Filesystem)?;
    if fs.text(facts::FSTYPE) != Some("zfs") {
        return None;
    }
    let (first, last) = case.context.samples_at_ends(case.record)?;
    let grew = |name| path_counter_value(&last.path, name)?.checked_sub(path_counter_value(&first.path, name)?);
    let (hits, misses) = (grew(names::ARC_DATA_HITS)?, grew(names::ARC_DATA_MISSES)?);
    // Before OpenZFS 2.2 what is under way counts as a hit, and its read as prefetched.
    let under_way = grew(names::ARC_DATA_IO_HITS).unwrap_or(0);
    let prefetched = grew(names::ARC_PREFETCH_MISSES).unwrap_or(0);
    let asked = hits.saturating_add(misses).saturating_add(under_way);
    let from_pool = misses.saturating_add(prefetched);
    (asked >= LEAST_READS).then(|| asked.saturating_sub(from_pool) as f64 / asked as f64)
}

/// Reads that were to be cold or direct are refused; of others it is a remark.
pub(super) fn not_served_by_the_arc(case: RuleInput<'_>, out: &mut Validity) {
    if !case.plan.measures_target() || !case.plan.streams.iter().any(|s| s.reads()) {
        return;
    }
    let Some(share) = share_of_hits(case).filter(|share| *share > HITS_TOLERANCE) else { return };
    let limit = case.context.stack.first(LayerKind::Filesystem).and_then(|fs| fs.int(facts::ARC_LIMIT_BYTES));
    let reason = Reason::ServedByArc { percent: share * 100.0, limit_bytes: limit.and_then(|l| u64::try_from(l).ok()) };
    let direct = case.plan.streams.iter().all(|s| s.path.access == Access::Direct);
    if direct || case.plan.cold { out.refusals.push(reason) } else { out.remarks.push(reason) }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;
    use model::{Layer, LayerKind, PathCounter, PhaseStatus, facts, path_counter as names};

    /// A phase on ZFS during which its cache counted so much.
    fn on_zfs(mut fixture: Fixture, grown: &[(&str, u64)]) -> Fixture {
        let mut fs = Layer::new(LayerKind::Filesystem, "zfs");
        fs.set(facts::FSTYPE, "zfs");
        fs.set(facts::ARC_LIMIT_BYTES, 8_i64 << 30);
        fixture.stack.layers = vec![fs].into();
        let last = fixture.samples.len() as u64 - 1;
        fixture.each_sample(|i, s| {
            let counter =
                |(name, by): &(&str, u64)| PathCounter { name: (*name).into(), value: 5_000 + by * i as u64 / last };
            s.path = grown.iter().map(counter).collect();
        });
        fixture
    }

    fn counted(hits: u64, misses: u64, prefetched: u64) -> [(&'static str, u64); 3] {
        [(names::ARC_DATA_HITS, hits), (names::ARC_DATA_MISSES, misses), (names::ARC_PREFETCH_MISSES, prefetched)]
    }

    #[test]
    fn a_read_that_the_cache_served_is_refused_and_it_is_said_how_it_becomes_cold() {
        let f = on_zfs(Fixture::random_read(), &counted(9_000, 1_000, 0));
        let judged = f.judge();
        assert_eq!(judged.status, PhaseStatus::Refused);
        let reason = judged.reasons.iter().find(|r| r.is("served-by-arc")).expect("it is said");
        let text = reason.text();
        assert!(text.starts_with("90 % of the reads came from the cache of ZFS (ARC)"), "{text}");
        assert!(
            text.contains("primarycache=metadata") && text.contains("zpool export") && text.contains("17.2 GB"),
            "{text}"
        );
        assert!(on_zfs(Fixture::cold_read(), &counted(9_000, 1_000, 0)).codes().contains(&"served-by-arc".to_owned()));
    }

    #[test]
    fn what_was_prefetched_came_from_the_pool_and_proves_a_cold_read() {
        let without_device = |mut f: Fixture| {
            f.record.cold.iter_mut().for_each(|c| c.device_read_bytes = None);
            f
        };
        let cold = without_device(on_zfs(Fixture::cold_read(), &counted(9_000, 1_000, 8_990)));
        assert!(cold.codes().is_empty(), "{:?}", cold.codes());
        // Where nothing counts, it is unproven as ever.
        assert_eq!(without_device(on_zfs(Fixture::cold_read(), &[])).codes(), ["cold-unproven"]);
        assert!(on_zfs(Fixture::sequential_write(), &counted(9_000, 0, 0)).judge().status != PhaseStatus::Refused);
    }
}
