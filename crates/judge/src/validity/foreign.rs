//! Whether others used the device.

use super::{Case, Refusal, Validity};
use crate::context::own_bytes_between;
use model::QuietWindow;
use stats::poisson_lower;

/// Share of the device's traffic that may be others'.
pub const FOREIGN_LIMIT: f64 = 0.05;

/// Operations that a single flush may leave in one of the two quiet windows without meaning a tenant: a journal commit
/// (ext4: every 5 s) is a handful of writes. Seen in both windows, or more of them, it is somebody's steady use.
pub const LONE_BURST_OPERATIONS: u64 = 16;

/// Confidence that the share is really above the limit: windows are short, and a few operations say little of a rate.
const LEVEL: f64 = 0.95;

pub(super) fn alone(case: Case<'_>, out: &mut Validity) {
    if let Some(share) = in_quiet_windows(case)
        && share > FOREIGN_LIMIT
    {
        out.refusals.push(Refusal::ForeignTraffic { percent: share * 100.0, seen: "in the quiet windows" });
    }
    if let Some(share) = writes_while_reading(case)
        && share > FOREIGN_LIMIT
    {
        out.refusals.push(Refusal::ForeignTraffic { percent: share * 100.0, seen: "writes while we only read" });
    }
}

/// Share of `bytes` in `operations` that is there with confidence.
fn sure_bytes(bytes: f64, operations: u64) -> f64 {
    match (operations, poisson_lower(operations, LEVEL)) {
        (0, _) | (_, None) => 0.0,
        (n, Some(lower)) => bytes * lower / n as f64,
    }
}

/// Others' rate in the quiet windows over the device's rate during the phase; `None` where nothing counts. What the
/// device wrote beyond our bytes during the phase (journal, copies-on-write) is amplification and not looked at here.
fn in_quiet_windows(case: Case<'_>) -> Option<f64> {
    let windows = [case.record.quiet_before, case.record.quiet_after];
    let windows: Vec<QuietWindow> = windows.into_iter().flatten().filter(|w| w.length_ns > 0).collect();
    if windows.is_empty() {
        return None;
    }
    let operations: u64 = windows.iter().map(|w| w.operations).sum();
    let everywhere = windows.len() == 2 && windows.iter().all(|w| w.operations > 0);
    if !everywhere && operations < LONE_BURST_OPERATIONS {
        return Some(0.0);
    }
    let bytes: u64 = windows.iter().map(|w| w.read_bytes + w.write_bytes).sum();
    let seconds = windows.iter().map(|w| w.length_ns).sum::<u64>() as f64 / 1e9;
    let foreign = sure_bytes(bytes as f64, operations) / seconds;
    let time = case.record.duration_ns() as f64 / 1e9;
    if time <= 0.0 {
        return None;
    }
    let own = case.record.bytes as f64 / time;
    let device = case.context.device_traffic(case.record);
    let during = device.map_or(own, |t| own.max((t.read_bytes + t.write_bytes) as f64 / t.seconds()));
    // A burst that fell into a window may exceed what the device does in the phase; more than all of it says nothing more.
    Some(if foreign > 0.0 { foreign / during.max(foreign) } else { 0.0 })
}

/// Writes at the device while the phase only read. (Reads during writes may be our own: parity, metadata.)
fn writes_while_reading(case: Case<'_>) -> Option<f64> {
    if !case.reads_only() {
        return None;
    }
    let traffic = case.context.device_traffic(case.record)?;
    let others = traffic.write_bytes.saturating_sub(case.context.kept_bytes);
    let foreign = sure_bytes(others as f64, traffic.writes);
    let own = own_bytes_between(case.record, traffic.from_ns, traffic.to_ns);
    let all = own.max(traffic.read_bytes as f64) + traffic.write_bytes as f64;
    Some(if all > 0.0 { foreign / all } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::QuietWindow;

    fn window(bytes: u64, operations: u64) -> Option<QuietWindow> {
        Some(QuietWindow { length_ns: 200_000_000, read_bytes: 0, write_bytes: bytes, operations })
    }

    #[test]
    fn a_tenant_in_both_windows() {
        // Our rate is 4.096 MB/s; 5 % of it are 41 kB in 200 ms.
        let mut f = Fixture::random_read().on_disk();
        f.record.quiet_before = window(80_000, 100);
        f.record.quiet_after = window(80_000, 100);
        assert_eq!(f.codes(), ["foreign-traffic"]);
        f.record.quiet_before = window(40_000, 100);
        f.record.quiet_after = window(40_000, 100);
        assert_eq!(f.codes(), NONE);
        f.record.quiet_before = window(0, 0);
        f.record.quiet_after = window(400_000, 100);
        assert_eq!(f.codes(), ["foreign-traffic"]);
    }

    #[test]
    fn a_journal_commit_on_a_slow_card_is_not_a_tenant() {
        // 30 operations a second of 4 KiB; a commit of three writes, 28 KiB, falls into one window.
        let mut f = Fixture::random_read().at_rate(30, 4.0).on_disk();
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
    fn writes_while_we_read() {
        let mut f = Fixture::random_read().on_disk();
        let last = f.samples.len() - 1;
        // 16.4 MB read. A commit during it:
        f.samples[last].disks[0].writes += 3;
        f.samples[last].disks[0].sectors_written += 56;
        assert_eq!(f.codes(), NONE);
        f.samples[last].disks[0].writes += 500;
        f.samples[last].disks[0].sectors_written += 4_000;
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
