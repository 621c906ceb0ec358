//! Slices of a phase in which others used the device: left out of the rate where enough of the phase is left.

use super::RuleInput;
use super::others::{
    FOREIGN_LIMIT, OthersTraffic, SMALL_BYTES, in_quiet_windows, others_share, proven_direct, while_reading,
};
use crate::context::own_bytes_between;
use model::{DiskRate, Interval, Ns, Operation, StreamPlan, traffic};

/// What is not of blocks is counted page by page.
const PAGE_BYTES: u64 = 4096;

/// Share of the counted time that must be left.
const MIN_LEFT: f64 = 0.6;
/// A slice is at least so long: shorter ones hold the end of a burst as well as its begin.
const MIN_NS: Ns = 200_000_000;
/// Operations of ours that a slice of writes has: one more or less of them, at its ends, is no traffic of others.
const MIN_WRITES: f64 = 20.0;
/// Slices of writes, without which the counters tell nothing.
const MIN_SLICES: usize = 3;

/// What is left of a phase.
pub(crate) struct Undisturbed {
    /// The intervals that count.
    pub intervals: Vec<Interval>,
    /// Time that was left out, and of how much.
    pub out_ns: Ns,
    pub all_ns: Ns,
    /// Bytes that others moved meanwhile.
    pub others_bytes: u64,
}

/// When others took more of the device than they may, and the bytes that they moved.
#[derive(Default)]
struct Disturbed {
    at: Vec<(Ns, Ns)>,
    bytes: u64,
}

/// The intervals in which others did too little to matter, where they did more in some and not in most.
pub(crate) fn undisturbed(case: RuleInput<'_>) -> Option<Undisturbed> {
    let Disturbed { at, bytes } = disturbed(case)?;
    let counted = case.record.counted_intervals();
    let hit = |i: &&Interval| at.iter().any(|(a, b)| i.start_ns < *b && i.start_ns + i.length_ns > *a);
    let intervals: Vec<Interval> = counted.iter().filter(|i| !hit(i)).copied().collect();
    let length = |intervals: &[Interval]| intervals.iter().map(|i| i.length_ns).sum::<Ns>();
    let left = length(&intervals);
    let all_ns = length(counted);
    let enough = left as f64 >= all_ns as f64 * MIN_LEFT && left as f64 / 1e9 >= crate::validity::MIN_SECONDS;
    let out_ns = all_ns - left;
    (out_ns > 0 && enough).then_some(Undisturbed { intervals, out_ns, all_ns, others_bytes: bytes })
}

/// Whether the counters show that what was written was ours throughout, although others were about before or after.
pub(super) fn no_others(case: RuleInput<'_>) -> bool {
    !case.reads_only() && disturbed(case).is_some_and(|d| d.at.is_empty())
}

/// The slices that others disturbed; `None` where the whole stands without, or the counters cannot tell.
fn disturbed(case: RuleInput<'_>) -> Option<Disturbed> {
    if case.record.intervals.is_empty() || case.record.steady.is_some() || case.context.group.is_some() {
        return None;
    }
    let reads = case.reads_only();
    // Where the whole stands, all of it counts.
    let (share, _) = if reads { while_reading(case)?.0 } else { in_quiet_windows(case)? };
    // What is written otherwise comes to the device when the kernel likes, with the journal's.
    let is_exact = reads || (proven_direct(case) && case.plan.streams.iter().all(writes_only));
    case.context.device_traffic(case.record).filter(|_| is_exact && share > FOREIGN_LIMIT)?;
    let disks: Vec<String> = case.context.stack.lowest_counted().iter().map(|l| l.name.clone()).collect();
    let block =
        case.plan.streams.iter().map(|s| s.blocks().map_or(PAGE_BYTES, |s| s.block.block_size_bytes)).max()? as f64;
    let mut found = Disturbed::default();
    let mut slices = 0;
    let (mut from, last) = (case.context.samples.first()?, case.context.samples.last()?);
    for to in &case.context.samples[1..] {
        let own = own_bytes_between(case.record, from.at_ns, to.at_ns);
        let long = to.at_ns.saturating_sub(from.at_ns) >= MIN_NS && (reads || own >= MIN_WRITES * block);
        // What is left at the end is looked at as well.
        if !long && (reads || to.at_ns < last.at_ns) {
            continue;
        }
        let moved = traffic(from, to, &disks)?;
        let seconds = (to.at_ns - from.at_ns) as f64 / 1e9;
        let others =
            if reads { written_beside_reads(&moved) } else { moved_beside_writes(&moved, seconds, own, block) };
        if others.bytes > 0.0 && others_share(case, others, own / seconds + others.bytes) > FOREIGN_LIMIT {
            found.at.push((from.at_ns, to.at_ns));
            found.bytes += (others.bytes * seconds) as u64;
        }
        slices += usize::from(long);
        from = to;
    }
    (reads || slices >= MIN_SLICES).then_some(found)
}

fn writes_only(stream: &StreamPlan) -> bool {
    stream.blocks().is_some_and(|s| s.block.operation == Operation::Write) && !stream.reads()
}

fn written_beside_reads(moved: &DiskRate) -> OthersTraffic {
    OthersTraffic { bytes: moved.write_bytes_per_s, operations: moved.writes_per_s }
}

/// What was read, and what was written beyond our own bytes and one operation.
fn moved_beside_writes(moved: &DiskRate, seconds: f64, own_bytes: f64, block: f64) -> OthersTraffic {
    let written = (moved.write_bytes as f64 - own_bytes - block).max(0.0) / seconds;
    let bytes = written + moved.read_bytes_per_s;
    // Large operations of ours are split, so that their number says nothing of others'.
    let operations = if block > SMALL_BYTES as f64 {
        0.0
    } else {
        (moved.writes_per_s - own_bytes / block / seconds).max(0.0) + moved.reads_per_s
    };
    OthersTraffic { bytes, operations }
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::QuietWindow;

    fn window(bytes: u64, operations: u64) -> Option<QuietWindow> {
        Some(QuietWindow { length_ns: 200_000_000, write_bytes: bytes, operations, ..QuietWindow::default() })
    }

    #[test]
    fn a_burst_of_others_is_cut_out_of_a_read() {
        let mut f = Fixture::random_read().at_rate(1_000, 20.0).on_disk();
        // From 5 to 6 s others write, and we read at half the rate.
        let begin = f.record.started_ns;
        for interval in &mut f.record.intervals {
            if (5_000_000_000..6_000_000_000).contains(&(interval.start_ns - begin)) {
                interval.operations /= 2;
                interval.bytes /= 2;
                f.record.operations -= interval.operations;
                f.record.bytes -= interval.bytes;
            }
        }
        let burst = |at_ns: u64| at_ns.saturating_sub(begin + 5_000_000_000).min(1_000_000_000) / 1_000_000;
        f.each_sample(|_, s| {
            let ms = burst(s.at_ns);
            s.disks[0].writes += 2 * ms;
            s.disks[0].sectors_written += 400 * ms;
        });
        let judged = f.judge();
        assert_eq!(judged.refusals, [], "{judged:?}");
        let iops = judged.metrics.iter().find(|m| m.id.ends_with(".iops")).unwrap();
        assert!((iops.value.unwrap() - 1_000.0).abs() < 2.0, "{iops:?}");
        let said = judged.reasons.iter().find(|r| r.is("slices-left-out")).unwrap().text();
        assert!(said.contains(" of 20.0 s") && said.contains("204.8 MB"), "{said}");
        // Over the whole phase, too much of it would be left out.
        f.each_sample(|_, s| {
            let ms = (s.at_ns - begin.min(s.at_ns)) / 1_000_000;
            s.disks[0].writes += 2 * ms;
            s.disks[0].sectors_written += 400 * ms;
        });
        assert_eq!(f.codes(), ["foreign-traffic"]);
    }

    #[test]
    fn a_burst_of_others_is_cut_out_of_a_write() {
        // 400 MB/s in operations of 1 MiB for 10 s; others are about before and after.
        let busy = |f: &mut Fixture| {
            f.record.quiet_before = window(20_000_000, 100);
            f.record.quiet_after = window(20_000_000, 100);
        };
        let written = |f: &mut Fixture, from_ms: u64, to_ms: u64| {
            let begin = f.record.started_ns;
            f.each_sample(|_, s| {
                let ms = (s.at_ns.saturating_sub(begin) / 1_000_000).clamp(from_ms, to_ms) - from_ms;
                s.disks[0].writes += ms;
                s.disks[0].sectors_written += 200 * ms;
            });
        };
        let mut f = Fixture::sequential_write().at_rate(400, 10.0).on_disk();
        busy(&mut f);
        assert_eq!(f.codes(), NONE, "what the device wrote meanwhile was ours");
        written(&mut f, 4_000, 5_000);
        let judged = f.judge();
        assert_eq!(judged.refusals, [], "{judged:?}");
        let said = judged.reasons.iter().find(|r| r.is("slices-left-out")).unwrap().text();
        assert!(said.contains("1.0 s of 10.0 s") && said.contains("used the device"), "{said}");
        // All the time.
        written(&mut f, 0, 10_000);
        assert_eq!(f.codes(), ["foreign-traffic"]);
        // Through the page cache nobody can tell whose it was.
        let mut f = Fixture::sequential_write().at_rate(400, 10.0).on_disk();
        busy(&mut f);
        f.record.direct = Some(model::DirectProof::Unproven("old kernel".into()));
        assert_eq!(f.codes(), ["foreign-traffic"]);
        // A slow card: a slice would be most of the phase.
        let mut f = Fixture::sequential_write().at_rate(10, 4.0).on_disk();
        busy(&mut f);
        assert_eq!(f.codes(), ["foreign-traffic"]);
    }
}
