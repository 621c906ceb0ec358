//! What a workload may write: flash wears, and a check is to tell how it is without using it up.

use model::{PhaseKind, PhasePlan, Plan, StopRule, StreamPlan, Sync};
use spec::EARLY_HALF_WIDTH;

/// Without a limit by the user, the least that is allowed, whatever the device holds (docs/design/check.md).
const LEAST: u64 = 160 << 20;
/// What may be written beside the layout, where the layout is small.
const USUAL: u64 = 2 << 30;
/// Blocks of this size and more are what a cache is exhausted with.
const LARGE: u64 = 128 << 10;
/// The share of the device that one check may wear.
const SHARE_OF_DEVICE: u64 = 50;

/// How much may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wear {
    /// The larger of twice the layout and 2 GiB, at most a fiftieth of the device.
    Usual {
        /// Size of the device, where it is known.
        device_bytes: Option<u64>,
    },
    /// So much.
    AtMost(u64),
}

impl Wear {
    /// The most for any layout.
    fn most(self) -> u64 {
        match self {
            Self::Usual { device_bytes } => device_bytes.map_or(u64::MAX, |b| (b / SHARE_OF_DEVICE).max(LEAST)),
            Self::AtMost(bytes) => bytes,
        }
    }

    /// The device of which the least that is allowed is more than its share: what is said before it is written.
    pub fn beyond_share(self) -> Option<u64> {
        let Self::Usual { device_bytes } = self else { return None };
        device_bytes.filter(|b| b / SHARE_OF_DEVICE < LEAST)
    }

    /// What the layout may take of it: half, so that as much is left for what is measured.
    pub(crate) fn layout_bytes(self) -> u64 {
        self.most() / 2
    }

    /// Whether a probe may write before: its 64 MiB must be no part of the bound that the phases would miss.
    pub fn allows_probe(self) -> bool {
        self.most() >= 512 << 20
    }

    /// All that may be written, with a layout of this size.
    fn with_layout(self, layout_bytes: u64) -> u64 {
        match self {
            Self::Usual { .. } => layout_bytes.saturating_mul(2).max(USUAL).min(self.most()),
            Self::AtMost(bytes) => bytes,
        }
    }
}

/// How much of the rest a phase gets: large blocks need most to be seen lasting, single small ones least.
fn weight(phase: &PhasePlan) -> u64 {
    let small = phase.streams.iter().all(|s| s.block().block_size_bytes < LARGE);
    match (small, phase.queue_depth()) {
        (false, depth) if depth > 1 => 4,
        (false, _) => 2,
        (true, depth) if depth > 1 => 2,
        (true, _) => 1,
    }
}

fn limited(stream: &mut StreamPlan, bytes: u64) {
    let block = stream.block().block_size_bytes.max(1);
    if let Some(round) = &mut stream.durability.round_bytes {
        // A round that is larger than its share would write more than was announced.
        *round = (*round).min((bytes / block).max(1) * block);
    }
    let block = stream.durability.round_bytes.unwrap_or(block).max(1);
    // A journal writes for each synced block some of its own.
    let cost = if stream.durability.sync == Sync::FdatasyncEach { Plan::synced_bytes(block) } else { block };
    let most = (bytes / cost).max(1) * block;
    stream.limits.total_bytes = Some(stream.limits.total_bytes.map_or(most, |b| b.min(most)));
}

/// Bounds each phase that writes, so that all of them together, with what was written `before`, keep to the limit. `shared`: they
/// share a budget, and what is known well enough may end early.
pub(crate) fn bound(plan: &mut Plan, wear: Wear, before: u64, shared: bool) {
    let layout: u64 =
        plan.phases.iter().filter(|p| p.kind == PhaseKind::Layout && p.skip.is_none()).fold(0, |sum, p| {
            p.streams.iter().fold(sum, |sum: u64, s| sum.saturating_add(s.block().all_region_bytes()))
        });
    let left = wear.with_layout(layout).saturating_sub(layout.saturating_add(before));
    let writes = |p: &PhasePlan| p.measures_target() && p.is_write() && p.moves_data() && p.skip.is_none();
    let all: u64 = plan.phases.iter().filter(|p| writes(p)).map(weight).sum();
    for phase in plan.phases.iter_mut().filter(|p| writes(p)) {
        let share = (u128::from(left) * u128::from(weight(phase)) / u128::from(all.max(1))) as u64;
        let streams = phase.streams.len().max(1) as u64;
        phase.streams.iter_mut().for_each(|s| limited(s, share / streams));
        // Large blocks go on: a cache that runs out is what they are to find.
        if shared && phase.stop == StopRule::Time && phase.streams.iter().all(|s| s.block().block_size_bytes < LARGE) {
            phase.stop = StopRule::EarlyWhenSteady { half_width_ratio: EARLY_HALF_WIDTH };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_written_follows_layout_and_device() {
        let gib = 1u64 << 30;
        let usual = |device_bytes| Wear::Usual { device_bytes };
        assert_eq!(usual(None).with_layout(4 * gib), 8 * gib);
        assert_eq!(usual(None).with_layout(64 << 20), 2 * gib);
        assert_eq!(usual(Some(32 * gib)).with_layout(256 << 20), 32 * gib / 50);
        assert_eq!(usual(Some(32 * gib)).layout_bytes(), 32 * gib / 100);
        assert_eq!(usual(Some(gib)).with_layout(64 << 20), LEAST, "a small device is measured all the same");
        assert_eq!((usual(Some(gib)).beyond_share(), usual(Some(9_000_000_000)).beyond_share()), (Some(gib), None));
        assert_eq!(Wear::AtMost(gib).with_layout(64 << 20), gib);
        assert_eq!(Wear::AtMost(gib).layout_bytes(), gib / 2);
    }
}
