//! Whether others used the device.

use super::others::{FOREIGN_LIMIT, OthersShare, in_quiet_windows, while_reading};
use super::{RuleInput, Validity, slices};
use model::{ForeignSeen, Reason};

/// Processes that are named, and the share of what others moved that they must have moved for it.
const MAX_NAMED: usize = 2;
const NAMED_SHARE: f64 = 0.3;

pub(super) fn no_other_io(case: RuleInput<'_>, out: &mut Validity) {
    let Validity { refusals, remarks, .. } = out;
    let mut refuse = |(share, moved): OthersShare, seen| {
        if share > FOREIGN_LIMIT {
            refusals.push(Reason::ForeignTraffic {
                percent: share * 100.0,
                bytes_per_s: moved.bytes,
                seen,
                processes: who(case, moved.bytes),
                accounts_seen: !case.context.others.is_empty(),
            });
        }
    };
    // Where the counters of the device tell everything that others did during the phase, what they did before and after it
    // is beside the point.
    match while_reading(case) {
        Some((writes, reads)) => {
            match case.rate.and_then(|r| r.sliced.as_ref()) {
                Some(left_out) => remarks.push(left_out.clone()),
                None => refuse(writes, ForeignSeen::WrittenWhileReading),
            }
            match reads {
                Some(reads) => refuse(reads, ForeignSeen::ReadBeside),
                None => in_quiet_windows(case).into_iter().for_each(|found| refuse(found, ForeignSeen::QuietWindows)),
            }
        }
        None => match case.rate.and_then(|r| r.sliced.as_ref()) {
            Some(left_out) => remarks.push(left_out.clone()),
            None if slices::no_others(case) => {}
            None => in_quiet_windows(case).into_iter().for_each(|found| refuse(found, ForeignSeen::QuietWindows)),
        },
    }
}

/// The processes that moved most of what others moved, by their own account. None of them where no account explains it: the
/// kernel's own threads, or those of others that this user may not look at.
fn who(case: RuleInput<'_>, bytes_per_s: f64) -> Vec<String> {
    let seconds = case.record.duration_ns() as f64 / 1e9;
    let all = bytes_per_s * seconds;
    // A worker of the kernel does what others asked for: of a loop device that is measured it does our own.
    let others = case.context.others.iter().filter(|p| !p.name.starts_with("kworker/"));
    let moved = others.filter(|p| p.bytes() as f64 >= all * NAMED_SHARE).take(MAX_NAMED);
    // By its number, too: another run of this program would read as this one.
    moved.map(|p| format!("pid {} {}", p.pid, p.name)).collect()
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
        let said = |f: &Fixture| f.judge().reasons.into_iter().find(|r| r.is("foreign-traffic")).unwrap().text();
        assert!(
            !said(&f).contains("mostly") && !said(&f).contains("journal"),
            "nothing is known of them: {}",
            said(&f)
        );
        let process =
            |name: &str, write_bytes| model::ProcessIo { pid: 7, name: name.into(), read_bytes: 0, write_bytes };
        f.others = vec![process("postgres", 1_000_000), process("rsyslogd", 600_000), process("cron", 4096)];
        assert!(said(&f).contains("mostly pid 7 postgres and pid 7 rsyslogd"), "{}", said(&f));
        f.others = vec![process("cron", 4096)];
        assert!(said(&f).contains("a journal, writeback"), "{}", said(&f));
        f.others = vec![process("kworker/u8:1-loop4", 1_000_000)];
        assert!(!said(&f).contains("mostly"), "it works for us: {}", said(&f));
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
    fn bytes_of_other_ranks_are_not_foreign_and_those_of_others_still_are() {
        let mut f = Fixture::random_read().on_disk();
        let last = f.samples.len() - 1;
        f.samples[last].disks[0].reads += 4_000;
        f.samples[last].disks[0].sectors_read += 32_000;
        f.samples[last].disks[0].sectors_written += 32_000;
        f.samples[last].disks[0].writes += 4_000;
        assert_eq!(f.codes(), ["foreign-traffic"]);
        f.group = Some(model::GroupPhase { overlap_percent: 99.0, ..model::GroupPhase::default() });
        assert_eq!(f.codes(), NONE);
        f.record.quiet_before = window(800_000, 100);
        f.record.quiet_after = window(800_000, 100);
        assert_eq!(f.codes(), ["foreign-traffic"], "all ranks were silent then");
        f.group = Some(model::GroupPhase { overlap_percent: 60.0, ..model::GroupPhase::default() });
        assert_eq!(f.codes(), ["not-together", "foreign-traffic"]);
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
