//! All that a watcher shows of the time between two samples: what iostat, vmstat and dstat print, with what is not known
//! left out instead of zero.
//!
//! Counters of 32 bits start again (`unsigned long` of a 32-bit kernel, k:block/genhd.c and k:fs/proc/stat.c): one that
//! fell by more than half of 2^32 has wrapped once. A disk all of whose counters fell is another disk of the same name,
//! and any other counter that fell is not understood: both yield nothing.

use super::{SECTOR_BYTES, milliseconds_between};
use crate::{CpuTicks, DiskCounters, NS_PER_S, Ns, Pressure, SystemSample};

/// Reads, or writes, or another kind of request to one block device between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestActivity {
    /// Requests completed per second.
    pub per_s: Option<f64>,
    /// Requests merged into others per second, before they were sent.
    pub merged_per_s: Option<f64>,
    /// Share of requests that were merged, 0 to 1; `None` if there were none.
    pub merged_ratio: Option<f64>,
    /// Bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Mean time from queueing to completion; `None` if none completed.
    pub await_ns: Option<f64>,
    /// Mean size; `None` if none completed.
    pub size_bytes: Option<f64>,
}

/// One block device between two samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskActivity {
    /// Kernel name.
    pub name: String,
    pub read: RequestActivity,
    pub write: RequestActivity,
    /// Reads and writes together: mean time and mean size over both.
    pub both: RequestActivity,
    pub discard: RequestActivity,
    /// Flushes, which have no size.
    pub flush: RequestActivity,
    /// Mean number of requests in flight (`aqu-sz`).
    pub mean_in_flight: Option<f64>,
    /// Share of the time with requests in flight, 0 to 1 (`%util`).
    pub busy_ratio: Option<f64>,
    /// Requests in flight at the end.
    pub in_flight: u64,
}

/// Time of all processors by kind between two samples, each 0 to 1 of the whole machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuActivity {
    /// User mode.
    pub user: f64,
    /// User mode, low priority.
    pub nice: f64,
    /// System mode, interrupts left out.
    pub system: f64,
    /// Hardware and soft interrupts.
    pub irq: f64,
    /// Idle with I/O outstanding.
    pub iowait: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
    pub idle: f64,
}

/// Share of the time in which tasks waited, 0 to 1 (k:Documentation/accounting/psi.rst).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressureActivity {
    /// Some task waited.
    pub some: Option<f64>,
    /// All tasks waited.
    pub full: Option<f64>,
}

/// The machine between two samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// How long; 0 if the samples are not one after the other, and then nothing is known.
    pub elapsed_ns: Ns,
    /// The disks of the later sample, in its order. One that the earlier sample lacks has nothing but its name.
    pub disks: Vec<DiskActivity>,
    /// The operations of the NFS mount that is watched of which calls ended.
    pub nfs: Vec<super::NfsActivity>,
    /// What else is counted of the path, where it changed.
    pub path: Vec<super::PathActivity>,
    /// The processors; `None` if some came or went.
    pub cpu: Option<CpuActivity>,
    /// I/O pressure.
    pub pressure_io: Option<PressureActivity>,
    pub pressure_cpu: Option<PressureActivity>,
    /// Interrupts per second.
    pub interrupts_per_s: Option<f64>,
    /// Context switches per second.
    pub context_switches_per_s: Option<f64>,
}

impl Activity {
    /// The disk of this name, if the later sample has it.
    pub fn disk(&self, name: &str) -> Option<&DiskActivity> {
        self.disks.iter().find(|d| d.name == name)
    }

    /// The sum of a rate over these disks; `None` if there are none, or one of them does not tell: a total of which a
    /// part is missing is not a total.
    pub fn total(&self, disks: &[String], rate: impl Fn(&DiskActivity) -> Option<f64>) -> Option<f64> {
        let sum = disks.iter().map(|name| rate(self.disk(name)?)).sum::<Option<f64>>();
        sum.filter(|_| !disks.is_empty())
    }
}

impl CpuActivity {
    /// All that is neither idle nor taken by the hypervisor.
    pub fn busy(&self) -> f64 {
        self.user + self.nice + self.system + self.irq
    }
}

/// What happened between two samples.
pub fn activity(before: &SystemSample, after: &SystemSample) -> Activity {
    let elapsed_ns = after.at_ns.saturating_sub(before.at_ns);
    let disk = |later: &DiskCounters| {
        let earlier = before.disks.iter().find(|d| d.name == later.name);
        disk_activity(earlier, later, elapsed_ns)
    };
    let disks = after.disks.iter().map(disk).collect();
    if elapsed_ns == 0 {
        return Activity { disks, ..Activity::default() };
    }
    let per_s = |b: Option<u64>, a: Option<u64>| Some(per_second(counted_between(b?, a?)?, elapsed_ns));
    Activity {
        elapsed_ns,
        disks,
        cpu: cpu_activity(&before.cpus, &after.cpus),
        pressure_io: pressure_activity(before.pressure_io, after.pressure_io, elapsed_ns),
        pressure_cpu: pressure_activity(before.pressure_cpu, after.pressure_cpu, elapsed_ns),
        nfs: super::nfs::nfs_activity(before, after),
        path: super::path::path_activity(before, after),
        interrupts_per_s: per_s(before.interrupts, after.interrupts),
        context_switches_per_s: per_s(before.context_switches, after.context_switches),
    }
}

/// What happened since the machine was started `uptime_ns` ago. Times of disks are left out from 2^32 ms (49.7 days) on,
/// when the kernel has surely lost a part of them.
pub fn activity_since_boot(sample: &SystemSample, uptime_ns: Ns) -> Activity {
    let zero = |d: &DiskCounters| DiskCounters {
        name: d.name.clone(),
        discards: d.discards.map(|_| 0),
        discards_merged: d.discards_merged.map(|_| 0),
        sectors_discarded: d.sectors_discarded.map(|_| 0),
        discard_ms: d.discard_ms.map(|_| 0),
        flushes: d.flushes.map(|_| 0),
        flush_ms: d.flush_ms.map(|_| 0),
        ..DiskCounters::default()
    };
    let nothing = Pressure { some_us: 0, full_us: Some(0) };
    let boot = SystemSample {
        disks: sample.disks.iter().map(zero).collect(),
        cpus: vec![CpuTicks::default(); sample.cpus.len()],
        pressure_io: Some(nothing),
        pressure_cpu: Some(nothing),
        interrupts: Some(0),
        context_switches: Some(0),
        ..SystemSample::default()
    };
    let mut since = activity(&boot, &SystemSample { at_ns: uptime_ns, ..sample.clone() });
    if uptime_ns / 1_000_000 >= WRAP {
        for disk in &mut since.disks {
            (disk.busy_ratio, disk.mean_in_flight) = (None, None);
            for kind in [&mut disk.read, &mut disk.write, &mut disk.both, &mut disk.discard, &mut disk.flush] {
                kind.await_ns = None;
            }
        }
    }
    since
}

const WRAP: u64 = 1 << 32;

/// How far a counter came; `None` if it fell and did not start again after 32 bits.
fn counted_between(before: u64, after: u64) -> Option<u64> {
    match after.checked_sub(before) {
        None if before < WRAP && before - after > WRAP / 2 => Some(after + WRAP - before),
        difference => difference,
    }
}

fn per_second(count: u64, elapsed_ns: Ns) -> f64 {
    count as f64 * NS_PER_S as f64 / elapsed_ns as f64
}

/// Whether the counters started anew: all that were not zero fell.
fn is_another(before: &DiskCounters, after: &DiskCounters) -> bool {
    let of = |d: &DiskCounters| {
        [d.reads, d.sectors_read, d.read_ms, d.writes, d.sectors_written, d.write_ms, d.busy_ms, d.weighted_ms]
    };
    let mut used = of(before).into_iter().zip(of(after)).filter(|(b, _)| *b > 0).peekable();
    used.peek().is_some() && used.all(|(b, a)| a < b)
}

/// The requests of one kind, from counts and sums over the interval.
fn requests(
    count: Option<u64>,
    merged: Option<u64>,
    bytes: Option<u64>,
    ms: Option<u64>,
    elapsed_ns: Ns,
) -> RequestActivity {
    let mean = |sum: Option<f64>| Some(sum? / count.filter(|c| *c > 0)? as f64);
    let ratio = |merged: u64, count: u64| {
        let all = merged.saturating_add(count);
        (all > 0).then(|| merged as f64 / all as f64)
    };
    RequestActivity {
        per_s: count.map(|c| per_second(c, elapsed_ns)),
        merged_per_s: merged.map(|m| per_second(m, elapsed_ns)),
        merged_ratio: merged.zip(count).and_then(|(m, c)| ratio(m, c)),
        bytes_per_s: bytes.map(|b| per_second(b, elapsed_ns)),
        await_ns: mean(ms.map(|ms| ms as f64 * 1e6)),
        size_bytes: mean(bytes.map(|b| b as f64)),
    }
}

/// One disk; nothing but its name and what is in flight if there is no earlier look at the same disk.
fn disk_activity(before: Option<&DiskCounters>, after: &DiskCounters, elapsed_ns: Ns) -> DiskActivity {
    let nothing = DiskActivity { name: after.name.clone(), in_flight: after.in_flight, ..DiskActivity::default() };
    let Some(before) = before.filter(|b| elapsed_ns > 0 && !is_another(b, after)) else { return nothing };
    let both_known = |b: Option<u64>, a: Option<u64>| counted_between(b?, a?);
    let bytes = |sectors: Option<u64>| sectors.and_then(|s| s.checked_mul(SECTOR_BYTES));
    let add = |a: Option<u64>, b: Option<u64>| a?.checked_add(b?);

    let reads = counted_between(before.reads, after.reads);
    let reads_merged = counted_between(before.reads_merged, after.reads_merged);
    let read_bytes = bytes(counted_between(before.sectors_read, after.sectors_read));
    let read_ms = milliseconds_between(before.read_ms, after.read_ms);
    let writes = counted_between(before.writes, after.writes);
    let writes_merged = counted_between(before.writes_merged, after.writes_merged);
    let write_bytes = bytes(counted_between(before.sectors_written, after.sectors_written));
    let write_ms = milliseconds_between(before.write_ms, after.write_ms);
    let discards = both_known(before.discards, after.discards);
    let discards_merged = both_known(before.discards_merged, after.discards_merged);
    let discard_bytes = bytes(both_known(before.sectors_discarded, after.sectors_discarded));
    let flushes = both_known(before.flushes, after.flushes);
    let time = |b: Option<u64>, a: Option<u64>| b.zip(a).and_then(|(b, a)| milliseconds_between(b, a));
    let discard_ms = time(before.discard_ms, after.discard_ms);
    let flush_ms = time(before.flush_ms, after.flush_ms);
    let in_flight_ms = milliseconds_between(before.weighted_ms, after.weighted_ms);
    let busy_ms = milliseconds_between(before.busy_ms, after.busy_ms);
    let share = |ms: u64| ms as f64 * 1e6 / elapsed_ns as f64;
    DiskActivity {
        read: requests(reads, reads_merged, read_bytes, read_ms, elapsed_ns),
        write: requests(writes, writes_merged, write_bytes, write_ms, elapsed_ns),
        both: requests(
            add(reads, writes),
            add(reads_merged, writes_merged),
            add(read_bytes, write_bytes),
            add(read_ms, write_ms),
            elapsed_ns,
        ),
        discard: requests(discards, discards_merged, discard_bytes, discard_ms, elapsed_ns),
        flush: requests(flushes, None, None, flush_ms, elapsed_ns),
        mean_in_flight: in_flight_ms.map(share),
        // The kernel counts whole jiffies, which can exceed the interval by one.
        busy_ratio: busy_ms.map(|ms| share(ms).min(1.0)),
        ..nothing
    }
}

/// Shares of all processors; a kind that ran backwards, as iowait may (k:Documentation/filesystems/proc.rst), is zero.
fn cpu_activity(before: &[CpuTicks], after: &[CpuTicks]) -> Option<CpuActivity> {
    if before.len() != after.len() || after.is_empty() {
        return None;
    }
    let sum = |kind: fn(&CpuTicks) -> u64| {
        before.iter().zip(after).map(|(b, a)| kind(a).saturating_sub(kind(b)) as f64).sum::<f64>()
    };
    let (user, nice, system) = (sum(|c| c.user), sum(|c| c.nice), sum(|c| c.system));
    let irq = sum(|c| c.irq.saturating_add(c.softirq));
    let (iowait, steal, idle) = (sum(|c| c.iowait), sum(|c| c.steal), sum(|c| c.idle));
    let total = user + nice + system + irq + iowait + steal + idle;
    (total > 0.0).then(|| CpuActivity {
        user: user / total,
        nice: nice / total,
        system: system / total,
        irq: irq / total,
        iowait: iowait / total,
        steal: steal / total,
        idle: idle / total,
    })
}

fn pressure_activity(before: Option<Pressure>, after: Option<Pressure>, elapsed_ns: Ns) -> Option<PressureActivity> {
    let (before, after) = before.zip(after)?;
    let share = |b: u64, a: u64| Some((a.checked_sub(b)? as f64 * 1e3 / elapsed_ns as f64).min(1.0));
    Some(PressureActivity {
        some: share(before.some_us, after.some_us),
        full: before.full_us.zip(after.full_us).and_then(|(b, a)| share(b, a)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(name: &str) -> DiskCounters {
        DiskCounters {
            name: name.into(),
            reads: 1_000,
            reads_merged: 10,
            sectors_read: 80_000,
            read_ms: 500,
            writes: 2_000,
            writes_merged: 20,
            sectors_written: 160_000,
            write_ms: 4_000,
            in_flight: 0,
            busy_ms: 900,
            weighted_ms: 4_500,
            discards: Some(5),
            discards_merged: Some(4),
            sectors_discarded: Some(5_000),
            discard_ms: Some(60),
            flushes: Some(7),
            flush_ms: Some(70),
        }
    }

    fn sample(at_ns: Ns, disks: Vec<DiskCounters>) -> SystemSample {
        SystemSample { at_ns, disks, ..SystemSample::default() }
    }

    fn one(before: DiskCounters, after: DiskCounters, seconds: u64) -> DiskActivity {
        activity(&sample(NS_PER_S, vec![before]), &sample((1 + seconds) * NS_PER_S, vec![after])).disks.remove(0)
    }

    #[test]
    fn rates_means_and_shares_as_iostat_defines_them() {
        let mut after = disk("sda");
        after.reads += 100;
        after.reads_merged += 300;
        after.sectors_read += 3_200;
        after.read_ms += 50;
        after.writes += 10;
        after.sectors_written += 2_000;
        after.write_ms += 100;
        after.busy_ms += 500;
        after.weighted_ms += 3_000;
        after.in_flight = 3;
        after.discards = Some(6);
        after.discards_merged = Some(7);
        after.sectors_discarded = Some(5_008);
        after.discard_ms = Some(62);
        after.flushes = Some(9);
        after.flush_ms = Some(90);
        let d = one(disk("sda"), after, 2);
        assert_eq!((d.read.per_s, d.write.per_s), (Some(50.0), Some(5.0)));
        assert_eq!((d.read.merged_per_s, d.read.merged_ratio), (Some(150.0), Some(0.75)));
        assert_eq!((d.read.bytes_per_s, d.write.bytes_per_s), (Some(819_200.0), Some(512_000.0)));
        assert_eq!((d.read.await_ns, d.write.await_ns), (Some(500_000.0), Some(10_000_000.0)));
        assert_eq!((d.read.size_bytes, d.write.size_bytes), (Some(16_384.0), Some(102_400.0)));
        assert_eq!(d.both.await_ns.map(f64::round), Some(1_363_636.0));
        assert_eq!((d.mean_in_flight, d.busy_ratio, d.in_flight), (Some(1.5), Some(0.25), 3));
        assert_eq!((d.discard.per_s, d.discard.size_bytes, d.discard.await_ns), (Some(0.5), Some(4_096.0), Some(2e6)));
        assert_eq!((d.discard.merged_per_s, d.discard.merged_ratio), (Some(1.5), Some(0.75)));
        assert_eq!((d.flush.per_s, d.flush.await_ns, d.flush.bytes_per_s), (Some(1.0), Some(10_000_000.0), None));
    }

    #[test]
    fn a_silent_disk_has_rates_of_zero_and_no_means() {
        let d = one(disk("sda"), disk("sda"), 1);
        assert_eq!((d.read.per_s, d.read.bytes_per_s, d.busy_ratio), (Some(0.0), Some(0.0), Some(0.0)));
        assert_eq!((d.read.await_ns, d.read.size_bytes, d.read.merged_ratio), (None, None, None));
    }

    #[test]
    fn counters_of_32_bits_start_again() {
        let mut before = disk("mmcblk0");
        before.sectors_written = u64::from(u32::MAX) - 999;
        let mut after = before.clone();
        after.sectors_written = 1_000;
        after.writes += 1;
        let d = one(before.clone(), after.clone(), 1);
        assert_eq!(d.write.bytes_per_s, Some(2_000.0 * 512.0));
        // A count that fell without a reason known is no rate, while its neighbours stand.
        after.sectors_written = before.sectors_written - 8;
        let d = one(before, after, 1);
        assert_eq!((d.write.bytes_per_s, d.write.size_bytes, d.write.per_s), (None, None, Some(1.0)));
    }

    #[test]
    fn another_disk_of_the_same_name_has_no_rates() {
        let mut before = disk("sdb");
        before.sectors_read = u64::from(u32::MAX) - 5;
        let mut after = DiskCounters { name: "sdb".into(), reads: 3, sectors_read: 24, ..DiskCounters::default() };
        after.in_flight = 1;
        let d = one(before, after, 1);
        assert_eq!(d, DiskActivity { name: "sdb".into(), in_flight: 1, ..DiskActivity::default() });
    }

    #[test]
    fn disks_come_and_go() {
        let before = sample(NS_PER_S, vec![disk("sda"), disk("sdb")]);
        let after = sample(2 * NS_PER_S, vec![disk("sdb"), disk("sdc")]);
        let seen = activity(&before, &after);
        assert_eq!(seen.disks.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["sdb", "sdc"]);
        assert_eq!(seen.disk("sdb").and_then(|d| d.read.per_s), Some(0.0));
        assert_eq!(seen.disk("sdc").and_then(|d| d.read.per_s), None);
        assert!(seen.disk("sda").is_none());
        assert_eq!(seen.total(&["sdb".into()], |d| d.read.per_s), Some(0.0));
        assert_eq!(seen.total(&["sdb".into(), "sda".into()], |d| d.read.per_s), None);
        assert_eq!(seen.total(&[], |d| d.read.per_s), None);
    }

    #[test]
    fn no_time_is_no_rate() {
        let later = SystemSample {
            interrupts: Some(5),
            cpus: vec![CpuTicks { user: 1, ..CpuTicks::default() }],
            ..sample(NS_PER_S, vec![disk("sda")])
        };
        let seen = activity(&sample(NS_PER_S, vec![disk("sda")]), &later);
        assert_eq!((seen.elapsed_ns, seen.cpu, seen.interrupts_per_s), (0, None, None));
        assert_eq!(seen.disks[0].read.per_s, None);
        assert_eq!(activity(&later, &SystemSample::default()).elapsed_ns, 0, "samples in the wrong order");
    }

    #[test]
    fn the_machine_as_a_whole() {
        let before = SystemSample {
            at_ns: 0,
            cpus: vec![CpuTicks { user: 10, iowait: 50, ..CpuTicks::default() }; 2],
            pressure_io: Some(Pressure { some_us: 1_000, full_us: Some(500) }),
            pressure_cpu: Some(Pressure { some_us: 0, full_us: None }),
            interrupts: Some(u64::from(u32::MAX)),
            context_switches: Some(100),
            ..SystemSample::default()
        };
        let ticks = CpuTicks { user: 30, nice: 5, system: 25, idle: 90, iowait: 49, irq: 4, softirq: 6, steal: 50 };
        let after = SystemSample {
            at_ns: 2 * NS_PER_S,
            cpus: vec![ticks; 2],
            pressure_io: Some(Pressure { some_us: 501_000, full_us: Some(200_500) }),
            pressure_cpu: Some(Pressure { some_us: 9_000_000, full_us: None }),
            interrupts: Some(999),
            context_switches: Some(50),
            ..SystemSample::default()
        };
        let seen = activity(&before, &after);
        let cpu = seen.cpu.unwrap();
        assert_eq!((cpu.user, cpu.nice, cpu.system), (0.1, 0.025, 0.125));
        assert_eq!((cpu.irq, cpu.iowait, cpu.steal, cpu.idle), (0.05, 0.0, 0.25, 0.45));
        let io = seen.pressure_io.unwrap();
        assert_eq!((io.some, io.full), (Some(0.25), Some(0.1)));
        assert_eq!(
            seen.pressure_cpu.map(|p| (p.some, p.full)),
            Some((Some(1.0), None)),
            "never more than all the time"
        );
        assert_eq!(seen.interrupts_per_s, Some(500.0), "wrapped once");
        assert_eq!(seen.context_switches_per_s, None, "fell without a reason");
        let fewer = SystemSample { cpus: vec![ticks], ..after };
        assert_eq!(activity(&before, &fewer).cpu, None, "a processor went away");
    }

    #[test]
    fn since_boot_without_times_that_the_kernel_has_lost() {
        let seen = activity_since_boot(&sample(5, vec![disk("sda")]), 1_000 * NS_PER_S);
        let d = &seen.disks[0];
        assert_eq!((d.read.per_s, d.read.await_ns), (Some(1.0), Some(500_000.0)));
        assert_eq!((d.busy_ratio, d.flush.per_s), (Some(0.0009), Some(0.007)));
        let long = activity_since_boot(&sample(5, vec![disk("sda")]), 50 * 86_400 * NS_PER_S);
        let d = &long.disks[0];
        assert!(d.read.per_s.is_some() && d.read.size_bytes.is_some());
        assert_eq!((d.busy_ratio, d.mean_in_flight, d.read.await_ns, d.both.await_ns), (None, None, None, None));
    }
}
