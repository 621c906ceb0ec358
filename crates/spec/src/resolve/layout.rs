//! The phase that writes what is read later, where a text has none of its own.

use super::Resolver;
use model::{
    Access, BlockPlan, Durability, EngineKind, IoPath, NS_PER_S, Operation, PhaseKind, PhasePlan, StopRule, StreamPlan,
    Sync, Verify, VerifyKind,
};
use std::collections::BTreeMap;

const LAYOUT_BLOCK_BYTES: u64 = 1 << 20;
/// Layout is given up below this rate.
const LAYOUT_LEAST_BYTES_PER_S: u64 = 1_000_000;

impl Resolver<'_> {
    /// Writes what is read later, file by file.
    pub(super) fn layout(&self) -> Option<PhasePlan> {
        // A text may have a layout of its own.
        let has_own = self.workload.phases.iter().any(|p| p.kind == PhaseKind::Layout);
        if has_own || !Self::lays_out_on(self.workload, self.inputs) || self.used.laid_out.is_empty() {
            return None;
        }
        let sector = self.inputs.sector_bytes.max(512);
        // Files of one length are one stream; the target itself, which has no name, is one of its own.
        let mut by_end: BTreeMap<(u64, bool, Option<VerifyKind>), Vec<String>> = BTreeMap::new();
        for (name, end) in &self.used.laid_out {
            let kind = self.used.verified.get(name).copied();
            let names = by_end.entry((*end, !name.is_empty(), kind)).or_default();
            names.extend((!name.is_empty()).then(|| name.clone()));
        }
        let mut streams = Vec::new();
        let mut bytes = 0u64;
        for ((end, _, kind), names) in by_end {
            // Whole sectors; the largest block that divides them, so that the region is covered to its end.
            let region = end.next_multiple_of(sector);
            let block = (1u64 << region.trailing_zeros().min(20)).min(LAYOUT_BLOCK_BYTES).max(sector);
            bytes = bytes.saturating_add(region.saturating_mul((names.len() as u64).max(1)));
            streams.push(StreamPlan {
                kind: BlockPlan {
                    operation: Operation::Write,
                    block_size_bytes: block,
                    region_bytes: region,
                    files: names,
                    file_order: model::FileOrder::Sequential,
                    ..BlockPlan::default()
                }
                .into(),
                path: IoPath { queue_depth: 8, ..IoPath::default() },
                durability: Durability { sync: Sync::FsyncAtEnd, ..Durability::default() },
                seed: self.inputs.seed.wrapping_add(region).wrapping_add(streams.len() as u64), // What is written here is checked where it is read, and the layout has an end of its own to keep.
                verify: kind.map(|kind| Verify { kind, read_back: false, stop_at_first: false }),
                ..StreamPlan::default()
            });
        }
        let longest_s = (bytes / LAYOUT_LEAST_BYTES_PER_S).saturating_add(60);
        Some(
            PhasePlan {
                name: "layout".into(),
                kind: PhaseKind::Layout,
                engine: self.fixed_engine().unwrap_or(EngineKind::IoUring),
                access: Access::Direct,
                streams,
                time_limit_ns: self.layout_ns.unwrap_or(longest_s.saturating_mul(NS_PER_S)),
                stop: StopRule::RegionOnce,
                ..PhasePlan::default()
            }
            .alike(),
        )
    }
}
