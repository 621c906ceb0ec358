//! What a workload may write: flash wears, and a check is to tell how it is without using it up.

use model::{PhaseKind, PhasePlan, Plan, Stack, StopRule, StreamPlan, Sync};
use spec::EARLY_HALF_WIDTH;

/// What may be written beside the layout, where the layout is small.
const USUAL_BYTES: u64 = 2 << 30;
/// What a layout, a probe and a hundred large blocks take together, beside what smaller ones do: a device of which the usual
/// share is less gets so much, at most a quarter of it. That is a quarter of one of its hundreds of cycles.
const MIN_USUAL_BYTES: u64 = 384 << 20;
/// The part of a small device that one check may write.
const PART_OF_SMALL: u64 = 4;
/// Blocks of this size and more are what a cache is exhausted with.
const LARGE_BLOCK_BYTES: u64 = 128 << 10;
/// The share of the device that one check may wear.
const SHARE_OF_DEVICE: u64 = 50;
/// The most that each half of the probe writes that decides the size of the measured region.
pub(crate) const PROBE_BYTES: u64 = 32 << 20;

/// The share of the bound that each half of a probe may take, and the least that tells a rate.
const SHARE_OF_PROBE: u64 = 16;
const MIN_PROBE_BYTES: u64 = 4 << 20;

/// How large a device is: what it holds itself, and what wears where that is another (the disk below a loop device).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceSize {
    pub bytes: Option<u64>,
    pub worn_bytes: Option<u64>,
}

impl From<&Stack> for DeviceSize {
    fn from(stack: &Stack) -> Self {
        Self { bytes: stack.device_bytes(), worn_bytes: stack.worn_bytes() }
    }
}

/// How much may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAllowance {
    /// The larger of twice the layout and 2 GiB, at most a fiftieth of what wears (of a small device 384 MiB, or a quarter).
    Usual,
    /// This many bytes at most.
    AtMost(u64),
}

impl WriteAllowance {
    /// The most for any layout, on a device of which so much wears, where it is known.
    fn most(self, worn_bytes: Option<u64>) -> u64 {
        let usual = |b: u64| (b / SHARE_OF_DEVICE).max(MIN_USUAL_BYTES.min(b / PART_OF_SMALL));
        match self {
            Self::Usual => worn_bytes.map_or(u64::MAX, usual),
            Self::AtMost(bytes) => bytes,
        }
    }

    /// The size of a device of which so little is written that some numbers may be missed: what is said before it is written.
    pub fn small_device(self, device: DeviceSize) -> Option<u64> {
        device.worn_bytes.filter(|b| self == Self::Usual && b / SHARE_OF_DEVICE < MIN_USUAL_BYTES)
    }

    /// All that may be written, where the layout is small.
    pub fn usual_bytes(self, device: DeviceSize) -> u64 {
        self.with_layout(0, device.worn_bytes)
    }

    /// What the layout may take of it: half, so that as much is left for what is measured. It takes room as well, of the
    /// device itself.
    pub(crate) fn layout_bytes(self, device: DeviceSize) -> u64 {
        self.most(device.worn_bytes).min(self.most(device.bytes)) / 2
    }

    /// What a probe may write before, directly and once more through the page cache: little of the bound, which the phases
    /// would miss. Nothing where that is too little to tell a rate.
    pub(crate) fn probe_bytes(self, device: DeviceSize) -> u64 {
        let bytes = (self.most(device.worn_bytes) / SHARE_OF_PROBE).min(PROBE_BYTES);
        if bytes < MIN_PROBE_BYTES { 0 } else { bytes }
    }

    /// All that may be written, with a layout of this size.
    fn with_layout(self, layout_bytes: u64, worn_bytes: Option<u64>) -> u64 {
        match self {
            Self::Usual => layout_bytes.saturating_mul(2).max(USUAL_BYTES).min(self.most(worn_bytes)),
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

/// Phases that write so much as they say and whose data a later phase reads, with no layout before: cut short, they would leave holes for
/// it. They keep their amount, and what that is too much for is refused.
fn read_later(plan: &Plan) -> Vec<String> {
    let executed = |p: &&PhasePlan| p.skip.is_none();
    if plan.phases.iter().filter(executed).any(|p| p.kind == PhaseKind::Layout) {
        return Vec::new();
    }
    let by_amount = |p: &PhasePlan| matches!(p.stop, StopRule::Amount | StopRule::RegionOnce);
    let reads = |p: &PhasePlan| p.streams.iter().any(StreamPlan::reads);
    let last_read = plan.phases.iter().rposition(|p| p.skip.is_none() && reads(p)).unwrap_or(0);
    let before = plan.phases[..last_read].iter().filter(executed);
    before.filter(|p| p.is_write() && by_amount(p)).map(|p| p.name.clone()).collect()
}

/// Bounds each phase that writes, so that all of them together, with what was written `before`, keep to the limit. `shared`: they
/// share a budget, and what is known well enough may end early.
pub(crate) fn bound(plan: &mut Plan, allowance: WriteAllowance, stack: &Stack, before: u64, shared: bool) {
    let layout: u64 =
        plan.phases.iter().filter(|p| p.kind == PhaseKind::Layout && p.skip.is_none()).fold(0, |sum, p| {
            let blocks = p.streams.iter().filter_map(|s| Some(s.blocks()?.block));
            blocks.fold(sum, |sum: u64, block| sum.saturating_add(block.all_region_bytes()))
        });
    let left = allowance.with_layout(layout, stack.worn_bytes()).saturating_sub(layout.saturating_add(before));
    let kept = read_later(plan);
    let writes = |p: &PhasePlan| {
        p.measures_target() && p.is_write() && p.moves_data() && p.skip.is_none() && !kept.contains(&p.name)
    };
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
    let kept = read_later(&plan);
    let of_blocks = |p: &PhasePlan| p.streams.iter().all(|s| s.files().is_none() && s.replay().is_none());
    let open = |p: &PhasePlan| {
        let measures = p.kind == PhaseKind::Measure && p.is_write() && of_blocks(p);
        p.skip.is_none() && (p.bytes_written_at_most().is_none() || measures && !kept.contains(&p.name))
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

    fn of(bytes: u64) -> DeviceSize {
        DeviceSize { bytes: Some(bytes), worn_bytes: Some(bytes) }
    }

    #[test]
    fn what_may_be_written_follows_layout_and_device() {
        let (gib, mib) = (1u64 << 30, 1u64 << 20);
        let usual = |layout, device_bytes| WriteAllowance::Usual.with_layout(layout, device_bytes);
        assert_eq!(usual(4 * gib, None), 8 * gib);
        assert_eq!(usual(64 * mib, None), 2 * gib);
        assert_eq!(usual(256 * mib, Some(32 * gib)), 32 * gib / 50);
        assert_eq!(usual(64 * mib, Some(4 * gib)), 384 * mib, "a small device has room for a hundred large blocks");
        assert_eq!(usual(64 * mib, Some(gib)), gib / 4, "a quarter at most");
        assert_eq!(WriteAllowance::Usual.layout_bytes(of(32 * gib)), 32 * gib / 100);
        assert_eq!(WriteAllowance::Usual.layout_bytes(of(100 * mib)), 100 * mib / 8);
        assert_eq!(WriteAllowance::Usual.layout_bytes(of(16 * mib)), 2 * mib);
        assert_eq!(WriteAllowance::Usual.small_device(of(gib)), Some(gib));
        assert_eq!(
            (WriteAllowance::Usual.small_device(of(19 * gib)), WriteAllowance::AtMost(1).small_device(of(gib))),
            (None, None)
        );
        assert_eq!(WriteAllowance::AtMost(gib).with_layout(64 * mib, Some(gib)), gib);
        assert_eq!(WriteAllowance::AtMost(gib).layout_bytes(DeviceSize::default()), gib / 2);
    }

    #[test]
    fn a_loop_device_wears_the_disk_below_and_has_room_of_its_own() {
        let (gib, mib) = (1u64 << 30, 1u64 << 20);
        let device = DeviceSize { bytes: Some(gib), worn_bytes: Some(200 * gib) };
        assert_eq!(WriteAllowance::Usual.usual_bytes(device), 2 * gib);
        assert_eq!(WriteAllowance::Usual.layout_bytes(device), 128 * mib);
        assert_eq!(WriteAllowance::Usual.small_device(device), None);
    }

    #[test]
    fn a_probe_takes_an_eighth_at_most_and_none_where_it_would_tell_nothing() {
        let mib = 1u64 << 20;
        assert_eq!(WriteAllowance::Usual.probe_bytes(DeviceSize::default()), 32 * mib);
        assert_eq!(WriteAllowance::Usual.probe_bytes(of(25_000_000_000)), 31_250_000);
        assert_eq!(WriteAllowance::Usual.probe_bytes(of(200 * mib)), 0);
        let probe = |bytes| WriteAllowance::AtMost(bytes).probe_bytes(DeviceSize::default());
        assert_eq!((probe(64 * mib), probe(63 * mib)), (4 * mib, 0));
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

    #[test]
    fn what_a_later_phase_reads_is_not_cut_short() {
        use model::{BlockPlan, Operation};
        let phase = |name: &str, operation, stop| {
            let (region_bytes, block_size_bytes) = (512 << 20, 1 << 20);
            let block = BlockPlan { operation, region_bytes, block_size_bytes, ..Default::default() };
            let mut stream = StreamPlan { kind: block.into(), ..StreamPlan::default() };
            stream.limits.total_bytes = Some(region_bytes);
            let (name, streams) = (name.to_owned(), vec![stream]);
            let kind = PhaseKind::Measure;
            PhasePlan { name, kind, stop, time_limit_ns: 1 << 33, streams, ..PhasePlan::default() }
        };
        let (write, read) = (Operation::Write, Operation::Read);
        let bytes = |phases: &[PhasePlan]| {
            let mut plan = Plan { phases: phases.to_vec(), ..Plan::default() };
            bound(&mut plan, WriteAllowance::AtMost(100 << 20), &Stack::default(), 0, false);
            plan.phases.iter().map(|p| p.streams[0].limits.total_bytes.unwrap_or(0) >> 20).collect::<Vec<_>>()
        };
        let (w, r) = (phase("w", write, StopRule::Amount), phase("r", read, StopRule::Amount));
        assert_eq!(bytes(&[w.clone(), r.clone()]), [512, 512]);
        // Read before, or over data that were laid out, nothing is missing.
        assert_eq!(bytes(&[r.clone(), w.clone()]), [512, 100]);
        assert_eq!(bytes(&[phase("w", write, StopRule::Time), r.clone()]), [100, 512]);
        let layout = PhasePlan { kind: PhaseKind::Layout, ..phase("layout", write, StopRule::RegionOnce) };
        assert!(bytes(&[layout, w, r])[1] < 512);
    }
}
