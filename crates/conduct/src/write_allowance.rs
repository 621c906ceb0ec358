//! What a workload may write: flash wears, and a check is to tell how it is without using it up.

use model::{PhaseKind, PhasePlan, Plan, Stack, StopRule, StreamPlan, Sync};
use spec::EARLY_HALF_WIDTH;

/// What may be written beside the layout, where the layout is small.
const USUAL_BYTES: u64 = 2 << 30;
/// A device of which the usual share is less is checked in a small way: with so much, at most a quarter of it.
const MIN_USUAL_BYTES: u64 = 16 << 20;
/// Blocks of this size and more are what a cache is exhausted with.
const LARGE_BLOCK_BYTES: u64 = 128 << 10;
/// The share of the device that one check may wear.
const SHARE_OF_DEVICE: u64 = 50;
/// The most that each half of the probe writes that decides the size of the measured region.
pub(crate) const PROBE_BYTES: u64 = 32 << 20;

/// What large blocks of some ten megabytes a second, a layout and a probe take together.
const NEEDED_BYTES: u64 = 160 << 20;
/// The share of the bound that each half of a probe may take, and the least that tells a rate.
const SHARE_OF_PROBE: u64 = 16;
const MIN_PROBE_BYTES: u64 = 4 << 20;

/// How much may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAllowance {
    /// The larger of twice the layout and 2 GiB, at most a fiftieth of the device (16 MiB of a very small one).
    Usual,
    /// This many bytes at most.
    AtMost(u64),
}

impl WriteAllowance {
    /// The most for any layout, on a device of this size, where it is known.
    fn most(self, device_bytes: Option<u64>) -> u64 {
        match self {
            Self::Usual => device_bytes.map_or(u64::MAX, |b| (b / SHARE_OF_DEVICE).max(MIN_USUAL_BYTES.min(b / 4))),
            Self::AtMost(bytes) => bytes,
        }
    }

    /// The size of a device of which the usual share is less than some numbers take: what is said before it is written.
    pub fn small_device(self, device_bytes: Option<u64>) -> Option<u64> {
        device_bytes.filter(|b| self == Self::Usual && b / SHARE_OF_DEVICE < NEEDED_BYTES)
    }

    /// All that may be written, where the layout is small.
    pub(crate) fn usual_bytes(self, device_bytes: Option<u64>) -> u64 {
        self.with_layout(0, device_bytes)
    }

    /// What the layout may take of it: half, so that as much is left for what is measured.
    pub(crate) fn layout_bytes(self, device_bytes: Option<u64>) -> u64 {
        self.most(device_bytes) / 2
    }

    /// What a probe may write before, directly and once more through the page cache: little of the bound, which the phases
    /// would miss. Nothing where that is too little to tell a rate.
    pub(crate) fn probe_bytes(self, device_bytes: Option<u64>) -> u64 {
        let bytes = (self.most(device_bytes) / SHARE_OF_PROBE).min(PROBE_BYTES);
        if bytes < MIN_PROBE_BYTES { 0 } else { bytes }
    }

    /// All that may be written, with a layout of this size.
    fn with_layout(self, layout_bytes: u64, device_bytes: Option<u64>) -> u64 {
        match self {
            Self::Usual => layout_bytes.saturating_mul(2).max(USUAL_BYTES).min(self.most(device_bytes)),
            Self::AtMost(bytes) => bytes,
        }
    }
}

/// What is written by calls on files is counted page by page.
const PAGE_BYTES: u64 = 4096;

/// How much of the rest a phase gets: large blocks need most to be seen lasting, single small ones least.
fn weight(phase: &PhasePlan) -> u64 {
    let small = phase.streams.iter().all(|s| s.blocks().is_none_or(|s| s.block.block_size_bytes < LARGE_BLOCK_BYTES));
    if phase.streams.iter().all(|s| s.timing.pacing.is_some()) {
        return 1;
    }
    match (small, phase.queue_depth()) {
        (false, depth) if depth > 1 => 4,
        (false, _) => 2,
        (true, depth) if depth > 1 => 2,
        (true, _) => 1,
    }
}

/// Gives each stream of a phase that writes its part of what the phase may write.
fn limit(phase: &mut PhasePlan, bytes: u64, fstype: Option<&str>) {
    let part = bytes / phase.streams.iter().filter(|s| s.changes_data()).count().max(1) as u64;
    phase.streams.iter_mut().filter(|s| s.changes_data()).for_each(|s| limited(s, part, fstype));
}

fn limited(stream: &mut StreamPlan, bytes: u64, fstype: Option<&str>) {
    if let Some(files) = stream.files() {
        let most = (bytes / Plan::file_bytes_at_most(stream, files, fstype)).max(1);
        stream.limits.total_operations = Some(stream.limits.total_operations.map_or(most, |n| n.min(most)));
        return;
    }
    let block = stream.blocks().map_or(PAGE_BYTES, |s| s.block.block_size_bytes).max(1);
    if let Some(round) = &mut stream.durability.round_bytes {
        // A round that is larger than its share would write more than was announced.
        *round = (*round).min((bytes / block).max(1) * block);
    }
    let block = stream.durability.round_bytes.unwrap_or(block).max(1);
    // A journal writes for each synced block some of its own.
    let cost = if stream.durability.sync == Sync::FdatasyncEach { Plan::synced_bytes(block, fstype) } else { block };
    let most = (bytes / cost).max(1) * block;
    stream.limits.total_bytes = Some(stream.limits.total_bytes.map_or(most, |b| b.min(most)));
}

/// Bounds each phase that writes, so that all of them together, with what was written `before`, keep to the limit. `shared`: they
/// share a budget, and what is known well enough may end early.
pub(crate) fn bound(plan: &mut Plan, allowance: WriteAllowance, stack: &Stack, before: u64, shared: bool) {
    let layout: u64 =
        plan.phases.iter().filter(|p| p.kind == PhaseKind::Layout && p.skip.is_none()).fold(0, |sum, p| {
            let blocks = p.streams.iter().filter_map(|s| Some(s.blocks()?.block));
            blocks.fold(sum, |sum: u64, block| sum.saturating_add(block.all_region_bytes()))
        });
    let left = allowance.with_layout(layout, stack.device_bytes()).saturating_sub(layout.saturating_add(before));
    let writes = |p: &PhasePlan| p.measures_target() && p.is_write() && p.moves_data() && p.skip.is_none();
    let all: u64 = plan.phases.iter().filter(|p| writes(p)).map(weight).sum();
    for phase in plan.phases.iter_mut().filter(|p| writes(p)) {
        let share = (u128::from(left) * u128::from(weight(phase)) / u128::from(all.max(1))) as u64;
        limit(phase, share, stack.fstype());
        // Large blocks go on: a cache that runs out is what they are to find.
        if shared
            && phase.stop == StopRule::Time
            && phase.streams.iter().all(|s| s.blocks().is_none_or(|s| s.block.block_size_bytes < LARGE_BLOCK_BYTES))
        {
            phase.stop = StopRule::EarlyWhenSteady { half_width_ratio: EARLY_HALF_WIDTH };
        }
    }
}

/// What a built-in workload writes at most on a large and on a small device, a sixteenth of which lies between the two.
const MOST_OF_WORKLOAD: u64 = 16 << 30;
const LEAST_OF_WORKLOAD: u64 = 4 << 30;

/// A built-in workload that only its time would bound, bounded: each phase that writes blocks, or files until its time is
/// over, gets its share. As it was where all is bounded already, or where it writes until it is steady, however long that takes.
pub(crate) fn bounded(mut plan: Plan, stack: &Stack) -> Plan {
    let rounds = plan.phases.iter().any(|p| matches!(p.stop, StopRule::SteadyRounds(_)));
    if rounds || plan.bytes_written_at_most().is_some() {
        return plan;
    }
    // Files that are made are there for the phases after; blocks are laid out before.
    let of_blocks = |p: &PhasePlan| p.streams.iter().all(|s| s.files().is_none() && s.replay().is_none());
    let open = |p: &PhasePlan| {
        let measures = p.kind == PhaseKind::Measure && p.is_write() && of_blocks(p);
        p.skip.is_none() && (p.bytes_written_at_most().is_none() || measures)
    };
    let (fstype, bounded) = (stack.fstype(), plan.phases.iter().filter(|p| !open(p)).cloned().collect());
    let known = Plan { phases: bounded, ..Plan::default() }.device_bytes_at_most(fstype).unwrap_or(0);
    let most = stack
        .device_bytes()
        .map_or(MOST_OF_WORKLOAD, |b| (b / 16).clamp(LEAST_OF_WORKLOAD, MOST_OF_WORKLOAD).min(b / 2));
    // What a file system adds to all of it is in the announcement, too.
    let left = (most / 32 * 31).saturating_sub(known).max(most / 2);
    let all: u64 = plan.phases.iter().filter(|p| open(p)).map(weight).sum();
    for phase in plan.phases.iter_mut().filter(|p| open(p)) {
        let share = (u128::from(left) * u128::from(weight(phase)) / u128::from(all.max(1))) as u64;
        limit(phase, share, stack.fstype());
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_written_follows_layout_and_device() {
        let gib = 1u64 << 30;
        let usual = |layout, device_bytes| WriteAllowance::Usual.with_layout(layout, device_bytes);
        assert_eq!(usual(4 * gib, None), 8 * gib);
        assert_eq!(usual(64 << 20, None), 2 * gib);
        assert_eq!(usual(256 << 20, Some(32 * gib)), 32 * gib / 50);
        assert_eq!(usual(64 << 20, Some(gib)), gib / 50, "a small device is no exception");
        assert_eq!(WriteAllowance::Usual.layout_bytes(Some(32 * gib)), 32 * gib / 100);
        assert_eq!(
            WriteAllowance::Usual.layout_bytes(Some(100 << 20)),
            8 << 20,
            "a very small one is checked in a small way"
        );
        assert_eq!(WriteAllowance::Usual.layout_bytes(Some(16 << 20)), 2 << 20);
        assert_eq!(WriteAllowance::Usual.small_device(Some(gib)), Some(gib));
        assert_eq!(
            (WriteAllowance::Usual.small_device(Some(9 * gib)), WriteAllowance::AtMost(1).small_device(Some(gib))),
            (None, None)
        );
        assert_eq!(WriteAllowance::AtMost(gib).with_layout(64 << 20, Some(gib)), gib);
        assert_eq!(WriteAllowance::AtMost(gib).layout_bytes(None), gib / 2);
    }

    #[test]
    fn a_probe_takes_an_eighth_at_most_and_none_where_it_would_tell_nothing() {
        let mib = 1u64 << 20;
        assert_eq!(WriteAllowance::Usual.probe_bytes(None), 32 * mib);
        assert_eq!(WriteAllowance::Usual.probe_bytes(Some(16_000_000_000)), 20_000_000);
        assert_eq!(WriteAllowance::Usual.probe_bytes(Some(3_000 * mib)), 0);
        assert_eq!(
            (WriteAllowance::AtMost(64 * mib).probe_bytes(None), WriteAllowance::AtMost(63 * mib).probe_bytes(None)),
            (4 * mib, 0)
        );
    }

    #[test]
    fn what_only_time_would_bound_is_bounded_by_bytes_and_what_goes_on_until_it_is_steady_is_not() {
        use model::{BlockPlan, Operation};
        let write = |stop| {
            let block = BlockPlan {
                operation: Operation::Write,
                region_bytes: 8 << 30,
                block_size_bytes: 1 << 20,
                ..Default::default()
            };
            let stream = StreamPlan { kind: block.into(), ..StreamPlan::default() };
            PhasePlan {
                kind: PhaseKind::Measure,
                stop,
                time_limit_ns: 1 << 33,
                streams: vec![stream],
                ..PhasePlan::default()
            }
        };
        let plan = |phases: &[StopRule]| Plan { phases: phases.iter().map(|s| write(*s)).collect(), ..Plan::default() };
        let all = bounded(plan(&[StopRule::Time, StopRule::RegionOnce, StopRule::Time]), &Stack::default());
        let bytes = all.bytes_written_at_most().expect("all is bounded");
        assert!((MOST_OF_WORKLOAD / 2..=MOST_OF_WORKLOAD).contains(&bytes), "{bytes}");
        let known = plan(&[StopRule::RegionOnce]);
        assert_eq!(bounded(known.clone(), &Stack::default()), known, "once over its region is what was asked");
        let steady = plan(&[StopRule::SteadyRounds(Default::default()), StopRule::Time]);
        assert_eq!(bounded(steady.clone(), &Stack::default()), steady);
    }
}
