//! What others did with the device, beside a phase and before and after it.

use super::RuleInput;
use crate::context::own_bytes_between;
use model::{Access, BlockPlan, DirectProof, Ns, Order, QuietWindow, StreamPlan};
use stats::poisson_lower;

/// Share of the device's traffic that may be others'.
pub const FOREIGN_LIMIT: f64 = 0.05;

/// Operations that a single flush may leave in one of the two quiet windows without meaning a tenant: a journal commit
/// (ext4: every 5 s) is a handful of writes. Seen in both windows, or more of them, it is somebody's steady use.
pub const LONE_BURST_OPERATIONS: u64 = 16;

/// Confidence that the share is really above the limit: windows are short, and a few operations say little of a rate.
const LEVEL: f64 = 0.95;

/// Operations up to this size are held by their number rather than by their bytes.
pub(super) const SMALL_BYTES: u64 = 65_536;

/// How long the kernel's clock may take to notice that a device is busy (k:block/blk-core.c update_io_ticks, in jiffies): a
/// burst within one tick may not show.
const TICK_NS: Ns = 4_000_000;

/// The share of the device that others can have taken, and what they moved.
pub(super) type OthersShare = (f64, OthersTraffic);

/// What others moved, per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OthersTraffic {
    pub bytes: f64,
    pub operations: f64,
}

/// Share of an amount in `operations` that is there with confidence.
fn sure(operations: u64) -> f64 {
    match (operations, poisson_lower(operations, LEVEL)) {
        (0, _) | (_, None) => 0.0,
        (n, Some(lower)) => lower / n as f64,
    }
}

/// The share of the device's time that others can have taken of a phase, at most all of it. Beside large operations of ours
/// it is their bytes that count. Beside small ones each of theirs takes the time of one of ours, and its bytes what they take
/// at the device's best rate: a journal's write of 100 KiB is not 25 reads of 4 KiB.
pub(super) fn others_share(case: RuleInput<'_>, moved: OthersTraffic, during_bytes_per_s: f64) -> f64 {
    let small = |block: &BlockPlan| block.block_size_bytes <= SMALL_BYTES && block.order != Order::Sequential;
    let small = |s: &StreamPlan| s.blocks().is_some_and(|s| small(s.block));
    let seconds = case.record.duration_ns() as f64 / 1e9;
    let share = if case.plan.streams.iter().all(small) && seconds > 0.0 {
        let best = case.context.sequential_bytes_per_s.unwrap_or(0.0).max(during_bytes_per_s);
        let own = case.record.operations as f64 / seconds;
        let block = case.record.bytes as f64 / (case.record.operations as f64).max(1.0);
        // One as large as ours is paid for by its time.
        let beyond = (moved.bytes - moved.operations * block).max(0.0);
        part(moved.operations, own) + part(beyond, best)
    } else {
        part(moved.bytes, during_bytes_per_s)
    };
    share.min(1.0)
}

/// Others' part beside ours; of all that a device does. More than all of it says nothing more.
fn part(others: f64, all: f64) -> f64 {
    if others > 0.0 { others / all.max(others) } else { 0.0 }
}

/// What others did in the quiet windows, against what the device did during the phase; `None` where nothing counts. What the
/// device wrote beyond our bytes during the phase (journal, copies-on-write) is amplification and not looked at here.
pub(super) fn in_quiet_windows(case: RuleInput<'_>) -> Option<OthersShare> {
    let own_windows = [case.record.quiet_before, case.record.quiet_after];
    let own_windows: Vec<QuietWindow> = own_windows.into_iter().flatten().filter(|w| w.length_ns > 0).collect();
    if own_windows.is_empty() {
        return None;
    }
    let all_operations = |windows: &[QuietWindow]| windows.iter().map(|w| w.operations).sum::<u64>();
    let everywhere = own_windows.len() == 2 && own_windows.iter().all(|w| w.operations > 0);
    if !everywhere && all_operations(&own_windows) < LONE_BURST_OPERATIONS {
        return Some(Default::default());
    }
    // What fell into one of the two may come every few seconds: over all windows of the run its rate is nearer to the truth.
    let so_far = case.context.windows;
    let windows = if everywhere || so_far.len() <= own_windows.len() { &own_windows[..] } else { so_far };
    let length = windows.iter().map(|w| w.length_ns).sum::<Ns>() as f64 / 1e9;
    let operations = all_operations(windows);
    let sure = sure(operations) / length;
    let bytes = windows.iter().map(|w| w.read_bytes.saturating_add(w.write_bytes)).fold(0, u64::saturating_add);
    let moved = OthersTraffic { bytes: bytes as f64 * sure, operations: operations as f64 * sure };
    let time = case.record.duration_ns() as f64 / 1e9;
    if time <= 0.0 || length <= 0.0 {
        return None;
    }
    let own = case.record.bytes as f64 / time;
    let device = case.context.device_traffic(case.record);
    let during = device.map_or(own, |t| own.max((t.read_bytes + t.write_bytes) as f64 / t.seconds()));
    // They cannot have taken more of the device's time than it had requests of theirs in flight.
    let busy: Option<Ns> = windows.iter().map(|w| w.busy_ns.map(|ns| ns + TICK_NS)).sum();
    let most = busy.map_or(1.0, |ns| ns as f64 / 1e9 / length);
    Some((others_share(case, moved, during).min(most), moved))
}

/// Others' writes and reads during a phase that only reads; the reads where they can be told from ours (all of it direct).
/// Reads during writes may be our own: parity, metadata.
pub(super) fn while_reading(case: RuleInput<'_>) -> Option<(OthersShare, Option<OthersShare>)> {
    // Those of other ranks are ours, and nothing tells them from those of others: what the quiet windows show remains.
    if !case.reads_only() || case.context.group.is_some() {
        return None;
    }
    let traffic = case.context.device_traffic(case.record)?;
    let seconds = traffic.seconds();
    let own = own_bytes_between(case.record, traffic.from_ns, traffic.to_ns);
    let written = traffic.write_bytes.saturating_sub(case.context.kept_bytes);
    let sure = sure(traffic.writes);
    let writes =
        OthersTraffic { bytes: written as f64 * sure / seconds, operations: traffic.writes as f64 * sure / seconds };
    let writes = if written == 0 { OthersTraffic::default() } else { writes };
    let during = own.max(traffic.read_bytes as f64) + traffic.write_bytes as f64;
    let counted_reads = proven_direct(case) && traffic.read_bytes as f64 >= own * (1.0 - FOREIGN_LIMIT);
    let reads = counted_reads.then(|| {
        let beyond = (traffic.read_bytes as f64 - own).max(0.0);
        let own_operations = case.record.operations as f64 * own / (case.record.bytes as f64).max(1.0);
        let small =
            case.plan.streams.iter().all(|s| s.blocks().is_none_or(|s| s.block.block_size_bytes <= SMALL_BYTES));
        // Large operations of ours are split, so that their requests say nothing of the number of others'.
        let operations = if small { traffic.reads as f64 - own_operations } else { beyond / SMALL_BYTES as f64 };
        let operations = operations.max(0.0) as u64;
        // Extents of a file, a directory: what our own reads need besides.
        let certain = if operations < LONE_BURST_OPERATIONS { 0.0 } else { self::sure(operations) };
        let bytes = beyond * certain / seconds;
        (
            part(bytes, traffic.read_bytes as f64 / seconds),
            OthersTraffic { bytes, operations: operations as f64 / seconds },
        )
    });
    Some(((others_share(case, writes, during / seconds), writes), reads))
}

/// Whether all of it went past the page cache, and that is proven.
pub(super) fn proven_direct(case: RuleInput<'_>) -> bool {
    let direct = |s: &StreamPlan| s.path.access == Access::Direct;
    case.plan.streams.iter().all(direct)
        && case.record.direct.as_ref().is_some_and(|d| matches!(d, DirectProof::Proven(_)))
}
