//! Whether others used the device.

use super::{Case, Refusal, Remark, Validity, slices};
use crate::context::own_bytes_between;
use model::{Access, DirectProof, Ns, Order, QuietWindow, StreamPlan};
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

/// Processes that are named, and the share of what others moved that they must have moved for it.
const MOST_NAMED: usize = 2;
const NAMED_SHARE: f64 = 0.3;

/// The share of the device that others can have taken, and what they moved.
pub(super) type Taken = (f64, Moved);

/// What others moved, per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moved {
    pub bytes: f64,
    pub operations: f64,
}

pub(super) fn alone(case: Case<'_>, out: &mut Validity) {
    let Validity { refusals, remarks, .. } = out;
    let mut refuse = |(share, moved): Taken, seen| {
        if share > FOREIGN_LIMIT {
            refusals.push(Refusal::ForeignTraffic {
                percent: share * 100.0,
                bytes_per_s: moved.bytes,
                seen,
                who: who(case, moved.bytes),
            });
        }
    };
    // Where the counters of the device tell everything that others did during the phase, what they did before and after it
    // is beside the point.
    match while_reading(case) {
        Some((writes, reads)) => {
            match case.rate.and_then(|r| r.sliced.as_ref()) {
                Some(sentence) => remarks.push(Remark::new("slices-left-out", sentence.clone())),
                None => refuse(writes, "written while we only read"),
            }
            match reads {
                Some(reads) => refuse(reads, "read beside us"),
                None => in_quiet_windows(case).into_iter().for_each(|found| refuse(found, "in the quiet windows")),
            }
        }
        None => match case.rate.and_then(|r| r.sliced.as_ref()) {
            Some(sentence) => remarks.push(Remark::new("slices-left-out", sentence.clone())),
            None if slices::all_ours(case) => {}
            None => in_quiet_windows(case).into_iter().for_each(|found| refuse(found, "in the quiet windows")),
        },
    }
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
pub(super) fn taken(case: Case<'_>, moved: Moved, during_bytes_per_s: f64) -> f64 {
    let small = |s: &StreamPlan| s.block().block_size_bytes <= SMALL_BYTES && s.block().order != Order::Sequential;
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
pub(super) fn in_quiet_windows(case: Case<'_>) -> Option<Taken> {
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
    let moved = Moved { bytes: bytes as f64 * sure, operations: operations as f64 * sure };
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
    Some((taken(case, moved, during).min(most), moved))
}

/// Others' writes and reads during a phase that only reads; the reads where they can be told from ours (all of it direct).
/// Reads during writes may be our own: parity, metadata.
pub(super) fn while_reading(case: Case<'_>) -> Option<(Taken, Option<Taken>)> {
    if !case.reads_only() {
        return None;
    }
    let traffic = case.context.device_traffic(case.record)?;
    let seconds = traffic.seconds();
    let own = own_bytes_between(case.record, traffic.from_ns, traffic.to_ns);
    let written = traffic.write_bytes.saturating_sub(case.context.kept_bytes);
    let sure = sure(traffic.writes);
    let writes = Moved { bytes: written as f64 * sure / seconds, operations: traffic.writes as f64 * sure / seconds };
    let writes = if written == 0 { Moved::default() } else { writes };
    let during = own.max(traffic.read_bytes as f64) + traffic.write_bytes as f64;
    let told = proven_direct(case) && traffic.read_bytes as f64 >= own * (1.0 - FOREIGN_LIMIT);
    let reads = told.then(|| {
        let beyond = (traffic.read_bytes as f64 - own).max(0.0);
        let own_operations = case.record.operations as f64 * own / (case.record.bytes as f64).max(1.0);
        let small = case.plan.streams.iter().all(|s| s.block().block_size_bytes <= SMALL_BYTES);
        // Large operations of ours are split, so that their requests say nothing of the number of others'.
        let operations = if small { traffic.reads as f64 - own_operations } else { beyond / SMALL_BYTES as f64 };
        let operations = operations.max(0.0) as u64;
        // Extents of a file, a directory: what our own reads need besides.
        let certain = if operations < LONE_BURST_OPERATIONS { 0.0 } else { self::sure(operations) };
        let bytes = beyond * certain / seconds;
        (part(bytes, traffic.read_bytes as f64 / seconds), Moved { bytes, operations: operations as f64 / seconds })
    });
    Some(((taken(case, writes, during / seconds), writes), reads))
}

/// Who moved what others moved: the processes that moved most of it by their own account; by elimination the kernel's own
/// threads, where no account explains it.
fn who(case: Case<'_>, bytes_per_s: f64) -> Option<String> {
    let others = case.context.others;
    let seconds = case.record.duration_ns() as f64 / 1e9;
    let all = bytes_per_s * seconds;
    let named: Vec<&str> = others
        .iter()
        .filter(|p| p.bytes() as f64 >= all * NAMED_SHARE)
        .take(MOST_NAMED)
        .map(|p| p.name.as_str())
        .collect();
    match (named.as_slice(), others.is_empty()) {
        ([], true) => None,
        ([], false) => Some(
            "by no process that this user may look at: a journal, writeback, or others' programs (root sees whose)"
                .to_owned(),
        ),
        (names, _) => Some(format!("mostly {}", names.join(" and "))),
    }
}

/// Whether all of it went past the page cache, and that is proven.
pub(super) fn proven_direct(case: Case<'_>) -> bool {
    let direct = |s: &StreamPlan| s.path.access.unwrap_or(case.plan.access) == Access::Direct;
    case.plan.streams.iter().all(direct)
        && case.record.direct.as_ref().is_some_and(|d| matches!(d, DirectProof::Proven(_)))
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::QuietWindow;

    fn window(bytes: u64, operations: u64) -> Option<QuietWindow> {
        Some(QuietWindow { length_ns: 200_000_000, write_bytes: bytes, operations, ..QuietWindow::default() })
    }

    #[test]
    fn a_tenant_in_both_windows() {
        // Our rate is 4.096 MB/s; 5 % of it are 41 kB in 200 ms.
        let mut f = Fixture::sync_write().on_disk();
        f.record.quiet_before = window(80_000, 100);
        f.record.quiet_after = window(80_000, 100);
        assert_eq!(f.codes(), ["foreign-traffic"]);
        f.record.quiet_before = window(30_000, 6);
        f.record.quiet_after = window(30_000, 6);
        assert_eq!(f.codes(), NONE);
        f.record.quiet_before = window(0, 0);
        f.record.quiet_after = window(400_000, 100);
        assert_eq!(f.codes(), ["foreign-traffic"]);
    }

    #[test]
    fn a_journal_commit_on_a_slow_card_is_not_a_tenant() {
        // 30 operations a second of 4 KiB; a commit of three writes, 28 KiB, falls into one window.
        let mut f = Fixture::sync_write().at_rate(30, 4.0).on_disk();
        f.record.quiet_before = window(28 * 1024, 3);
        f.record.quiet_after = window(0, 0);
        assert_eq!(f.codes(), NONE);
        // Nor is one operation in each window evidence.
        f.record.quiet_before = window(4096, 1);
        f.record.quiet_after = window(4096, 1);
        assert_eq!(f.codes(), NONE);
        // A database that syncs 50 times a second is.
        f.record.quiet_before = window(40_960, 10);
        f.record.quiet_after = window(40_960, 10);
        assert_eq!(f.codes(), ["foreign-traffic"]);
    }

    #[test]
    fn a_burst_in_one_window_counts_as_often_as_it_comes() {
        let mut f = Fixture::sync_write().on_disk();
        f.record.quiet_before = window(0, 0);
        f.record.quiet_after = window(200_000, 40);
        assert_eq!(f.codes(), ["foreign-traffic"], "the only windows that there are");
        // Beside a device that writes 100 MB/s, and with twenty windows in which nothing was.
        f.sequential = Some(100e6);
        f.windows = vec![window(0, 0).unwrap(); 20];
        assert_eq!(f.codes(), NONE);
        f.windows = vec![window(200_000, 40).unwrap(); 20];
        assert_eq!(f.codes(), ["foreign-traffic"], "it is in every window");
    }

    #[test]
    fn large_writes_of_others_cost_small_ones_of_ours_their_time_and_not_their_bytes() {
        // 40 writes a second of 20 KiB beside 1,000 of 4 KiB: a fifth of our bytes, and 4 % of our operations.
        let mut f = Fixture::sync_write().on_disk();
        f.record.quiet_before = window(8 * 20_480, 8);
        f.record.quiet_after = window(8 * 20_480, 8);
        assert_eq!(f.codes(), ["foreign-traffic"], "nothing is known of the device's best rate");
        f.sequential = Some(200e6);
        assert_eq!(f.codes(), NONE);
        // A hundred a second are a tenth of our operations.
        f.record.quiet_before = window(20 * 20_480, 20);
        f.record.quiet_after = window(20 * 20_480, 20);
        assert_eq!(f.codes(), ["foreign-traffic"]);
        // Unless the device was busy with them for 1 ms in 200.
        for w in [&mut f.record.quiet_before, &mut f.record.quiet_after] {
            w.as_mut().unwrap().busy_ns = Some(1_000_000);
        }
        assert_eq!(f.codes(), NONE);
    }

    #[test]
    fn counters_of_the_phase_itself_say_more_than_the_windows_around_it() {
        let mut f = Fixture::random_read().on_disk();
        f.record.quiet_before = window(800_000, 100);
        f.record.quiet_after = window(800_000, 100);
        assert_eq!(f.codes(), NONE, "nothing was written while we read, and nothing read but by us");
        // 4,000 reads are ours; another 1,000 are not.
        let last = f.samples.len() - 1;
        f.samples[last].disks[0].reads += 1_000;
        f.samples[last].disks[0].sectors_read += 8_000;
        assert_eq!(f.codes(), ["foreign-traffic"]);
        // A file system may have served the reads otherwise: then the windows are what there is.
        let mut unproven = Fixture::random_read().on_disk();
        unproven.record.quiet_before = window(800_000, 100);
        unproven.record.quiet_after = window(800_000, 100);
        unproven.record.direct = Some(model::DirectProof::Unproven("old kernel".into()));
        assert_eq!(unproven.codes(), ["foreign-traffic"]);
    }

    #[test]
    fn who_it_was_is_named_where_it_can_be_seen() {
        let mut f = Fixture::sync_write().on_disk();
        f.record.quiet_before = window(80_000, 100);
        f.record.quiet_after = window(80_000, 100);
        let said = |f: &Fixture| f.judge().reasons.into_iter().find(|r| r.starts_with("foreign-traffic")).unwrap();
        assert!(
            !said(&f).contains("mostly") && !said(&f).contains("journal"),
            "nothing is known of them: {}",
            said(&f)
        );
        let process =
            |name: &str, write_bytes| model::ProcessIo { pid: 7, name: name.into(), read_bytes: 0, write_bytes };
        f.others = vec![process("postgres", 1_000_000), process("rsyslogd", 600_000), process("cron", 4096)];
        assert!(said(&f).contains("mostly postgres and rsyslogd"), "{}", said(&f));
        f.others = vec![process("cron", 4096)];
        assert!(said(&f).contains("a journal, writeback"), "{}", said(&f));
    }

    #[test]
    fn writes_while_we_read() {
        let mut f = Fixture::random_read().on_disk();
        let last = f.samples.len() - 1;
        // 16.4 MB read. A commit during it:
        f.samples[last].disks[0].writes += 3;
        f.samples[last].disks[0].sectors_written += 56;
        assert_eq!(f.codes(), NONE);
        // All the time.
        f.each_sample(|i, s| {
            s.disks[0].writes += 25 * i as u64;
            s.disks[0].sectors_written += 200 * i as u64;
        });
        assert_eq!(f.codes(), ["foreign-traffic"]);
        // It was this program, which keeps a long phase.
        f.kept_bytes = 4_056 * 512;
        assert_eq!(f.codes(), NONE);
    }

    #[test]
    fn our_own_amplification_is_not_foreign() {
        let mut f = Fixture::sync_write().on_disk();
        let last = f.samples.len() - 1;
        // btrfs: 30 times our bytes.
        f.samples[last].disks[0].sectors_written += f.record.bytes / 512 * 29;
        assert_eq!(f.codes(), NONE);
        let judged = f.judge();
        let amplification = judged.metrics.iter().find(|m| m.id == "sync-write.write_amplification").unwrap();
        assert!((amplification.value.unwrap() - 30.0).abs() < 0.3, "{amplification:?}");
    }

    #[test]
    fn nothing_counts_in_a_container() {
        let f = Fixture::random_read();
        assert_eq!((f.record.quiet_before, f.samples[0].disks.len()), (None, 0));
        assert_eq!(f.codes(), NONE);
    }
}
