//! From bytes to counters. What is not understood is left out; nothing here allocates except for the lists of a sample.

use model::{CpuTicks, DiskCounters, MemorySample, Pressure, SystemSample};
use std::collections::BTreeSet;

/// The digits at the beginning, after blanks; `None` without digits or beyond 64 bits.
fn take_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let start = text.iter().position(|b| !matches!(b, b' ' | b'\t'))?;
    let digits = text[start..].iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let (number, rest) = text[start..].split_at(digits);
    let value = number.iter().try_fold(0u64, |v, b| v.checked_mul(10)?.checked_add(u64::from(b - b'0')))?;
    Some((value, rest))
}

/// All numbers of a line into `out`; how many there were.
fn take_numbers(mut text: &[u8], out: &mut [u64]) -> usize {
    let mut count = 0;
    while count < out.len() {
        let Some((value, rest)) = take_number(text) else { break };
        out[count] = value;
        count += 1;
        text = rest;
    }
    count
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| *b == b'\n')
}

/// A file that holds one number.
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    take_number(text).map(|(v, _)| v)
}

/// A file that holds one number, perhaps negative.
pub(super) fn signed(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii_start();
    match text.strip_prefix(b"-") {
        Some(digits) => i64::try_from(unsigned(digits)?).ok().map(|v| -v),
        None => i64::try_from(unsigned(text)?).ok(),
    }
}

/// A file that holds one hexadecimal number.
pub(super) fn hex(text: &[u8]) -> Option<u64> {
    crate::root::parse_hex(std::str::from_utf8(text).ok()?)
}

/// `/sys/block/*/stat` (k:Documentation/block/stat.rst); the name is left empty.
pub(super) fn disk_counters(text: &[u8]) -> Option<DiskCounters> {
    let mut v = [0; 17];
    let count = take_numbers(text, &mut v);
    if count < 11 {
        return None;
    }
    let since = |fields: usize, at: usize| (count >= fields).then_some(v[at]);
    Some(DiskCounters {
        name: String::new(),
        reads: v[0],
        reads_merged: v[1],
        sectors_read: v[2],
        read_ms: v[3],
        writes: v[4],
        writes_merged: v[5],
        sectors_written: v[6],
        write_ms: v[7],
        in_flight: v[8],
        busy_ms: v[9],
        weighted_ms: v[10],
        discards: since(15, 11),
        discards_merged: since(15, 12),
        sectors_discarded: since(15, 13),
        discard_ms: since(15, 14),
        flushes: since(17, 15),
        flush_ms: since(17, 16),
    })
}

/// /proc/diskstats (k:Documentation/admin-guide/iostats.rst): the lines of the wanted disks, in the kernel's order.
pub(super) fn diskstats(text: &[u8], wanted: &BTreeSet<String>) -> Vec<DiskCounters> {
    let line = |line: &[u8]| {
        let (_, rest) = take_number(line)?;
        let (_, rest) = take_number(rest)?;
        let rest = rest.trim_ascii_start();
        let end = rest.iter().position(|b| *b == b' ')?;
        let name = std::str::from_utf8(&rest[..end]).ok().filter(|n| wanted.contains(*n))?;
        Some(DiskCounters { name: name.to_owned(), ..disk_counters(&rest[end..])? })
    };
    lines(text).filter_map(line).collect()
}

/// /proc/stat: CPUs, interrupts, context switches, tasks that wait for I/O.
pub(super) fn stat(text: &[u8], sample: &mut SystemSample) {
    for line in lines(text) {
        if let Some(rest) = line.strip_prefix(b"cpu") {
            // The first line, without a number, is the sum.
            let Some((_, rest)) = rest.first().filter(|b| b.is_ascii_digit()).and_then(|_| take_number(rest)) else {
                continue;
            };
            let mut v = [0; 8];
            // Kernels before 2.6.11 have fewer kinds, which then stay 0 as they do not exist.
            if take_numbers(rest, &mut v) >= 4 {
                let [user, nice, system, idle, iowait, irq, softirq, steal] = v;
                sample.cpus.push(CpuTicks { user, nice, system, idle, iowait, irq, softirq, steal });
            }
        } else if let Some(rest) = line.strip_prefix(b"intr ") {
            sample.interrupts = unsigned(rest);
        } else if let Some(rest) = line.strip_prefix(b"ctxt ") {
            sample.context_switches = unsigned(rest);
        } else if let Some(rest) = line.strip_prefix(b"procs_blocked ") {
            sample.tasks_blocked = unsigned(rest);
        }
    }
}

/// /proc/meminfo.
pub(super) fn memory(text: &[u8]) -> MemorySample {
    let mut out = MemorySample::default();
    for line in lines(text) {
        let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
        let field = match &line[..colon] {
            b"MemAvailable" => &mut out.available_bytes,
            b"Cached" => &mut out.cached_bytes,
            b"Dirty" => &mut out.dirty_bytes,
            b"Writeback" => &mut out.writeback_bytes,
            _ => continue,
        };
        *field = unsigned(&line[colon + 1..]).and_then(|kib| kib.checked_mul(1_024));
        if out.writeback_bytes.is_some() && out.dirty_bytes.is_some() {
            // These two come last.
            break;
        }
    }
    out
}

/// /proc/pressure/*: the totals.
pub(super) fn pressure(text: &[u8]) -> Option<Pressure> {
    let total = |line: &[u8]| {
        let at = line.windows(6).position(|w| w == b"total=")?;
        unsigned(&line[at + 6..])
    };
    let of = |kind: &[u8]| lines(text).find(|l| l.starts_with(kind)).and_then(total);
    Some(Pressure { some_us: of(b"some ")?, full_us: of(b"full ") })
}

/// /proc/interrupts: sums of the columns. Lines such as `ERR:` have one column that belongs to no CPU and are left out.
pub(super) fn interrupts_by_cpu(text: &[u8]) -> Vec<u64> {
    let mut lines = lines(text);
    let cpus = lines.next().map_or(0, |l| l.windows(3).filter(|w| w == b"CPU").count());
    let mut sums = vec![0u64; cpus];
    let mut row = vec![0u64; cpus];
    for line in lines {
        let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
        if take_numbers(&line[colon + 1..], &mut row) == cpus {
            for (sum, value) in sums.iter_mut().zip(&row) {
                *sum = sum.saturating_add(*value);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn block_statistics_by_kernel_age() {
        let old = disk_counters(b"  1 2 3 4 5 6 7 8 9 10 11\n").unwrap();
        assert_eq!((old.reads, old.sectors_read, old.sectors_written, old.weighted_ms), (1, 3, 7, 11));
        assert_eq!((old.discards, old.flushes), (None, None));
        let new = disk_counters(b"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n").unwrap();
        assert_eq!(
            (new.discards, new.sectors_discarded, new.flushes, new.flush_ms),
            (Some(12), Some(14), Some(16), Some(17))
        );
        assert_eq!((new.discards_merged, new.discard_ms), (Some(13), Some(15)));
        assert_eq!(disk_counters(b"1 2 3"), None);
    }

    #[test]
    fn the_wanted_lines_of_diskstats() {
        let text = b"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n   8       1 sda1 9 2 3 4 5 6 7 8 9 10 11\n 8 16 sdb x\n garbage\n";
        let wanted = BTreeSet::from(["sda1".to_owned(), "sdb".to_owned()]);
        let seen: Vec<(String, u64)> = diskstats(text, &wanted).into_iter().map(|d| (d.name, d.reads)).collect();
        assert_eq!(seen, [("sda1".to_owned(), 9)]);
    }

    #[test]
    fn cpu_lines_without_the_sum() {
        let mut sample = SystemSample::default();
        stat(
            b"cpu  9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu3 1 0 0 4\nintr 77 1 2\nctxt 5\nprocs_blocked 3\n",
            &mut sample,
        );
        assert_eq!(sample.cpus.len(), 2);
        assert_eq!(sample.cpus[0].steal, 8);
        assert_eq!((sample.interrupts, sample.context_switches, sample.tasks_blocked), (Some(77), Some(5), Some(3)));
    }

    #[test]
    fn memory_in_bytes() {
        let m = memory(
            b"MemTotal: 9 kB\nMemAvailable:  2 kB\nCached: 3 kB\nSwapCached: 8 kB\nDirty: 4 kB\nWriteback: 5 kB\n",
        );
        assert_eq!(
            (m.available_bytes, m.cached_bytes, m.dirty_bytes, m.writeback_bytes),
            (Some(2048), Some(3072), Some(4096), Some(5120))
        );
    }

    #[test]
    fn pressure_totals() {
        let p = pressure(
            b"some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
        );
        assert_eq!(p, Some(Pressure { some_us: 12, full_us: Some(7) }));
        assert_eq!(pressure(b""), None);
    }

    #[test]
    fn interrupts_sum_by_column() {
        let table = b"           CPU0       CPU1\n  1:   10   20  IO-APIC 1-edge i8042\nLOC:   1   2   Local timer\nERR:   99\n";
        assert_eq!(interrupts_by_cpu(table), [11, 22]);
    }

    #[test]
    fn numbers() {
        assert_eq!(signed(b"-5000\n"), Some(-5000));
        assert_eq!(signed(b"42000\n"), Some(42000));
        assert_eq!(unsigned(b"18446744073709551616"), None);
        assert_eq!(hex(b"50005\n"), Some(0x50005));
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = (disk_counters(&bytes), memory(&bytes), pressure(&bytes), interrupts_by_cpu(&bytes));
            let _ = (signed(&bytes), unsigned(&bytes), hex(&bytes), diskstats(&bytes, &BTreeSet::new()));
            stat(&bytes, &mut SystemSample::default());
        }

        #[test]
        fn no_text_makes_a_parser_panic(text in "(cpu|intr|ctxt|[0-9]{0,22}|:| |\n|CPU0|some total=|Dirty:){0,40}") {
            let bytes = text.as_bytes();
            let _ = (disk_counters(bytes), memory(bytes), pressure(bytes), interrupts_by_cpu(bytes));
            stat(bytes, &mut SystemSample::default());
        }
    }
}
